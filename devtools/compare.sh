# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh compare`: ours beside UCX, libfabric and kernel TCP, by compare/compare.py.
. devtools/bench.sh

# A peer that cannot be installed is missing in the table, which says so.
cmd_compare() {
	(need_packages "${packages_compare[@]}") || say "going on without what is missing"
	build_benchmarks
	python3 devtools/compare/compare.py --build "$build_root/release-bench" --out "$build_root/bench" "$@"
}
