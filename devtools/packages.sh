# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Debian's packages: lists of what each job needs, and their installation. The lists are those of Debian 12.

# Gcc runs make to optimise at link time on all cores.
packages_build=(gcc libc6-dev make meson ninja-build pkgconf libdpdk-dev libisal-dev libibverbs-dev librdmacm-dev libjson-c-dev
	libmicrohttpd-dev libncurses-dev libdapl-dev)
packages_test=("${packages_build[@]}" libcmocka-dev liblzma-dev python3-scapy tshark codespell shellcheck pyflakes3
	clang-format g++ groff-base iproute2 dapl2-utils abigail-tools dpdk dpdk-dev
	ibverbs-utils perftest rdma-core python3-pyverbs rdmacm-utils qperf fio ucx-utils libfabric-bin
	python3-prometheus-client python3-pyte pandoc mandoc babeltrace2 libsystemd-dev qemu-user zsh)
packages_curves=("${packages_test[@]}" python3-matplotlib)
packages_lint=("${packages_test[@]}" clang-tidy)
packages_clang=("${packages_build[@]}" libcmocka-dev liblzma-dev clang)
packages_interop=("${packages_build[@]}" libcmocka-dev liblzma-dev qemu-system-x86 cpio busybox-static iproute2 ethtool
	tcpdump tshark xz-utils zstd dapl2-utils perftest rdmacm-utils qperf)
# A package build asks for build-essential without naming it.
packages_package=("${packages_build[@]}" build-essential debhelper dpkg-dev fakeroot lintian)
packages_instructions=("${packages_build[@]}" valgrind)
packages_docs=(pandoc mandoc)
# For the picture of the dashboard.
packages_dashboard=("${packages_build[@]}" prometheus python3-matplotlib)
# The peers of `./run.sh compare`.
packages_compare=(ucx-utils libfabric-bin iperf3 sockperf iproute2)
packages_fuzz=("${packages_clang[@]}" libclang-rt-14-dev llvm-14)

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

can_be_root() {
	[ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# For a network that fails now and then, and for an apt-get of others that is not done yet. clean-tree.sh gives the former to
# every apt-get in a bare tree.
apt_options=(-o Acquire::Retries=5 -o DPkg::Lock::Timeout=600)

# apt_get ARG...: as root.
apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" "$@"
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

# Installs those of the packages that are not there. Touches the package lists only then.
need_packages() {
	command -v dpkg-query >/dev/null ||
		{ say "this is not Debian: packages are not checked, see docs/testing.md for what is needed"; return; }
	local package missing=()
	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	# Two commands at a time would be two apt-get at a time, of which one gives up.
	mkdir -p "$build_root" || fail "the build folder $build_root cannot be made: see above"
	exec {apt_turn}>"$build_root/apt.lock"
	flock "$apt_turn"
	local hand="apt-get install --no-install-recommends ${missing[*]}"
	can_be_root || fail "packages are missing and this user may not install them; as root, type: $hand"
	local log
	log=$(mktemp)
	# An installation that was killed: apt-get refuses to go on from there.
	as_root env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >"$log" 2>&1 || true
	apt_get -qq update >"$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; fail "apt-get update failed, see above; as root, type: apt-get update"; }
	leave_out_unknown
	if [ ${#missing[@]} -gt 0 ]; then
		say "installing ${missing[*]}"
		apt_get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}" 2>&1 | tee "$log" | tell_progress ||
			{ tail -n 20 "$log" >&2; fail "apt-get could not install the packages, see above; as root, type: $hand"; }
	fi
	rm -f "$log"
	exec {apt_turn}>&-
}

# A line for every hundred steps of apt-get, which takes minutes on a bare machine.
tell_progress() {
	awk '/^Get:/ { got++ } /^Unpacking / { unpacked++ } /^Setting up / { ready++ }
		/^(Get:|Unpacking |Setting up )/ && ++steps % 100 == 0 {
			printf "run.sh: packages: %d fetched, %d unpacked, %d set up\n", got, unpacked, ready
			fflush()
		}'
}

# Another release may have dropped a package: what is built and tested with it is left out there and says so. Takes it
# from `missing`.
leave_out_unknown() {
	local package known=()
	! grep -qx VERSION_CODENAME=bookworm /etc/os-release || return 0
	for package in "${missing[@]}"; do
		if apt-get -s --no-install-recommends install "$package" >/dev/null 2>&1; then
			known+=("$package")
		else
			say "this release of Debian has no $package: left out"
		fi
	done
	missing=("${known[@]}")
}
