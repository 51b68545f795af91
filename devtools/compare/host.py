# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of roce0 to measure on: a run-time folder with a roced, and idle processes with a channel to every other one.

An idle process costs what one costs that has talked and waits: a number, a bell and channels whose rings are quiet. It
needs no DPDK for that, so all of them are sockets of this program, which speak the messages of roced as bytes.
"""
import array
import fcntl
import json
import os
import socket
import struct
import threading
import time

HELLO, OPEN, WELCOME, STATUS, STATUS_TEXT = 1, 4, 7, 12, 13  # enum roce_msg_type
IDENTITY = bytes(12 + 4 + 16 + 16 * 20)  # struct roce_proto_identity
ROOM = 4096
DESCRIPTORS = 3
LOOK_S = 0.05
PAIR = 2  # processes that are measured
REST_S = 0.5  # when both are greeted: a look takes time of their cores
PATIENCE_S = 10
PING_PORT = "18599"


def message(kind, body):
    return struct.pack("=I4x", kind) + body


def bell():
    """Memory that peers may set bits in."""
    memory = os.memfd_create("bell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, os.sysconf("SC_PAGE_SIZE"))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return memory


class Idle:
    """A process that is attached to roced. It keeps the descriptors of its channels until their peers end."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(PATIENCE_S)
        self.connect(str(path))
        memory = bell()
        socket.send_fds(self.socket, [message(HELLO, struct.pack("=III32s", 2, 0, 0, b"idle") + IDENTITY)], [memory])
        os.close(memory)
        kind, self.number = struct.unpack_from("=I4xI", self.socket.recv(ROOM))
        if kind != WELCOME:
            raise OSError("roced did not welcome an idle process")
        self.socket.setblocking(False)
        self.kept = []

    def connect(self, path):
        """The socket of roced has its name a moment before it listens."""
        until = time.monotonic() + PATIENCE_S
        while self.socket.connect_ex(path) != 0:
            if time.monotonic() > until:
                raise OSError(f"roced does not listen at {path}")
            time.sleep(LOOK_S)

    def open(self, number):
        self.socket.send(message(OPEN, struct.pack("=I", number)))

    def hear(self):
        """Take what roced has sent. @return the text of a status, or None."""
        said = None
        while True:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(ROOM, socket.CMSG_SPACE(DESCRIPTORS * 4))
            except BlockingIOError:
                return said
            if not data:
                raise OSError("roced has ended")
            descriptors = array.array("i")
            for _, _, raw in ancillary:
                descriptors.frombytes(raw[:len(raw) // 4 * 4])
            if struct.unpack_from("=I", data)[0] == STATUS_TEXT:
                said = os.pread(descriptors[0], struct.unpack_from("=I4xII", data)[2], 0).decode()
                os.close(descriptors[0])
            else:
                self.kept += descriptors

    def close(self):
        self.socket.close()
        for descriptor in self.kept:
            os.close(descriptor)


class Host:
    """One roced in a folder of its own."""

    def __init__(self, place, build, name):
        self.place = place
        self.run = place.folder / name
        (self.run / "udapl-roce").mkdir(parents=True, mode=0o700)
        self.run.chmod(0o700)
        self.apps = build / "apps"
        self.environment = {"DAT_OVERRIDE": "", "XDG_RUNTIME_DIR": str(self.run),
                            "UDAPL_ROCE_ROCED": str(self.apps / "roced")}
        self.idle, self.watcher, self.over = [], None, threading.Event()

    def path(self):
        return self.run / "udapl-roce" / "roced.sock"

    def crowd(self, count):
        """Start roced, and so many idle processes, which open a channel to each process that comes."""
        daemon = self.place.start([str(self.apps / "roced")], set(self.place.cpus), self.environment)
        self.place.await_server(daemon, lambda _daemon: self.path().exists(), PATIENCE_S)
        self.idle = [Idle(self.path()) for _ in range(count)]
        if self.idle:
            self.watcher = threading.Thread(target=self.watch, daemon=True)
            self.watcher.start()

    def watch(self):
        """Greet whoever is new."""
        idle = {one.number for one in self.idle}
        known, wait = set(), LOOK_S
        asker = self.idle[0]
        while not self.over.wait(wait):
            asker.socket.send(message(STATUS, struct.pack("=II", 1, 0)))
            said = [one.hear() for one in self.idle][0]
            if said is None:
                continue
            others = {process["number"] for process in json.loads(said)["processes"]} - idle
            wait = REST_S if len(others) == PAIR else LOOK_S
            for number in others - known:
                for one in self.idle:
                    one.open(number)
            known = others

    def close(self):
        self.over.set()
        if self.watcher is not None:
            self.watcher.join()
        for one in self.idle:
            one.close()

    def first_message(self, count):
        """Seconds from the start of a process until its first message is answered and it has ended, each."""
        ping = [str(self.apps / "dat-ping"), "-D", "roce0", "-p", PING_PORT]
        server = self.place.start([*ping, "-l"], self.place.core(0), self.environment)
        try:
            self.place.await_server(server, lambda process: process.out.stat().st_size > 0, PATIENCE_S)
            seconds = []
            for _ in range(count):
                since = time.monotonic()
                self.place.alone([*ping, "-c", "1", "127.0.0.1"], self.place.core(1), self.environment, PATIENCE_S)
                seconds.append(time.monotonic() - since)
            return seconds
        finally:
            self.place.end(server)
