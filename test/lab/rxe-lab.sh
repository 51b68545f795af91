#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# rxe-lab.sh: QEMU guests with the kernel's soft-RoCE (rdma_rxe) as interoperability
# peers, on an Ethernet segment inside a network namespace of its own.
#
#   build                     fetch packages, make the kernel image and initramfs
#   up [GUEST...]             segment + guests (default: RXE_LAB_GUESTS); re-runnable
#   run [-g GUEST] [-t SEC] [-i] COMMAND...
#                             run a shell command in a guest; its output, its status
#   netns COMMAND...          run a host command inside the segment's namespace
#   attach IF | detach IF     (un)plug an interface of the namespace, e.g. a net_tap
#   fault GUEST [RULE...]     pass the guest's frames through wire-fault.py with these rules; until
#                             "nofault GUEST" the guest hangs on it (no rule: a plain wire)
#   capture FILE IF COMMAND   tcpdump on IF of the namespace while COMMAND runs here
#   status                    what is up
#   env                       settings as shell assignments
#   down                      stop the guests, remove the namespace
#   clean                     down, then remove the working folder
#
# The segment: bridge "br0" with a TAP per guest ("tap-GUEST") and a veth whose
# other end, RXE_LAB_PORT, is for the program under test (DPDK net_af_packet).
# A DPDK net_tap device made inside the namespace is plugged in with attach.
#
# Settings (environment):
set -Eeuo pipefail
trap 'echo "rxe-lab: line $LINENO: failed: $BASH_COMMAND" >&2' ERR
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=/dev/null
. "$here/../../devtools/packages.sh" # apt_get

: "${RXE_LAB_DIR:=$here/../../build/rxe-lab}" # working folder: downloads, image, sockets, logs
: "${RXE_LAB_NETNS:=rxelab}"              # namespace to create
: "${RXE_LAB_GUESTS:=a b}"                # guests of "up" (names: a..h)
: "${RXE_LAB_NET:=10.77.0}"               # first three octets; guest a is .11, b is .12 ...
: "${RXE_LAB_PORT:=dut0}"                 # free end of the veth, for the program under test
: "${RXE_LAB_PORT_IP=}"                   # address for it, e.g. 10.77.0.1/24; empty: none
: "${RXE_LAB_MTU:=1500}"                  # MTU of the segment; 4200 or more: RoCE MTU 4096
: "${RXE_LAB_ACCEL:=tcg,thread=multi}"    # or kvm
: "${RXE_LAB_CPU:=}"                      # QEMU CPU model; empty: a fit one for the accelerator
: "${RXE_LAB_SMP:=1}"                     # CPUs a guest
: "${RXE_LAB_MEM:=2048}"                  # MiB a guest (dtest registers 900 MB)
: "${RXE_LAB_APPEND:=}"                   # more kernel command line
: "${RXE_LAB_KERNEL:=linux-image-amd64}"  # Debian kernel package (or a meta package for one)
: "${RXE_LAB_RELEASE:=}"                  # another Debian release for the guest, e.g. trixie (Linux 6.12); default: this host's
: "${RXE_LAB_PACKAGES:=}"                 # more Debian packages for the guest
: "${RXE_LAB_BOOT_S:=300}"                # longest wait for a guest to come up: for what hangs, not for what is slow
: "${RXE_LAB_READY_S:=120}"               # the same for tcpdump and wire-fault.py

base_packages="perftest qperf rdmacm-utils ibverbs-utils ibverbs-providers rdma-core
 iproute2 tcpdump python3-pyverbs busybox-static bash dash kmod libc-bin iputils-ping ethtool procps nftables"
# In the dependency closure, of no use in the guest.
skip_packages="perl perl-base perl-modules-5.36 libperl5.36 perl-modules-5.40 libperl5.40 dpkg debconf tar udev passwd adduser
 pci.ids readline-common libpam-modules libpam-modules-bin libpam-runtime"
