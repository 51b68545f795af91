#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vhost-user: a net_vhost outlives its peers and takes the next one; a net_virtio_user whose server is killed ends by itself, and
# not by a signal; without a server it says so.
#
#   vhost.sh python3 dat-ping own_eal
. "$(dirname "$0")/lib.sh"

ping=$2
own=$3
socket=$work/wire.sock
export UDAPL_ROCE_EAL="--no-shconf --no-pci --no-huge -m 512 --file-prefix=roce-vhost-$$ --log-level=*:critical"
adapter "$work/server.conf" wire "port=net_vhost0,iface=$socket ip=192.0.2.1/24 mtu=4096"
adapter "$work/client.conf" wire "port=net_virtio_user0,path=$socket ip=192.0.2.2/24 mtu=4096 timeout=16"

serve() {
	: >"$work/server"
	DAT_OVERRIDE=$work/server.conf "$ping" -D wire -l >"$work/server" 2>"$work/server.err" </dev/null &
	server=$!
	children="$children $server"
	wait_for "$work/server" "$server" || complain "nobody listens: $(cat "$work/server.err")"
}

# ask ARG... : a client behind the next line, with its output in $work/client.
ask() {
	: >"$work/client"
	DAT_OVERRIDE=$work/client.conf "$ping" -D wire -s 9000 "$@" 192.0.2.1 >"$work/client" 2>"$work/client.err" </dev/null &
	client=$!
	children="$children $client"
}

DAT_OVERRIDE=$work/client.conf timeout "$limit" "$ping" -D wire -c 1 192.0.2.1 2>"$work/none.err" </dev/null
status=$?
[ "$status" -eq 1 ] && grep -q 'its vhost-user server is not there' "$work/none.err" ||
	complain "a client without a server: status $status: $(cat "$work/none.err")"

# The place of a client that was killed is taken for some time.
asks() {
	ask -c 5 -i 1
	end_of "$client"
}

serve
for end in whole killed whole; do
	if [ "$end" = whole ]; then
		wait_until asks || complain "a client behind others: $(cat "$work/client.err"); the server: $(cat "$work/server.err")"
	else
		ask -c 1000000 -i 1
		until_said seq=5 "$work/client" "$client" || complain "no answer: $(cat "$work/client.err")"
		kill -KILL "$client"
		end_of "$client"
	fi
done
kill -TERM "$server"
end_of "$server" || complain "the server ends with $?: $(cat "$work/server.err")"

# Peers that say the head of a message and stay, or less or more of it: the server ends all the same. DPDK's thread waits for
# what follows the head of the first of them, and has not accepted the others.
head='\001\000\000\000\001\000\000\000\010\000\000\000'
for half in "$head" '\001\000\000\000\001\000' "${head}half"; do
	serve
	mkfifo "$work/peer"
	"$python" -c 'import fcntl, select, socket, struct, sys, termios
peers = [socket.socket(socket.AF_UNIX) for _ in range(3)]
for peer in peers:
    peer.connect(sys.argv[1])
    peer.send(sys.argv[2].encode("latin-1").decode("unicode_escape").encode("latin-1"))
while struct.unpack("i", fcntl.ioctl(peers[0], termios.TIOCOUTQ, bytes(4)))[0]:
    select.select([], [], [], 0.01)  # until the server has read it
print("said", flush=True)
sys.stdin.read()' "$socket" "$half" >"$work/said" 3<>"$work/peer" <"$work/peer" &
	peer=$!
	children="$children $peer"
	until_said said "$work/said" "$peer" || complain "the peers do not come"
	kill -TERM "$server"
	end_of "$server" || complain "a server with half messages ends with $?: $(cat "$work/server.err")"
	stop "$peer"
	rm -f "$work/peer" "$work/said"
done

# The driver writes to the socket of a server that is gone, and has an alarm set when it is closed.
for time in 1 2 3; do
	serve
	ask -c 1000000 -i 1
	until_said seq=5 "$work/client" "$client" || complain "no answer: $(cat "$work/client.err")"
	kill -KILL "$server"
	end_of "$server"
	end_of "$client"
	status=$?
	[ "$status" -eq 1 ] || complain "$time: a client whose server was killed ends with $status: $(cat "$work/client.err")"
	rm -f "$socket"
done

# So does a program whose EAL is its own: there the signals of DPDK's threads are the program's.
serve
mkfifo "$work/stay"
: >"$work/own"
"$own" "port=net_virtio_user0,path=$socket ip=192.0.2.2/24" <"$work/stay" >"$work/own" 2>"$work/own.err" &
client=$!
children="$children $client"
exec 4>"$work/stay"
until_said open "$work/own" "$client" || complain "no device: $(cat "$work/own.err")"
kill -KILL "$server"
end_of "$server"
exec 4>&-
end_of "$client"
status=$?
[ "$status" -eq 0 ] || complain "a program with an EAL of its own ends with $status: $(cat "$work/own.err")"
finish
