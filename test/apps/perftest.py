#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perftest's options: each row of the table that --help prints does what its kind says, with its letter and with its long
name, under the eight names and behind --perftest; dat-perf(1) has the same rows; dat-perf takes the long ones, too.

    perftest.py dat-perf DAT-PERF.1
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

TESTS = [f"{verb}_{kind}" for verb in ("send", "write", "read", "atomic") for kind in ("bw", "lat")]
ROW = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?:=<([\w]+)>)? +(.*?)(?: \((\w+) alone\))?$")
KINDS = {"Served:": "served", "Without effect:": "idle", "Refused:": "refused"}
SECTIONS = {"Options that are served": "served", "Options without effect": "idle", "Options that are refused": "refused"}
# A value for each, and the test that it is for, where it is not send_bw.
VALUES = {"ib-dev": "loop0", "duration": "1", "mtu": "1024", "iters": "200", "outs": "4", "port": "1234", "qp": "2",
          "cq-mod": "4", "rx-depth": "300", "size": "4K", "sl": "3", "tx-depth": "200", "tos": "104", "tclass": "104",
          "qp-timeout": "14", "retry_count": "3", "limit_bw": "0.000001", "limit_msgrate": "0.000001",
          "out_json_file": "other.json", "output": "bandwidth"}
FOR = {"outs": "read_bw", "report-histogram": "send_lat", "report-histogrm": "send_lat"}
LAST = ("help", "version")
# Options that need other ones beside them than --iters=2000; None: the option has a test of its own.
BESIDE = {"cpu_util": ["--duration=1"], "report-both": ["-b", "--iters=2000"], "report_both": ["-b", "--iters=2000"],
          "duration": [], "iters": [], "all": ["--iters=20"], "help": [], "version": [], "run_infinitely": None}
failures = 0


def complain(what):
    global failures
    failures += 1
    print("FAIL:", what)


class Programs:
    def __init__(self, perf, folder):
        self.perf, self.folder = perf, folder
        self.environment = dict(os.environ, DAT_OVERRIDE="")

    def run(self, *words):
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=limit.SECONDS,
                              check=False)

    def named(self, test, *options):
        return self.run(os.path.join(os.path.dirname(self.perf), "dat_" + test), *options)

    def works(self, word, *words):
        """A run that ends well, and prints a word. @return what it prints."""
        run = self.run(*words)
        if run.returncode != 0 or word not in run.stdout:
            complain(f"{words} exits with {run.returncode}, or without '{word}': {run.stdout}{run.stderr}")
        return run.stdout


def rows_of_help(text):
    """name: (letter, value, kind, the only value)."""
    rows, kind = {}, None
    for line in text.splitlines():
        kind = KINDS.get(line, kind)
        match = ROW.match(line)
        if match and kind:
            letter, name, value, _, only = match.groups()
            rows[name] = (letter, value, kind, only)
    return rows


def rows_of_page(path):
    """name: (letter, kind), of the three lists in dat-perf(1)."""
    rows, kind = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith((".Sh ", ".Ss ")):
                kind = SECTIONS.get(line[4:].strip())
            if kind is None or not line.startswith(".It Fl "):
                continue
            words = [re.sub(r" Ns .*| Ar .*", "", part).replace("Fl ", "").strip()
                     for part in line[4:].split(" , ")]
            letter = None
            for word in words:
                if word.startswith("-"):
                    rows[word[1:]] = (letter, kind)
                    letter = None
                else:
                    letter = word
    return rows


def check_page(rows, page):
    shown = rows_of_page(page)
    for name, (letter, _, kind, _) in rows.items():
        if name not in shown:
            complain(f"dat-perf(1) has no row of --{name}")
        elif shown[name] != (letter, kind):
            complain(f"dat-perf(1) has --{name} as {shown[name]}, not {(letter, kind)}")
    for name in shown.keys() - rows.keys():
        complain(f"dat-perf(1) has a row of --{name}, which there is not")


