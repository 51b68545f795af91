#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a failure says: what failed, the value, and what to do, in one line that is not lost among others.
#
#   words.sh python3 dat-ping
. "$(dirname "$0")/lib.sh"

own_network "$0" "$@"
command -v setpriv >/dev/null && command -v prlimit >/dev/null || skip "setpriv or prlimit is missing (package util-linux)"
ping=$perf

conf=$work/words.conf
adapter "$conf" nosuch "port=net_nosuch0 ip=192.0.2.1/24"
adapter "$conf" unknown "port=nosuch ip=192.0.2.1/24"
adapter "$conf" packet "port=net_af_packet0,iface=lo ip=192.0.2.1/24"
adapter "$conf" pcap "port=net_pcap0,iface=lo ip=192.0.2.1/24"
adapter "$conf" xdp "port=net_af_xdp0,iface=lo ip=192.0.2.1/24"
adapter "$conf" tap "port=net_tap0 ip=192.0.2.1/24"
adapter "$conf" loop0 "port=loop0 ip=192.0.2.1/24"
echo 'later u2.0 threadsafe default libdaplroce.so.2 roce.1.0 "port=loop0 ip=192.0.2.1/24" ""' >>"$conf"
echo 'gone u1.2 threadsafe default libnosuch.so.1 roce.1.0 "port=loop0 ip=192.0.2.1/24" ""' >>"$conf"
DAT_OVERRIDE=$conf
export DAT_OVERRIDE

# says NAME LINE COMMAND... : a client on the adapter behind these commands fails; among the few lines that it says is
# this one.
says() {
	name=$1 line=$2
	shift 2
	timeout "$limit" "$@" "$ping" -D "$name" -c 1 192.0.2.9 >"$work/out" 2>"$work/err" </dev/null
	status=$?
	[ "$status" -eq 1 ] || complain "$name ($*): exits with $status, not 1"
	grep -Fqx -- "$line" "$work/err" || complain "$name ($*): does not say $line, but: $(cat "$work/out" "$work/err")"
	[ "$(cat "$work/out" "$work/err" | wc -l)" -le 8 ] || complain "$name ($*): has more to say: $(cat "$work/out" "$work/err")"
}

bare="setpriv --bounding-set=-all --inh-caps=-all"
to_do="run the program as root, or with that capability"

# libdat
says gone "libdat: The library libnosuch.so.1 does not load: libnosuch.so.1: cannot open shared object file: No such file or directory." env
says later "libdat: $conf, line 8, has later as u2.0 default: programs of DAT 1.2 want u1.2 default, and a library for that, like libdaplroce.so.1." env

# What the environment says
says loop0 "udapl-roce: loop0: UDAPL_ROCE_LOG=loud: must be error, warning, notice, info or debug" \
	env UDAPL_ROCE_LOG=loud
says loop0 "udapl-roce: loop0: UDAPL_ROCE_EAL=--nosuch: must be arguments of DPDK's EAL, which says above what it refuses" \
	env UDAPL_ROCE_EAL=--nosuch
says loop0 "udapl-roce: loop0: UDAPL_ROCE_EAL=--lcores=x: must be arguments of DPDK's EAL, which says above what it refuses" \
	env UDAPL_ROCE_EAL=--lcores=x
says loop0 "udapl-roce: loop0: ROCE_FAULTS: loss=101% is invalid: want a share such as 0.1%, or of a million, 0..1000000" \
	env ROCE_FAULTS=loss=101%
says loop0 "udapl-roce: loop0: ROCE_FAULTS: colour=red is unknown: want seed=, loss=, duplicate=, reorder=, corrupt=, mark=, rnr= or wc_error=" \
	env ROCE_FAULTS=loss=1%,colour=red

