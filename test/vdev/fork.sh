#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes over net_memif, of which one forks (fork.c): its traffic goes on whatever its children do, and when it is
# killed the other learns of it, though a child of it lives.
#
#   fork.sh python3 PROGRAM
. "$(dirname "$0")/lib.sh"

program=$2
wire="id=0,bsize=8192,socket=$work/memif.sock,socket-abstract=no"
adapter "$work/server.conf" loop1 "port=net_memif0,role=server,$wire ip=192.0.2.1/24"
adapter "$work/client.conf" loop0 "port=net_memif0,role=client,$wire ip=192.0.2.2/24"

# Ended beyond us, or by the end of the script.
end_child() {
	[ -z "$child" ] || kill "$child" 2>/dev/null
}

child=
trap 'end_child; cleanup' EXIT
DAT_OVERRIDE=$work/server.conf "$program" server >"$work/server.out" 2>&1 &
server=$!
children=$server
: >"$work/client.out"
until_said '^ready' "$work/server.out" "$server" || { complain "no server: $(cat "$work/server.out")"; finish; }
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$program" client 192.0.2.1 >"$work/client.out" 2>&1
status=$?
child=$(sed -n 's/^child //p' "$work/client.out")
if [ -z "$child" ]; then
	complain "the client ended with $status: $(cat "$work/client.out")"
else
	until_said '^ended' "$work/server.out" "$server" || complain "the server was not told: $(cat "$work/server.out")"
	kill -0 "$child" 2>/dev/null || complain "the child has ended before: nothing was shown"
	end_of "$server" || complain "the server failed: $(cat "$work/server.out")"
	children=
fi
finish
