#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What DPDK's telemetry socket says of a running program: adapters, counters, shared receive queues and queue pairs;
# and that Debian's dpdk-telemetry.py brings the same.
#
#   telemetry.sh python3 dat-perf dat-info
. "$(dirname "$0")/lib.sh"

info=$3

PAGES=64

# A folder for the socket that only this test has; ordinary users name theirs by XDG_RUNTIME_DIR.
prefix=roce-test-$$
if [ "$(id -u)" -eq 0 ]; then
	run=/var/run/dpdk/$prefix
else
	export XDG_RUNTIME_DIR="$work"
	run=$work/dpdk/$prefix
fi
eal="--no-shconf --no-pci --file-prefix=$prefix --log-level=*:error"
export UDAPL_ROCE_EAL="$eal --no-huge -m 512"

# has_hugepages yes|no : what an adapter tells its consumer.
has_hugepages() {
	"$info" --json loop0 >"$work/attributes" && grep -q "\"ROCE_HUGEPAGES\": \"$1\"" "$work/attributes" ||
		complain "hugepages are not '$1': $(cat "$work/attributes")"
}

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
has_hugepages no
free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
if [ "$free" -ge $PAGES ]; then
	export UDAPL_ROCE_EAL="$eal --in-memory -m $((2 * PAGES))"
	"$perf" -q 8 -s 64 -d 300 >"$work/out" 2>&1 &
	child=$!
	children="$children $child"
	"$python" "$here/telemetry.py" "$run/dpdk_telemetry.v2" --hugepages || complain "with hugepages: see above"
	stop "$child"
	has_hugepages yes
fi
[ "$(id -u)" -ne 0 ] || rm -rf "$run"
[ "$failures" -ne 0 ] || [ "$free" -ge $PAGES ] || skip "wants $PAGES free hugepages of 2 MiB, and there are $free; all else holds"
[ "$failures" -ne 0 ] || [ -n "$debian" ] || skip "dpdk-telemetry.py is missing (package dpdk-dev); all else holds"
finish
