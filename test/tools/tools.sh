#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tools of Debian's dapl2-utils, as they are, with our provider under Debian's libdat2. Each talk is a server and a
# client, two processes, and is judged by what both print: the tools end with 0 whatever happened.
#
#   tools.sh python3 libdaplroce.so.2 WIRE TOOL...    WIRE: memif, or veth (net_af_packet between two namespaces)
#
# Each tool runs once with an adapter that does not exist, which must not pass either.
. "$(dirname "$0")/../vdev/lib.sh"

provider=$2
wire=$3

# A tool prints nothing to a file before it ends, unless it is told to.
lines="stdbuf -oL"

check_for() {
	for command in "$@"; do
		command -v "$command" >/dev/null || skip "$command is missing (package dapl2-utils)"
	done
	command -v stdbuf >/dev/null || skip "stdbuf is missing (package coreutils)"
}

# line FILE PARAMS : the only line of a dat.conf.
line() {
	printf 'roce u2.0 nonthreadsafe default %s roce.2.0 "%s" ""\n' "$provider" "$2" >"$1"
}

# make_wire : sets $address, where the server's adapter is, and $host, where its programs are found by TCP.
make_wire() {
	ip link set lo up
	if [ "$wire" = memif ]; then
		# A socket with a name: the driver can open one that is a file again.
		common="id=0,bsize=8192,socket=$work/memif.sock,socket-abstract=no"
		line "$work/server.conf" "port=net_memif0,role=server,$common ip=192.0.2.1/24"
		line "$work/client.conf" "port=net_memif0,role=client,$common ip=192.0.2.2/24"
		address=192.0.2.1
		host=127.0.0.1
		return
	fi
	veth 4200
	# The tools tell each other by TCP who they are: not over the wire that is ours.
	ip link add talk0 type veth peer name talk1 netns far &&
		ip addr add 203.0.113.1/24 dev talk0 && ip link set talk0 up &&
		ip -n far addr add 203.0.113.2/24 dev talk1 && ip -n far link set talk1 up ||
		skip "the veth interfaces do not come up"
	line "$work/server.conf" "port=net_af_packet0,iface=near ip=198.51.100.1/24"
	line "$work/client.conf" "port=net_af_packet0,iface=far ip=198.51.100.2/24"
	address=198.51.100.1
	host=203.0.113.1
}

# start WORDS COMMAND... : a server, whose output says WORDS when it is ready. False: it is not.
start() {
	words=$1
	shift
	: >"$work/server.out"
	DAT_OVERRIDE=$work/server.conf $near $lines "$@" >"$work/server.out" 2>&1 </dev/null &
	pid=$!
	children=$pid
	until_said "$words" "$work/server.out" "$pid"
}

# client COMMAND... : its output, and how it ended as the last line.
client() {
	DAT_OVERRIDE=$work/client.conf timeout "$limit" $far $lines "$@" >"$work/client.out" 2>&1 </dev/null
	echo "ends with $?" >>"$work/client.out"
}

# end_server : it ends by itself.
end_server() {
	end_of "$pid"
	echo "ends with $?" >>"$work/server.out"
	children=
}

# clean FILE WORDS : nothing went wrong there, and the words are said. Else $work/judged has the reason.
clean() {
	"$python" -B "$here/judge_tool.py" "$1" "$2" >"$work/judged"
}

# judged WORDS WHAT : both sides are clean and say the words.
judged() {
	clean "$work/server.out" "$1" && clean "$work/client.out" "$1" && return
	complain "$2: $(cat "$work/judged"): server:"
	tail -n 8 "$work/server.out"
	echo "client:"
	tail -n 8 "$work/client.out"
}

# no_adapter WORDS COMMAND... : with a name that is in no dat.conf it does not pass.
no_adapter() {
	words=$1
	shift
	client "$@"
	! clean "$work/client.out" "$words" || complain "$* passes without an adapter"
}

# talk_with READY DONE TOOL SERVER-ARGS CLIENT-ARGS [COMMON-ARGS...] : one talk.
talk_with() {
	ready=$1
	done=$2
	tool=$3
	to_server=$4
	to_client=$5
	shift 5
	if start "$ready" "$tool" $to_server "$@"; then
		client "$tool" $to_client "$@"
	else
		echo "the server was not ready" >"$work/client.out"
	fi
	end_server
	judged "$done" "$tool $*"
}

run_dtest() {
	check_for dtest
	no_adapter PASSED dtest -P nobody -s
	for how in "" -p -c -w -W "-W -D"; do
		case $wire$how in
		memif* | veth | veth-p | veth-c) ;;
		*) continue ;;
		esac
		# It asks for RDMA of 65536 bytes, and writes more.
		talk_with "waiting for client" "Test Complete. PASSED" dtest "-P roce -s" "-P roce -h $host" -b 131072 $how
	done
}

# With all its defaults it writes 4 MiB two thousand times, both ways at once; half a minute and more for each talk.
run_dtest_defaults() {
	check_for dtest
	limit=$((5 * limit))
	for how in "" -p; do
		talk_with "waiting for client" "Test Complete. PASSED" dtest "-P roce -s" "-P roce -h $host" $how
	done
}

run_dtestsrq() {
	check_for dtestsrq
	no_adapter "Test Complete" dtestsrq -P nobody -s
	# One endpoint; more than the asynchronous dispatcher was asked to hold; as many as the tool allows; none shared.
	for how in "" "-c 1 -B 1" "-c 3 -B 4" "-c 12 -B 20 -t 20" "-c 100 -B 10" "-c 3 -B 4 -S 0"; do
		talk_with "server ready" "Test Complete" dtestsrq "-P roce -s" "-P roce -h $address" $how
		[ "$wire" = memif ] || break
	done
}

