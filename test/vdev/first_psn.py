#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each end begins with the PSN that the other one has named.

first_psn.py REQUESTS.pcap ANSWERS.pcap

The starting PSN in a REQ or REP is the first that its sender wants to receive, so the peer's requests begin with it
(as recorded between Linux hosts; IBTA Vol 1, 12.7.31). Prints what differs and exits with 1.
"""
import struct
import sys

from capture import read

UDP, BTH = 34, 42
UD_SEND_ONLY, SEND_FIRST_TO_ONLY_IMM = 0x64, range(0x00, 0x06)
MAD = BTH + 12 + 8
# Attribute identifier: where the PSN stands in the MAD.
STARTING_PSN = {0x10: 68, 0x13: 44}


def number24(data, at):
    return struct.unpack_from("!I", data, at)[0] >> 8


def named(name, attribute):
    """The PSN in the first message of that kind."""
    for frame in read(name):
        if frame[12:14] == b"\x08\x00" and frame[UDP + 2:UDP + 4] == struct.pack("!H", 4791) and \
                frame[BTH] == UD_SEND_ONLY and struct.unpack_from("!H", frame, MAD + 16)[0] == attribute:
            return number24(frame, MAD + STARTING_PSN[attribute])
    return None


def first_sent(name):
    for frame in read(name):
        if frame[12:14] == b"\x08\x00" and frame[UDP + 2:UDP + 4] == struct.pack("!H", 4791) and \
                frame[BTH] in SEND_FIRST_TO_ONLY_IMM:
            return struct.unpack_from("!I", frame, BTH + 8)[0] & 0xFFFFFF
    return None


def main():
    requests, answers = sys.argv[1:]
    wanted, sent = named(answers, 0x13), first_sent(requests)
    print(f"the REP names {wanted:#x}, the first SEND has {sent:#x}; the REQ names {named(requests, 0x10):#x}")
    return wanted != sent


if __name__ == "__main__":
    sys.exit(main())
