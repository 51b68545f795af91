# SPDX-License-Identifier: BSD-3-Clause
"""Frames of RoCEv2 by hand, on an interface of the kernel: for peers that keep no rule. (IBTA Vol 1, 5.2, 12.6; annex A17)"""
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conf"))
import judge  # noqa: E402

ETH_P_ALL = 3
PORT = 4791
UD_SEND = 0x64
SEND_FIRST, SEND_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMMEDIATE, WRITE_ONLY_IMMEDIATE = 0x00, 0x04, 0x06, 0x07, 0x09, 0x0B
READ, READ_FIRST, READ_ONLY, ACK, ATOMIC_ACK, FETCH_ADD = 0x0C, 0x0D, 0x10, 0x11, 0x12, 0x14
REQ, MRA, REJ, REP, RTU, DREQ, DREP = range(0x10, 0x17)
CREDITS_NONE, RNR, NAK = 0x1F, 0x20, 0x60
NAK_REMOTE_ACCESS = 2
RNR_TIMER = 20  # 10.24 ms
MTU, MTU_CODE = 1024, 3
MASK = 0xFFFFFF


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def mapped(address):
    """An IPv4 address as a GID."""
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def bth(opcode, qpn, psn, body=b"", ack=True):
    """A packet from its base transport header to the end of its padding."""
    pad = -len(body) % 4
    return struct.pack("!BBHII", opcode, 0x40 | pad << 4, 0xFFFF, qpn, ack << 31 | psn & MASK) + body + bytes(pad)


def reth(address, key, length):
    return struct.pack("!QII", address, key, length)


def mad(attribute, tid, body):
    head = struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0, tid, attribute, 0, 0)
    return bth(UD_SEND, 1, 9, struct.pack("!II", 0x80010000, 1) + head + body + bytes(232 - len(body)))


def request(local_id, tid, port, qpn, psn, mine, server, private):
    """A REQ; psn is that of the server's first request."""
    path = struct.pack("!HH", 0xFFFF, 0xFFFF) + mapped(mine) + mapped(server) + struct.pack("!IBBBB", 0, 0, 64, 0, 17 << 3)
    ip_cm = struct.pack("!BBH", 0, 0x40, 0x8001) + bytes(12) + socket.inet_aton(mine) + bytes(12) + socket.inet_aton(server)
    numbers = struct.pack("!IIQQIIIIIIHBB", local_id, 0, 0x1060000 | port, 1, 0, 0, qpn << 8 | 16, 16, 20 << 3 | 1,
                          psn << 8 | 20 << 3 | 7, 0xFFFF, MTU_CODE << 4 | 7, 0xF0)
    return mad(REQ, tid, numbers + path + bytes(44) + ip_cm + private)


class Frame:
    """One that came: of the transport, or a message of the connection manager."""

    def __init__(self, data):
        packet = data[42:]
        self.opcode, flags, _, qpn, psn = struct.unpack_from("!BBHII", packet)
        self.qpn, self.psn = qpn & MASK, psn & MASK
        end = 42 + struct.unpack_from("!H", data, 38)[0] - 8 - 4
        self.rest = data[54:end - (flags >> 4 & 3)]
        self.attribute, self.ids = 0, (0, 0)
        if self.opcode == UD_SEND and self.qpn == 1:
            self.mad = self.rest[8:]
            self.tid, self.attribute = struct.unpack_from("!QH", self.mad, 8)
            self.ids = struct.unpack_from("!II", self.mad, 24)

    def syndrome(self):
        """Of an acknowledgement, or of a NAK."""
        return self.rest[0]


class Wire:
    """An interface, an address on it that no kernel has, and the server to talk to."""

    def __init__(self, interface, mine, server):
        self.mine, self.server, self.own_mac = mine, server, mac("02:00:00:00:00:66")
        self.server_mac = None
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.socket.bind((interface, 0))

    def put(self, frame):
        try:
            self.socket.send(frame)
        except BlockingIOError:
            pass  # as if it were lost
        except OSError as error:
            if error.errno != 105:  # ENOBUFS
                raise

    def ask_mac(self):
        """Who has the server's address? (RFC 826)"""
        self.put(b"\xff" * 6 + self.own_mac + bytes.fromhex("08060001080006040001") + self.own_mac +
                 socket.inet_aton(self.mine) + bytes(6) + socket.inet_aton(self.server))

    def send(self, packet):
        length = 20 + 8 + len(packet) + 4
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 7, 0x4000, 64, 17, 0, socket.inet_aton(self.mine),
                         socket.inet_aton(self.server))
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        udp = struct.pack("!HHHH", 0xC001, PORT, length - 20, 0)
        frame = self.server_mac + self.own_mac + b"\x08\x00" + ip + udp + packet
        self.put(frame + struct.pack("<I", judge.icrc(frame, 14, 34, len(frame))))

    def arp(self, data):
        """Learn from it, and answer it."""
        if data[28:32] == socket.inet_aton(self.server):
            self.server_mac = data[22:28]
        if data[20:22] == b"\x00\x01" and data[38:42] == socket.inet_aton(self.mine):
            self.put(data[6:12] + self.own_mac + bytes.fromhex("08060001080006040002") + self.own_mac + data[38:42] + data[22:32])

    def receive(self, until):
        """The next frame of the server to us; None: the time has come."""
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                data, address = self.socket.recvfrom(65536)
            except (socket.timeout, BlockingIOError):
                continue
            if address[2] == socket.PACKET_OUTGOING:
                continue
            if data[12:14] == b"\x08\x06":
                self.arp(data)
            elif len(data) >= 58 and data[12:15] == b"\x08\x00\x45" and data[23] == 17 and data[36:38] == struct.pack("!H", PORT) \
                    and data[26:34] == socket.inet_aton(self.server) + socket.inet_aton(self.mine):
                self.server_mac = data[6:12]
                return Frame(data)
        return None
