#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs one test apart from all others, so that tests run side by side and leave nothing behind: the network has a loopback
# interface only, process ids and /run are the test's own, and TMPDIR is a folder that goes with it. Processes that the
# test started end with it, also when it is killed. meson runs every test by this script (test/meson.build).
#
#   apart.sh COMMAND...      exits as the command does; a command that a signal ended: 128 and its number
#   apart.sh --can           exits with 0 if namespaces are to be had here
#
# Root needs no more; other users stay who they are in a user namespace, where the kernel allows that. Elsewhere a test
# has only the folder of its own, and devtools/suites.sh runs one test at a time.
PATH=$PATH:/usr/sbin:/sbin

# own COMMAND... : the namespaces. The shell in between is the first process, to which signals mean nothing by default.
own() {
	if [ "$(id -u)" -eq 0 ]; then
		set -- sh -c 'ip link set lo up; mount -t tmpfs -o mode=755 tmpfs /run; "$@"; exit' apart "$@"
		user=
	else
		set -- sh -c 'ip link set lo up; setpriv --inh-caps=-all --ambient-caps=-all "$@"; exit' apart "$@"
		user='--user --map-current-user --keep-caps'
	fi
	# shellcheck disable=SC2086 # options are words
	unshare $user --mount --propagation private --net --pid --fork --kill-child --mount-proc "$@"
}

if [ "$1" = --can ]; then
	own true 2>/dev/null
	exit
fi
# Some callers ignore signals, as nohup does. A test begins with none ignored, so that its programs end as users see it.
set -- env --default-signal "$@"
room=$(mktemp -d "${TMPDIR:-/tmp}/t.XXXXXX") || exit
# Tests that are other users for a while pass through it.
chmod 755 "$room"
trap 'rm -rf "$room"' EXIT
trap 'exit 143' HUP INT TERM
export TMPDIR="$room" XDG_RUNTIME_DIR="$room"
case ${ROCE_TEST_APART:-$("$0" --can && echo yes)} in
yes) own "$@" ;;
*) "$@" ;;
esac
