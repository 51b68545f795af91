#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ordinary users of one machine do not stand in each other's way: each has a run-time folder, and only a folder of
# his own will do.
#
#   two_users.sh python3 dat-perf
. "$(dirname "$0")/lib.sh"

# Numbers that no user has, and nobody else now: the folders are named for them.
first=$((62000 + $$ % 1500 * 2))
while [ -e "/tmp/udapl-roce-$first" ] || [ -e "/tmp/udapl-roce-$((first + 1))" ] ||
	getent passwd "$first" >/dev/null || getent passwd $((first + 1)) >/dev/null; do
	first=$((62000 + (first - 61998) % 3000))
done
second=$((first + 1))

# as USER COMMAND...: without the folder that a login would have given him.
as() {
	user=$1
	shift
	env -u XDG_RUNTIME_DIR -u RUNTIME_DIRECTORY \
		setpriv --reuid="$user" --regid="$user" --clear-groups -- "$@" >"$work/out" 2>&1
}

leave_nothing() {
	rm -rf "/tmp/udapl-roce-$first" "/tmp/udapl-roce-$second" "/dev/shm/udapl-roce-$first" "/run/user/$first"
	# The folder that DPDK makes for a user without one. Files of others, and the folder that has them, stay.
	find /tmp/dpdk -depth \( -user "$first" -o -user "$second" \) -delete 2>/dev/null
	cleanup
}

[ "$(id -u)" -eq 0 ] || skip "becoming two users wants root"
command -v setpriv >/dev/null || skip "setpriv is missing (package util-linux)"
as $first "$perf" --version || skip "an ordinary user cannot run $perf"
trap leave_nothing EXIT

for user in $first $second; do
	as $user "$perf" -n 100 || { cat "$work/out"; complain "user $user cannot open loop0"; }
	[ "$(stat -c '%u %a' "/tmp/udapl-roce-$user" 2>/dev/null)" = "$user 700" ] ||
		complain "user $user has no folder of his own"
done

# A link that somebody else put there leads nowhere.
rm -rf "/tmp/udapl-roce-$first"
mkdir -m 777 "$work/snare"
chmod 777 "$work/snare"
ln -s "$work/snare" "/tmp/udapl-roce-$first"
# serves FOLDER : the EAL of the first user has its sockets there.
serves() {
	as $first "$perf" -n 100 || { cat "$work/out"; complain "without $1 loop0 does not open"; }
	[ "$(stat -c '%u %a' "$1/dpdk/roce" 2>/dev/null)" = "$first 700" ] || complain "$1 does not serve: $(cat "$work/out")"
	[ -z "$(ls -A "$work/snare")" ] || complain "a folder of somebody else's making was used"
}

# Strangers cannot keep him from a folder: the next name serves, and the last is one that they cannot take.
serves "/dev/shm/udapl-roce-$first"
rm -rf "/dev/shm/udapl-roce-$first"
ln -s "$work/snare" "/dev/shm/udapl-roce-$first"
mkdir -p "/run/user/$first"
chmod 700 "/run/user/$first"
chown "$first" "/run/user/$first"
serves "/run/user/$first/udapl-roce"
finish
