#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Talks that nobody recorded, frame by frame by scapy: kinds of talk that the recordings of Linux have not.

craft.py --write DIR    make DIR/NAME.pcap.xz
craft.py --check DIR    make them again and compare; exit 77 without scapy
craft.py --replay PROGRAM
                        play them, and each once more with a fault that PROGRAM must find, among files that are none

Headers and ICRCs are scapy's; what stands in a management datagram is packed here, by the tables of IBTA Vol 1, 12.6.
"""
import argparse
import io
import lzma
import os
import socket
import struct
import subprocess
import sys
import tempfile

try:
    from scapy.all import ARP, IP, UDP, Ether, Raw, PcapWriter, conf
    from scapy.contrib.roce import BTH
except ImportError:
    print("scapy is not installed: skipped")
    sys.exit(77)

conf.verb = 0

CLIENT, SERVER = 0, 1
MACS = ("02:00:00:00:00:0b", "02:00:00:00:00:0a")
IPS = ("192.0.2.1", "192.0.2.2")
OTHER = ("02:00:00:00:00:0c", "192.0.2.77")
QPNS = (0x17, 0x23)
PSNS = (0x0A0000, 0xFFFFFE)  # what each side's requests begin with; the second one passes the end of the numbers
IDS = (0x11112222, 0x33334444)
TID = 0x5151
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY, READ, READ_ONLY, ACK, CNP = 0, 1, 2, 4, 0x0C, 0x10, 0x11, 0x81
UD_SEND = 0x64
REQ, MRA, REP, RTU, DREQ, DREP = 0x10, 0x11, 0x13, 0x14, 0x15, 0x16
CREDITS_NONE, RNR, NAK = 0x1F, 0x20, 0x60
NAK_SEQUENCE, NAK_INVALID = 0, 1
RNR_TIMER = 20  # 10.24 ms
GUIDS = (0x0200_00FF_FE00_000B, 0x0200_00FF_FE00_000A)


def data(length, seed):
    return bytes((seed + 7 * i + (i >> 8)) & 0xFF for i in range(length))


def mapped(address):
    """An IPv4 address as a GID."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


