#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a build learns from (run.sh, compile_trained): train.sh BUILD, a build that counts where its programs go
# (-Db_pgo=generate). Short runs of all that moves messages; what is not run here is compiled as without training.
set -euo pipefail

build=$(realpath "$1")
# A machine's own configuration is no business of ours, and counts must not depend on it.
export LD_LIBRARY_PATH=$build/lib/libdat:$build/lib/front:$build/lib/roce DAT_OVERRIDE=

while read -ra options; do
	"$build/apps/dat-perf" "${options[@]}" </dev/null >/dev/null
done <<-END
	-s 64 -n 200000
	-s 64 -n 100000 --no-srq
	-s 64 -n 200000 -q 64
	-s 64 -n 100000 -q 1024
	-s 1024 -n 50000
	-s 4096 -n 50000
	-s 65536 -n 4000
	-s 65536 -n 4000 -m 1024
	-s 64 -n 50000 -b
	-s 4096 -n 20000 --loss 5000
	-t write_bw -s 64 -n 50000
	-t write_bw -s 65536 -n 4000
	-t read_bw -s 64 -n 50000
	-t read_bw -s 65536 -n 4000
	-t atomic_bw -s 8 -n 20000
	-t write_lat -s 64 -n 20000
	-t send_lat -s 64 -n 50000
END
