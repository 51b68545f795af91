# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Steps of a long run, one after the other: each is a command with a log and a count, and the last line is their sum.
# $logs is the folder of the logs.

passed=0 failed=0 skipped=0 flaky=0 reasons=()
# A test that fails by chance is mended by who sees it; a run with more of them than this says nothing.
flaky_most=2

# tally NAME STATUS SECONDS COMMAND...: counts what a command said in its log: its last line of that form, or one.
tally() {
	local name=$1 status=$2 seconds=$3 log=$logs/$1.log count p f s
	shift 3
	count=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	if [ -z "$count" ]; then
		[ "$status" -eq 0 ] && count='1 passed, 0 failed, 0 skipped' || count='0 passed, 1 failed, 0 skipped'
	fi
	read -r p _ f _ s _ <<<"$count"
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	while IFS= read -r line; do
		reasons+=("$name: $line")
	done < <(grep -E '^(skipped|flaky|failed): ' "$log" | sort -u)
	flaky=$((flaky + $(grep '^flaky: ' "$log" | sort -u | wc -l)))
	[ "$status" -eq 0 ] || grep -q '^failed: ' "$log" || reasons+=("$name: failed: $*")
	printf '== %s: %s, %s seconds, %s of a processor\n' "$name" "$count" "$seconds" \
		"$(awk '{ printf "%d", $1 + $2 }' "$logs/$name.cpu")"
}

# timed LIMIT NAME COMMAND...: runs it, notes how long it had a processor, and ends it when it takes three times its usual
# time: then a machine is too slow, or something hangs, and nothing is known of what the command would have said.
timed() {
	local limit=$1 name=$2 status=0 TIMEFORMAT='%U %S'
	shift 2
	{ time timeout --kill-after=60 "$limit" "$@" 2>&3; } 3>&2 2>"$logs/$name.cpu" || status=$?
	[ $status -ne 124 ] && [ $status -ne 137 ] ||
		printf 'failed: too slow: ended after %s seconds, three times the usual\n' "$limit"
	return $status
}

# step NAME SECONDS COMMAND...: runs it, which takes so many seconds usually. It gets no standard input.
step() {
	local name=$1 usual=$2 since=$SECONDS
	shift 2
	printf '\n== %s: %s\n' "$name" "$*"
	timed $((3 * usual)) "$name" "$@" 2>&1 </dev/null | tee "$logs/$name.log"
	tally "$name" "${PIPESTATUS[0]}" $((SECONDS - since)) "$@"
}

# finish: the sum, alone on the last line; fails when anything failed or nothing ran.
finish() {
	printf '\n== in %s seconds\n' $SECONDS
	if [ $flaky -gt $flaky_most ]; then
		failed=$((failed + 1))
		reasons+=("failed: $flaky flaky tests: more than $flaky_most say that something is wrong")
	fi
	[ ${#reasons[@]} -eq 0 ] || printf '%s\n' "${reasons[@]}"
	printf '%s passed, %s failed, %s skipped\n' $passed $failed $skipped
	[ $failed -eq 0 ] && [ $passed -gt 0 ]
}
