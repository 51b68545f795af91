#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Under a limit of the size of files (ulimit -f, as batch systems set it) adapters open and messages pass, or one sentence
# says why not. What makes a file larger than that would end the process by a signal: DPDK's memory, and that of peers.
#
#   file_limit.sh python3 dat-ping roced
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
mount -t tmpfs tmpfs /run || skip "no /run of its own here"
# 512000 bytes, and less than a hugepage in any case.
ulimit -f 1000
XDG_RUNTIME_DIR=$work
export XDG_RUNTIME_DIR

# passes NAME COMMAND... : it ends well, and says nothing on its standard error output but WORDS, if those are there.
passes() {
	name=$1
	shift
	timeout "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null || complain "$name: ends with $?: $(cat "$work/err")"
	grep -v '^roce: the EAL runs' "$work/err" >"$work/words" && complain "$name: says $(cat "$work/words")"
	:
}

passes loop0 "$perf" -c 3
UDAPL_ROCE_EAL="--no-huge -m 512 --no-pci --no-shconf --no-telemetry --log-level=*:error --log-level=roce.*:notice"
export UDAPL_ROCE_EAL
passes "arguments of the user" "$perf" -c 3
# These make the EAL's own files, which are larger: it does not start, and the process is not ended by the signal.
UDAPL_ROCE_EAL="--no-huge -m 512 --no-pci --file-prefix=file_limit --log-level=*:error"
timeout "$limit" "$perf" -c 1 >"$work/out" 2>"$work/err" </dev/null
status=$?
[ "$status" -eq 1 ] || complain "arguments that make files: ends with $status: $(cat "$work/err")"
unset UDAPL_ROCE_EAL

# refuses NAME SENTENCE : the adapter does not open, and says why in one sentence.
DAT_OVERRIDE=$work/conf
UDAPL_ROCE_ROCED=$3
export DAT_OVERRIDE UDAPL_ROCE_ROCED
refuses() {
	timeout "$limit" "$perf" -D "$1" -c 1 192.0.2.1 >"$work/out" 2>"$work/err" </dev/null
	status=$?
	[ "$status" -eq 1 ] || complain "$1: ends with $status: $(cat "$work/err")"
	[ "$(grep -cF -e "$2" "$work/err")" -eq 1 ] || complain "$1: does not say '$2', but: $(cat "$work/err")"
}

adapter "$DAT_OVERRIDE" client "port=net_memif0,role=client,id=0,socket=$work/memif ip=192.0.2.2/24"
refuses client "its frames are a file larger than this process may have, raise the limit (ulimit -f)"
refuses roce0 "is not started: channels are files of"
# It may stay small, but nobody knows.
adapter "$DAT_OVERRIDE" record "port=net_pcap0,rx_pcap=$work/in.pcap,tx_pcap=$work/out.pcap ip=192.0.2.3/24"
refuses record "its frames are a file larger than this process may have, raise the limit (ulimit -f)"
finish
