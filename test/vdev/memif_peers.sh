#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Peers of a memif port that are stopped and killed in the midst of traffic: the other side tells of it and lives on,
# a server has its next client, and a client of a stopped server says within its ten seconds what is wrong.
#
#   memif_peers.sh python3 dat-srqd dat-ping [ROUNDS]    1 unless given
. "$(dirname "$0")/lib.sh"

srqd=$2
ping=$3
rounds=${4:-1}
adapter "$work/server.conf" wire "port=net_memif0,role=server,id=0,socket=$work/memif.sock ip=192.0.2.1/24 timeout=20"
adapter "$work/client.conf" wire "port=net_memif0,role=client,id=0,socket=$work/memif.sock ip=192.0.2.2/24 timeout=20"

serve() {
	: >"$work/server.out"
	DAT_OVERRIDE=$work/server.conf "$srqd" -D wire --depth 64 --interval 1 >"$work/server.out" 2>"$work/server.err" </dev/null &
	server=$!
	children=$server
	wait_for "$work/server.out" "$server" || complain "the server does not start: $(cat "$work/server.err")"
}

# flows : the last of the lines that the server has printed meanwhile tells of messages of 4 clients.
flows() {
	[ "$(wc -l <"$work/server.out")" -gt $((before + 1)) ] &&
		tail -n 1 "$work/server.out" | awk '{ exit !($2 == 4 && $3 > 0) }'
}

flows_or_gone() {
	gone "$client" || flows
}

# talk_for_ever : a client that sends until it is ended; returns when the server's table shows messages.
talk_for_ever() {
	before=$(wc -l <"$work/server.out")
	DAT_OVERRIDE=$work/client.conf "$srqd" -D wire --connect 192.0.2.1 --clients 4 -n 4000000000 \
		>"$work/client.out" 2>"$work/client.err" </dev/null &
	client=$!
	children="$server $client"
	wait_until flows_or_gone
	flows || { complain "a client's messages are not seen: $(cat "$work/client.err")"; return 1; }
}

# alive WHAT
alive() {
	kill -0 "$server" 2>/dev/null || complain "the server is dead after $1: $(cat "$work/server.err")"
}

# ended PID STATUS WHAT : it failed in order; no signal of its own making.
ended() {
	[ "$1" -eq 1 ] || complain "$2 exits with $1: $(cat "$3")"
}

serve
round=0
while [ $round -lt "$rounds" ] && [ "$failures" -eq 0 ]; do
	talk_for_ever || break
	kill -STOP "$client"
	[ $((round % 2)) -eq 0 ] || kill -CONT "$client"
	kill -KILL "$client"
	wait "$client" 2>/dev/null
	alive "a client that was killed"
	round=$((round + 1))
done

# A second client beside the first.
talk_for_ever
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$ping" -D wire 192.0.2.1 >"$work/ping" 2>&1 </dev/null &&
	complain "a second client has a link"
grep -q 'Already connected' "$work/ping" || complain "a second client is not told why: $(cat "$work/ping")"
# A second server beside the first.
DAT_OVERRIDE=$work/server.conf timeout "$limit" "$srqd" -D wire >"$work/second" 2>&1 </dev/null &&
	complain "a second server listens"
grep -q "another memif server has the socket $work/memif.sock" "$work/second" ||
	complain "a second server is not told why: $(cat "$work/second")"
kill -KILL "$client"
wait "$client" 2>/dev/null
alive "a client that was killed"

# A server that is stopped: a client comes, is told, and has gone when the server goes on.
# Once more where somebody else lets it go on.
is_told() {
	kill -STOP "$server"
	DAT_OVERRIDE=$work/client.conf timeout "$limit" "$ping" -D wire 192.0.2.1 >"$work/ping" 2>&1 </dev/null
	status=$?
	kill -CONT "$server"
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q 'does not answer' "$work/ping"
}
wait_until is_told || complain "a client of a stopped server ends with $status, and is not told why: $(cat "$work/ping")"

# All of a client that stays, behind all that.
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$srqd" -D wire --connect 192.0.2.1 -n 2000 --json="$work/last.json" \
	>"$work/last" 2>"$work/last.err" </dev/null || complain "the last client: $(cat "$work/last.err")"
"$python" -c "import json, sys; sys.exit(json.load(open(sys.argv[1]))['clients']['answered'] != 2000)" "$work/last.json" ||
	complain "the last client misses answers: $(cat "$work/last.json")"

# The server goes in the midst of traffic.
talk_for_ever
kill -STOP "$server"
kill -KILL "$server"
wait "$server" 2>/dev/null
end_of "$client"
ended $? "a client whose server was killed" "$work/client.err"
children=

# What it left is no hindrance, and a server that ends in order leaves nothing, also with a peer whose descriptors
# cannot be closed.
serve
"$python" -B "$here/memif_stray.py" "$work/memif.sock" linger "$server" >"$work/linger" 2>"$work/linger.err" &
linger=$!
children="$server $linger"
wait_for "$work/linger" "$linger" || complain "behind descriptors that cannot be closed: $(cat "$work/linger.err")"
kill -INT "$server"
end_of "$server" || complain "the server that follows exits with $?: $(cat "$work/server.err")"
stop "$linger"
children=

# Peers that keep descriptors in the server leave it some: DPDK's interrupt thread panics when it needs one in vain.
command -v prlimit >/dev/null || skip "prlimit is missing (package util-linux)"
serve
prlimit --pid "$server" --nofile=256:256
"$python" -B "$here/memif_stray.py" "$work/memif.sock" hoard >"$work/hoard" 2>"$work/hoard.err" &
hoard=$!
children="$server $hoard"
wait_for "$work/hoard" "$hoard" || complain "peers that keep descriptors: $(cat "$work/hoard.err")"
looks=0
while [ $looks -lt 20 ]; do
	has=$(find "/proc/$server/fd" -type l 2>/dev/null | wc -l)
	[ "$has" -lt 224 ] || complain "$has of 256 descriptors are taken"
	looks=$((looks + 1))
done
stop "$hoard"
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$srqd" -D wire --connect 192.0.2.1 -n 200 >"$work/last" 2>&1 </dev/null ||
	complain "a client behind peers that kept descriptors: $(cat "$work/last")"
kill -INT "$server"
end_of "$server" || complain "a server of peers that keep descriptors exits with $?: $(cat "$work/server.err")"
children=
[ ! -e "$work/memif.sock" ] || complain "the socket is left behind"
finish
