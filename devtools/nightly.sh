# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh nightly`: every suite in every form, behind each other; goes on behind a failure and keeps its logs.
# UDAPL_ROCE_CLEAN_TREE=DIR also runs bench and test in two bare Debian trees made below DIR (root, debootstrap);
# UDAPL_ROCE_NEWER='trixie testing' also tests with the DPDK of these releases of Debian, in trees of their own.

# The seconds are those of two processors with nothing else to do and a compiler cache that is warm, rounded up.
cmd_nightly() (
	set +e
	logs=$build_root/nightly
	mkdir -p "$logs" || fail "the folder $logs for logs cannot be made"
	. devtools/steps.sh
	step test 700 ./run.sh test --all
	step sanitize 950 ./run.sh sanitize
	step clang 300 ./run.sh compile-clang
	step tidy 700 ./run.sh test lint-slow
	step debug 150 ./run.sh debug
	step simlong 300 ./run.sh simlong
	step long 600 ./run.sh test long
	step crowd 400 ./run.sh soak --crowd
	step fuzz 1400 ./run.sh fuzz 600 local roced
	step package 400 ./run.sh package --check
	step instructions 300 ./run.sh bench --instructions
	step bench 300 ./run.sh bench
	step interop 400 ./run.sh interop --short
	step nics 900 ./run.sh nics --short
	if [ -n "${UDAPL_ROCE_CLEAN_TREE:-}" ]; then
		step clean-bench 1200 devtools/clean-tree.sh "$UDAPL_ROCE_CLEAN_TREE/bench" ./run.sh bench
		step clean-bench-user 1200 devtools/clean-tree.sh "$UDAPL_ROCE_CLEAN_TREE/bench" --user ./run.sh bench
		step clean-test 2400 devtools/clean-tree.sh "$UDAPL_ROCE_CLEAN_TREE/test" ./run.sh test --all
	fi
	for release in ${UDAPL_ROCE_NEWER:-}; do
		step "newer-$release" 3600 ./run.sh newer "$release"
	done
	finish
)
