#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes in two network namespaces, over net_af_packet on a veth pair. Addresses are those of the adapters
# alone: the kernel has none.
#
#   af_packet.sh python3 dat-perf MTU PATH-MTU
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
veth "$3"
server=198.51.100.1
adapter "$work/server.conf" wire "port=net_af_packet0,iface=near ip=198.51.100.1/24"
adapter "$work/client.conf" wire "port=net_af_packet0,iface=far ip=198.51.100.2/24"
matrix talk "c['PMD'] == 'net_af_packet' and c['MTU'] == $4"
finish
