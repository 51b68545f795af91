#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a container refuses, one by one and all at once: messages pass and are verified all the same, and no more than
# one line says what was chosen instead.
#
#   container.sh python3 dat-perf seccomp
#
# seccomp is the program of seccomp.c: it runs another one under a filter like Docker's.
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
command -v setpriv >/dev/null && command -v prlimit >/dev/null || skip "setpriv or prlimit is missing (package util-linux)"
seccomp=$3

# What the one line may be about; the line ends there.
huge='with ordinary memory instead of hugepages \([^)]*\(2\): Operation not permitted\)'
descriptors='with ordinary memory instead of hugepages \(they want 80 descriptors, see ulimit -n\)'
space='with ordinary memory instead of hugepages \(they want 512 GiB of address space, see ulimit -v\)'
folder='with another folder for its sockets \((/tmp|/dev/shm)/udapl-roce-[0-9]*, not [^)]*: [^)]*\)'
memory='with another folder for its sockets \(/dev/shm/udapl-roce-[0-9]*, not /var/run: Read-only file system\)'
none='without telemetry \(/var/run: Read-only file system, [^)]*\)'
# In a user namespace, where the folder of the real root is somebody else's.
foreign='without telemetry \([^)]*: Operation not permitted\)'

# within WHAT LINE MOUNTS COMMAND... : dat-perf among these mounts, behind these commands, says nothing but this line,
# which may be missing where it ends in "?": hugepages are not free everywhere.
within() {
	what=$1 line=$2 mounts=$3
	shift 3
	timeout "$limit" unshare --mount sh -c "mount -t tmpfs tmpfs /run && $mounts"' && exec "$@"' within "$@" "$perf" --verify --json -s 5000 -n 300 \
		>"$work/contained.json" 2>"$work/contained.err" </dev/null
	status=$?
	[ "$status" -ne 77 ] || skip "$what: $(cat "$work/contained.err")"
	[ "$status" -eq 0 ] || { complain "$what: dat-perf exits with $status: $(cat "$work/contained.err")"; return; }
	judge "$what" "c['MTU'] > 0" "$work/contained.json"
	# The EAL tells, at that level, of a folder that it cannot make and does without.
	grep -v "^EAL: Error creating '" "$work/contained.err" >"$work/said"
	[ -s "$work/said" ] || { [ -z "${line%%*\?}" ] || complain "$what: says nothing, not $line"; return; }
	[ "$(wc -l <"$work/said")" -eq 1 ] && grep -Eqx "roce: the EAL runs ${line%\?}" "$work/said" ||
		complain "$what: says $(cat "$work/contained.err")"
}

bare="setpriv --bounding-set=-all --inh-caps=-all"
few="prlimit --nofile=32:32"
small="prlimit --as=4294967296"
unlocked="prlimit --memlock=0:0"
run="mount -t tmpfs -o ro tmpfs /run"
tmp="mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp"
shm="mount -t tmpfs -o size=64k tmpfs /dev/shm"
sealed="mount -t tmpfs -o ro tmpfs /dev/shm"

within "seccomp" "$huge?" true "$seccomp"
within "/run read-only" "($folder|$foreign)" "$run" env
within "/run and /tmp read-only" "$memory" "$run && $tmp && $shm" env
within "/run, /tmp and /dev/shm read-only" "$none" "$run && $tmp && $sealed" env
within "/dev/shm of 64 KiB" "?" "$shm" env
within "nothing locked" "?" true $unlocked
within "32 descriptors" "$descriptors?" true $few
if $small "$perf" --help >/dev/null 2>&1; then
	within "4 GiB of addresses" "$space?" true $small
else
	echo "not tried: 4 GiB of addresses, of which this build wants more (a sanitizer's)"
fi
within "no capability" "?" true $bare
within "all of it" "($descriptors, )?$memory" "$run && $tmp && $shm" $bare $unlocked $few "$seccomp"

# Two such containers that share a folder, over net_memif with the socket that it has by default.
mount -t tmpfs tmpfs /run && mount -t tmpfs -o size=64k tmpfs /dev/shm || complain "nothing can be mounted"
near="$bare $unlocked $few $seccomp"
far=$near
server=192.0.2.1
adapter "$work/server.conf" wire "port=net_memif0,role=server ip=192.0.2.1/24"
adapter "$work/client.conf" wire "port=net_memif0,role=client ip=192.0.2.2/24"
talk "c['PMD'] == 'net_memif'" -s 5000 -n 300
finish
