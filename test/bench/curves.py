#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour as work grows: dat-perf and bench_steer over sizes, endpoints, depths, loss, cores and path MTUs.

  curves.py --build DIR [--rounds N] [--only NAME,...]    run, and keep curves.json and a drawing of each curve in --out
  curves.py --draw-only JSON                              draw again what was kept
  curves.py --markdown ...                                print the tables, too
  curves.py --docs FOLDER ...                             bring page and drawings of the documentation up to date

Every round runs everything once, one second each; the middle value of the rounds is drawn, and every single one is
kept. What is drawn and what stands in the tables: curves_plot.py and curves_table.py.
"""
import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import bench
import curves_table

SECONDS = 1
SIZES = [4 ** n for n in range(12)] + [8 << 20]  # 1 B to 4 MiB, and 8 MiB
ENDPOINTS = [4 ** n for n in range(8)]  # 1 to 16,384
DEPTHS = [16 * 4 ** n for n in range(7)]  # 16 to 65,536
LOSSES = [0, 100, 1000, 3000, 10000, 30000, 100000]  # frames of a million: to 10 %
MTUS = [256, 512, 1024, 2048, 4096]
TESTS = {"send_bw": "SEND", "write_bw": "WRITE", "read_bw": "READ"}
PAGE = "performance-growth.md"
KEPT = "growth"  # folder of JSON and drawings beside the page


@dataclass(frozen=True)
class Run:
    """One start of a program. A series of None: the program itself says which series and place its figures have."""
    curve: str
    series: str
    x: int
    program: str
    args: tuple


def perf(curve, series, x, *args):
    """A run of dat-perf by time."""
    return Run(curve, series, x, "dat-perf", tuple(str(arg) for arg in args) + ("-d", str(SECONDS)))


def size_runs(_):
    for test, series in TESTS.items():
        for size in SIZES:
            yield perf("size", series, size, "-t", test, "-s", size)


def endpoint_runs(_):
    for count in ENDPOINTS:
        # Each endpoint has had its turn, and more than one, before the measurement.
        yield perf("endpoints", "16 buffers each", count, "-q", count, "--warmup", max(20000, 32 * count))
    for count in ENDPOINTS:
        yield perf("endpoints", "16,384 buffers", count, "-q", count, "-r", 16384,
                   "--warmup", max(20000, 32 * count))


def depth_runs(_):
    for depth in DEPTHS:
        yield perf("depth", "at most half in flight", depth, "-r", depth, "--warmup", 2 * depth)
    for depth in DEPTHS:
        yield perf("depth", "128 in flight", depth, "--srq-depth", depth, "--warmup", 100)


def loss_runs(_):
    for series, size in (("64 B", 64), ("64 KiB", 65536)):
        for ppm in LOSSES:
            yield perf("loss", series, ppm, "-s", size, "--loss", ppm, "--warmup", 100)


def core_runs(cores):
    yield Run("cores", None, 0, "bench_steer", ("--json",))
    for size, series in ((64, "64 B"), (4096, "4 KiB"), (65536, "64 KiB")):
        for count in range(1, min(cores, 2) + 1):
            yield perf("cores", series, count, "-s", size, "--cores", count)


def mtu_runs(_):
    for test, series in TESTS.items():
        for mtu in MTUS:
            yield perf("mtu", series, mtu, "-t", test, "-s", 65536, "-m", mtu)


CURVES = {"size": size_runs, "endpoints": endpoint_runs, "depth": depth_runs, "loss": loss_runs, "cores": core_runs,
          "mtu": mtu_runs}


def plan(only, cores):
    """What is run in a round, in this order, on a machine of so many cores."""
    return [run for name in CURVES if name in only for run in CURVES[name](cores)]


def command_of(run, build):
    folder = "apps" if run.program == "dat-perf" else "test/bench"
    return [str(build / folder / run.program), *run.args] + (["--json"] if run.program == "dat-perf" else [])


def read(run, text):
    """What a program printed, as a list of (series, x, figures)."""
    if run.program == "dat-perf":
        said = json.loads(text)["results"][0]
        figures = {"rate": said["MsgRate"] * 1e6, "gbits": said["BW_average"], "cpu_ns": said["cpu_nsec"],
                   "retransmits": said["retransmits"], "rnr_naks": said["rnr_nak_sent"],
                   "messages": said["n_iterations"], "connect_us": said["connect_usec"]}
        return [(run.series, run.x, figures)]
    found = []
    for line in map(json.loads, text.splitlines()):
        engines, way = line["name"].split(", ")
        found.append((way, int(engines), {"rate": line["rate"], "cpu_ns": line["ns"],
                                          "handed_over": line["handed_over"]}))
    return found


def one_round(runs, build, points):
    """Run everything once; points: (curve, series, x) to a point, whose figures are lists."""
    config = {}
    for run in runs:
        text, _ = bench.run(command_of(run, build), build)
        if run.program == "dat-perf":
            config = json.loads(text)["config"]
        for series, x, figures in read(run, text):
            point = points.setdefault((run.curve, series, x), {
                "curve": run.curve, "series": series, "x": x, "command": " ".join((run.program, *run.args)), "all": {}})
            for name, value in figures.items():
                point["all"].setdefault(name, []).append(value)
    return {key: config[key] for key in ("CPU", "DPDK", "PMD", "icrc", "provider") if key in config}


def with_medians(points):
    """The points, each with the middle value of each figure, of which neither is longer than it is exact."""
    return [dict(point, median={name: float(f"{statistics.median(all_):.4g}") for name, all_ in point["all"].items()})
            for point in points.values()]


def keep(kept, path):
    """Write the JSON, one point a line."""
    lines = ",\n".join("  " + json.dumps(point) for point in kept["points"])
    path.write_text(f'{{"config": {json.dumps(kept["config"])},\n "points": [\n{lines}\n]}}\n', encoding="utf-8")


def load(path):
    """What keep() wrote. Gives up, in a sentence, on anything else."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        for point in kept["points"]:
            if point["curve"] not in CURVES or not isinstance(point["median"]["rate"], (int, float)):
                raise ValueError("a point of no curve")
            point["series"], point["x"], point["command"], point["all"]  # pylint: disable=pointless-statement
        kept["config"]["rounds"]  # pylint: disable=pointless-statement
    except OSError as error:
        bench.give_up(f"curves.py: cannot read {path}: {error.strerror}")
    except (ValueError, KeyError, TypeError) as error:
        bench.give_up(f"curves.py: {path} is no JSON of curves.py: {error}")
    return kept


