#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""test_judge.py DIR: the judge finds what is wrong with damaged golden frames, and nothing else."""
import struct
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

import judge  # noqa: E402


def bit_is_free(frame, at, mask):
    """A bit that a router may change, or that lies below the IP header or behind the datagram."""
    l3, udp, _ = judge.locate(frame)
    end = udp + struct.unpack_from(">H", frame, udp + 4)[0]
    if at < l3 or at >= end or at in (udp + 6, udp + 7, udp + 12):
        return True
    if frame[l3] >> 4 == 4:
        return False  # the header checksum sees TOS and TTL
    return at == l3 and mask & 0x0F or at - l3 in (1, 2, 3, 7)


def check_damage(frame):
    """Every bit of a right frame, flipped: a fault, or no longer RoCEv2, or a free bit."""
    errors = []
    for bit in range(14 * 8, len(frame) * 8):
        at, mask = bit // 8, 1 << bit % 8
        damaged = bytearray(frame)
        damaged[at] ^= mask
        verdict = judge.judge(bytes(damaged), True)
        if verdict is None:
            continue
        if bool(verdict.faults) == bool(bit_is_free(frame, at, mask)):
            errors.append(f"byte {at} mask 0x{mask:02x}: {verdict.faults}")
    return errors


def reseal(frame):
    """The frame with its ICRC computed anew, so that only the other fault is left."""
    l3, udp, _ = judge.locate(frame)
    end = udp + struct.unpack_from(">H", frame, udp + 4)[0] - 4
    return frame[:end] + struct.pack("<I", judge.icrc(frame, l3, udp, end)) + frame[end + 4:]


def check_faults(frame):
    """One fault at a time in an untagged IPv4 SEND only of 5 bytes, under a right ICRC."""
    wrong = {
        "version": (43, frame[43] | 1),
        "partition": (44, 0x12),
        "opcode 0xff": (42, 0xFF),
        "pad bytes": (61, 1),
        "length: not the opcode's": (42, 0x11),
    }
    errors = []
    for fault, (at, value) in wrong.items():
        damaged = bytearray(frame)
        damaged[at] = value
        got = judge.judge(reseal(bytes(damaged)), True).faults
        if got != [fault]:
            errors.append(f"expected [{fault}], got {got}")
    for cut in range(38, len(frame)):
        if not judge.judge(frame[:cut], True).faults:
            errors.append(f"cut to {cut} bytes: no fault found")
    if not judge.judge(frame, False).faults:
        errors.append("captured short: no fault found")
    return errors


def main():
    if judge.RawPcapReader is None:
        print("scapy is not installed: skipped")
        return 77
    errors = []
    frames = [data for data, _ in judge.read(f"{sys.argv[1]}/golden.pcap")]
    with open(f"{sys.argv[1]}/golden.tsv", encoding="ascii") as table:
        names = [line.split("\t")[0] for line in table][1:]
    for name, frame in zip(names, frames):
        faults = judge.judge(frame, True).faults
        if faults:
            errors.append(f"{name}: {faults}")
    for prefix in ("SEND_ONLY_WITH_INVALIDATE-v4-vlan", "ACKNOWLEDGE-v6-vlan", "peer-v6-label"):
        name = next(n for n in names if n.startswith(prefix))
        errors += [f"{name}: {error}" for error in check_damage(frames[names.index(name)])]
    errors += check_faults(frames[names.index("peer-ip-id-no-df")])
    for error in errors:
        print(error)
    print(f"{len(frames)} frames, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
