#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever connects to the socket of a memif server, and says there what it likes: nobody dies of it, and the traffic
# of the true client is whole.
#
#   memif_stray.sh python3 dat-perf [COUNT]    connections for each kind of socket; 150 unless given
. "$(dirname "$0")/lib.sh"

count=${3:-150}
server=192.0.2.1

# strays SOCKET MORE : traffic again and again until all connections are made.
strays() {
	rm -f "$work/server.conf" "$work/client.conf"
	adapter "$work/server.conf" wire "port=net_memif0,role=server,id=0,$2 ip=192.0.2.1/24 timeout=20"
	adapter "$work/client.conf" wire "port=net_memif0,role=client,id=0,$2 ip=192.0.2.2/24 timeout=20"
	"$python" -B "$here/memif_stray.py" "$1" "$count" >"$work/strays" 2>"$work/strays.err" &
	strays=$!
	rounds=0
	while kill -0 "$strays" 2>/dev/null && [ "$failures" -eq 0 ]; do
		talk 'c["PMD"] == "net_memif"' -s 65536 -n 1000
		rounds=$((rounds + 1))
	done
	stop "$strays"
	wait "$strays"
	[ "$(cat "$work/strays")" = "$count" ] || complain "strays at $1: $(cat "$work/strays" "$work/strays.err")"
	echo "$1: $(cat "$work/strays") connections beside $rounds rounds of traffic"
}

strays "$work/memif.sock" "socket=$work/memif.sock"
[ ! -e "$work/memif.sock" ] || complain "the socket is left behind"
strays "@roce-stray-$$" "socket=roce-stray-$$,socket-abstract=yes"
finish
