# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the scripts about our programs share: a folder of their own, what programs wrote there, and failures.
#   . "$(dirname "$0")/lib.sh"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failures=0
. "$(dirname "$0")/../limit.sh"

complain() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

finish() {
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}

# usage WORD PROGRAM ARG... : refused, and the sentence holds WORD.
usage() {
	word=$1
	shift
	"$@" >"$out/stdout" 2>"$out/stderr" </dev/null
	status=$?
	[ "$status" -eq 2 ] || complain "$* exits with $status instead of 2"
	[ "$(wc -l <"$out/stderr")" -eq 1 ] || complain "$* says not one sentence: $(cat "$out/stderr")"
	grep -q -e "$word" "$out/stderr" || complain "$* does not say '$word': $(cat "$out/stderr")"
	[ ! -s "$out/stdout" ] || complain "$* writes to standard output"
}

# good WORD PROGRAM ARG... : works, and standard output holds WORD.
good() {
	word=$1
	shift
	"$@" >"$out/stdout" 2>"$out/stderr" </dev/null || complain "$* fails: $(cat "$out/stderr")"
	grep -q -e "$word" "$out/stdout" || complain "$* does not print '$word'"
	[ ! -s "$out/stderr" ] || complain "$* writes to standard error"
}

# fails WORD PROGRAM ARG... : exit status 1, and a sentence that holds WORD.
fails() {
	word=$1
	shift
	timeout "$limit" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null
	status=$?
	[ "$status" -eq 1 ] || complain "$* exits with $status instead of 1"
	grep -q -e "^dat-[a-z]*: .*$word" "$out/stderr" || complain "$* does not say '$word': $(cat "$out/stderr")"
}

# works PROGRAM ARG... : exit status 0.
works() {
	timeout "$limit" "$@" >"$out/stdout" 2>"$out/stderr" </dev/null ||
		complain "$* exits with $?: $(cat "$out/stderr")"
}

# json EXPRESSION [FILE] : the output is one JSON object o of which the expression holds.
json() {
	"$python" -c "import json, sys; o = json.load(open(sys.argv[1])); sys.exit(not ($1))" "${2:-$out/stdout}" ||
		complain "not JSON, or not '$1': $(head -c 2000 "${2:-$out/stdout}")"
}
