#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Records golden pcap files of RoCEv2 traffic between two rxe guests (a: client, b: server).
# usage: make-captures.sh OUT_DIR [NAME_PATTERN...]     needs "rxe-lab.sh up a b" with the wanted MTU
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
lab=$here/rxe-lab.sh
out=$1
shift
patterns=("${@:-*}")
mkdir -p "$out"
out=$(cd "$out" && pwd)
eval "$("$lab" env)"
index=$out/INDEX.tsv

on() { "$lab" run -g "$1" -t "${limit:-60}" "$2"; }

# record NAME TEXT SERVER CLIENT [fault rule...]: the server command runs in b, the client's in a.
# With fault rules guest a's wire loses or changes frames, and both ends of that wire are
# captured: NAME.a.pcap on a's side, NAME.b.pcap on b's side. SERVER "-": none.
record() {
	local name=$1 text=$2 server=$3 client=$4 log srv status=0 f wanted=
	shift 4
	for f in "${patterns[@]}"; do
		# shellcheck disable=SC2053
		[[ $name == $f ]] && wanted=1
	done
	[ -n "$wanted" ] || return 0
	log=$out/$name.txt
	{ echo "# $text"; [ "$server" = - ] || echo "b\$ $server"; echo "a\$ $client"; [ $# = 0 ] || echo "wire: $*"; } >"$log"
	[ $# = 0 ] || "$lab" fault a "$@"
	srv=
	if [ "$server" != - ]; then
		on b "$server" >"$log.b" 2>&1 &
		srv=$!
		for _ in $(seq 60); do # a listener of rdma_cm, or of perftest's TCP port
			on b 'rdma resource show cm_id | grep -q LISTEN || grep -q ":4853 .* 0A " /proc/net/tcp /proc/net/tcp6' && break
			sleep 0.1
		done
		sleep "${settle:-0}" # until a server listens that cannot be asked for it
	fi
	if [ $# = 0 ]; then
		"$lab" capture "$out/$name.pcap" tap-a "$here/lab-exec.py" -t "${limit:-60}" "$RXE_LAB_DIR/run/a" "$client" >"$log.a" 2>"$log.e" || status=$?
	else
		"$lab" capture "$out/$name.b.pcap" tap-b "$lab" capture "$out/$name.a.pcap" tap-a \
			"$here/lab-exec.py" -t "${limit:-60}" "$RXE_LAB_DIR/run/a" "$client" >"$log.a" 2>"$log.e" || status=$?
	fi
	[ -z "$srv" ] || wait "$srv"
	echo "status of the client $status, of the server $?" >>"$log"
	[ $# = 0 ] || { "$lab" nofault a; grep -v ready "$RXE_LAB_DIR/run/a/fault.log" | sed 's/^/wire: /' >>"$log"; }
	for f in a b; do [ ! -s "$log.$f" ] || { echo "--- $f"; cat "$log.$f"; } >>"$log"; rm -f "$log.$f"; done
	rm -f "$log.e"
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$text" "$server" "$client" "$*" >>"$index"
	echo "$name: $(tail -n +1 "$log" | grep -m1 '^status')"
}
pt='-d rxe0 -x 1 -F -n 5'
touch "$index"

# --- connection management
on a 'ip neigh flush all'; on b 'ip neigh flush all'
record cm-rping "rdma_cm connect, 10 rping rounds (SEND, RDMA READ, RDMA WRITE of 64 bytes), disconnect; ARP first" \
	'rping -s -v -C 10' 'rping -c -a b -v -C 10'
record cm-reject-no-listener "REQ for a port nobody listens on: REJ reason 8 (invalid service id)" - 'rdmaprobe client -a b -p 7999 -d hello'
record cm-reject-consumer "REQ refused by the listener: REJ reason 28 (consumer reject) with private data" \
	'rdmaprobe server -R -d no-thanks' 'rdmaprobe client -a b -d hello'
record cm-private-data "private data in REQ and REP, disconnect by the client at once" 'rdmaprobe server -d world' 'rdmaprobe client -a b -d hello sleep:50'
limit=90 record cm-slow-accept "listener that never answers the REQ (its application sleeps): the repeated REQ is answered by an MRA; the client is killed after 50 s: REJ reason 4 (time-out)" \
	'rdmaprobe server -N -D 60000' 'timeout 50 rdmaprobe client -a b'
record cm-client-killed "client process killed while connected: its kernel sends the DREQ" \
	'rdmaprobe server' 'rdmaprobe client -a b -E send:64'
record cm-lost-req "first REQ lost" 'rdmaprobe server' 'rdmaprobe client -a b send:64' drop,mad=0x10,nth=1
record cm-lost-rep "first REP lost" 'rdmaprobe server' 'rdmaprobe client -a b send:64' drop,mad=0x13,nth=1
record cm-lost-rtu "first RTU lost, the client sends data and disconnects: the server's application sees DISCONNECTED, never ESTABLISHED (rxe raises no COMM_EST)" \
	'rdmaprobe server' 'rdmaprobe client -a b send:64' drop,mad=0x14,nth=1
record cm-lost-rtu-idle "first RTU lost, no data: the server sends its REP again" \
	'rdmaprobe server' 'rdmaprobe client -a b sleep:9000' drop,mad=0x14,nth=1
limit=150 record cm-lost-dreq "first DREQ lost" 'rdmaprobe server' 'rdmaprobe client -a b send:64' drop,mad=0x15,nth=1
limit=150 record cm-lost-drep "first DREP lost" 'rdmaprobe server' 'rdmaprobe client -a b send:64' drop,mad=0x16,nth=1
record cm-dup-req "REQ seen twice" 'rdmaprobe server' 'rdmaprobe client -a b send:64' dup,mad=0x10,nth=1
record cm-ucmatose "ucmatose, two connections of 10 messages of 100 bytes" 'ucmatose -c 2' 'ucmatose -s b -c 2'
record cm-ipv6 "rping over the IPv6 link-local GIDs (RoCEv2 over IPv6)" 'rping -s -v -C 2 -a ::' 'rping -c -v -C 2 -a fe80::5054:ff:fe77:c%eth0'
record cm-tos "type of service 106 (ECT(0), DSCP 26) set on the cm_id by both ends" 'rdmaprobe server' 'rdmaprobe client -a b -T 106 send:64 read:64'
limit=150 record cm-no-answer "every REQ lost: schedule of the repeats until the client gives up" 'timeout 120 rdmaprobe server' \
	'timeout 130 rdmaprobe client -a b' drop,mad=0x10
# --- perftest: QP numbers and keys exchanged over TCP 18515 (in the capture), five messages
for s in 64 4096 65536; do
	record send-$s "ib_send_bw, 5 SENDs of $s bytes" "ib_send_bw $pt -s $s" "ib_send_bw $pt -s $s b"
	record write-$s "ib_write_bw, 5 RDMA WRITEs of $s bytes" "ib_write_bw $pt -s $s" "ib_write_bw $pt -s $s b"
	record read-$s "ib_read_bw, 5 RDMA READs of $s bytes" "ib_read_bw $pt -s $s" "ib_read_bw $pt -s $s b"
	record send-$s-cm "ib_send_bw -R (rdma_cm), 5 SENDs of $s bytes" "ib_send_bw $pt -s $s -R" "ib_send_bw $pt -s $s -R b"
done
record send-lat-64 "ib_send_lat, 5 round trips of 64 bytes (inline)" "ib_send_lat $pt -s 64" "ib_send_lat $pt -s 64 b"
record send-4096-mtu256 "ib_send_bw at path MTU 256" "ib_send_bw $pt -s 4096 -m 256" "ib_send_bw $pt -s 4096 -m 256 b"
record send-4096-srq "ib_send_bw --use-srq, 2 QPs on one SRQ" "ib_send_bw $pt -s 4096 --use-srq -q 2" "ib_send_bw $pt -s 4096 --use-srq -q 2 b"
record send-4096-srq-cm "the same through rdma_cm" "ib_send_bw $pt -s 4096 --use-srq -q 2 -R" "ib_send_bw $pt -s 4096 --use-srq -q 2 -R b"
record atomic-fadd "ib_atomic_bw FETCH_AND_ADD" "ib_atomic_bw $pt -A FETCH_AND_ADD" "ib_atomic_bw $pt -A FETCH_AND_ADD b"
record atomic-cswp "ib_atomic_bw CMP_AND_SWAP" "ib_atomic_bw $pt -A CMP_AND_SWAP" "ib_atomic_bw $pt -A CMP_AND_SWAP b"

# --- every operation and odd length, one by one
record ops-lengths "lengths 0 to 5 (pad count), inline, solicited, immediate, multi-packet, read, atomics" 'rdmaprobe server -v' \
	'rdmaprobe client -a b -v -I 256 send:0 send:1 send:2 send:3 send:4 send:5 sendinl:33 sendsol:64 sendimm:0 sendimm:7 sendimm:3000 write:0 write:1 write:1024 write:1025 write:3000 writeimm:0 writeimm:5 writeimm:3000 writeinl:100 read:0 read:1 read:1024 read:1025 read:4097 fadd cswp cswp'
record ops-reads "8 outstanding reads of 2048 bytes, rd_atomic depth 4" 'rdmaprobe server' 'rdmaprobe client -a b -m 4 reads:8'
record ops-send-invalidate "SEND with invalidate of the rkey of a plain memory region: acknowledged (MSN not advanced), then the server QP is in error and silent" 'timeout 20 rdmaprobe server -v' 'timeout 15 rdmaprobe client -a b -A 14 -t 2 -v sendinv:5 send:64'

# --- errors and flow control
record rnr-then-ok "no receive posted for the first 200 ms, min_rnr_timer 20 (10.24 ms): RNR NAKs, then success" \
	'rdmaprobe server -v -D 400 -M 20' 'rdmaprobe client -a b -v sleep:200 send:64 send:3000'
record rnr-exceeded "no receive at all, rnr_retry 2: RNR retry counter exceeded" \
	'rdmaprobe server -v -n 0 -M 20 -r 2' 'rdmaprobe client -a b -v sleep:200 send:64'
record srq-rnr "SRQ with 4 receives, 6 sends, the SRQ refilled 600 ms later; SRQ limit 2" \
	'rdmaprobe server -v -S -L 2 -n 4 -F 600 -M 20' 'rdmaprobe client -a b -v sleep:200 fill:6'
record nak-bad-rkey-write "RDMA WRITE with a wrong rkey" 'rdmaprobe server -v' 'rdmaprobe client -a b -v badkey:64'
record nak-bad-rkey-read "RDMA READ with a wrong rkey" 'rdmaprobe server -v' 'rdmaprobe client -a b -v badkeyr:64'
record nak-out-of-bounds "RDMA WRITE of 3000 bytes half past the end of the region" 'rdmaprobe server -v' 'rdmaprobe client -a b -v oob:3000'
record nak-too-long "SEND of 3000 bytes into a receive of 100" 'rdmaprobe server -v -s 100' 'rdmaprobe client -a b -v send:3000'
record dead-qp "the server's QP destroyed: no answers, ack timeout 14 (67 ms), retry count 3" \
	'rdmaprobe server -K' 'rdmaprobe client -a b -v -A 14 -t 3 sleep:200 send:64'

# --- losses on the wire
record lost-send-middle "third SEND MIDDLE of a 64 KiB message lost: NAK sequence error, go-back-N" \
	'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 send:65536' drop,op=0x01,nth=3
record lost-send-last "SEND LAST lost: time-out" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 send:4096' drop,op=0x02,nth=1
record lost-write-first "RDMA WRITE FIRST lost" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 write:8192' drop,op=0x06,nth=1
record lost-ack "ACK lost: time-out, duplicate SEND answered with an ACK, no second receive" \
	'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 send:64 send:65' drop,op=0x11,nth=1
record lost-read-response "second READ RESPONSE MIDDLE lost: the rest of the read is asked for again" \
	'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 read:8192' drop,op=0x0e,nth=2
record lost-read-request "READ REQUEST lost" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 read:4096' drop,op=0x0c,nth=1
record lost-atomic-ack "ATOMIC ACK lost: repeated, executed once" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 fadd fadd' drop,op=0x12,nth=1
record dup-send "SEND ONLY seen twice" 'rdmaprobe server -v' 'rdmaprobe client -a b -v send:64 send:65' dup,op=0x04,nth=1
record reorder-send "second SEND MIDDLE after the third" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 send:8192' reorder,op=0x01,nth=2
record bad-icrc "a bit of the ICRC of a SEND flipped: dropped in silence, time-out" 'rdmaprobe server -v' 'rdmaprobe client -a b -v -A 14 send:64' corrupt=-1,op=0x04,nth=1
record lossy-5pct "5 % of all frames lost, 40 messages of 4 KiB" 'rdmaprobe server -v' \
	"rdmaprobe client -a b -v -A 12 $(for _ in $(seq 40); do printf 'send:4096 '; done)" drop,prob=0.05,op=0x00/0x01/0x02/0x11

# --- uDAPL (libdaplofa, its connections through rdma_cm)
settle=3
record dapl-dtestx "dtestx: RDMA write with immediate, compare and swap, fetch and add" 'timeout 40 dtestx -P rxe-cma' 'timeout 30 dtestx -P rxe-cma -h b'
record dapl-dtestcm "dtestcm, two connections" 'timeout 40 dtestcm -P rxe-cma -c 2' 'timeout 30 dtestcm -P rxe-cma -c 2 -h b'
record dapl-dtestsrq "dtestsrq: the data passes, then both ends wait for the last-WQE-reached event that this rxe never raises" \
	'timeout 15 dtestsrq -P rxe-cma' 'timeout 8 dtestsrq -P rxe-cma -h b'
record dapl-transaction "dapltest transaction: RDMA write, RDMA read, send/receive, 2 EPs" 'timeout 15 dapltest -T S -D rxe-cma' \
	'timeout 30 dapltest -T T -D rxe-cma -s b -t 1 -w 2 -i 3 -V -P client RW 4096 1 server RR 4096 1 client SR 1024 2 server SR 1024 2'
record dapl-dtest "dtest with buffers of 64 bytes" 'timeout 40 dtest -P rxe-cma -b 64 -B 2' 'timeout 30 dtest -P rxe-cma -b 64 -B 2 -h b'
