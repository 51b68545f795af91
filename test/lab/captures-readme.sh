#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes README.md of a captures folder from the INDEX.tsv files that make-captures.sh left in
# its subfolders (one for each MTU).      usage: captures-readme.sh CAPTURES_DIR KERNEL_VERSION
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$1"
{
	cat <<-END
	# Conversations over RoCEv2

	\`mtu1500\` and \`mtu4200\` are captures between two rxe guests. \`crafted\` was made frame by frame with scapy, by
	[craft.py](../interop/craft.py), which also checks that it would make the same again.

	## Where the captures come from

	Recorded by \`test/lab/make-captures.sh\` on the wire between two QEMU guests (tcpdump on the TAP of guest a,
	virtio-net offloads off): a is 10.77.0.11, 52:54:00:77:00:0b, the client; b is 10.77.0.12,
	52:54:00:77:00:0c, the server. Frames have no FCS; every ICRC is in the frame and was checked by
	\`test/lab/check-captures.py\` (its own CRC; the one bad ICRC of bad-icrc is meant to be).

	Kernel: Debian $2, rdma_rxe as shipped. User space: Debian 12: rdma-core 44.0 (rping, ucmatose),
	perftest 4.5+0.17, dapl 2.1.10.1, rdmaprobe (test/lab, on librdmacm).
	The subfolders are the MTU of the segment: 1500 gives RoCE MTU 1024, 4200 gives 4096.
	Captures are compressed by xz; programs.tar.xz has, as NAME.txt, the command lines, exit statuses and output of both
	programs of each.

	Captures with losses come in pairs: NAME.a.pcap on a's side of the faulty wire, NAME.b.pcap on
	b's side; "wire" is the rule of \`test/lab/wire-fault.py\`. Without -R perftest's QP numbers, PSNs and keys
	are in the TCP 18515 frames of the same capture.
	\`xz -dc FILE | tshark -r -\` dissects them all as InfiniBand; its guesses about payloads are switched off with
	\`--disable-protocol rpcordma --disable-protocol idp\` (else a few small SENDs show as malformed).

	END
	for d in */; do
		d=${d%/}
		[ -f "$d/INDEX.tsv" ] || continue
		echo "## $d"
		echo
		# The last record of a name counts.
		tac "$d/INDEX.tsv" | awk -F'\t' '!seen[$1]++' | tac | while IFS=$'\t' read -r name text server client fault; do
			echo "### $name"
			echo
			echo "$text"
			echo
			[ "$server" = - ] || echo "    b\$ $server"
			echo "    a\$ ${client% }"
			[ -z "$fault" ] || echo "    wire: $fault"
			echo
			for f in "$d/$name".pcap{,.xz} "$d/$name".[ab].pcap{,.xz}; do
				[ -f "$f" ] || continue
				echo "- \`$("$here/check-captures.py" "$f" || true)\`"
			done
			echo
		done
	done
} >README.md
