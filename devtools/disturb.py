#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A machine that others use, too: two processes that are always busy, and tests that stand still for a moment.

  disturb.py PID [--pause SECONDS]   until that process has ended; root, or who owns the tests

About once a second one process of a test, below test/apart.sh and below PID, is stopped for a quarter of a second: a
processor of a shared machine may stand still for so long. One that is stopped already stays so. Prints how often that
was, and fails if it never was.
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


def state_and_parent(pid):
    """The letter of proc(5), and a process. None: it has ended, or waits only to be taken note of."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            # The name, in parentheses, may be anything.
            state, parent = stat.read().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state in "ZX" else (state, int(parent))


def processes():
    """{parent: [child]}, {process: command line}, and those that are stopped: of all that there are now."""
    children, commands, stopped = {}, {}, set()
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        found = state_and_parent(pid)
        if not found:
            continue
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                commands[pid] = line.read()
        except OSError:
            continue
        children.setdefault(found[1], []).append(pid)
        if found[0] in "Tt":
            stopped.add(pid)
    return children, commands, stopped


def tests_below(root):
    """Processes of tests that run, not test/apart.sh itself, which would not clean up behind them in time."""
    children, commands, stopped = processes()
    found, look = [], [(root, False)]
    while look:
        parent, inside = look.pop()
        for pid in children.get(parent, []):
            if inside and pid not in stopped:
                found.append(pid)
            look.append((pid, inside or b"test/apart.sh" in commands.get(pid, b"")))
    return found


def stop_for_a_moment(pid):
    """@return was it there?"""
    try:
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(STOP)
        finally:
            os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def disturb(root, pause):
    stops = 0
    while state_and_parent(root):
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
    # Whoever was stopped goes on.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))
    # They end with this process, whatever ends it.
    loops = [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"]) for _ in range(LOOPS)]
    stops = disturb(given.pid, given.pause)
    for loop in loops:
        loop.kill()
        loop.wait()
    print(f"disturb.py: {stops} times a process of a test stood still for {STOP} s, beside {LOOPS} busy ones")
    return 0 if stops else 1


if __name__ == "__main__":
    sys.exit(main())
