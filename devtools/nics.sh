# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh nics`: test/nics, DPDK's drivers of PCI NICs in emulated machines.

cmd_nics() {
	local lab=$build_root/interop/lab
	if [ "$(id -u)" -eq 0 ]; then
		need_packages "${packages_interop[@]}"
		cmd_build
		# The guest is that of `interop`, which may have built it.
		[ -d "$lab/rootfs" ] || RXE_LAB_DIR=$(realpath -m "$lab") test/lab/rxe-lab.sh build ||
			fail "the guest of the lab cannot be built"
	fi
	python3 -B test/nics/nics.py --lab "$lab" --build "$build_root/release" --work "$build_root/nics" "$@"
}
