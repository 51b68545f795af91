#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts, each with a roced that has an uplink, in two network namespaces: processes of both reach each other.
#
#   uplink.sh python3 dat-perf dat-ping all_to_all roced KIND [MESSAGES]       KIND: af_packet or af_xdp
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
ping=$3
all_to_all=$4
roced=$5
kind=$6
# Of each connection while something is killed.
messages=${7:-150}
unset DAT_OVERRIDE
# Retries last for 34 s: that long may processes and uplinks be away, killed here, or kept from a processor by others.
export UDAPL_ROCE_ROCED="$roced" UDAPL_ROCE_PARAMS="timeout=20"
export LSAN_OPTIONS="suppressions=$here/../../devtools/lsan.supp:print_suppressions=0"
near_ip=198.51.100.1 far_ip=198.51.100.2
near_ip6=2001:db8::1 far_ip6=2001:db8::2
mkdir -m 700 "$work/near" "$work/far" "$work/next"

# The words ahead of a command of either host: programs that become it, so that its number is known.
at_near="env XDG_RUNTIME_DIR=$work/near"
at_far=

status() {
	"$roced" --status --json --dir "$work/$1/udapl-roce" 2>/dev/null
}

# says SIDE EXPRESSION : the roced of that side does. It is of its JSON object o, None without a roced.
says() {
	status "$1" >"$work/status" || echo null >"$work/status"
	"$python" -c "import json, sys; o = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$work/status" 2>"$work/why"
}

# until_status SIDE WHAT EXPRESSION : the roced of that side says so.
until_status() {
	wait_until says "$1" "$3" || complain "$2: roced $1 says $(cat "$work/status"), and said $(cat "$work/$1.log")"
}

# number SIDE EXPRESSION : of what the status says, o.
number() {
	status "$1" | "$python" -c "import json, sys; o = json.load(sys.stdin); print($2)"
}

# start SIDE
start() {
	ip=$near_ip/24,$near_ip6/64
	[ "$1" = near ] || ip=$far_ip/24,$far_ip6/64
	eval "at=\$at_$1"
	background "$work/$1.log" $at "$roced" -v --port "$(device "$1")" --ip "$ip"
	eval "roced_$1=$last"
}

device() {
	case $kind in
	af_packet) echo "net_af_packet0,iface=$1" ;;
	af_xdp) echo "net_af_xdp0,iface=$1" ;;
	esac
}

# up SIDE [PID] : the uplink is attached, and is another one than that.
up() {
	until_status "$1" "the uplink attaches" "o and any(p['number'] == 0 and p['pid'] != ${2:-0} for p in o['processes'])"
}

# pair OPTIONS... : dat-perf between both hosts, every byte compared.
pair() {
	background "$work/server" $at_near timeout "$limit" "$perf" -D roce0 "$@"
	server=$last
	until_status near "the server listens" "o and any(p['listeners'] for p in o['processes'])"
	$at_far timeout "$limit" "$perf" -D roce0 "$@" "$near_ip" >"$work/client" 2>&1 || complain "client of $*: $(tail -n 5 "$work/client")"
	wait "$server" || complain "server of $*: $(tail -n 5 "$work/server")"
}

[ "$kind" != af_xdp ] || "$python" -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>"$work/why" ||
	skip "no AF_XDP sockets here: $(tail -n 1 "$work/why")"
veth 1500
at_far="$far env XDG_RUNTIME_DIR=$work/far"
# Without an uplink there is no other host. The roced that this process starts makes way for the next one.
$at_near timeout "$limit" "$ping" -D roce0 -c 1 "$near_ip" >"$work/early" 2>&1 </dev/null && complain "an answer of another host without an uplink"
start near
until_status near "roced runs" "o"
start far
up near
up far
for side in near far; do
	number $side "o['uplink'], o['addresses']" | grep -q "True.*198.51.100.*2001:db8" || complain "the identity is $(status $side)"
done

for test in send_bw write_bw read_bw; do
	pair -t $test -s 1 -n 200 --verify
	pair -t $test -s 100000 -n 100 --verify
done
pair -t send_lat -n 200 -e

# By the other family, and by the name of either host's own address.
background "$work/server" $at_near timeout "$limit" "$ping" -l -D roce0 -p 7
server=$last
until_status near "dat-ping listens" "o and any(p['listeners'] for p in o['processes'])"
$at_far timeout "$limit" "$ping" -D roce0 -p 7 -c 3 $near_ip6 >"$work/client" 2>&1 || complain "IPv6: $(cat "$work/client")"
$at_near timeout "$limit" "$ping" -D roce0 -p 7 -c 3 $near_ip >"$work/client" 2>&1 || complain "the own address: $(cat "$work/client")"
$at_far timeout "$limit" "$ping" -D roce0 -p 8 -c 1 $near_ip >"$work/client" 2>&1 && complain "an answer where no process listens"
grep -q 'nobody listens' "$work/client" || complain "no rejection: $(cat "$work/client")"
stop "$server"

