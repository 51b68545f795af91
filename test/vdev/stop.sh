#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process that is stopped for a while (SIGSTOP, a debugger's breakpoint) loses nothing, and its connections live:
# first the server, then the client, at work or while they connect.
#
#   stop.sh python3 dat-perf WIRE SECONDS    WIRE: memif, or veth (net_af_packet between two namespaces)
. "$(dirname "$0")/lib.sh"

wire=$3
seconds=$4
if [ "$wire" = memif ]; then
	common="id=0,bsize=8192,socket=$work/memif.sock,socket-abstract=no"
	server=192.0.2.1
	adapter "$work/server.conf" wire "port=net_memif0,role=server,$common ip=192.0.2.1/24"
	adapter "$work/client.conf" wire "port=net_memif0,role=client,$common ip=192.0.2.2/24"
else
	own_network "$0" "$@"
	veth_wire 4200
fi

# pause PID : stopped for the time of the test. False: it has ended.
pause() {
	kill -STOP "$1" 2>/dev/null || return 1
	# For nothing: how long it stands still is what the test is about.
	sleep "$seconds"
	kill -CONT "$1"
}

# begin FILE COMMAND... : in the background, its number in $pid.
begin() {
	out=$1
	shift
	"$@" >"$work/$out.out" 2>"$work/$out.err" </dev/null &
	pid=$!
	children="$children $pid"
}

# works PID : waits until it has used more of the processor than its start takes.
works() {
	ticks=$(cut -d ' ' -f 14 "/proc/$1/stat" 2>/dev/null) || return 1
	until [ "$(cut -d ' ' -f 14 "/proc/$1/stat" 2>/dev/null || echo 999999)" -gt $((ticks + 20)) ]; do
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.05
	done
}

run="--verify -s 4097 -d $((2 * seconds + 8)) -D wire"
begin server env DAT_OVERRIDE="$work/server.conf" $near "$perf" $run --json="$work/server.json"
of_server=$pid
wait_for "$work/server.out" "$of_server" || complain "the server does not start: $(cat "$work/server.err")"
begin client env DAT_OVERRIDE="$work/client.conf" $far "$perf" $run --json="$work/client.json" "$server"
of_client=$pid
works "$of_client" && pause "$of_server" || complain "the server was not stopped"
works "$of_client" && pause "$of_client" || complain "the client was not stopped"
for pid in "$of_client" "$of_server"; do
	wait "$pid" || complain "a process ends with $?: $(cat "$work/client.err" "$work/server.err")"
done
children=
[ "$failures" -ne 0 ] || judge "stopped for $seconds s" 'c["PMD"].startswith("net_")' "$work/client.json" "$work/server.json"
finish
