# SPDX-License-Identifier: BSD-3-Clause
# bash completion of the programs of udapl-roce. A program's help says which options it has; refused ones are not offered.
# shellcheck shell=bash

# Print the options of a program, one a line.
_udapl_roce_options() {
	"$@" --help 2>/dev/null </dev/null | sed '/^Refused:$/,$d' |
		grep -oE -- '(^|[[:blank:](,[])--?[[:alpha:]][[:alnum:]_-]*' | sed 's/^[^-]*//' | sort -u
}

# Print those of the program on the command line. dat-perf takes perftest's long ones besides its own.
_udapl_roce_offer() {
	_udapl_roce_options "$program" "${mode[@]}"
	[ "${program##*/}:$letters" != dat-perf:own ] || _udapl_roce_options "$program" --perftest | grep '^--'
}

# Print the names of the adapters.
_udapl_roce_adapters() {
	local conf=${DAT_OVERRIDE:-/etc/dat.conf}
	printf '%s\n' loop0 loop1
	[ ! -r "$conf" ] || awk '$1 !~ /^#/ && $2 ~ /^u1/ { print $1 }' "$conf"
}

# _udapl_roce_values OPTION CURRENT : the values of an option of $program, in $COMPREPLY. Status 1: it has none to offer.
_udapl_roce_values() {
	local tests="send_bw send_lat write_bw write_lat read_bw read_lat atomic_bw atomic_lat" words
	case $letters:$1 in
	*:--ib-dev | own:-D | perftest:-d) words=$(_udapl_roce_adapters) ;;
	*:--perftest | own:-t) words=$tests ;;
	*:--mtu | *:-m) words="256 512 1024 2048 4096" ;;
	*:--output) words="bandwidth message_rate latency" ;;
	own:--cores) words="1 2" ;;
	other:--dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$2")
		return 0
		;;
	other:--group)
		mapfile -t COMPREPLY < <(compgen -g -- "$2")
		return 0
		;;
	*:--json | *:--out_json_file | *:--socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		return 0
		;;
	*) return 1 ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2")
}

_udapl_roce() {
	local program=$1 current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} letters=own mode=()
	COMPREPLY=()
	# Bash makes three words of --option=value. An optional value comes in no other way.
	if [ "$current" = = ]; then
		current=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	elif [ "$before" = --perftest ] || [ "$before" = --json ]; then
		before=
	fi
	case ${program##*/} in
	dat_*) letters=perftest ;;
	dat-perf) [ "${COMP_WORDS[1]}" != --perftest ] || [ "$COMP_CWORD" -eq 1 ] || letters=perftest mode=(--perftest) ;;
	roce-embed | roce-replay | roced) letters=other ;; # their letters are none of these
	esac
	! _udapl_roce_values "$before" "$current" || return 0
	case ${program##*/}:$current in
	*:-*) mapfile -t COMPREPLY < <(compgen -W "$(_udapl_roce_offer)" -- "$current") ;;
	dat-info:*) mapfile -t COMPREPLY < <(compgen -W "$(_udapl_roce_adapters)" -- "$current") ;;
	roce-embed:* | roce-replay:* | roced:*) ;;
	*) mapfile -t COMPREPLY < <(compgen -A hostname -- "$current") ;;
	esac
}

# A command of its own stands behind it.
_udapl_roce_run() {
	local current=${COMP_WORDS[COMP_CWORD]}
	if [ "$COMP_CWORD" -eq 1 ] && [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "--env --help --version" -- "$current")
	elif [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -A command -- "$current")
	elif declare -F _command_offset >/dev/null; then
		_command_offset 1
	else
		mapfile -t COMPREPLY < <(compgen -A file -- "$current")
	fi
}

complete -F _udapl_roce_run roce-run
complete -F _udapl_roce dat-perf dat-ping dat-info dat-srqd roce-embed roce-replay roced \
	dat_send_bw dat_send_lat dat_write_bw dat_write_lat dat_read_bw dat_read_lat dat_atomic_bw dat_atomic_lat
