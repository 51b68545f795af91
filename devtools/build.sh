# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Build folders: set up by meson, compiled by ninja.
# shellcheck disable=SC2086 # targets are words in a string

# Meson takes ccache where it is installed. Its objects serve other clones, too: paths in the tree do not count.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# make_cache_writable: a user may have no home, or none to write to, and there ccache ends a compilation.
make_cache_writable() {
	local cache
	command -v ccache >/dev/null || return 0
	cache=$(ccache --get-config cache_dir 2>/dev/null) || cache=
	[ -n "$cache" ] && mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] && return
	CCACHE_DIR=$(realpath -m "$build_root")/ccache
	export CCACHE_DIR
}

# configure NAME [meson options]: sets build/NAME up, anew only when its options changed.
configure() {
	local dir=$build_root/$1
	shift
	local wanted="CC=${CC:-} $*"
	mkdir -p "$build_root" 2>/dev/null || true
	[ -w "$build_root" ] ||
		fail "$build_root/ belongs to somebody else: remove it, or set UDAPL_ROCE_BUILD to a folder of yours"
	make_cache_writable
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
