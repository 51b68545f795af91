#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A test program over roce0 of a host with an uplink, so that roce0 has an address besides the loopback one. Its port sends nowhere.
#
#   uplink.sh PROGRAM ROCED ROCED-UPLINK
set -u
. "$(dirname "$0")/../limit.sh"
roced=$2
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || { kill "$pid" 2>/dev/null; wait_until gone "$pid"; }; rm -rf "$work"' EXIT
unset DAT_OVERRIDE UDAPL_ROCE_PARAMS
mkdir -m 700 "$work/run" "$work/run/udapl-roce"
export RUNTIME_DIRECTORY="$work/run" XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$roced"

# has_uplink : roced runs, and its uplink, too.
has_uplink() {
	"$roced" --status >"$work/status" 2>&1 && ! grep -q 'without its uplink' "$work/status"
}

UDAPL_ROCE_UPLINK="$3" "$roced" --dir "$work/run/udapl-roce" --port net_null0,size=64 --ip 192.0.2.1/24 >"$work/log" 2>&1 </dev/null &
pid=$!
wait_until has_uplink || { echo "roced has no uplink: $(cat "$work/log" "$work/status")"; exit 1; }
timeout "$limit" "$1"
