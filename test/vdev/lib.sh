# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the scripts of this folder share. They are called with the interpreter and the program, and begin with
#   . "$(dirname "$0")/lib.sh"
#
# A script that lacks something prints what, and exits with 77. Whatever it starts or makes ends with it: a folder
# of its own for files, processes by their number, and networks in namespaces that only it and its children see.
python=$1
perf=$2
here=$(dirname "$0")
failures=0
children=
# What goes before the commands of either side; far, once veth has made it.
near=
far=
. "$here/../limit.sh"

skip() {
	echo "$*"
	exit 77
}

complain() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# A process this script started.
stop() {
	kill "$1" 2>/dev/null && end_of "$1" 2>/dev/null
}

# background FILE COMMAND... : its number is $last.
background() {
	file=$1
	shift
	"$@" >"$file" 2>&1 </dev/null &
	last=$!
	children="$children $last"
}

# own_host ROCED : from here on the processes of roce0 and of telemetry are those of this script alone.
own_host() {
	roced=$1
	unset DAT_OVERRIDE UDAPL_ROCE_PARAMS
	export RUNTIME_DIRECTORY="$work/run" XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$roced"
	mkdir -m 700 "$XDG_RUNTIME_DIR"
}

# listening N : so many processes of roce0 come to listen.
listening() {
	wait_until has_listeners "$1" || complain "$1 processes do not listen: $("$roced" --status)"
}

has_listeners() {
	[ "$("$roced" --status --json 2>/dev/null | tr -d ' \n' | grep -o '"listeners":\[[0-9]' | wc -l)" -eq "$1" ]
}

cleanup() {
	for child in $children; do
		stop "$child"
	done
	rm -rf "$work"
}

work=$(mktemp -d)
chmod 755 "$work"
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

finish() {
	[ "$failures" -eq 0 ] || { echo "$failures failed"; exit 1; }
	exit 0
}

# adapter FILE NAME PARAMS : one more line of a dat.conf.
adapter() {
	printf '%s u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "%s" ""\n' "$2" "$3" >>"$1"
}

# own_network SCRIPT ARG... : go on in a network and a mount namespace of our own. The kernel takes them, and all
# that is made in them, away with the last process, whatever happens. Root needs no more; others become root of a
# user namespace, where the kernel allows that.
own_network() {
	[ -z "$ROCE_OWN_NETWORK" ] || return 0
	command -v ip >/dev/null || skip "ip is missing (package iproute2)"
	command -v nsenter >/dev/null || skip "nsenter is missing (package util-linux)"
	if [ "$(id -u)" -eq 0 ]; then
		set -- unshare --mount --net --propagation private -- "$@"
	else
		set -- unshare --user --map-root-user --mount --net -- "$@"
	fi
	export ROCE_OWN_NETWORK=1
	"$1" "$2" "$3" "$4" "$5" true 2>/dev/null ||
		skip "no network namespaces here: wants root, or user namespaces"
	rm -rf "$work"
	exec "$@"
}

# veth MTU : the interfaces near (here) and far (in a namespace that $far enters), joined, and all frames for us:
# the kernel has no address on them, IPv6 none of its own making either, and speaks no ARP.
veth() {
	if [ -z "$far" ]; then
		mount -t tmpfs tmpfs /run && ip netns add far || skip "no named network namespaces here"
		far="nsenter --net=/run/netns/far --"
	else
		ip link del near
	fi
	ip link add near type veth peer name far netns far 2>"$work/veth.err" ||
		skip "no veth interfaces here: $(cat "$work/veth.err")"
	ip link set near arp off addrgenmode none mtu "$1" up &&
		ip -n far link set far arp off addrgenmode none mtu "$1" up || skip "the veth interfaces do not come up"
}

# veth_wire MTU : both ends on such a pair, for talk. One more argument adds parameters of both adapters.
veth_wire() {
	veth "$1"
	server=198.51.100.1
	rm -f "$work/server.conf" "$work/client.conf"
	adapter "$work/server.conf" wire "port=net_af_packet0,iface=near ip=198.51.100.1/24 $2"
	adapter "$work/client.conf" wire "port=net_af_packet0,iface=far ip=198.51.100.2/24 $2"
}

# judge WHAT EXPRESSION : the JSON of all ends, o, tells of results without violations, and the expression holds of
# the one that sent.
judge() {
	what=$1
	expression=$2
	shift 2
	"$python" -B "$here/judge_json.py" "$expression" "$@" >"$work/judged" || complain "$what: $(cat "$work/judged")"
}

# loop EXPRESSION ARG... : dat-perf with both ends in one process.
loop() {
	expression=$1
	shift
	timeout "$limit" "$perf" --verify --json "$@" >"$work/loop.json" 2>"$work/loop.err" </dev/null
	status=$?
	if [ "$status" -eq 0 ]; then
		judge "dat-perf $*" "$expression" "$work/loop.json"
	else
		complain "dat-perf $* exits with $status: $(cat "$work/loop.err")"
	fi
}

# talk EXPRESSION ARG... : a server and a client of dat-perf, with $work/server.conf and $work/client.conf, which
# both have an adapter "wire"; $server is the server's address, $near and $far go before the commands.
talk() {
	expression=$1
	shift
	: >"$work/server.out"
	DAT_OVERRIDE=$work/server.conf $near "$perf" -D wire --verify --json="$work/server.json" "$@" \
		>"$work/server.out" 2>"$work/server.err" </dev/null &
	pid=$!
	children=$pid
	if ! wait_for "$work/server.out" "$pid"; then
		complain "the server of dat-perf $* does not start: $(cat "$work/server.err")"
		stop "$pid"
		children=
		return
	fi
	DAT_OVERRIDE=$work/client.conf timeout "$limit" $far "$perf" -D wire --verify --json="$work/client.json" "$@" \
		"$server" >"$work/client.out" 2>"$work/client.err" </dev/null
	status=$?
	# A server whose client failed may wait for ever.
	[ "$status" -eq 0 ] || kill "$pid" 2>/dev/null
	end_of "$pid"
	other=$?
	children=
	if [ "$status" -eq 0 ] && [ "$other" -eq 0 ]; then
		judge "dat-perf $*" "$expression" "$work/client.json" "$work/server.json"
	else
		complain "dat-perf $*: client $status, server $other: $(cat "$work/client.err" "$work/server.err")"
	fi
}

# matrix WAY EXPRESSION : messages around the packet's size and beyond, through one connection and through 64 on
# one shared receive queue, and there and back. WAY is loop or talk.
matrix() {
	for size in 0 1 33 64 4096 4097 65536 1048576; do
		n=2000
		[ "$size" -lt 65536 ] || n=128
		[ "$size" -lt 1048576 ] || n=16
		"$1" "$2" -s "$size" -n "$n"
		[ "$n" -ge 64 ] || n=64
		"$1" "$2" -s "$size" -n "$n" -q 64
	done
	for size in 0 64 4097; do
		"$1" "$2" -t send_lat -s "$size" -n 300
	done
	"$1" "$2" -t send_lat -s 64 -n 640 -q 64
}
