#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Talks with a Linux host whose kernel has RoCE (rdma_rxe), in a guest of the lab.

live.py --lab RXE_LAB --partner PROGRAM --roced PROGRAM --run PROGRAM --libraries DIR --work DIR [--guest PROGRAM]
        [--short | --long] [--only WORDS] [--list] [--times] [--release NAME]

One line for each cell: role of ours, what is said, over which network, at which path MTU, what the wire does. The last
line is the count. Needs root and QEMU; where something is missing everything is skipped, with the reason.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

import cells_cm
import cells_dapl
import cells_fault
import cells_perftest
import cells_programs
import cells_uplink
import cells_verbs
import short
from cell import LATE, LATE_FEW, LATE_MAX, LOST, NAKS
from lab import Lab
from record import Recorder, moved
from talk import Verdict


class Run:
    """Goes through the groups, says what becomes of their cells, and counts."""

    def __init__(self, lab, args):
        self.lab, self.args = lab, args
        self.passed = self.failed = self.skipped = 0
        self.explained = {}  # (counter, reason) to how much
        self.quiet = 0
        self.recorder = None
        self.before = None  # what the guest's kernel had counted when the last talk was over

    def say(self, line, why="", skipped=False):
        self.passed += not why
        self.failed += bool(why) and not skipped
        self.skipped += skipped
        why = " | ".join(why.split("\n"))
        word = "skipped" if skipped else "failed" if why else "passed"
        print(f"{word}: {line}{': ' + why if why else ''}", flush=True)

    def chosen(self, groups):
        for group in groups:
            if group.long and not self.args.long or self.args.short and not short.is_in(group.name):
                continue
            if any(self.args.only in line for line in group.lines()):
                yield group

    def lacks(self, group):
        """What a group needs and is not here, or empty."""
        if group.needs_guest and self.lab.programs["guest"] is None:
            return "librdmacm-dev was not there when this was built"
        if group.needs_programs:
            return cells_programs.lacks(self.lab)
        return cells_dapl.lacks(self.lab) if group.needs_tools else ""

    def group(self, group):
        why = self.lacks(group)
        if why:
            for line in group.lines():
                self.say(line, why, skipped=True)
            return
        if group.path_mtu != self.lab.path_mtu:
            self.lab.set_mtu(group.path_mtu)
        self.before = self.before or self.lab.counters()
        began, since = time.time(), time.monotonic()
        try:
            verdict = group.go()
        except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
            verdict = Verdict(str(error))
        self.judge(group, verdict)
        if self.args.times:
            print(f"  {time.monotonic() - since:.1f} s", flush=True)
        after = self.lab.counters()
        self.count(group, self.before, after, began)
        self.before = after

    def judge(self, group, verdict):
        """A cell failed when its step did, or did not come, or when the talk as a whole was wrong."""
        if not group.steps:
            self.say(group.name, verdict.why)
            return
        said = dict(verdict.steps)
        for step in group.steps:
            why = "" if said.get(step) == "ok" else said.get(step, "not reached")
            self.say(group.line(step), why and f"{why}; {verdict.why}" or verdict.why)

    def count(self, group, before, after, began):
        """What the guest's kernel counted meanwhile must be what the cell explains, or what the wire did by itself."""
        trouble, explains = moved(before, after), {**LATE, **group.explains}
        gaps = ""
        if NAKS in trouble and NAKS not in explains and "*" not in explains:
            naks, absent = self.recorder.gaps(began)
            gaps = f" (ours said so {naks} times, for {absent} packets that had not passed the wire)"
            if naks == absent > 0:
                explains[NAKS] = LOST
        why = [f"{name} {n}{gaps if name == NAKS else ''}" for name, n in trouble.items() if name not in explains and "*" not in explains]
        late = trouble.get("duplicate_request", 0)
        if explains == LATE and late > max(LATE_FEW, LATE_MAX * (after["rcvd_pkts"] - before["rcvd_pkts"])):
            why.append(f"duplicate_request {late}: that many are not late")
        if why:
            self.say(f"{group.name}: what rxe counts", ", ".join(why))
        self.quiet += not trouble
        for name, n in trouble.items():
            reason = explains.get("*", explains.get(name))
            if reason is not None:
                self.explained[name, reason] = self.explained.get((name, reason), 0) + n

    def end(self, recorder):
        """What others say about all of it."""
        frames, bad, first, messages = recorder.judge()
        self.say(f"tshark finds {bad} of {frames} frames of ours malformed",
                 f"see frame {first} of {recorder.path}" if bad else "" if frames else "there are none")
        frames, faults = recorder.judge_bytes()
        self.say(f"ICRC, lengths, pads and checksums of {frames} frames of ours are right",
                 ", ".join(f"{fault} {n}" for fault, n in faults.items()) if faults else "" if frames else "no frames")
        for who, kinds in messages.items():
            print(f"connection messages of {who}: {', '.join(f'{name} {n}' for name, n in sorted(kinds.items()))}")
        for (name, reason), n in sorted(self.explained.items()):
            print(f"rxe counted {name} {n}: {reason}")
        print(f"rxe counted no trouble in {self.quiet} talks")


