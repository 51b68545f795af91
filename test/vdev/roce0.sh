#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes of one host over roce0, with roced: nothing is configured, and nothing harms the others.
#
#   roce0.sh python3 dat-perf dat-ping dat-srqd memif_left roced
. "$(dirname "$0")/lib.sh"

ping=$3
srqd=$4
left=$5
own_host "$6"

status() {
	"$roced" --status --json 2>/dev/null
}

# says EXPRESSION : roced does. It is of its JSON object o, None without a roced.
says() {
	status >"$work/status" || echo null >"$work/status"
	"$python" -c "import json, sys; o = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$work/status" 2>"$work/why"
}

# until_status WHAT EXPRESSION : roced says so.
until_status() {
	wait_until says "$2" || complain "$1: roced says $(cat "$work/status")"
}

# pair OPTIONS... : server and client of dat-perf, every byte compared.
pair() {
	background "$work/server" timeout "$limit" "$perf" -D roce0 "$@"
	server=$last
	listening 1
	timeout "$limit" "$perf" -D roce0 127.0.0.1 "$@" >"$work/client" 2>&1 || complain "client of $*: $(tail -n 5 "$work/client")"
	wait "$server" || complain "server of $*: $(tail -n 5 "$work/server")"
}

# Two commands, and nothing before: the first process starts roced, and it ends with the last.
for test in send_bw write_bw read_bw; do
	for size in 1 4096 100000; do
		pair -t $test -s $size -n 300 --verify
	done
done
pair -t send_bw -s 3000 -n 2000 -q 16 --verify
pair -t atomic_lat -n 300
pair -t send_lat -n 300 -e
until_status "roced ends with the last process" "o is None"

# The output of a process names the peer whose end it was told of.
export UDAPL_ROCE_LOG=info

# A server is on roce0 unless it is told otherwise. A port is one process's; where no process listens the answer comes at once; 127.0.0.0/8 is this host.
background "$work/first" timeout "$limit" "$srqd" -p 7 --interval 0
first=$last
listening 1
timeout "$limit" "$srqd" -D roce0 -p 7 --interval 0 >"$work/second" 2>&1 </dev/null && complain "two servers at one port"
grep -q 'DAT_CONN_QUAL_IN_USE\|in use' "$work/second" || complain "the port is not in use: $(cat "$work/second")"
timeout "$limit" "$ping" -D roce0 -p 8 -c 1 127.0.0.1 >"$work/nobody" 2>&1 && complain "an answer where no process listens"
grep -q 'nobody listens' "$work/nobody" || complain "no rejection: $(cat "$work/nobody")"
timeout "$limit" "$srqd" -D roce0 -p 7 --connect 127.1.2.3 -n 1000 >"$work/client" 2>&1 || complain "127.1.2.3: $(tail -n 3 "$work/client")"

# Many clients on the shared queue of one process. One after the other is killed; the others go on, and roced is, too.
for i in 1 2 3 4; do
	background "$work/good$i" timeout "$limit" "$srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 60000 --clients 2
	good="$good $last"
done
for _ in 1 2 3 4 5 6; do
	# Not by timeout, which would be killed in its place.
	"$srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 100000000 >"$work/victim" 2>&1 </dev/null &
	last=$!
	children="$children $last"
	until_status "a client talks" "o and any(p['channels'] for p in o['processes'] if p['pid'] == $last)"
	# How many of its messages have passed by then is chance, and no matter.
	sleep 0.2
	kill -9 "$last" && wait "$last" 2>/dev/null
done
"$python" -c "import json, os, sys; os.kill(json.load(sys.stdin)['pid'], 9)" <<END || complain "roced has no number"
$(status)
END
for child in $good; do
	wait "$child" || complain "a client beside killed ones: $(cat "$work"/good* "$work/first")"
done
until_status "another roced knows the server" "o and any(p['listeners'] for p in o['processes'])"
timeout "$limit" "$srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 1000 >"$work/client" 2>&1 || complain "after roced was killed: $(tail -n 3 "$work/client")"
stop "$first"

unset UDAPL_ROCE_LOG

# A process is told at once when its peer ends, however that ends.
for how in break exit fork; do
	: >"$work/stay"
	background "$work/stay" timeout "$limit" "$left" stay roce0
	stay=$last
	listening 1
	"$left" $how roce0 127.0.0.1 >"$work/child" 2>"$work/go.err" </dev/null
	[ $how = fork ] || [ ! -s "$work/go.err" ] || complain "the client that will $how: $(cat "$work/go.err")"
	wait "$stay" || complain "a server whose client did $how: $(cat "$work/stay")"
	grep -Eq 'broken|disconnected' "$work/stay" || complain "a server whose client did $how heard: $(cat "$work/stay")"
	[ $how != fork ] || kill "$(cat "$work/child")" 2>/dev/null
done

# A process that has roce0 alone has no other drivers of DPDK. They are loaded with the first adapter that needs one.
adapter "$work/null.conf" null "port=net_null0 ip=192.0.2.7/24"
: >"$work/stay"
export DAT_OVERRIDE="$work/null.conf"
background "$work/stay" timeout "$limit" "$left" agent roce0 null
stay=$last
listening 1
wait_until printed armed "$work/stay" | "$left" exit roce0 127.0.0.1 >"$work/child" 2>"$work/go.err" || complain "the client of an agent: $(cat "$work/go.err")"
wait "$stay" || complain "a server that opens another adapter: $(cat "$work/stay")"
unset DAT_OVERRIDE

until_status "roced ends" "o is None"
for file in "$XDG_RUNTIME_DIR"/udapl-roce/*; do
	case ${file##*/} in
	roced.lock | roced.numbers) ;;
	*) complain "left: $file" ;;
	esac
done
finish
