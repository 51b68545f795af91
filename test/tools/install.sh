#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `./run.sh install` and `uninstall` (devtools/install.sh), with a build that is there already: what is listed is what
# came, it all goes again, and what others have in the same prefix stays.
#
#   install.sh BUILD WORK
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$2
rm -rf "$work"
mkdir -p "$work/build"
ln -s "$(realpath "$1")" "$work/build/release"
cd "$top"

build_root=$work/build
say() { echo "$*" >>"$work/said"; }
fail() {
	echo "$*" >>"$work/said"
	exit 1
}
cmd_build() { :; }
# shellcheck source=/dev/null
. devtools/packages.sh
# shellcheck source=/dev/null
. devtools/install.sh

wrong() {
	echo "install.sh: $*" >&2
	exit 1
}

tree() {
	(cd "$1" && find . | sort)
}

# Of others, one in a folder that is ours alone, and an empty folder that was there before.
prefix=$work/prefix
mkdir -p "$prefix/bin" "$prefix/lib/pkgconfig"
echo theirs >"$prefix/bin/theirs"
tree "$prefix" >"$work/before"

(cmd_install --prefix "$prefix") || wrong "install failed: $(cat "$work/said")"
[ -x "$prefix/bin/dat-perf" ] && [ -f "$prefix/lib/pkgconfig/dat.pc" ] && [ -e "$prefix/lib/libdat.so.1" ] ||
	wrong "programs, libraries or pkg-config files are missing"
[ -z "$(find "$prefix" -perm /022 ! -type l)" ] || wrong "others may write to what was installed"
(cd "$prefix" && find . ! -type d ! -path ./bin/theirs -printf 'file %P\n' | sort) >"$work/came"
grep '^file ' "$prefix/share/udapl-roce/installed" | sort | cmp - "$work/came" || wrong "the list is not what came"

# What an older version brought goes with the next one.
echo old >"$prefix/bin/dat-old"
echo 'file bin/dat-old' >>"$prefix/share/udapl-roce/installed"
(cmd_install "--prefix=$prefix") || wrong "a second install failed"
[ ! -e "$prefix/bin/dat-old" ] || wrong "a second install left what only the first one had"

echo notes >"$prefix/include/dat/notes"
(cmd_uninstall --prefix "$prefix") || wrong "uninstall failed"
[ -f "$prefix/include/dat/notes" ] || wrong "uninstall took a file of somebody else"
rm -r "$prefix/include"
tree "$prefix" | cmp - "$work/before" || wrong "uninstall left or took something"

(cmd_uninstall --prefix "$prefix") && wrong "uninstall of nothing succeeded"
grep -q 'has installed nothing below' "$work/said" || wrong "uninstall of nothing does not say so"

# A prefix that install makes goes with what is in it.
(cmd_install --prefix "$work/new/deep") && (cmd_uninstall --prefix "$work/new/deep") || wrong "a new prefix"
[ ! -e "$work/new/deep" ] || wrong "uninstall left the prefix that install had made"
rm -rf "$work"
