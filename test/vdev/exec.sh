#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that is executed by one with an adapter has no descriptor of DPDK or of ours: no memory, no socket of an interface,
# no peer's connection, no channel. Each descriptor of a server that has a client is close-on-exec, on every kind of device
# that this machine allows.
#
#   exec.sh python3 dat-ping roced
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
veth 1500

# of SCRIPT : descriptors that the shell was given are everybody's.
readlink /proc/$$/fd/* >"$work/given" 2>/dev/null

# closes WHAT PID : all that the process has beside those.
closes() {
	for fd in /proc/"$2"/fd/*; do
		number=${fd##*/}
		link=$(readlink "$fd") || continue
		[ "$number" -gt 2 ] && ! grep -Fqx -- "$link" "$work/given" || continue
		flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$2/fdinfo/$number")
		[ $((flags & 02000000)) -ne 0 ] || complain "$1: programs that are executed have $number, $link"
	done
}

# has_client WHAT [CLIENT-COMMAND...] : a server on the adapter $adapter, which has a client, if one is given.
adapter=server
has_client() {
	what=$1
	shift
	: >"$work/server.out"
	"$perf" -D "$adapter" -l >"$work/server.out" 2>"$work/server.err" </dev/null &
	server=$!
	children="$children $server"
	if ! wait_for "$work/server.out" "$server"; then
		complain "$what: does not start: $(cat "$work/server.err")"
	elif [ $# -eq 0 ]; then
		closes "$what" "$server"
	else
		# The client before it has said something there, and this one may begin late.
		: >"$work/client.out"
		"$@" >"$work/client.out" 2>"$work/client.err" </dev/null &
		client=$!
		children="$children $client"
		wait_for "$work/client.out" "$client" || complain "$what: no client: $(cat "$work/client.err")"
		closes "$what, server" "$server"
		closes "$what, client" "$client"
		stop "$client"
	fi
	stop "$server"
}

# on_veth DRIVER : both ends on the interfaces.
on_veth() {
	: >"$DAT_OVERRIDE"
	adapter "$DAT_OVERRIDE" server "port=${1}0,iface=near ip=192.0.2.1/24"
	adapter "$DAT_OVERRIDE" client "port=${1}0,iface=far ip=192.0.2.2/24"
	has_client "$1" $far "$perf" -D client -c 0 192.0.2.1
}

DAT_OVERRIDE=$work/conf
export DAT_OVERRIDE
on_veth net_af_packet
on_veth net_pcap
missing=
# Only root of the host loads the program that such a port needs; root of a user namespace does not.
if grep -q '^ *0 *0 ' /proc/self/uid_map && "$python" -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>"$work/why"; then
	on_veth net_af_xdp
else
	missing="$missing, AF_XDP sockets of root"
fi
if [ -c /dev/net/tun ]; then
	: >"$DAT_OVERRIDE"
	adapter "$DAT_OVERRIDE" server "port=net_tap0,iface=tap0 ip=192.0.2.1/24"
	has_client net_tap
else
	missing="$missing, /dev/net/tun"
fi
# The head of a file without frames.
printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\377\377\000\000\001\000\000\000' >"$work/in.pcap"
: >"$DAT_OVERRIDE"
adapter "$DAT_OVERRIDE" server "port=net_pcap0,rx_pcap=$work/in.pcap,tx_pcap=$work/out.pcap ip=192.0.2.1/24"
has_client "net_pcap on files"
: >"$DAT_OVERRIDE"
adapter "$DAT_OVERRIDE" server "port=net_memif0,role=server,id=0,socket=$work/memif ip=192.0.2.1/24"
adapter "$DAT_OVERRIDE" client "port=net_memif0,role=client,id=0,socket=$work/memif ip=192.0.2.2/24"
has_client net_memif "$perf" -D client -c 0 192.0.2.1
: >"$DAT_OVERRIDE"
adapter "$DAT_OVERRIDE" server "port=net_vhost0,iface=$work/vhost ip=192.0.2.1/24"
adapter "$DAT_OVERRIDE" client "port=net_virtio_user0,path=$work/vhost ip=192.0.2.2/24"
has_client "vhost-user" "$perf" -D client -c 0 192.0.2.1
# Processes of one host.
mkdir -m 700 "$work/run"
UDAPL_ROCE_ROCED=$3
XDG_RUNTIME_DIR=$work/run
export UDAPL_ROCE_ROCED XDG_RUNTIME_DIR
: >"$DAT_OVERRIDE"
adapter=roce0
has_client roce0 "$perf" -D roce0 -c 0 127.0.0.1
adapter=server
# With a shared configuration, and files of it.
UDAPL_ROCE_EAL="--no-huge -m 512 --no-pci --file-prefix=exec$$ --log-level=*:error"
export UDAPL_ROCE_EAL
: >"$DAT_OVERRIDE"
adapter "$DAT_OVERRIDE" server "port=net_af_packet0,iface=near ip=192.0.2.1/24"
adapter "$DAT_OVERRIDE" client "port=net_af_packet0,iface=far ip=192.0.2.2/24"
has_client "arguments of the user" $far env UDAPL_ROCE_EAL="$UDAPL_ROCE_EAL --no-shconf" "$perf" -D client -c 0 192.0.2.1
[ "$failures" -ne 0 ] || [ -z "$missing" ] || skip "missing here: ${missing#, }; all else holds"
finish
