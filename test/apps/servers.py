#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A server outlives its clients, whatever becomes of them, serves the next ones, and ends when its user says so, with status 0.

    servers.py ping|end dat-ping dat-srqd dat-info
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

# Far more than is ever sent.
ENDLESS = "1000000000"
SERVER = "192.0.2.1"
failures = 0


def complain(text):
    global failures
    failures += 1
    print("FAIL:", text)


class Run:
    """A program on the wire, in one role, that writes to a file of its own."""

    def __init__(self, folder, role, words):
        self.words = words
        fd, self.path = tempfile.mkstemp(dir=folder, prefix=role)
        env = dict(os.environ, DAT_OVERRIDE=os.path.join(folder, role + ".conf"))
        with open(fd, "wb") as out:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def text(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, word):
        """Until the program has printed a word. @return whether it did."""
        end = time.monotonic() + limit.SECONDS
        while word not in self.text():
            if self.process.poll() is not None or time.monotonic() > end:
                complain(f"{self} does not print '{word}': {self.text()}")
                return False
            time.sleep(0.02)
        return True

    def die(self):
        self.process.kill()
        self.process.wait()

    def want_end(self, status, number=None):
        """It ends, by a signal if one is named, with that status."""
        if number is not None:
            self.process.send_signal(number)
        try:
            got = self.process.wait(limit.SECONDS)
        except subprocess.TimeoutExpired:
            got = "nothing: it does not end"
        if got != status:
            complain(f"{self} exits with {got} instead of {status}: {self.text()}")

    def __str__(self):
        return " ".join([os.path.basename(self.words[0])] + self.words[1:])


def write_wire(folder):
    """Two adapters on one wire."""
    for role, last in (("server", 1), ("client", 2)):
        with open(os.path.join(folder, f"{role}.conf"), "w", encoding="utf-8") as file:
            file.write(f'wire u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "port=net_memif0,role={role},id=0,'
                       f'socket-abstract=no,socket={folder}/memif ip=192.0.2.{last}/24" ""\n')


def serves(server, folder, words):
    """A client is served, as soon as the one before has lost its place."""
    end = time.monotonic() + limit.SECONDS
    while server.process.poll() is None and time.monotonic() < end:
        with Run(folder, "client", words) as client:
            try:
                if client.process.wait(limit.SECONDS) == 0:
                    return
            except subprocess.TimeoutExpired:
                pass
    complain(f"{server} does not serve another client: {server.text()}")


def ping(folder, programs):
    """Killed clients of dat-ping: one while it waits for its next round, when it owes nothing."""
    words = [programs["ping"], "-D", "wire"]
    with Run(folder, "server", [*words, "-l"]) as server:
        server.wait_for("dat-ping answers")
        for interval in ("0", "1000000"):
            with Run(folder, "client", [*words, "-c", "0", "-i", interval, SERVER]) as client:
                client.wait_for("seq=0")
                client.die()
            serves(server, folder, [*words, "-c", "3", "-i", "1", SERVER])
        server.want_end(0, signal.SIGINT)


def end(folder, programs):
    """By each signal of its user a server ends with 0, also with clients that stand still."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Run(folder, "server", [programs["srqd"], "-D", "wire", "--stall", "3600"]) as server, \
                Run(folder, "client", [programs["srqd"], "-D", "wire", "--connect", SERVER, "-n", ENDLESS]) as client:
            server.wait_for("messages/s")
            client.process.send_signal(signal.SIGSTOP)
            server.want_end(0, number)
        with Run(folder, "server", [programs["ping"], "-D", "wire", "-l"]) as server:
            server.wait_for("dat-ping answers")
            server.want_end(0, number)
        with Run(folder, "server", [programs["info"], "--metrics", "--listen", "127.0.0.1:0"]) as server:
            server.wait_for("127.0.0.1")
            server.want_end(0, number)


def main():
    programs = dict(zip(("ping", "srqd", "info"), sys.argv[2:5]))
    scenes = {"ping": ping, "end": end}
    with tempfile.TemporaryDirectory() as folder:
        write_wire(folder)
        scenes[sys.argv[1]](folder, programs)
    return failures != 0


sys.exit(main())
