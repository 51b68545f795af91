#!/bin/dash
# SPDX-License-Identifier: BSD-3-Clause
# /init of an rxe-lab guest: modules, network, rxe, then the agent as PID 1.
# Settings come on the kernel command line: lab.name lab.ip lab.mtu lab.rxe lab.modules
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /share
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t debugfs debugfs /sys/kernel/debug

arg() { sed -n "s/^\(.* \)\?lab\.$1=\([^ ]*\).*/\2/p" /proc/cmdline; }
name=$(arg name) ip=$(arg ip) mtu=$(arg mtu) rxe=$(arg rxe)
hostname "$name"
ulimit -l unlimited

# shellcheck disable=SC2046 # a word for each module
modprobe -a $(arg modules | tr , ' ') || echo "rxe-lab: a module did not load"
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none share /share || echo "rxe-lab: no /share"

ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
	ip link set eth0 mtu "$mtu" up
	[ -z "$ip" ] || ip addr add "$ip" brd + dev eth0
	[ -z "$rxe" ] || rdma link add "$rxe" type rxe netdev eth0
fi
echo "rxe-lab: up $(cut -d' ' -f1 /proc/uptime)"
exec /sbin/guest-agent
