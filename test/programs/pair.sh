#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of verbs as Debian has it, by roce-run: a server and a client, or one alone.
#
#   pair.sh ROCE_RUN ROCED pair PROGRAM ARG...     both end well; the client gets the address behind its arguments
#   pair.sh ROCE_RUN ROCED alone WORDS PROGRAM ARG...  it ends well, and its output has the words (grep -E)
#   pair.sh ROCE_RUN ROCED refused WORDS PROGRAM ARG...  it ends by itself with an error, and its output has the words
#   pair.sh ROCE_RUN ROCED two SERVER CLIENT       each a command in one word; both get the port, the client the address besides
#   pair.sh ROCE_RUN ROCED persistent SERVER CLIENT    the server goes on, and a second client ends well, too
#   pair.sh ROCE_RUN ROCED qperf TEST...           tests of qperf
#   pair.sh ROCE_RUN ROCED killed SERVER CLIENT    the server is killed meanwhile, which ends the client, well or not
#   pair.sh ROCE_RUN ROCED dat PROGRAM             a program of DAT 2.0, over Debian's provider for verbs
#   pair.sh ROCE_RUN ROCED dapltest KIND ARG...     a test of dapltest, over the same
#   pair.sh ROCE_RUN ROCED fio VERB                fio writes to a fio by its engine rdma
#   pair.sh ROCE_RUN ROCED waits WORDS PROGRAM ARG...  its output has the words, and it goes on until it is ended
#
# Each call has a folder of its own for the processes of the host, and so a roced of its own.
set -u
run=$(realpath "$1")
roced=$(realpath "$2")
how=$3
shift 3
. "$(dirname "$0")/../limit.sh"
words=
needed=$1
case $how in
alone | refused | waits)
	words=$1
	shift
	needed=$1
	;;
qperf | fio | dapltest) needed=$how ;;
esac
command -v "${needed%% *}" >/dev/null ||
	{ echo "${needed%% *} is missing (packages ibverbs-utils, perftest, rdmacm-utils, qperf, fio, ucx-utils, dapl2-utils)"; exit 77; }

