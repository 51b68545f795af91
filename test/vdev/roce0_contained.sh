#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Containers that share one folder are one host: each process has namespaces of its own for users, mounts, processes, network
# and IPC, no capability, a filter like Docker's, and nothing that it can write but that folder and 64 KiB of /dev/shm.
#
#   roce0_contained.sh python3 dat-perf dat-ping dat-info seccomp roced pairs|ends
#
# pairs: two containers talk. ends: roced ends, is taken over, and comes back in other containers, and new ones join.
. "$(dirname "$0")/lib.sh"

ping=$3
info=$4
seccomp=$5
roced=$6
part=$7
unset DAT_OVERRIDE UDAPL_ROCE_PARAMS RUNTIME_DIRECTORY
export UDAPL_ROCE_ROCED="$roced"
folder=$work/udapl-roce
mkdir -m 700 "$folder"

# The parent of a container waits for it, and hears of no other signal.
stop() {
	kill -9 "$1" 2>/dev/null && wait "$1" 2>/dev/null
}

# Mounts of a container: FOLDER, which is shared, and HIDDEN, the rest of this test. Another folder that is mounted below /tmp
# has to come along: a user namespace cannot leave it out.
mounts='mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir -m 700 -p /run/user/udapl-roce &&
	mount --bind "$1" /run/user/udapl-roce && mount -o remount,bind,ro /run && mount -t tmpfs -o size=64k tmpfs /dev/shm &&
	mount --rbind /tmp /tmp && mount -o remount,bind,ro /tmp && mount -t tmpfs -o ro tmpfs "$2" || exit 77
	mount -o remount,bind,ro / 2>/dev/null || echo "not tried: a read-only root"
	shift 2 && export XDG_RUNTIME_DIR=/run/user && exec "$@"'
alone="unshare --user --map-root-user --mount --pid --net --ipc --uts --fork --kill-child"
# Users of the containers, both of whom are the user of this test outside.
root="setpriv --bounding-set=-all --inh-caps=-all --no-new-privs $seccomp"
user="unshare --user --map-user=1000 --map-group=1000 setpriv --no-new-privs $seccomp"

# contained AS COMMAND... : the words that run it so are in AS. It is the container's process 1, and all of it ends with it.
contained() {
	as=$1
	shift
	exec $alone sh -c "$mounts" contained "$folder" "$work" $as "$@"
}

# foreground FILE AS COMMAND... : its status.
foreground() {
	file=$1
	shift
	background "$file" contained "$@"
	end_of "$last"
}

# says EXPRESSION : roced does, to one outside. It is of its JSON object o, None without a roced.
says() {
	"$roced" --status --json --dir "$folder" >"$work/status" 2>/dev/null || echo null >"$work/status"
	"$python" -c "import json, sys; o = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$work/status" 2>/dev/null
}

# until_status WHAT EXPRESSION : roced says so.
until_status() {
	wait_until says "$2" || complain "$1: roced says $(cat "$work/status")"
}

# listens FILE PID : that program listens. roced knows the port a moment before the program answers at it.
listens() {
	until_said '^Waiting for a client\|^dat-ping answers' "$1" "$2" || complain "no server: $(cat "$1")"
}

for tool in unshare setpriv; do
	command -v $tool >/dev/null || skip "$tool is missing (package util-linux)"
done
foreground "$work/try" "$root" true && foreground "$work/try" "$user" true ||
	skip "no containers here: wants user namespaces, and a filter of system calls: $(cat "$work/try")"
cat "$work/try"
for as in "$root" "$user"; do
	foreground "$work/try" "$as" grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp|NSpid):' /proc/self/status
	grep -q '^CapEff:	0000000000000000$' "$work/try" && grep -q '^Seccomp:	2$' "$work/try" ||
		complain "a container has rights: $(cat "$work/try")"
done

