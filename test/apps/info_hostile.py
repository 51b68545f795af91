#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dat-info beside telemetry sockets that misbehave: it ends, with one sentence, or shows what there is.

  info_hostile.py DAT_INFO
"""
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pretend

try:
    from prometheus_client.parser import text_string_to_metric_families as parse
except ImportError:
    parse = None

GREETING = {"version": "DPDK 22.11", "pid": 4711, "max_output_len": 16384}
PORT = {"port": "p0", "driver": "net_x", "ip": "192.0.2.1", "mac": "02:00:00:00:00:01", "mtu": 1024, "engines": 1}
QP = {"state": "rts", "srq": 0, "held": 1, "requests": 2, "taken": 3, "posted": 4, "completed": 2, "received": 9}
SRQ = {"max": 8, "available": 4, "outstanding": 8, "low_watermark": 2, "armed": 1, "low_watermark_events": 0,
       "empty_rnr": 0, "queue_pairs": 1}
GOOD = {"/roce/ports": {"p0": PORT}, "/roce/help": {"rx_frames": "frames (frames)"},
        "/roce/stats": {"port": "p0", "rx_frames": 7}, "/roce/cm": {"port": "p0", "idle": 0, "counters": {"rx_req": 1}}}


class Fake(pretend.Pretender):
    """A telemetry socket that answers as it is told: a function of the question, which may return bytes or an object."""

    def __init__(self, folder, answer, greeting=None, name="socket"):
        self.path = str(Path(folder, name))
        self.answer = answer
        self.greeting = json.dumps(GREETING).encode() if greeting is None else greeting
        super().__init__(self.path)

    def talk(self, link):
        if self.greeting:
            link.send(self.greeting)
        while question := link.recv(1024).decode():
            reply = self.answer(question)
            if reply is None:
                return
            if not isinstance(reply, bytes):
                reply = json.dumps({question.split(",")[0]: reply}).encode()
            link.send(reply)


def good(question):
    """What a well-behaved process with one device of 100 queue pairs says."""
    command, *rest = question.split(",")
    if command in GOOD:
        return GOOD[command]
    first = int(rest[1])
    if command == "/roce/srqs":
        return {"total": 1, "list": {} if first > 0 else {"0": SRQ}}
    numbers = [n for n in range(1000, 1100) if n >= first][:48]
    return {"total": 100, "list": {str(n): QP for n in numbers}}


def but(command, reply):
    """The same, but for one command."""
    return lambda question: reply if question.split(",")[0] == command else good(question)


def is_metrics(text):
    """Can Prometheus read it? Without its library: it looks so."""
    if parse is None:
        return text.startswith("# HELP")
    try:
        return len(list(parse(text))) > 0
    except ValueError as error:
        print(error)
        return False


class Judge(pretend.Judge):
    def refused(self, what, fake, word):
        """Both modes end with exit status 1 and one sentence."""
        for mode in (["--metrics"], ["--watch", "0.1", "--count", "2"]):
            done = self.run(*mode, "--socket", fake.path)
            if done.returncode != 1 or done.stderr.count("\n") != 1 or word not in done.stderr:
                self.complain(f"{what} {mode[0]}, wants '{word}'", done)

    def works(self, what, fake, *words):
        for mode in (["--metrics", "--queue-pairs"], ["--watch", "0.1", "--count", "2"]):
            done = self.run(*mode, "--socket", fake.path)
            good_text = mode[0] != "--metrics" or is_metrics(done.stdout)
            if done.returncode != 0 or done.stderr or not good_text or not any(w in done.stdout for w in words):
                self.complain(f"{what} {mode[0]}, wants one of {words}", done)


def judge_answers(judge, folder):
    with Fake(folder, good) as fake:
        judge.works("a good process", fake, "p0")
        done = judge.run("--metrics", "--queue-pairs", "--socket", fake.path)
        if done.stdout.count("roce_qp_held{") != 100 or 'device="p0",port="1",state="rts"} 100' not in done.stdout:
            judge.complain("not all pages of queue pairs", done)
        done = judge.run("--watch", "0.1", "--count", "3", "--socket", fake.path)
        if done.stdout.count(" armed ") != 3 or done.stdout.count("process 4711") != 3:
            judge.complain("not three tables of an armed queue", done)
        done = judge.run("--metrics", "--pid", "4712", "--socket", fake.path)
        if done.returncode != 1 or "not the one" not in done.stderr:
            judge.complain("another process than the one named", done)
    odd = {"state": 7, "srq": "x", "held": -1, "requests": 1e300, "taken": None}
    for what, command, reply in (
            ("no devices", "/roce/ports", {}),
            ("no statistics: closed meanwhile", "/roce/stats", []),
            ("no help", "/roce/help", "none")):
        with Fake(folder, but(command, reply)) as fake:
            judge.works(what, fake, "no device is open", "# TYPE", "p0")
    for what, command, reply in (
            ("odd statistics", "/roce/stats", {"rx_frames": {}, "x": None, "y": [1], "a{b}\n": 3}),
            ("odd connections", "/roce/cm", {"idle": {"counters": 3}, "counters": 7}),
            ("odd queue pairs", "/roce/qps", {"list": {"x": odd, "-1": odd, "7": 5, "99999999999999999999": odd}}),
            ("odd shared queues", "/roce/srqs", {"list": {"a\"b": odd, "5": odd}}),
            ("a page that is always the same", "/roce/qps", {"list": {"7": QP}}),
            ("a port of many words", "/roce/ports", {"a": {"port": "p0", "driver": ["x"] * 50, "mtu": "x"}})):
        with Fake(folder, but(command, reply)) as fake:
            judge.works(what, fake, "p0", "# TYPE")


def judge_nonsense(judge, folder):
    for what, command, reply, word in (
            ("another program on DPDK", "/roce/ports", b'{"/roce/ports": null}', "not the one"),
            ("a device without a name", "/roce/ports", {"a": {}}, "without a name"),
            ("a device that is none", "/roce/ports", {"a": 3}, "without a name"),
            ("no JSON", "/roce/stats", b"good day", "no JSON"),
            ("half of an object", "/roce/stats", b'{"/roce/stats": {"a": 1', "no JSON"),
            ("deep JSON", "/roce/qps", b'{"/roce/qps":' * 1000, "no JSON"),
            ("a list", "/roce/cm", b"[1, 2]", "no JSON"),
            ("an answer to something else", "/roce/cm", b'{"/roce/x": {}}', "answers something else"),
            ("an answer longer than it may be", "/roce/stats", b'{"/roce/stats": "' + b"x" * 20000 + b'"}', "no JSON"),
            ("a process that ends", "/roce/srqs", None, "has ended")):
        with Fake(folder, but(command, reply)) as fake:
            judge.refused(what, fake, word)
    for what, greeting, word in (
            ("no greeting", b"hello", "no JSON"),
            ("a greeting of another service", b"{}", "does not greet"),
            ("answers without end", b'{"pid": 1, "max_output_len": 99999999999}', "does not greet"),
            ("answers of less than nothing", b'{"pid": 1, "max_output_len": -1}', "does not greet")):
        with Fake(folder, good, greeting) as fake:
            judge.refused(what, fake, word)
    missing = type("", (), {"path": str(Path(folder, "none"))})
    judge.refused("no socket", missing, "nobody answers")
    judge.refused("a path too long", type("", (), {"path": "/x" * 100}), "too long")
    with Fake(folder, good, greeting=b"") as fake:
        judge.refused("silence", fake, "does not answer")


def main():
    judge = Judge(sys.argv[1])
    folder = tempfile.mkdtemp()
    try:
        os.environ.pop("RUNTIME_DIRECTORY", None)
        judge_answers(judge, folder)
        judge_nonsense(judge, folder)
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if judge.failures else 0)


if __name__ == "__main__":
    main()
