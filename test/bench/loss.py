#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goodput over loss and over reordering: shares of what the same round reaches on a wire without faults.

  loss.py --build DIR [--out DIR] [--rounds N] [--seconds S]

dat-perf on loop0 and loop1, both ends on one thread, MTU 4096. A round runs each test without faults, then with each of
them, so that a machine that gets slower or faster changes both. Medians of the shares of all rounds are printed beside
the goals, and kept as JSON (loss.json in --out) with every single run.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench import environment, give_up

LIMIT_S = 120
TESTS = (("send_bw", 65536), ("write_bw", 65536), ("read_bw", 65536), ("send_bw", 4096), ("write_bw", 4096),
         ("read_bw", 4096), ("send_bw", 64))
# (option, frames of a million): the name of its column.
FAULTS = {("--loss", 1000): "0.1 %", ("--loss", 10000): "1 %", ("--loss", 50000): "5 %", ("--loss", 200000): "20 %",
          ("--reorder", 10000): "late 1 %"}


def perf(build, test, size, seconds, fault=None):
    """Messages a second."""
    args = [str(build / "apps" / "dat-perf"), "-t", test, "-s", str(size), "-m", "4096", "--cores", "1",
            "-d", str(seconds), "--json"]
    if fault:
        args += [fault[0], str(fault[1])]
    try:
        done = subprocess.run(args, capture_output=True, text=True, check=False, env=environment(build),
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        give_up(f"loss.py: {' '.join(args)} does not come to an end")
    if done.returncode != 0:
        give_up(f"loss.py: {' '.join(args)} failed: {(done.stderr or done.stdout).strip()}")
    return json.loads(done.stdout)["results"][0]["MsgRate"] * 1e6


def measure(build, rounds, seconds):
    """One entry for each test of each round: its rate without faults, and by the name of each fault."""
    runs = []
    for _ in range(rounds):
        for test, size in TESTS:
            rates = {name: perf(build, test, size, seconds, fault) for fault, name in FAULTS.items()}
            runs.append({"test": test, "size": size, "rate": perf(build, test, size, seconds), "faults": rates})
    return runs


def rows_of(runs):
    """Medians of the shares of each test, in the order in which the tests first came."""
    rows = {}
    for run in runs:
        rows.setdefault((run["test"], run["size"]), []).append(run)
    return [{"test": test, "size": size, "rate": statistics.median(run["rate"] for run in same),
             "shares": {name: statistics.median(run["faults"][name] / run["rate"] for run in same)
                        for name in same[0]["faults"]},
             "rates": {name: statistics.median(run["faults"][name] for run in same) for name in same[0]["faults"]}}
            for (test, size), same in rows.items()]


def show(rows):
    names = list(rows[0]["shares"])
    print(f"{'test':<9}{'bytes':>7}{'msg/s':>12}" + "".join(f"{name:>10}" for name in names))
    for row in rows:
        print(f"{row['test']:<9}{row['size']:>7}{row['rate']:>12,.0f}" +
              "".join(f"{row['shares'][name]:>10.3f}" for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1)
    args = parser.parse_args()
    runs = measure(args.build, args.rounds, args.seconds)
    rows = rows_of(runs)
    show(rows)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "loss.json").write_text(json.dumps({"rows": rows, "runs": runs}, indent=1) + "\n", encoding="ascii")
        print(f"the same as JSON: {args.out / 'loss.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
