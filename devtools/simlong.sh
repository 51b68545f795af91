# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh simlong`: the big run of the simulator.

cmd_simlong() {
	need_packages "${packages_test[@]}"
	only='test/sim/sim test/sim/sim_stall' compile release-tests --buildtype=release
	run_suites release-tests simlong
}
