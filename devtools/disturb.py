#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A machine that others use, too: two processes that are always busy, and tests that stand still for a moment.

  disturb.py PID [--pause SECONDS]   until that process has ended; root, or who owns the tests

About once a second one process of a test, below test/apart.sh and below PID, is stopped for a quarter of a second: a
processor of a shared machine may stand still for so long. Prints how often that was.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

LOOPS = 2
STOP = 0.25  # seconds


def processes():
    """{parent: [child]} and {process: command line}, of all that there are now."""
    children, commands = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                # The name, in parentheses, may be anything.
                parent = int(stat.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                commands[int(pid)] = line.read()
        except OSError:
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(pid))
    return children, commands


def tests_below(root):
    """Processes of tests, not test/apart.sh itself, which would not clean up behind them in time."""
    children, commands = processes()
    found, look = [], [(root, False)]
    while look:
        parent, inside = look.pop()
        for pid in children.get(parent, []):
            if inside:
                found.append(pid)
            look.append((pid, inside or b"test/apart.sh" in commands.get(pid, b"")))
    return found


def stop_for_a_moment(pid):
    """@return was it there?"""
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STOP)
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def disturb(root, pause):
    stops = 0
    while os.path.exists(f"/proc/{root}"):
        time.sleep(random.uniform(0.5, 1.5) * pause)
        tests = tests_below(root)
        if tests:
            stops += stop_for_a_moment(random.choice(tests))
    return stops


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pid", type=int)
    parser.add_argument("--pause", type=float, default=0.75, help="seconds between two stops, about (%(default)s)")
    given = parser.parse_args()
    # They end with this process, whatever ends it.
    loops = [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"]) for _ in range(LOOPS)]
    stops = disturb(given.pid, given.pause)
    for loop in loops:
        loop.kill()
        loop.wait()
    print(f"disturb.py: {stops} times a process of a test stood still for {STOP} s, beside {LOOPS} busy ones")


if __name__ == "__main__":
    sys.exit(main())
