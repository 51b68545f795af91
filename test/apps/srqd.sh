#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dat-srqd at work: no message lost, every buffer back, the watermark's events and refills, in one process and between
# two of them.
#
#   srqd.sh python3 dat-srqd self|memif|veth
. "$(dirname "$0")/../vdev/lib.sh"
srqd=$2
[ "$3" != veth ] || own_network "$0" "$@"

# json WHAT FILE EXPRESSION : the file is one JSON object o, s its server, q the queue and c the clients, of which the
# expression holds.
json() {
	"$python" -c "import json, sys
o = json.load(open(sys.argv[1]))
s, c = o.get('server', {}), o.get('clients', {})
q = s.get('srq', {})
sys.exit(not ($3))" "$2" || complain "$1: not JSON, or not '$3': $(head -c 1500 "$2")"
}

# Whatever happened: what was posted or lies ready to be posted is the whole queue, and nothing waits to be reaped.
home='q["available"] + q["free"] == q["max"] and q["outstanding"] == q["available"]'

# self EXPRESSION ARG... : a server and its clients in one process, all answered.
self() {
	expression=$1
	shift
	timeout "$limit" "$srqd" --self "$@" --json="$work/self.json" >"$work/self.out" 2>"$work/self.err" </dev/null
	status=$?
	[ "$status" -eq 0 ] || complain "dat-srqd --self $* exits with $status: $(cat "$work/self.err")"
	json "dat-srqd --self $*" "$work/self.json" "$home and ($expression)"
}

in_one_process() {
	# A client may leave before the server has its last acknowledgement.
	all='s["messages"] == s["answers"] + s["unanswered"] == c["answered"] == c["sent"]'
	all="$all"' and c["sent"] == o["config"]["clients"] * o["config"]["messages"]'
	refilled='q["refills"] == q["low_watermark_events"] > 0 and q["posted_again"] > q["refills"]'
	for clients in 1 8 64; do
		# A watermark of all messages that can be on the way: nobody is ever told to wait.
		self "$all and $refilled and s['rnr_naks'] == 0" \
			$clients -n 2000 --depth $((64 * clients)) --low $((16 * clients))
		# Fewer buffers than messages on the way: senders are told to wait, and nothing is lost.
		[ $clients -eq 1 ] || self "$all and $refilled and s['rnr_naks'] > 0" $clients -n 100 --depth 8
	done
	self "$all and q['refills'] == s['messages']" 8 -n 20 --depth 1 --low 1
	self "$all and $refilled" 8 -n 200 --depth 16 --low 16
	self "$all and q['low_watermark_events'] == 0 and q['posted_again'] == s['messages'] and q['free'] == 0" \
		8 -n 200 --depth 16 --low 0
	self "$all and q['grown'] > 0 and 8 < q['max'] <= 100" 64 -n 200 --depth 8 --low 2 --grow --max-depth 100
	self "$all and q['grown'] == 0 and q['max'] == 512" 4 -n 2000 --grow
	self "s['messages'] == c['arrived'] == 6400 and s['answers'] == c['answered'] == 0" 64 -n 100 --depth 16 --sink
	for size in 0 1 7 4097 65536; do
		self "$all and s['bytes'] == s['messages'] * $size" 8 -n 100 -s $size --depth 32
	done
	self "$all and s['clients'] == 300" 300 -n 10
	for params in loss=10000 queues=4; do
		export UDAPL_ROCE_PARAMS=$params
		self "$all" 32 -n 200 --window 2 --depth 16 --grow
	done
	unset UDAPL_ROCE_PARAMS

	timeout "$limit" "$srqd" --self 2 -n 1000 --clients-table >"$work/self.out" 2>&1 || complain "no totals"
	grep -q '^messages: 2000 received, [0-9]* answered, [0-9]* unanswered; 128000 bytes$' "$work/self.out" ||
		complain "the totals: $(cat "$work/self.out")"
	timeout "$limit" "$srqd" --self 2 -n 100 --json >"$work/only.json" 2>&1
	json "--json" "$work/only.json" "$home"
}

