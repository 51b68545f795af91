#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges dat-info beside programs at work: metrics, the live table, adapters in use.

Usage: watch.py DAT-PERF DAT-INFO PREFIX CONFIGURATION, which has an adapter `wire` that one process at a time can open.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import urllib.error
import urllib.request
from pathlib import Path

import pyte
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402
from limit import wait_until  # noqa: E402

QUEUE_PAIRS = 8
COLUMNS, LINES = 80, 24
DEVICES = {"loop0", "loop1"}

# Names that dashboards for RDMA adapters know.
STANDARD = ("duplicate_request", "out_of_sequence", "out_of_buffer", "packet_seq_err", "rnr_nak_retry_err",
            "local_ack_timeout_err", "implied_nak_seq_err", "req_remote_access_errors", "resp_local_length_error",
            "np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets", "rx_icrc_encapsulated",
            "req_transport_retries_exceeded", "req_rnr_retries_exceeded")


class Programs:
    """Processes, each of which ends with us."""

    def __init__(self, perf, info, prefix, conf):
        self.perf, self.info, self.prefix, self.conf = perf, info, prefix, conf
        self.children = []

    def start(self, *args, **more):
        child = subprocess.Popen(args, text=True, **more)
        self.children.append(child)
        return child

    def work(self):
        """A process that sends and receives until it is stopped."""
        child = self.start(self.perf, "-q", str(QUEUE_PAIRS), "-s", "64", "-d", "300", "--srq-depth", "64",
                           "--low", "64", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until("dat-perf is at work", lambda: self.connected(child.pid))
        return child

    def connected(self, pid):
        """All its connections are up, and messages have crossed the watermark."""
        found = samples(read_plain(self.run("--metrics", "--pid", str(pid)).stdout))
        return (sum(s.value for s in found.get("roce_cm_connections", []) if s.labels["state"] == "established")
                == 2 * QUEUE_PAIRS and sum(s.value for s in found["roce_srq_low_watermark_events_total"]) > 0)

    def run(self, *args):
        return subprocess.run([self.info, *args, "--prefix", self.prefix], capture_output=True, text=True,
                              timeout=limit.SECONDS, check=False)

    def good(self, *args):
        done = self.run(*args)
        assert done.returncode == 0 and not done.stderr, done
        return done.stdout

    def end(self, child):
        child.terminate()
        child.wait(limit.SECONDS)
        self.children.remove(child)

    def end_all(self):
        for child in list(self.children):
            self.end(child)


def samples(families):
    """{name of sample: [sample]}."""
    found = {}
    for family in families:
        assert family.documentation, family
        for sample in family.samples:
            if sample.name != "roce_processes":
                assert sample.labels["device"] in DEVICES and sample.labels["port"] == "1", sample
                assert sample.labels["pid"].isdigit() and sample.labels["process"] == "dat-perf", sample
            found.setdefault(sample.name, []).append(sample)
    return found


def judge_metrics(found, each):
    for name in STANDARD:
        assert {s.labels["device"] for s in found[f"rdma_{name}_total"]} == DEVICES, name
    received = {s.labels["device"]: s.value for s in found["roce_rx_send_requests_total"]}
    assert received["loop1"] > 0, received
    assert [s.value for s in found["roce_srq_max"]] == [64] * len(found["roce_srq_max"]), found["roce_srq_max"]
    assert max(s.value for s in found["roce_srq_low_watermark_events_total"]) > 0
    queues = {(s.labels["device"], s.labels["srq"]) for s in found["roce_srq_available"]}
    assert ("loop1", "0") in queues, queues
    states = {(s.labels["device"], s.labels["state"]): s.value for s in found["roce_qps"]}
    assert states[("loop1", "rts")] == states[("loop0", "rts")] == QUEUE_PAIRS, states
    established = {s.labels["device"]: s.value for s in found["roce_cm_connections"] if s.labels["state"] == "established"}
    assert established == dict.fromkeys(DEVICES, QUEUE_PAIRS), established
    assert all(s.value >= QUEUE_PAIRS for s in found["roce_cm_established_total"])
    assert len(found["roce_device_info"]) == 2 and [s.value for s in found["roce_processes"]] == [1]
    for name in ("held", "requests"):
        assert len(found.get(f"roce_qp_{name}", [])) == (2 * QUEUE_PAIRS if each else 0), name


def judge_printed(programs):
    judge_metrics(samples(read_plain(programs.good("--metrics"))), False)
    judge_metrics(samples(read_openmetrics(programs.good("--metrics", "--openmetrics", "--queue-pairs"))), True)


def scrape(url, accept="*/*"):
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=limit.SECONDS) as reply:
        return reply.headers["Content-Type"], reply.read().decode()