# pair AS AS OPTIONS... : a server, which starts roced, and a client. Every byte is compared.
pair() {
	server_as=$1 client_as=$2
	shift 2
	background "$work/server" contained "$server_as" "$perf" -D roce0 --verify "$@"
	server=$last
	listens "$work/server" "$server"
	until_status "a server in a container listens" "o and any(p['listeners'] for p in o['processes'])"
	foreground "$work/client" "$client_as" "$perf" -D roce0 127.0.0.1 --verify "$@" ||
		complain "client of $*: $(cat "$work/client")"
	wait "$server" || complain "server of $*: $(cat "$work/server")"
}

if [ "$part" = pairs ]; then
	pair "$root" "$user" -t send_bw -s 4096 -n 2000
	pair "$user" "$root" -t write_bw -s 100000 -n 300
	pair "$user" "$user" -t send_lat -s 64 -n 300 -e
	until_status "roced ends with the container that started it" "o is None"
	finish
fi

# roced_pid CONTAINER... : the process id, outside, of the roced in one of these containers. Its own word for it is of inside.
roced_pid() {
	for parent in "$@"; do
		inside=$(readlink "/proc/$parent/ns/pid_for_children") || continue
		for process in /proc/[0-9]*; do
			[ "$(cat "$process/comm" 2>/dev/null)" = roced ] && [ "$(readlink "$process/ns/pid")" = "$inside" ] && echo "${process##*/}"
		done
	done
}

# served WHAT : a new container reaches the server that has none, and the connection of the others has lost nothing.
served() {
	foreground "$work/client" "$root" "$ping" -D roce0 -p 9 -c 3 127.0.0.1 || complain "$1: $(cat "$work/client")"
	kill -0 "$client" 2>/dev/null || complain "$1: the client has ended: $(cat "$work/long")"
}

# attached N : so many processes are, the server among them.
attached() {
	until_status "$2" "o and len(o['processes']) == $1 and sum(1 for p in o['processes'] if p['listeners']) == ${3:-2}"
}

# The first container has roced; the server and its client, in others, outlive it, and start the next one.
background "$work/first" contained "$root" "$ping" -l -D roce0 -p 8
first=$last
until_status "the first container has a roced" "o and len(o['processes']) == 1"
background "$work/server" contained "$user" "$ping" -l -D roce0 -p 7
server=$last
background "$work/other" contained "$root" "$ping" -l -D roce0 -p 9
other=$last
attached 3 "three containers are attached" 3
listens "$work/server" "$server"
listens "$work/other" "$other"
background "$work/long" contained "$root" "$ping" -D roce0 -p 7 -c 100000 -i 10 127.0.0.1
client=$last
attached 4 "all are attached" 3
stop "$first"
attached 3 "the container of roced ended"
served "the container of roced ended"
kill -9 "$(roced_pid "$server" "$client" "$other")" || complain "no roced to kill"
attached 3 "roced was killed"
served "roced was killed"

# One that somebody starts takes over from the one in a container: in another container, and outside.
background "$work/roced" contained "$user" "$roced" -v
own=$last
attached 3 "a roced of another container takes over"
until_status "a roced of another container takes over" "o and o['pid'] == 1"
served "a roced of another container takes over"
stop "$own"
attached 3 "the roced of that container ended"
"$roced" -v --dir "$folder" >"$work/roced" 2>&1 </dev/null &
own=$!
children="$children $own"
until_status "a roced outside takes over" "o and o['pid'] == $own and len(o['processes']) == 3"
served "a roced outside takes over"
stop "$own"
attached 3 "the roced outside ended"
served "the roced outside ended"

# The sight of a container that holds neither: all processes, by their numbers.
foreground "$work/metrics" "$user" "$info" --metrics || complain "dat-info in a container: $(cat "$work/metrics")"
[ "$(grep -c '^roced_process_channels{.*process="dat-ping"' "$work/metrics")" -eq 3 ] ||
	complain "dat-info in a container shows $(grep roced_ "$work/metrics")"
finish
