#compdef dat-perf dat-ping dat-info dat-srqd roce-embed roce-replay roce-run roced dat_send_bw dat_send_lat dat_write_bw dat_write_lat dat_read_bw dat_read_lat dat_atomic_bw dat_atomic_lat
# SPDX-License-Identifier: BSD-3-Clause
# zsh completion of the programs of udapl-roce. A program's help says which options it has; refused ones are not offered.

# Print the options of a program, one a line.
_udapl_roce_options() {
	"$@" --help 2>/dev/null </dev/null | sed '/^Refused:$/,$d' |
		grep -oE -- '(^|[[:blank:](,[])--?[[:alpha:]][[:alnum:]_-]*' | sed 's/^[^-]*//' | sort -u
}

# Print those of the program on the command line. dat-perf takes perftest's long ones besides its own.
_udapl_roce_offer() {
	_udapl_roce_options $program $mode
	[[ ${program:t}:$letters != dat-perf:own ]] || _udapl_roce_options $program --perftest | grep '^--'
}

# Print the names of the adapters.
_udapl_roce_adapters() {
	local conf=${DAT_OVERRIDE:-/etc/dat.conf}
	print -l loop0 loop1
	[[ ! -r $conf ]] || awk '$1 !~ /^#/ && $2 ~ /^u1/ { print $1 }' $conf
}

# Offer the values of the option $1. Status 1: it has none to offer.
_udapl_roce_values() {
	case $letters:$1 in
	*:--ib-dev | own:-D | perftest:-d) compadd -- ${(f)"$(_udapl_roce_adapters)"} ;;
	*:--perftest | own:-t) compadd -- {send,write,read,atomic}_{bw,lat} ;;
	*:--mtu | *:-m) compadd -- 256 512 1024 2048 4096 ;;
	*:--output) compadd -- bandwidth message_rate latency ;;
	own:--cores) compadd -- 1 2 ;;
	other:--dir) _files -/ ;;
	other:--group) _groups ;;
	*:--json | *:--out_json_file | *:--socket) _files ;;
	*) return 1 ;;
	esac
}

# A command of its own stands behind it.
_udapl_roce_run() {
	if ((CURRENT == 2)) && [[ $PREFIX == -* ]]; then
		compadd -- --env --help --version
		return
	fi
	shift words
	((CURRENT--))
	_normal
}

_udapl_roce() {
	local program=$words[1] before=$words[CURRENT-1] letters=own
	local -a mode
	if [[ ${program:t} == roce-run ]]; then
		_udapl_roce_run
		return
	fi
	case ${program:t} in
	dat_*) letters=perftest ;;
	dat-perf)
		if ((CURRENT > 2)) && [[ $words[2] == --perftest* ]]; then
			letters=perftest
			mode=(--perftest)
		fi
		;;
	roce-embed | roce-replay | roced) letters=other ;; # their letters are none of these
	esac
	if [[ $PREFIX == --*=* ]]; then
		before=${PREFIX%%=*}
		compset -P '*='
		_udapl_roce_values $before
		return
	fi
	# An optional value comes with = alone.
	[[ $before != -* || $before == --(perftest|json) ]] || ! _udapl_roce_values $before || return 0
	if [[ $PREFIX == -* ]]; then
		compadd -- ${(f)"$(_udapl_roce_offer)"}
	elif [[ ${program:t} == dat-info ]]; then
		compadd -- ${(f)"$(_udapl_roce_adapters)"}
	elif [[ $letters != other ]]; then
		_hosts
	fi
}

_udapl_roce "$@"
