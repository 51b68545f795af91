#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both ends in one process, over net_ring: no NIC, no root, no hugepages.
#
#   loop.sh python3 dat-perf
. "$(dirname "$0")/lib.sh"

matrix loop 'c["PMD"] == "net_ring" and c["MTU"] == 4096'
finish