def words_of(name, letter, value):
    """The two ways to give an option."""
    long = ["--" + name] if value is None else [f"--{name}={value}"]
    return [long] if letter is None else [long, ["-" + letter] if value is None else ["-" + letter, value]]


def check_served(programs, name, row):
    letter, takes, _, _ = row
    test = FOR.get(name, "send_bw")
    beside = BESIDE.get(name, ["--iters=2000"])
    if beside is None:
        return
    for words in words_of(name, letter, None if takes is None else VALUES[name]):
        runs = [programs.named(test, *words, *beside)]
        # The long one means the same to dat-perf itself, but with an adapter that is a server, which waits.
        if words[0].startswith("--") and name not in (*LAST, "ib-dev"):
            runs.append(programs.run(programs.perf, "-t", test, *words, *beside))
        for run in runs:
            if run.returncode != 0:
                complain(f"{run.args} exits with {run.returncode}: {run.stderr}")


def check_idle(programs, rows):
    """All at once, by their letters and by their names; and values that are not those that are accepted."""
    for way in (0, -1):
        words = [word for name, (letter, takes, _, only) in rows.items()
                 for word in words_of(name, letter, None if takes is None else only or "7")[way]]
        programs.works("\n 65536 ", os.path.join(os.path.dirname(programs.perf), "dat_send_bw"), *words)
        if way == 0:
            programs.works("\n 64 ", programs.perf, "-n", "100", *words)
    for name, (_, _, _, only) in rows.items():
        run = programs.named("send_bw", f"--{name}=other") if only else None
        if run and (run.returncode != 2 or f"--{name} takes {only} alone" not in run.stderr):
            complain(f"{run.args} is not refused: {run.stderr}")


def check_refused(programs, name, row):
    letter, takes, _, _ = row
    for words in words_of(name, letter, None if takes is None else "7"):
        runs = [programs.named("send_bw", *words)]
        if words[0].startswith("--"):
            runs.append(programs.run(programs.perf, *words))
        for run in runs:
            said = words[0].split("=")[0] + " is not served; "
            if run.returncode != 2 or run.stderr.count("\n") != 1 or said not in run.stderr:
                complain(f"{run.args} is not refused by name: {run.returncode} {run.stderr}")


def check_defaults(programs):
    """perftest's sizes and counts, under each name and behind --perftest."""
    for test in TESTS:
        size = "8" if test.startswith("atomic") else "2" if test.endswith("lat") else "65536"
        count = "5000" if test == "write_bw" else "1000"
        for words in ([os.path.join(os.path.dirname(programs.perf), "dat_" + test)], [programs.perf, "--perftest=" + test]):
            out = programs.works("\n " + size, *words)
            if not re.search(rf"^ {size} +{count} ", out, re.M):
                complain(f"{words} measures something else: {out}")
            if test.endswith("bw") != ("BW peak[MiB/sec]    BW average[MiB/sec]" in out):
                complain(f"{words} has other columns: {out}")
    out = programs.works("RX depth        : 512", programs.perf, "--perftest")
    if "TX depth        : 128" not in out or "Using SRQ      : OFF" not in out:
        complain(f"other depths: {out}")


