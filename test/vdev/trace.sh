#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What happens rarely: in the files that DPDK's tracing writes, as babeltrace2 reads them, and in the logs.
#
#   trace.sh python3 dat-perf vdev_life
life=$3
. "$(dirname "$0")/lib.sh"

command -v babeltrace2 >/dev/null || skip "babeltrace2 is missing (package babeltrace2)"
prefix=roce-trace-$$
if [ "$(id -u)" -ne 0 ]; then
	export XDG_RUNTIME_DIR="$work"
fi

# traced NAME ARG... : dat-perf on loop0 and loop1 with these arguments of the EAL.
traced() {
	name=$1
	shift
	mkdir "$work/$name"
	UDAPL_ROCE_EAL="--no-shconf --no-pci --no-huge -m 512 --file-prefix=$prefix --log-level=*:error $* \
		--trace-dir=$work/$name" timeout "$limit" "$perf" -n 2000 -q 2 --srq-depth 64 --low 64 \
		>"$work/$name.out" 2>&1 </dev/null || complain "dat-perf with $*: $(cat "$work/$name.out")"
}

# run NAME ARG... : the same, and what babeltrace2 reads of it.
run() {
	traced "$@"
	: >"$work/$name.txt"
	for folder in "$work/$name"/*; do
		[ ! -d "$folder" ] || babeltrace2 "$folder" >"$work/$name.txt" 2>"$work/$name.err" ||
			complain "babeltrace2: $(cat "$work/$name.err")"
	done
}

# has COUNT PATTERN : so many lines, or "some".
has() {
	found=$(grep -c -E "$2" "$work/$name.txt")
	[ "$found" = "$1" ] || { [ "$1" = some ] && [ "$found" -gt 0 ]; } ||
		complain "$name: $found times instead of $1: $2"
}

# Version 2.1 of Debian 13 ends in an assertion of its own on every trace of DPDK, testpmd's for one: "no default clock
# snapshot is needed". Where it does so with DPDK's trace points alone, there is nothing to learn about ours.
case $(babeltrace2 --version | head -n 1) in
'Babeltrace 2.0.'*) ;;
*)
	traced own '--trace=lib.eal.*'
	for folder in "$work/own"/*; do
		babeltrace2 "$folder" >"$work/own.txt" 2>&1 ||
			! grep -q 'default-clock-snapshot' "$work/own.txt" ||
			skip "$(babeltrace2 --version | head -n 1) does not read what DPDK traces"
	done
	;;
esac

run all '--trace=roce.*'
has 2 'roce\.device\.open: .*device = "loop[01]", driver = "net_ring", mtu = 0x1000, engines = 0x1 '
has 2 'roce\.device\.close: .*device = "loop[01]"'
has 2 'roce\.cm: .*device = "loop1", kind = "request", .*peer = "192\.0\.2\.1", peer_qpn = 0x[0-9A-F]+'
has 2 'roce\.cm: .*device = "loop0", kind = "reply", .*peer = "192\.0\.2\.2", peer_qpn = 0x[0-9A-F]+'
has 2 'roce\.cm: .*device = "loop1", kind = "established"'
has some 'roce\.cm: .*kind = "disconnected"'
has some 'roce\.notice: .*device = "loop1", kind = "srq_low", .*status = 0 '
has some 'roce\.notice: .*kind = "qp_drained"'
# Two thousand messages, and hardly a line: nothing is traced for each.
[ "$(wc -l <"$work/all.txt")" -lt 500 ] || complain "more is traced than what is rare: $(wc -l <"$work/all.txt") lines"

# Links, resets and removals: the ports of this program have them.
name=port
mkdir "$work/port"
UDAPL_ROCE_EAL="--no-shconf --no-pci --no-huge -m 512 --file-prefix=$prefix --log-level=*:error --trace=roce.port \
	--trace-dir=$work/port" timeout "$limit" "$life" >"$work/port.out" 2>&1 </dev/null ||
	complain "$life: $(cat "$work/port.out")"
babeltrace2 "$work/port"/* >"$work/port.txt" 2>"$work/port.err" || complain "babeltrace2: $(cat "$work/port.err")"
has some 'roce\.port: .*device = "loop0", what = "link_down"'
has some 'roce\.port: .*device = "loop0", what = "link_up"'
has some 'roce\.port: .*device = "loop0", what = "reset"'
has some 'roce\.port: .*device = "loop0", what = "reset_failed"'
has some 'roce\.port: .*device = "loop0", what = "gone"'

run one '--trace=roce.cm'
has some 'roce\.cm: '
has 0 'roce\.(device|notice|port)'

run none
[ -z "$(ls "$work/none")" ] || complain "there are traces that nobody asked for: $(ls "$work/none")"

# The logs: quiet unless asked; then what is rare, and no line for each message.
[ "$(grep -c '^roce:' "$work/none.out")" -eq 0 ] || complain "logs that nobody asked for: $(cat "$work/none.out")"
run cm '--log-level=roce.cm:debug'
mv "$work/cm.out" "$work/cm.txt"
has 2 '^roce: loop1: connection request, peer 192\.0\.2\.1'
has 0 '^roce: loop1: (srq_low|port)'
export UDAPL_ROCE_LOG=debug
run everything
mv "$work/everything.out" "$work/everything.txt"
has some '^roce: loop1: srq_low$'
has 2 '^roce: loop0: connection reply, peer 192\.0\.2\.2'
has 2 '^roce: port loop[01] \(net_ring\)'
lines=$(wc -l <"$work/everything.txt")
[ "$lines" -lt 500 ] || complain "more is logged than what is rare: $lines lines"

[ "$(id -u)" -ne 0 ] || rm -rf "/var/run/dpdk/$prefix"
finish
