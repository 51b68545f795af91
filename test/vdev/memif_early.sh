#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A memif server of others that has made its socket and is not started takes connections and knows no link. A client
# asks anew, says what the server says, and comes through when it has started.
#
#   memif_early.sh python3 dat-info
. "$(dirname "$0")/lib.sh"

info=$2
command -v dpdk-testpmd >/dev/null || skip "dpdk-testpmd is missing (package dpdk)"
own_network "$0" "$@"
mount -t tmpfs tmpfs /run || skip "nothing can be mounted on /run here"

adapter "$work/client.conf" wire "port=net_memif0,role=client,id=0,socket=/run/early.sock,socket-abstract=yes ip=192.0.2.2/24"
mkfifo "$work/in"
stdbuf -oL dpdk-testpmd --no-shconf --no-pci --no-huge -m 256 --lcores 0@0,1@0 \
	--vdev=net_memif0,role=server,id=0,bsize=8192,socket=/run/early.sock \
	-- --interactive --disable-device-start --total-num-mbufs=4096 <"$work/in" >"$work/out" 2>"$work/err" &
pid=$!
children=$pid
exec 3>"$work/in"

# The driver of DPDK 22.11 can crash in a server whose client goes, and that one is not ours.
still_there() {
	kill -0 "$pid" 2>/dev/null && return
	[ "$failures" -eq 0 ] || finish
	skip "testpmd has crashed: $(tail -n 1 "$work/err")"
}

# testpmd_says WORDS
testpmd_says() {
	until_said "$1" "$work/out" "$pid" && return
	still_there
	complain "testpmd does not say $1: $(cat "$work/out" "$work/err")"
	finish
}

testpmd_says 'Interactive-mode selected'
wait_until grep -q '@/run/early.sock' /proc/net/unix || complain "testpmd does not make its socket"
if DAT_OVERRIDE=$work/client.conf timeout "$limit" "$info" wire >"$work/info" 2>&1; then
	complain "a link with a server that is not started: $(cat "$work/info")"
else
	grep -q 'memif server at abstract socket /run/early.sock refuses: ID not found' "$work/info" || complain "not said why: $(cat "$work/info")"
fi
trap '' PIPE
still_there
echo 'port start all' >&3
testpmd_says '^Port 0: '
DAT_OVERRIDE=$work/client.conf timeout "$limit" "$info" wire >"$work/info" 2>&1 ||
	{ still_there; complain "no link with the server that is started: $(grep memif "$work/info")"; }
echo quit >&3
end_of "$pid"
children=
finish
