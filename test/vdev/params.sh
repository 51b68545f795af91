#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Adapters with other parameters: every path MTU, IPv6, a VLAN, a priority, several queues, and all of these together.
#
#   params.sh python3 dat-perf loop|veth
. "$(dirname "$0")/lib.sh"

[ "$3" = loop ] || own_network "$0" "$@"

# with PARAMS PREFIX NEAR FAR ARG... : messages of several packets, between adapters with these parameters.
with() {
	params=$1
	near_ip=$3/$2
	far_ip=$4/$2
	mtu=$5
	server=$3
	shift 5
	rm -f "$work"/*.conf
	if [ "$side" = loop ]; then
		adapter "$work/loop.conf" loop0 "port=loop0 ip=$far_ip $params"
		adapter "$work/loop.conf" loop1 "port=loop1 ip=$near_ip $params"
		DAT_OVERRIDE=$work/loop.conf
		export DAT_OVERRIDE
		loop "c['MTU'] == $mtu" "$@"
	else
		adapter "$work/server.conf" wire "port=net_af_packet0,iface=near ip=$near_ip $params"
		adapter "$work/client.conf" wire "port=net_af_packet0,iface=far ip=$far_ip $params"
		talk "c['MTU'] == $mtu" "$@"
	fi
}

side=$3
[ "$side" = loop ] || veth 4200
v4="24 198.51.100.1 198.51.100.2"
v6="64 2001:db8::1 2001:db8::2"
# shellcheck disable=SC2086 # prefix and addresses are three words
for mtu in 256 512 1024 2048 4096; do
	with "mtu=$mtu" $v4 "$mtu" -s 5000 -n 500
done
with "" $v6 4096 -s 5000 -n 500 -q 4
with "vlan=7" $v4 4096 -s 5000 -n 500 -q 4
with "vlan=7 pcp=5 dscp=46" $v4 4096 -s 5000 -n 500 -q 4
with "pcp=3" $v6 4096 -s 5000 -n 500 -q 4
with "queues=2" $v4 4096 -s 5000 -n 1000 -q 64
with "queues=4" $v4 4096 -s 64 -n 2000 -q 16
with "queues=2" $v4 4096 -s 5000 -n 500 -q 8 -t send_lat
with "queues=2 vlan=4094 dscp=26 mtu=1024" $v6 1024 -s 5000 -n 1000 -q 16
with "queues=2" $v4 4096 -s 5000 -n 1000 -q 16 --loss 10000
finish
