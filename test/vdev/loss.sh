#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One frame of a hundred and one of five lost at an adapter, in both directions: every message arrives once, in
# order, intact, and the counters tell of what was sent again.
#
#   loss.sh python3 dat-perf loop|veth
. "$(dirname "$0")/lib.sh"

way=loop
if [ "$3" = veth ]; then
	own_network "$0" "$@"
	veth_wire 4200
	way='talk'
fi

# One connection and 16, messages of one packet and of many.
again='r["retransmits"] > 0'
$way "$again" --loss 10000 -n 5000
$way "$again" --loss 10000 -n 5000 -q 16
$way "$again" --loss 10000 -n 64 -s 65536 -q 16
$way "$again" --loss 200000 -n 1000
$way "$again" --loss 200000 -n 1000 -q 16
$way "$again" --loss 200000 -n 32 -s 65536
$way "$again" --loss 200000 -n 32 -s 65536 -q 16
$way "$again" --loss 200000 -n 50 -t send_lat
finish
