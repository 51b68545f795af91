# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Suites of tests: what they run is compiled, run and counted.
# shellcheck disable=SC2086 # suites are words in a string

# A test that ends is never late: this machine may have other work.
meson_test_options=(--timeout-multiplier 6)

# compile_suites NAME 'SUITE...' [meson options]: of build/NAME only what these suites run.
compile_suites() {
	local name=$1 suites=$2 targets
	shift 2
	configure "$name" "$@"
	ninja -C "$build_root/$name" --quiet build.ninja
	targets=$(python3 devtools/testlog.py programs "$build_root/$name" $suites)
	only=$targets compile "$name" "$@"
}

# run_tests NAME LOG [meson arguments]: runs them in build/NAME; the last line printed is the count.
run_tests() {
	local dir=$build_root/$1 log=$2
	shift 2
	rm -f "$dir/meson-logs/$log.json"
	# The count below decides, not meson's exit code: it also knows of a run in which nothing ran.
	meson test -C "$dir" --no-rebuild --print-errorlogs --logbase testlog "${meson_test_options[@]}" "$@" || true
	python3 devtools/testlog.py sum "$dir/meson-logs/$log.json"
}

# run_suites NAME SUITE...: runs these in build/NAME.
run_suites() {
	local name=$1 dir=$build_root/$1 suite have args=()
	shift
	have=$(python3 devtools/testlog.py suites "$dir")
	for suite in "$@"; do
		grep -qx -- "$suite" <<<"$have" ||
			fail "there is no suite '$suite' in this tree; there are: $(tr '\n' ' ' <<<"$have")"
		args+=(--suite "$suite")
	done
	say "running $*"
	run_tests "$name" testlog "${args[@]}"
}
