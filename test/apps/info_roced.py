#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dat-info beside a roced that misbehaves: it ends with one sentence, or shows what there is.

  info_roced.py DAT_INFO
"""
import array
import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import threading
from pathlib import Path

import pretend

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

STATUS, TEXT = 12, 13
GOOD = {"tool": "roced", "version": "9.8.7", "pid": 4711, "uptime_seconds": 3661, "uplink": False,
        "mac": "02:72:6f:63:65:00", "mtu": 4200, "addresses": ["127.0.0.1/8"],
        "processes": [{"number": 1, "pid": 11, "name": "one\"\\", "listeners": [17170439, 5], "channels": [2]},
                      {"number": 2, "pid": 12, "name": "two", "listeners": [], "channels": [1]}],
        "counters": {"attached": 2, "violations": 7, "frames_forwarded": 3, "of_tomorrow": 5}}


def memory(content):
    fd = os.memfd_create("status", os.MFD_CLOEXEC)
    os.write(fd, content)
    return fd


class Fake(pretend.Pretender):
    """A roced that answers a question for its status by a function of the connection; one that returns ends it."""

    def __init__(self, folder, answer):
        self.answer = answer
        super().__init__(Path(folder, "udapl-roce", "roced.sock"))

    def talk(self, link):
        asked = link.recv(4096)
        assert asked == struct.pack("=I4xII", STATUS, 1, 0), asked
        self.answer(link)


def send(link, message, *fds):
    link.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
    for fd in fds:
        os.close(fd)


def tell(content, length=None):
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda link: send(link, struct.pack("=I4xII", TEXT, 1, len(content) if length is None else length), memory(content))


def but(**members):
    return tell({**GOOD, **members})


class Judge(pretend.Judge):
    def refused(self, what, word, *modes):
        for mode in modes or (["--metrics"], ["--watch", "0.1", "--count", "2"]):
            done = self.run(*mode)
            if done.returncode != 1 or done.stderr.count("\n") != 1 or word not in done.stderr:
                self.complain(f"{what} {mode[0]}, wants '{word}'", done)

    def shows(self, what, *mode, words):
        done = self.run(*mode)
        if done.returncode != 0 or done.stderr or not all(word in done.stdout for word in words):
            self.complain(f"{what} {mode[0]}, wants all of {words}", done)
        if mode[0] == "--watch" and "--json" not in mode and max(map(len, done.stdout.splitlines())) > 80:
            self.complain(f"{what}: a line of more than 80 columns", done)
        return done.stdout


def judge_good(judge, folder):
    with Fake(folder, tell(GOOD)):
        text = judge.shows("a good roced", "--metrics", words=(
            'roce_processes 0\n', 'roced_info{pid="4711",process="roced",version="9.8.7",mac="02:72:6f:63:65:00"} 1\n',
            'roced_uptime_seconds{pid="4711",process="roced"} 3661\n', 'roced_processes{pid="4711",process="roced"} 2\n',
            'roced_channels_open{pid="4711",process="roced"} 1\n', 'roced_listeners{pid="4711",process="roced"} 2\n',
            'roced_process_channels{pid="11",process="one\\"\\\\",number="1"} 1\n',
            'roced_process_listeners{pid="12",process="two",number="2"} 0\n',
            'roced_violations_total{pid="4711",process="roced"} 7\n',
            'roced_of_tomorrow_total{pid="4711",process="roced"} 5\n'))
        if text.count("# TYPE roced_") != len(set(text.split("# TYPE roced_"))) - 1:
            judge.complain("a family stands twice", judge.run("--metrics"))
        judge.shows("a good roced", "--watch", "0.1", "--count", "2", words=(
            " 0 processes", "process 4711 roced", "no uplink, up 3661 s: 2 processes, 1 channel, 2 listeners"))
        looks = judge.shows("a good roced", "--watch", "--count", "1", "--json", "--pid", "4711", words=())
        if json.loads(looks) != {"pid": 4711, "process": "roced", "devices": {}, "roced": GOOD}:
            judge.complain("not what roced told", judge.run("--watch", "--count", "1", "--json"))
        if "roced_uplink_" in text:
            judge.complain("counters of an uplink that is not there", judge.run("--metrics"))
        judge.refused("another process than roced", "that fits", ["--metrics", "--pid", "4712"])
        judge.refused("a process by its prefix", "that fits", ["--metrics", "--prefix", "none"])


def judge_uplink(judge, folder):
    """What its uplink counts, beside counters of the same name."""
    with Fake(folder, but(uplink=True, uplink_counters={"rx_frames": 70, "tx_frames": 50, "tx_refused": 4, "of_tomorrow": 6})):
        judge.shows("an uplink", "--metrics", words=(
            'roced_uplink{pid="4711",process="roced"} 1\n', "frames that came from the wire\n",
            'roced_uplink_rx_frames_total{pid="4711",process="roced"} 70\n',
            'roced_uplink_tx_refused_total{pid="4711",process="roced"} 4\n',
            'roced_uplink_of_tomorrow_total{pid="4711",process="roced"} 6\n'))
        judge.shows("an uplink", "--watch", "0.1", "--count", "2", words=(
            "with an uplink", "uplink: frames/s: 0 in, 0 out, 0 dropped"))


def judge_odd(judge, folder):
    """Members that are something else, or that no roced has."""
    odd = [3, None, [], {}, {"number": "x", "pid": -1, "name": ["a"], "listeners": {}, "channels": "1,2"},
           {"number": 2**64, "listeners": [None, "x", {}], "channels": [-1, 1e300]}]
    for what, answer in (("odd processes", but(processes=odd)), ("no list of processes", but(processes={"1": 2})),
                         ("no addresses", but(addresses=7, mac=None, version={})),
                         ("odd counters", but(counters={"attached": "x", "a{b}\n": 3, "": 1})),
                         ("no counters", but(counters=[1], uplink_counters=[2])),
                         ("odd counters of an uplink", but(uplink_counters={"rx_frames": "x", "a{b}\n": 3, "": 1})),
                         ("numbers beyond", but(pid=-1, uptime_seconds=10**30, uplink="no")),
                         ("a tool alone", tell({"tool": "roced"}))):
        with Fake(folder, answer):
            judge.shows(what, "--metrics", words=("# TYPE roced_processes gauge",))
            judge.shows(what, "--watch", "0.1", "--count", "2", words=("roced",))
    crowd = [{"number": n, "pid": n, "name": "x" * 31, "listeners": list(range(50)),
              "channels": [m for m in range(1, 1023) if m != n]} for n in range(1, 1023)]
    with Fake(folder, but(processes=crowd)):
        judge.shows("a crowd", "--metrics", words=("} 1022\n", f"}} {1022 * 1021 // 2}\n", f"}} {1022 * 50}\n"))
        judge.shows("a crowd", "--watch", "--count", "1", words=("1022 processes",))


def judge_nonsense(judge, folder):
    with_fd = struct.pack("=I4xII", TEXT, 1, 10)
    for what, answer, word in (
            ("no JSON", tell(b"good day"), "is not its status"),
            ("half of an object", tell(b'{"tool": "roced", "pid"'), "is not its status"),
            ("no text", tell(b""), "is not its status"),
            ("a list", tell([GOOD]), "is not its status"),
            ("the status of something else", but(tool="redis"), "is not its status"),
            ("deep JSON", tell(b'{"tool":' * 10000), "is not its status"),
            ("less text than told", tell(GOOD, 10**6), "does not tell its status"),
            ("endless text", tell(GOOD, 2**32 - 1), "does not tell its status"),
            ("a text without memory", lambda link: send(link, with_fd), "does not tell its status"),
            ("a text that is a socket", lambda link: send(link, with_fd, os.dup(link.fileno())), "does not tell its status"),
            ("a text in a pipe", lambda link: send(link, with_fd, os.pipe()[0]), "does not tell its status"),
            ("another message", lambda link: send(link, struct.pack("=I4xI", 11, 1)), "does not tell its status"),
            ("bytes", lambda link: send(link, b"hello"), "does not tell its status"),
            ("an end", lambda link: None, "does not tell its status")):
        with Fake(folder, answer):
            judge.refused(what, word)
    wait = threading.Event()
    with Fake(folder, lambda link: wait.wait(limit.SECONDS)):
        judge.refused("silence", "does not tell its status", ["--metrics"])
    wait.set()
    judge.refused("a socket that is left", "no running process")
    Path(folder, "udapl-roce", "roced.sock").unlink()
    judge.refused("no socket", "no running process")


def main():
    judge = Judge(sys.argv[1])
    folder = tempfile.mkdtemp()
    try:
        # The processes and the roced of this test, and no others.
        os.environ.update(RUNTIME_DIRECTORY=folder, XDG_RUNTIME_DIR=folder)
        Path(folder, "udapl-roce").mkdir(mode=0o700)
        judge_good(judge, folder)
        judge_uplink(judge, folder)
        judge_odd(judge, folder)
        judge_nonsense(judge, folder)
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if judge.failures else 0)


if __name__ == "__main__":
    main()
