#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A talk over a veth pair is recorded at both ends. Others judge every frame; then a responder on net_pcap, opened
# with the same first QPN, first PSN and seed, hears the recorded requests and delivers the same messages again. So does
# one that says its verdict of each frame, also when there are mistakes among them.
#
#   pcap.sh python3 replay judge.py tshark roce-replay MTU
. "$(dirname "$0")/lib.sh"

replay=$2
judge=$3
tshark=$4
[ -n "$tshark" ] || skip "tshark is missing"
"$python" -c "import scapy" 2>/dev/null || skip "scapy is missing (package python3-scapy)"
own_network "$0" "$@"
verdicts=$(realpath "$5")
veth "$6"

seeds="qpn=0x2345 psn=0xfffff0 seed=4711"
adapter "$work/receive.conf" wire "port=net_af_packet0,iface=near ip=198.51.100.1/24 $seeds"
adapter "$work/send.conf" wire "port=net_af_packet0,iface=far ip=198.51.100.2/24 psn=0xffffe0"
# A recording waits for nobody: the progress thread would read on while the responder has not accepted yet.
adapter "$work/replay.conf" wire \
	"port=net_pcap0,rx_pcap=$work/spread.pcap,tx_pcap=$work/answers-again.pcap ip=198.51.100.1/24 progress=manual $seeds"

# begin NAME COMMAND... : in the background, until it says something; sets $pid.
begin() {
	name=$1
	shift
	: >"$work/$name.out"
	"$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
	pid=$!
	children="$children $pid"
	wait_for "$work/$name.out" "$pid" || complain "$name does not start: $(cat "$work/$name.err")"
}

# recorded : the talk. False: the kernel had no room for a frame of a recording, so that all of it is chance.
recorded() {
	begin requests "$python" -B "$here/capture.py" record near "$work/requests.pcap"
	requests=$pid
	begin answers $far "$python" -B "$here/capture.py" record far "$work/answers.pcap"
	answers=$pid
	[ "$failures" -eq 0 ] || finish
	begin receive env DAT_OVERRIDE="$work/receive.conf" "$replay" receive wire "$work/received"
	DAT_OVERRIDE=$work/send.conf timeout "$limit" $far "$replay" send wire 198.51.100.1 2>"$work/send.err" ||
		complain "send: $(cat "$work/send.err")"
	end_of "$pid" || complain "receive: $(cat "$work/receive.err")"
	kill "$requests" "$answers"
	end_of "$requests"
	ends=$?
	end_of "$answers"
	ends=$ends$?
	children=
	case $ends in
	*[!03]*) complain "the recorders end with $ends: $(cat "$work/requests.err" "$work/answers.err")" ;;
	esac
	[ "$failures" -eq 0 ] || finish
	[ "$ends" = 00 ]
}
wait_until recorded || complain "not all is recorded: $(cat "$work/requests.out" "$work/answers.out")"
[ "$failures" -eq 0 ] || finish

"$python" -B "$here/capture.py" spread "$work/requests.pcap" "$work/spread.pcap"
DAT_OVERRIDE=$work/replay.conf timeout "$limit" "$replay" receive wire "$work/received-again" >"$work/replay.out" \
	2>"$work/replay.err" </dev/null || complain "the recording is not understood: $(cat "$work/replay.err")"
cmp "$work/received" "$work/received-again" || complain "the recording brings other messages"

"$python" -B "$here/first_psn.py" "$work/requests.pcap" "$work/answers.pcap" ||
	complain "the requests do not begin with the PSN that was named"
# judged RECORDING OUT : by an adapter like the one that has heard it, which is said as docs/devices.md says it.
judged() {
	ln -sf "$1" "$work/requests-heard.pcap"
	(cd "$work" && timeout "$limit" "$verdicts" -p 4711 \
		"port=net_pcap0,rx_pcap=requests-heard.pcap,tx_pcap=answers-now.pcap ip=198.51.100.1/24 qpn=0x2345 psn=0xfffff0 seed=4711") >"$2" 2>"$work/judged.err" || complain "no verdicts: $(cat "$work/judged.err")"
}
judged requests.pcap "$work/verdicts"
grep -qx 'delivered	40 messages	[0-9]* bytes' "$work/verdicts" || complain "not all is delivered: $(cat "$work/verdicts")"
awk -F '\t' '$1 == "sum" && $2 !~ /^(accepted|connection|duplicate|foreign)$/ { exit 1 }' "$work/verdicts" ||
	complain "verdicts on good frames: $(cat "$work/verdicts")"
"$python" -B "$here/mistreat.py" make "$work/requests.pcap" "$work/verdicts" "$work/mistreated.pcap" \
	"$work/expected" || complain "no mistakes made"
judged mistreated.pcap "$work/verdicts-again"
"$python" -B "$here/mistreat.py" check "$work/verdicts-again" "$work/expected" || complain "other verdicts than expected"
grep -qx 'delivered	40 messages	[0-9]* bytes' "$work/verdicts-again" || complain "mistakes have done harm"

# At least a frame a message, and what the connection manager says.
"$python" -B "$judge" --tshark --min 40 "$work/requests.pcap" || complain "the requests are not all right"
"$python" -B "$judge" --tshark --min 3 "$work/answers.pcap" || complain "the answers are not all right"
"$python" -B "$judge" --tshark --min 3 "$work/answers-again.pcap" || complain "the new answers are not all right"
finish
