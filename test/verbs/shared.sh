#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A test program over roce0, with a roced of its own.
#
#   shared.sh PROGRAM ROCED
set -eu
. "$(dirname "$0")/../limit.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset DAT_OVERRIDE UDAPL_ROCE_PARAMS
mkdir -m 700 "$work/run"
export RUNTIME_DIRECTORY="$work/run" XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$2"
rc=0
timeout "$limit" "$1" port=roced || rc=$?
pid=$("$2" --status --json 2>/dev/null | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -1) || pid=
[ -z "$pid" ] || kill "$pid"
exit $rc
