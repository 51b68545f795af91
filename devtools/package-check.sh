#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The life of our packages on a machine, which is a bare tree for this test alone: installed beside OFED's libraries,
# tried by autopkgtest, upgraded, purged. Ends with the count of its steps.
#
#   package-check.sh DIR        DIR has the packages and their source
# shellcheck disable=SC2046,SC2086 # names of packages, and commands, are words
set -uo pipefail
container=$PWD/container
cd "$1" || exit 1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# Seconds, for what hangs: a busy machine is no failure.
limit=${ROCE_TEST_LIMIT:-120}
passed=0 failed=0
log=$(mktemp)

# step NAME COMMAND...: prints its seconds, and all it said if it fails.
step() {
	local name=$1 since=$SECONDS
	shift
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf 'passed: %s, %s s\n' "$name" $((SECONDS - since))
	else
		failed=$((failed + 1))
		cat "$log"
		printf 'failed: %s\n' "$name"
	fi
}

get() {
	apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "$@"
}

# Others that have a registry of DAT, verbs and pages of the same names, and what the tests of the packages ask for.
install_others() {
	apt-get -qq update && get libdapl2 dapl2-utils libibverbs1 ibverbs-providers man-db autopkgtest dpkg-dev gcc libc6-dev pkgconf
}

# All files but those that apt, dpkg and man keep for themselves, and what ends with the machine.
files() {
	find / -xdev \( -path /proc -o -path /run -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
		-o -path /var/log -o -path /var/cache -o -path /srv -o -path /usr/src -o -path '*/__pycache__' \) -prune -o -print |
		sort
}

# offer: DIR as a source of packages of our own.
offer() {
	dpkg-scanpackages -m . >Packages 2>/dev/null &&
		echo "deb [trusted=yes] file:$PWD ./" >/etc/apt/sources.list.d/udapl-roce.list && apt-get -qq update
}

ours() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' |
		grep -E '^(libdat1|libdat-dev|libdaplroce.*|libroce.*|roced|udapl-roce-.*)$'
}

install_ours() {
	get $(sed -n 's/^Package: //p' Packages | grep -v -e -dbgsym)
}

# A message there and back, and the pages.
try() {
	dat-ping -c 3 && man -w dat_srq_create && man -w 5udapl dat.conf && man -w dat-perf
}

# contained COMMAND...: in place of this shell, as a container of compose.yaml has it: user 1000, nothing of the host's but
# the file system. It ends with the one that started it, however that ends.
contained() {
	exec setpriv --pdeathsig KILL unshare --net --pid --fork --kill-child --mount-proc --ipc --uts \
		setpriv --reuid=1000 --regid=1000 --clear-groups --pdeathsig KILL --bounding-set=-all --inh-caps=-all \
		--no-new-privs env -i PATH="$PATH" XDG_RUNTIME_DIR=/run/shared \
		DAT_OVERRIDE="$container/dat.conf" "$@"
}

# await COMMAND...: until it succeeds; false when it does not within the limit.
await() {
	local deadline=$((SECONDS + limit))
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return
		sleep 0.1
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# spoke_or_gone FILE PID: of a server, its first line says that it listens.
spoke_or_gone() {
	[ -s "$1" ] || gone "$2"
}

# two_containers FOLDER SERVER CLIENT: the commands at these places of compose.yaml beside each other; they share the folder.
# That of roced is not in /run itself, where the one of root is.
two_containers() {
	local command server said status
	mapfile -t command < <(sed -n 's/^    command: //p' "$container/compose.yaml")
	[ ${#command[@]} -eq 4 ] || return
	install -d -o 1000 -g 1000 -m 0700 "$1"
	said=$(mktemp)
	contained ${command[$2]} >"$said" &
	server=$!
	await spoke_or_gone "$said" $server
	# It gives up when nothing moves for half a minute; its many messages may take minutes.
	(contained timeout $((10 * limit)) ${command[$3]})
	status=$?
	# unshare ignores this signal; its child, the server, does not.
	kill -INT "$(grep -lsx "PPid:.$server" /proc/[0-9]*/status | cut -d / -f 3)"
	await gone $server || kill -KILL $server
	wait $server || status=$?
	cat "$said"
	rm -r "$said" "$1"
	[ ! -d /run/shared ] || rmdir /run/shared
	return $status
}

# An upgrade is judged by the version that the program is of, as dpkg has it.
bump() {
	local deb
	for deb in *.deb; do
		case $deb in
		*-dbgsym_*) continue ;;
		esac
		rm -rf next
		dpkg-deb -R "$deb" next && sed -i -E "s/\b$version\b/$version+next/g" next/DEBIAN/control && dpkg-deb -b next . || return
	done
	rm -rf next
}

upgrade() {
	apt-get -qq -y -o Dpkg::Use-Pty=0 upgrade &&
		[ "$(dpkg-query -W -f '${Version}\n' $(ours) | sort -u)" = "$version+next" ]
}

purge() {
	apt-get -qq -y -o Dpkg::Use-Pty=0 purge $(ours) &&
		apt-get -qq -y -o Dpkg::Use-Pty=0 --purge autoremove && ! ours
}

left() {
	rm /etc/apt/sources.list.d/udapl-roce.list
	files >after
	diff before after
}

# Hugepages are hidden: those that a command beside this one has reserved go when it ends, also from under our programs.
[ ! -d /sys/kernel/mm/hugepages ] || mount -t tmpfs none /sys/kernel/mm/hugepages
version=$(sed -n 's/^Version: //p' ./*.dsc | head -n 1)
step "packages of others" install_others
files >before
step "a source of packages" offer
step "installed" install_ours
step "a message, and pages" try
step "autopkgtest" autopkgtest --env="ROCE_TEST_LIMIT=$limit" --timeout-factor=10 ./*.deb ./*.dsc -- null
grep -E ' (PASS|FAIL|SKIP)' "$log" | sort -u
step "two containers" two_containers /run/roce 0 1
step "two containers on roce0" two_containers /run/shared/udapl-roce 2 3
step "a newer revision" bump
step "offered" offer
step "upgraded" upgrade
step "a message after that" try
step "purged" purge
step "nothing is left" left
rm -f "$log"
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed -eq 0 ]
