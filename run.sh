#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One command for each thing one does with this tree, on Debian 12, as root or not. `./run.sh` lists them.
# Nothing asks; what is missing is installed with apt-get; sudo is used only for that, and only when not root.
# shellcheck disable=SC2086 # targets and suites are words in a string
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Debian's own tools first: they are the ones installed here. A bare tree has no locale but this one.
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1

build_root=${UDAPL_ROCE_BUILD:-build}

packages_build=(gcc libc6-dev meson ninja-build pkgconf libdpdk-dev libisal-dev libibverbs-dev libjson-c-dev
	libmicrohttpd-dev libdapl-dev)
packages_test=("${packages_build[@]}" libcmocka-dev liblzma-dev python3-scapy tshark codespell shellcheck pyflakes3
	clang-format g++ groff-base iproute2 dapl2-utils librdmacm-dev abigail-tools dpdk dpdk-dev
	python3-prometheus-client babeltrace2 libsystemd-dev qemu-user)
packages_curves=("${packages_test[@]}" python3-matplotlib)
packages_lint=("${packages_test[@]}" clang-tidy)
packages_clang=("${packages_build[@]}" libcmocka-dev liblzma-dev clang)
packages_interop=("${packages_build[@]}" libcmocka-dev liblzma-dev qemu-system-x86 cpio busybox-static iproute2 ethtool
	tcpdump tshark xz-utils zstd librdmacm-dev dapl2-utils)
packages_instructions=("${packages_build[@]}" valgrind)
# Whom we are compared with.
packages_compare=(ucx-utils libfabric-bin iperf3 sockperf iproute2)
packages_fuzz=("${packages_clang[@]}" libclang-rt-14-dev llvm-14)

suites_sanitize=(unit sim walk conf vdev contract verbs fuzz)
suites_newer=(unit sim model walk conf vdev contract verbs abi)

hugepages=/sys/kernel/mm/hugepages/hugepages-2048kB
reserved=0

usage() {
	cat <<'END'
usage: ./run.sh COMMAND

  bench [dat-perf options]  build (release) and run the messaging benchmark on the embedded loopback wire
  bench --suite [options]   what a message costs stage by stage, and its ratio to the bare wire (test/bench)
  bench --memif [options]   two processes over net_memif and two threads, and the bare wire between their cores
  bench --instructions [--write]
                            count the instructions of a message, layer by layer, under valgrind, and compare with the
                            last ones kept, or keep them
  bench --curves [options]  the same over sizes, endpoints, depths, loss, cores and path MTUs, as JSON and drawings
  compare [--rounds N] [--seconds S] [--sizes BYTES,...] [--markdown]
                            ours beside UCX, libfabric and kernel TCP on this machine, in turn (test/compare)
  test [--all] [suite ...]  build and run the tests: unit sim model walk conf contract verbs abi fuzz; with --all
                            also vdev recipes tools apps lint, and contract and
                            verbs on several engines; or the suites named
  build                     build everything (release)
  lint                      style, layers, symbols, headers, spelling, and clang-tidy
  debug [suite ...]         build without optimisation and run what compares whole answers (debug), or the suites named
  sanitize [--compile]      tests under address + undefined, the thread tests under the thread sanitizer
  compile-clang             compile everything with clang, warnings as errors
  simlong                   the big run of the simulator, release build
  soak [steps [seed]]       a thousand million random steps over the shared receive queue, threads on it, every
                            order of more of them (test/model), simlong, what takes minutes of OFED's tools, a
                            hundred million messages of the simulator, and who notices when the engine is wrong (test/mutation)
  soak --adversary [minutes [seed]]
                            for 30 minutes, or so many: consumers whose every count is judged, and a server over
                            net_memif, killed and stopped at random, strangers at its socket (test/adversary)
  fuzz [seconds]            the fuzzers (clang, libFuzzer), each for so many seconds (60)
  interop [--short] [--long] [--only WORDS] [--list] [--times] [--release NAME]
                            against Linux: a guest with the kernel's RoCE on an emulated machine (root, QEMU), of
                            this host's Debian or of another one (trixie: Linux 6.12)
  newer [release [suite ...]]
                            build and test with the DPDK and the compiler of a newer Debian (trixie), in a tree of
                            its own below build/newer or $UDAPL_ROCE_CLEAN_TREE (root, debootstrap)
  clean                     remove what was built

Missing packages are installed with apt-get. Build folders lie in build/ (or in $UDAPL_ROCE_BUILD).
END
}

