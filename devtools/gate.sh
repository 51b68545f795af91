# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh gate [--disturbed] [COMMIT]`: .ci/run as CI has it, for one commit.

gate_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# A clone of its own, nothing of the caller's environment, no standard input, and a shared folder beside the checkout that
# cannot be written. build/gate/passed names the last commit that passed. With --disturbed, devtools/disturb.py runs beside it;
# build/gate/disturbed has its words, since the sum of the gate is its last line.
cmd_gate() {
	local commit disturbed=
	if [ "${1:-}" = --disturbed ]; then
		disturbed=yes
		shift
	fi
	[ $# -le 1 ] || fail "gate [--disturbed] [COMMIT] takes no '$2'"
	commit=$(git rev-parse --quiet --verify "${1:-HEAD}^{commit}") || fail "there is no commit '${1:-HEAD}' here"
	mkdir -p "$build_root/gate"
	exec {gate_turn}>"$build_root/gate/lock"
	flock --nonblock "$gate_turn" || fail "a gate of this checkout is running; wait for its end"
	say "load of this machine before the gate: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	local room=$build_root/gate/room
	# A clone that failed stays to be looked at until the next gate begins.
	rm -rf "$room"
	mkdir -p "$room"
	git clone --quiet --no-local --no-checkout . "$room/main"
	git -C "$room/main" checkout --quiet --detach "$commit"
	[ ! -d ../shared ] || mkdir "$room/shared"
	say "the gate of $(git log -1 --format='%h %s' "$commit"), in $room"
	# The clone knows nothing of the lock: what hangs there does not keep the next gate out. It runs beside this shell, which
	# so hears of a signal at once; then the clone is killed, and cannot give back by itself what it had taken.
	gate_autogroup=$(cat "$autogroup" 2>/dev/null) || gate_autogroup=
	gate_hugepages=$(cat "$hugepages/nr_hugepages" 2>/dev/null) || gate_hugepages=
	gate_apart "$(realpath "$room")" "$(realpath -m ../shared)" {gate_turn}>&- &
	gate_child=$!
	trap 'end_gate 130' INT
	trap 'end_gate 143' HUP TERM
	if [ -n "$disturbed" ]; then
		python3 -B devtools/disturb.py "$gate_child" >"$build_root/gate/disturbed" {gate_turn}>&- &
		disturbed=$!
	fi
	wait "$gate_child" || fail "the gate of $commit failed: its logs are in $room/main/build/ci"
	trap - INT HUP TERM
	[ -z "$disturbed" ] || wait "$disturbed" || fail "the gate of $commit passed, but nothing disturbed it to its end"
	printf '%s\n' "$commit" >"$build_root/gate/passed"
	rm -rf "$room"
}

# members SESSION: process id and name of each process of it that has not ended.
members() {
	sed -n "s/^\([0-9]*\) (\(.*\)) [^Z] [0-9]* [0-9]* $1 .*/\1 \2/p" /proc/[0-9]*/stat 2>/dev/null || true
}

# end_session SESSION: as an ordinary user, who has no namespace that ends with the gate. Its programs have begun others in
# sessions of their own, as meson begins each test, so they are told to end; what has not ended in time is killed.
end_session() {
	local deadline=$((SECONDS + ${ROCE_TEST_LIMIT:-120})) pid name
	while read -r pid name; do
		# It ends with those that write to it. Without it they would be stopped by the write.
		[ "$name" = tee ] || kill -TERM "$pid" 2>/dev/null || true
	done < <(members "$1")
	until [ -z "$(members "$1")" ] || [ $SECONDS -ge $deadline ]; do
		sleep 0.1
	done
	while read -r pid name; do
		kill -KILL "$pid" 2>/dev/null || true
	done < <(members "$1")
}

# end_gate STATUS: ends it, and gives back autogroup and hugepages as they were before it, as root.
end_gate() {
	trap - INT HUP TERM
	[ "$(id -u)" -eq 0 ] || end_session "$gate_child"
	kill -KILL "$gate_child" 2>/dev/null || true
	wait "$gate_child" 2>/dev/null || true
	[ ! -w "$autogroup" ] || echo "$gate_autogroup" >"$autogroup"
	[ ! -w "$hugepages/nr_hugepages" ] || echo "$gate_hugepages" >"$hugepages/nr_hugepages"
	exit "$1"
}

# gate_apart ROOM SHARED: .ci/run there, in place of this shell. As root, mounts and all processes end with it, and it ends
# with the shell that began it.
gate_apart() {
	local apart=() home
	# A user of a container may have no entry of a home.
	home=$(getent passwd "$(id -u)" | cut -d: -f6) || home=
	[ "$(id -u)" -ne 0 ] || apart=(setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec "${apart[@]}" env -i PATH="$gate_path" HOME="${home:-/nonexistent}" TERM=dumb setsid --wait sh -c '
		if [ -d "$2" ] && [ "$(id -u)" -eq 0 ]; then
			mount --bind "$2" "$1/shared" && mount -o remount,bind,ro "$1/shared" || exit
		elif [ -d "$2" ]; then
			rmdir "$1/shared" && ln -s "$2" "$1/shared" || exit
		fi
		cd "$1/main" && exec .ci/run
	' gate "$1" "$2" </dev/null
}
