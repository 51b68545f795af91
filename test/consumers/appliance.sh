#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# docs/examples/appliance.c, compiled by whoever has installed us: clients of dat-ping(1) get their messages back
# while frames of others pass through it unharmed, and it ends in order beside a client that stays.
#
#   appliance.sh python3 dat-ping C_COMPILER MESON BUILD PREFIX WORK SOURCE
. "$(dirname "$0")/../vdev/lib.sh"
ping=$2
programs=$7
own_network "$0" "$@"
veth 1500
ip link add inner type veth peer name outer netns far || skip "no second pair of veth interfaces here"
ip link set inner arp off addrgenmode none mtu 1500 up &&
	ip -n far link set outer arp off addrgenmode none mtu 1500 up || skip "the veth interfaces do not come up"
libraries=$("$python" -B "$here/example.py" "$4" "$5" "$6" "$programs" "$3" roce "$8") ||
	{ echo "$libraries"; exit 1; }
for i in 1 2 3; do
	adapter "$work/$i.conf" client "port=net_af_packet0,iface=far ip=192.0.2.1$i/24"
done

# client NUMBER ARG... : dat-ping at the far end, on an address of its own.
client() {
	conf=$work/$1.conf
	shift
	DAT_OVERRIDE=$conf timeout "$limit" $far "$ping" -D client -i 1 "$@" 192.0.2.10
}

# answers NUMBER : sizes around those of a packet and of a buffer.
answers() {
	for size in 0 1 64 1024 1025 16384; do
		client "$1" -c 20 -s "$size" >"$work/ping$1" 2>&1 && grep -q '20 sent, 20 answered' "$work/ping$1" ||
			{ cat "$work/ping$1"; return 1; }
	done
}

# Two clients beside each other, each of which comes six times, and frames of others all the while.
traffic() {
	rm -f "$work/foreign"
	$far "$python" -B "$here/foreign.py" far outer >"$work/foreign" 2>&1 &
	foreign=$!
	children="$children $foreign"
	wait_for "$work/foreign" "$foreign" || complain "$1: $(cat "$work/foreign")"
	answers 1 &
	other=$!
	answers 2 || complain "$1: messages to the second client"
	wait "$other" || complain "$1: messages to the first client"
	kill -TERM "$foreign" 2>/dev/null
	end_of "$foreign" || complain "$1: $(cat "$work/foreign")"
	frames=$(sed -n 's/ frames$//p' "$work/foreign")
}

# One that stays is told of the end.
end_beside_a_client() {
	rm -f "$work/stays"
	DAT_OVERRIDE=$work/3.conf $far "$ping" -D client -i 1 -c 0 192.0.2.10 >"$work/stays" 2>&1 </dev/null &
	stays=$!
	children="$children $stays"
	until_said 'seq=3 ' "$work/stays" "$stays" || { cat "$work/stays"; complain "$1: no answer to who stays"; }
	kill -TERM "$appliance"
	end_of "$appliance"
	status=$?
	[ "$status" -eq 0 ] || complain "$1 ends with $status: $(cat "$work/appliance")"
	end_of "$stays"
	grep -q 'the peer disconnected' "$work/stays" || complain "$1: who stayed was not told: $(tail -n 3 "$work/stays")"
}

# A link that goes and comes is told.
links() {
	ip tuntap add dev tap0 mode tap && ip tuntap del dev tap0 mode tap ||
		{ echo "no taps here: links that go were not tried"; return; }
	appliance shared net_tap0,iface=tap0 net_null0,no-rx=1
	for way in down up; do
		ip link set tap0 "$way"
		until_said "port 0: link $way" "$work/appliance" "$appliance" || complain "link $way was not told"
	done
	kill -INT "$appliance"
	end_of "$appliance" || complain "it ends with $? beside a tap"
}

# forwarded N, dropped N, clients N, answered N
judge_words() {
	cat "$work/appliance"
	# shellcheck disable=SC2046 # words are meant
	set -- "$1" $(sed -n 's/^forwarded \(.*\), dropped .*, clients \(.*\), answered \(.*\)$/\1 \2 \3/p' "$work/appliance")
	[ $# -eq 4 ] || { complain "$1 says nothing"; return; }
	[ "$2" -ge "${frames:-0}" ] || complain "$1 forwarded $2 frames of $frames"
	[ "$3" -eq 13 ] || complain "$1 served $3 clients of 13"
	[ "$4" -ge 244 ] || complain "$1 answered $4 messages"
}

# appliance KIND VDEV VDEV : begins, and has said that it serves.
appliance() {
	rm -f "$work/appliance"
	LD_LIBRARY_PATH=$libraries "$programs/appliance-$1" --no-huge --no-pci --no-telemetry --no-shconf -m 128 -l 0 \
		--log-level error --vdev "$2" --vdev "$3" -- ip=192.0.2.10/24 >"$work/appliance" 2>&1 &
	appliance=$!
	children=$appliance
	until_said serving "$work/appliance" "$appliance" && return
	complain "$1 does not start: $(cat "$work/appliance")"
	finish
}

for kind in shared static; do
	appliance "$kind" net_af_packet0,iface=near net_af_packet1,iface=inner
	traffic "$kind"
	end_beside_a_client "$kind"
	judge_words "$kind"
done
links
rm -rf "$programs"
finish
