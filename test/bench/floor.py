#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dat-perf beside the floor, the least that the same messages cost (floor.h), as ratios.

  floor.py --build DIR [--out DIR] [--rounds N] [--seconds S]

One core polls both ends, on loop0 and loop1, MTU 4096. A round runs the floor and then dat-perf, so a machine that gets
slower or faster changes both. Medians over the rounds are printed beside the goals, and kept as JSON (floor.json in
--out) with every single run. A ratio is the floor's time of a message by that of dat-perf: 1 is the floor itself.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

from bench import lines, run

# test, size, endpoints: the ratio that is the goal, if there is one.
CASES = {("send_bw", 64, 1): 0.90, ("send_bw", 64, 64): 0.85, ("send_bw", 1024, 1): 0.92, ("send_bw", 4096, 1): None,
         ("send_bw", 65536, 1): 0.95, ("send_lat", 64, 1): 0.70}


def floor(build):
    """{case: nanoseconds of a message, or of half a round trip}"""
    return {(line["test"], line["size"], line["endpoints"]): line["ns"] for line in lines(build, "bench_floor")}


def perf(build, case, seconds):
    """The same of dat-perf."""
    test, size, endpoints = case
    text, _ = run([str(build / "apps" / "dat-perf"), "-t", test, "-s", str(size), "-q", str(endpoints), "-m", "4096",
                   "--cores", "1", "-d", str(seconds), "--json"], build)
    said = json.loads(text)["results"][0]
    return said["t_typical"] * 1e3 if test == "send_lat" else 1e3 / said["MsgRate"]


def measure(build, rounds, seconds):
    """One entry for each case of each round."""
    runs = []
    for number in range(1, rounds + 1):
        print(f"round {number} of {rounds}", file=sys.stderr)
        least = floor(build)
        runs += [{"case": list(case), "floor": least[case], "perf": perf(build, case, seconds)} for case in CASES]
    return runs


def rows_of(runs):
    """Medians of each case, in the order in which the cases first came; the ratio is that of the same round."""
    cases = {}
    for one in runs:
        cases.setdefault(tuple(one["case"]), []).append(one)
    return [{"case": list(case), "goal": CASES.get(case),
             "floor": statistics.median(one["floor"] for one in same),
             "perf": statistics.median(one["perf"] for one in same),
             "ratio": statistics.median(one["floor"] / one["perf"] for one in same)}
            for case, same in cases.items()]


def show(rows):
    print(f" {'test':<10}{'bytes':>7}{'endpoints':>11}{'floor ns':>11}{'dat-perf ns':>13}{'ratio':>8}{'goal':>7}")
    for row in rows:
        test, size, endpoints = row["case"]
        goal = f"{row['goal']:.2f}" if row["goal"] else "-"
        print(f" {test:<10}{size:>7}{endpoints:>11}{row['floor']:>11.1f}{row['perf']:>13.1f}{row['ratio']:>8.2f}{goal:>7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a build folder with tests and programs")
    parser.add_argument("--out", type=Path, help="where floor.json goes")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take medians of (%(default)s)")
    parser.add_argument("--seconds", type=int, default=1, help="seconds of a run of dat-perf (%(default)s)")
    args = parser.parse_args()
    if args.rounds < 1 or args.seconds < 1:
        parser.error("--rounds and --seconds want at least 1")
    runs = measure(args.build.resolve(), args.rounds, args.seconds)
    rows = rows_of(runs)
    show(rows)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "floor.json").write_text(json.dumps({"rows": rows, "runs": runs}, indent=1) + "\n", encoding="ascii")
        print(f" the same as JSON: {args.out / 'floor.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
