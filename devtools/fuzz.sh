# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh fuzz`: the fuzzers of test/fuzz, by clang and libFuzzer.

# New inputs and findings are left in build/fuzz/fuzz. Behind the seconds: which fuzzers, all unless some are named.
cmd_fuzz() {
	local seconds=${1:-60}
	case $seconds in
	'' | 0 | *[!0-9]*) fail "'$seconds' is not a number of seconds; type: ./run.sh fuzz 60" ;;
	esac
	[ $# -eq 0 ] || shift
	need_packages "${packages_fuzz[@]}"
	only=fuzzers CC=clang compile fuzz -Dfuzz=true --buildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
	python3 test/fuzz/fuzz.py --build "$build_root/fuzz" --seconds "$seconds" "$@"
}
