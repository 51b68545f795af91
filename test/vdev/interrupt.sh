#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who waits is woken by the device where that has receive interrupts: net_tap has. That it was an interrupt says a counter.
#
#   interrupt.sh python3 dat-info vdev_interrupt
interrupt=$3
. "$(dirname "$0")/lib.sh"
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
own_network "$0" "$@"

adapter "$work/dat.conf" wire "port=net_tap0,iface=tap0 ip=192.0.2.1/24"
DAT_OVERRIDE=$work/dat.conf timeout "$limit" "$interrupt" tap0 >"$work/out" 2>&1
status=$?
cat "$work/out"
[ "$status" -ne 77 ] || skip "net_tap cannot be opened here"
[ "$status" -eq 0 ] || complain "no interrupt, or no end: $status"
finish
