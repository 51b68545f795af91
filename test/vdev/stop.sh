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
	sleep "$seconds" # it is the time for which a process is stopped that is tested
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

# rows FILE : a row is printed each second, once there are messages.
rows() {
	grep -c '^ 4097 ' "$work/$1"
}

has_rows() {
	[ "$(rows client.out)" -ge "$1" ]
}

# works : the client has measured something that it had not when this was called.
works() {
	wait_until has_rows $(($(rows client.out) + 2))
}

run="--verify -s 4097 --run_infinitely --duration 1 -D wire"
begin server env DAT_OVERRIDE="$work/server.conf" $near "$perf" $run --json="$work/server.json"
of_server=$pid
wait_for "$work/server.out" "$of_server" || complain "the server does not start: $(cat "$work/server.err")"
begin client env DAT_OVERRIDE="$work/client.conf" $far "$perf" $run --json="$work/client.json" "$server"
of_client=$pid
works && pause "$of_server" || complain "the server was not stopped"
works && pause "$of_client" || complain "the client was not stopped"
works || complain "nothing comes behind the stops: $(cat "$work/client.out" "$work/client.err")"
# The end of one is that of the other.
kill -TERM "$of_client"
for pid in "$of_client" "$of_server"; do
	end_of "$pid" || complain "a process ends with $?: $(cat "$work/client.err" "$work/server.err")"
done
children=
[ "$failures" -ne 0 ] || judge "stopped for $seconds s" 'c["PMD"].startswith("net_")' "$work/client.json" "$work/server.json"
finish
