#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's dpdk-dumpcap captures what a running engine sends and receives, and tshark reads it. For that the EAL must
# share its memory: hugepages, and a UDAPL_ROCE_EAL without --no-shconf and --in-memory.
#
#   dumpcap.sh python3 dat-perf
. "$(dirname "$0")/lib.sh"

PAGES=48
FRAMES=200
# So large a file has many of either direction, though dpdk-dumpcap asks for one before the other.
BYTES=1000000
# Messages: they go there and back until the programs are ended.
ENDLESS=1000000000

for tool in dpdk-dumpcap tshark; do
	command -v $tool >/dev/null || skip "$tool is missing (packages dpdk-dev, tshark)"
done
[ "$(id -u)" -eq 0 ] || skip "wants root: another process attaches to the memory of the first"
free=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2>/dev/null || echo 0)
[ "$free" -ge $PAGES ] || skip "wants $PAGES free hugepages of 2 MiB, and there are $free"
own_network "$0" "$python" "$perf"

prefix=roce-dumpcap-$$
# In a mount namespace of ours, so that nothing of it is left wherever it ends.
mount -t hugetlbfs -o pagesize=2M none /mnt 2>"$work/mount.err" || skip "no hugetlbfs here: $(cat "$work/mount.err")"
shared="--no-pci -l 0 -m 80 --huge-dir=/mnt --file-prefix=$prefix --log-level=*:error"
wire="id=0,bsize=8192,socket=$work/memif.sock,socket-abstract=no"
adapter "$work/server.conf" wire "port=net_memif0,role=server,$wire ip=192.0.2.1/24"
adapter "$work/client.conf" wire "port=net_memif0,role=client,$wire ip=192.0.2.2/24"

: >"$work/server.out"
DAT_OVERRIDE=$work/server.conf UDAPL_ROCE_EAL=$shared "$perf" -D wire -t send_lat --verify -s 64 -n $ENDLESS \
	>"$work/server.out" 2>&1 </dev/null &
server=$!
children=$server
wait_for "$work/server.out" "$server" || skip "the EAL does not start with shared memory: $(cat "$work/server.out")"
DAT_OVERRIDE=$work/client.conf "$perf" -D wire -t send_lat --verify -s 64 -n $ENDLESS 192.0.2.1 \
	>"$work/client.out" 2>&1 </dev/null &
client=$!
children="$children $client"
until_said '#bytes' "$work/client.out" "$client" || complain "the client does not begin: $(cat "$work/client.out")"

timeout "$limit" dpdk-dumpcap --file-prefix=$prefix -D >"$work/list" 2>&1
grep -q net_memif0 "$work/list" || complain "dpdk-dumpcap does not see the port: $(cat "$work/list")"

captured() {
	[ "$(stat -c %s "$work/frames.pcapng" 2>/dev/null || echo 0)" -ge $BYTES ]
}

# The capture ends while no frame is on its way: dpdk-dumpcap frees its buffers without waiting for a thread that copies a frame
# into them, and the process that is looked at would crash (docs/observability.md).
dpdk-dumpcap --file-prefix=$prefix -i net_memif0 -w "$work/frames.pcapng" >"$work/dumpcap" 2>&1 </dev/null &
dumpcap=$!
children="$children $dumpcap"
wait_until captured || complain "dpdk-dumpcap: $(cat "$work/dumpcap")"
kill -STOP "$client"
kill -INT "$dumpcap"
end_of "$dumpcap" || complain "dpdk-dumpcap: $(cat "$work/dumpcap")"
kill -CONT "$client"

# read_frames FILTER : how many captured frames are so. Tshark guesses protocols in payloads where there are none.
read_frames() {
	tshark -r "$work/frames.pcapng" --disable-protocol rpcordma --disable-protocol smc \
		--disable-heuristic eth_over_ib -Y "$1" -T fields -e frame.number \
		2>"$work/tshark.err" | wc -l
}
all=$(read_frames frame)
[ "$all" -ge $FRAMES ] || complain "$all frames captured instead of $FRAMES: $(cat "$work/tshark.err")"
[ "$(read_frames infiniband.bth)" -eq "$all" ] || complain "not all of them are RoCEv2"
[ "$(read_frames _ws.malformed)" -eq 0 ] || complain "tshark finds malformed ones"
for end in 1 2; do
	[ "$(read_frames "ip.src == 192.0.2.$end")" -ge $((FRAMES / 4)) ] || complain "hardly any from 192.0.2.$end"
done

# The captured programs go on: each message that they send and receive is still right.
for child in $client $server; do
	kill -0 "$child" 2>/dev/null || complain "a program has ended: $(cat "$work/server.out" "$work/client.out")"
done
for child in $client $server; do
	stop "$child"
done
children=
grep -i -E "violat|mismatch|wrong" "$work/server.out" "$work/client.out" && complain "messages went wrong"
rm -rf "/var/run/dpdk/$prefix"
finish