say() {
	printf 'run.sh: %s\n' "$*"
}

fail() {
	printf 'run.sh: %s\n' "$*" >&2
	exit 1
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

can_be_root() {
	[ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# Installs those of the packages that are not there. Touches the package lists only then.
need_packages() {
	command -v dpkg-query >/dev/null ||
		{ say "this is not Debian: packages are not checked, see docs/testing.md for what is needed"; return; }
	local package missing=()
	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] ||
			missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	# Two of us at a time (.ci/run) would be two apt-get at a time, of which one gives up.
	mkdir -p "$build_root"
	exec {apt_turn}>"$build_root/apt.lock"
	flock "$apt_turn"
	local hand="apt-get install --no-install-recommends ${missing[*]}"
	can_be_root || fail "packages are missing and this user may not install them; as root, type: $hand"
	local log
	log=$(mktemp)
	as_root apt-get -qq update >"$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; fail "apt-get update failed, see above; as root, type: apt-get update"; }
	leave_out_unknown
	if [ ${#missing[@]} -gt 0 ]; then
		say "installing ${missing[*]}"
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
			-o Dpkg::Use-Pty=0 install "${missing[@]}" >"$log" 2>&1 ||
			{ tail -n 20 "$log" >&2; fail "apt-get could not install the packages, see above; as root, type: $hand"; }
	fi
	rm -f "$log"
	exec {apt_turn}>&-
}

# The lists are those of Debian 12. Another release may have dropped a package: what is built and tested with it is
# left out there and says so. Takes it from `missing`.
leave_out_unknown() {
	local package known=()
	! grep -qx VERSION_CODENAME=bookworm /etc/os-release || return 0
	for package in "${missing[@]}"; do
		if apt-get -s --no-install-recommends install "$package" >/dev/null 2>&1; then
			known+=("$package")
		else
			say "this release of Debian has no $package: left out"
		fi
	done
	missing=("${known[@]}")
}

# Reserves up to 512 pages of 2 MiB, at most a quarter of what memory is free, and gives back at the end what
# it reserved, not what was there before.
reserve_hugepages() {
	local before free want quarter
	free=$(cat "$hugepages/free_hugepages" 2>/dev/null || echo 0)
	quarter=$(awk '/^MemAvailable:/ { print int($2 / 4 / 2048) }' /proc/meminfo 2>/dev/null || echo 0)
	want=$((quarter < 512 ? quarter : 512))
	[ "$free" -lt "$want" ] || return 0
	if [ ! -w "$hugepages/nr_hugepages" ]; then
		[ "$free" -gt 0 ] || say "no hugepages and no right to reserve any: ordinary memory is used"
		return 0
	fi
	before=$(cat "$hugepages/nr_hugepages")
	trap release_hugepages EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	{ echo $((before + want - free)) >"$hugepages/nr_hugepages"; } 2>/dev/null || true
	reserved=$(($(cat "$hugepages/nr_hugepages") - before))
	if [ "$reserved" -gt 0 ]; then
		say "reserved $reserved hugepages of 2 MiB until the end of this run"
	else
		say "the kernel has no hugepages to give: ordinary memory is used"
	fi
}

release_hugepages() {
	[ "$reserved" -gt 0 ] || return 0
	local now left
	now=$(cat "$hugepages/nr_hugepages")
	left=$((now > reserved ? now - reserved : 0))
	{ echo "$left" >"$hugepages/nr_hugepages"; } 2>/dev/null || true
	reserved=0
}

# configure NAME [meson options]: sets build/NAME up, anew only when its options changed.
configure() {
	local dir=$build_root/$1
	shift
	local wanted="CC=${CC:-} $*"
	mkdir -p "$build_root" 2>/dev/null || true
	[ -w "$build_root" ] ||
		fail "$build_root/ belongs to somebody else: remove it, or set UDAPL_ROCE_BUILD to a folder of yours"
	if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/.options" 2>/dev/null)" != "$wanted" ]; then
		say "configuring $dir"
		rm -rf "$dir"
		meson setup "$dir" "$@" >"$dir.log" 2>&1 ||
			{ cat "$dir.log" >&2; fail "meson could not configure $dir: the reason stands above"; }
		mv "$dir.log" "$dir/setup.log"
		printf '%s' "$wanted" >"$dir/.options"
		say "DPDK $(pkg-config --modversion libdpdk), $("${CC:-cc}" --version | head -n 1)"
	fi
}

# compile NAME [meson options]: build/NAME, or `only` of it, which the caller sets for this call.
only=
compile() {
	configure "$@"
	say "compiling $build_root/$1"
	local quiet
	[ -t 1 ] && quiet='' || quiet=--quiet
	ninja -C "$build_root/$1" $quiet $only || fail "$build_root/$1 does not compile: the first error stands above"
}

# compile_suites NAME 'SUITE...' [meson options]: of build/NAME only what these suites run.
compile_suites() {
	local name=$1 suites=$2 targets
	shift 2
	configure "$name" "$@"
	ninja -C "$build_root/$name" --quiet build.ninja
	targets=$(python3 test/testlog.py programs "$build_root/$name" $suites)
	only=$targets compile "$name" "$@"
}

# run_tests NAME LOG [meson arguments]: runs them in build/NAME; the last line printed is the count.
run_tests() {
	local dir=$build_root/$1 log=$2
	shift 2
	rm -f "$dir/meson-logs/$log.json"
	# The count below decides, not meson's exit code: it also knows of a run in which nothing ran.
	meson test -C "$dir" --no-rebuild --print-errorlogs --logbase testlog "${meson_test_options[@]}" "$@" || true
	python3 test/testlog.py sum "$dir/meson-logs/$log.json"
}
# A test that ends is never late: this machine may have other work.
meson_test_options=(--timeout-multiplier 6)

# run_suites NAME SUITE...: runs these in build/NAME.
run_suites() {
	local name=$1 dir=$build_root/$1 suite have args=()
	shift
	have=$(python3 test/testlog.py suites "$dir")
	for suite in "$@"; do
		grep -qx -- "$suite" <<<"$have" ||
			fail "there is no suite '$suite' in this tree; there are: $(tr '\n' ' ' <<<"$have")"
		args+=(--suite "$suite")
	done
	say "running $*"
	run_tests "$name" testlog "${args[@]}"
}

# Link-time optimisation takes functions from one layer into another: 64 bytes cost 5 % less.
fastest=(--buildtype=release -Db_lto=true)

# compile_trained NAME [meson options]: the fastest build/NAME, made twice, since the first one only counts where its
# programs go: 64 bytes cost 10 % less. What is not run there is compiled as ever. A change makes all of it anew.
compile_trained() {
	local dir=$build_root/$1 wanted="${CC:-} $* $only"
	[ "$(cat "$dir/.trained" 2>/dev/null)" != "$wanted" ] ||
		! ninja -C "$dir" -n $only | grep -q '^ninja: no work to do' || return 0
	rm -rf "$dir"
	# Gcc's warnings are judged in the other builds: with counts it sees ways that nothing takes.
	compile "$@" "${fastest[@]}" -Db_pgo=generate -Dwerror=false
	say "training $dir"
	test/bench/train.sh "$dir" || fail "$dir could not be trained: the reason stands above"
	meson configure "$dir" -Db_pgo=use -D{c_args,c_link_args}='-fprofile-partial-training -w' >>"$dir/setup.log" ||
		fail "meson could not configure $dir"
	say "compiling $dir again"
	ninja -C "$dir" --quiet $only >>"$dir/setup.log" || { cat "$dir/setup.log" >&2; fail "$dir does not compile"; }
	printf '%s' "$wanted" >"$dir/.trained"
}

cmd_build() {
	need_packages "${packages_build[@]}"
	compile_trained release -Dtests=false
	say "programs are in $build_root/release/apps, libraries in $build_root/release/lib"
}

# The default table: one header, then one line for each size.
bench_table() {
	local perf=$1 out=$2 test size part
	while read -r test size part; do
		"$perf" -t "$test" -s "$size" --json="$out/$test-$size.json" </dev/null | table_part "$part" ||
			fail "dat-perf -t $test -s $size failed: the reason stands above"
	done <<-END
		send_bw 64 first
		send_bw 1024 middle
		send_bw 4096 middle
		send_bw 65536 last
		send_lat 64 all
	END
}

# What one run adds to the table: rows begin with two numbers, and a rule stands at the end.
table_part() {
	awk -v part="$1" '
		/^-+$/ { if (held != "") print held; held = part == "first" || part == "all" ? $0 : ""; rule = $0; next }
		part == "first" || part == "all" || $1 " " $2 ~ /^[0-9]+ [0-9]+$/ {
			if (held != "") print held
			held = ""
			print
		}
		END { if (part == "last" || part == "all") print rule }'
}

# One build for all that measures: then figures belong together, and it is trained once.
build_benchmarks() {
	need_packages "${packages_test[@]}"
	local name targets=(apps/dat-perf lib/front/libdaplroce.so.1)
	for name in apart connect handover memory srq stage steer wire; do
		targets+=("test/bench/bench_$name")
	done
	only=${targets[*]} compile_trained release-bench
	reserve_hugepages
}

# What a message costs, stage by stage, and its ratio to the bare wire, from the same run.
bench_suite() {
	build_benchmarks
	python3 test/bench/bench.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

# Two processes and two threads on a core each, beside the bare wire between those cores.
bench_memif() {
	build_benchmarks
	python3 test/bench/memif.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
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

# Debug information says which layer an instruction is of; the instructions are the same without.
bench_instructions() {
	need_packages "${packages_instructions[@]}"
	only='apps/dat-perf lib/front/libdaplroce.so.1' compile instructions "${fastest[@]}" -Dc_args=-g -Dtests=false
	say "counting"
	python3 -B test/bench/instructions.py --build "$build_root/instructions" "$@"
}

cmd_bench() {
	case ${1:-} in
	--suite | --memif | --instructions | --curves)
		local what=${1#--}
		shift
		"bench_$what" "$@"
		return
		;;
	esac
	cmd_build
	reserve_hugepages
	local perf=$build_root/release/apps/dat-perf out=$build_root/bench arg
	# Where libdat finds the provider as long as nothing is installed.
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

# Who cannot be installed is missing in the table, which says so.
cmd_compare() {
	(need_packages "${packages_compare[@]}") || say "going on without what is missing"
	build_benchmarks
	python3 test/compare/compare.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}

cmd_test() {
	case " $* " in
	*' lint-slow '*) need_packages "${packages_lint[@]}" ;;
	*) need_packages "${packages_test[@]}" ;;
	esac
	compile test --buildtype=debugoptimized -Dsim_worlds=20000 -Dwalk_steps=60000000
	# What only reads needs none, and would take them from under others at its end.
	case " $* " in
	' lint-slow ' | ' lint ' | ' lint lint-slow ') ;;
	*) reserve_hugepages ;;
	esac
	# Which suites these two have: test/meson.build.
	case "$*" in
	'') run_tests test testlog ;;
	--all) run_tests test testlog-all --setup all ;;
	*) run_suites test "$@" ;;
	esac
}

