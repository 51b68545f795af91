# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh package`: Debian's packages, source and binary, and what lintian says of them; with --check, their life in a
# bare tree; with --first, the first message of each reader of docs/start.md in a bare tree.

# build_packages DIR: they come into DIR.
build_packages() {
	local version out=$1
	version=$(dpkg-parsechangelog -S Version)
	local name=udapl-roce-${version%-*}
	rm -rf "$out"
	mkdir -p "$out/$name"
	# The checkout without what was built; the original archive is that without debian/.
	tar --exclude=./.git --exclude='./build*' --exclude="./${build_root#./}" --exclude=__pycache__ -cf - . | tar -C "$out/$name" -xf -
	tar -C "$out" --exclude="$name/debian" --sort=name --owner=0 --group=0 -cJf "$out/udapl-roce_${version%-*}.orig.tar.xz" "$name"
	say "building packages of version $version in $out"
	# The tests are those of ./run.sh test, unless the caller wants them here.
	local options=${DEB_BUILD_OPTIONS-nocheck} profiles=
	case " $options " in
	*' nocheck '*) profiles=nocheck ;;
	esac
	# Debian 13 has no registry of DAT 2.0, and so no use for a provider.
	is_installed libdapl-dev || profiles+=' pkg.udapl-roce.nodat2'
	# A symbol that the lists do not have is an error, as one that has gone.
	(cd "$out/$name" && DEB_BUILD_OPTIONS="$options parallel=$(nproc)" DEB_BUILD_PROFILES=$profiles \
		DPKG_GENSYMBOLS_CHECK_LEVEL=4 dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; fail "the packages could not be built: see above, and $out/build.log"; }
	rm -rf "${out:?}/$name"
	lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out"/*.changes |
		tee "$out/lintian.log" || fail "lintian finds errors: they stand above"
	say "packages are in $out: $(cd "$out" && echo *.deb)"
}

# bare_tree TREE RELEASE DIR: TREE becomes a bare Debian with the packages of DIR in /srv/packages.
bare_tree() {
	local tree=$1 release=$2 packages=$3
	rm -rf "$tree"
	if ! devtools/clean-tree.sh "$tree" --release "$release" true; then
		rm -rf "$tree"
		cannot_check "there is no bare tree: see above"
		return 1
	fi
	mkdir -p "$tree/srv/packages"
	cp "$packages"/*.deb "$packages"/*.dsc "$packages"/*.tar.xz "$tree/srv/packages/"
}

# in_tree TREE RELEASE COMMAND...: a script of devtools there. The tree goes with it.
in_tree() {
	local tree=$1 release=$2 status=0
	shift 2
	devtools/clean-tree.sh "$tree" --release "$release" env ROCE_TEST_LIMIT="${ROCE_TEST_LIMIT:-120}" "$@" || status=1
	rm -rf "$tree"
	return $status
}

# check_packages DIR: installs those of DIR in a bare tree, tries, upgrades and purges them.
check_packages() {
	bare_tree "$trees/packages" bookworm "$1" || return 0
	in_tree "$trees/packages" bookworm devtools/package-check.sh /srv/packages
}

# first_messages DIR RELEASE: of the packages of DIR, or of those that are built in a tree of another release.
first_messages() {
	local packages=$1 release=$2
	if [ "$release" != bookworm ]; then
		devtools/clean-tree.sh "$trees/build-$release" --release "$release" ./run.sh package ||
			fail "the packages could not be built on $release: see above"
		packages=$trees/build-$release/usr/src/udapl-roce/build/package
	fi
	bare_tree "$trees/first-$release" "$release" "$packages" || return 0
	in_tree "$trees/first-$release" "$release" devtools/first-message.sh /srv/packages
}

# cannot_check REASON: in the words of a count. The packages were built.
cannot_check() {
	echo "skipped: packages in a bare tree: $1"
	echo "1 passed, 0 failed, 1 skipped"
}

cmd_package() {
	local trees=${UDAPL_ROCE_CLEAN_TREE:-$build_root/trees} what=${1:-} release=${2:-bookworm}
	case "$what $#" in
	' 0' | '--check 1' | '--first '[12]) ;;
	*) fail "there are no options '$*': package has --check, or --first [RELEASE]; DEB_BUILD_OPTIONS is passed on" ;;
	esac
	if [ "$what" != --first ] || [ "$release" = bookworm ]; then
		need_packages "${packages_package[@]}"
		build_packages "$build_root/package"
	fi
	[ -n "$what" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		cannot_check "debootstrap and mount want root"
		return
	fi
	need_packages debootstrap
	case $what in
	--check) check_packages "$build_root/package" ;;
	--first) first_messages "$build_root/package" "$release" ;;
	esac
}