boot_modules="virtio_pci,virtio_net,virtio_console,9pnet_virtio,9p,rdma_ucm,ib_umad,rdma_rxe"
keep_modules="drivers/vfio drivers/iommu drivers/uio drivers/net/ethernet/intel drivers/net/vmxnet3 drivers/net/tap.ko
 drivers/net/tun.ko drivers/vhost drivers/infiniband/core drivers/infiniband/sw/rxe drivers/virtio drivers/net/virtio_net.ko
 drivers/net/veth.ko drivers/net/dummy.ko drivers/char/virtio_console.ko
 net/9p fs/9p fs/netfs fs/fscache net/sched net/netfilter net/ipv4 net/ipv6 crypto lib arch/x86/crypto"

die() { echo "rxe-lab: $*" >&2; exit 1; }
need_root() { [ "$(id -u)" = 0 ] || die "must be root"; }
in_ns() { ip netns exec "$RXE_LAB_NETNS" "$@"; }
guest_dir() { echo "$RXE_LAB_DIR/run/$1"; }

guest_number() {
	case $1 in
	[a-h]) echo $(($(printf '%d' "'$1") - 96)) ;;
	*) die "guest names are a to h, not '$1'" ;;
	esac
}

guest_pid() { # prints the pid of a running guest
	local file pid
	file=$(guest_dir "$1")/pid
	[ -s "$file" ] || return 1
	pid=$(<"$file")
	# A stale file may name somebody else's process by now.
	grep -qz -- "rxe-lab-$1,process" "/proc/$pid/cmdline" 2>/dev/null || return 1
	echo "$pid"
}

# ---- build ----------------------------------------------------------------

fetch_debs() {
	local debs=$RXE_LAB_DIR/debs kernel=$RXE_LAB_KERNEL apt
	mkdir -p "$debs/partial"
	: >"$RXE_LAB_DIR/empty-status"
	if [ -n "$RXE_LAB_RELEASE" ]; then
		# The release's lists beside this host's own, from the mirror that this host uses.
		local apart=$RXE_LAB_DIR/apt-$RXE_LAB_RELEASE mirror
		# shellcheck disable=SC2016 # the dollars are apt's
		mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' | sort -u |
			awk '$2 !~ /-/ { print $1; exit }')
		mkdir -p "$apart"/{lists/partial,cache,empty}
		cat >"$apart/release.sources" <<-END
		Types: deb
		URIs: $mirror
		Suites: $RXE_LAB_RELEASE
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
		END
		cat >"$apart/apt.conf" <<-END
		Dir::State::lists "$apart/lists";
		Dir::State::status "$RXE_LAB_DIR/empty-status";
		Dir::Etc::sourcelist "$apart/release.sources";
		Dir::Etc::sourceparts "$apart/empty";
		Dir::Etc::preferencesparts "$apart/empty";
		Dir::Cache "$apart/cache";
		APT::Sandbox::User "root";
		END
		export APT_CONFIG=$apart/apt.conf
		apt_get -q update >"$RXE_LAB_DIR/apt.log" 2>&1 || die "apt-get update for $RXE_LAB_RELEASE failed"
	fi
	# An empty dpkg status: the whole closure, whatever this host has installed.
	apt=(apt_get -q -y -o "Dir::State::status=$RXE_LAB_DIR/empty-status" -o "Dir::Cache::archives=$debs"
		-o APT::Install-Recommends=0 -o APT::Sandbox::User=root)
	case $kernel in
	linux-image-[0-9]*) ;;
	*) kernel=$(apt-cache depends "$kernel" | awk '/Depends: linux-image-/ { print $2; exit }') ;;
	esac
	[ -n "$kernel" ] || die "no kernel package behind $RXE_LAB_KERNEL"
	# OFED's tools: Debian 12 is the last release that has them.
	! apt-cache show dapl2-utils >/dev/null 2>&1 || base_packages+=" dapl2-utils"
	# shellcheck disable=SC2086
	"${apt[@]}" --download-only install $base_packages $RXE_LAB_PACKAGES >"$RXE_LAB_DIR/apt.log" 2>&1 ||
		{ tail -5 "$RXE_LAB_DIR/apt.log" >&2; die "apt-get failed"; }
	ls "$debs/${kernel}"_*.deb >/dev/null 2>&1 ||
		(cd "$debs" && apt_get -q -o APT::Sandbox::User=root download "$kernel" >>"$RXE_LAB_DIR/apt.log" 2>&1)
	echo "$kernel"
}

