#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The addresses that lead to the processes of a host over roce0: those of its network interfaces, too, as with any
# transport of the kernel. An address in a subnet of the uplink is looked for on the wire.
#
#   roce0_addrs.sh python3 dat-ping roced roced-uplink
. "$(dirname "$0")/lib.sh"
own_network "$0" "$@"

ping=$2
own_host "$3"
uplink=$4
ip link set lo up
veth 1500
ip addr add 192.0.2.7/24 dev near
ip addr add 2001:db8::7/64 dev near nodad

# reaches ADDRESS : the server answers.
reaches() {
	timeout "$limit" "$ping" -D roce0 -c 2 "$1" >"$work/client" 2>&1 </dev/null || complain "$1: $(cat "$work/client")"
}

# misses ADDRESS WORDS : no path leads there, and the program says why.
misses() {
	timeout "$limit" "$ping" -D roce0 -c 1 "$1" >"$work/client" 2>&1 </dev/null && complain "$1 is reached"
	grep -q "$2" "$work/client" || complain "$1, not '$2': $(cat "$work/client")"
}

background "$work/server" "$ping" -D roce0 -l
server=$last
listening 1
for address in 127.0.0.1 127.9.9.9 ::1 192.0.2.7 2001:db8::7; do
	reaches $address
done
misses 192.0.2.8 'no address of this host, and port roced has no uplink'
# An interface may get its address later than a process opens roce0, and lose it.
ip addr del 192.0.2.7/24 dev near
misses 192.0.2.7 'no address of this host'
ip addr add 198.51.100.7/24 dev near
reaches 198.51.100.7
stop "$server"

# The uplink has a subnet: its own address and those of other interfaces are this host, the rest of the subnet is not.
UDAPL_ROCE_UPLINK="$uplink" background "$work/roced" "$roced" --port net_null0,size=64 --ip 198.51.100.1/24
has_uplink() {
	"$roced" --status >"$work/status" 2>&1 && ! grep -q 'without its uplink' "$work/status"
}
wait_until has_uplink || complain "roced has no uplink: $(cat "$work/roced" "$work/status")"
ip addr add 203.0.113.7/24 dev near
background "$work/server" "$ping" -D roce0 -l
listening 1
for address in 127.0.0.1 198.51.100.1 203.0.113.7; do
	reaches $address
done
misses 198.51.100.7 'nobody answers ARP'
finish
