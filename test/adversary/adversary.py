#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The adversarial mix: consumers and a server among signals and strangers.

adversary.py --build DIR [--minutes N] [--seed N]

Some churn processes (churn.c) judge each count of their shared receive queues over loop adapters. A dat-srqd serves one
client after the other over net_memif. All the while processes are killed, stopped and continued at random, and strangers
connect to the server's socket, with and without garbage. A death is the end of a process that nobody here killed; a
wrong count ends a churn. The last line is the sum; exit 1 when there was a death or a wrong count, or nothing was counted.
"""
import argparse
import collections
import contextlib
import glob
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

CHURNS = 3
STOP_SECONDS = (0.02, 1.0)  # shorter than a connection's patience
PAUSE_SECONDS = (0.02, 0.3)
START_SECONDS = 30
END_SECONDS = 60
ROUND = re.compile(r"round: (\d+) queries, (\d+) resizes, (\d+) armings, (\d+) connections")
LINE = 'wire u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "port=net_memif0,role={},id=0,socket={} ip={}/24" ""\n'
GARBAGE = 4096


class Program:
    """A process that is to run on, and what it says."""

    def __init__(self, name, command, env, out):
        self.name, self.out = name, open(out, "ab+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT)
        self.continues_at = 0.0

    def said(self):
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode("utf-8", "replace")

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def stop(self, seconds):
        self.signal(signal.SIGSTOP)
        self.continues_at = time.monotonic() + seconds

    def go_on(self):
        self.continues_at = 0.0
        self.signal(signal.SIGCONT)

    def end(self, number):
        """Ends it, and returns its status."""
        self.go_on()
        self.signal(number)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -1000
        return self.process.returncode


class Mix:
    def __init__(self, build, folder, seed):
        self.random, self.build, self.folder = random.Random(seed), build, folder
        self.socket = os.path.join(folder, "memif.sock")
        self.deaths, self.done, self.programs, self.files = [], collections.Counter(), [], 0
        libraries = [os.path.join(build, "lib", name) for name in ("front", "libdat")]
        self.env = dict(os.environ, LD_LIBRARY_PATH=":".join(libraries))
        for role, address in (("server", "192.0.2.1"), ("client", "192.0.2.2")):
            with open(os.path.join(folder, f"{role}.conf"), "w", encoding="utf-8") as conf:
                conf.write(LINE.format(role, self.socket, address))

    def start(self, name):
        srqd = [os.path.join(self.build, "apps/dat-srqd"), "-D", "wire"]
        command, conf, more = {
            "churn": ([os.path.join(self.build, "test/adversary/churn"), str(self.random.getrandbits(60))], "",
                      {"UDAPL_ROCE_PARAMS": "progress=manual"}),
            "server": ([*srqd, "--interval", "0"], os.path.join(self.folder, "server.conf"), {}),
            "client": ([*srqd, "--connect", "192.0.2.1", "-n", "2000"], os.path.join(self.folder, "client.conf"), {}),
        }[name]
        self.files += 1
        program = Program(name, command, dict(self.env, DAT_OVERRIDE=conf, **more),
                          os.path.join(self.folder, f"{self.files}-{name}.out"))
        self.programs.append(program)
        return program

    def died(self, program, how):
        self.deaths.append(f"{program.name} {how}: {' / '.join(program.said().splitlines()[-8:])}")
        print("death:", self.deaths[-1], flush=True)

    def count(self, program):
        for numbers in ROUND.findall(program.said()):
            for what, number in zip(("queries", "resizes", "armings", "connections"), numbers):
                self.done[what] += int(number)

    def remove(self, program):
        self.count(program)
        program.out.close()
        self.programs.remove(program)

    def replace(self, program):
        """Whoever is gone comes again."""
        self.remove(program)
        self.start(program.name)

    def look(self):
        """What ended by itself, and what was stopped long enough. A client may fail: its server was stopped."""
        for program in list(self.programs):
            if program.continues_at and time.monotonic() > program.continues_at:
                program.go_on()
            status = program.process.poll()
            if status is None:
                continue
            if program.name == "client":
                if status < 0:
                    self.died(program, f"ended with {status}")
                self.done["clients served" if status == 0 else "clients refused"] += 1
            else:
                self.died(program, f"ended with {status}")
            self.replace(program)

    def stray(self):
        """A stranger at the server's door."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.settimeout(1)
            door.connect(self.socket)
            for _ in range(self.random.randrange(4)):
                door.send(self.random.randbytes(self.random.randrange(1, GARBAGE)))
        self.done["strangers"] += 1

    def act(self):
        program = self.random.choice(self.programs)
        what = self.random.random()
        if what < 0.4:
            self.stray()
        elif what < 0.8 and not program.continues_at:
            program.stop(self.random.uniform(*STOP_SECONDS))
            self.done["stops"] += 1
        elif program.name != "server" and program.process.poll() is None:
            program.end(signal.SIGKILL)
            self.replace(program)
            self.done["kills"] += 1

    def run(self, seconds):
        server = self.start("server")
        until = time.monotonic() + START_SECONDS
        while not os.path.exists(self.socket) and server.process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        for name in ["churn"] * CHURNS + ["client"]:
            self.start(name)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.look()
            self.act()
            # For no condition: it is the disorder that is tested.
            time.sleep(self.random.uniform(*PAUSE_SECONDS))
        self.look()
        for program in list(self.programs):
            status = program.end(signal.SIGTERM)
            if program.name == "churn" and status != 0 or status in (-signal.SIGSEGV, -signal.SIGABRT, -1000):
                self.died(program, f"ended with {status} when it was told to")
            self.remove(program)

    def kill_all(self):
        for program in self.programs:
            program.end(signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    args = parser.parse_args()
    print(f"the adversarial mix, {args.minutes:g} minutes; the same again: ./run.sh soak --adversary {args.minutes:g} {args.seed}",
          flush=True)
    with tempfile.TemporaryDirectory(prefix="adversary") as folder:
        mix = Mix(os.path.abspath(args.build), folder, args.seed)
        try:
            mix.run(args.minutes * 60)
        finally:
            mix.kill_all()
        left = [path for path in glob.glob(os.path.join(folder, "*.sock")) if os.path.exists(path)]
    print(", ".join(f"{what}: {number}" for what, number in sorted(mix.done.items())))
    wrong = sum("churn.c:" in death or "contract.c:" in death or "ERROR" in death for death in mix.deaths)
    print(f"{len(mix.deaths)} deaths, {wrong} wrong counts, {len(left)} sockets left, seed {args.seed}")
    return bool(mix.deaths) or mix.done["queries"] == 0 or mix.done["clients served"] == 0


if __name__ == "__main__":
    sys.exit(main())