run_dtestcm() {
	check_for dtestcm
	no_adapter "Test Complete" dtestcm -P nobody -s
	for how in "" -w; do
		talk_with "waiting for client" "Test Complete" dtestcm "-P roce -s" "-P roce -h $host" -c 1000 $how
	done
}

run_dtestx() {
	check_for dtestx
	no_adapter "test PASSED" dtestx -P nobody
	# The server tells its address before it listens: a client that comes in between is rejected, which is the tool's affair.
	for try in 1 2 3 4 5; do
		start "waiting to snd addr" dtestx -P roce || break
		client dtestx -P roce -h "$host"
		grep -q 'conn established: 0x4003' "$work/client.out" || break
		[ "$try" -lt 5 ] || break
		kill "$pid"
		wait "$pid"
	done
	end_server
	judged "immed/atomic test PASSED" dtestx
}

# ask WORDS TYPE ARG... : one client of the server that runs.
ask() {
	words=$1
	type=$2
	shift 2
	client dapltest -T "$type" -D roce -s "$address" "$@"
	clean "$work/client.out" "$words" || {
		complain "dapltest -T $type $*: $(cat "$work/judged")"
		tail -n 8 "$work/client.out"
	}
}

run_dapltest() {
	check_for dapltest
	no_adapter "Client Exiting" dapltest -T T -D nobody -s "$address" -i 1 client SR 256 server SR 256
	if ! start "Service Point Ready" dapltest -T S -D roce; then
		complain "dapltest -T S does not start"
		return
	fi
	# Transactions whose payload is checked, threads and endpoints in numbers.
	ask "RDMA Write" T -i 100 -t 1 -w 1 -V client SR 256 server SR 256 client RW 4096 server RR 4096
	ask "RDMA Write" T -i 40 -t 2 -w 4 -V client SR 1024 3 server SR 1536 2 client RW 65536 server RR 65536
	ask "Send" T -i 100 -t 2 -w 2 -V -P client SR 4096 server SR 8192
	for way in p b; do
		for kind in RW RR; do
			ask "raw: $kind" P -i 1000 -p 16 -m $way $kind 4096
		done
	done
	ask "Client Exiting" Q
	end_server
	clean "$work/server.out" Exiting || {
		complain "the server of dapltest: $(cat "$work/judged")"
		tail -n 8 "$work/server.out"
	}
	[ "$(grep -c "Finished" "$work/server.out")" -ge 7 ] || complain "the server did not finish each test"
}

# function FEATURE [CASE...] : a function test, which says PASS even where it failed; its assertions do not.
function_test() {
	DAT_OVERRIDE=$work/server.conf timeout "$limit" dapltest -T F -D roce -f "$@" >"$work/client.out" 2>&1 </dev/null
	status=$?
	[ "$status" -eq 0 ] && ! grep -q "failed in file" "$work/client.out" && return
	complain "dapltest -T F -f $*: ends with $status"
	grep -A1 "failed in file" "$work/client.out"
}

run_functions() {
	check_for dapltest
	DAT_OVERRIDE=$work/server.conf dapltest -T F -D nobody -f pz >"$work/client.out" 2>&1 </dev/null
	grep -q "failed in file" "$work/client.out" || complain "the function tests pass without an adapter"
	for feature in hwconn endpoint pz mem connmgt; do
		function_test $feature
	done
	# Not 3, 16 and 17, which want a service point that makes endpoints; 13 and 15, which crash in libdat2 with every
	# provider.
	function_test queryinfo case0 case1 case2 case4 case5 case6 case7 case8 case9 case10 case11 case12 case14
}

run_limits() {
	check_for dapltest
	DAT_OVERRIDE=$work/server.conf timeout "$limit" dapltest -T L -D roce -m 50 >"$work/client.out" 2>&1 </dev/null
	for kind in PZs CNOs EVDs EPs RSPs PSPs LMRs; do
		grep -q "$kind created: 50" "$work/client.out" ||
			complain "dapltest -T L: $(grep "$kind created" "$work/client.out")"
	done
	DAT_OVERRIDE=$work/server.conf timeout "$limit" dapltest -T L -D nobody -m 50 >"$work/client.out" 2>&1 </dev/null
	! grep -q "created: 50" "$work/client.out" || complain "dapltest -T L passes without an adapter"
}

# Both registries of one machine: the file that libdapl2 brings to /etc names no adapter of DAT 1.2, and hides none.
run_registries() {
	mkdir "$work/upper" "$work/work"
	mount -t tmpfs tmpfs "$work/upper" && mkdir "$work/upper/new" "$work/upper/work" &&
		mount -t overlay overlay -o "lowerdir=/etc,upperdir=$work/upper/new,workdir=$work/upper/work" /etc ||
		skip "no overlay file system here"
	cp "$work/server.conf" /etc/dat.conf
	DAT_OVERRIDE= "$ROCE_DAT_INFO" >"$work/client.out" 2>&1 || complain "dat-info ends with $?"
	grep -q loop0 "$work/client.out" || complain "loop0 is hidden: $(cat "$work/client.out")"
	# A line for DAT 1.2 stands beside the adapters that need none.
	adapter /etc/dat.conf mine "port=net_null0 ip=192.0.2.9/24"
	DAT_OVERRIDE= "$ROCE_DAT_INFO" >"$work/client.out" 2>&1
	grep -q mine "$work/client.out" || complain "the line of /etc is not read: $(cat "$work/client.out")"
	grep -q loop0 "$work/client.out" || complain "loop0 is hidden by a file: $(cat "$work/client.out")"
	umount /etc "$work/upper"
}

own_network "$0" "$@"
make_wire
shift 3
for tool in "$@"; do
	"run_$tool"
done
finish
