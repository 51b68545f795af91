# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh docs`: guides and manual pages as HTML, to be read without a network.

cmd_docs() {
	[ $# -eq 0 ] || fail "there is no option '$1': docs has none"
	need_packages "${packages_docs[@]}"
	python3 -B devtools/site/site.py . "$build_root/docs" || fail "the pages could not be made: see above"
	say "the front page is $build_root/docs/index.html"
}
