#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples on DAT in docs/examples, compiled by whoever has installed us. Those of one process run on loop0; the
# echo server has clients one after the other through net_memif (self), or at once in a namespace of theirs (veth).
#
#   examples.sh python3 self|veth C_COMPILER MESON BUILD PREFIX WORK SOURCE...
. "$(dirname "$0")/../vdev/lib.sh"
scene=$2
compiler=$3
meson=$4
build=$5
prefix=$6
programs=$7
[ "$scene" = self ] || own_network "$0" "$@"
shift 7
libraries=$("$python" -B "$here/example.py" "$meson" "$build" "$prefix" "$programs" "$compiler" dat "$@") ||
	{ echo "$libraries"; exit 1; }
export LD_LIBRARY_PATH="$libraries" DAT_OVERRIDE=
port=18517

# says WORDS EXAMPLE ARG... : it ends well, and that is its last line.
says() {
	words=$1
	example=$programs/$2
	shift 2
	timeout "$limit" "$example" "$@" >"$work/said" 2>&1 </dev/null ||
		complain "$example $* exits with $?: $(cat "$work/said")"
	tail -n 1 "$work/said" | grep -Eqx "$words" || complain "$example $* does not say '$words': $(cat "$work/said")"
}

# refuses WORDS EXAMPLE ARG... : it fails, and says why in one line.
refuses() {
	words=$1
	example=$programs/$2
	shift 2
	timeout "$limit" "$example" "$@" >"$work/said" 2>"$work/why" </dev/null && complain "$example $* succeeds"
	[ "$(grep -c . "$work/why")" -eq 1 ] && grep -q "$words" "$work/why" ||
		complain "$example $* does not say '$words': $(cat "$work/why")"
}

in_one_process() {
	says '1000 messages received, [1-9][0-9]* refills of a queue of 64 buffers' srq_refill
	says '16 pieces of 4096 bytes written, told by immediate data' rdma_write_notify
	says '16 pieces of 4096 bytes written, told by immediate data' rdma_write_notify immediate
	says '16 pieces of 4096 bytes written, told by messages' rdma_write_notify message
	unknown='dat_ia_open: DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED'
	refuses "$unknown" srq_refill loop0 none
	refuses "$unknown" srq_echo_client none 192.0.2.1 1
	refuses "$unknown" srq_echo_server none 1
}

# answers_by_hello : the shortest server, which says nothing, listens when a client gets its answers.
answers_by_hello() {
	DAT_OVERRIDE=$work/server.conf "$programs/srq_hello" wire >"$work/hello" 2>&1 &
	children=$!
	port=18516
	wait_until client 1 1000 || complain "srq_hello does not answer: $(cat "$work/client1" "$work/hello")"
	port=18517
	stop "$children"
	children=
}

# serve : the echo server has begun.
serve() {
	rm -f "$work/server"
	DAT_OVERRIDE=$work/server.conf "$programs/srq_echo_server" wire "$port" >"$work/server" 2>&1 &
	server_pid=$!
	children=$server_pid
	wait_for "$work/server" "$server_pid" && return
	complain "the server does not start: $(cat "$work/server")"
	finish
}

# end_of_server WORDS : it ends well when it is told to, and says that.
end_of_server() {
	kill -TERM "$server_pid"
	end_of "$server_pid" || complain "the server exits with $?"
	children=
	tail -n 1 "$work/server" | grep -Eqx "$1" || complain "the server does not say '$1': $(cat "$work/server")"
}

# client NUMBER MESSAGES : each answer is right.
client() {
	DAT_OVERRIDE=$work/client$1.conf timeout "$limit" $far "$programs/srq_echo_client" wire "$server" "$port" "$2" \
		>"$work/client$1" 2>&1 </dev/null &&
		grep -qx "$2 messages sent, $2 answers as sent" "$work/client$1"
}

by_memif() {
	server=192.0.2.1
	wire="id=0,bsize=8192,socket=$work/memif.sock"
	adapter "$work/server.conf" wire "port=net_memif0,role=server,$wire ip=$server/24"
	adapter "$work/client1.conf" wire "port=net_memif0,role=client,$wire ip=192.0.2.2/24"
	serve
	for messages in 1 5000 0; do
		client 1 "$messages" || complain "$messages messages: $(cat "$work/client1")"
	done
	export DAT_OVERRIDE="$work/client1.conf"
	refuses 'nobody listens on that port' srq_echo_client wire "$server" 1
	DAT_OVERRIDE=
	end_of_server '5001 messages answered, 256 of 256 buffers on the queue'
	answers_by_hello
}

# One of the clients stays: a message on the way has a buffer, and so has the answer before it until it is acknowledged.
by_veth() {
	veth_wire 1500
	for i in 1 2 3 4; do
		adapter "$work/client$i.conf" wire "port=net_af_packet0,iface=far ip=198.51.100.1$i/24"
	done
	serve
	DAT_OVERRIDE=$work/client4.conf $far "$programs/srq_echo_client" wire "$server" "$port" 1000000000 \
		>"$work/client4" 2>&1 </dev/null &
	staying=$!
	children="$children $staying"
	until_said 'connected to' "$work/client4" "$staying" || complain "the client that stays: $(cat "$work/client4")"
	for i in 1 2 3; do
		client $i 2000 &
		eval "client$i=\$!"
	done
	for i in 1 2 3; do
		eval "wait \$client$i" || complain "client $i: $(cat "$work/client$i")"
	done
	kill -0 "$staying" || complain "the client that stays has gone: $(cat "$work/client4")"
	end_of_server '([6-9][0-9]{3}|[0-9]{5,}) messages answered, 25[4-6] of 256 buffers on the queue'
	end_of "$staying"
	grep -q 'the server went away' "$work/client4" || complain "who stays is not told: $(cat "$work/client4")"
}

case $scene in
self)
	in_one_process
	by_memif
	;;
*)
	by_veth
	;;
esac
[ "$failures" -gt 0 ] || rm -rf "$programs"
finish
