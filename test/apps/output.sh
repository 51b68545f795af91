#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program prints arrives, or the program says that it did not, in one sentence, and exits with 1: standard
# output on a full device or closed, and JSON in a file, which is tried before the work begins.
#
#   output.sh python3 dat-perf dat-ping dat-info dat-srqd roce-embed
# Used by lib.sh.
# shellcheck disable=SC2034
python=$1
perf=$2
ping=$3
info=$4
srqd=$5
embed=$6
. "$(dirname "$0")/lib.sh"
[ -c /dev/full ] || { echo "there is no /dev/full here"; exit 77; }

# one WORD PROGRAM ARG... : judges a run that stands in $status and the two files: one sentence with WORD.
one() {
	word=$1
	shift
	[ "$status" -eq 1 ] || complain "$* exits with $status instead of 1"
	[ "$(grep -c '^[a-z]*-[a-z]*: ' "$out/stderr")" -eq 1 ] || complain "$* says not one sentence: $(cat "$out/stderr")"
	grep -q -e "$word" "$out/stderr" || complain "$* does not say '$word': $(cat "$out/stderr")"
}

# unheard PROGRAM ARG... : on a full device, and with a closed standard output.
unheard() {
	timeout "$limit" "$@" >/dev/full 2>"$out/stderr" </dev/null
	status=$?
	one "cannot write .* to standard output: No space left on device" "$@"
	timeout "$limit" "$@" >&- 2>"$out/stderr" </dev/null
	status=$?
	one "cannot write .* to standard output: it is closed" "$@"
}

for program in "$perf" "$ping" "$info" "$srqd" "$embed"; do
	unheard "$program" --help
done
for program in "$perf" "$ping" "$info" "$srqd"; do
	unheard "$program" --version
done
unheard "$perf" -n 100
unheard "$perf" -n 100 --json
unheard "$ping" -c 2 -i 1
unheard "$ping" -c 2 -i 1 --json
unheard "$info"
unheard "$info" --json loop0
unheard "$srqd" --self 1 -n 10
unheard "$srqd" --self 1 -n 10 --json

# JSON in a file. That it cannot be written is known before the work begins: nothing is printed of it.
for program in "$perf -n 100" "$ping -c 2 -i 1" "$srqd --self 1 -n 10"; do
	# shellcheck disable=SC2086 # words are meant
	fails "cannot write the JSON to $out/no/such: No such file or directory" $program --json="$out/no/such"
	[ ! -s "$out/stdout" ] || complain "$program works although its JSON has no place: $(cat "$out/stdout")"
	# shellcheck disable=SC2086
	fails "cannot write the JSON to /dev/full: No space left on device" $program --json=/dev/full
	# Room that a limit refuses is no end by a signal. Standard error output, a file too, would have none: it is a pipe here.
	# shellcheck disable=SC2086
	words=$( (ulimit -f 0; timeout "$limit" $program --json="$out/large" 2>&1 >/dev/null; echo "status $?") | cat)
	case $words in
	*"cannot write the JSON to $out/large: File too large"*"status 1") ;;
	*) complain "$program --json under ulimit -f 0 says: $words" ;;
	esac
	# What is there is replaced as a whole, also in a folder that takes no new file.
	mkdir -p "$out/folder"
	seq 100000 >"$out/folder/old"
	chmod 555 "$out/folder"
	# shellcheck disable=SC2086
	works $program --json="$out/folder/old"
	json "'error' not in o" "$out/folder/old"
	chmod 755 "$out/folder"
	# A pipe has nothing to replace.
	# shellcheck disable=SC2086
	works $program --json=/dev/stdout
	grep -q '"tool"' "$out/stdout" || complain "$program --json=/dev/stdout prints no JSON"
done
# A wrong command line leaves the file alone.
echo kept >"$out/kept"
usage "one of the two" "$perf" -n 10 -d 1 --json="$out/kept"
[ "$(cat "$out/kept")" = kept ] || complain "a wrong command line writes to the file of its JSON"
finish
