#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 64 connections on one shared receive queue that has fewer buffers than there are connections, so that it is empty
# most of the time: receiver not ready, again and again, without loss and with one frame of a hundred lost. Every
# message arrives once, in order, intact, and the queue's counts are right in the end.
#
#   rnr.sh python3 dat-perf loop|veth
. "$(dirname "$0")/lib.sh"

way=loop
held='r["rnr_nak_sent"] > 0 and r["rnr_nak_received"] > 0'
perhaps=$held
if [ "$3" = veth ]; then
	own_network "$0" "$@"
	veth_wire 4200
	way='talk'
	# The JSON judged is the client's. Its server turns by itself and may be ready in time, but for connections that
	# wait in the middle of their messages.
	held='r["rnr_nak_received"] > 0'
	perhaps=True
fi

for loss in 0 10000; do
	# Messages of one packet, and of more than a connection sends in a row: all of them want a buffer for some time.
	for depth in 1 8; do
		$way "$perhaps" -q 64 --srq-depth "$depth" --loss "$loss" -n $((depth * 640))
		$way "$held" -q 64 --srq-depth "$depth" --loss "$loss" -n 128 -s 150000
	done
	$way "$perhaps" -q 64 --srq-depth 63 --loss "$loss" -n 1280 -s 150000 -x 8
	$way True -q 64 --srq-depth 63 --loss "$loss" -n 20000
	# Both ways at once; and one connection alone that sends more than there is room for.
	$way "$perhaps" -q 64 --srq-depth 8 --loss "$loss" -n 3200 -b
	$way "$perhaps" --srq-depth 1 --loss "$loss" -n 300
done
finish