extract_vmlinux() { # bzImage -> ELF: QEMU starts it by its PVH note, without firmware or decompressor
	local image=$1 out=$2 setup offset length
	num() { od -An -t"u$2" -j"$1" -N"$2" "$image" | tr -d ' '; }
	setup=$(num 497 1)
	[ "$setup" != 0 ] || setup=4
	offset=$(((setup + 1) * 512 + $(num 584 4)))
	length=$(num 588 4)
	payload() { tail -c +$((offset + 1)) "$image" | head -c "$length"; }
	case $(payload | head -c 4 | od -An -tx1 | tr -d ' ') in
	fd377a58) payload | xz -dc --single-stream ;;
	28b52ffd) payload | zstd -dc ;;
	1f8b*) payload | gzip -dc ;;
	esac >"$out" 2>/dev/null || true # the payload ends in 4 bytes more than its stream
	[ "$(head -c 4 "$out" | tail -c 3)" = ELF ]
}

cmd_build() {
	need_root
	local kernel root tmp deb name version missing mods
	for name in apt-get dpkg-deb cpio xz gcc readelf python3; do
		command -v $name >/dev/null || die "$name is needed to build"
	done
	mkdir -p "$RXE_LAB_DIR"
	kernel=$(fetch_debs)
	version=${kernel#linux-image-}
	root=$RXE_LAB_DIR/rootfs tmp=$RXE_LAB_DIR/kernel
	rm -rf "$root" "$tmp"
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$tmp"
	for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done

	for deb in "$RXE_LAB_DIR"/debs/*.deb; do
		name=$(dpkg-deb -f "$deb" Package)
		case " ${skip_packages//$'\n'/ } " in *" $name "*) continue ;; esac
		case $name in
		"$kernel") dpkg-deb -x "$deb" "$tmp" ;;
		linux-image-*) ;;
		*) dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink \
			--exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
			--exclude='./usr/lib/python3/dist-packages/tests/*' --exclude='./usr/share/perl*' --exclude='./usr/lib/udev/*' ;;
		esac
	done
	rm -rf "$root"/usr/lib/x86_64-linux-gnu/{perl,perl5,gconv} "$root"/usr/lib/x86_64-linux-gnu/tc/q_atm.so "$root"/var/cache/* "$root"/usr/share/{bash-completion,lintian,info,misc}

	# Modules: the folders kept, and what they depend on.
	mods=$root/usr/lib/modules/$version
	mkdir -p "$root/usr/lib/modules"
	if [ -d "$tmp/usr/lib/modules/$version" ]; then
		mv "$tmp/usr/lib/modules/$version" "$mods"
	else
		mv "$tmp/lib/modules/$version" "$mods"
	fi
	find "$mods" -name '*.ko.xz' -exec xz -d {} +
	chroot "$root" /sbin/depmod "$version"
	awk -F: -v keep="${keep_modules//$'\n'/ }" '
		BEGIN { n = split(keep, k, " ") }
		{
			for (i = 1; i <= n; i++) {
				if (index($1, "kernel/" k[i]) != 1)
					continue
				print $1
				gsub(/^ +/, "", $2)
				gsub(/ +/, "\n", $2)
				if ($2 != "")
					print $2
				break
			}
		}
	' "$mods/modules.dep" | sort -u >"$RXE_LAB_DIR/modules"
	(cd "$mods" && find kernel -name '*.ko*' | sort | comm -23 - "$RXE_LAB_DIR/modules" | xargs rm -f)
	chroot "$root" /sbin/depmod "$version"

	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -static -o "$root/usr/sbin/guest-agent" "$here/guest-agent.c"
	install -m 755 "$here/guest-init.sh" "$root/init"
	mkdir -p "$root"/{root,tmp,etc,share,proc,sys,dev,run} "$root/usr/local/bin"
	# Needs the headers of libibverbs-dev and librdmacm-dev here; the libraries are the guest's own.
	gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -o "$root/usr/local/bin/rdmaprobe" "$here"/{rdmaprobe,probe_serve,probe_verbs}.c \
		-L"$root/usr/lib/x86_64-linux-gnu" \
		-Wl,--allow-shlib-undefined -l:librdmacm.so.1 -l:libibverbs.so.1 2>"$RXE_LAB_DIR/rdmaprobe.log" ||
		echo "rxe-lab: no rdmaprobe in the guest, see rdmaprobe.log (libibverbs-dev, librdmacm-dev missing?)" >&2
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo 'root:x:0:' >"$root/etc/group"
	{
		echo "127.0.0.1 localhost"
		for name in a b c d e f g h; do echo "$RXE_LAB_NET.$((10 + $(guest_number $name))) $name"; done
	} >"$root/etc/hosts"
	echo 'hosts: files' >"$root/etc/nsswitch.conf"
	# uDAPL providers over rdma_cm (cma), the socket CM (scm) and the UD CM (ucm) for rxe0 on eth0.
	cat >"$root/etc/dat.conf" <<-'END'
	rxe-cma u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""
	rxe-scm u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "rxe0 1" ""
	rxe-ucm u2.0 nonthreadsafe default libdaploucm.so.2 dapl.2.0 "rxe0 1" ""
	END
	# busybox for every command that no package brought; the shell is not busybox, which
	# would run its own ip, ping and modprobe instead of the real ones.
	ln -sf dash "$root/usr/bin/sh"
	"$root/usr/bin/busybox" --list-full | while read -r name; do
		name=${name##*/}
		[ -n "$(find "$root"/usr/{bin,sbin} -maxdepth 1 -name "$name" -print -quit)" ] || ln -s busybox "$root/usr/bin/$name"
	done
	chroot "$root" /sbin/ldconfig

	missing=$(find "$root"/usr/{bin,sbin,lib/x86_64-linux-gnu} -type f -print0 | { xargs -0 readelf -d 2>/dev/null || true; } |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
		while read -r name; do [ -n "$(find "$root/usr/lib" -name "$name" -print -quit)" ] || echo "$name"; done)
	[ -z "$missing" ] || echo "rxe-lab: libraries missing in the guest image: ${missing//$'\n'/ }" >&2

	extract_vmlinux "$tmp/boot/vmlinuz-$version" "$RXE_LAB_DIR/vmlinux" ||
		{ echo "rxe-lab: cannot unpack the kernel; booting the compressed one" >&2; cp "$tmp/boot/vmlinuz-$version" "$RXE_LAB_DIR/vmlinux"; }
	(cd "$root" && find . -xdev -print0 | cpio --null -o -H newc --quiet -R 0:0) >"$RXE_LAB_DIR/initrd.tmp"
	mv "$RXE_LAB_DIR/initrd.tmp" "$RXE_LAB_DIR/initrd"
	echo "$version" >"$RXE_LAB_DIR/version"
	rm -rf "$tmp"
	echo "rxe-lab: kernel $version, image $(du -m "$RXE_LAB_DIR/initrd" | cut -f1) MiB"
}

