# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh package`: Debian's packages, source and binary, and what lintian says of them.

cmd_package() {
	[ $# -eq 0 ] || fail "there is no option '$1': package has none; DEB_BUILD_OPTIONS is passed on"
	need_packages "${packages_package[@]}"
	local version out=$build_root/package
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
	(cd "$out/$name" && DEB_BUILD_OPTIONS="$options parallel=$(nproc)" DEB_BUILD_PROFILES=$profiles \
		dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1 ||
		{ tail -n 30 "$out/build.log" >&2; fail "the packages could not be built: see above, and $out/build.log"; }
	rm -rf "${out:?}/$name"
	lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out"/*.changes |
		tee "$out/lintian.log" || fail "lintian finds errors: they stand above"
	say "packages are in $out: $(cd "$out" && echo *.deb)"
}