def status_of(url, **more):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **more), timeout=limit.SECONDS) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def answer_to(port, request):
    """The first line that comes back to bytes on the wire; "" when the connection is closed without."""
    with socket.create_connection(("127.0.0.1", port), limit.SECONDS) as link:
        try:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            return link.recv(4096).decode(errors="replace").split("\r\n", maxsplit=1)[0]
        except OSError:
            return ""


def judge_http(programs):
    server = programs.start(programs.info, "--metrics", "--listen", "0", "--prefix", programs.prefix,
                            stdout=subprocess.PIPE)
    url = server.stdout.readline().split()[-1]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", url), url
    port = int(url.rsplit(":", 1)[1].split("/", maxsplit=1)[0])

    kind, text = scrape(url)
    assert kind.startswith("text/plain; version=0.0.4"), kind
    before = samples(read_plain(text))
    judge_metrics(before, False)
    kind, text = scrape(url, "application/openmetrics-text; version=1.0.0,text/plain;q=0.5")
    assert kind.startswith("application/openmetrics-text; version=1.0.0"), kind
    after = samples(read_openmetrics(text))
    judge_metrics(after, False)
    for name, found in before.items():
        if name.endswith("_total"):
            assert all(b.value <= a.value for b, a in zip(found, after[name])), name

    assert status_of(url, method="HEAD") == 200
    assert status_of(url, method="POST", data=b"x" * 100000) == 405
    assert status_of(url, method="DELETE") == 405
    assert status_of(url.replace("metrics", "other")) == 404
    assert status_of(url + "/../metrics") == 404
    for request in (b"\r\n\r\n", b"GET\r\n\r\n", b"x" * 100000, b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 100000,
                    b"GET " + b"/" * 50000 + b" HTTP/1.1\r\n\r\n", b"\0" * 1000,
                    b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\nHost: x\r\n\r\n"):
        line = answer_to(port, request)
        assert line == "" or re.match(r"HTTP/1\.[01] [45]\d\d ", line), (request[:40], line)
    # As many as want to: those who say nothing do not keep it from the others for long, and are let go.
    idle = [socket.create_connection(("127.0.0.1", port), limit.SECONDS) for _ in range(15)]
    judge_metrics(samples(read_plain(scrape(url)[1])), False)
    for link in idle:
        link.settimeout(limit.SECONDS)
        assert link.recv(100) == b"", "a silent connection is kept"
        link.close()
    return server, url


def judge_ended(programs, server, url):
    """Without a process there is nothing to scrape; with the next one there is again."""
    assert status_of(url) == 503
    child = programs.work()
    judge_metrics(samples(read_plain(scrape(url)[1])), False)
    programs.end(child)
    server.terminate()
    assert server.wait(limit.SECONDS) == 0
    programs.children.remove(server)


def moves(text):
    """Between the looks frames came, and receivers took messages: a process may stand still for longer than that."""
    tables = [t for t in text.split("\n\n") if t]
    frames = [re.search(r"frames/s: (\S+) in", t[t.index("\nloop1 "):]).group(1) for t in tables]
    taken = [any(line.split()[5] not in ("0", "-") for line in t.split("\n") if " rts " in line) for t in tables[1:]]
    return "0" not in frames[1:] and all(taken)


def judge_table(text, looks):
    """Plain lines: a table a look, the first one without rates."""
    tables = [t for t in text.split("\n\n") if t]
    assert len(tables) == looks, text
    for number, table in enumerate(tables):
        lines = table.split("\n")
        assert max(map(len, lines)) <= COLUMNS, table
        assert re.fullmatch(r"\d\d:\d\d:\d\d 1 process, EPs by held", lines[0]), lines[0]
        assert re.fullmatch(r"process \d+ dat-perf", lines[1]), lines[1]
        device = next(i for i, line in enumerate(lines) if line.startswith("loop1 "))
        assert re.search(r"frames/s: (\S+) in, (\S+) out", lines[device + 1]), table
        rows = [line.split() for line in lines if " rts " in line]
        assert len(rows) == 2 * QUEUE_PAIRS and len(rows[0]) == 8, table
        assert all((row[7] == "-") == (number == 0) for row in rows), table
        receivers = rows[QUEUE_PAIRS:]
        assert all(row[2] == "0" for row in receivers), table
        queue = lines[next(i for i, line in enumerate(lines) if i > device and "outstanding" in line) + 1].split()
        assert queue[3:5] == ["64", "64"] and queue[5] in ("armed", "fired") and queue[8] == str(QUEUE_PAIRS), queue
    assert "\033" not in text


class Terminal:
    """dat-info --watch on a terminal of 80 columns and 24 lines, which pyte draws."""

    def __init__(self, programs, *args, **env):
        self.keeper, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.programs = programs
        self.child = programs.start(programs.info, "--watch", "0.2", "--prefix", programs.prefix, *args,
                                    stdin=terminal, stdout=terminal, env=dict(os.environ, TERM="xterm-256color", **env))
        os.close(terminal)

    def read(self):
        """What comes within a moment; False at the end."""
        if select.select([self.keeper], [], [], 0.05)[0]:
            try:
                self.stream.feed(os.read(self.keeper, 65536))
            except OSError:
                return False
        return True

    def wait_for(self, what, holds):
        wait_until(f"{what} is shown: {self.screen.display}", lambda: self.read() and holds(self.screen.display))

    def press(self, keys):
        os.write(self.keeper, keys)

    def end(self):
        while self.read():
            pass
        os.close(self.keeper)
        self.programs.children.remove(self.child)
        return self.child.wait(limit.SECONDS)


def judge_terminal(programs):
    """A window on the table that keys move, sort and close."""
    seen = Terminal(programs, "--count", "100000")
    seen.wait_for("the beginning", lambda lines: lines[1].startswith("process ") and "lines 1-22 of" in lines[-1])
    assert "EPs by held" in seen.screen.display[0], seen.screen.display
    assert seen.screen.buffer[1][0].fg == "cyan" and seen.screen.buffer[1][0].bold, seen.screen.buffer[1][0]
    seen.press(b"s")
    seen.wait_for("another order", lambda lines: "EPs by taken/s" in lines[0])
    first = seen.screen.display[2]
    seen.press(b"\x1bOB")
    seen.wait_for("one line down", lambda lines: lines[1] == first and "lines 2-23 of" in lines[-1])
    seen.press(b"G")
    seen.wait_for("the end", lambda lines: re.search(r"-(\d+) of \1;", lines[-1]) is not None)
    seen.press(b"g")
    seen.wait_for("the beginning again", lambda lines: "lines 1-22 of" in lines[-1])
    seen.press(b"q")
    assert seen.end() == 0
    plain = Terminal(programs, "--count", "2", NO_COLOR="1")
    plain.wait_for("a title", lambda lines: lines[1].startswith("process "))
    assert plain.screen.buffer[1][0].fg == "default"
    assert plain.end() == 0


def judge_two(programs, child, second):
    """All processes are told together; one that does not answer is left out."""
    found = {s.labels["pid"] for s in samples_of(programs.good("--metrics"), "roce_device_info")}
    assert found == {str(child.pid), str(second.pid)}, found
    looks = [json.loads(line) for line in programs.good("--watch", "--count", "1", "--json").splitlines()]
    assert [look["pid"] for look in looks] == sorted((child.pid, second.pid)), looks
    assert all(look["process"] == "dat-perf" for look in looks), looks
    table = programs.good("--watch", "--count", "1")
    assert "2 processes" in table and f"process {child.pid} dat-perf" in table, table

    def is_left_out():
        # Each time anew: a debugger, or a gate under load, may let it go on.
        second.send_signal(signal.SIGSTOP)
        found = {s.labels["pid"] for s in samples_of(programs.good("--metrics"), "roce_device_info")}
        return found == {str(child.pid)}

    try:
        wait_until("a process that stands still is left out", is_left_out)
    finally:
        second.send_signal(signal.SIGCONT)


def samples_of(text, name):
    return next(family.samples for family in read_plain(text) if family.name == name)


def judge_watch(programs, child):
    texts = []

    def shows_rates():
        texts.append(programs.good("--watch", "0.3", "--count", "3"))
        judge_table(texts[-1], 3)
        return moves(texts[-1])

    wait_until("the table shows rates", shows_rates)
    judge_terminal(programs)
    looks = [json.loads(line) for line in programs.good("--watch", "0.1", "--count", "2", "--json").splitlines()]
    assert len(looks) == 2 and looks[0]["pid"] == child.pid, looks
    assert set(looks[1]["devices"]) == DEVICES and len(looks[1]["devices"]["loop1"]["qps"]) == QUEUE_PAIRS
    second = programs.work()
    judge_two(programs, child, second)
    assert f"process {second.pid} " in programs.good("--watch", "--count", "1", "--pid", str(second.pid))
    # The process that is watched may end.
    watcher = programs.start(programs.info, "--watch", "0.1", "--pid", str(second.pid), "--prefix", programs.prefix,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watcher.stdout.readline()
    programs.end(second)
    _, said = watcher.communicate(timeout=limit.SECONDS)
    assert watcher.returncode == 1 and said.count("\n") == 1 and "ended" in said, said
    programs.children.remove(watcher)


def judge_in_use(programs):
    """An adapter that another process has open is told by that; nobody opens it a second time."""
    env = dict(os.environ, DAT_OVERRIDE=programs.conf)

    def info(*args):
        done = subprocess.run([programs.info, *args], capture_output=True, text=True, timeout=limit.SECONDS, check=True, env=env)
        return done.stdout

    free = json.loads(info("--json"))["wire"]
    assert free["driver"] == "net_memif" and free["address"] == "192.0.2.9" and free["link"] == "down", free
    assert free["hugepages"] == "no" and "pid" not in free, free
    server = programs.start(programs.perf, "-D", "wire", env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # Until then its process is looked at, and not its adapter, which would be opened here before it is there.
    wait_until("wire is in use", lambda: '"adapters":["wire"]' in
               programs.run("--watch", "--count", "1", "--json", "--pid", str(server.pid)).stdout)
    assert json.loads(info("--json"))["wire"]["pid"] == server.pid
    line = next(line for line in info().splitlines() if line.startswith("wire "))
    assert line.split() == ["wire", "net_memif", "192.0.2.9", "down", "no", "1.2", str(server.pid), "dat-perf"], line
    used = json.loads(info("--json", "wire"))
    assert used["pid"] == server.pid and used["port"]["driver"] == "net_memif" and used["stats"]["rx_frames"] == 0, used
    assert "rx_frames" not in info("wire") and re.search(r"rx_frames +0$", info("-a", "wire"), re.M)
    programs.end(server)
    assert "rx_frames" not in info("wire") and re.search(r"rx_frames +0$", info("-a", "wire"), re.M)


def judge(programs):
    done = programs.run("--metrics")
    assert done.returncode == 1 and "no running process" in done.stderr, done
    child = programs.work()
    judge_printed(programs)
    judge_watch(programs, child)
    server, url = judge_http(programs)
    programs.end(child)
    judge_ended(programs, server, url)
    judge_in_use(programs)


def main():
    programs = Programs(*sys.argv[1:])
    try:
        judge(programs)
    finally:
        programs.end_all()


if __name__ == "__main__":
    main()
