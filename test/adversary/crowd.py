#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A crowd on roce0: processes of one host, all to all, each byte checked, while one after the other is killed.

crowd.py --build DIR [--processes N] [--kills N] [--seconds N] [--seed N]

Each process (crowd.c) talks to all others. So many times a second one of them ends, in most cases by SIGKILL, and is started
again; some are stopped for a while instead. The first ones, which never end, are the witnesses. An error is:
a break of a connection whose two processes live, a request that is refused although its process listens, a wrong byte,
silence, a process that ends by itself, a connection that is not there at the end, and what is left behind.
The same seed makes the same choices; what the processes make of them depends on the machine. The last line is the sum.
"""
import argparse
import collections
import json
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

WITNESSES = 2
STOP_SECONDS = (0.005, 0.3)  # shorter than a connection's patience
ERRORS_MAX = 1000  # then it ends
MESSAGES_A_SECOND = 20000  # of all processes
PORT = 20000
GROWTH_KIB = 8192  # of a witness, from one full crowd to the next
ROCED_KIB = 512  # of roced, for each process: the requests that it remembers
LEFT = {"roced.lock", "roced.numbers"}
ENDS = ((0.70, signal.SIGKILL), (0.78, signal.SIGUSR1), (0.86, signal.SIGTERM), (1.0, signal.SIGSTOP))


class Life:
    """A process, from its start to its end."""

    def __init__(self, index, number, process):
        self.index, self.number, self.process = index, number, process
        self.ready = self.ended = self.continues = 0.0  # when; 0: not yet
        self.text = b""
        self.heard = time.monotonic()
        self.up = {}  # index of a peer: number of its life
        self.count = [0] * 5

    def lives(self):
        return self.ended == 0.0


def memory_of(pid):
    """Descriptors, and KiB that are resident and the process's own."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        rss = next((int(line.split()[1]) for line in status if line.startswith("RssAnon:")), 0)
    return len(os.listdir(f"/proc/{pid}/fd")), rss