cmd_lint() {
	cmd_test lint lint-slow
}

# Only what the suites run is compiled: a small part of the tree. Ordinary memory serves: this runs beside others.
cmd_debug() {
	[ $# -gt 0 ] || set -- debug
	need_packages "${packages_test[@]}"
	compile_suites debug "$*" --buildtype=debug -Dsim_worlds=5000 -Dwalk_steps=10000000
	run_suites debug "$@"
}

cmd_sanitize() {
	need_packages "${packages_test[@]}"
	local status=0
	# A sanitizer that finds something ends the program, and so the test.
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	export ASAN_OPTIONS=detect_stack_use_after_return=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
	meson_test_options=(--timeout-multiplier 20)
	# Instrumented code draws warnings of its own; the plain builds of both compilers are the judges. Compiling takes half
	# of the time: little is optimised, and debug information is what a report wants.
	compile_suites asan "${suites_sanitize[*]}" -Doptimization=1 -Dc_args=-g1 -Dwerror=false \
		-Db_sanitize=address,undefined -Dsim_worlds=5000 -Dwalk_steps=10000000
	# Barriers in assembler are invisible to the thread sanitizer: have rings use what the compiler knows.
	compile_suites tsan tsan -Doptimization=1 -Dc_args='-g1 -DRTE_USE_C11_MEM_MODEL' -Dwerror=false \
		-Db_sanitize=thread -Dsim_worlds=1000
	[ "${1:-}" != --compile ] || return 0
	run_suites asan "${suites_sanitize[@]}" || status=1
	run_suites tsan tsan || status=1
	python3 test/testlog.py sum "$build_root"/{asan,tsan}/meson-logs/testlog.json || status=1
	return $status
}

cmd_compile_clang() {
	need_packages "${packages_clang[@]}"
	CC=clang compile clang --buildtype=plain
	say "clang has nothing to say"
}

cmd_simlong() {
	need_packages "${packages_test[@]}"
	only='test/sim/sim test/sim/sim_stall' compile release-tests --buildtype=release
	run_suites release-tests simlong
}

# Random steps on 1, 2 and 4 engines in turn beside a model, the seed random unless one is given; then real threads,
# the simulator, and breaks of the engine that somebody must notice.
cmd_soak() {
	[ "${1:-}" != --adversary ] || { shift; soak_adversary "$@"; return; }
	local steps=${1:-1000000000} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	case $steps,$seed in
	,* | *, | *[!0-9,]*) fail "'$steps' and '$seed' are not numbers; type: ./run.sh soak 1000000000 1" ;;
	esac
	need_packages "${packages_test[@]}"
	compile release-tests --buildtype=release
	say "walking; the same again: ./run.sh soak $steps $seed"
	"$build_root/release-tests/test/walk/walk" --steps "$steps" --seed "$seed" ||
		fail "the walk was violated: what, where and how to replay it stands above"
	say "a crowd of threads on one shared receive queue"
	"$build_root/release-tests/test/unit/test_srq_threads" 500000 ||
		fail "the threads found something: it stands above"
	say "a hundred million messages in the simulator"
	"$build_root/release-tests/test/sim/sim" --messages 100000000 1 ||
		fail "a world was violated: what, and how to replay it, stands above"
	say "breaking the engine on purpose, one rule after the other"
	python3 -B test/mutation/mutate.py || fail "a mutation survived: it stands above"
	run_suites release-tests modelsoak simlong long
}