def merge(new, kept):
    """New points take the place of kept ones of their curves; other curves stay, and are said to be older."""
    curves = {point["curve"] for point in new["points"]}
    old = [point for point in kept["points"] if point["curve"] not in curves]
    older = [name for name in CURVES if name in {point["curve"] for point in old}]
    order = list(CURVES)
    return {"config": dict(new["config"], older=older),
            "points": sorted(old + new["points"], key=lambda point: order.index(point["curve"]))}


def measure(args):
    build, points, config = args.build.resolve(), {}, {}
    runs = plan(args.only, len(os.sched_getaffinity(0)))
    for number in range(1, args.rounds + 1):
        print(f"round {number} of {args.rounds}: {len(runs)} runs", file=sys.stderr)
        config = one_round(runs, build, points)
    config.update(cores=len(os.sched_getaffinity(0)), load=round(os.getloadavg()[0], 1), hugepages=bench.hugepages(),
                  rounds=args.rounds, seconds=SECONDS, time=time.strftime("%Y-%m-%d %H:%M"))
    return {"config": config, "points": with_medians(points)}


def draw(kept, folder):
    """@return the drawings made; none, and why on standard error, without matplotlib."""
    try:
        import curves_plot  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        print(f"curves.py: nothing is drawn: {error}; Debian's package is python3-matplotlib", file=sys.stderr)
        return []
    return curves_plot.draw_all(kept, folder)


def show(kept, args):
    """Tables, drawings and the documentation, as asked for."""
    if args.markdown:
        print(curves_table.heading(kept["config"]))
        for name in curves_table.names(kept["points"]):
            print(f"\n{curves_table.table(name, kept['points'])}", end="")
    drawn = draw(kept, args.out)
    for path in drawn:
        print(f"curves.py: {path}", file=sys.stderr)
    if args.docs is None:
        return
    page = args.docs / PAGE
    if not drawn:
        bench.give_up(f"curves.py: {page} stays as it is: its drawings would be those of other figures")
    try:
        text = curves_table.bring_up_to_date(page.read_text(encoding="utf-8"), kept)
    except (OSError, ValueError) as error:
        bench.give_up(f"curves.py: {page} stays as it is: {error}")
    page.write_text(text, encoding="utf-8")
    (args.docs / KEPT).mkdir(exist_ok=True)
    keep(kept, args.docs / KEPT / "curves.json")
    draw(kept, args.docs / KEPT)


def names_in(text):
    names = text.split(",")
    for name in names:
        if name not in CURVES:
            raise argparse.ArgumentTypeError(f"there is no curve '{name}'; there are {', '.join(CURVES)}")
    return names


def parse(argv):
    parser = argparse.ArgumentParser(prog="curves.py", description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, help="a build folder with tests and programs")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="for JSON and drawings (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds to take medians of (%(default)s)")
    parser.add_argument("--only", type=names_in, default=list(CURVES), metavar="NAME,...",
                        help=f"of {', '.join(CURVES)}; others that are kept in --out stay")
    parser.add_argument("--markdown", action="store_true", help="print the tables")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help=f"bring {PAGE} and {KEPT}/ there up to date")
    parser.add_argument("--draw-only", type=Path, metavar="JSON", help="run nothing, draw what was kept")
    args = parser.parse_args(argv)
    if args.rounds < 1:
        parser.error("--rounds wants at least 1")
    if args.draw_only is None and args.build is None:
        parser.error("--build is wanted, or --draw-only")
    return args


def main():
    args = parse(sys.argv[1:])
    args.out.mkdir(parents=True, exist_ok=True)
    if args.draw_only is not None:
        show(load(args.draw_only), args)
        return
    for name in ("apps/dat-perf", "test/bench/bench_steer"):
        if not (args.build / name).is_file():
            bench.give_up(f"curves.py: {args.build}/{name} is not there: build it first")
    path = args.out / "curves.json"
    # Judged before, not after minutes.
    kept = load(path) if path.is_file() else {"points": []}
    kept = merge(measure(args), kept)
    keep(kept, path)
    show(kept, args)
    print(f"curves.py: every single value: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
