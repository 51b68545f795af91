# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Suites of tests: what they run is compiled, run and counted.
# shellcheck disable=SC2086 # suites are words in a string

# A test that ends is never late: this machine may have other work. Meson's limit is for what hangs, and so is the one of
# a single step within a test, $ROCE_TEST_LIMIT seconds, which grows with it.
limits() {
	meson_test_options=(--timeout-multiplier "$1")
	export ROCE_TEST_LIMIT=$((20 * $1))
}
limits 6

# compile_suites NAME 'SUITE...' [meson options]: of build/NAME only what these suites run.
compile_suites() {
	local name=$1 suites=$2 targets
	shift 2
	configure "$name" "$@"
	ninja -C "$build_root/$name" --quiet build.ninja
	targets=$(python3 devtools/testlog.py programs "$build_root/$name" $suites)
	only=$targets compile "$name" "$@"
}

# run_tests NAME LOG [meson arguments]: runs them in build/NAME; the last line printed is the count. Those that failed, and
# may have done so by chance, run once more behind all others, one at a time: a test that passes then is told as flaky.
run_tests() (
	logs=$build_root/$1/meson-logs log=$2
	run=(meson test -C "$build_root/$1" --no-rebuild --print-errorlogs "${meson_test_options[@]}")
	shift 2
	again=${log/testlog/again}
	rm -f "$logs/$log.json" "$logs/$again.json"
	TMPDIR=$(mktemp -d) || exit
	export TMPDIR
	chmod 755 "$TMPDIR"
	trap 'rm -rf "$TMPDIR"; give_autogroup_back' EXIT
	trap 'exit 143' HUP INT TERM
	leave_autogroup_out
	# Side by side where they are apart: one more than there are processors, since many wait most of the time.
	export ROCE_TEST_APART=no
	processes=1
	if test/apart.sh --can; then
		ROCE_TEST_APART=yes
		processes=$(($(nproc) + 1))
	else
		say "no namespaces here: one test at a time"
	fi
	# The count below decides, not meson's exit code: it also knows of a run in which nothing ran.
	"${run[@]}" --logbase testlog --num-processes "$processes" "$@" || true
	mapfile -t failed < <(python3 devtools/testlog.py again "$logs/$log.json")
	if [ ${#failed[@]} -gt 0 ]; then
		say "once more, alone: ${failed[*]}"
		# Meson knows those of the set-up alone, or of the suites named, and has the set-up in the log's name.
		"${run[@]}" --logbase again --num-processes 1 "$@" "${failed[@]}" || true
		[ -e "$logs/$again.json" ] || say "none of them ran again"
	fi
	python3 devtools/testlog.py seconds "$logs/$log.json"
	python3 devtools/testlog.py sum "$logs/$log.json"
)

# run_suites NAME SUITE... [--no-suite SUITE]...: runs these in build/NAME, but what is in those of --no-suite, too.
run_suites() {
	local name=$1 dir=$build_root/$1 have option=--suite args=()
	shift
	have=$(python3 devtools/testlog.py suites "$dir")
	say "running $*"
	while [ $# -gt 0 ]; do
		if [ "$1" = --no-suite ]; then
			option=--no-suite
			shift
		fi
		grep -qx -- "$1" <<<"$have" ||
			fail "there is no suite '$1' in this tree; there are: $(tr '\n' ' ' <<<"$have")"
		args+=("$option" "$1")
		option=--suite
		shift
	done
	run_tests "$name" testlog "${args[@]}"
}