def check_meanings(programs):
    """What the letters set, where dat-perf's are others."""
    perf = programs.perf
    programs.works("\n 4096 ", perf, "--perftest", "-s", "4K", "-n", "100")
    programs.works("\n 1048576 ", perf, "--size=1M", "--iters=20")
    programs.works("TX depth        : 7", perf, "--perftest", "-t", "7", "-n", "100")
    programs.works("Number of qps   : 3", perf, "--perftest", "-q", "3", "-n", "100")
    programs.works("BW average[Gb/sec]", perf, "--perftest", "--report_gbits", "-n", "100")
    programs.works("Using SRQ      : ON", perf, "--perftest", "--use-srq", "-n", "100")
    programs.works("Mtu             : 512", perf, "--perftest", "-m", "512", "-n", "100")
    programs.works("\n 8388608 ", perf, "--perftest", "-a", "-n", "20")
    # perftest lets time win over a count, and all sizes over one.
    programs.works("\n 64 ", perf, "--perftest", "-D", "1", "-n", "5", "-s", "64")
    out = programs.works("", perf, "--perftest=send_lat", "--output=latency", "-n", "100")
    if not re.fullmatch(r"\d+\.\d+\n", out):
        complain(f"--output prints more than a number: {out}")
    run = programs.run(perf, "--perftest", "-n", "100", "-w", "1e9")
    if run.returncode != 1 or "below the limit" not in run.stderr:
        complain(f"-w does not judge: {run.returncode} {run.stderr}")
    for words, said in ((["-S", "9"], "-S takes a number"), (["-t", "4", "-Q", "8"], "at most -t"),
                        (["-s", "4G"], "-s takes a number"), (["--output=latency"], "is for latency tests")):
        run = programs.run(perf, "--perftest", *words)
        if run.returncode != 2 or said not in run.stderr:
            complain(f"--perftest {words} does not say '{said}': {run.stderr}")
    run = programs.run(perf, "-n", "100", "--perftest")
    if run.returncode != 2 or "first option" not in run.stderr:
        complain(f"--perftest behind another option: {run.stderr}")
    run = programs.run(perf, "--perftest=ping")
    if run.returncode != 2 or "there is no test 'ping'" not in run.stderr:
        complain(f"--perftest=ping: {run.stderr}")


def rows_of(out, size):
    return [line.split() for line in out.splitlines() if line.startswith(f" {size} ")]


def ratio_of_directions(programs, words):
    """One run: both directions by their own clocks, to the whole by its."""
    out = programs.works("Local results:", programs.perf, "-n", "300000", "--report-both", "--json=both.json", *words)
    rows = rows_of(out, 64)
    with open(os.path.join(programs.folder, "both.json"), encoding="utf-8") as file:
        result = json.load(file)["results"][0]
    if len(rows) != 3 or "Remote results:" not in out or min(float(row[3]) for row in rows) <= 0:
        complain(f"--report-both {words} prints {rows}")
    return (result["local"]["MsgRate"] + result["remote"]["MsgRate"]) / result["MsgRate"]


def check_directions(programs, words):
    """The sum of both is the whole. Each has a warm-up of its own, and a program that does not run meanwhile is in one
    alone: what such a run tells is chance, and another one is asked."""
    ratios = []
    end = time.monotonic() + limit.SECONDS
    while not ratios or not 0.5 < ratios[-1] < 1.5:
        if time.monotonic() > end or failures:
            complain(f"--report-both {words}: the directions are to the whole as {ratios}")
            return
        ratios.append(ratio_of_directions(programs, words))


def check_reports(programs):
    """The columns and rows that options add."""
    perf = programs.perf
    out = programs.works("MsgRate[Mpps]    CPU_Util[%]\n", perf, "--duration=1", "--cpu_util", "--json=util.json")
    with open(os.path.join(programs.folder, "util.json"), encoding="utf-8") as file:
        result = json.load(file)["results"][0]
    (row,) = rows_of(out, 64)
    if len(row) != 6 or not 0 < float(row[5]) <= 100 or abs(float(row[5]) - result["CPU_util"]) > 0.01:
        complain(f"--cpu_util tells {row}, and {result}")
    for words in (["-b"], ["-b", "-t", "read_bw"], ["-b", "--cores", "2"], ["-b", "-t", "write_bw", "--cores", "2"]):
        if "--cores" in words and len(os.sched_getaffinity(0)) < 2:
            continue
        check_directions(programs, words)
    if "Local" in programs.works("", perf, "-n", "2000", "--report-both"):
        complain("--report-both tells of directions where there is one")
    for words, said in ((["--cpu_util"], "give -d, too"), (["--run_infinitely", "-t", "send_lat"], "for bandwidth tests"),
                        (["--run_infinitely", "-n", "5"], "-n ends a run"), (["--run_infinitely", "-a"], "instead of -a")):
        run = programs.run(perf, *words)
        if run.returncode != 2 or said not in run.stderr:
            complain(f"{words} does not say '{said}': {run.stderr}")


