#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libfabric's providers for verbs, over ours: connected endpoints, and reliable datagrams above them (ofi_rxm). They take
# their addresses from the host's network interfaces, so the test has one.
#
#   libfabric.sh python3 ROCE_RUN ROCED
. "$(dirname "$0")/../vdev/lib.sh"
command -v fi_pingpong >/dev/null || skip "fi_pingpong is missing (package libfabric-bin)"
own_network "$0" "$@"

run=$2
own_host "$3"
ip link set lo up
veth 1500
ip addr add 192.0.2.7/24 dev near

# The server comes to listen on TCP, by which the two agree on the rest.
listens() {
	grep -q ':11D7 .* 0A ' /proc/net/tcp /proc/net/tcp6
}

# pingpong KIND PROVIDER : every size, the content compared.
pingpong() {
	background "$work/server" timeout "$limit" "$run" fi_pingpong -c -d roce0 -e "$1" -p "$2" -B 4567
	server=$last
	wait_until listens || complain "the server of $1 does not listen: $(cat "$work/server")"
	timeout "$limit" "$run" fi_pingpong -c -d roce0 -e "$1" -p "$2" -P 4567 192.0.2.7 >"$work/client" 2>&1 </dev/null ||
		complain "the client of $1: $(tail -n 5 "$work/client")"
	wait "$server" || complain "the server of $1: $(tail -n 5 "$work/server")"
	grep -q '^1m ' "$work/client" || complain "$1 has not come to 1 MiB: $(cat "$work/client")"
}

pingpong msg verbs
pingpong rdm 'verbs;ofi_rxm'
finish
