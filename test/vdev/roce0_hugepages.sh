#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many processes start at once where hugepages are few: some have hugepages, the others ordinary memory, and each one serves.
#
#   roce0_hugepages.sh python3 dat-ping roced
. "$(dirname "$0")/lib.sh"

ping=$2
own_host "$3"
unset UDAPL_ROCE_EAL

# A process starts with 24, and wants 64 to be there.
free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
[ "$free" -ge 64 ] || skip "too few hugepages to run short of: $free are free"
count=$((free / 24 + 16))
[ "$count" -le 60 ] || skip "too many hugepages to run short of: $free are free"

# ask : of the last one, which may be slow beside so many.
ask() {
	"$ping" -D roce0 -p "$count" -c 3 127.0.0.1 >"$work/client" 2>&1
}

for port in $(seq "$count"); do
	"$ping" -l -D roce0 -p "$port" >"$work/$port" 2>&1 </dev/null &
	children="$children $!"
done
port=0
for pid in $children; do
	port=$((port + 1))
	until_said '^dat-ping answers' "$work/$port" "$pid" || complain "of $count processes number $port: $(cat "$work/$port")"
done
[ "$(cat "$work"/[0-9]* | grep -vc '^dat-ping answers')" -eq 0 ] || complain "a process says: $(cat "$work"/[0-9]* | grep -v '^dat-ping answers')"
wait_until ask || complain "a client beside them: $(cat "$work/client")"
finish
