# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh sanitize`: suites under address + undefined, and the thread tests under the thread sanitizer.

suites_sanitize=(unit sim walk conf vdev contract verbs fuzz apps roced adversary)
# In the gate, where each test has one form.
suites_sanitize_gate=(unit contract verbs fuzz)

cmd_sanitize() {
	local suites=("${suites_sanitize[@]}") but=()
	case ${1:-} in
	--gate) suites=("${suites_sanitize_gate[@]}") but=(--no-suite engines --no-suite forms) ;;
	'') ;;
	*) fail "sanitize does not know '$1'; type: ./run.sh sanitize [--gate]" ;;
	esac
	need_packages "${packages_test[@]}"
	local status=0
	# A sanitizer that finds something ends the program, and so the test. It also handles the signals of a crash, which
	# cmocka would report without a stack.
	local crash=handle_segv=2:handle_sigfpe=2:handle_sigill=2
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export ASAN_OPTIONS=detect_stack_use_after_return=1:$crash
	export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/devtools/tsan.supp:$crash
	limits 20
	# Instrumented code draws warnings of its own; the plain builds of both compilers are the judges. Compiling takes half
	# of the time: little is optimised, and debug information is what a report wants.
	compile_suites asan "${suites[*]}" -Doptimization=1 -Dc_args=-g1 -Dwerror=false \
		-Db_sanitize=address,undefined -Dsim_worlds=5000 -Dwalk_steps=10000000
	# Barriers in assembler are invisible to the thread sanitizer: have rings use what the compiler knows.
	compile_suites tsan tsan -Doptimization=1 -Dc_args='-g1 -DRTE_USE_C11_MEM_MODEL' -Dwerror=false \
		-Db_sanitize=thread -Dsim_worlds=1000
	run_suites asan "${suites[@]}" "${but[@]}" || status=1
	run_suites tsan tsan || status=1
	python3 devtools/testlog.py sum "$build_root"/{asan,tsan}/meson-logs/testlog.json || status=1
	return $status
}
