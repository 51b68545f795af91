#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The class and priority of a connection, as tshark sees them: the client says both, and the server, which says neither,
# takes them over. Every frame of both is judged, and what the REQ says of them.
#
#   class.sh python3 dat-perf tshark judge.py
. "$(dirname "$0")/lib.sh"

tshark=$3
judge=$4
[ -n "$tshark" ] || skip "tshark is missing"
dumpcap=$(command -v dumpcap) || skip "dumpcap is missing (package wireshark-common)"
"$python" -c "import scapy" 2>/dev/null || skip "scapy is missing (package python3-scapy)"
own_network "$0" "$@"
veth 1500

# One recording on one side hears what comes in: what the other says.
record() {
	file=$1
	shift
	: >"$work/$file.err"
	"$@" -q -p -s 0 -w "$work/$file.pcap" -P 2>"$work/$file.err" &
	pid=$!
	children="$children $pid"
	until_said '^File:' "$work/$file.err" "$pid" || skip "dumpcap cannot record here: $(cat "$work/$file.err")"
}

# said FILE FILTER FIELD... : the different values of the fields in the frames, a line each.
said() {
	file=$1
	filter=$2
	shift 2
	for field in "$@"; do
		set -- "$@" -e "$field"
		shift
	done
	"$tshark" -r "$work/$file.pcap" -Y "$filter" -T fields -E separator=, "$@" 2>/dev/null | sort -u
}

# The kernel hands over what it recorded in blocks: all of it is there when the DREQ or the DREP is.
has_disconnect() {
	[ -n "$(said "$1" "infiniband.mad.attributeid == 0x15 || infiniband.mad.attributeid == 0x16" frame.number)" ]
}

# expect WHAT WANT GOT
expect() {
	[ "$2" = "$3" ] || complain "$1: wanted '$2', got '$3'"
}

# both FAMILY CLASS-FIELD PREFIX NEAR FAR
both() {
	rm -f "$work"/*.conf
	adapter "$work/server.conf" wire "port=net_af_packet0,iface=near ip=$4/$3 vlan=7"
	adapter "$work/client.conf" wire "port=net_af_packet0,iface=far ip=$5/$3 vlan=7 pcp=5 dscp=26"
	server=$4
	record client "$dumpcap" -i near
	client=$pid
	record server $far "$dumpcap" -i far
	recorders="$client $pid"
	talk "True" -s 3000 -n 100
	for who in client server; do
		wait_until has_disconnect "$who" || complain "$1: no disconnect is recorded at the $who"
	done
	# shellcheck disable=SC2086 # two numbers
	kill $recorders
	for pid in $recorders; do
		end_of "$pid"
	done
	children=
	for who in client server; do
		file=$who
		# What is heard at an interface, not what is said there: by the address.
		[ "$who" = client ] && from=$5 || from=$4
		ours="$1.src == $from && udp.port == 4791"
		expect "$1, $who, tags" "7,5" "$(said "$file" "$ours" vlan.id vlan.priority)"
		expect "$1, $who, classes" "26" "$(said "$file" "$ours" "$2.dscp")"
		# Frames of connections may be marked, datagrams may not.
		expect "$1, $who, marks of datagrams" "0" \
			"$(said "$file" "$ours && infiniband.bth.opcode == 100" "$2.ecn")"
		expect "$1, $who, marks of connections" "2" \
			"$(said "$file" "$ours && infiniband.bth.opcode < 100" "$2.ecn")"
		"$python" -B "$judge" --tshark --min 4 "$work/$file.pcap" >"$work/judged" 2>&1 ||
			complain "$1, $who: $(cat "$work/judged")"
	done
	expect "$1, REQ" "0x68,0x05" \
		"$(said client infiniband.cm.req infiniband.cm.req.prim_tfcclass infiniband.cm.req.prim_sl)"
}

both ip ip.dsfield 24 198.51.100.1 198.51.100.2
both ipv6 ipv6.tclass 64 2001:db8::1 2001:db8::2
finish
