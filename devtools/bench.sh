# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh bench`: the default table of dat-perf, and what the programs of test/bench measure.

# The default table: one header, the rates of each size, then the time there and back below its own columns.
bench_table() {
	local perf=$1 out=$2 test size part
	while read -r test size part; do
		"$perf" -t "$test" -s "$size" --json="$out/$test-$size.json" </dev/null | table_part "$part" ||
			fail "dat-perf -t $test -s $size failed: the reason stands above"
	done <<-END
		send_bw 64 first
		send_bw 1024 middle
		send_bw 4096 middle
		send_bw 65536 middle
		send_lat 64 below
	END
}

# The part of one run's output that goes into the table. A rule stands above the header, above the columns and at the end;
# rows begin with two numbers.
table_part() {
	awk -v part="$1" '
		/^-+$/ { rules++ }
		part == "first" && !(rules == 3 && /^-+$/) || part == "below" && rules >= 2 || $1 " " $2 ~ /^[0-9]+ [0-9]+$/'
}

# One build for all that measures: then figures belong together, and it is trained once.
build_benchmarks() {
	need_packages "${packages_test[@]}"
	local name targets=(apps/dat-perf apps/dat-ping apps/roced lib/front/libdaplroce.so.1)
	for name in apart connect floor handover memory srq stage steer wire; do
		targets+=("test/bench/bench_$name")
	done
	only=${targets[*]} compile_trained release-bench
	reserve_hugepages
}

# The cost of a message, stage by stage, and its ratio to the bare wire, from the same run.
bench_suite() {
	build_benchmarks
	python3 test/bench/bench.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Two processes and two threads on a core each, beside the bare wire between those cores.
bench_memif() {
	build_benchmarks
	python3 test/bench/memif.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Processes of one host over roce0, beside UCX over shared memory.
bench_processes() {
	. devtools/compare.sh
	cmd_compare --processes "$@"
}

# dat-perf beside the least that its messages cost.
bench_floor() {
	build_benchmarks
	python3 test/bench/floor.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Goodput over loss and reordering, as shares of what the same round reaches without.
bench_loss() {
	build_benchmarks
	python3 test/bench/loss.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Behaviour as work grows. Figures that were kept are drawn without building anything.
bench_curves() {
	need_packages "${packages_curves[@]}"
	case " $* " in
	*' --draw-only'* | *' --help '* | *' -h '*)
		python3 test/bench/curves.py --out "$build_root/bench" "$@"
		return
		;;
	esac
	build_benchmarks
	python3 test/bench/curves.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Debug information says which layer an instruction is of; the instructions are the same without. Valgrind is so slow
# that an answer takes longer than an acknowledgement waits for it on a real processor: here it waits a millisecond.
bench_instructions() {
	need_packages "${packages_instructions[@]}"
	# What another clone compiled names the folders of that one, and layers are told by folders.
	local -x CCACHE_DISABLE=1
	only='apps/dat-perf lib/front/libdaplroce.so.1' compile instructions "${fastest[@]}" \
		-Dc_args='-g -DROCE_QUICK_US=1000u' -Dtests=false
	say "counting"
	python3 -B test/bench/instructions.py --build "$build_root/instructions" "$@"
}

cmd_bench() {
	# With a number behind it, it is an option of dat-perf.
	case "${1:-} ${2:--}" in
	'--loss -'*)
		shift
		bench_loss "$@"
		return
		;;
	esac
	case ${1:-} in
	--suite | --floor | --memif | --processes | --instructions | --curves)
		local what=${1#--}
		shift
		"bench_$what" "$@"
		return
		;;
	esac
	cmd_build
	reserve_hugepages
	local perf=$build_root/release/apps/dat-perf out=$build_root/bench arg
	# libdat finds the provider there as long as nothing is installed.
	LD_LIBRARY_PATH=$(realpath "$build_root")/release/lib/front${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	mkdir -p "$out"
	if [ $# -eq 0 ]; then
		bench_table "$perf" "$out"
		say "the same as JSON: $out/*.json"
		return
	fi
	for arg in "$@"; do
		case $arg in
		--json* | -h | --help | --version)
			"$perf" "$@"
			return
			;;
		esac
	done
	"$perf" "$@" --json="$out/dat-perf.json" || return
	say "the same as JSON: $out/dat-perf.json"
}
