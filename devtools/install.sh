# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh install` and `uninstall`: system-wide, or below a prefix. What was installed is listed in the prefix, so that
# uninstall needs no build folder and removes nothing else.

# Sets `prefix`, and `list`, the file that lists what was installed there, from the arguments of a command.
read_prefix() {
	prefix=/usr/local
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix)
			[ -n "${2:-}" ] || fail "--prefix wants a folder"
			prefix=$2
			shift
			;;
		--prefix=?*) prefix=${1#--prefix=} ;;
		*) fail "there is no option '$1': install and uninstall have --prefix DIR" ;;
		esac
		shift
	done
	prefix=$(realpath -ms -- "$prefix")
	list=$prefix/share/udapl-roce/installed
}

# as_owner COMMAND...: as root only where this user may not write to the prefix.
as_owner() {
	local folder=$prefix
	while [ ! -e "$folder" ]; do
		folder=$(dirname "$folder")
	done
	if [ -w "$folder" ]; then
		"$@"
		return
	fi
	can_be_root || fail "this user may not write to $folder: run this as root, or give --prefix DIR"
	as_root "$@"
}

# The loader searches these, by a list that only root renews.
is_loaders_own() {
	[ "$prefix" = /usr/local ] || [ "$prefix" = /usr ]
}

# Files of the list, then its folders, the inner ones first, unless somebody else has put something there.
remove_listed() {
	local kind path files=() folders=()
	while read -r kind path; do
		case $kind in
		file) files+=("$prefix/$path") ;;
		folder) folders=("$prefix${path:+/$path}" "${folders[@]}") ;;
		esac
	done <"$list"
	as_owner rm -f -- "${files[@]}"
	[ ${#folders[@]} -eq 0 ] || as_owner rmdir --ignore-fail-on-non-empty -- "${folders[@]}" 2>/dev/null || true
	! is_loaders_own || as_owner ldconfig
}

# list_staged DIR: what DIR would bring to the prefix; of its folders, those that are not there yet.
list_staged() {
	local path
	while IFS= read -r path; do
		[ -d "$prefix/$path" ] || echo "folder $path"
	done < <(cd "$1" && find . -type d -printf '%P\n' | sort)
	(cd "$1" && find . ! -type d -printf 'file %P\n' | sort)
}

cmd_install() {
	local prefix list stage
	read_prefix "$@"
	cmd_build
	# What an older version had, and this one has not, is to go.
	[ ! -f "$list" ] || remove_listed
	stage=$(mktemp -d)
	meson install -C "$build_root/release" --no-rebuild --quiet --destdir "$stage" ||
		fail "meson could not install: the reason stands above"
	# The build's own prefix is /usr/local; pkg-config, programs and libraries go by where they lie.
	mkdir -p "$stage/usr/local/share/udapl-roce"
	: >"$stage/usr/local/share/udapl-roce/installed"
	list_staged "$stage/usr/local" >"$stage/list"
	mv "$stage/list" "$stage/usr/local/share/udapl-roce/installed"
	chmod -R u+rwX,go+rX,go-w "$stage/usr/local"
	# The list comes first: should the rest fail, uninstall knows what to remove.
	as_owner mkdir -p "$(dirname "$list")"
	as_owner cp "$stage/usr/local/share/udapl-roce/installed" "$list"
	as_owner cp -R --no-preserve=ownership,timestamps -P "$stage/usr/local/." "$prefix/"
	rm -rf "$stage"
	! is_loaders_own || as_owner ldconfig
	say "installed $(grep -c '^file ' "$list") files below $prefix"
	is_loaders_own || cat <<-END
		For this shell, and for programs that you compile:
		  export PATH=$prefix/bin:\$PATH MANPATH=$prefix/share/man:
		  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
	END
}

cmd_uninstall() {
	local prefix list
	read_prefix "$@"
	[ -f "$list" ] || fail "./run.sh install has installed nothing below $prefix: $list is missing"
	say "removing $(grep -c '^file ' "$list") files below $prefix"
	remove_listed
}
