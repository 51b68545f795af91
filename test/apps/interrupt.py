#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt ends dat-perf, dat-ping and dat-srqd in order: what was measured is shown and marked as interrupted, the
exit status is that of the signal, and the other end learns of it. The second one ends the process at once.

    interrupt.py loop|early|pair|twice dat-perf dat-ping dat-srqd
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

NOTHING = "nothing measured"
# Far more than is ever sent.
ENDLESS = "1000000000"
failures = 0


def complain(what):
    global failures
    failures += 1
    print("FAIL:", what)


def delays():
    """How long traffic runs before the interrupt. One that came before anything was measured is tried again, later."""
    delay = 0.2
    end = time.monotonic() + limit.SECONDS
    while time.monotonic() < end:
        yield delay
        delay *= 2


class Run:
    """A program that writes to files of its own."""

    def __init__(self, folder, name, words, conf=None):
        self.words = words
        self.path = os.path.join(folder, name)
        self.json = self.path + ".json"
        env = dict(os.environ, DAT_OVERRIDE=conf or "")
        with open(self.path + ".out", "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)

    def text(self, kind):
        with open(f"{self.path}.{kind}", encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, word):
        """Until the program has printed a word."""
        end = time.monotonic() + limit.SECONDS
        while word not in self.text("out"):
            if self.process.poll() is not None or time.monotonic() > end:
                complain(f"{self} does not print '{word}': {self.text('out')}{self.text('err')}")
                return
            time.sleep(0.02)

    def end(self):
        try:
            return self.process.wait(limit.SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "nothing: it does not end"

    def want(self, status, said, *printed):
        got = self.end()
        if got != status:
            complain(f"{self} exits with {got} instead of {status}: {self.text('err')}")
        if said not in self.text("err"):
            complain(f"{self} does not say '{said}': {self.text('err')}")
        for word in printed:
            if word not in self.text("out"):
                complain(f"{self} does not print '{word}': {self.text('out')}")

    def want_json(self, rule):
        """The file is a JSON object of which the rule holds."""
        try:
            with open(self.json, encoding="utf-8") as file:
                root = json.load(file)
        except ValueError as error:
            complain(f"{self}: {error}")
            return
        try:
            good = rule(root)
        except (KeyError, IndexError):
            good = False
        if not good:
            complain(f"{self}: {json.dumps(root)[:1500]}")

    def __str__(self):
        return " ".join([os.path.basename(self.words[0])] + self.words[1:])


def measured(root):
    """One result, of messages that were counted at a rate that is one."""
    (result,) = root["results"]
    if sum(result.get("violations", {}).values()) or not 0 < result["n_iterations"] < int(ENDLESS):
        return False
    number = result["MsgRate"] if "MsgRate" in result else result["t_typical"]
    return result["interrupted"] and root["interrupted"] and "interrupted" in root["error"] and number > 0


def unmeasured(root):
    return root["results"] == [] and root["interrupted"] and "interrupted" in root["error"]


def loops(perf, folder):
    """Both ends in one process, by one thread or two."""
    two = len(os.sched_getaffinity(0)) >= 2
    for number, words in enumerate((
        ["-n", ENDLESS, "--verify", "-q", "3"],
        ["-d", "1000", "-b"],
        ["-n", ENDLESS, "-t", "send_lat", "--verify"],
        ["-n", ENDLESS, "-t", "write_bw", "--verify", "-q", "3"],
        ["-n", ENDLESS, "-t", "read_lat"],
        ["-n", ENDLESS, "--cores", "2", "--verify"],
        ["-n", ENDLESS, "--cores", "2", "-t", "send_lat"],
    )):
        if "--cores" in words and not two:
            continue
        sent = (signal.SIGINT, signal.SIGTERM)[number % 2]
        path = os.path.join(folder, f"loop{number}")
        for delay in delays():
            run = Run(folder, f"loop{number}", [perf, *words, "--warmup", "10", f"--json={path}.json"])
            run.wait_for("#bytes")
            time.sleep(delay)  # until something was measured, or else it is tried again
            run.process.send_signal(sent)
            run.end()
            if NOTHING not in run.text("err"):
                break
        run.want(128 + sent, "interrupted after ", "Interrupted ", "\n 64 ")
        run.want_json(measured)


def early(perf, folder):
    """Before anything was measured there is no row and no result."""
    path = os.path.join(folder, "early")
    run = Run(folder, "early", [perf, "-n", ENDLESS, "--warmup", ENDLESS, f"--json={path}.json"])
    run.wait_for("#bytes")
    run.process.send_signal(signal.SIGINT)
    run.want(130, "interrupted, with nothing measured")
    if "\n 64 " in run.text("out") or "nan" in run.text("out"):
        complain(f"{run} prints a row: {run.text('out')}")
    run.want_json(unmeasured)


def write_wire(folder, number):
    """Two adapters on one wire. @return their files by role."""
    files = {}
    for role, last in (("server", 1), ("client", 2)):
        name = os.path.join(folder, f"{role}{number}.conf")
        with open(name, "w", encoding="utf-8") as file:
            file.write(f'wire u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "port=net_memif0,role={role},id=0,'
                       f'socket-abstract=no,socket={folder}/memif{number} ip=192.0.2.{last}/24" ""\n')
        files[role] = name
    return files


def start(folder, role, number, words, conf):
    """A server that waits for its client, or a client that has begun."""
    name = f"{role}{number}"
    host = ["192.0.2.1"] if role == "client" else []
    run = Run(folder, name, [*words, f"--json={folder}/{name}.json", *host], conf)
    run.wait_for("Waiting" if role == "server" else "#bytes")
    return run


def pairs(perf, folder):
    """Two processes: either end is interrupted, and the other one shows what it has, too."""
    for number, (which, test, options) in enumerate((
        ("client", "send_bw", ["--verify", "-q", "2"]),
        ("server", "send_bw", ["-b"]),
        ("server", "send_lat", []),
        ("server", "read_bw", []),
    )):
        files = write_wire(folder, number)
        words = [perf, "-D", "wire", "-t", test, "-n", ENDLESS, "--warmup", "10", *options]
        for delay in delays():
            ends = {role: start(folder, role, number, words, conf) for role, conf in files.items()}
            time.sleep(delay)  # until something was measured, or else it is tried again
            ends[which].process.send_signal(signal.SIGINT)
            for end in ends.values():
                end.end()
            if NOTHING not in ends["client"].text("err"):
                break
        other = "client" if which == "server" else "server"
        # The server of a latency test, and one that is read, have nothing to show.
        for role, status, said in ((which, 130, "interrupted"), (other, 1, "the other end was interrupted")):
            shows = role == "client" or test == "send_bw"
            ends[role].want(status, said, *(["Interrupted "] if shows else []))
            if shows:
                ends[role].want_json(lambda root, role=role: root["results"][0]["interrupted"]
                                     and root["results"][0]["n_iterations"] > 0 and "interrupted" in root["error"])
            else:
                ends[role].want_json(lambda root: root["results"] == [])


def alone(perf, folder):
    """A server whose client never came: its user alone ends it."""
    run = start(folder, "server", "alone", [perf, "-D", "wire"], write_wire(folder, "alone")["server"])
    run.process.send_signal(signal.SIGTERM)
    run.want(0, "")
    run.want_json(lambda root: root["results"] == [] and "error" not in root)


def twice(perf, folder):
    """The second signal ends the process at once: its peer stands still, so that the first is not enough."""
    files = write_wire(folder, "twice")
    for delay in delays():
        ends = {role: start(folder, role, "twice", [perf, "-D", "wire", "-n", ENDLESS], conf)
                for role, conf in files.items()}
        time.sleep(delay)  # until something was measured, or else it is tried again
        ends["client"].process.send_signal(signal.SIGSTOP)
        # Two at least: signals that come before the process runs again are one.
        end = time.monotonic() + limit.SECONDS
        while ends["server"].process.poll() is None and time.monotonic() < end:
            ends["server"].process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        status = ends["server"].end()
        ends["client"].process.kill()
        ends["client"].end()
        if NOTHING not in ends["server"].text("err"):
            break
    if status != -signal.SIGINT:
        complain(f"{ends['server']} exits with {status} at the second signal: {ends['server'].text('err')}")


def ping_and_srqd(ping, srqd, folder):
    run = Run(folder, "ping", [ping, "-c", ENDLESS, "-i", "1", f"--json={folder}/ping.json"])
    run.wait_for("seq=3")
    run.process.send_signal(signal.SIGINT)
    run.want(130, f"of {ENDLESS} rounds", "0% lost")
    run.want_json(lambda root: root["interrupted"] and root["results"][0]["interrupted"]
                  and root["results"][0]["answered"] > 3 and "interrupted" in root["error"])
    # Rounds without number have no other end, and neither has a server.
    run = Run(folder, "endless", [ping, "-c", "0", "-i", "1"])
    run.wait_for("seq=3")
    run.process.send_signal(signal.SIGTERM)
    run.want(0, "", "0% lost")
    run = Run(folder, "serves", [srqd, "-D", "loop0", f"--json={folder}/serves.json"])
    run.wait_for("dat-srqd answers")
    run.process.send_signal(signal.SIGTERM)
    run.want(0, "", "0 received")
    run.want_json(lambda root: "error" not in root)
    run = Run(folder, "srqd", [srqd, "--self", "3", "-n", ENDLESS, f"--json={folder}/srqd.json"])
    run.wait_for("messages/s")
    run.process.send_signal(signal.SIGINT)
    run.want(130, "interrupted after ", "sent by 3 clients")
    run.want_json(lambda root: root["interrupted"] and root["clients"]["arrived"] > 0)


SCENES = {
    "loop": lambda perf, ping, srqd, folder: loops(perf, folder),
    "early": lambda perf, ping, srqd, folder: (early(perf, folder), alone(perf, folder), ping_and_srqd(ping, srqd, folder)),
    "pair": lambda perf, ping, srqd, folder: pairs(perf, folder),
    "twice": lambda perf, ping, srqd, folder: twice(perf, folder),
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        SCENES[sys.argv[1]](*sys.argv[2:5], folder)
    return failures != 0


sys.exit(main())
