#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connections to a memif server that nobody asked for: in and out, silent, with garbage, with handshakes that end
early or lie.

  memif_stray.py SOCKET COUNT      so many, as soon as the socket is there, one kind after the other
  memif_stray.py SOCKET linger PID two with descriptors that the server PID cannot close at once, then some that are
                                   greeted; tells so, and stays until it is ended
  memif_stray.py SOCKET hoard      ones that fill the server with descriptors until they are ended; tells when one was refused

SOCKET is a path, or @ and an abstract name. The name of a kind and its number so far is told for each hundred.
"""
import fcntl
import os
import random
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

VERSION, COOKIE = 0x200, 0x3E31F20
INIT, ADD_REGION, ADD_RING, CONNECT = 3, 4, 5, 6
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
SILENT_MAX = 40


class Stray:
    """One connection, and the messages it says."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(limit.SECONDS)
        self.socket.connect(address)

    def say(self, kind, body=b"", *fds):
        """A message, and what the server answers to it if that is an acknowledgement."""
        message = (struct.pack("<H", kind) + body).ljust(128, b"\0")
        socket.send_fds(self.socket, [message], list(fds))

    def ask(self, kind, body=b"", *fds):
        self.say(kind, body, *fds)
        self.hear()

    def hear(self):
        return self.socket.recv(4096)

    def init(self, number=0, version=VERSION, mode=0):
        self.hear()
        self.ask(INIT, struct.pack("<HIB", version, number, mode))

    def region(self, index, size, fd):
        self.ask(ADD_REGION, struct.pack("<HQ", index, size), fd)

    def ring(self, way, index, offset, log2=4, fd=None, region=0):
        body = struct.pack("<HHHIBH", way, index, region, offset, log2, 0)
        if fd is None:
            fd = os.eventfd(0, os.EFD_NONBLOCK) if hasattr(os, "eventfd") else -1
            self.ask(ADD_RING, body, fd)
            os.close(fd)
        else:
            self.ask(ADD_RING, body, fd)


def memory(size, seal=True, cookies=(0, 512)):
    fd = os.memfd_create("stray", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    for offset in cookies:
        os.pwrite(fd, struct.pack("<I", COOKIE), offset)
    if seal:
        fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
    return fd


def garbage(stray):
    stray.socket.send(random.randbytes(128))


def short(stray):
    stray.socket.send(random.randbytes(random.randrange(1, 128)))


def long(stray):
    stray.socket.send(random.randbytes(4096))


def wrong_version(stray):
    stray.init(version=0x999)


def wrong_id(stray):
    stray.init(number=4711)


def half(stray):
    stray.init()


def many_rings(stray):
    """An index that comes again and again; net_memif counts each."""
    stray.init()
    for _ in range(300):
        stray.ring(1, 0, 0)


def stolen_file(stray):
    """A descriptor of something else, said to be memory."""
    stray.init()
    with open("/etc/passwd", "rb") as file:
        stray.region(0, 1 << 20, file.fileno())
        finish(stray)


def finish(stray):
    stray.ring(1, 0, 0)
    stray.ring(0, 0, 512)
    stray.ask(CONNECT)


def shrinking(stray):
    stray.init()
    fd = memory(4096, seal=False)
    stray.region(0, 4096, fd)
    os.ftruncate(fd, 0)
    os.close(fd)
    finish(stray)


def short_file(stray):
    stray.init()
    fd = memory(4096)
    stray.region(0, 1 << 30, fd)
    os.close(fd)
    finish(stray)


def ring_outside(stray):
    stray.init()
    fd = memory(4096)
    stray.region(0, 4096, fd)
    os.close(fd)
    stray.ring(1, 0, 0, log2=14)
    stray.ring(0, 0, 0xFFFFFF80)
    stray.ask(CONNECT)


def blocking_interrupt(stray):
    stray.init()
    fd = memory(4096)
    stray.region(0, 4096, fd)
    os.close(fd)
    ends = os.pipe()
    stray.ring(1, 0, 0, fd=ends[0])
    stray.ring(0, 0, 512, fd=ends[1])
    os.close(ends[0])
    os.close(ends[1])
    stray.ask(CONNECT)


def out_of_order(stray):
    stray.hear()
    stray.ask(CONNECT)


def descriptors(stray):
    """Many at once, of which the server must keep none."""
    stray.hear()
    with open("/dev/null", "rb") as file:
        stray.say(ADD_REGION, b"", *[file.fileno()] * 200)


def lingering():
    """A connection whose last close(2) waits for ten minutes: its peer takes nothing any more."""
    listener = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listener.getsockname())
    far, _ = listener.accept()
    near.setblocking(False)
    try:
        while True:
            near.send(bytes(65536))
    except BlockingIOError:
        pass
    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
    return near, far


def linger(address, server):
    """Passed with a message, and behind one that ends the channel, in which it is unread. The server, which is stopped
    meanwhile, has the last descriptor."""
    strays, ends = [], []
    os.kill(server, signal.SIGSTOP)
    with open(f"/proc/{server}/stat", encoding="ascii") as stat:
        while stat.read().rsplit(")", 1)[1].split()[0] != "T":
            stat.seek(0)
    for before in ([], [bytes(128)]):
        near, far = lingering()
        ends.append(far)
        strays.append(Stray(address))
        for message in before:
            strays[-1].socket.send(message)
        socket.send_fds(strays[-1].socket, [bytes(128)], [near.fileno()])
        near.close()
    os.kill(server, signal.SIGCONT)
    for _ in range(3):
        Stray(address).hear()
    print("greeted", flush=True)
    signal.pause()


def hoard(address):
    """Handshakes that have the server hold as many descriptors as it lets them."""
    strays = []
    fd = memory(4096)
    while True:
        try:
            strays.append(Stray(address))
            strays[-1].init()
            for index in range(16):
                strays[-1].region(index, 4096, fd)
            for index in range(8):
                strays[-1].ring(1, index, 0)
                strays[-1].ring(0, index, 512)
        except (BrokenPipeError, ConnectionResetError):
            strays.pop().socket.close()
            print("refused", flush=True)
        if len(strays) > SILENT_MAX:
            strays.pop(0).socket.close()


def nothing(_stray):
    pass


KINDS = [nothing, garbage, short, long, wrong_version, wrong_id, half, many_rings, stolen_file, shrinking, short_file,
         ring_outside, blocking_interrupt, out_of_order, descriptors]


def main():
    name = sys.argv[1]
    address = "\0" + name[1:] if name[0] == "@" else name
    if sys.argv[2] == "linger":
        linger(address, int(sys.argv[3]))
        return
    if sys.argv[2] == "hoard":
        hoard(address)
    count = int(sys.argv[2])
    end = time.monotonic() + limit.SECONDS
    silent = []
    done = 0
    while done < count:
        try:
            stray = Stray(address)
        except (ConnectionRefusedError, FileNotFoundError, BlockingIOError):
            if time.monotonic() > end:
                sys.exit(f"nobody listens at {name} after {done} connections")
            time.sleep(0.02)
            continue
        end = time.monotonic() + limit.SECONDS
        kind = KINDS[done % len(KINDS)]
        try:
            kind(stray)
        except (BrokenPipeError, ConnectionResetError):
            pass
        done += 1
        # Some stay and say no more.
        if done % 5 == 0:
            silent.append(stray)
        else:
            stray.socket.close()
        if len(silent) > SILENT_MAX:
            silent.pop(0).socket.close()
    print(done)


main()
