# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh newer`: suites in a bare tree of a newer Debian.

suites_newer=(unit sim model walk conf vdev contract verbs abi)

cmd_newer() {
	local release=${1:-trixie}
	[ $# -eq 0 ] || shift
	[ $# -gt 0 ] || set -- "${suites_newer[@]}"
	[ "$(id -u)" -eq 0 ] || fail "a tree of another Debian wants root: type sudo ./run.sh newer $release"
	need_packages debootstrap
	devtools/clean-tree.sh "${UDAPL_ROCE_CLEAN_TREE:-$build_root/newer}/$release" --release "$release" \
		./run.sh test "$@"
}
