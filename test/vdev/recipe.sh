#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A recipe of docs/devices.md, as it stands there. A part of one is what is indented behind its mark,
#   <!-- recipe NAME PART -->
# Parts with a dot are files, those with .c or .sh lines of a test program; the others are commands: `setup`, `peer` (somebody
# else's process, ready when it forwards), `server`, `join` when the server listens, `client` and, while that runs,
# `fail`. `info` is a command alone.
# All run in a network of their own.
#
#   recipe.sh python3 dat-perf dat-info devices.md NAME
#   recipe.sh python3 dat-perf dat-info devices.md all NAME...    are these the recipes of the page?
. "$(dirname "$0")/lib.sh"

# The commands of a recipe run where its files are.
here=$(realpath "$here")
perf=$(realpath "$perf")
info=$(realpath "$3")
page=$(realpath "$4")
name=$5

# part PART : its lines.
part() {
	awk -v mark="<!-- recipe $name $1 -->" '
		$0 == mark { inside = 1; next }
		inside && /^    / { print substr($0, 5); next }
		inside && /./ { exit }' "$page"
}

# The parts that are files.
files() {
	awk -v name="$name" '$1 == "<!--" && $2 == "recipe" && $3 == name && $4 ~ /\./ { print $4 }' "$page"
}

if [ "$name" = all ]; then
	shift 5
	awk '$1 == "<!--" && $2 == "recipe" { print $3 }' "$page" | sort -u >"$work/all"
	awk '$1 == "<!--" && $2 == "recipe" && $4 !~ /\.(c|sh)$/ { print $3 }' "$page" | sort -u >"$work/written"
	printf '%s\n' "$@" | sort -u >"$work/run"
	# What is C is not run from the page, but is in the program that is.
	for name in $(cat "$work/all"); do
		for file in $(files | grep -E '\.(c|sh)$'); do
			part "$file" | while read -r line; do
				grep -qF -- "$line" "$here/$file" || echo "not in $file: $line"
			done
		done
	done >"$work/missing"
	[ ! -s "$work/missing" ] || complain "$(cat "$work/missing")"
	diff "$work/written" "$work/run" || complain "the recipes of the page (<) are not those that are run (>)"
	finish
fi

own_network "$0" "$@"

# What the recipe must show: an expression for judge_json.py, and how many messages.
messages=2000
case $name in
ring) shows='c["PMD"] == "net_ring" and c["MTU"] == 4096' ;;
null) shows= ;;
pcap) shows='c["PMD"] == "net_pcap" and c["MTU"] == 4096' messages=200 ;;
memif | testpmd | testpmd-mac) shows='c["PMD"] == "net_memif" and c["MTU"] == 4096' ;;
vhost) shows='c["PMD"] == "net_virtio_user" and c["MTU"] == 4096' ;;
af_packet) shows='c["PMD"] == "net_af_packet" and c["MTU"] == 4096' ;;
af_xdp) shows='c["PMD"] == "net_af_xdp" and c["MTU"] == 2048' ;;
tap | routed) shows='c["PMD"] == "net_af_packet" and c["MTU"] == 1024' ;;
# It goes on behind the failure, and what came twice did no harm: judge_json.py looks at every message.
bonding) shows='c["PMD"] == "net_bonding" and c["MTU"] == 1024' messages= ;;
*) echo "nobody says what recipe $name must show"; exit 1 ;;
esac

# What ends with us, whatever shell has started it: each of these leaves its number.
cleanup() {
	cat "$work"/pid.* 2>/dev/null | xargs -r kill 2>/dev/null
	wait
	rm -rf "$work"
}

# wrap NAME COMMAND : what a recipe calls by this name.
mkdir "$work/bin"
wrap() {
	printf '#!/bin/sh\necho $$ >%s/pid.$$\nexec %s "$@"\n' "$work" "$2" >"$work/bin/$1"
	chmod 755 "$work/bin/$1"
}
# Without a number they go on until they are told to end, and print a row a second.
run_for="--run_infinitely --duration 1"
[ -z "$messages" ] || run_for="-n $messages"
wrap dat-perf "'$perf' --verify $run_for --json=\"\$ROCE_JSON\""
wrap dat-info "'$info'"
wrap dpdk-testpmd "stdbuf -oL $(command -v dpdk-testpmd)"

