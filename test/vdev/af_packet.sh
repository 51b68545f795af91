#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes in two network namespaces, over net_af_packet on a veth pair.
#
#   af_packet.sh python3 dat-perf MTU PATH-MTU
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
veth_wire "$3"
matrix talk "c['PMD'] == 'net_af_packet' and c['MTU'] == $4"
finish
