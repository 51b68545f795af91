# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# `./run.sh interop`: test/live against the Linux guest of test/lab.

cmd_interop() {
	local lab=${ROCE_LAB:-test/lab/rxe-lab.sh} dir=$build_root/release-tests
	local providers='lib/front/libdaplroce.so.1 lib/front/libdaplroce.so.2'
	local verbs='apps/roce-run lib/verbs/libibverbs.so.1 lib/verbs/librdmacm.so.1 lib/verbs/paths/libroce-paths.so lib/verbs/paths/tree'
	if [ -x "$lab" ] && [ "$(id -u)" -eq 0 ]; then
		need_packages "${packages_interop[@]}"
		configure release-tests --buildtype=release
		# A folder that was set up before librdmacm-dev came knows nothing of it.
		ninja -C "$dir" -t query test/live/live_guest >/dev/null 2>&1 ||
			meson setup --reconfigure "$dir" >"$dir/setup.log" 2>&1
		only="test/live/live_partner test/live/live_guest apps/roced apps/roced-uplink $verbs $providers" compile release-tests --buildtype=release
	fi
	python3 -B test/live/live.py --lab "$(realpath -m "$lab")" --partner "$(realpath -m "$dir/test/live/live_partner")" \
		--roced "$(realpath -m "$dir/apps/roced")" --run "$(realpath -m "$dir/apps/roce-run")" --guest "$(realpath -m "$dir/test/live/live_guest")" \
		--libraries "$(realpath -m "$dir/lib/libdat"):$(realpath -m "$dir/lib/front")" \
		--work "$(realpath -m "$build_root/interop")" "$@"
}
