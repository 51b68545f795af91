# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh soak`: hours of random steps, threads, messages, mutations; the adversarial mix, and the crowd (test/adversary).

# Random steps on 1, 2 and 4 engines in turn beside a model, the seed random unless one is given; then real threads,
# the simulator, and breaks of the engine that somebody must notice.
cmd_soak() {
	case "${1:-}" in
	--adversary) shift; soak_adversary "$@"; return ;;
	--crowd) shift; soak_crowd "$@"; return ;;
	esac
	local steps=${1:-1000000000} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	case $steps,$seed in
	,* | *, | *[!0-9,]*) fail "'$steps' and '$seed' are not numbers; type: ./run.sh soak 1000000000 1" ;;
	esac
	need_packages "${packages_test[@]}"
	compile release-tests --buildtype=release
	say "walking; the same again: ./run.sh soak $steps $seed"
	"$build_root/release-tests/test/walk/walk" --steps "$steps" --seed "$seed" ||
		fail "the walk was violated: what, where and how to replay it stands above"
	say "a crowd of threads on one shared receive queue"
	"$build_root/release-tests/test/unit/test_srq_threads" 500000 ||
		fail "the threads found something: it stands above"
	say "a hundred million messages in the simulator"
	"$build_root/release-tests/test/sim/sim" --messages 100000000 1 ||
		fail "a world was violated: what, and how to replay it, stands above"
	say "breaking the engine on purpose, one rule after the other"
	python3 -B test/mutation/mutate.py || fail "a mutation survived: it stands above"
	run_suites release-tests modelsoak simlong long
}

# Consumers and a server among signals and strangers, for so many minutes.
soak_adversary() {
	local minutes=${1:-30} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	case $minutes,$seed in
	,* | *, | *[!0-9.,]* | *,*[!0-9]*) fail "'$minutes' and '$seed' are not numbers; type: ./run.sh soak --adversary 30 1" ;;
	esac
	need_packages "${packages_test[@]}"
	only="test/adversary/churn test/adversary/victim test/adversary/waiter apps/dat-srqd apps/dat-info lib/front/libdaplroce.so.1" \
		compile release-tests --buildtype=release
	without_autogroup python3 -B test/adversary/adversary.py --build "$build_root/release-tests" --minutes "$minutes" --seed "$seed"
}

# Many processes on roce0, of which ten a second are killed, for so many seconds.
soak_crowd() {
	local seconds=${1:-300} seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	case $seconds,$seed in
	,* | *, | *[!0-9,]*) fail "'$seconds' and '$seed' are not numbers; type: ./run.sh soak --crowd 300 1" ;;
	esac
	need_packages "${packages_test[@]}"
	only="test/adversary/crowd apps/roced lib/front/libdaplroce.so.1" compile release-tests --buildtype=release
	without_autogroup python3 -B test/adversary/crowd.py --build "$build_root/release-tests" --seconds "$seconds" --seed "$seed"
}
