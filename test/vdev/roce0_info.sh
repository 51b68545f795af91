#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dat-info beside processes that share roce0: adapters, the live table, metrics of all and of roced.
#
#   roce0_info.sh python3 dat-info dat-srqd roced
. "$(dirname "$0")/lib.sh"

own_host "$4"
"$python" -c 'import prometheus_client' 2>/dev/null || skip "python3-prometheus-client is missing"
"$python" -B "$here/roce0_info.py" "$2" "$3" "$4" || complain "see above"
finish
