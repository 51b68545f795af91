#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A queue of the kernel's interface has one AF_XDP socket. Another adapter is refused it, which harms nobody, and has it in the next process.
#
#   taken_queue.sh python3 taken_queue
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
unset UDAPL_ROCE_PARAMS
export LSAN_OPTIONS="suppressions=$here/../../devtools/lsan.supp:print_suppressions=0"
"$python" -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>"$work/why" ||
	skip "no AF_XDP sockets here: $(tail -n 1 "$work/why")"
veth 1500
first="port=net_af_xdp0,iface=near ip=198.51.100.1/24"
second="port=net_af_xdp1,iface=near ip=198.51.100.1/24"
timeout "$limit" "$2" "$first" "$second" >"$work/out" 2>&1 || complain "one process: $(cat "$work/out")"
timeout "$limit" "$2" "$second" >"$work/out" 2>&1 || complain "the next process: $(cat "$work/out")"
finish