def missing(args):
    if os.geteuid() != 0:
        return "not root"
    if not os.access(args.lab, os.X_OK):
        return f"there is no lab at {args.lab}"
    for program in ("qemu-system-x86_64", "tcpdump", "tshark", "cpio", "busybox"):
        if shutil.which(program) is None:
            return f"{program} is missing"
    for program in (args.partner, args.roced):
        if not os.access(program, os.X_OK):
            return f"there is no {program}"
    return None


def all_groups(lab):
    groups = [*cells_verbs.all_cells(lab), *cells_cm.all_cells(lab), *cells_fault.all_cells(lab),
              *cells_perftest.all_cells(lab), *cells_uplink.all_cells(lab), *cells_programs.all_cells(lab), *cells_dapl.all_cells(lab)]
    # Stable: the MTU is changed as seldom as possible, and a guest that crashes does so at the end.
    return sorted(groups, key=lambda group: (group.path_mtu != 1024, group.path_mtu))


def run_all(args, lab):
    """Prints a line for each cell. Returns the run."""
    run = Run(lab, args)
    recorder = None
    try:
        lab.up()
        print(f"the guest's kernel is {lab.version()}")
        recorder = run.recorder = Recorder(lab, os.path.join(args.work, "wire.pcap"))
        for group in run.chosen(all_groups(lab)):
            run.group(group)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        run.say("the lab", str(error))
    finally:
        if recorder is not None:
            recorder.end()
        lab.down()
    if recorder is not None:
        run.end(recorder)
    return run


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("lab", "partner", "roced", "run", "libraries", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--guest", help="our program in the guest")
    parser.add_argument("--short", action="store_true", help="one talk of each kind")
    parser.add_argument("--long", action="store_true", help="all sizes, MTUs and faults")
    parser.add_argument("--only", metavar="WORDS", default="", help="cells whose line has these words")
    parser.add_argument("--list", action="store_true", help="say which cells there are, and do nothing")
    parser.add_argument("--release", metavar="NAME", default="",
                        help="a guest of that Debian (trixie: Linux 6.12, perftest 25.01), not of this host's")
    parser.add_argument("--times", action="store_true", help="how long each talk took")
    return parser.parse_args()


def main():
    args = parse()
    guest = args.guest if args.guest and os.access(args.guest, os.X_OK) else None
    if args.list:
        for group in all_groups(None):
            for line in group.lines():
                which = "long: " if group.long else "short: " if short.is_in(group.name) else ""
                print(f"{which}{line}")
        return 0
    why = missing(args)
    if why:
        print(f"skipped: a live Linux peer: {why}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    args.work = os.path.join(args.work, args.release)
    os.makedirs(args.work, exist_ok=True)
    # With this program the guest and the recorder end, too.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    lab = Lab(args.lab, args.work, {**{name: getattr(args, name) for name in ("partner", "roced", "run", "libraries")}, "guest": guest},
              args.release)
    run = run_all(args, lab)
    print(f"{run.passed} passed, {run.failed} failed, {run.skipped} skipped")
    return run.failed != 0 or run.passed == 0


if __name__ == "__main__":
    sys.exit(main())
