#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line of roced, its status, and what it needs of the machine: libc.
#
#   program.sh python3 roced roced.1 COUNTERS.def...
python=$1
roced=$2
manual=$3
shift 3
counters=$(sed -n 's/^COUNTER(\([a-z_]*\),.*/\1/p' "$@")
. "$(dirname "$0")/../apps/lib.sh"

usage "'-z' is none of the options" "$roced" -z
usage "'--bogus' is none of the options" "$roced" --bogus
usage "--dir needs a value" "$roced" --dir
usage "'word' is one word too many" "$roced" word
usage "--linger takes seconds" "$roced" --on-demand --linger -1
usage "--linger takes seconds" "$roced" --on-demand --linger soon
usage "--linger takes seconds" "$roced" --on-demand --linger 1e9
usage "--linger takes seconds" "$roced" --on-demand --linger nan
usage "--linger belongs to --on-demand" "$roced" --linger 1
usage "give both" "$roced" --json
usage "neither" "$roced" --status --on-demand
usage "neither" "$roced" --status --group root
usage "one user" "$roced" --on-demand --group root
usage "give both" "$roced" --port net_null0
usage "give both" "$roced" --ip 192.0.2.1/24
usage "are of an uplink" "$roced" --gw 192.0.2.254
usage "are of an uplink" "$roced" --mtu 1024
usage "without blanks" "$roced" --port "net_null0 queues=2" --ip 192.0.2.1/24
usage "without blanks" "$roced" --port net_null0 --ip ""
usage "neither" "$roced" --port net_null0 --ip 192.0.2.1/24 --on-demand
good "usage: roced" "$roced" --help
good "usage: roced" "$roced" -h
good "^roced [0-9]" "$roced" --version

# refused WORD ARG... : exit status 1, and one sentence that holds WORD.
refused() {
	word=$1
	shift
	timeout "$limit" "$roced" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
	status=$?
	[ "$status" -eq 1 ] || complain "roced $* exits with $status instead of 1"
	[ "$(wc -l <"$out/stderr")" -eq 1 ] || complain "roced $* says not one sentence: $(cat "$out/stderr")"
	grep -q -e "^roced: .*$word" "$out/stderr" || complain "roced $* does not say '$word': $(cat "$out/stderr")"
}
refused "absolute path" --dir here
refused "at most" --dir "/$(printf '%0120d' 0)"
refused "cannot be made" --dir "$out/none/deep"
refused "no group 'no-such-group'" --dir "$out/g" --group no-such-group
refused "no roced answers" --status --dir "$out"
ln -s "$out" "$out/link"
refused "link" --dir "$out/link"

# A folder of its own, by the variable that says where run-time folders are.
mkdir -m 700 "$out/xdg"
XDG_RUNTIME_DIR=$out/xdg "$roced" -v 2>"$out/log" &
pid=$!
dir=$out/xdg/udapl-roce
serves() {
	"$roced" --status --dir "$dir" >"$out/stdout" 2>/dev/null
}
wait_until serves || complain "roced does not come to serve: $(cat "$out/log")"
good "^roced: pid $pid, 02:72:6f:63:65:00, mtu 4200, no uplink" "$roced" --status --dir "$dir"
good "^version [0-9.]*, started [0-9]* s ago" "$roced" --status --dir "$dir"
good "^addresses: 127.0.0.1/8" "$roced" --status --dir "$dir"
good " 0  frames_forwarded" "$roced" --status --dir "$dir"
good "" "$roced" --status --json --dir "$dir"
json "o['tool'] == 'roced' and o['pid'] == $pid and o['addresses'] == ['127.0.0.1/8'] and o['processes'] == [] and o['uplink'] is False and 0 <= o['uptime_seconds'] < 1000 and o['version'][0].isdigit()"

# Two clients with a channel and a listener, one of which ends; names are for people, and JSON all the same.
"$python" -B "$(dirname "$0")/clients.py" "$dir/roced.sock" "$roced" >"$out/stdout" 2>&1 || complain "clients.py: $(cat "$out/stdout")"
json "[p['name'] for p in o['processes']] == ['a\"b\\\\?', 'second'] and o['processes'][0]['listeners'] == [17] and o['processes'][0]['channels'] == [2] and o['processes'][1]['channels'] == [1] and o['counters']['channels'] == 1"

"$roced" --status --dir "$dir" >/dev/full 2>"$out/stderr" && complain "--status on a full device succeeds"
grep -q "standard output" "$out/stderr" || complain "--status on a full device says $(cat "$out/stderr")"
refused "another roced serves" --dir "$dir"
kill "$pid"
end_of "$pid" || complain "roced ends with $? on SIGTERM"
for line in "process 1 (a\"b.?, pid [0-9]*) attached" "channel of processes 1 and 2" "process 1 .* is gone"; do
	grep -q "^roced: $line" "$out/log" || complain "-v does not say '$line': $(cat "$out/log")"
done
[ ! -e "$dir/roced.sock" ] || complain "the socket is left"

# The end of a terminal is an end in order, too.
XDG_RUNTIME_DIR=$out/xdg "$roced" 2>"$out/log" &
pid=$!
wait_until serves || complain "roced does not come to serve: $(cat "$out/log")"
kill -HUP "$pid"
end_of "$pid" || complain "roced ends with $? on SIGHUP"
[ ! -e "$dir/roced.sock" ] || complain "the socket is left behind SIGHUP"

for counter in $counters; do
	grep -qx ".It Li $counter" "$manual" || complain "the manual has no $counter"
done

readelf -d "$roced" | grep NEEDED | grep -v 'libc\.so\.6' >"$out/needed"
# The sanitizers bring theirs.
grep -vE 'lib(asan|ubsan|tsan|gcc_s|m|stdc\+\+|clang_rt)' "$out/needed" >"$out/more" && complain "roced needs $(cat "$out/more")"
finish
