#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes of roce0 that write what they like into the memory of their channels (scribble.c) harm none of the others: each
# message of the others arrives, every byte compared, and a server goes on until it is ended.
#
#   roce0_hostile.sh python3 dat-perf dat-info dat-srqd scribble roced
. "$(dirname "$0")/lib.sh"

info=$3
srqd=$4
scribble=$5
own_host "$6"

# broken N : the server has found so many channels broken.
broken() {
	"$info" --metrics 2>/dev/null | awk -v n="$1" '/^roce_local_broken_total/ { sum += $NF } END { exit !(sum >= n) }'
}

background "$work/server" "$srqd" -D roce0 -p 7 --interval 0
server=$last
listening 1
for seed in 1 2; do
	background "$work/scribble$seed" "$scribble" "$work/run/udapl-roce" $seed
	scribblers="${scribblers:-} $last"
done
rounds=0
until [ $rounds -ge 3 ] && broken 20; do
	rounds=$((rounds + 1))
	for child in $scribblers; do
		kill -0 "$child" || complain "a hostile process has ended: $(cat "$work"/scribble*)"
	done
	background "$work/perf" timeout "$limit" "$perf" -D roce0 -p 8 -s 3000 -n 2000 -q 4 --verify
	peer=$last
	timeout "$limit" "$srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 5000 --clients 2 >"$work/client" 2>&1 ||
		complain "a client beside hostile processes: $(tail -n 5 "$work/client")"
	listening 2
	timeout "$limit" "$perf" -D roce0 -p 8 -s 3000 -n 2000 -q 4 --verify 127.0.0.1 >"$work/client" 2>&1 ||
		complain "dat-perf beside hostile processes: $(tail -n 5 "$work/client")"
	wait "$peer" || complain "its server: $(tail -n 5 "$work/perf")"
	[ "$failures" -eq 0 ] || finish
done
for child in $scribblers; do
	kill "$child"
	wait "$child" || complain "a hostile process ends with $?: $(cat "$work"/scribble*)"
done
timeout "$limit" "$srqd" -D roce0 -p 7 --connect 127.0.0.1 -n 1000 >"$work/client" 2>&1 || complain "behind them: $(tail -n 3 "$work/client")"
stop "$server" || complain "the server: $(tail -n 5 "$work/server")"
finish