# await FILE WORDS PID: until they are in the file; false when the process has ended, or does not say them in RXE_LAB_READY_S.
await() {
	local deadline=$((SECONDS + RXE_LAB_READY_S))
	until grep -q "$2" "$1" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null && [ $SECONDS -lt $deadline ] || return 1
		sleep 0.05
	done
}

# ---- segment --------------------------------------------------------------

plug() { # interface of the namespace -> bridge
	local dev=$1
	in_ns ethtool -K "$dev" tx off rx off gso off gro off tso off >/dev/null 2>&1 || true
	ip -n "$RXE_LAB_NETNS" link set "$dev" mtu "$RXE_LAB_MTU" master br0 up
}

net_up() {
	local ns=$RXE_LAB_NETNS
	if ! ip netns exec "$ns" true 2>/dev/null; then
		ip netns add "$ns"
		mkdir -p "$RXE_LAB_DIR/run"
		echo "$ns" >"$RXE_LAB_DIR/run/netns"
		# Nothing but the programs' own frames: no router solicitations, no multicast reports.
		in_ns sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
		ip -n "$ns" link set lo up
		ip -n "$ns" link add br0 type bridge stp_state 0 mcast_snooping 0
		ip -n "$ns" link add "$RXE_LAB_PORT" type veth peer name port-br
	fi
	ip -n "$ns" link set br0 mtu "$RXE_LAB_MTU" up
	ip -n "$ns" link set "$RXE_LAB_PORT" mtu "$RXE_LAB_MTU" up
	in_ns ethtool -K "$RXE_LAB_PORT" tx off rx off gso off gro off tso off >/dev/null 2>&1 || true
	plug port-br
	[ -z "$RXE_LAB_PORT_IP" ] || ip -n "$ns" addr replace "$RXE_LAB_PORT_IP" dev "$RXE_LAB_PORT"
}

