#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process attaches to roced and leaves again and again, beside a server: nobody's descriptors, mappings, memory or files
# grow by that.
#
#   roce0_rounds.sh python3 roce0_rounds roced ROUNDS EVERY
. "$(dirname "$0")/lib.sh"

rounds=$2
roced=$3
unset DAT_OVERRIDE UDAPL_ROCE_PARAMS
export RUNTIME_DIRECTORY="$work/run" XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$roced"
mkdir -m 700 "$XDG_RUNTIME_DIR"

: >"$work/server"
"$rounds" serve roce0 >"$work/server" 2>&1 &
server=$!
children="$children $server"
until_said listening "$work/server" "$server"
daemon=$("$roced" --status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["pid"])')
# Ten thousand are many steps.
timeout $((25 * limit)) "$rounds" roce0 127.0.0.1 "$4" "$5" "$server" "$daemon" "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/udapl-roce" \
	"$XDG_RUNTIME_DIR/dpdk/roce" || complain "rounds: see above; the server: $(cat "$work/server")"
"$roced" --status --json >"$work/status"
"$python" -c '
import json, sys
status = json.load(open(sys.argv[1]))
assert [process["pid"] for process in status["processes"]] == [int(sys.argv[2])], status
assert status["processes"][0]["channels"] == [], status
assert status["counters"]["attached"] > int(sys.argv[3]), status
for name in ("refused", "violations", "slow", "frames_malformed", "frames_forged"):
    assert status["counters"][name] == 0, (name, status)
' "$work/status" "$server" "$4" || complain "roced: see above"
finish
