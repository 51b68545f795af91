#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion offers each option that a program's help tells of, for every program and every name, and the values that
# have a list; what perftest has and we refuse is not offered. zsh is asked by completion_zsh.py.
#
#   completion.sh FILE.bash FILE.zsh PROGRAM...
bash=$1
zsh=$2
shift 2
. "$(dirname "$0")/lib.sh"

bash -n "$bash" || complain "bash does not read $bash"
# shellcheck source=../../apps/completion/udapl-roce.bash
. "$bash" || complain "bash does not source $bash"

# offered WORD... : what is offered for the last word of a command line, in $out/offered.
offered() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_udapl_roce "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" >"$out/offered"
}

# has WORD COMMAND LINE...
has() {
	word=$1
	shift
	offered "$@"
	grep -qxF -e "$word" "$out/offered" || complain "'$word' is not offered for: $*"
}

# hasnot WORD COMMAND LINE...
hasnot() {
	word=$1
	shift
	offered "$@"
	! grep -qxF -e "$word" "$out/offered" || complain "'$word' is offered for: $*"
}

# options PROGRAM [MODE] : as the lines of its help begin, and where they name several.
options() {
	"$@" --help </dev/null | sed '/^Refused:$/,$d' >"$out/help"
	awk '/^ +-/ { for (i = 1; i <= NF && $i ~ /^-/; i++) { sub(/[=[,].*/, "", $i); print $i } }' "$out/help"
	grep -oE -- ' --[a-z-]+: the version' "$out/help" | tr -d ' ' | cut -d: -f1
}

export DAT_OVERRIDE=$out/dat.conf
printf '# none0 u1.2\nwire0 u1.2 threadsafe default lib.so.1 x.1.0 "" ""\nkern0 k1.2 x\n' >"$DAT_OVERRIDE"
perf=$1
folder=$(dirname "$1")
for program in "$@" "$folder"/dat_{send,write,read,atomic}_{bw,lat}; do
	name=$(basename "$program")
	complete -p "$name" >/dev/null 2>&1 || complain "nothing completes $name"
	grep -q "^#compdef.* $name\( \|\$\)" "$zsh" || complain "nothing completes $name in zsh"
	options "$program" | sort -u >"$out/options"
	[ "$(wc -l <"$out/options")" -ge 4 ] || complain "the help of $name has no options"
	offered "$program" -
	grep -vxF -f "$out/offered" "$out/options" >"$out/missing" &&
		complain "$name does not offer: $(tr '\n' ' ' <"$out/missing")"
	has --help "$program" --he
	hasnot --version "$program" --he
done
has --tx-depth "$perf" --perftest --tx
has -t "$perf" --perftest -
has --tx-depth "$perf" --tx
hasnot --rate_limit "$perf" --r
hasnot --rate_limit "$perf" --perftest --r
hasnot --rate_limit "$folder/dat_send_bw" --
has wire0 "$perf" -D ''
has loop0 "$perf" -D l
hasnot kern0 "$perf" -D ''
hasnot none0 "$perf" -D ''
has wire0 "$folder/dat_read_lat" -d w
hasnot wire0 "$folder/dat_read_lat" -D w
has wire0 "$perf" --ib-dev = w
has loop1 "$(dirname "$perf")/dat-info" lo
has write_lat "$perf" -t w
hasnot write_lat "$perf" --perftest -t w
has write_lat "$perf" --perftest = ''
has 1024 "$perf" -m ''
has message_rate "$folder/dat_send_bw" --output = m
mkdir "$out/folder"
has "$out/folder" "$(dirname "$perf")/roced" --dir "$out/fol"
has root "$(dirname "$perf")/roced" --group roo
echo >"$out/results.json"
has "$out/results.json" "$perf" --json = "$out/res"
finish