class Talk:
    """Frames of two hosts, and the time. spoil: the acknowledgement with this number counts one message too many."""

    def __init__(self, spoil=None, tos=0):
        self.frames, self.now, self.tos, self.spoil, self.acks = [], 1000000, tos, spoil, 0

    def put(self, packet):
        self.frames.append((self.now, bytes(packet)))
        self.now += 200

    def wait(self, seconds):
        self.now += round(seconds * 1e6)

    def roce(self, side, opcode, psn, body=b"", qpn=None, tos=None, **bth):
        pad = -len(body) % 4
        ip = IP(src=IPS[side], dst=IPS[1 - side], tos=self.tos if tos is None else tos, ttl=64, flags="DF", id=7)
        self.put(Ether(src=MACS[side], dst=MACS[1 - side]) / ip / UDP(sport=50001, dport=4791, chksum=0) /
                 BTH(opcode=opcode, padcount=pad, dqpn=QPNS[1 - side] if qpn is None else qpn, psn=psn & 0xFFFFFF,
                     pkey=0xFFFF, **bth) / Raw(body + bytes(pad)))

    def send(self, side, psn, length=64, mtu=1024, **more):
        """A SEND of as many packets as it takes. Returns the PSN behind it."""
        body, packets = data(length, psn & 0xFF), max(-(-length // mtu), 1)
        for i in range(packets):
            last = i == packets - 1
            opcode = SEND_ONLY if packets == 1 else SEND_FIRST if i == 0 else SEND_LAST if last else SEND_MIDDLE
            self.roce(side, opcode, psn + i, body[i * mtu:(i + 1) * mtu], ackreq=int(last), **more)
        return psn + packets

    def answer(self, side, psn, msn, syndrome=CREDITS_NONE):
        msn += self.acks == self.spoil
        self.acks += 1
        self.roce(side, ACK, psn, struct.pack("!I", syndrome << 24 | msn))

    # ---- connections

    def mad(self, side, attr, body):
        head = struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, TID, attr, 0, 0)
        self.roce(side, UD_SEND, 9, struct.pack("!II", 0x80010000, 1) + head + body + bytes(232 - len(body)), qpn=1,
                  ackreq=1)

    def ids(self, side):
        return struct.pack("!II", IDS[side], IDS[1 - side])

    def request(self):
        path = struct.pack("!HH", 0xFFFF, 0xFFFF) + mapped(IPS[0]) + mapped(IPS[1]) + \
            struct.pack("!IBBBB", 0x12345 << 12, self.tos, 64, 0, 19 << 3)
        private = struct.pack("!BBH", 0, 0x40, 0x9876) + bytes(12) + socket.inet_aton(IPS[0]) + bytes(12) + \
            socket.inet_aton(IPS[1])
        self.mad(CLIENT, REQ, struct.pack(
            "!IIQQIIIIIIHBB", IDS[CLIENT], 0, 0x01061D2F, GUIDS[CLIENT], 0, 0, QPNS[CLIENT] << 8 | 16, 16,
            20 << 3 | 1, PSNS[SERVER] << 8 | 20 << 3 | 7, 0xFFFF, 3 << 4 | 7, 0xF0) + path + bytes(44) + private)

    def more_time(self):
        self.mad(SERVER, MRA, self.ids(SERVER) + struct.pack("!BB", 0, 24 << 3))

    def reply(self, srq=False):
        self.mad(SERVER, REP, self.ids(SERVER) + struct.pack(
            "!IIIIBBBBQ", 0, QPNS[SERVER] << 8, 0, PSNS[CLIENT] << 8, 16, 16, 0 if srq else 1, 7 << 5 | srq << 4,
            GUIDS[SERVER]))

    def connect(self, srq=False):
        self.request()
        self.wait(0.01)
        self.reply(srq)
        self.mad(CLIENT, RTU, self.ids(CLIENT))
        self.wait(0.01)

    def disconnect(self):
        self.wait(0.01)
        self.mad(CLIENT, DREQ, self.ids(CLIENT) + struct.pack("!I", QPNS[SERVER] << 8))
        self.mad(SERVER, DREP, self.ids(SERVER))

    def bytes(self):
        out = io.BytesIO()
        writer = PcapWriter(out, linktype=1, endianness="<")
        writer.write_header(None)
        for microseconds, frame in self.frames:
            writer.write_packet(frame, sec=microseconds // 1000000, usec=microseconds % 1000000)
        writer.flush()
        return out.getvalue()


def mra_before_rep(talk):
    """The server asks for more time before it accepts, though the request came once."""
    talk.request()
    talk.wait(0.004)
    talk.more_time()
    talk.wait(0.1)
    talk.reply()
    talk.mad(CLIENT, RTU, talk.ids(CLIENT))
    talk.wait(0.01)
    psn = talk.send(CLIENT, PSNS[CLIENT])
    talk.answer(SERVER, psn - 1, 1)
    talk.disconnect()


def service_class(talk):
    """Every frame has DSCP 26 and may be marked."""
    talk.connect()
    for side in (CLIENT, SERVER):
        psn = talk.send(side, PSNS[side])
        talk.answer(1 - side, psn - 1, 1)
    talk.disconnect()


def path_mtu(mtu):
    def talk_at(talk):
        """Packets smaller than any that rdma_cm chooses on Ethernet, in both directions, and nobody says so before."""
        for side in (CLIENT, SERVER):
            psn = talk.send(side, PSNS[side], 3 * mtu + 5, mtu)
            talk.answer(1 - side, psn - 1, 1)
            psn = talk.send(side, psn, 64, mtu)
            talk.answer(1 - side, psn - 1, 2)
    return talk_at


def finite_srq(talk):
    """Two receives for three SENDs; the third one finds one when it comes for the third time, and the fourth behind it."""
    talk.connect(srq=True)
    psn = PSNS[CLIENT]
    for i in range(4):
        talk.send(CLIENT, psn + i)
    talk.answer(SERVER, psn, 1)
    talk.answer(SERVER, psn + 1, 2)
    for _ in range(2):
        talk.answer(SERVER, psn + 2, 2, RNR | RNR_TIMER)
        talk.answer(SERVER, psn + 2, 2, NAK | NAK_SEQUENCE)
        talk.wait(0.03)
        talk.send(CLIENT, psn + 2)
        talk.send(CLIENT, psn + 3)
    talk.answer(SERVER, psn + 2, 3)
    talk.answer(SERVER, psn + 3, 4)
    talk.disconnect()


def dies(talk):
    """The server's queue pair is destroyed behind its first message: silence."""
    psn = talk.send(CLIENT, PSNS[CLIENT])
    talk.answer(SERVER, psn - 1, 1)
    talk.wait(0.01)
    for _ in range(8):
        talk.send(CLIENT, psn)
        talk.wait(0.07)


def invalid_request(talk):
    """A SEND is longer than its receive, and refused in the words of the standard; the one behind it is flushed."""
    psn = talk.send(CLIENT, PSNS[CLIENT], 100)
    talk.answer(SERVER, psn - 1, 1)
    talk.send(CLIENT, psn, 3000)
    talk.send(CLIENT, psn + 3)
    talk.answer(SERVER, psn, 1, NAK | NAK_INVALID)


def crowd(talk):
    """Others on the same wire, and a congestion notification."""
    talk.put(Ether(src=OTHER[0], dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=OTHER[0], psrc=OTHER[1], pdst=IPS[0]))
    psn = talk.send(CLIENT, PSNS[CLIENT], 3000)
    talk.put(Ether(src=OTHER[0], dst=MACS[1]) / IP(src=OTHER[1], dst=IPS[1], flags="DF") /
             UDP(sport=50005, dport=4791, chksum=0) /
             BTH(opcode=SEND_ONLY, dqpn=0x99, psn=5, pkey=0xFFFF, ackreq=1) / Raw(bytes(16)))
    talk.roce(SERVER, CNP, 0, bytes(16), becn=1)
    talk.answer(SERVER, psn - 1, 1)


TALKS = {
    "mra-before-rep": (mra_before_rep, {}), "service-class": (service_class, {"tos": 0x6A}),
    "mtu-256": (path_mtu(256), {}), "mtu-512": (path_mtu(512), {}), "finite-srq": (finite_srq, {}), "dies": (dies, {}),
    "invalid-request": (invalid_request, {}), "crowd": (crowd, {}),
}


def make(name, spoil=None):
    play, options = TALKS[name]
    talk = Talk(spoil, **options)
    play(talk)
    return talk.bytes()


def path_of(folder, name):
    return os.path.join(folder, f"{name}.pcap.xz")


def write(folder):
    os.makedirs(folder, exist_ok=True)
    for name in TALKS:
        with lzma.open(path_of(folder, name), "wb", preset=9) as out:
            out.write(make(name))


def check(folder):
    """The names of talks that stand there otherwise."""
    wrong = []
    for name in TALKS:
        with lzma.open(path_of(folder, name)) as kept:
            if kept.read() != make(name):
                wrong.append(name)
    print(f"{len(TALKS)} talks, {len(wrong)} other than kept {' '.join(wrong)}")
    return bool(wrong)


def replay(program):
    """Right ones are right, each one with a fault is wrong, and nothing keeps the files behind it from being played."""
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name in TALKS:
            for suffix, spoil in (("right", None), ("spoiled", 0)):
                with open(os.path.join(folder, f"{name}-{suffix}.pcap"), "wb") as out:
                    out.write(make(name, spoil))
        with open(os.path.join(folder, "a-picture.pcap"), "wb") as out:
            out.write(b"\x89PNG" + bytes(100))
        with open(os.path.join(folder, "half.pcap.xz"), "wb") as out:
            out.write(lzma.compress(make("dies"))[:-40])
        run = subprocess.run([program], env=dict(os.environ, ROCE_CAPTURES=folder), text=True, capture_output=True,
                             check=False)
    said = run.stdout + run.stderr
    wanted = {f"{name}-spoiled" for name in TALKS} | {"a-picture", "half"}
    wrong = {line.split()[1] for line in said.splitlines() if line.startswith("wrong: ")}
    bad += [f"{name} is right, but judged wrong" for name in sorted(wrong - wanted)]
    bad += [f"{name} is wrong, but judged right" for name in sorted(wanted - wrong)]
    if f"{2 * len(TALKS) + 2} files: {len(TALKS)} right, {len(wanted)} wrong" not in said:
        bad.append("the sum is another one")
    if bad:
        print(said)
    print("\n".join(bad) or f"{len(TALKS)} right ones and {len(wanted)} wrong ones told apart")
    return bool(bad)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", metavar="DIR")
    parser.add_argument("--check", metavar="DIR")
    parser.add_argument("--replay", metavar="PROGRAM")
    args = parser.parse_args()
    if args.write:
        write(args.write)
    return (check(args.check) if args.check else False) or (replay(args.replay) if args.replay else False)


if __name__ == "__main__":
    sys.exit(main())
