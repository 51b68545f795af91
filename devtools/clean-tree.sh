#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command of this checkout in a bare Debian 12: debootstrap's smallest tree, nothing else installed.
#
#   devtools/clean-tree.sh DIR [--release NAME] [--user] [command ...]    the command is ./run.sh bench unless given
#
# DIR is made when it does not exist and stays afterwards (remove it with rm -rf), so that a second command sees
# what the first one installed. --release makes another Debian than bookworm: trixie, testing, unstable. --user runs
# as an ordinary user on a checkout of his own, without hugepages. apt uses the mirrors and proxies of this machine.
# Root only: the mounts live in a mount namespace that ends with the command, whatever happens.
set -euo pipefail

fail() {
	printf 'clean-tree.sh: %s\n' "$*" >&2
	exit 1
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=/dev/null
. "$top/devtools/packages.sh"
[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || fail "debootstrap and mount want root: type sudo $0 $*"
command -v debootstrap >/dev/null || fail "debootstrap is missing: type apt-get install debootstrap"
dir=$(realpath -m "$1")
shift
release=bookworm
if [ "${1:-}" = --release ]; then
	[ -n "${2:-}" ] || fail "--release wants the name of a Debian release, such as trixie"
	release=$2
	shift 2
fi
user=0:0 checkout=/usr/src/udapl-roce
if [ "${1:-}" = --user ]; then
	shift
	user=1000:1000 checkout=/srv/user/udapl-roce
fi
[ $# -gt 0 ] || set -- ./run.sh bench

# What Debian mirrors this Debian 12 has, as lines of a sources.list.
sources_here() {
	# shellcheck disable=SC2016 # the dollars are apt's
	apt-get indextargets --format '$(ORIGIN) deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		sed -n 's/^Debian //p' | sort -u
}

# The same for the release wanted. Of another one its main archive will do, from where ours comes.
sources() {
	if [ "$release" = bookworm ]; then
		sources_here
	else
		echo "deb $mirror $release main"
	fi
}

# bootstrap TREE: what debootstrap mounts there ends with it, also when it is killed.
bootstrap() {
	rm -rf "$1"
	mkdir -p "$1"
	unshare --mount --propagation private debootstrap --variant=minbase "$release" "$1" "$mirror"
}

# make_tree: in a folder of its own that becomes DIR when it is complete, so that half a tree is never taken for one.
make_tree() {
	local half=$dir.half log
	log=$(mktemp)
	if ! bootstrap "$half" >"$log" 2>&1; then
		echo "clean-tree.sh: debootstrap failed, is tried once more: $(tail -n 1 "$log")"
		bootstrap "$half" >"$log" 2>&1 ||
			{ tail -n 20 "$log" >&2; rm -rf "$log" "$half"; fail "debootstrap failed: its last lines stand above"; }
	fi
	rm -f "$log"
	sources >"$half/etc/apt/sources.list"
	apt-config "${apt_options[@]}" dump --no-empty --format '%F "%v";%n' Acquire | grep -Ei 'proxy|::Check-|::Retries' \
		>"$half/etc/apt/apt.conf.d/00host" || true
	cp /etc/resolv.conf /etc/hosts "$half/etc/"
	mv -T "$half" "$dir"
}

if [ ! -e "$dir/etc/debian_version" ]; then
	[ ! -e "$dir" ] || rmdir "$dir" || fail "$dir is no bare tree: name another folder, or remove it"
	mirror=$(sources_here | awk '$3 == "bookworm" && $4 == "main" { print $2; exit }')
	[ -n "$mirror" ] || fail "apt here knows no Debian 12 mirror: type apt-get update and look at its sources"
	echo "clean-tree.sh: making a bare Debian $release in $dir"
	make_tree
fi
have=$(awk '$1 == "deb" { print $3; exit }' "$dir/etc/apt/sources.list")
[ "$have" = "$release" ] || fail "$dir is a Debian $have, not $release: name another folder, or remove it"

rm -rf "$dir$checkout"
mkdir -p "$dir$checkout"
tar -C "$top" --exclude=./.git --exclude='./build*' --exclude=__pycache__ -cf - . | tar -C "$dir$checkout" -xf -
chown -R "$user" "$dir$checkout"

echo "clean-tree.sh: $dir, as ${user%:*}: $*"
# The tree becomes the root of a mount namespace, not only of a chroot: programs in it can make namespaces of
# their own, as on a real machine.
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --mount --propagation private sh -euc '
	dir=$1 user=$2 checkout=$3
	shift 3
	mount --bind "$dir" "$dir"
	mount -t proc proc "$dir/proc"
	mount -t sysfs sys "$dir/sys"
	mount --rbind /dev "$dir/dev"
	mount -t tmpfs -o mode=1777 shm "$dir/dev/shm"
	cd "$dir"
	mkdir -p .outside
	pivot_root . .outside
	umount -l /.outside
	rmdir /.outside
	cd "$checkout"
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="${checkout%/*}" TERM="${TERM:-dumb}" \
		setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups "$@"
' sh "$dir" "$user" "$checkout" "$@"
