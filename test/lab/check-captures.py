#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads pcap files of RoCEv2 traffic, checks every ICRC and prints what is in them.

usage: check-captures.py [-l] FILE.pcap[.xz]...

-l lists every frame. Without it, one line a file: frames, opcodes, ICRC results, and the
values seen of the fields a peer has to get right. Exit status 1 if an ICRC does not fit.
"""
import argparse
import collections
import lzma
import signal
import struct
import sys
import zlib

NAMES = ["SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_IMM", "SEND_ONLY", "SEND_ONLY_IMM", "WRITE_FIRST",
         "WRITE_MIDDLE", "WRITE_LAST", "WRITE_LAST_IMM", "WRITE_ONLY", "WRITE_ONLY_IMM", "READ_REQUEST",
         "READ_RESP_FIRST", "READ_RESP_MIDDLE", "READ_RESP_LAST", "READ_RESP_ONLY", "ACK", "ATOMIC_ACK",
         "CMP_SWAP", "FETCH_ADD", "?", "SEND_LAST_INV", "SEND_ONLY_INV"]
CM = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP", 0x17: "SIDR_REQ", 0x18: "SIDR_REP"}
NAK = {0: "PSN sequence error", 1: "invalid request", 2: "remote access error", 3: "remote operational error", 4: "invalid RD request"}
RETH = {6, 10, 11, 12}
AETH = {13, 15, 16, 17, 18}
IMM = {3, 5, 9, 11}


def frames(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as f:
        data = f.read()
    magic = struct.unpack("<I", data[:4])[0]
    order, scale = {0xA1B2C3D4: ("<", 1e6), 0xD4C3B2A1: (">", 1e6), 0xA1B23C4D: ("<", 1e9)}[magic]
    at = 24
    while at + 16 <= len(data):
        sec, frac, caplen, length = struct.unpack(order + "IIII", data[at:at + 16])
        yield sec + frac / scale, data[at + 16:at + 16 + caplen], length
        at += 16 + caplen


def icrc(ip, ip_len):
    """ICRC of a RoCEv2 packet: 8 bytes of ones for the absent LRH, the fields that may change on the way as ones."""
    b = bytearray(ip)
    if b[0] >> 4 == 4:
        b[1] = b[8] = 0xFF
        b[10:12] = b"\xff\xff"
    else:
        b[0] |= 0x0F
        b[1:4] = b"\xff\xff\xff"
        b[7] = 0xFF
    b[ip_len + 6:ip_len + 8] = b"\xff\xff"  # UDP checksum
    b[ip_len + 8 + 4] = 0xFF                # BTH FECN, BECN, reserved
    return zlib.crc32(bytes(b), zlib.crc32(b"\xff" * 8))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-l", action="store_true")
    ap.add_argument("file", nargs="+")
    a = ap.parse_args()
    bad_total = 0
    for path in a.file:
        ops, seen, bad, good, other, first = collections.Counter(), collections.defaultdict(set), 0, 0, 0, None
        for when, fr, length in frames(path):
            first = first or when
            kind, at = struct.unpack_from("!H", fr, 12)[0], 14
            if kind == 0x0800 and fr[at + 9] == 17:
                ip_len, total = (fr[at] & 15) * 4, struct.unpack_from("!H", fr, at + 2)[0]
                seen["tos"].add(fr[at + 1])
                seen["ttl"].add(fr[at + 8])
                seen["frag"].add(struct.unpack_from("!H", fr, at + 6)[0])
                src, dst = ".".join(map(str, fr[at + 12:at + 16])), ".".join(map(str, fr[at + 16:at + 20]))
            elif kind == 0x86DD and fr[at + 6] == 17:
                ip_len, total = 40, 40 + struct.unpack_from("!H", fr, at + 4)[0]
                seen["tos"].add(struct.unpack_from("!H", fr, at)[0] >> 4 & 0xFF)
                seen["ttl"].add(fr[at + 7])
                src, dst = fr[at + 8:at + 24].hex(), fr[at + 24:at + 40].hex()
            else:
                other += 1
                continue
            sport, dport, ulen, csum = struct.unpack_from("!HHHH", fr, at + ip_len)
            if dport != 4791:
                other += 1
                continue
            ip = fr[at:at + total - 4]
            ok = icrc(ip, ip_len) == struct.unpack("<I", fr[at + total - 4:at + total])[0]
            good, bad = good + ok, bad + (not ok)
            b = at + ip_len + 8
            op, flags, pkey, qp, psn = struct.unpack_from("!BBHII", fr, b)
            pad, ack, qp, psn = flags >> 4 & 3, psn >> 31, qp & 0xFFFFFF, psn & 0xFFFFFF
            name, extra = NAMES[op] if op < len(NAMES) else f"op{op:#x}", ""
            x = b + 12
            if op == 100:
                name = CM.get(struct.unpack_from("!H", fr, x + 8 + 16)[0], "UD")
                if name == "REJ":
                    extra = f" reason {struct.unpack_from('!H', fr, x + 8 + 24 + 10)[0]}"
            if op in RETH:
                extra += " va %#x rkey %#x len %d" % struct.unpack_from("!QII", fr, x)
                x += 16
            if op in (19, 20):
                x += 28
            if op in AETH:
                syndrome, msn = fr[x], struct.unpack_from("!I", fr, x)[0] & 0xFFFFFF
                if op == 17:
                    seen["credits"].add(syndrome & 31 if syndrome < 32 else None)
                if syndrome >= 0x60:
                    name = "NAK"
                    extra += f" {NAK.get(syndrome & 31, syndrome)}"
                elif syndrome >= 0x20:
                    name = "RNR"
                    extra += f" timer {syndrome & 31}"
                else:
                    extra += f" credits {syndrome & 31}"
                extra += f" msn {msn}"
            seen["pad"].add(pad)
            seen["mig"].add(flags >> 6 & 1)
            seen["pkey"].add(pkey)
            seen["csum"].add(csum)
            seen["sport"].add(sport)
            ops[name] += 1
            if a.l:
                print(f"{when - first:9.6f} {src} > {dst} sport {sport} {name}{' A' if ack else ''}{' S' if flags & 0x80 else ''} qp {qp:#x} psn {psn}"
                      f"{f' pad {pad}' if pad else ''}{extra} len {len(fr)}{'' if ok else '  BAD ICRC'}")
        fmt = lambda k: "/".join(f"{v:#x}" if k in ("frag", "pkey", "csum") else str(v) for v in sorted(seen[k], key=lambda v: -1 if v is None else v))
        print(f"{path.split('/')[-1].removesuffix('.xz')}: {good + bad} RoCEv2 ({bad} bad ICRC), {other} other | "
              + " ".join(f"{k}:{v}" for k, v in ops.items()) + " | " + " ".join(f"{k}={fmt(k)}" for k in sorted(seen)))
        bad_total += bad
    return bool(bad_total)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
