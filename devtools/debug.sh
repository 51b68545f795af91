# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh debug`: suites without optimisation.

# Only what the suites run is compiled: a small part of the tree. Ordinary memory serves: this runs beside others.
cmd_debug() {
	[ $# -gt 0 ] || set -- debug
	need_packages "${packages_test[@]}"
	compile_suites debug "$*" --buildtype=debug -Dsim_worlds=5000 -Dwalk_steps=10000000
	run_suites debug "$@"
}