# ---- guests ---------------------------------------------------------------

guest_start() {
	local g=$1 n dir cpu i args start
	n=$(guest_number "$g")
	dir=$(guest_dir "$g")
	mkdir -p "$dir" "$RXE_LAB_DIR/share"
	rm -f "$dir"/lab.*.sock "$dir"/pid "$dir"/console.log
	ip -n "$RXE_LAB_NETNS" link show "tap-$g" >/dev/null 2>&1 || ip -n "$RXE_LAB_NETNS" tuntap add "tap-$g" mode tap
	plug "tap-$g"
	cpu=$RXE_LAB_CPU
	if [ -z "$cpu" ]; then
		# TCG is slow at string instructions and carry-less multiplication (CRC32 of the ICRC):
		# hide the flags that make the kernel choose them.
		case $RXE_LAB_ACCEL in kvm*) cpu=host,-arch-capabilities ;; *) cpu=max,-erms,-fsrm,-la57,-pclmulqdq ;; esac
	fi
	# maxcpus above 1 even for one CPU: else TCG translates the guest's barriers to nothing, although
	# QEMU's main thread works on the same virtqueues, and a transmit queue stalls now and then.
	# shellcheck disable=SC2054 # the commas are QEMU's
	args=(-name "rxe-lab-$g,process=rxe-lab-$g" -M q35 -accel "$RXE_LAB_ACCEL" -cpu "$cpu"
		-smp "$RXE_LAB_SMP,maxcpus=$((RXE_LAB_SMP + 1))" -m "$RXE_LAB_MEM" -nodefaults -no-user-config -display none -no-reboot
		-kernel "$RXE_LAB_DIR/vmlinux" -initrd "$RXE_LAB_DIR/initrd"
		-append "console=ttyS0 quiet loglevel=5 nokaslr mitigations=off clearcpuid=rep_good net.ifnames=0 panic=-1 \
lab.name=$g lab.ip=$RXE_LAB_NET.$((10 + n))/24 lab.mtu=$RXE_LAB_MTU lab.rxe=rxe0 lab.modules=$boot_modules $RXE_LAB_APPEND"
		-serial file:console.log -pidfile pid -daemonize
		-netdev "tap,id=n0,ifname=tap-$g,script=no,downscript=no,vnet_hdr=on"
		# No offloads: every frame on the segment is complete, checksums included.
		-device "virtio-net-pci,netdev=n0,romfile=,mac=52:54:00:77:00:$(printf %02x $((10 + n))),host_mtu=$RXE_LAB_MTU,csum=off,gso=off,guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off,mrg_rxbuf=on"
		-fsdev "local,id=share,path=$RXE_LAB_DIR/share,security_model=none" -device virtio-9p-pci,fsdev=share,mount_tag=share
		-device virtio-rng-pci -device virtio-serial-pci,max_ports=16)
	for i in 0 1 2 3 4 5 6 7; do
		args+=(-chardev "socket,id=c$i,path=lab.$i.sock,server=on,wait=off" -device "virtserialport,chardev=c$i,name=lab.$i")
	done
	start=$(date +%s%N)
	(cd "$dir" && in_ns qemu-system-x86_64 "${args[@]}" 2>qemu.log) || { cat "$dir/qemu.log" >&2; die "guest $g did not start"; }
	echo "$start" >"$dir/start"
}

