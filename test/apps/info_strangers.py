#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dat-info among processes that it finds: it asks those of its user, all at once, and shows no byte that a terminal obeys.

  info_strangers.py DAT_INFO
"""
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

import pretend
from info_hostile import GREETING, PORT, QP, SRQ, Fake, good

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

NOBODY = 65534
ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\x00\n\r\u009b"
CROWD = 8
# More than any exporter would take at once.
SLOW = 200


def socket_name(base, prefix):
    """Where the EAL of a process with this file prefix has its socket."""
    folder = Path(base, "dpdk", prefix)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "dpdk_telemetry.v2")


class Process(Fake):
    """One that dat-info finds in a folder: a device of its name, and a process id of its own."""

    def __init__(self, base, number, answer=None):
        self.port = f"p{number}"
        port = {"/roce/ports": {self.port: {**PORT, "port": self.port}}}
        greeting = json.dumps({**GREETING, "pid": 100000 + number}).encode()
        super().__init__(base, lambda question: port.get(question) or (answer or good)(question), greeting,
                         socket_name(base, self.port))


class Judge(pretend.Judge):
    def lists(self, what, there, not_there=()):
        """Metrics of the devices in the one list, and of none in the other."""
        done = self.run("--metrics")
        for port in there:
            if f'device="{port}"' not in done.stdout:
                self.complain(f"{what}: {port} is missing", done)
        for port in not_there:
            if f'device="{port}"' in done.stdout:
                self.complain(f"{what}: {port} is shown", done)

    def is_plain(self, what, *args, word):
        done = self.run(*args)
        if word not in done.stdout or not re.fullmatch(r"[ -~\n]*", done.stdout + done.stderr):
            self.complain(f"{what} {args[0]}: not '{word}' in plain text", done)
        if "--watch" in args and "--json" in args:
            json.loads(done.stdout, parse_constant=lambda word: self.complain(f"{what}: {word} is no JSON", done))


def judge_crowd(judge, base):
    """Each of them answers when all have been asked: one after the other, none would."""
    asked = threading.Barrier(CROWD)

    def together(question):
        if question.startswith("/roce/stats"):
            try:
                asked.wait(limit.SECONDS)
            except threading.BrokenBarrierError:
                return None
        return good(question)

    crowd = [Process(base, number, together) for number in range(CROWD)]
    judge.lists("processes side by side", [process.port for process in crowd])
    for process in crowd:
        process.__exit__()
        shutil.rmtree(Path(process.path).parent)


def judge_without_end(judge, base):
    """A process that says more and more holds nobody up, and has its time and no more."""
    def pages(question):
        command, *rest = question.split(",")
        if command not in ("/roce/qps", "/roce/srqs"):
            return good(question)
        one = QP if command == "/roce/qps" else SRQ
        return {"total": 1, "list": {str(int(rest[1]) + n): one for n in range(40)}}

    with Process(base, 1, pages), Process(base, 2):
        judge.lists("beside pages without end", ["p2"], ["p1"])
    shutil.rmtree(Path(base, "dpdk"))


def judge_silence(judge, base):
    """So does one that is silent, and many that are: half of them greet and tell of their devices before."""
    def wait(_):
        threading.Event().wait()

    silent = [Process(base, number, wait) for number in range(3, 3 + CROWD)]
    silent += [Fake(base, wait, b"", socket_name(base, f"mute{number}")) for number in range(CROWD)]
    with Process(base, 2):
        judge.lists("beside silent ones", ["p2"], [process.port for process in silent[:CROWD]])
    for process in silent:
        process.__exit__()
    shutil.rmtree(Path(base, "dpdk"))


def judge_escapes(judge, base):
    dirty = {**PORT, **{member: ESCAPES for member in ("driver", "ip", "mac", "icrc")}, "adapters": ["wire"], "link": ESCAPES}
    answers = {"/roce/ports": {"p1": {**dirty, "port": "p1" + ESCAPES}},
               "/roce/stats": {"port": "p1", "rx_frames": 7, "rx" + ESCAPES: 8, "words": ESCAPES,
                               "none": math.nan, "much": -math.inf},
               "/roce/help": {"rx_frames": "frames" + ESCAPES, ESCAPES: ESCAPES}}
    greeting = json.dumps({**GREETING, "pid": os.getpid()}).encode()
    comm = Path("/proc/self/comm")
    name = comm.read_bytes()
    comm.write_bytes(b"\x1b[2Jx\x9b")
    try:
        with Fake(base, lambda question: answers.get(question.split(",")[0]) or good(question), greeting,
                  socket_name(base, "p1")):
            for args, word in ((["--metrics", "--queue-pairs"], "p1?"), (["--watch", "0.1", "--count", "1"], "p1?"),
                               (["--watch", "0.1", "--count", "1", "--json"], "p1?"), (["wire"], "?"), (["--json", "wire"], "?"), (["--json"], "?")):
                judge.is_plain("a process that commands", *args, word=word)
    finally:
        comm.write_bytes(name)
    shutil.rmtree(Path(base, "dpdk"))


class Stranger:
    """A process of another user that has a socket where it may, and counts who comes. Until the end of a `with`."""

    def __init__(self, path, folder_is_his):
        self.path = path
        self.reads, writes = os.pipe()
        if folder_is_his:
            os.chown(Path(path).parent, NOBODY, NOBODY)
        else:
            Path(path).parent.chmod(0o777)
        self.pid = os.fork()
        if self.pid == 0:
            os.umask(0)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            Fake(Path(path).parent, good, json.dumps({**GREETING, "pid": 1}).encode(), path)
            os.write(writes, b"x")
            signal.pause()
        assert os.read(self.reads, 1) == b"x"
        os.close(writes)
        if not folder_is_his:
            Path(path).parent.chmod(0o700)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.reads)


def judge_strangers(judge, base):
    """What another user has put there is not asked: his folder, his socket in one of ours, and what one named is."""
    if os.geteuid() != 0:
        print("strangers: wants root; all else holds")
        return
    for what, folder_is_his in (("a folder of a stranger", True), ("a socket of a stranger", False)):
        with Stranger(socket_name(base, "strange"), folder_is_his) as stranger, Process(base, 2):
            judge.lists(what, ["p2"], ["p0"])
            done = subprocess.run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", judge.program, "--metrics",
                                   "--socket", stranger.path], capture_output=True, text=True, timeout=limit.SECONDS, check=False)
            if done.returncode != 1 or "device=" in done.stdout or (folder_is_his and "of user 65534" not in done.stderr):
                judge.complain(f"{what}, named by one more user", done)
        shutil.rmtree(Path(base, "dpdk"))


class Exporter:
    """dat-info as it serves metrics, until the end of a `with`."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "--metrics", "--listen", "0"], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/metrics", self.process.stdout.readline()).group(1))

    def connect(self):
        link = socket.create_connection(("127.0.0.1", self.port), timeout=limit.SECONDS)
        link.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
        return link

    def scrape(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=limit.SECONDS) as answer:
            return answer.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def judge_exporter(judge, base):
    """Connections that send a byte now and then, and come again when they are ended, keep no scrape out."""
    with Process(base, 2), Exporter(judge.program) as exporter:
        links = [exporter.connect() for _ in range(SLOW)]
        ends = threading.Event()

        def trickle():
            while not ends.wait(0.2):
                for i, link in enumerate(links):
                    try:
                        link.send(b"a")
                    except OSError:
                        link.close()
                        links[i] = exporter.connect()

        slow = threading.Thread(target=trickle)
        slow.start()
        try:
            for _ in range(3):
                if 'device="p2"' not in exporter.scrape():
                    raise OSError("without the device")
        except OSError as error:
            judge.failures += 1
            print(f"FAIL: a scrape beside {SLOW} slow connections: {error}")
        ends.set()
        slow.join()
        for link in links:
            link.close()
    shutil.rmtree(Path(base, "dpdk"))


def main():
    judge = Judge(sys.argv[1])
    base = tempfile.mkdtemp()
    os.chmod(base, 0o755)
    conf = Path(base, "dat.conf")
    conf.write_text('wire u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "port=net_null0 ip=192.0.2.9/24" ""\n')
    os.environ.update(RUNTIME_DIRECTORY=base, XDG_RUNTIME_DIR=base, DAT_OVERRIDE=str(conf),
                      # A list has the built-in adapters, too: no roced is to be left behind.
                      UDAPL_ROCE_ROCED="/nonexistent")
    try:
        for rule in (judge_crowd, judge_without_end, judge_silence, judge_escapes, judge_strangers, judge_exporter):
            try:
                rule(judge, base)
            except subprocess.TimeoutExpired as error:
                judge.failures += 1
                print(f"FAIL: {rule.__name__}: {error}")
                shutil.rmtree(Path(base, "dpdk"))
    finally:
        shutil.rmtree(base)
    # Threads of pretended processes that wait are none of the result.
    sys.stdout.flush()
    os._exit(1 if judge.failures else 0)


if __name__ == "__main__":
    main()
