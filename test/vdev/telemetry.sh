#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What DPDK's telemetry socket says of a running program: adapters, counters, shared receive queues and queue pairs;
# and that Debian's dpdk-telemetry.py brings the same.
#
#   telemetry.sh python3 dat-perf
. "$(dirname "$0")/lib.sh"

# A folder for the socket that only this test has; ordinary users name theirs by XDG_RUNTIME_DIR.
prefix=roce-test-$$
if [ "$(id -u)" -eq 0 ]; then
	run=/var/run/dpdk/$prefix
else
	export XDG_RUNTIME_DIR="$work"
	run=$work/dpdk/$prefix
fi
UDAPL_ROCE_EAL="--no-shconf --no-pci --no-huge -m 512 --file-prefix=$prefix --log-level=*:error"
export UDAPL_ROCE_EAL
"$perf" -q 8 -s 64 -d 300 >"$work/out" 2>&1 &
child=$!
children="$children $child"
debian=
if command -v dpdk-telemetry.py >/dev/null; then
	debian=$prefix
fi
"$python" "$here/telemetry.py" "$run/dpdk_telemetry.v2" $debian || complain "telemetry: see above"
stop "$child"
UDAPL_ROCE_PARAMS="queues=2" "$perf" -q 200 -s 64 -d 300 >"$work/out" 2>&1 &
child=$!
children="$children $child"
"$python" "$here/telemetry.py" "$run/dpdk_telemetry.v2" --crowd 200 || complain "a crowd: see above"
stop "$child"
[ "$(id -u)" -ne 0 ] || rm -rf "$run"
[ "$failures" -ne 0 ] || [ -n "$debian" ] || skip "dpdk-telemetry.py is missing (package dpdk-dev); all else holds"
finish
