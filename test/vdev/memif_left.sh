#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A memif port knows when its only peer has gone: the connections through it break, with no traffic and no timeout,
# and the port takes the next peer.
#
#   memif_left.sh python3 memif_left
. "$(dirname "$0")/lib.sh"

left=$2
export XDG_RUNTIME_DIR="$work"
adapter "$work/server.conf" wire "port=net_memif0,role=server,id=0,socket=$work/memif.sock ip=192.0.2.1/24 timeout=20"
adapter "$work/server.conf" other "port=net_memif1,role=server,id=0,socket=$work/other.sock ip=198.51.100.1/24"
adapter "$work/client.conf" wire "port=net_memif0,role=client,id=0,socket=$work/memif.sock ip=192.0.2.2/24 timeout=20"

# begin [HOW] [ARG] : a server that has an idle connection soon.
begin() {
	: >"$work/stay"
	DAT_OVERRIDE=$work/server.conf "$left" "${1:-stay}" wire ${2:+"$2"} >"$work/stay" 2>"$work/stay.err" &
	stay=$!
	children=$stay
	wait_for "$work/stay" "$stay" || complain "nobody listens: $(cat "$work/stay.err")"
}

# told WHO FILE STATUS : it ended as it should, and was told.
told() {
	[ "$3" -eq 0 ] && grep -Eq 'broken|disconnected' "$2" || complain "$1: status $3: $(cat "$2" "$2.err")"
}

for how in break exit; do
	begin
	DAT_OVERRIDE=$work/client.conf timeout "$limit" "$left" "$how" wire 192.0.2.1 2>"$work/go.err" </dev/null ||
		complain "the client that will $how: $(cat "$work/go.err")"
	end_of "$stay"
	told "a server whose client did $how" "$work/stay" $?
	children=
done

# An agent that is called for the end may open and close adapters.
begin agent other
until_said armed "$work/stay" "$stay" | DAT_OVERRIDE=$work/client.conf timeout "$limit" "$left" exit wire 192.0.2.1 2>"$work/go.err" ||
	complain "the client of an agent: $(cat "$work/go.err")"
end_of "$stay"
told "a server whose agent opens adapters" "$work/stay" $?
children=

begin
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$left" fork wire 192.0.2.1 >"$work/child" 2>"$work/go.err"
[ -s "$work/child" ] || complain "the client that forks: $(cat "$work/go.err")"
end_of "$stay"
told "a server whose client was killed and left a child" "$work/stay" $?
kill "$(cat "$work/child")" 2>/dev/null
children=

# A process that is killed, either side: no code of its own runs any more.
kill_either() {
	begin
	DAT_OVERRIDE=$work/client.conf "$left" wait wire 192.0.2.1 >"$work/go" 2>"$work/go.err" &
	go=$!
	children="$stay $go"
	until_said connected "$work/stay" "$stay"
	kill -KILL "$go"
	end_of "$stay"
	told "a server whose client was killed" "$work/stay" $?
	wait "$go" 2>/dev/null

	begin
	DAT_OVERRIDE=$work/client.conf "$left" wait wire 192.0.2.1 >"$work/go" 2>"$work/go.err" &
	go=$!
	children="$stay $go"
	until_said connected "$work/stay" "$stay"
	kill -KILL "$stay"
	end_of "$go"
	told "a client whose server was killed" "$work/go" $?
	wait "$stay" 2>/dev/null
	children=
}

kill_either
# Also who was killed leaves no private socket.
[ -z "$(ls -A "$work/udapl-roce")" ] || complain "left behind: $(ls -A "$work/udapl-roce")"
finish