guest_wait() {
	local g=$1 dir deadline
	dir=$(guest_dir "$g")
	deadline=$(($(date +%s) + RXE_LAB_BOOT_S))
	until grep -q 'rxe-lab: ready' "$dir/console.log" 2>/dev/null; do
		guest_pid "$g" >/dev/null || { tail -20 "$dir/console.log" >&2; die "guest $g stopped while booting"; }
		[ "$(date +%s)" -lt "$deadline" ] || { tail -20 "$dir/console.log" >&2; die "guest $g not up after $RXE_LAB_BOOT_S s"; }
		sleep 0.05
	done
	echo "guest $g up in $((($(date +%s%N) - $(<"$dir/start")) / 1000000)) ms, $RXE_LAB_NET.$((10 + $(guest_number "$g"))), pid $(guest_pid "$g")"
}

cmd_up() {
	need_root
	[ -s "$RXE_LAB_DIR/initrd" ] || cmd_build
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || set -- $RXE_LAB_GUESTS
	local g started=()
	net_up
	for g; do
		guest_number "$g" >/dev/null
		if guest_pid "$g" >/dev/null; then echo "guest $g already up"; else guest_start "$g"; started+=("$g"); fi
	done
	for g in "${started[@]}"; do guest_wait "$g"; done
}

cmd_run() {
	local g=a opts=() o
	while getopts 'g:t:i' o; do
		case $o in
		g) g=$OPTARG ;;
		t) opts+=(-t "$OPTARG") ;;
		i) opts+=(-i) ;;
		*) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	[ $# -gt 0 ] || die "run: no command"
	guest_pid "$g" >/dev/null || die "guest $g is not up"
	exec "$here/lab-exec.py" "${opts[@]}" -- "$(guest_dir "$g")" "$*"
}

cmd_nofault() {
	local g=$1 dir pid i
	dir=$(guest_dir "$g")
	if [ -s "$dir/fault.pid" ]; then
		pid=$(<"$dir/fault.pid")
		! grep -qz "wire-fault" "/proc/$pid/cmdline" 2>/dev/null || kill "$pid" 2>/dev/null || true
		for i in $(seq 40); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
		rm -f "$dir/fault.pid"
	fi
	ip -n "$RXE_LAB_NETNS" link del "flt-$g" 2>/dev/null || true
	plug "tap-$g"
}

cmd_fault() { # guest -- tap -- wire-fault -- flt-GUEST -- flt-GUEST-br -- bridge
	local g=$1 dir
	shift
	guest_pid "$g" >/dev/null || die "guest $g is not up"
	dir=$(guest_dir "$g")
	cmd_nofault "$g"
	ip -n "$RXE_LAB_NETNS" link add "flt-$g" type veth peer name "flt-$g-br"
	ip -n "$RXE_LAB_NETNS" link set "tap-$g" nomaster
	plug "flt-$g-br"
	plug "flt-$g"
	ip -n "$RXE_LAB_NETNS" link set "flt-$g" nomaster
	: >"$dir/fault.log" # or what the one before said would do
	ip netns exec "$RXE_LAB_NETNS" "$here/wire-fault.py" "tap-$g" "flt-$g" "$@" >"$dir/fault.log" 2>&1 </dev/null &
	echo $! >"$dir/fault.pid"
	await "$dir/fault.log" ready $! || { cat "$dir/fault.log" >&2; die "wire-fault did not start"; }
}

