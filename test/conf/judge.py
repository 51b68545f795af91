#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""An independent judge of RoCEv2 frames.

judge.py [--tshark] [--min N] [--verbose] FILE.pcap ...

Shares nothing with the code it judges: its own opcode table, its own parsing,
zlib's CRC. Frames that are not UDP to port 4791 are counted and not judged.
With --tshark, opcode, PSN and pad count must also be what tshark dissects.

Exit 0: every RoCEv2 frame is right. 1: at least one is not, or fewer than
--min were found. 2: the file cannot be read.
"""
import argparse
import collections
import struct
import subprocess
import sys
import zlib

try:
    from scapy.utils import RawPcapReader
except ImportError:
    RawPcapReader = None

PORT = 4791

# IBTA Vol 1, 9.2.1: name, bytes of extension headers, may carry payload
OPCODES = {
    0x00: ("SEND_FIRST", 0, True),
    0x01: ("SEND_MIDDLE", 0, True),
    0x02: ("SEND_LAST", 0, True),
    0x03: ("SEND_LAST_IMM", 4, True),
    0x04: ("SEND_ONLY", 0, True),
    0x05: ("SEND_ONLY_IMM", 4, True),
    0x06: ("WRITE_FIRST", 16, True),
    0x07: ("WRITE_MIDDLE", 0, True),
    0x08: ("WRITE_LAST", 0, True),
    0x09: ("WRITE_LAST_IMM", 4, True),
    0x0A: ("WRITE_ONLY", 16, True),
    0x0B: ("WRITE_ONLY_IMM", 20, True),
    0x0C: ("READ_REQUEST", 16, False),
    0x0D: ("READ_RESP_FIRST", 4, True),
    0x0E: ("READ_RESP_MIDDLE", 0, True),
    0x0F: ("READ_RESP_LAST", 4, True),
    0x10: ("READ_RESP_ONLY", 4, True),
    0x11: ("ACK", 4, False),
    0x12: ("ATOMIC_ACK", 12, False),
    0x13: ("CMP_SWAP", 28, False),
    0x14: ("FETCH_ADD", 28, False),
    0x16: ("SEND_LAST_INV", 4, True),
    0x17: ("SEND_ONLY_INV", 4, True),
    0x64: ("UD_SEND_ONLY", 8, True),
    0x65: ("UD_SEND_ONLY_IMM", 12, True),
    0x81: ("CNP", 16, False),
    # The extensions of docs/wire.md.
    0xC1: ("SACK", 16, False),
    0xE4: ("SEND_ONLY_PIGGYBACK", 8, True),
    0xE5: ("SEND_ONLY_IMM_PIGGYBACK", 12, True),
    0xEA: ("WRITE_ONLY_PIGGYBACK", 24, True),
    0xEB: ("WRITE_ONLY_IMM_PIGGYBACK", 28, True),
    0xF7: ("SEND_ONLY_INV_PIGGYBACK", 12, True),
}
CNP = 0x81

ONES = b"\xff" * 8
ETHERTYPE = struct.Struct(">H")
UDP = struct.Struct(">HHHH")
BTH = struct.Struct(">BBHII")

Frame = collections.namedtuple("Frame", "opcode psn pad faults")


def locate(data):
    """(offset of IP, offset of UDP, bytes behind the IP header) of a frame to our port, or None."""
    if len(data) < 14:
        return None
    l3 = 14
    kind, = ETHERTYPE.unpack_from(data, 12)
    while kind in (0x8100, 0x88A8) and len(data) >= l3 + 4:
        kind, = ETHERTYPE.unpack_from(data, l3 + 2)
        l3 += 4
    if kind == 0x0800 and len(data) >= l3 + 20 and data[l3] >> 4 == 4:
        header = (data[l3] & 15) * 4
        later = ETHERTYPE.unpack_from(data, l3 + 6)[0] & 0x1FFF
        if data[l3 + 9] != 17 or later or header < 20:
            return None
        payload = ETHERTYPE.unpack_from(data, l3 + 2)[0] - header
    elif kind == 0x86DD and len(data) >= l3 + 40 and data[l3] >> 4 == 6:
        header = 40
        if data[l3 + 6] != 17:
            return None
        payload = ETHERTYPE.unpack_from(data, l3 + 4)[0]
    else:
        return None
    udp = l3 + header
    if len(data) < udp + 4 or ETHERTYPE.unpack_from(data, udp + 2)[0] != PORT:
        return None
    return l3, udp, payload


def icrc(data, l3, udp, end):
    """The invariant CRC of a frame whose ICRC begins at end (IBTA annex A17)."""
    head = bytearray(data[l3:udp + 20])
    if head[0] >> 4 == 4:
        head[1] = head[8] = head[10] = head[11] = 0xFF
    else:
        head[0] |= 0x0F
        head[1] = head[2] = head[3] = head[7] = 0xFF
    bth = udp + 8 - l3
    head[bth - 2] = head[bth - 1] = head[bth + 4] = 0xFF
    return zlib.crc32(data[udp + 20:end], zlib.crc32(head, zlib.crc32(ONES)))


def header_checksum_ok(data, l3, udp):
    if data[l3] >> 4 != 4:
        return True
    total = sum(struct.unpack_from(f">{(udp - l3) // 2}H", data, l3))
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16) == 0xFFFF


def judge(data, captured_whole):
    """The Frame, its faults a list of words; None when it is not RoCEv2."""
    found = locate(data)
    if found is None:
        return None
    l3, udp, ip_payload = found
    faults = []
    if not captured_whole:
        return Frame(None, None, None, ["captured short"])
    if data[l3] >> 4 == 4 and (ETHERTYPE.unpack_from(data, l3 + 6)[0] & 0x2000 or udp - l3 != 20):
        faults.append("fragment or options")
    if not header_checksum_ok(data, l3, udp):
        faults.append("IPv4 checksum")
    if len(data) < udp + 8 + 12 + 4:
        return Frame(None, None, None, faults + ["length: no room for BTH and ICRC"])
    udp_len = UDP.unpack_from(data, udp)[2]
    if udp_len != ip_payload or udp_len < 24 or udp + udp_len > len(data):
        return Frame(None, None, None, faults + ["length: IP, UDP and frame disagree"])

    opcode, flags, pkey, _, psn = BTH.unpack_from(data, udp + 8)
    psn &= 0xFFFFFF
    pad = flags >> 4 & 3
    end = udp + udp_len - 4
    if flags & 15:
        faults.append("version")
    if pkey & 0x7FFF != 0x7FFF:
        faults.append("partition")
    if opcode not in OPCODES:
        faults.append(f"opcode 0x{opcode:02x}")
    else:
        _, extension, carries = OPCODES[opcode]
        body = end - (udp + 20 + extension)
        if body < 0 or (body and not carries):
            faults.append("length: not the opcode's")
        elif body % 4 or pad > body:
            faults.append("pad count")
        elif any(data[end - pad:end]):
            faults.append("pad bytes")
    if icrc(data, l3, udp, end) != struct.unpack_from("<I", data, end)[0]:
        faults.append("ICRC")
    return Frame(opcode, psn, pad, faults)


def read(path):
    """(bytes, captured whole) of every frame of a capture file."""
    reader = RawPcapReader(path)
    try:
        for data, meta in reader:
            link = getattr(meta, "linktype", None) or reader.linktype
            if link != 1:
                raise ValueError(f"link type {link} is not Ethernet")
            yield data, meta.wirelen == len(data)
    finally:
        reader.close()


def tshark(path):
    """Frame number to (opcode, PSN, pad count) as tshark dissects the file."""
    command = ["tshark", "-n", "-r", path, "-Y", "infiniband.bth", "-T", "fields"]
    for protocol in ("rpcordma", "idp", "smc"):
        command += ["--disable-protocol", protocol]
    for field in ("frame.number", "infiniband.bth.opcode", "infiniband.bth.psn",
                  "infiniband.bth.padcnt"):
        command += ["-e", field]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL).stdout.decode()
    seen = {}
    for line in out.splitlines():
        number, *fields = line.split("\t")
        seen[int(number)] = tuple(int(f, 0) if f else None for f in fields)
    return seen


def kind(opcode):
    """What the summary calls a frame; opcode is None when the frame was too short to tell."""
    if opcode is None:
        return "unreadable"
    return OPCODES[opcode][0] if opcode in OPCODES else f"0x{opcode:02x}"


def judge_file(path, args):
    """Prints the summary of one file. Returns (RoCEv2 frames, bad ones)."""
    counts, faults = collections.Counter(), collections.Counter()
    good = {}
    frames = bad = other = 0
    for number, (data, whole) in enumerate(read(path), 1):
        frame = judge(data, whole)
        if frame is None:
            other += 1
            continue
        frames += 1
        counts[kind(frame.opcode)] += 1
        if frame.faults:
            bad += 1
            faults.update(frame.faults)
            if bad <= 10 or args.verbose:
                print(f"{path}: frame {number}: {', '.join(frame.faults)}")
        else:
            good[number] = frame
    if args.tshark:
        seen = tshark(path)
        for number, frame in good.items():
            if frame.opcode == CNP:
                continue
            if seen.get(number) != (frame.opcode, frame.psn, frame.pad):
                bad += 1
                faults["tshark disagrees"] += 1
                print(f"{path}: frame {number}: opcode, PSN, pad are "
                      f"{(frame.opcode, frame.psn, frame.pad)}, tshark saw {seen.get(number)}")
    kinds = " ".join(f"{name}:{n}" for name, n in counts.most_common())
    wrong = " ".join(f"[{name}:{n}]" for name, n in faults.most_common())
    print(f"{path}: {frames} RoCEv2, {bad} bad, {other} other | {kinds} {wrong}".rstrip())
    return frames, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.pcap")
    parser.add_argument("--tshark", action="store_true", help="cross-check with tshark")
    parser.add_argument("--min", type=int, default=0, metavar="N",
                        help="fail unless the files hold at least N RoCEv2 frames")
    parser.add_argument("--verbose", action="store_true", help="print every bad frame")
    args = parser.parse_args()
    if RawPcapReader is None:
        print("judge.py: scapy is not installed (package python3-scapy)", file=sys.stderr)
        return 2
    frames = bad = 0
    for path in args.files:
        try:
            found, wrong = judge_file(path, args)
        except Exception as error:  # unreadable file, no tshark: all the same to the caller
            print(f"judge.py: {path}: {error}", file=sys.stderr)
            return 2
        frames += found
        bad += wrong
    if frames < args.min:
        print(f"only {frames} RoCEv2 frames, at least {args.min} expected")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
