# SPDX-License-Identifier: BSD-3-Clause
"""One talk between ours and a program of the guest, and how it is judged.

What a talk returns is a Verdict: why the whole of it failed (empty: it did not), and what became of each step.
"""
import dataclasses
import re

import lab

SECONDS = 120
STEP = re.compile(r"step (\S+): (ok|FAILED)")


@dataclasses.dataclass
class Verdict:
    why: str = ""
    steps: tuple = ()  # (step, "ok" or "FAILED"), in order


@dataclasses.dataclass
class Wants:
    """What both ends are to say, and how ours is to end."""
    ours: tuple = ()
    guest: tuple = ()
    status: int = 0
    steps_may_fail: bool = False


def judge(out, wanted, steps_may_fail):
    """Why this output is wrong; empty: it is right."""
    for words in wanted:
        if words not in out:
            return f"'{words}' is missing in: {out.strip()[-300:]}"
    for line in out.splitlines():
        if "FAILED" in line and not (steps_may_fail and STEP.search(line)):
            return line
    return ""


def verdict(ours, status, guest, wants, stepper):
    why = "" if status == wants.status else f"exit status {status}: {ours.strip()[-200:]}"
    why = why or judge(ours, wants.ours, wants.steps_may_fail) or judge(guest, wants.guest, wants.steps_may_fail)
    return Verdict(why, tuple(STEP.findall(stepper)))


class Talk:
    """Who talks over which network, with which keys of ours, on which wire."""

    def __init__(self, the_lab, net=lab.NETS["IPv4"], keys="", rules=(), seconds=SECONDS):
        self.lab, self.net, self.keys, self.rules, self.seconds = the_lab, net, keys, rules, seconds

    def partner(self, *words):
        return self.lab.partner(*words, net=self.net, keys=self.keys)

    def guest(self, command):
        return self.lab.guest(command, self.seconds)

    def client(self, command, *words, wants=Wants(), port=None):
        """Ours connects to a program in the guest, or to none (""). HOST stands for the guest's address; port: the program does
        not say that it listens there."""
        with self.lab.faults(*self.rules):
            server = self.guest(command) if command else None
            if server is not None and port is None:
                server.wait_for("listening")
            elif server is not None:
                self.lab.wait_for_listeners(port)
            ours, status = self.partner(*(self.net.guest if word == "HOST" else word for word in words)).finish(
                self.seconds)
            guest = self.end(server, command) if server is not None else ""
        return verdict(ours, status, guest, wants, ours)

    def end(self, server, command):
        """What a server in the guest has said when it is over. Those that would go on for ever are ended."""
        if server.running() and "live_guest" not in command:
            self.lab.quiet()
        return server.finish(20)[0]

    def server(self, command, *words, wants=Wants()):
        """A program in the guest connects to ours. HOST in its command stands for our address."""
        with self.lab.faults(*self.rules):
            # Ours stays until the guest has heard of the end, too.
            ours = self.partner("-e", "60000", *words)
            ours.wait_for("listening")
            guest, _ = self.guest(command.replace("HOST", self.net.ours)).finish(self.seconds + 10)
            ours.process.terminate()
            said, status = ours.finish(self.seconds)
        return verdict(said, status, guest, wants, guest)


def probe(role, *words):
    return " ".join(["rdmaprobe", role, *words])


def many(role, *words):
    return " ".join([f"{lab.SHARE}/live_guest", role, *words])