cmd_capture() {
	[ $# -ge 3 ] || die "capture FILE IF COMMAND..."
	local file=$1 dev=$2 pid status=0
	shift 2
	: >"$file.log"
	# Packets reach the file at once; the snaplen is ample for any MTU.
	# (Not through in_ns: $! must be tcpdump itself.)
	ip netns exec "$RXE_LAB_NETNS" tcpdump -Z root -i "$dev" -U --immediate-mode -B 16384 -s 65535 -w "$file" ${RXE_LAB_FILTER:+"$RXE_LAB_FILTER"} 2>"$file.log" &
	pid=$!
	await "$file.log" 'listening on' $pid ||
		{ kill $pid 2>/dev/null || true; cat "$file.log" >&2; die "tcpdump did not start"; }
	"$@" || status=$?
	# Until the last frames have come: how many there will be is not known.
	sleep "${RXE_LAB_CAPTURE_TAIL:-0.5}"
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	tail -3 "$file.log" | tr '\n' ' ' >&2
	echo >&2
	rm -f "$file.log"
	return $status
}

cmd_status() {
	local dir g pid
	[ ! -s "$RXE_LAB_DIR/version" ] || echo "kernel $(<"$RXE_LAB_DIR/version")"
	in_ns true 2>/dev/null && { echo "namespace $RXE_LAB_NETNS:"; ip -n "$RXE_LAB_NETNS" -br link; }
	for dir in "$RXE_LAB_DIR"/run/*/; do
		g=$(basename "$dir")
		pid=$(guest_pid "$g") && echo "guest $g: pid $pid, $RXE_LAB_NET.$((10 + $(guest_number "$g"))), console $dir""console.log"
	done
	return 0
}

cmd_down() {
	need_root
	local dir g pid i
	for dir in "$RXE_LAB_DIR"/run/*/; do
		[ -d "$dir" ] || continue
		g=$(basename "$dir")
		[ ! -s "$dir/fault.pid" ] || cmd_nofault "$g" 2>/dev/null || true
		pid=$(guest_pid "$g") || continue
		kill "$pid" 2>/dev/null || true
		for i in $(seq 60); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
		kill -9 "$pid" 2>/dev/null || true
	done
	# Only a namespace that "up" made.
	if [ -f "$RXE_LAB_DIR/run/netns" ]; then
		ip netns del "$(<"$RXE_LAB_DIR/run/netns")" 2>/dev/null || true
	fi
	rm -rf "$RXE_LAB_DIR/run"
}

cmd=${1:-help}
[ $# -eq 0 ] || shift
case $cmd in
build) cmd_build ;;
up) cmd_up "$@" ;;
run) cmd_run "$@" ;;
netns) in_ns "$@" || exit $? ;;
attach) # The bridge keeps frames for its ports' own addresses, and a net_tap device has the address
	# of the program's port: give the kernel's side another one (the program goes on with its own).
	ip -n "$RXE_LAB_NETNS" link set "$1" address "$(printf '02:4c:42:%02x:%02x:%02x' $((RANDOM & 255)) $((RANDOM & 255)) $((RANDOM & 255)))"
	plug "$1"
	;;
detach) ip -n "$RXE_LAB_NETNS" link set "$1" nomaster ;;
capture) cmd_capture "$@" || exit $? ;;
fault) cmd_fault "$@" ;;
nofault) cmd_nofault "$@" ;;
status) cmd_status ;;
env) for v in "${!RXE_LAB_@}"; do printf '%s=%q\n' "$v" "${!v}"; done ;;
down) cmd_down ;;
clean) cmd_down; rm -rf "$RXE_LAB_DIR" ;;
*) sed -n '2,/^set -/p' "$0" | sed '/^set -/d; s/^# \{0,1\}//'; sed -n 's/^: "\${\(RXE_LAB_[A-Z_]*\):\{0,1\}=\([^}]*\)}" *# \(.*\)/  \1  \3  [\2]/p' "$0" ;;
esac
