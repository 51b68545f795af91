#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Peers that keep no rule, one after the other, and good ones among them that must be served.

  hostile.py victim|srqd INTERFACE OWN_ADDRESS SERVER PORT SEED         until SIGTERM
  hostile.py victim|srqd INTERFACE OWN_ADDRESS SERVER PORT SEED once    a good one, until it is served

The server is a victim (victim.c), which grants memory, or a dat-srqd, which sends each message back. At the end, a line
with how often each kind came. A server that does not do what is promised ends this with 1 and a line that begins with FAULT.
Many kinds leave a connection behind without a word: its place has to come back by the server's own means.
"""
import collections
import random
import signal
import struct
import sys
import time
from pathlib import Path

import frames
from frames import bth, reth

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

AGAIN_SECONDS = 0.5  # then it is said again: the server stands still, or a frame is lost
QUIET_SECONDS = 0.05  # for no condition: what comes in it is judged, and more of it finds more
PAUSE_SECONDS = (0.0, 0.1)
DESK, ATOMIC, WRITES = 65536, 0, 4096  # of victim.c, and where in it these peers do atomics and writes
REPEATS = 5
ANSWERS = (frames.ACK, frames.ATOMIC_ACK, frames.READ_FIRST, frames.READ_ONLY)
LEFT = 256  # connections without an end whose answers are known
HELLO = struct.pack("!IB3xII", 0x64415473, 1, 4096, 16)  # of dat-srqd: messages of up to 4096 bytes, 16 of them on the way

ended = False


class Fault(Exception):
    """The server broke a promise."""


class TurnedAway(Exception):
    """All places are taken, or the server has taken one back."""


def end(*_):
    global ended
    ended = True


class Connection:
    """As the client has it."""

    def __init__(self, peer, local_id, tid, qpn):
        self.peer, self.local_id, self.tid, self.qpn = peer, local_id, tid, qpn
        self.remote_id = self.server_qpn = self.psn = 0
        self.private = b""
        self.sent = self.received = 0  # messages
        self.answers = "all"  # what the peer says to the server's requests: all, rnr, or none
        self.echoes, self.expected = [], None
        self.over = False

    def up(self, reply):
        self.server_qpn, self.psn = (struct.unpack_from("!I", reply.mad, at)[0] >> 8 for at in (36, 44))
        self.private = reply.mad[60:]
        self.peer.wire.send(frames.mad(frames.RTU, self.tid, struct.pack("!II", self.local_id, self.remote_id)))

    def put(self, opcode, body, psn=None, packets=1, ack=True):
        """A request; with a PSN, one that was there before. Returns its PSN."""
        at = self.psn if psn is None else psn
        if psn is None:
            self.psn = self.psn + packets & frames.MASK
        self.peer.wire.send(bth(opcode, self.server_qpn, at, body, ack))
        return at

    def ask(self, opcode, body, psn=None):
        """The same until it is answered. Returns the answer."""
        at = self.put(opcode, body, psn)
        return self.peer.until(lambda frame: frame.qpn == self.qpn and frame.psn == at and
                               frame.opcode in ANSWERS, self,
                               lambda: self.put(opcode, body, at))

    def leave(self):
        self.over = True
        body = struct.pack("!III", self.local_id, self.remote_id, self.server_qpn << 8)
        self.peer.wire.send(frames.mad(frames.DREQ, self.tid, body))

    def heard(self, frame):
        """A request of the server: dat-srqd's answers, and the empty WRITEs by which it asks for a sign of life."""
        if self.answers == "none" or frame.opcode in ANSWERS:
            return
        syndrome = frames.CREDITS_NONE
        if self.expected is None:
            self.expected = frame.psn
        ahead = frame.psn - self.expected & frames.MASK
        if self.answers == "rnr" and frame.opcode == frames.SEND_ONLY:
            syndrome = frames.RNR | frames.RNR_TIMER
        elif ahead == 0:
            self.expected = frame.psn + 1 & frames.MASK
            self.received += 1
            if frame.opcode == frames.SEND_ONLY:
                self.echoes.append(frame.rest)
        elif ahead < frames.MASK // 2:
            return  # one before it is lost: it comes again
        body = struct.pack("!I", syndrome << 24 | self.received & frames.MASK)
        self.peer.wire.send(bth(frames.ACK, self.server_qpn, frame.psn, body, ack=False))


