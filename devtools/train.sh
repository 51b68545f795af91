# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Training: a build that counts where its programs go, and the build that is compiled by these counts.
# shellcheck disable=SC2086 # targets are words in a string

# Link-time optimisation takes functions from one layer into another: 64 bytes cost 5 % less.
fastest=(--buildtype=release -Db_lto=true)

# train BUILD: short runs of all that moves messages, in a build that counts (-Db_pgo=generate). What is not run here is
# compiled as without training.
train() (
	build=$(realpath "$1") || exit
	# A machine's own configuration is no business of ours, and counts must not depend on it.
	export LD_LIBRARY_PATH=$build/lib/libdat:$build/lib/front:$build/lib/roce DAT_OVERRIDE=
	while read -ra options; do
		"$build/apps/dat-perf" "${options[@]}" </dev/null >/dev/null || exit
	done <<-END
		-s 64 -n 200000
		-s 64 -n 100000 --no-srq
		-s 64 -n 200000 -q 64
		-s 64 -n 100000 -q 1024
		-s 1024 -n 50000
		-s 4096 -n 50000
		-s 65536 -n 4000
		-s 65536 -n 4000 -m 1024
		-s 64 -n 50000 -b
		-s 4096 -n 20000 --loss 5000
		-t write_bw -s 64 -n 50000
		-t write_bw -s 65536 -n 4000
		-t read_bw -s 64 -n 50000
		-t read_bw -s 65536 -n 4000
		-t atomic_bw -s 8 -n 20000
		-t write_lat -s 64 -n 20000
		-t send_lat -s 64 -n 50000
	END
)

# compile_trained NAME [meson options]: the fastest build/NAME, made twice, since the first one only counts where its
# programs go: 64 bytes cost 10 % less. A change makes all of it anew.
compile_trained() {
	local dir=$build_root/$1 wanted="${CC:-} $* $only"
	[ "$(cat "$dir/.trained" 2>/dev/null)" != "$wanted" ] ||
		! ninja -C "$dir" -n $only | grep -q '^ninja: no work to do' || return 0
	rm -rf "$dir"
	# Counts lie beside the objects that they are of, by the whole path.
	local -x CCACHE_DISABLE=1
	# Gcc's warnings are judged in the other builds: with counts it sees ways that nothing takes.
	compile "$@" "${fastest[@]}" -Db_pgo=generate -Dwerror=false
	say "training $dir"
	train "$dir" || fail "$dir could not be trained: the reason stands above"
	meson configure "$dir" -Db_pgo=use -D{c_args,c_link_args}='-fprofile-partial-training -w' >>"$dir/setup.log" ||
		fail "meson could not configure $dir"
	say "compiling $dir again"
	ninja -C "$dir" --quiet $only >>"$dir/setup.log" || { cat "$dir/setup.log" >&2; fail "$dir does not compile"; }
	printf '%s' "$wanted" >"$dir/.trained"
}