class Run:
    """A program that is waited for."""

    def __init__(self, programs, test, options, conf=""):
        self.out = ""
        words = [os.path.join(os.path.dirname(programs.perf), "dat_" + test), *options]
        self.run = subprocess.Popen(words, env=dict(os.environ, DAT_OVERRIDE=conf), stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)

    def wait_for(self, word, times=1):
        """Until so many lines with the word have come."""
        while times > 0:
            line = self.run.stdout.readline()
            if line == "":
                complain(f"{self.run.args} does not print '{word}': {self.out}")
                return
            self.out += line
            times -= word in line

    def end(self, status=0):
        self.out += self.run.communicate(timeout=limit.SECONDS)[0]
        if self.run.returncode != status:
            complain(f"{self.run.args} exits with {self.run.returncode}: {self.out}")
        return self.out


def start_pair(programs, number, test, options):
    """Two processes, each on the first adapter of its dat.conf(5), as no -d names one; a host makes the client."""
    runs = []
    for role, last, host in (("server", 1, []), ("client", 2, ["192.0.2.1"])):
        conf = os.path.join(programs.folder, f"{role}{number}.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(f'wire u1.2 threadsafe default libdaplroce.so.1 roce.1.0 "port=net_memif0,role={role},id=0,'
                       f'socket-abstract=no,socket={programs.folder}/memif{number} ip=192.0.2.{last}/24" ""\n')
        runs.append(Run(programs, test, [*options, *host], conf))
        if role == "server":
            runs[0].wait_for("Waiting for a client on port 18515 of wire")
    return runs


def check_pairs(programs):
    for run in start_pair(programs, 1, "send_bw", ["-n", "2000", "-s", "1K"]):
        if len(rows_of(run.end(), 1024)) != 1:
            complain(f"a pair prints {run.out}")
    # A row every second at both ends; an interrupt at one is the end of both, which is no failure.
    for number, (test, interrupted, options) in enumerate((("send_bw", 0, []), ("write_bw", 1, ["-b", "--report-both"])), 2):
        runs = start_pair(programs, number, test, ["--run_infinitely", "-D", "1", "-s", "1K", *options])
        for run in runs:
            run.wait_for("\n 1024 "[1:], 2)
        runs[interrupted].run.send_signal(signal.SIGINT)
        for run in runs:
            if len(rows_of(run.end(), 1024)) < (5 if options else 3) or "Interrupted " not in run.out:
                complain(f"a pair without end prints {run.out}")


def check_endless(programs):
    """Both ends in one process: the last row is of the whole."""
    run = Run(programs, "send_bw", ["--run_infinitely", "-D", "1", "--cpu_util", f"--json={programs.folder}/endless.json"])
    run.wait_for(" 65536 ", 2)
    run.run.send_signal(signal.SIGINT)
    rows = rows_of(run.end(), 65536)
    with open(os.path.join(programs.folder, "endless.json"), encoding="utf-8") as file:
        root = json.load(file)
    counts = [int(row[1]) for row in rows]
    if len(rows) < 3 or counts[-1] < sum(counts[:-1]) or any(len(row) != 6 for row in rows):
        complain(f"--run_infinitely prints {rows}")
    if "error" in root or [result["n_iterations"] for result in root["results"]] != counts[-1:]:
        complain(f"--run_infinitely writes {root}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(os.path.abspath(sys.argv[1]), folder)
        rows = rows_of_help(programs.named("send_bw", "--help").stdout)
        if len(rows) < 100:
            complain(f"--help tells of {len(rows)} options")
        check_page(rows, sys.argv[2])
        check_defaults(programs)
        check_meanings(programs)
        check_reports(programs)
        check_endless(programs)
        check_pairs(programs)
        check_idle(programs, {name: row for name, row in rows.items() if row[2] == "idle"})
        for name, row in rows.items():
            if row[2] != "idle":
                (check_served if row[2] == "served" else check_refused)(programs, name, row)
    return failures != 0


sys.exit(main())
