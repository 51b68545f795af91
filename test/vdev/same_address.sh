#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process that opens an interface with an address that another process has there is told so; any other is not.
#
#   same_address.sh python3 dat-ping
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
veth 1500
warning='192.0.2.1 on interface near is in use by another process'
for case in 'near 192.0.2.1' 'near 192.0.2.2' 'far 192.0.2.1'; do
	adapter "$work/$(echo "$case" | tr ' ' -).conf" wire "port=net_af_packet0,iface=${case% *} ip=${case#* }/24"
done

# listens CASE [COMMAND...] : a server there, until it is stopped. What it says is in $work/CASE.out and CASE.err.
listens() {
	case=$1
	shift
	: >"$work/$case.out"
	DAT_OVERRIDE=$work/$case.conf "$@" "$perf" -D wire -l >"$work/$case.out" 2>"$work/$case.err" </dev/null &
	server=$!
	children="$children $server"
	wait_for "$work/$case.out" "$server" || complain "$case does not start: $(cat "$work/$case.err")"
}

listens near-192.0.2.1
first=$server
cp "$work/near-192.0.2.1.err" "$work/first.err"
listens near-192.0.2.1
grep -q "$warning" "$work/near-192.0.2.1.err" || complain "not told: $(cat "$work/near-192.0.2.1.err")"
stop "$server"
listens near-192.0.2.2
listens far-192.0.2.1 $far
stop "$first"
listens near-192.0.2.1
for said in first near-192.0.2.1 near-192.0.2.2 far-192.0.2.1; do
	[ ! -s "$work/$said.err" ] || complain "$said: a word without need: $(cat "$work/$said.err")"
done
finish
