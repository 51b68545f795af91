# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh compile-clang`: the second compiler, whose warnings are errors as well.

cmd_compile_clang() {
	need_packages "${packages_clang[@]}"
	CC=clang compile clang --buildtype=plain
	say "clang has nothing to say"
}
