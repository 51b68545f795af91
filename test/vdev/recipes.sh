#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of docs/recipes.md, as they stand there: setup, files, commands, what they print, undo.
#
#   recipes.sh python3 dat-perf PAGE RECIPE [user]    user: root becomes an ordinary one for the commands
#   recipes.sh python3 dat-perf PAGE all RECIPE...    these are all the recipes of the page
#
# The output is compared with the block `prints`, or `resembles`, in which decimal fractions, which are measured, may differ.
. "$(dirname "$0")/lib.sh"
. "$here/blocks.sh"
page=$3
recipe=$4

if [ "$recipe" = all ]; then
	shift 4
	wanted=$(printf '%s\n' "$@" | sort)
	found=$(parts | cut -d' ' -f1 | sort -u)
	[ "$wanted" = "$found" ] || complain "the page has the recipes" $found "and the tests" $wanted
	[ "$(grep -c '^<!-- recipe' "$page")" -eq "$(parts | wc -l)" ] || complain "a mark of a recipe is not understood"
	finish
fi

page=$(realpath "$page")
perf=$(realpath "$perf")
PATH=$(dirname "$perf"):$PATH
export PATH
own_network "$0" "$@"
if [ "$(parts | grep -cE "^$recipe (run|prints|resembles)$")" -lt 2 ]; then
	complain "the page has no recipe $recipe"
	finish
fi
# As on any machine.
ip link set lo up || skip "the loopback interface stays down"
# For names of network namespaces, and what DPDK writes as root, also of a user namespace.
mount -t tmpfs tmpfs /run || skip "no file system of our own on /run"
cd "$work" || exit 1
as=
if [ "$5" = user ]; then
	command -v setpriv >/dev/null || skip "setpriv is missing (package util-linux)"
	[ "$(awk 'NR == 1 { print $2 }' /proc/self/uid_map)" = 0 ] || skip "this is an ordinary user already"
	as="setpriv --reuid=65534 --regid=65534 --clear-groups --"
	$as "$perf" --version >/dev/null 2>&1 || skip "an ordinary user cannot run $perf"
	chown 65534:65534 "$work"
fi
# The run-time folder of net_memif and roced is of this test alone.
export XDG_RUNTIME_DIR="$work"
for part in $(parts | sed -n "s/^$recipe //p"); do
	block "$part" >"$part"
done

no_other_interface() {
	! ip -o link | grep -qv ' lo:'
}

! grep -qw dumpcap run || command -v dumpcap >/dev/null || skip "dumpcap is missing (package wireshark-common)"
if [ -e setup ]; then
	sh -e setup >setup.err 2>&1 || skip "the network cannot be made: $(cat setup.err)"
fi
# A process group of their own, which ends whatever they did not end.
timeout "$limit" $as sh -e run >printed 2>errors </dev/null &
group=$!
wait "$group"
status=$?
kill -s KILL -- "-$group" 2>/dev/null && complain "processes are left"
[ "$status" -eq 0 ] || complain "the commands exit with $status: $(cat errors)"
if [ -e resembles ]; then
	constant resembles >prints
	constant printed >printed.constant
	mv printed.constant printed
fi
cmp -s prints printed || complain "printed: $(cat printed)"
if [ -e undo ]; then
	sh -e undo || complain "what was set up cannot be undone"
	# What is in a namespace goes a moment after its name.
	wait_until no_other_interface || complain "interfaces are left: $(ip -o link)"
fi
finish