# Consumers and a server among signals and strangers, for so many minutes.
soak_adversary() {
	local minutes=${1:-30} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	case $minutes,$seed in
	,* | *, | *[!0-9.,]* | *,*[!0-9]*) fail "'$minutes' and '$seed' are not numbers; type: ./run.sh soak --adversary 30 1" ;;
	esac
	need_packages "${packages_test[@]}"
	only="test/adversary/churn apps/dat-srqd lib/front/libdaplroce.so.1" compile release-tests --buildtype=release
	python3 -B test/adversary/adversary.py --build "$build_root/release-tests" --minutes "$minutes" --seed "$seed"
}

# New inputs and findings are left in build/fuzz/fuzz.
cmd_fuzz() {
	local seconds=${1:-60}
	case $seconds in
	'' | 0 | *[!0-9]*) fail "'$seconds' is not a number of seconds; type: ./run.sh fuzz 60" ;;
	esac
	need_packages "${packages_fuzz[@]}"
	only=fuzzers CC=clang compile fuzz -Dfuzz=true --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
	python3 test/fuzz/fuzz.py --build "$build_root/fuzz" --seconds "$seconds"
}

cmd_interop() {
	local lab=${ROCE_LAB:-test/lab/rxe-lab.sh} dir=$build_root/release-tests
	local providers='lib/front/libdaplroce.so.1 lib/front/libdaplroce.so.2'
	if [ -x "$lab" ] && [ "$(id -u)" -eq 0 ]; then
		need_packages "${packages_interop[@]}"
		configure release-tests --buildtype=release
		# A folder that was set up before librdmacm-dev came knows nothing of it.
		ninja -C "$dir" -t query test/live/live_guest >/dev/null 2>&1 ||
			meson setup --reconfigure "$dir" >"$dir/setup.log" 2>&1
		only="test/live/live_partner test/live/live_guest $providers" compile release-tests --buildtype=release
	fi
	python3 -B test/live/live.py --lab "$(realpath -m "$lab")" --partner "$(realpath -m "$dir/test/live/live_partner")" \
		--guest "$(realpath -m "$dir/test/live/live_guest")" \
		--libraries "$(realpath -m "$dir/lib/libdat"):$(realpath -m "$dir/lib/front")" \
		--work "$(realpath -m "$build_root/interop")" "$@"
}

# The lists of packages are those of Debian 12; what another release does not have is left out, and said.
cmd_newer() {
	local release=${1:-trixie}
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- "${suites_newer[@]}"
	[ "$(id -u)" -eq 0 ] || fail "a tree of another Debian wants root: type sudo ./run.sh newer $release"
	need_packages debootstrap
	test/clean-tree.sh "${UDAPL_ROCE_CLEAN_TREE:-$build_root/newer}/$release" --release "$release" \
		./run.sh test "$@"
}

cmd_clean() {
	say "removing $build_root/"
	rm -rf "$build_root"
}

main() {
	local command=${1:-help}
	[ $# -eq 0 ] || shift
	case $command in
	bench | compare | build | test | debug | lint | sanitize | simlong | soak | fuzz | interop | newer | clean)
		"cmd_$command" "$@"
		;;
	compile-clang) cmd_compile_clang ;;
	help | -h | --help) usage ;;
	*) usage >&2; fail "there is no command '$command'; the commands stand above" ;;
	esac
}

main "$@"
