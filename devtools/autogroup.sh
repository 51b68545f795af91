# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The kernel's scheduler by sessions (sched_autogroup), left out for the time of a command.

autogroup=/proc/sys/kernel/sched_autogroup_enabled
autogroup_before=

# Meson gives each test a session. Linux 6.18 with sched_autogroup does not charge a session for a process that polls beside
# others which wake each millisecond: all other sessions waited for a processor for ten seconds and more. As root the
# scheduler has no such groups until give_autogroup_back(); others run their tests as the machine is.
leave_autogroup_out() {
	[ "$(cat "$autogroup" 2>/dev/null)" = 1 ] && [ -w "$autogroup" ] || return 0
	{ echo 0 >"$autogroup"; } 2>/dev/null || return 0
	autogroup_before=1
}

give_autogroup_back() {
	[ -z "$autogroup_before" ] || echo "$autogroup_before" >"$autogroup"
	autogroup_before=
}

# without_autogroup COMMAND... : its status.
without_autogroup() (
	trap give_autogroup_back EXIT
	leave_autogroup_out
	"$@"
)
