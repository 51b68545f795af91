#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# systemd takes all units without a word, and finds those of the system hardened.
#
#   units.sh roced SYSTEM-UNIT USER-UNIT UPLINK-UNIT SYSUSERS-FILE
roced=$(realpath "$1")
system=$2
user=$3
uplink=$4
sysusers=$5
. "$(dirname "$0")/../apps/lib.sh"

command -v systemd-analyze >/dev/null || { echo "systemd-analyze is missing (package systemd)"; exit 77; }

# Where the program is, so that the unit can be checked before it is installed.
here() {
	sed "s|^ExecStart=[^ ]*/roced|ExecStart=$roced|" "$1" >"$out/$2"
	grep -q "^ExecStart=$roced" "$out/$2" || complain "$1 does not start roced"
}
here "$system" roced.service
here "$user" roced-user.service
here "$uplink" roced-uplink.service
systemd-analyze verify --man=no "$out/roced.service" >"$out/said" 2>&1 || complain "verify of the system unit fails"
[ ! -s "$out/said" ] || complain "the system unit: $(cat "$out/said")"
systemd-analyze verify --man=no "$out/roced-uplink.service" >"$out/said" 2>&1 || complain "verify of the unit with an uplink fails"
[ ! -s "$out/said" ] || complain "the unit with an uplink: $(cat "$out/said")"
HOME=$out XDG_RUNTIME_DIR=$out systemd-analyze verify --user --man=no "$out/roced-user.service" >"$out/said" 2>&1 ||
	complain "verify of the user unit fails"
[ ! -s "$out/said" ] || complain "the user unit: $(cat "$out/said")"

# 0 is the best; 10 a service as it is. Older ones cannot say it of a file.
for unit in roced:10 roced-uplink:40; do
	if systemd-analyze security --offline=true --threshold="${unit#*:}" "$out/${unit%:*}.service" >"$out/said" 2>&1; then
		:
	elif grep -q "offline" "$out/said"; then
		echo "systemd-analyze has no --offline"
	else
		complain "the unit ${unit%:*} is exposed: $(tail -1 "$out/said")"
	fi
done
systemd-sysusers --dry-run "$sysusers" >"$out/said" 2>&1 || complain "sysusers: $(cat "$out/said")"

finish
