# SPDX-License-Identifier: BSD-3-Clause
"""Strangers at the doors of processes on this host: sockets of servers, names of address claims, metrics, folders.

Each call is one of their deeds. None of them is answered for: a door may be shut. What they passed and opened they keep.
"""
import collections
import contextlib
import os
import socket
import struct
import sys
import threading
import urllib.request
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "apps")]
import limit  # noqa: E402
from info_strangers import Stranger, socket_name  # noqa: E402

GARBAGE = 4096
PASSED_MAX = 8  # descriptors in a message
# Their last close(2) waits for an hour, or until they are let go. While more than 32 descriptors wait to be closed in a memif
# server, it lets no handshake go on (docs/security.md): clients are to be served here.
LINGERING_MAX = 32 // PASSED_MAX
SLOW_MAX = 80  # more than the exporter has room for


def lingering():
    """The socket of a connection that has sent, and its other end, which does not read."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        sender = socket.create_connection(listener.getsockname())
        peer, _ = listener.accept()
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    sender.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sender.send(bytes(65536))
    sender.setblocking(True)
    return sender, peer


class Strangers:
    def __init__(self, random):
        self.random = random
        self.kept, self.slow, self.others = collections.deque(), [], []

    # ---- sockets of the host ----

    def pass_lingering(self, door):
        """A message, perhaps of no bytes, with descriptors whose close waits for us."""
        sender, peer = lingering()
        self.kept.append(peer)
        if len(self.kept) > LINGERING_MAX:
            self.kept.popleft().close()
        try:
            message = self.random.randbytes(self.random.choice((0, 1, 128)))
            socket.send_fds(door, [message], [sender.fileno()] * self.random.randrange(1, PASSED_MAX + 1))
        finally:
            # The last close, where nobody has the descriptors: then it waits until the peer is let go.
            threading.Thread(target=sender.close, daemon=True).start()

    def at_door(self, path):
        """A connection to a server's socket, with garbage, descriptors, or nothing."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.settimeout(1)
            door.connect(path)
            if self.random.random() < 0.3:
                self.pass_lingering(door)
            for _ in range(self.random.randrange(4)):
                door.send(self.random.randbytes(self.random.randrange(1, GARBAGE)))

    def at_claim(self, interface, address):
        """A datagram to the abstract name by which a process claims its address."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
            door.setblocking(False)
            door.connect(f"\0udapl-roce/{socket.if_nametoindex(interface)}/{address}")
            if self.random.random() < 0.3:
                door.send(self.random.randbytes(64))
            self.pass_lingering(door)

    # ---- the exporter ----

    def at_metrics(self, port):
        """One more connection that never says all, and a byte of each that is there; those that were ended come again."""
        for link in list(self.slow):
            try:
                link.send(b"a")
            except OSError:
                self.slow.remove(link)
                link.close()
        while len(self.slow) < SLOW_MAX:
            with contextlib.suppress(OSError):
                link = socket.create_connection(("127.0.0.1", port), timeout=1)
                link.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
                link.setblocking(False)
                self.slow.append(link)
            if self.random.random() < 0.3:
                break

    # ---- folders ----

    def settle(self, base):
        """Another user has a folder where dat-info looks, and a socket in one that is not his, and pretends to have a device p0."""
        for name, folder_is_his in (("strange", True), ("lent", False)):
            self.others.append(Stranger(socket_name(base, name), folder_is_his))

    def leave(self):
        for other in self.others:
            other.__exit__()
        for link in [*self.slow, *self.kept]:
            link.close()


class Scraper(threading.Thread):
    """A good reader of the metrics, which must have its answer whoever else is there; complain(text) hears of one that has none."""

    def __init__(self, port, complain):
        super().__init__(daemon=True)
        self.port, self.complain = port, complain
        self.scrapes, self.with_devices, self.over = 0, 0, threading.Event()

    def run(self):
        while not self.over.wait(1):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=limit.SECONDS) as answer:
                    text = answer.read().decode()
            except OSError as error:
                self.complain(f"a scrape fails: {error}")
                continue
            if 'device="p0"' in text:
                self.complain("a scrape shows the device of a stranger")
            self.scrapes += 1
            self.with_devices += 'device="' in text

    def end(self):
        self.over.set()
        self.join(limit.SECONDS)
        if self.is_alive():
            self.complain(f"a scrape has no answer for {limit.SECONDS:g} s")


def is_root():
    """With other users beside: not the root of a user namespace alone."""
    with open("/proc/self/uid_map", encoding="ascii") as ids:
        return os.geteuid() == 0 and ids.read().split()[:3] == ["0", "0", "4294967295"]