# What the EAL answers before it ends the process is there
UDAPL_ROCE_EAL=--log-level=help timeout "$limit" "$ping" -D loop0 -c 1 192.0.2.9 >"$work/out" 2>"$work/err" </dev/null
grep -q 'pmd.net.memif\|lib.eal' "$work/out" || complain "--log-level=help: says nothing: $(cat "$work/out" "$work/err")"

# Processors and descriptors
all=$(taskset -c 0-1023 sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
[ "$(getconf _NPROCESSORS_CONF)" -gt 127 ] ||
	says loop0 "udapl-roce: loop0: lcores=127: must be processors that this process may use, $all" \
	env UDAPL_ROCE_PARAMS=lcores=127
says loop0 "udapl-roce: loop0: this process may open 5 more descriptors: DPDK's EAL wants 16, raise the limit (ulimit -n)" \
	prlimit --nofile=8:8

# Addresses
says loop0 "udapl-roce: loop0: neigh= must be the address of one host in its subnet" \
	env UDAPL_ROCE_PARAMS="neigh=192.0.2.255@02:00:00:00:00:02"

# Devices
says unknown "udapl-roce: unknown: port=nosuch: there is no port of that name" env
says nosuch "udapl-roce: nosuch: port=net_nosuch0: DPDK has no driver of that name, as it has for net_memif0 or net_af_packet0" env
says packet "udapl-roce: packet: port=net_af_packet0 wants CAP_NET_RAW: $to_do" $bare
says pcap "udapl-roce: pcap: port=net_pcap0 wants CAP_NET_RAW: $to_do" $bare
says xdp "udapl-roce: xdp: port=net_af_xdp0 wants CAP_NET_RAW: $to_do" $bare
if [ -w /dev/net/tun ]; then
	says tap "udapl-roce: tap: port=net_tap0 wants CAP_NET_ADMIN: $to_do" $bare
else
	echo "not tried: tap without rights (no /dev/net/tun here)"
fi

# Sockets of memif
touch "$work/file"
memif="port=net_memif0,id=0,socket=$work"
adapter "$conf" file "$memif/file,role=server ip=192.0.2.1/24"
says file "udapl-roce: file: port net_memif0: socket=$work/file: there is a file that is no socket; want another name" env
# false_server HOW
false_server() {
	: >"$work/false"
	"$python" -B "$here/memif_false.py" "$work/$1" "$1" >"$work/false" 2>&1 &
	children=$!
	adapter "$conf" "$1" "$memif/$1,role=client ip=192.0.2.2/24"
	wait_for "$work/false" "$children" || complain "a false server: $(cat "$work/false")"
}
false_server busy
says busy "udapl-roce: busy: port net_memif0: its memif server at socket $work/busy does not answer for ten seconds: it is stopped, or busy" env
adapter "$conf" second "$memif/busy,role=server ip=192.0.2.1/24"
says second "udapl-roce: second: port net_memif0: another memif server has the socket $work/busy; a second one wants another socket=" env
stop "$children"
false_server escape
says escape "udapl-roce: escape: port net_memif0: its memif server at socket $work/escape refuses: ?[31mno?more" env
stop "$children"
# It is there, whatever it says.
false_server wordless
says wordless "udapl-roce: wordless: port net_memif0: its memif server at socket $work/wordless refuses: it does not say why" env
stop "$children"
children=

# No route to an address: one event for all causes, and a sentence for each (test_unreachable has them all).
says loop0 "roce: 192.0.2.9 is unreachable: nobody answers ARP for it on port loop0, untagged; is it up, on the wire of ip=192.0.2.1/24, and has it the same vlan=?" \
	env
says loop0 "roce: 192.0.2.9 is unreachable: it is in no subnet of ip=192.0.2.1/30, and there is no gw=; want another prefix, or a gateway" \
	env UDAPL_ROCE_PARAMS=ip=192.0.2.1/30
says loop0 "dat-ping: no connection on loop0: nobody listens there" env UDAPL_ROCE_PARAMS=ip=192.0.2.9/24
finish
