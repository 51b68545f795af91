#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The commands of this tree, for Debian 12, as root or not. `./run.sh` lists them.
# No command asks a question. Missing packages are installed with apt-get, by sudo if this user is not root; sudo does nothing else.
# A newcomer's commands are in this file; every other command NAME is in devtools/NAME.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Debian's own tools first: they are the ones installed here. A bare tree has no locale but this one.
export PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1

build_root=${UDAPL_ROCE_BUILD:-build}

usage() {
	cat <<'END'
usage: ./run.sh COMMAND

  bench [dat-perf options]  build (release) and run the messaging benchmark on the embedded loopback wire
  bench --suite [options]   the cost of a message stage by stage, and its ratio to the bare wire (test/bench)
  bench --floor [options]   dat-perf relative to the least that the same messages can cost
  bench --loss [options]    goodput over loss and reordering, as shares of that without faults
  bench --memif [options]   two processes over net_memif and two threads, and the bare wire between their cores
  bench --processes [options]
                            processes of one host over roce0, alone and beside idle ones, and UCX over shared memory
  bench --instructions [--write]
                            count the instructions of a message by layer, under valgrind, and compare them with the
                            figures in the tree; --write: replace these figures
  bench --curves [options]  dat-perf over sizes, endpoints, depths, loss, cores and path MTUs, as JSON and drawings
  compare [--rounds N] [--seconds S] [--sizes BYTES,...] [--markdown]
                            dat-perf next to UCX, libfabric and kernel TCP on this machine (devtools/compare)
  test [--gate | --all] [suite ...]
                            build and run the tests: unit sim model walk conf contract verbs abi fuzz; --gate: also
                            vdev recipes tools apps verbs-programs lint, as in .ci/run; --all: all of these in
                            every form, also on several engines; with names: only these suites
  gate [--disturbed] [COMMIT]
                            .ci/run as in CI, on a clone of HEAD or of COMMIT; --disturbed: beside two busy processes,
                            and with processes of the tests stopped now and then
  nightly                   every suite in every form, other compilers and builds, packages, benchmarks, Linux: hours
  build                     build everything (release)
  install [--prefix DIR]    build and install: below /usr/local, or below DIR
  uninstall [--prefix DIR]  remove the files that install put there
  package [option]          Debian packages in build/package, checked by lintian; --check: try them in a bare Debian;
                            --first [release]: run docs/start.md with them in one (root, debootstrap)
  docs                      guides and manual pages as HTML, in build/docs
  dashboard                 draw the Grafana dashboard of running programs, by Prometheus and matplotlib
  lint                      style, layers, symbols, headers, spelling, and clang-tidy
  debug [suite ...]         build without optimisation and run the tests of whole answers (debug), or the named suites
  sanitize [--gate]         tests under address + undefined, the thread tests under the thread sanitizer; with --gate
                            unit contract verbs fuzz in one form each, and the thread tests
  compile-clang             compile everything with clang, warnings as errors
  simlong                   the long run of the simulator, release build
  soak [steps [seed]]       10^9 random steps over the shared receive queue, threads on it, every order of more of
                            them (test/model), simlong, the long tests of OFED's tools, 10^8 messages of the
                            simulator, and every break of the engine that a test must notice (test/mutation)
  soak --adversary [minutes [seed]]
                            for 30 minutes, or so many: servers, and consumers whose counts are all checked, are killed,
                            stopped and interrupted among hostile peers and unknown processes (test/adversary)
  soak --crowd [seconds [seed]]
                            for 300 seconds, or so many: 64 processes on roce0, all to all, each byte checked, while ten
                            a second are killed (test/adversary)
  fuzz [seconds [name ...]] the fuzzers (clang, libFuzzer), each for so many seconds (60)
  interop [--short] [--long] [--only WORDS] [--list] [--times] [--release NAME]
                            against Linux: a guest with the kernel's RoCE on an emulated machine (root, QEMU), of
                            this host's Debian or of another one (trixie: Linux 6.12)
  nics [--short] [--only WORDS] [--list]
                            DPDK's drivers of PCI NICs, which an emulated machine has (root, QEMU)
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

for part in packages hugepages autogroup build suites train; do
	# shellcheck source=/dev/null
	. "devtools/$part.sh"
done

cmd_build() {
	need_packages "${packages_build[@]}"
	compile_trained release -Dtests=false -Dprefix=/usr/local -Drelocatable=true -Dpkgconfig.relocatable=true
	say "programs are in $build_root/release/apps, libraries in $build_root/release/lib"
}

cmd_test() {
	case " $* " in
	*' lint-slow '*) need_packages "${packages_lint[@]}" ;;
	*) need_packages "${packages_test[@]}" ;;
	esac
	compile test --buildtype=debugoptimized -Dsim_worlds=20000 -Dwalk_steps=60000000
	# A suite that only reads needs none, and would take them from under others at its end.
	case " $* " in
	' lint-slow ' | ' lint ' | ' lint lint-slow ') ;;
	*) reserve_hugepages ;;
	esac
	# The first two have the suites that test/meson.build gives them.
	case "$*" in
	'') run_tests test testlog ;;
	--gate) run_tests test testlog-gate --setup gate ;;
	--all) run_tests test testlog-all --setup all ;;
	*) run_suites test "$@" ;;
	esac
}

cmd_lint() {
	cmd_test lint lint-slow
}

cmd_clean() {
	say "removing $build_root/"
	rm -rf "$build_root"
}

main() {
	local command=${1:-help}
	[ $# -eq 0 ] || shift
	case $command in
	build | test | lint | clean) ;;
	install | uninstall)
		# shellcheck source=/dev/null
		. devtools/install.sh
		;;
	bench | compare | dashboard | debug | docs | gate | nightly | package | sanitize | compile-clang | simlong | soak | fuzz | interop | nics | newer)
		# shellcheck source=/dev/null
		. "devtools/$command.sh"
		;;
	help | -h | --help)
		usage
		return
		;;
	*)
		usage >&2
		fail "there is no command '$command'; the list above has all commands"
		;;
	esac
	"cmd_${command//-/_}" "$@"
}

main "$@"
