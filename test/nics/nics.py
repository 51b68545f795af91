#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our programs on DPDK's drivers of PCI NICs, in emulated machines.

nics.py --lab DIR --scripts DIR --build DIR --work DIR [--short] [--only WORDS] [--list]

One line for each NIC and case, and for what judges say about all frames of its wire; the last line is the count. Needs
root, QEMU and the guest of the lab (test/lab), built in --lab. Where something is missing everything is skipped, with
the reason.
"""
import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import cases
from machine import Broken, Machine, make_image

HERE = Path(__file__).resolve().parent
SHORT = ("e1000e", "virtio")


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def say(self, line, why=""):
        self.passed += not why
        self.failed += bool(why)
        print(f"{'failed' if why else 'passed'}: {line}{': ' + why if why else ''}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


def chosen(args):
    """(NIC, its cases)."""
    for nic in cases.NICS:
        if args.short and nic.name not in SHORT:
            continue
        found = [(name, go) for name, go in cases.cases(nic, args.short) if args.only in f"{nic.name}: {name}"]
        if found:
            yield nic, found + [("nothing is left behind", cases.leftovers)]


def try_nic(args, nic, found, count, again=False):
    machine = Machine(str(args.lab), str(args.scripts), str(args.work), nic.name.replace(" ", "-"), nic.device)
    since = time.monotonic()
    try:
        machine.boot()
        pair = cases.Pair(machine, nic)
        pair.bind()
        while found:
            name, go = found[0]
            why = go(pair)
            if machine.is_gone():
                raise Broken(f"QEMU ended by itself in: {name}")
            count.say(f"{nic.name}: {name}", why)
            found.pop(0)
    except Broken as error:
        if again or not machine.is_gone():
            count.say(f"{nic.name}: the machine", str(error))
            return
        print(f"{nic.name}: {error}; once more from there", flush=True)
        machine.stop()
        try_nic(args, nic, found, count, again=True)
        return
    finally:
        machine.stop()
    count.say(f"{nic.name}: all frames of the wire are well-formed", cases.judge(machine, HERE.parent / "conf" / "judge.py"))
    print(f"{nic.name}: {time.monotonic() - since:.0f} seconds", flush=True)


def missing(args):
    if os.geteuid() != 0:
        return "not root"
    for program in ("qemu-system-x86_64", "cpio", "tshark"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not (args.lab / "rootfs").is_dir():
        return f"the guest of the lab is not built in {args.lab}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lab", type=Path, required=True, help="RXE_LAB_DIR of the lab")
    parser.add_argument("--scripts", type=Path, default=HERE.parent / "lab", help="the lab's programs (%(default)s)")
    parser.add_argument("--build", type=Path, required=True, help="a release build")
    parser.add_argument("--work", type=Path, required=True, help="images, sockets, captures")
    parser.add_argument("--short", action="store_true", help=f"{' and '.join(SHORT)}, fewer sizes")
    parser.add_argument("--only", default="", metavar="WORDS", help="lines that have these words")
    parser.add_argument("--list", action="store_true", help="what would run")
    args = parser.parse_args()
    args.lab, args.build, args.work = args.lab.resolve(), args.build.resolve(), args.work.resolve()
    if args.list:
        print("\n".join(f"{nic.name}: {name}" for nic, found in chosen(args) for name, _ in found))
        return 0
    count = Count()
    why = missing(args)
    if why:
        print(f"skipped: nics: {why}")
        count.skipped = 1
        return count.end()
    os.makedirs(args.work, exist_ok=True)
    try:
        make_image(str(args.lab), str(args.build), str(args.work))
        for nic, found in chosen(args):
            try_nic(args, nic, found, count)
    except Broken as error:
        count.say("the image of the machines", str(error))
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
