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
	# Each process may be stopped for seconds: the defaults would break the connections then.
	veth_wire 4200 timeout=19
	way='talk'
	# The JSON judged is the client's. Its server may post a buffer again before the next frame comes, but for connections
	# that wait in the middle of their messages.
	held='r["rnr_nak_received"] > 0'
	perhaps=True
fi

# without_threads EXPRESSION ARG... : nothing but the program's own polls moves frames, and it posts 32 messages before
# it polls. So they are on the way together, whenever the kernel lets the program run: the queue must become empty.
without_threads() {
	UDAPL_ROCE_PARAMS=progress=manual
	export UDAPL_ROCE_PARAMS
	$way "$@"
	unset UDAPL_ROCE_PARAMS
}

for loss in 0 10000; do
	for depth in 1 8; do
		without_threads "$perhaps" -q 64 --srq-depth "$depth" --loss "$loss" -n $((depth * 640))
		# 37 packets, and a connection sends 32 before the next has its turn: the first ones keep all buffers.
		without_threads "$held" -q 64 --srq-depth "$depth" --loss "$loss" -n 128 -s 150000
	done
	# Both ways at once; and one connection alone that sends more than there is room for.
	without_threads "$perhaps" -q 64 --srq-depth 8 --loss "$loss" -n 3200 -b
	without_threads "$perhaps" --srq-depth 1 --loss "$loss" -n 300
	# With progress threads, whose polls may come between any two posts. How often the queue is empty is chance.
	for depth in 1 8; do
		$way True -q 64 --srq-depth "$depth" --loss "$loss" -n $((depth * 640))
		$way True -q 64 --srq-depth "$depth" --loss "$loss" -n 128 -s 150000
	done
	$way True -q 64 --srq-depth 63 --loss "$loss" -n 1280 -s 150000 -x 8
	$way True -q 64 --srq-depth 63 --loss "$loss" -n 20000
done
finish
