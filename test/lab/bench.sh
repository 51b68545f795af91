#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# perftest baselines between guests a (client) and b (server) of a running rxe-lab.
# usage: bench.sh OUT.tsv [quick]
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
lab=$here/rxe-lab.sh
out=$1
log=$out.log
: >"$log"
: >"$out"

# one TOOL SIZE ITERATIONS OPTIONS...
one() {
	local tool=$1 size=$2 n=$3 line srv
	shift 3
	# (perftest -R connects twice and crashes when the server is slow to listen again: try again.)
	for _ in 1 2 3; do
		"$lab" run -g b -t 110 "timeout 100 $tool -d rxe0 -x 1 -F -s $size -n $n $*" >"$log.b" 2>&1 &
		srv=$!
		for _ in $(seq 60); do
			"$lab" run -g b 'rdma resource show cm_id | grep -q LISTEN || grep -q ":4853 .* 0A " /proc/net/tcp /proc/net/tcp6' && break
			sleep 0.1
		done
		"$lab" run -g a -t 110 "$tool -d rxe0 -x 1 -F -s $size -n $n $* b" >"$log.a" 2>&1
		line=$(awk -v s="$size" '$1 == s && NF >= 4' "$log.a" | tail -1 | tr -s ' \t' ' ')
		[ -n "$line" ] || "$lab" run -g b "pkill -x $tool"
		wait "$srv"
		{ echo "### $tool -s $size -n $n $* (load $(cut -d' ' -f1 /proc/loadavg))"; cat "$log.a"; } >>"$log"
		[ -z "$line" ] || break
	done
	printf '%s -s %s -n %s %s\t%s\n' "$tool" "$size" "$n" "$*" "${line:-FAILED: $(tail -1 "$log.a")}" | tee -a "$out"
	rm -f "$log.a" "$log.b"
}

for s in 64 4096 65536; do
	n=2000
	[ $s = 65536 ] && n=500
	one ib_send_bw $s $n -e
	one ib_send_bw $s $n
	one ib_send_bw $s $n -e --use-srq
	one ib_send_bw $s $n -e -R
	one ib_write_bw $s $n
	one ib_read_bw $s $n -e
	one ib_send_lat $s 500 -e
	[ "${2:-}" = quick ] || one ib_send_lat $s 500
	[ "${2:-}" = quick ] || one ib_write_lat $s 500
	one ib_read_lat $s 500 -e
done
one ib_atomic_bw 8 1000 -e -A FETCH_AND_ADD
one ib_send_lat 64 500 -e -R