# crowd MESSAGES : eight processes a side. Each has one connection to each of the other fifteen.
crowd() {
	crowd=
	for i in 1 2 3 4 5 6 7 8; do
		for side in near far; do
			peers=
			for j in $(seq $((i + 1)) 8); do
				[ $side = near ] && peers="$peers $near_ip:700$j" || peers="$peers $far_ip:700$j"
			done
			[ $side = far ] || peers="$peers $(for j in 1 2 3 4 5 6 7 8; do echo $far_ip:700$j; done)"
			[ $side = near ] && passive=$((i - 1)) || passive=$((i + 7))
			eval "at=\$at_$side"
			background "$work/$side$i" $at timeout $((2 * limit)) "$all_to_all" roce0 700$i $passive "$1" $peers
			crowd="$crowd $last"
		done
	done
}

# crowd_said WORD : all of it has.
crowd_said() {
	n=$(grep -l "^$1" "$work"/near? "$work"/far? | wc -l)
	[ "$n" -eq 16 ]
}

crowd_says() {
	wait_until crowd_said "$1" || complain "$n processes of 16 say $1: $(cat "$work"/near? "$work"/far?)"
}

crowd_ends() {
	for child in $crowd; do
		wait "$child" || complain "$1: status $? of $(cat "$work"/near? "$work"/far? | grep all_to_all)"
	done
}

crowd 20
crowd_ends "all to all"

# Without the uplink, and then without roced, frames are lost until both are back.
crowd "$messages"
crowd_says connected
uplink=$(number near "[p['pid'] for p in o['processes'] if p['number'] == 0][0]")
kill -9 "$uplink"
up near "$uplink"
grep -q 'the uplink has ended by signal 9' "$work/near.log" || complain "roced says nothing of its uplink: $(cat "$work/near.log")"
kill -9 "$(number near "o['pid']")"
wait "$roced_near" 2>/dev/null
start near
up near
grep -q '^half' "$work"/near? && [ "$(grep -l '^half' "$work"/near? "$work"/far? | wc -l)" -eq 16 ] && echo "note: the crowd was half through before roced was back"
crowd_ends "the uplink killed, and roced"

# The socket of an uplink that was killed may be there still when the next one begins: that one says so, and comes again.
grep 'the uplink has ended' "$work/far.log" "$work/near.log" | grep -v 'with status 1' && complain "an uplink has ended that was not killed"
# A quick crowd may have been through before the uplink was back.
pair -t send_lat -n 1500
# Both ends count what the wire carried, and dropped none of it for its contents. The counters are a second old at most.
for side in near far; do
	until_status $side "the uplink has counted" "all(o['uplink_counters'][c] > 1000 for c in ('rx_frames', 'tx_frames', 'rx_local', 'tx_local'))"
	number $side "[o['uplink_counters'][c] for c in ('rx_errors', 'rx_wrong_address', 'tx_forged', 'tx_no_memory')]" |
		grep -q '^\[0, 0, 0, 0\]' || complain "the uplink $side counts $(status $side)"
done
for side in near far; do
	number $side "[o['counters'][c] for c in ('frames_forged', 'frames_malformed', 'violations')]" | grep -q '^\[0, 0, 0\]' ||
		complain "roced $side counts $(status $side)"
done
# A queue of the kernel has one AF_XDP socket: the next roced waits for it, and does not take it for a wrong parameter.
if [ "$kind" = af_xdp ]; then
	background "$work/next.log" env XDG_RUNTIME_DIR="$work/next" "$roced" -v --port "$(device near)" --ip $near_ip/24
	next=$last
	until_said 'started again' "$work/next.log" "$next" || complain "the next roced waits for nothing: $(cat "$work/next.log")"
	# The refused socket leaves the one that is there its frames.
	pair -t send_lat -n 20
	grep -q 'a process may have them' "$work/next.log" || complain "no word about who has the queue: $(cat "$work/next.log")"
	stop "$roced_near"
	up next
	stop "$next"
else
	stop "$roced_near"
fi
stop "$roced_far"
for side in near far; do
	for file in "$work/$side"/udapl-roce/*; do
		case ${file##*/} in
		roced.lock | roced.numbers) ;;
		*) complain "left: $file" ;;
		esac
	done
done
finish
