#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process that opens an interface that is down, or whose other end is, is told so; any other is not.
#
#   down.sh python3 dat-ping
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
veth 1500
DAT_OVERRIDE=$work/wire.conf
export DAT_OVERRIDE
adapter "$DAT_OVERRIDE" packet "port=net_af_packet0,iface=near ip=192.0.2.1/24"
adapter "$DAT_OVERRIDE" pcap "port=net_pcap0,iface=near ip=192.0.2.1/24"

# listens NAME : a server on that adapter, which is ended when it has said something. Its words: $work/err.
listens() {
	: >"$work/out"
	"$perf" -D "$1" -l >"$work/out" 2>"$work/err" </dev/null &
	server=$!
	children="$children $server"
	# One that does not open has said why.
	wait_for "$work/out" "$server" || :
	stop "$server"
}

# tells NAME SENTENCE : it is told so, once. The empty sentence: it is told nothing.
tells() {
	listens "$1"
	case $2 in
	'') [ ! -s "$work/err" ] || complain "$1: a word without need: $(cat "$work/err")" ;;
	*) [ "$(grep -cFx -- "$2" "$work/err")" -eq 1 ] || complain "$1: does not say '$2' once, but: $(cat "$work/err")" ;;
	esac
}

tells packet ''
# The kernel calls an interface so while an authentication is in progress; frames pass all the same.
ip link set near mode dormant state dormant
tells packet ''
ip link set near down
tells packet 'roce: interface near is down: no frame passes until it is up (ip link set near up)'
tells pcap 'roce: interface near is down: no frame passes until it is up (ip link set near up)'
ip link set near up
$far ip link set far down
tells packet 'roce: interface near has no carrier: no frame passes until its other end is up'
finish
