#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write neigh_golden.h: ARP and neighbour discovery frames as scapy makes them.

  neigh_golden.py > neigh_golden.h && clang-format -i neigh_golden.h
"""
from scapy.all import (ARP, Dot1Q, Ether, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr,
                       ICMPv6NDOptSrcLLAddr, IPv6)

US, PEER, EVERYBODY = "02:00:c0:00:02:01", "02:00:c0:00:02:02", "ff:ff:ff:ff:ff:ff"
US4, PEER4 = "192.0.2.1", "192.0.2.2"
US6, PEER6 = "2001:db8::1", "2001:db8::2"
GROUP_US, GROUP_PEER = "ff02::1:ff00:1", "ff02::1:ff00:2"


def arp(op, src, dst, **fields):
    return Ether(src=src, dst=dst) / ARP(op=op, hwsrc=src, **fields)


def nd(src, dst, ip_src, ip_dst, message):
    return Ether(src=src, dst=dst) / IPv6(src=ip_src, dst=ip_dst, hlim=255) / message


def ns(target, option=True):
    message = ICMPv6ND_NS(tgt=target)
    return message / ICMPv6NDOptSrcLLAddr(lladdr=PEER if target == US6 else US) if option else message


def na(target, mac, solicited=1, override=1):
    return ICMPv6ND_NA(tgt=target, R=0, S=solicited, O=override) / ICMPv6NDOptDstLLAddr(lladdr=mac)


ask4 = arp(1, US, EVERYBODY, psrc=US4, hwdst="00:00:00:00:00:00", pdst=PEER4)
FRAMES = {
    # Our frames.
    "ask4": ask4,
    "ask4_unicast": arp(1, US, PEER, psrc=US4, hwdst="00:00:00:00:00:00", pdst=PEER4),
    "ask4_tagged": Ether(src=US, dst=EVERYBODY) / Dot1Q(vlan=7) / ask4[ARP],
    "answer4": arp(2, US, PEER, psrc=US4, hwdst=PEER, pdst=PEER4),
    "answer4_probe": arp(2, US, PEER, psrc=US4, hwdst=PEER, pdst="0.0.0.0"),
    "ask6": nd(US, "33:33:ff:00:00:02", US6, GROUP_PEER, ns(PEER6)),
    "ask6_unicast": nd(US, PEER, US6, PEER6, ns(PEER6)),
    "answer6": nd(US, PEER, US6, PEER6, na(US6, US)),
    "answer6_dad": nd(US, "33:33:00:00:00:01", US6, "ff02::1", na(US6, US, solicited=0)),
    # The frames of the peer.
    "peer_ask4": arp(1, PEER, EVERYBODY, psrc=PEER4, hwdst="00:00:00:00:00:00", pdst=US4),
    "peer_probe4": arp(1, PEER, EVERYBODY, psrc="0.0.0.0", hwdst="00:00:00:00:00:00", pdst=US4),
    "peer_answer4": arp(2, PEER, US, psrc=PEER4, hwdst=US, pdst=US4),
    "peer_answer4_tagged": Ether(src=PEER, dst=US) / Dot1Q(vlan=7, prio=5) /
    ARP(op=2, hwsrc=PEER, psrc=PEER4, hwdst=US, pdst=US4),
    "peer_ask6": nd(PEER, "33:33:ff:00:00:01", PEER6, GROUP_US, ns(US6)),
    "peer_ask6_bare": nd(PEER, US, PEER6, US6, ns(US6, option=False)),
    "peer_dad6": nd(PEER, "33:33:ff:00:00:01", "::", GROUP_US, ns(US6, option=False)),
    "peer_answer6": nd(PEER, US, PEER6, US6, na(PEER6, PEER)),
    "peer_answer6_meek": nd(PEER, US, PEER6, US6, na(PEER6, "02:00:c0:00:02:77", override=0)),
}

print("/* SPDX-License-Identifier: BSD-3-Clause */")
print("#ifndef ROCE_TEST_NEIGH_GOLDEN_H\n#define ROCE_TEST_NEIGH_GOLDEN_H\n")
print("/**\n * @file\n * Frames among neighbours, made by scapy through neigh_golden.py. Do not edit.\n */\n")
print("#include <stdint.h>\n")
for name, frame in FRAMES.items():
    data = bytes(frame).ljust(60, b"\0")
    print(f"static const uint8_t {name}[] = {{ {', '.join(f'0x{b:02x}' for b in data)} }};")
print("\n#endif")
