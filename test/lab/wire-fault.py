#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A wire between two Ethernet interfaces that loses, repeats, delays or spoils chosen frames.

usage: wire-fault.py [-v] LEFT RIGHT [RULE...]

Frames pass from LEFT to RIGHT and back. RULE is a list of words joined by commas: one
action, then conditions on the frame. The first rule that applies decides.

actions      drop  dup  delay=MS  corrupt=OFFSET (flips one bit of that byte; negative: from the end)
             reorder (the frame goes out after the next one in its direction)
conditions   from=LEFT|RIGHT    direction, by interface name
             op=N[/N...]        BTH opcode (decimal or 0x..), RoCEv2 frames only
             psn=+N             N-th PSN after the first one seen in this direction of this QP
             qp=N               destination QP
             mad=N              attribute id of a CM MAD to QP1 (0x10 REQ, 0x13 REP, 0x14 RTU, 0x15 DREQ ...)
             nth=N  every=N     only the N-th / each N-th frame that meets the conditions before
             count=N            at most N times (default: nth, psn: once; otherwise no limit)
             prob=P             with probability P (of a fixed seed: the same every run)

Prints a line "ready", then one line for each frame a rule has changed.
"""
import argparse
import heapq
import random
import select
import socket
import struct
import sys
import time

ETH_P_ALL, SOL_PACKET, PACKET_IGNORE_OUTGOING, PACKET_ADD_MEMBERSHIP = 3, 263, 23, 1


def parse_bth(frame):
    """(opcode, dest_qp, psn, mad_attr) of a RoCEv2 frame, or None."""
    try:
        kind, at = struct.unpack_from("!H", frame, 12)[0], 14
        if kind == 0x8100:
            kind, at = struct.unpack_from("!H", frame, 16)[0], 18
        if kind == 0x0800 and frame[at + 9] == 17:
            at += (frame[at] & 15) * 4
        elif kind == 0x86DD and frame[at + 6] == 17:
            at += 40
        else:
            return None
        if struct.unpack_from("!H", frame, at + 2)[0] != 4791:
            return None
        at += 8
        opcode, qp, psn = frame[at], struct.unpack_from("!I", frame, at + 4)[0] & 0xFFFFFF, struct.unpack_from("!I", frame, at + 8)[0] & 0xFFFFFF
        mad = struct.unpack_from("!H", frame, at + 12 + 8 + 16)[0] if qp == 1 and opcode == 100 else None
        return opcode, qp, psn, mad
    except (struct.error, IndexError):
        return None


class Rule:
    def __init__(self, text):
        self.text, self.matched, self.done = text, 0, 0
        self.action, _, self.arg = text.split(",")[0].partition("=")
        if self.action not in ("drop", "dup", "delay", "corrupt", "reorder"):
            sys.exit(f"wire-fault.py: no action {self.action!r} in {text!r}")
        self.cond = dict(w.partition("=")[::2] for w in text.split(",")[1:])
        unknown = set(self.cond) - {"from", "op", "psn", "qp", "mad", "nth", "every", "count", "prob"}
        if unknown:
            sys.exit(f"wire-fault.py: unknown condition {unknown} in {text!r}")
        self.ops = {int(x, 0) for x in self.cond["op"].split("/")} if "op" in self.cond else None
        once = 1 if {"nth", "psn"} & set(self.cond) else 0
        self.count = int(self.cond.get("count", once))
        self.random = random.Random(1)

    def applies(self, src, bth, psn_offset):
        c = self.cond
        if self.count and self.done >= self.count:
            return False
        if "from" in c and c["from"] != src:
            return False
        if {"op", "psn", "qp", "mad"} & set(c) and bth is None:
            return False
        if self.ops is not None and bth[0] not in self.ops:
            return False
        if "qp" in c and bth[1] != int(c["qp"], 0):
            return False
        if "mad" in c and bth[3] != int(c["mad"], 0):
            return False
        if "psn" in c and psn_offset != int(c["psn"]):
            return False
        self.matched += 1
        if "nth" in c and self.matched < int(c["nth"]):
            return False
        if "every" in c and self.matched % int(c["every"]):
            return False
        if "prob" in c and self.random.random() >= float(c["prob"]):
            return False
        self.done += 1
        return True


def open_if(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    s.bind((name, ETH_P_ALL))
    promiscuous = struct.pack("iHH8s", socket.if_nametoindex(name), 1, 0, b"")
    s.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, promiscuous)
    s.setblocking(False)
    return s


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-v", action="store_true", help="a line for every RoCEv2 frame")
    ap.add_argument("left")
    ap.add_argument("right")
    ap.add_argument("rule", nargs="*", type=Rule)
    a = ap.parse_args()
    ends = {a.left: open_if(a.left), a.right: open_if(a.right)}
    other = {a.left: a.right, a.right: a.left}
    name_of = {s: n for n, s in ends.items()}
    first_psn, held, later, serial = {}, {}, [], 0
    start = time.monotonic()
    print("ready", flush=True)

    def send(src, frame):
        try:
            ends[other[src]].send(frame)
        except OSError as e:
            print(f"send to {other[src]}: {e}, {len(frame)} bytes", flush=True)

    while True:
        wait = max(0, later[0][0] - time.monotonic()) if later else None
        ready, _, _ = select.select(list(name_of), [], [], wait)
        while later and later[0][0] <= time.monotonic():
            _, _, src, frame = heapq.heappop(later)
            send(src, frame)
        for s in ready:
            src = name_of[s]
            for _ in range(64):
                try:
                    frame = s.recv(65536)
                except BlockingIOError:
                    break
                bth = parse_bth(frame)
                offset = None
                if bth and bth[1] != 1:
                    base = first_psn.setdefault((src, bth[1]), bth[2])
                    offset = (bth[2] - base) & 0xFFFFFF
                if bth and a.v:
                    print(f"{time.monotonic() - start:9.4f} {src} op {bth[0]:#04x} qp {bth[1]:#x} psn {bth[2]:#08x} (+{offset}) {len(frame)}", flush=True)
                rule = next((r for r in a.rule if r.applies(src, bth, offset)), None)
                if rule:
                    what = f"op {bth[0]:#04x} qp {bth[1]:#x} psn {bth[2]:#08x}" if bth else "not RoCEv2"
                    print(f"{time.monotonic() - start:9.4f} {rule.text}: from {src}, {what}, {len(frame)} bytes", flush=True)
                if rule is None:
                    send(src, frame)
                elif rule.action == "dup":
                    send(src, frame)
                    send(src, frame)
                elif rule.action == "delay":
                    serial += 1
                    heapq.heappush(later, (time.monotonic() + float(rule.arg) / 1000, serial, src, frame))
                elif rule.action == "corrupt":
                    b = bytearray(frame)
                    b[int(rule.arg or -1)] ^= 1
                    send(src, bytes(b))
                elif rule.action == "reorder":
                    held[src] = frame
                    continue
                if src in held:
                    send(src, held.pop(src))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
