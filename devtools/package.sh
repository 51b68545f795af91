# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh package`: Debian's packages, source and binary, and what lintian says of them; with --check, their life in a
# bare tree.

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
	# A symbol that the lists do not have is an error, as one that has gone.
	(cd "$out/$name" && DEB_BUILD_OPTIONS="$options parallel=$(nproc)" DEB_BUILD_PROFILES=$profiles \
		DPKG_GENSYMBOLS_CHECK_LEVEL=4 dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; fail "the packages could not be built: see above, and $out/build.log"; }
	rm -rf "${out:?}/$name"
	lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out"/*.changes |
		tee "$out/lintian.log" || fail "lintian finds errors: they stand above"
	say "packages are in $out: $(cd "$out" && echo *.deb)"
}

# check_packages DIR: installs those of DIR in a bare tree, tries, upgrades and purges them.
check_packages() {
	local tree=${UDAPL_ROCE_CLEAN_TREE:-$build_root/trees}/packages
	if [ "$(id -u)" -ne 0 ]; then
		cannot_check "debootstrap and mount want root"
		return
	fi
	need_packages debootstrap
	rm -rf "$tree"
	if ! devtools/clean-tree.sh "$tree" true; then
		rm -rf "$tree"
		cannot_check "there is no bare tree: see above"
		return
	fi
	mkdir -p "$tree/srv/packages"
	cp "$1"/*.deb "$1"/*.dsc "$1"/*.tar.xz "$tree/srv/packages/"
	local status=0
	devtools/clean-tree.sh "$tree" env ROCE_TEST_LIMIT="${ROCE_TEST_LIMIT:-120}" \
		devtools/package-check.sh /srv/packages || status=1
	rm -rf "$tree"
	return $status
}

# cannot_check REASON: in the words of a count. The packages were built.
cannot_check() {
	echo "skipped: packages in a bare tree: $1"
	echo "1 passed, 0 failed, 1 skipped"
}

cmd_package() {
	local check=
	if [ "${1:-}" = --check ]; then
		check=yes
		shift
	fi
	[ $# -eq 0 ] || fail "there is no option '$1': package has --check; DEB_BUILD_OPTIONS is passed on"
	need_packages "${packages_package[@]}"
	build_packages "$build_root/package"
	[ -z "$check" ] || check_packages "$build_root/package"
}