class Peer:
    def __init__(self, kind, interface, mine, server, port, seed, once=None):
        self.random, self.kind, self.port, self.once = random.Random(seed), kind, int(port), once
        self.wire = frames.Wire(interface, mine, server)
        self.connections = collections.OrderedDict()  # by queue pair
        self.done = collections.Counter()
        self.until(lambda _: False, None, self.wire.ask_mac, lambda: self.wire.server_mac)

    # ---- frames ----

    def take(self, frame):
        """What has to be answered whoever waits for what."""
        if frame.attribute == frames.DREQ:
            self.wire.send(frames.mad(frames.DREP, frame.tid, struct.pack("!II", frame.ids[1], frame.ids[0])))
        if frame.attribute in (frames.DREQ, frames.REJ):
            for connection in self.connections.values():
                if connection.local_id == frame.ids[1]:
                    connection.over = True
        elif frame.attribute == 0 and frame.qpn in self.connections:
            self.connections[frame.qpn].heard(frame)

    def until(self, wanted, connection, again, holds=lambda: False):
        """Hear until the frame comes, or something holds."""
        begun = said = time.monotonic()
        while not holds():
            frame = self.wire.receive(said + AGAIN_SECONDS)
            if frame is not None:
                self.take(frame)
                if wanted(frame):
                    return frame
            if connection is not None and connection.over:
                raise TurnedAway
            now = time.monotonic()
            if now - begun > limit.SECONDS:
                raise Fault(f"no answer for {limit.SECONDS:g} s")
            if now - said >= AGAIN_SECONDS:
                if ended:
                    raise TurnedAway
                again()
                said = now
        return None

    def quiet(self):
        """All that comes in a while."""
        until, came = time.monotonic() + QUIET_SECONDS, []
        while (frame := self.wire.receive(until)) is not None:
            self.take(frame)
            came.append(frame)
        return came

    def connect(self, confirms=True):
        bits = self.random.getrandbits
        local_id, tid, qpn, psn = bits(32) | 1, bits(64), self.random.randrange(2, 0xFFFFF0), bits(24)
        body = frames.request(local_id, tid, self.port, qpn, psn, self.wire.mine, self.wire.server,
                              HELLO if self.kind == "srqd" else b"")
        connection = self.connections[qpn] = Connection(self, local_id, tid, qpn)
        connection.expected = psn
        while len(self.connections) > LEFT:
            self.connections.popitem(last=False)
        self.wire.send(body)
        reply = self.until(lambda frame: frame.attribute == frames.REP and frame.ids[1] == local_id, connection,
                           lambda: self.wire.send(body))
        connection.remote_id = reply.ids[0]
        if confirms:
            connection.up(reply)
        return connection

    # ---- what good peers do ----

    @staticmethod
    def text(connection, length):
        """The next message: victim.c knows each byte."""
        connection.sent += 1
        return struct.pack("!cII", b"m", length, connection.sent - 1) + bytes([length & 0xFF]) * (length - 9)

    def message(self, connection):
        """One that is acknowledged, and that dat-srqd sends back."""
        body = self.text(connection, self.random.choice((9, 10, 64, 1000, frames.MTU)))
        self.want_taken(connection, connection.ask(frames.SEND_ONLY, body))
        if self.kind == "srqd":
            self.until(lambda _: False, connection, lambda: None, lambda: connection.echoes)
            if connection.echoes.pop(0) != body:
                raise Fault("an answer is not the message")

    @staticmethod
    def want_taken(connection, answer):
        if answer.opcode == frames.ACK and answer.syndrome() >= frames.NAK:
            raise TurnedAway if connection.over else Fault(f"NAK {answer.syndrome() - frames.NAK} to a good request")

    def granted(self, connection):
        return struct.unpack_from("!QQI", connection.private)

    def immediate(self, connection):
        """A WRITE with immediate data, of several packets or one."""
        desk, _, key = self.granted(connection)
        packets = self.random.choice((1, 1, 2, 20))
        length = packets * frames.MTU
        head, number = reth(desk + WRITES, key, length), struct.pack("!I", 0x12345678)
        if packets == 1:
            self.want_taken(connection, connection.ask(frames.WRITE_ONLY_IMMEDIATE, head + number + bytes(length)))
            return
        first = connection.psn

        def say():
            for i in range(packets - 1):
                connection.put(frames.WRITE_FIRST if i == 0 else frames.WRITE_MIDDLE,
                               (head if i == 0 else b"") + bytes(frames.MTU), first + i & frames.MASK, ack=False)
            connection.put(frames.WRITE_LAST_IMMEDIATE, number + bytes(frames.MTU), last)

        connection.psn = first + packets & frames.MASK
        last = first + packets - 1 & frames.MASK
        say()
        self.want_taken(connection, self.until(
            lambda frame: frame.qpn == connection.qpn and frame.opcode == frames.ACK and frame.psn == last, connection, say))

    def counted(self, connection, immediates):
        body = struct.pack("!cII", b"e", connection.sent, immediates)
        self.want_taken(connection, connection.ask(frames.SEND_ONLY, body))

    def good(self, connection):
        """Each message is taken; the victim compares its counts with the peer's."""
        immediates = 0
        for _ in range(self.random.randrange(1, 12)):
            if self.kind == "victim" and self.random.random() < 0.4:
                self.immediate(connection)
                immediates += 1
            else:
                self.message(connection)
        if self.kind == "victim":
            self.counted(connection, immediates)
        connection.leave()

    # ---- what others do ----

    def want_over(self, connection, opcode, body, psn):
        """The repeat is not answered, and ends the connection: nothing is taken any more. A repeat may be lost: it comes a few times."""
        for _ in range(REPEATS):
            connection.put(opcode, body, psn)
            for frame in self.quiet():
                if frame.qpn == connection.qpn and frame.opcode in ANSWERS[1:]:
                    raise Fault(f"the repeat is answered: {frame.rest.hex()}")
            at = connection.put(frames.SEND_ONLY, self.text(connection, 9))
            if not any(frame.qpn == connection.qpn and frame.psn == at and frame.opcode == frames.ACK and
                       frame.syndrome() < frames.RNR for frame in self.quiet()):
                return
        raise Fault("the repeat does not end the connection")

    def read_of_nothing_again(self, connection):
        """It needs no key, and its repeat asks for memory with a guessed one."""
        at = connection.psn
        if connection.ask(frames.READ, reth(0, 0, 0)).opcode == frames.ACK:
            self.done["refused reads of nothing"] += 1
        address = self.granted(connection)[1] if self.kind == "victim" else 0x10000
        self.want_over(connection, frames.READ, reth(address, self.random.getrandbits(32), 24), at)

    def read_again(self, connection):
        """The repeat names memory behind that of the first request, with its key, or memory of another key."""
        desk, secret, key = self.granted(connection)
        at = connection.psn
        if connection.ask(frames.READ, reth(desk, key, 16)).opcode == frames.ACK:
            raise Fault("a good READ is refused")
        other = self.random.choice((reth(desk + DESK, key, 16), reth(secret, key, 16), reth(desk, key ^ 1, 16)))
        self.want_over(connection, frames.READ, other, at)

    def atomic_again(self, connection):
        """The repeat would change another word: that behind the desk, which the victim watches."""
        desk, _, key = self.granted(connection)
        at = connection.psn

        def add(address, with_key):
            return struct.pack("!QIQQ", address, with_key, 1, 0)

        if connection.ask(frames.FETCH_ADD, add(desk + ATOMIC, key)).opcode == frames.ACK:
            raise Fault("a good atomic is refused")
        other = self.random.choice((add(desk + DESK, key), add(desk + ATOMIC, key ^ 1)))
        self.want_over(connection, frames.FETCH_ADD, other, at)

    def half(self, connection):
        """The first packet of a message, and never its last; then silence, or an end in order."""
        self.message(connection)
        connection.put(frames.SEND_FIRST, bytes(frames.MTU))
        self.quiet()
        if self.random.random() < 0.5:
            connection.leave()
        else:
            connection.answers = self.random.choice(("all", "none"))

    def never_posts(self, connection):
        """Its messages are sent back, and each answer is told to come again: the server has to let go."""
        connection.answers = "rnr"
        for _ in range(self.random.randrange(1, 17)):
            connection.ask(frames.SEND_ONLY, self.text(connection, 64))

    def silent(self, connection):
        """Killed: as others before, or as one that owes nothing."""
        for _ in range(self.random.randrange(3)):
            self.message(connection)
        self.quiet()
        connection.answers = "none"

    def immediate_of_nothing(self, connection):
        """A WRITE of no bytes needs no key, and takes a receive: dat-srqd sends back what lies in it, nothing."""
        answer = connection.ask(frames.WRITE_ONLY_IMMEDIATE, reth(0, 0, 0) + struct.pack("!I", 0x12345678))
        self.want_taken(connection, answer)
        self.until(lambda _: False, connection, lambda: None, lambda: connection.echoes)
        if (echo := connection.echoes.pop(0)) != b"":
            raise Fault(f"{len(echo)} bytes come back of none")
        self.message(connection)
        connection.leave()

    def never_confirms(self, connection):
        """Accepted, and then neither RTU nor message; it may ask for a minute to think. Its place has to come back sooner."""
        if self.random.random() < 0.5:
            body = struct.pack("!IIBB", connection.local_id, connection.remote_id, 1 << 6, 24 << 3)
            self.wire.send(frames.mad(frames.MRA, connection.tid, body))

    def reject(self, connection):
        """A REJ that names no id of the server, for a connection that is up, ends nothing."""
        self.message(connection)
        body = struct.pack("!IIBBH", connection.local_id, 0, self.random.choice((0, 0x40, 0x80)), 0, 28)
        self.wire.send(frames.mad(frames.REJ, connection.tid, body))
        self.quiet()
        if connection.over:
            raise Fault("a REJ without an id ends a connection that is up")
        self.message(connection)
        connection.leave()

    # ---- the run ----

    def kinds(self):
        both = [self.good, self.good, self.read_of_nothing_again, self.half, self.silent, self.reject]
        return both + ([self.read_again, self.atomic_again] if self.kind == "victim" else
                       [self.never_posts, self.immediate_of_nothing, self.never_confirms])

    def run(self):
        kinds = [self.good] if self.once else self.kinds()
        while not ended and not (self.once and self.done["good"]):
            kind = self.random.choice(kinds)
            try:
                kind(self.connect(kind != self.never_confirms))
                self.done[kind.__name__] += 1
            except TurnedAway:
                self.done["turned away"] += 1
            except Fault as fault:
                raise Fault(f"{kind.__name__}: {fault}") from fault
            until = time.monotonic() + self.random.uniform(*PAUSE_SECONDS)
            while (frame := self.wire.receive(until)) is not None:
                self.take(frame)


def main():
    signal.signal(signal.SIGTERM, end)
    peer = None
    try:
        peer = Peer(*sys.argv[1:])
        print("hostile peers begin", flush=True)
        peer.run()
    except (Fault, TurnedAway) as fault:
        print(f"FAULT {fault}" if isinstance(fault, Fault) else "no server", flush=True)
        return isinstance(fault, Fault)
    finally:
        if peer is not None:
            print("peers: " + ", ".join(f"{kind}: {number}" for kind, number in sorted(peer.done.items())), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
