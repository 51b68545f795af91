# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# How the scripts of the tests wait: for a condition, with one limit for all of them, which only what hangs reaches.
# limit.py and limit.h are the same for Python and C.

# Seconds that one step may take. Where machines are slower, so is all that is waited for.
limit=${ROCE_TEST_LIMIT:-120}
export ROCE_TEST_LIMIT="$limit"

# seconds : on a clock that nobody sets.
seconds() {
	read -r up _ </proc/uptime
	echo "${up%.*}"
}

# but_first WORD COMMAND... : the command.
but_first() {
	shift
	"$@"
}

# wait_until COMMAND... : the command succeeds. False: it has not within the limit. The command may wait so itself: the end
# of this wait is kept where that does not reach.
wait_until() {
	set -- $(($(seconds) + limit)) "$@"
	until but_first "$@"; do
		[ "$(seconds)" -le "$1" ] || return 1
		sleep 0.05
	done
}

# gone PID : the process has ended, whether or not somebody has waited for it.
gone() {
	! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"
}

# printed WORDS FILE
printed() {
	grep -qs -e "$1" "$2"
}

# printed_or_gone WORDS FILE PID
printed_or_gone() {
	printed "$1" "$2" || gone "$3"
}

# until_said WORDS FILE PID : the program has printed them. False: it ended without, or does not print them.
until_said() {
	wait_until printed_or_gone "$@"
	printed "$1" "$2"
}

# wait_for FILE PID : the program has printed anything. False: it ended without, or prints nothing.
wait_for() {
	until_said . "$@"
}

# end_of PID : the status with which a child ends by itself. One that hangs is killed. A crash is told on the script's standard
# output whatever the caller does with the status: such a test is not tried again (devtools/testlog.py).
end_of() {
	wait_until gone "$1" || kill -KILL "$1" 2>/dev/null
	wait "$1"
	set -- $?
	case $1 in
	13[1-6] | 139 | 159) echo "FAIL: a process ended with $1" ;;
	esac
	return "$1"
}
