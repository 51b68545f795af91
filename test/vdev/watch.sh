#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dat-info looks at a running program: metrics on standard output and over HTTP, read by Prometheus' own library,
# the live table on a terminal and elsewhere, and adapters that are in use.
#
#   watch.sh python3 dat-perf dat-info
. "$(dirname "$0")/lib.sh"
info=$3

# A folder for the sockets that only this test has; ordinary users name theirs by XDG_RUNTIME_DIR.
prefix=roce-watch-$$
if [ "$(id -u)" -eq 0 ]; then
	run=/var/run/dpdk/$prefix
else
	export XDG_RUNTIME_DIR="$work"
	run=$work/dpdk/$prefix
fi
"$python" -c 'import prometheus_client' 2>/dev/null || skip "python3-prometheus-client is missing"
"$python" -c 'import pyte' 2>/dev/null || skip "python3-pyte is missing"
adapter "$work/wire.conf" wire "port=net_memif0,role=server,id=0,socket=$work/wire.sock ip=192.0.2.9/24"
UDAPL_ROCE_EAL="--no-shconf --no-pci --no-huge -m 512 --file-prefix=$prefix --log-level=*:error"
export UDAPL_ROCE_EAL
"$python" -B "$here/watch.py" "$perf" "$info" "$prefix" "$work/wire.conf" || complain "see above"
[ "$(id -u)" -ne 0 ] || rm -rf "$run"
finish