work=$(mktemp -d)
server=
cleanup() {
	[ -z "$server" ] || { kill "$server" 2>/dev/null && end_of "$server" 2>/dev/null; }
	pid=$("$roced" --status --json 2>/dev/null | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' | head -1)
	[ -z "$pid" ] || kill "$pid"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
unset DAT_OVERRIDE UDAPL_ROCE_PARAMS
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR="$work/run" UDAPL_ROCE_ROCED="$roced"

fail() {
	echo "FAIL: $*"
	# Errors of a program stand first: its standard output is written behind them, at the end.
	for said in "$work"/out "$work"/err "$work"/*.out; do
		[ ! -e "$said" ] || { echo "==> $said" && head -n 15 "$said" && echo ... && tail -n 30 "$said"; }
	done
	exit 1
}

# with PROGRAM ARG... : every name bound at the start, those that are never called, too.
with() {
	LD_BIND_NOW=1 exec timeout "$limit" "$run" "$@"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}

# listens : a process of roce0 does.
listens() {
	"$roced" --status --json 2>/dev/null | tr -d ' \n' | grep -q '"listeners":\[[0-9]'
}

# talks : a process has a channel to another one.
talks() {
	"$roced" --status --json 2>/dev/null | tr -d ' \n' | grep -q '"channels":\[[0-9]'
}

# listens_at PORT : a process does, by the kernel.
listens_at() {
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$(printf ':%04X .* 0A ' "$1")"
}

holds_or_gone() {
	"$@" || gone "$server"
}

# until_true CHECK... : it holds; false if the server ended before, or it takes too long.
until_true() {
	wait_until holds_or_gone "$@"
	"$@"
}

listens_somehow() {
	listens_at "$1" || listens
}

# start COMMAND : the server, its command in one word.
start() {
	# shellcheck disable=SC2086
	(with $1) >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true listens || fail "the server $1 does not come to listen"
}

# client COMMAND : ends well.
client() {
	# shellcheck disable=SC2086
	(with $1) >"$work/err" 2>&1 </dev/null || fail "the client $1 ends with $?"
}

# fio_job FILE LINE... : with what both ends have.
fio_job() {
	file=$1
	shift
	printf '%s\n' '[global]' ioengine=rdma bs=64k size=16m "port=$port" "$@" >"$file"
}

# registry_of_ofa : the adapter of Debian's provider of DAT 2.0 for verbs.
registry_of_ofa() {
	echo 'ofa-v2-lo u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "lo 0" ""' >"$work/dat.conf"
	export DAT_OVERRIDE="$work/dat.conf"
}

case $how in
alone)
	(with "$@") >"$work/out" 2>&1 </dev/null || fail "$* ends with $?"
	grep -Eq "$words" "$work/out" || fail "$* does not say $words"
	;;
refused)
	(with "$@") >"$work/out" 2>&1 </dev/null
	status=$?
	# 124 is that of a time that is over, and those from 128 on are of signals; but programs say -1, too.
	[ $status -ne 0 ] && [ $status -ne 124 ] && { [ $status -lt 128 ] || [ $status -eq 255 ]; } || fail "$* ends with $status"
	grep -Eq "$words" "$work/out" || fail "$* does not say $words"
	;;
waits)
	(with stdbuf -oL "$@") >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true grep -Eq "$words" "$work/out" && kill -0 "$server" && exit 0
	fail "$* does not say $words, or has ended"
	;;
pair)
	port=$(free_port)
	(with "$@" -p "$port") >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true listens_at "$port" || fail "the server of $* does not come to listen"
	(with "$@" -p "$port" 127.0.0.1) >"$work/err" 2>&1 </dev/null || fail "the client of $* ends with $?"
	wait "$server" || fail "the server of $* ends with $?"
	server=
	;;
two)
	port=$(free_port)
	start "${1%% *} -p $port ${1#"${1%% *}"}"
	client "${2%% *} -p $port ${2#"${2%% *}"} 127.0.0.1"
	wait "$server" || fail "the server $1 ends with $?"
	server=
	;;
persistent)
	port=$(free_port)
	start "${1%% *} -p $port ${1#"${1%% *}"}"
	client "${2%% *} -p $port ${2#"${2%% *}"} 127.0.0.1"
	client "${2%% *} -p $port ${2#"${2%% *}"} 127.0.0.1"
	kill -0 "$server" || fail "the server $1 has ended"
	;;
qperf)
	port=$(free_port)
	(with qperf -lp "$port") >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true listens_at "$port" || fail "the server of qperf does not come to listen"
	client "qperf -lp $port -t 1 -cm 1 127.0.0.1 $*"
	;;
fio)
	port=$(free_port)
	cd "$work" || fail "there is no folder to work in"
	fio_job server.fio '[receiver]' rw=read iodepth=16
	fio_job client.fio hostname=127.0.0.1 "verb=$1" '[sender]' rw=write iodepth=1
	(with fio --output=server.out server.fio) >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true listens || fail "fio does not come to listen"
	client "fio --output=client.out client.fio"
	wait "$server" || fail "the server of fio ends with $?"
	server=
	;;
killed)
	port=$(free_port)
	# Not by timeout, which would be killed in its place.
	"$run" ${1%% *} -p "$port" ${1#"${1%% *}"} >"$work/out" 2>&1 </dev/null &
	server=$!
	until_true listens_somehow "$port" || fail "the server $1 does not come to listen"
	(with ${2%% *} -p "$port" ${2#"${2%% *}"} 127.0.0.1) >"$work/err" 2>&1 </dev/null &
	client=$!
	until_true talks || fail "the client $2 does not come to talk"
	# Until messages are on the way, of which neither says anything.
	sleep 0.5
	gone "$client" && fail "the client $2 has ended before its server"
	kill -9 "$server"
	server=
	end_of "$client"
	# 124: timeout has ended it.
	case $? in
	124 | 137) fail "the client $2 does not notice that its server was killed" ;;
	esac
	;;
dat)
	registry_of_ofa
	(with "$1" -P ofa-v2-lo) >"$work/out" 2>&1 </dev/null &
	server=$!
	# Its port is always the same one.
	until_true listens_at 15828 || fail "the server of $1 does not come to listen"
	client "$1 -P ofa-v2-lo -h 127.0.0.1"
	wait "$server" || fail "the server of $1 ends with $?"
	# It ends with 0 whatever happened.
	for end in out err; do
		grep -q 'Test Complete. PASSED' "$work/$end" || fail "an end of $1 does not pass"
	done
	server=
	;;
dapltest)
	registry_of_ofa
	start "dapltest -T S -D ofa-v2-lo"
	kind=$1
	shift
	client "dapltest -T $kind -D ofa-v2-lo -s 127.0.0.1 $*"
	grep -q 'Client Exiting' "$work/err" || fail "dapltest -T $kind $* does not come to its end"
	client "dapltest -T Q -D ofa-v2-lo -s 127.0.0.1"
	wait "$server" || fail "the server of dapltest ends with $?"
	server=
	;;
*)
	fail "there is no way $how"
	;;
esac