# run OUT COMMANDS : as they stand, but for that.
run() {
	ROCE_JSON=$work/$1.json PATH=$work/bin:$PATH sh -euc "$2" >"$work/$1.out" 2>"$work/$1.err" </dev/null
}

# Whatever would be left in /run and below ends with this network.
mount -t tmpfs tmpfs /run || skip "nothing can be mounted on /run here"
cd "$work" || exit 1
# The pages are written for DPDK 22.11. net_bonding calls its slaves members since 23.11, and knows no other word.
words=
if pkg-config --atleast-version=23.11 libdpdk 2>/dev/null; then
	words='s/slave=/member=/g'
fi
for file in $(files); do
	part "$file" | sed "$words" >"$file"
done

# Frames come in by the interface that will fail.
hears() {
	[ "$(ip -s link show near0 | awk 'found { print $2; exit } $1 == "RX:" { found = 1 }')" -ge 1000 ]
}

# rows : of the client's table so far.
rows() {
	grep -c '^ [0-9]' client.out
}

has_rows() {
	[ "$(rows)" -ge "$1" ]
}

setup=$(part setup)
case $setup in
*'ip netns'*) ip netns add trial && ip netns exec trial true || skip "ip netns does not work here: wants root" ;;
esac
case "$setup$(cat ./*.conf)" in
*net_tap*) [ -c /dev/net/tun ] || skip "there is no /dev/net/tun" ;;
esac
# The one sign of a kernel without: no socket of that family.
case "$(cat ./*.conf)" in
*net_af_xdp*)
	"$python" -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>socket.err ||
		skip "no AF_XDP sockets here: $(tail -n 1 socket.err)" ;;
esac
run setup "$setup" || skip "the kernel does not do it: $(cat setup.err)"

if [ -n "$(part info)" ]; then
	run info "$(part info)" || complain "$(cat info.err)"
	grep -q "net_$name" info.out || complain "not what was named: $(cat info.out)"
	finish
fi

peer=$(part peer)
if [ -n "$peer" ]; then
	case $peer in
	dpdk-testpmd*) command -v dpdk-testpmd >/dev/null || skip "dpdk-testpmd is missing (package dpdk)" ;;
	esac
	run peer "$peer" &
	until_said 'packets.burst=' peer.out $! || complain "the peer does not forward: $(cat peer.err)"
fi
[ "$failures" -eq 0 ] || finish

if [ -n "$(part server)" ]; then
	: >server.out
	run server "$(part server)" &
	server=$!
	wait_for server.out "$server" || complain "the server does not start: $(cat server.err)"
	run join "$(part join)" || complain "join: $(cat join.err)"
fi
[ "$failures" -eq 0 ] || finish
before=$(find . -name 'pid.*')
run client "$(part client)" &
client=$!
if [ -n "$(part fail)" ]; then
	wait_until hears || complain "nothing comes before the failure: $(cat client.err)"
	run fail "$(part fail)" || complain "fail: $(cat fail.err)"
	# The second row from here on is of a second behind the failure.
	wait_until has_rows $(($(rows) + 2)) || complain "it does not go on behind the failure: $(cat client.err)"
	for file in $(find . -name 'pid.*' | grep -vxF -e "$before"); do
		kill -TERM "$(cat "$file")" 2>/dev/null
	done
fi
end_of "$client" || complain "the client: $(cat client.err)"
if [ -n "$server" ]; then
	# A server whose client failed may wait for long.
	[ "$failures" -eq 0 ] || cat pid.* | xargs kill
	end_of "$server" || complain "the server: $(cat server.err)"
fi
if grep -hs 'did not come home' ./*.err; then
	complain "frames are lost"
fi
[ "$failures" -gt 0 ] || judge "recipe $name" "$shows" "$work/client.json" ${server:+"$work/server.json"}
finish
