#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Capture files by hand, without a line of what wrote the frames.

capture.py record INTERFACE FILE.pcap   every frame that comes in, until SIGTERM; says so when it has begun.
                                        Exit 3 when the kernel had to drop one.
capture.py spread IN.pcap OUT.pcap      hundreds of foreign frames behind each message of the connection manager,
                                        so that whoever reads a file as fast as it can has time to answer one.
"""
import mmap
import select
import signal
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS = 263, 5, 6
# A ring of the kernel's, whose size no limit of ordinary sockets touches: its frames, header included.
BLOCK, FRAME, FRAMES = 1 << 16, 1 << 13, 4096
# struct tpacket_hdr of 64-bit machines, as far as the MAC header's offset, and sll_pkttype in what follows it.
STATUS, REST, PACKET_TYPE = struct.Struct("=Q"), struct.Struct("=IIH"), 32 + 10
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
FOREIGN = 512
DROPPED = 3

stop = False


def on_term(_number, _frame):
    global stop
    stop = True


def write(file, data):
    now = time.time()
    file.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(data), len(data)) + data)


def read(name):
    with open(name, "rb") as file:
        if file.read(len(HEADER))[:4] != HEADER[:4]:
            raise ValueError(f"{name} is not a capture of ours")
        while head := file.read(16):
            yield file.read(struct.unpack("<IIII", head)[2])


def ring_frames(ring):
    """Each frame (type, bytes) in turn; None when there is none for the moment."""
    at = 0
    while True:
        status, = STATUS.unpack_from(ring, at)
        if not status & 1:
            yield None
            continue
        _, length, offset = REST.unpack_from(ring, at + STATUS.size)
        yield ring[at + PACKET_TYPE], ring[at + offset:at + offset + length]
        STATUS.pack_into(ring, at, 0)
        at = (at + FRAME) % (FRAME * FRAMES)


def record(interface, name):
    signal.signal(signal.SIGTERM, on_term)
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.setsockopt(SOL_PACKET, PACKET_RX_RING, struct.pack("IIII", BLOCK, FRAME * FRAMES // BLOCK, FRAME, FRAMES))
    ring = mmap.mmap(sock.fileno(), FRAME * FRAMES)
    sock.bind((interface, ETH_P_ALL))
    with open(name, "wb") as file:
        file.write(HEADER)
        print("recording", flush=True)
        for frame in ring_frames(ring):
            if frame is None:
                if stop:
                    break
                select.select([sock], [], [], 0.1)
            elif frame[0] != socket.PACKET_OUTGOING:
                write(file, frame[1])
    seen, dropped = struct.unpack("II", sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(f"{interface}: {seen} frames, {dropped} dropped")
    return DROPPED if dropped else 0


def is_cm(data):
    """A datagram to queue pair 1: IPv4, UDP to 4791, opcode UD SEND only."""
    return data[12:14] == b"\x08\x00" and data[14] == 0x45 and data[23] == 17 and \
        data[36:38] == struct.pack(">H", 4791) and data[42] == 0x64


def spread(source, name):
    # Somebody asks somebody else for an address of another network.
    foreign = bytes.fromhex("ffffffffffff" "020000000009" "0806" "0001080006040001" "020000000009" "cb007109"
                            "000000000000" "cb007101").ljust(60, b"\0")
    with open(name, "wb") as file:
        file.write(HEADER)
        for data in read(source):
            write(file, data)
            for _ in range(FOREIGN if is_cm(data) else 0):
                write(file, foreign)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "spread"):
        sys.exit(__doc__)
    sys.exit((record if sys.argv[1] == "record" else spread)(sys.argv[2], sys.argv[3]))