# An interrupt: the connections end in order, the totals are told, the buffers are back.
interrupted() {
	: >"$work/self.out"
	"$srqd" --self 4 -n 4000000000 --interval 1 --json="$work/stop.json" >"$work/self.out" 2>"$work/self.err" </dev/null &
	children=$!
	until_said 'messages/s' "$work/self.out" "$children" || complain "no message: $(cat "$work/self.err")"
	kill -TERM "$children"
	end_of "$children"
	status=$?
	children=
	[ "$status" -eq 143 ] || complain "interrupted, it exits with $status: $(cat "$work/self.err")"
	grep -q 'interrupted after [1-9]' "$work/self.err" || complain "it does not say so: $(cat "$work/self.err")"
	json "interrupted" "$work/stop.json" \
		"$home and 'interrupted' in o['error'] and s['lost'] == 0 and s['clients'] == 4 and
		all(g['state'] == 'left' and g['held'] == 0 for g in s['client_list'])"
}

# client EXPRESSION ARG... : clients in a second process.
client() {
	expression=$1
	shift
	DAT_OVERRIDE=$work/client.conf timeout "$limit" "$srqd" -D wire --connect 192.0.2.1 --json="$work/client.json" "$@" \
		>"$work/client.out" 2>"$work/client.err" </dev/null
	status=$?
	[ "$status" -eq 0 ] || complain "clients $* exit with $status: $(cat "$work/client.err")"
	json "clients $*" "$work/client.json" "$expression"
}

in_two_processes() {
	wire="id=0,bsize=8192,socket=$work/memif.sock"
	adapter "$work/server.conf" wire "port=net_memif0,role=server,$wire ip=192.0.2.1/24"
	adapter "$work/client.conf" wire "port=net_memif0,role=client,$wire ip=192.0.2.2/24"
	: >"$work/server.out"
	DAT_OVERRIDE=$work/server.conf "$srqd" -D wire --depth 32 --grow --max-depth 64 --max-clients 70 \
		--json="$work/server.json" >"$work/server.out" 2>"$work/server.err" </dev/null &
	children=$!
	wait_for "$work/server.out" "$children" || complain "the server does not start: $(cat "$work/server.err")"
	client 'c["answered"] == 6400' --clients 64 -n 100
	client 'c["answered"] == 1000' -n 1000 -s 4096
	DAT_OVERRIDE=$work/client.conf timeout "$limit" "$srqd" -D wire --connect 192.0.2.1 -s 4097 >/dev/null 2>"$work/client.err"
	[ $? -eq 1 ] || complain "a client with longer messages than the server's buffers does not fail"
	grep -q 'buffers hold 4096 bytes, not 4097' "$work/client.err" || complain "or why: $(cat "$work/client.err")"
	kill -INT "$children"
	end_of "$children"
	status=$?
	children=
	[ "$status" -eq 0 ] || complain "the server exits with $status: $(cat "$work/server.err")"
	json "the server" "$work/server.json" \
		"$home and s['messages'] == s['answers'] + s['unanswered'] == 7400 and s['clients'] == 66 and s['lost'] == 0 and q['max'] == 64"
}

# Killed clients that were owed nothing: the server of a sink sends them nothing that would be repeated. All the same their
# places are free for others after a while.
dead_clients() {
	veth_wire 4200 timeout=14
	: >"$work/server.out"
	DAT_OVERRIDE=$work/server.conf "$srqd" -D wire --sink --max-clients 8 --keepalive 1 --clients-table \
		>"$work/server.out" 2>"$work/server.err" </dev/null &
	children=$!
	wait_for "$work/server.out" "$children" || complain "the server does not start: $(cat "$work/server.err")"
	DAT_OVERRIDE=$work/client.conf $far "$srqd" -D wire --connect "$server" --clients 8 -n 4000000000 \
		>"$work/client.out" 2>"$work/client.err" </dev/null &
	client=$!
	children="$children $client"
	until_said '^ *8 .* here ' "$work/server.out" "$client" || complain "8 clients do not come: $(cat "$work/client.err")"
	kill -KILL "$client"
	wait "$client" 2>/dev/null
	children=${children% *}
	until_said 'client 8 .* is lost' "$work/server.err" "$children" || complain "nobody misses them: $(cat "$work/server.out")"
	DAT_OVERRIDE=$work/client.conf timeout "$limit" $far "$srqd" -D wire --connect "$server" --clients 8 -n 10 \
		>"$work/client.out" 2>"$work/client.err" </dev/null || complain "no place for others: $(cat "$work/client.err")"
	kill -INT "$children"
	end_of "$children"
	status=$?
	children=
	[ "$status" -eq 0 ] || complain "the server exits with $status: $(cat "$work/server.err")"
}

case $3 in
veth)
	dead_clients
	;;
self)
	in_one_process
	interrupted
	;;
*)
	in_two_processes
	;;
esac
finish
