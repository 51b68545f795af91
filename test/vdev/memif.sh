#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two processes over net_memif, which need no root: what they share is a socket and memory of their own.
#
#   memif.sh python3 dat-perf [user]    user: root becomes an ordinary one for it, and the socket is a file
. "$(dirname "$0")/lib.sh"

more=
if [ "$3" = user ]; then
	[ "$(id -u)" -eq 0 ] || skip "this is an ordinary user already: the test without 'user' says it all"
	near="setpriv --reuid=65534 --regid=65534 --clear-groups --"
	far=$near
	command -v setpriv >/dev/null || skip "setpriv is missing (package util-linux)"
	$near "$perf" --version >/dev/null 2>&1 || skip "an ordinary user cannot run $perf"
	chown 65534:65534 "$work"
	for file in client.json server.json; do
		: >"$work/$file"
		chown 65534:65534 "$work/$file"
	done
	more=,socket-abstract=no
fi
wire="id=0,bsize=8192,socket=$work/memif.sock$more"
server=192.0.2.1
adapter "$work/server.conf" wire "port=net_memif0,role=server,$wire ip=192.0.2.1/24"
adapter "$work/client.conf" wire "port=net_memif0,role=client,$wire ip=192.0.2.2/24"
if [ "$3" = user ]; then
	talk 'c["PMD"] == "net_memif"' -s 4097 -n 2000 -q 64
	talk 'c["PMD"] == "net_memif"' -s 65536 -n 128
else
	matrix talk 'c["PMD"] == "net_memif" and c["MTU"] == 4096'
fi
[ ! -e "$work/memif.sock" ] || complain "the socket is left behind"
finish
