# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Hugepages, reserved for the time of a command.

hugepages=/sys/kernel/mm/hugepages/hugepages-2048kB
reserved=0

# Reserves up to 512 pages of 2 MiB, at most a quarter of what memory is free, and gives back at the end what
# it reserved, not what was there before.
reserve_hugepages() {
	local before free want quarter
	free=$(cat "$hugepages/free_hugepages" 2>/dev/null || echo 0)
	quarter=$(awk '/^MemAvailable:/ { print int($2 / 4 / 2048) }' /proc/meminfo 2>/dev/null || echo 0)
	want=$((quarter < 512 ? quarter : 512))
	[ "$free" -lt "$want" ] || return 0
	if [ ! -w "$hugepages/nr_hugepages" ]; then
		[ "$free" -gt 0 ] || say "no hugepages and no right to reserve any: ordinary memory is used"
		return 0
	fi
	before=$(cat "$hugepages/nr_hugepages")
	trap release_hugepages EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	{ echo $((before + want - free)) >"$hugepages/nr_hugepages"; } 2>/dev/null || true
	reserved=$(($(cat "$hugepages/nr_hugepages") - before))
	if [ "$reserved" -gt 0 ]; then
		say "reserved $reserved hugepages of 2 MiB until the end of this run"
	else
		say "the kernel has no hugepages to give: ordinary memory is used"
	fi
}

release_hugepages() {
	[ "$reserved" -gt 0 ] || return 0
	local now left
	now=$(cat "$hugepages/nr_hugepages")
	left=$((now > reserved ? now - reserved : 0))
	{ echo "$left" >"$hugepages/nr_hugepages"; } 2>/dev/null || true
	reserved=0
}
