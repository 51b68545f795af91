#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# roce-embed: it loses no frame of its own beside RDMA, and clients of dat-ping(1) get their messages back through a
# port that forwards.
#
#   embed.sh python3 dat-ping roce-embed
ping=$2
embed=$3
. "$(dirname "$0")/lib.sh"
own_network "$0" "$@"
veth 1500

eal="--no-huge --no-pci --no-telemetry --file-prefix embed$$ -m 256"

# Frames go round as fast as they are forwarded, in order, and messages beside them: it judges itself.
# The library's warnings stay: a frame of a device that its close does not find is one.
# shellcheck disable=SC2086 # words are meant
"$embed" $eal --no-shconf -l 0 -- --gauge -d 1 >"$work/gauge" 2>&1 ||
	{ cat "$work/gauge"; complain "roce-embed --gauge"; }
grep -q 'with RDMA traffic beside.* 0 *0$' "$work/gauge" || complain "no line about traffic"
awk '/traffic beside/ { exit !($(NF - 2) > 0) }' "$work/gauge" || complain "no messages beside"
grep 'come home' "$work/gauge" && complain "frames of ours stay on the wire"
cat "$work/gauge"

# A client at the first port, and nothing at the second. Not net_memif, which has no proxy when a program makes its port.
# shellcheck disable=SC2086
$near "$embed" $eal --log-level error --no-shconf -l 0 --vdev net_af_packet0,iface=near --vdev net_null0,no-rx=1 \
	-- --ip 192.0.2.10/24 -d 0 >"$work/embed" 2>&1 &
child=$!
children="$children $child"
adapter "$work/client.conf" client "port=net_af_packet1,iface=far ip=192.0.2.11/24"
until_said 'answering RDMA' "$work/embed" "$child" || complain "roce-embed does not start: $(cat "$work/embed")"
for size in 0 1 64 1024 1025 16384; do
	DAT_OVERRIDE="$work/client.conf" $far timeout "$limit" "$ping" -D client -c 20 -i 1 -s "$size" 192.0.2.10 \
		>"$work/ping" 2>&1 || { cat "$work/ping"; complain "dat-ping -s $size"; }
	grep -q '20 sent, 20 answered' "$work/ping" || complain "dat-ping -s $size: $(tail -n 2 "$work/ping")"
done
kill -INT "$child"
end_of "$child" || complain "roce-embed ends with $?"
grep -q 'service: 120 messages, .* 0 clients, 0 refused' "$work/embed" ||
	{ cat "$work/embed"; complain "not every message came back, or a client was not left"; }
finish