class Crowd:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.random = random.Random(args.seed)
        self.selector = selectors.DefaultSelector()
        self.lives = {}  # (index, number)
        self.now = [None] * args.processes  # of each index, the last one
        self.errors, self.done = [], collections.Counter()
        self.connects = []  # who asked, who accepted, when: that both were ready may be read later
        self.tells = []  # seconds
        self.roced = os.path.join(args.build, "apps/roced")
        libraries = [os.path.join(args.build, "lib", name) for name in ("front", "libdat")]
        self.env = dict(os.environ, XDG_RUNTIME_DIR=folder, UDAPL_ROCE_ROCED=self.roced, DAT_OVERRIDE="",
                        LD_LIBRARY_PATH=":".join(libraries))
        burst = max(1, args.processes // 16)
        self.burst, self.tick_us = burst, int(1e6 * burst * args.processes / MESSAGES_A_SECOND)

    def error(self, text):
        self.errors.append(text)
        print(f"error after {time.monotonic() - self.began:.3f} s: {text}", flush=True)
        if len(self.errors) == ERRORS_MAX:
            sys.exit(f"that is enough: {ERRORS_MAX} errors")

    # ---- processes ----

    def start(self, index):
        number = self.now[index].number + 1 if self.now[index] else 1
        command = [os.path.join(self.args.build, "test/adversary/crowd"), str(index), str(self.args.processes), str(number),
                   str(PORT), str(self.random.getrandbits(60)), str(self.tick_us), str(self.burst)]
        with open(os.path.join(self.folder, f"{index}.err"), "wb") as err:
            process = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err)
        os.set_blocking(process.stdout.fileno(), False)
        life = Life(index, number, process)
        self.lives[index, number] = self.now[index] = life
        self.selector.register(process.stdout, selectors.EVENT_READ, life)

    def end(self, life, number):
        life.ended = time.monotonic()
        life.process.send_signal(number)
        if life.continues:
            life.process.send_signal(signal.SIGCONT)

    def reap(self, life, status):
        """After its end: what it had said, and whether it ended as it should."""
        self.read(life)
        self.selector.unregister(life.process.stdout)
        life.process.stdout.close()
        for number, count in zip(("messages", "received", "bytes", "writes", "reads"), life.count):
            self.done[number] += count
        if life.lives() or status not in (0, -signal.SIGKILL):
            with open(os.path.join(self.folder, f"{life.index}.err"), encoding="utf-8", errors="replace") as err:
                self.error(f"process {life.index}, life {life.number}, ended with {status}: {' / '.join(err.read().splitlines()[-5:])}")
            life.ended = life.ended or time.monotonic()

    def look(self):
        """Read what there is, and start again what has ended."""
        for key, _ in self.selector.select(0.002):
            self.read(key.data)
        now = time.monotonic()
        for index, life in enumerate(self.now):
            if life.continues and now >= life.continues:
                life.continues = 0.0
                life.heard = now
                life.process.send_signal(signal.SIGCONT)
            status = life.process.poll()
            if status is not None:
                self.reap(life, status)
                self.start(index)
            elif not life.lives() and now - life.ended > limit.SECONDS:
                self.error(f"process {index}, life {life.number}, does not end")
                life.process.kill()
            elif life.lives() and now - life.heard > limit.SECONDS:
                self.error(f"process {index}, life {life.number}, has said nothing for {limit.SECONDS:g} s")
                life.heard = now

    # ---- what they say ----

    def read(self, life):
        try:
            more = os.read(life.process.stdout.fileno(), 65536)
        except BlockingIOError:
            return
        lines = (life.text + more).split(b"\n")
        life.text = lines.pop()
        for line in lines:
            word, *values = line.decode().split()
            getattr(self, "said_" + word)(life, values)
        if lines:
            life.heard = time.monotonic()

    def said_ready(self, life, values):
        life.ready = float(values[0])

    def said_count(self, life, values):
        life.count = [int(value) for value in values[1:6]]

    def said_up(self, life, values):
        peer = self.lives[int(values[0]), int(values[1])]
        life.up[peer.index] = peer.number
        self.done["connections"] += life.index > peer.index
        if life.index > peer.index and peer.lives():
            self.connects.append((life, peer, float(values[2])))

    def said_break(self, life, values):
        peer, at = self.lives[int(values[0]), int(values[1])], float(values[2])
        if life.up.get(peer.index) == peer.number:
            del life.up[peer.index]
        self.done["breaks"] += 1
        if peer.lives() or at < peer.ended:
            self.error(f"process {life.index} lost process {peer.index}, life {peer.number}, which lives: event {values[3]}, status {values[4]}")
        elif life.lives():
            self.tells.append(at - peer.ended)

    def said_refused(self, life, values):
        index, at, event, since = int(values[0]), float(values[1]), values[2], float(values[3])
        self.done["refusals"] += 1
        peer = self.now[index]
        # Asked before it listened, it may be refused at any time: how long the answer takes is up to the machine.
        if peer.ready and peer.ready < since and (peer.lives() or at < peer.ended):
            self.error(f"process {life.index} was refused by process {index}, life {peer.number}, after {at - since:.3f} s: event {event}")

    def said_unmade(self, life, values):
        """Not a connection yet: the asking end hears of its own failure, and that is judged."""
        self.done["unmade"] += 1

    def said_wrong(self, life, values):
        self.error(f"process {life.index} has a wrong byte of process {values[0]}, life {values[1]}: {' '.join(values[3:])}")

    def said_hang(self, life, values):
        self.error(f"process {life.index} hears nothing of process {values[0]}, life {values[1]}: {' '.join(values[3:])}")

    def said_twice(self, life, values):
        self.error(f"process {values[0]}, life {values[1]}, asks process {life.index} for a second connection")

    # ---- the run ----

    def is_full(self):
        """Every two have a connection, and both know of it."""
        return all(life.lives() and len(life.up) == self.args.processes - 1 and
                   all(self.now[peer].number == number for peer, number in life.up.items()) for life in self.now)

    def fill(self, when):
        until = time.monotonic() + limit.SECONDS
        while not self.is_full() and time.monotonic() < until:
            self.look()
        if not self.is_full():
            lost = [f"{life.index}-{peer}" for life in self.now for peer in range(life.index) if life.up.get(peer) != self.now[peer].number]
            self.error(f"{when}: no connection between {' '.join(lost[:20])}, {len(lost)} in all")

    def act(self):
        life = self.now[self.random.randrange(WITNESSES, self.args.processes)]
        what = self.random.random()
        number = next(number for share, number in ENDS if what < share)
        seconds = self.random.uniform(*STOP_SECONDS)
        if not life.lives() or life.process.poll() is not None:
            return
        if number == signal.SIGSTOP:
            if not life.continues:
                life.continues = time.monotonic() + seconds
                life.process.send_signal(number)
                self.done["stops"] += 1
            return
        # One that has not set up its handlers yet ends by any of them, too; SIGKILL says the same.
        self.end(life, number if life.ready else signal.SIGKILL)
        self.done["kills"] += 1

    def measure(self):
        told = subprocess.run([self.roced, "--status", "--json"], env=self.env, capture_output=True, text=True, check=True)
        told = json.loads(told.stdout)
        self.roced_pid, self.counters = told["pid"], told.get("counters", {})
        return {"roced": memory_of(self.roced_pid),
                **{f"process {life.index}": memory_of(life.process.pid) for life in self.now[:WITNESSES]}}

    def settle(self, before):
        """Measure until descriptors that are about to be closed are: an end that has just come, and the question itself."""
        until = time.monotonic() + limit.SECONDS
        after = self.measure()
        while time.monotonic() < until and any(fds != before[name][0] for name, (fds, _) in after.items()):
            self.look()
            after = self.measure()
        return after

    def compare(self, before):
        for name, (fds, kib) in self.settle(before).items():
            print(f"{name}: {before[name][0]} descriptors before, {fds} after; {before[name][1]} KiB before, {kib} after")
            if fds != before[name][0]:
                self.error(f"{name} has {fds} descriptors instead of {before[name][0]}")
            if kib > before[name][1] + (ROCED_KIB * self.args.processes if name == "roced" else GROWTH_KIB):
                self.error(f"{name} has grown from {before[name][1]} KiB to {kib}")

    def run(self):
        self.began = time.monotonic()
        for index in range(self.args.processes):
            self.start(index)
        self.fill("at the beginning")
        print(f"all connected after {time.monotonic() - self.began:.3f} s", flush=True)
        before = self.measure()
        before = self.settle(before)
        begun = time.monotonic()
        acts = 0
        while time.monotonic() < begun + self.args.seconds:
            self.look()
            while acts < (time.monotonic() - begun) * self.args.kills:
                self.act()
                acts += 1
        self.fill("at the end")
        self.compare(before)
        print("roced counts: " + ", ".join(f"{what} {number}" for what, number in self.counters.items()), flush=True)

    def finish(self):
        """End all, and see what is left."""
        for life in self.now:
            self.end(life, signal.SIGTERM)
        for life in self.now:
            try:
                while life.process.poll() is None:
                    for key, _ in self.selector.select(0.01):
                        self.read(key.data)
                    if time.monotonic() - life.ended > limit.SECONDS:
                        life.process.kill()
                self.reap(life, life.process.wait())
            except OSError as error:
                self.error(str(error))
        until = time.monotonic() + limit.SECONDS
        while os.path.exists(f"/proc/{self.roced_pid}") and time.monotonic() < until:
            time.sleep(0.05)
        if os.path.exists(f"/proc/{self.roced_pid}"):
            self.error(f"roced, pid {self.roced_pid}, does not end")
        left = set(os.listdir(os.path.join(self.folder, "udapl-roce"))) - LEFT
        if left:
            self.error(f"left in the run-time folder: {' '.join(sorted(left))}")

    def kill_all(self):
        for life in self.now:
            if life and life.process.poll() is None:
                life.process.kill()
                life.process.wait()


def spread(seconds):
    """Median, 99 of 100, and the longest."""
    ordered = sorted(seconds) or [0.0]
    return ", ".join(f"{1000 * ordered[int(part * (len(ordered) - 1))]:.1f}" for part in (0.5, 0.99, 1)) + " ms"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--kills", type=float, default=10, help="a second")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    print(f"{args.processes} processes, {args.kills:g} kills a second, {args.seconds:g} s, seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="crowd") as folder:
        crowd = Crowd(args, folder)
        try:
            crowd.run()
            crowd.finish()
        finally:
            crowd.kill_all()
    print(f"from both ready to connected (median, 99 %, longest): {spread([at - max(life.ready, peer.ready) for life, peer, at in crowd.connects])}")
    print(f"from the end to its break: {spread(crowd.tells)}")
    print(", ".join(f"{what}: {number}" for what, number in sorted(crowd.done.items())))
    print(f"{len(crowd.errors)} errors, seed {args.seed}")
    return bool(crowd.errors) or crowd.done["received"] == 0


if __name__ == "__main__":
    sys.exit(main())
