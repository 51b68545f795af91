#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A recording with mistakes, and what roce-replay must say of each frame.

mistreat.py make IN.pcap VERDICTS OUT.pcap EXPECTED   frames that are wrong, each in one way, among those of IN, of which
                                                      VERDICTS says what they are
mistreat.py check VERDICTS EXPECTED                   exit 1 when a verdict is not the expected one
"""
import sys

import capture

BTH = 14 + 20 + 8
SEND_OPCODES = range(0x00, 0x05)
FOREIGN = bytes.fromhex("ffffffffffff" "020000000009" "88b5").ljust(60, b"\0")


def read_verdicts(name):
    """(verdict, counter) of each frame."""
    with open(name, encoding="ascii") as file:
        return [tuple(line.split("\t")[1:3]) for line in file if line[0].isdigit()]


def changed(data, at, byte):
    return data[:at] + bytes([byte]) + data[at + 1:]


def mistakes(data, ahead):
    """Frames to come before a SEND, and what must be said of each."""
    yield FOREIGN, ("foreign", "rx_foreign")
    yield changed(data, BTH, 0x1f), ("malformed", "rx_malformed_opcode")
    yield changed(data, BTH + 1, data[BTH + 1] | 1), ("malformed", "rx_malformed_version")
    yield changed(data, BTH + 3, 0x7f), ("malformed", "rx_malformed_pkey")
    yield changed(data, 39, data[39] ^ 0x40), ("malformed", "rx_malformed_length")
    yield changed(data, len(data) - 5, data[-5] ^ 1), ("malformed", "rx_icrc_encapsulated")
    if ahead is not None:
        yield ahead, ("out-of-sequence", "out_of_sequence")


def make(source, verdicts, name, expected):
    frames, said = list(capture.read(source)), read_verdicts(verdicts)
    assert len(frames) == len(said), f"{len(frames)} frames and {len(said)} verdicts"
    sends = [i for i, data in enumerate(frames) if data[BTH] in SEND_OPCODES and said[i] == ("accepted", "rx_frames")]
    # Every seventh, so that the rules meet messages of each kind; the next of its kind is one ahead of it.
    chosen = {i: sends[n + 1] for n, i in enumerate(sends[:-1]) if n % 7 == 0}
    with open(name, "wb") as out, open(expected, "w", encoding="ascii") as want:
        out.write(capture.HEADER)

        def put(data, verdict):
            capture.write(out, data)
            want.write("\t".join(verdict) + "\n")

        for i, data in enumerate(frames):
            if i in chosen:
                for wrong, verdict in mistakes(data, frames[chosen[i]]):
                    put(wrong, verdict)
            # Frames that came ahead were kept, and executed behind the frame that was missing.
            put(data, ("duplicate", "duplicate_request") if i in chosen.values() else said[i])
            if i in chosen:
                put(data, ("duplicate", "duplicate_request"))
    return 0


def check(verdicts, expected):
    said = read_verdicts(verdicts)
    with open(expected, encoding="ascii") as file:
        want = [tuple(line.rstrip("\n").split("\t")) for line in file]
    for number, (is_, should) in enumerate(zip(said, want), 1):
        if is_ != should:
            print(f"frame {number}: {is_} instead of {should}")
            return 1
    if len(said) != len(want):
        print(f"{len(said)} verdicts of {len(want)} frames")
        return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 6:
        sys.exit(make(*sys.argv[2:]))
    if sys.argv[1:2] == ["check"] and len(sys.argv) == 4:
        sys.exit(check(*sys.argv[2:]))
    sys.exit(__doc__)
