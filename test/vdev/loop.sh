#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both ends in one process, over net_ring: no NIC, no root, no hugepages.
#
#   loop.sh python3 dat-perf
. "$(dirname "$0")/lib.sh"

matrix loop 'c["PMD"] == "net_ring" and c["MTU"] == 4096'

# The same of RDMA: what the peer finds in its memory, and what is fetched from there.
for test in write_bw write_lat read_bw; do
	for size in 1 64 4097 65536 1048576; do
		n=2000
		[ "$size" -lt 65536 ] || n=64
		loop 'c["PMD"] == "net_ring"' -t $test -s "$size" -n "$n"
		loop 'c["qps"] == 8' -t $test -s "$size" -n "$n" -q 8
	done
	loop 'r["retransmits"] > 0' -t $test -n 2000 --loss 10000
done
finish
