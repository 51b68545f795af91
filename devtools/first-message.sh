#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The first message of each reader of docs/start.md, on a machine that is a bare tree for this test alone: root installs our
# packages, an ordinary user runs the commands of the page. Prints a row of a table for each, and ends with their count.
#
#   first-message.sh DIR        DIR has the packages
set -uo pipefail
page=$PWD/docs/start.md
# shellcheck source=/dev/null
. test/vdev/blocks.sh
cd "$1" || exit 1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# Seconds, for what hangs: a busy machine is no failure.
limit=${ROCE_TEST_LIMIT:-120}
passed=0 failed=0
log=$(mktemp)
apt=$(mktemp)
echo 'APT::Get::Assume-Yes "true"; quiet "2"; Dpkg::Use-Pty "false";' >"$apt"

# row NAME COMMANDS FUNCTION...: runs it in this shell, and prints its seconds; all that it said if it fails.
row() {
	local name=$1 commands=$2 since=${EPOCHREALTIME/./} status
	shift 2
	"$@" >"$log" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		passed=$((passed + 1))
		awk -v n="$name" -v c="$commands" -v us=$((${EPOCHREALTIME/./} - since)) 'BEGIN { printf "| %s | %d | %.1f |\n", n, c, us / 1e6 }'
	else
		failed=$((failed + 1))
		cat "$log"
		printf 'failed: %s, exit status %s\n' "$name" $status
	fi
}

# install_packages: by the command of the page, as root, here in the folder of the packages.
install_packages() {
	block packages | sed 's/^sudo //; s,build/package/,,' | APT_CONFIG=$apt sh -e
}

# install_all: a bare tree knows no packages yet.
install_all() {
	apt-get -qq update && install_packages
}

# first_message RECIPE: the files and commands of the page in an empty home; the output must be that of the page.
first_message() {
	local recipe=$1 home part said
	install_packages || return
	home=$(mktemp -d)
	for part in $(parts | sed -n "s/^$recipe //p"); do
		block "$part" >"$home/$part"
	done
	chown -R 1000:1000 "$home"
	(cd "$home" && timeout "$limit" setpriv --reuid=1000 --regid=1000 --clear-groups --pdeathsig KILL \
		env -i PATH=/usr/bin:/bin HOME="$home" XDG_RUNTIME_DIR="$home" sh -e run >printed) || return
	cat "$home/printed"
	said=$home/prints
	[ -e "$said" ] || said=$home/resembles
	diff <(constant "$said") <(constant "$home/printed")
}

# commands RECIPE: how many lines of its blocks are commands; a file that the page shows counts as one, to write it.
commands() {
	local recipe=$1
	{
		block packages
		block run
		parts | grep -E "^$recipe [a-z]+\.[a-z]+$"
	} | grep -vc '^#'
}

printf '| %s, load %s | commands | seconds |\n|---|---|---|\n' "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" \
	"$(cut -d ' ' -f 1 /proc/loadavg)"
recipe=install
row install 1 install_all
for recipe in $(parts | sed -n 's/ run$//p'); do
	row "$recipe" "$(commands "$recipe")" first_message "$recipe"
done
rm -f "$log" "$apt"
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed -eq 0 ]
