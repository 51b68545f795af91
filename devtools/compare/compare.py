#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ours beside others on this machine, in turn: UCX, libfabric and kernel TCP, as Debian packages them.

  compare.py --build DIR [--out DIR] [--rounds N] [--seconds S] [--sizes BYTES,...] [--markdown]
             [--processes [--idle N]]

Every round runs each program once at each size, ours next to its peers; the medians and how many times as fast ours
is are printed, and kept in --out as JSON with every single value and as Markdown (compare.json, compare.md). One round
before them, which does not count, finds how many messages fill --seconds. A program that is missing or fails is shown
with its reason; the exit code is 1 only when ours failed.

--processes: processes of one host by roce0, alone and beside idle ones, net_memif, and UCX over shared memory; and how
long a new process needs for its first message (processes.json, processes.md).
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import host
import machine
import table
import ways

FAR_NS = 250  # as distance.h
TRIES = 2
FIRST = {"rate": {64: 50000, 1024: 20000, 4096: 10000, 65536: 1000, 1048576: 100},
         "trip": {64: 2000, 1024: 2000, 4096: 2000, 65536: 500, 1048576: 50}}
LEAST, MOST = 20, 50000000
PROCESS_SIZES = (64, 4096, 65536)
FIRST_MESSAGES = 15
PACKAGES = ("ucx-utils", "libfabric-bin", "iperf3", "sockperf")


class Comparison:
    """Runs everything, round by round, and remembers figures and reasons."""

    def __init__(self, place, all_ways, sizes, seconds):
        self.place, self.ways, self.sizes, self.seconds = place, all_ways, sizes, seconds
        self.patience = 3 + 10 * seconds
        self.values, self.pace = {}, {}
        self.reasons = {way.key: {} for way in all_ways}
        self.tried = dict.fromkeys(self.reasons, 0)
        self.missing = {way.key for way in all_ways if not way.ours and not shutil.which(way.program)}
        for way in all_ways:
            if way.key in self.missing:
                self.reasons[way.key] = {f"{way.program} is not installed (package {way.package})": 0}

    def count(self, key, test, size):
        """Messages that take about so many seconds."""
        pace = self.pace.get((key, test, size))
        if pace is None:
            return FIRST[test][size]
        least = 4 * ways.WINDOW[size] if test == "rate" else LEAST
        return int(min(MOST, max(least, pace * self.seconds)))

    def once(self, way, test, size):
        """What one run of it said."""
        port = machine.free_port()
        job = way.job(test, size, self.count(way.key, test, size), port)
        if job.server is None:
            cpus = self.place.core(0) if job.cores == 1 else set(self.place.cpus)
            text = self.place.alone(job.client, cpus, job.environment, self.patience)
        else:
            text = self.place.pair(job.server, job.client, job.environment, job.ready, job.stays, self.patience)
        try:
            said = job.read(text, size)
        except (ValueError, LookupError, TypeError) as error:
            raise machine.Failed(f"{way.program}: {error}") from None
        self.pace[way.key, test, size] = said["rate"] if test == "rate" else 0.5e6 / said["mean"]
        return said

    def measure(self, way, test, size):
        """The same, tried again when it failed; None, and the reasons are kept."""
        for _ in range(TRIES):
            self.tried[way.key] += 1
            try:
                return self.once(way, test, size)
            except machine.Failed as why:
                known = self.reasons[way.key]
                known[str(why)] = known.get(str(why), 0) + 1
        return None

    def hopeless(self, way, test, size):
        """It failed in the round before the first, and in the first."""
        mine = self.values.get((way.key, test, size), [])
        return bool(mine) and mine[0] is None and (way.key, test, size) not in self.pace

    def note(self, way, test, size, number):
        self.values.setdefault((way.key, test, size), []).append(number)

    def cell(self, way, test, size, counts):
        """Measure for one column of the table, or two."""
        done = None
        if way.key not in self.missing and not self.hopeless(way, test, size):
            done = self.measure(way, test, size)
        if not counts:
            return
        if test == "rate":
            self.note(way, test, size, done and done["rate"])
            return
        trip = done and done["mean" if way.mean else "trip"]
        if way.group == ways.PINGPONG:
            self.note(way, "rate", size, trip and 1e6 / trip)
        if size == self.sizes[0]:
            self.note(way, "trip", size, trip)

    def round(self, counts=True):
        """Size by size, so that those who are compared run next to each other."""
        for size in self.sizes:
            for way in self.ways:
                wanted = {table.asked(way, test, size) for test, at in table.columns(self.sizes) if at == size}
                for test in sorted(wanted - {None}):
                    self.cell(way, test, size, counts)

    def ours_ran(self):
        """Has every cell of ours a figure?"""
        rows = table.rows_of(self.ways, self.values, self.sizes)
        return all(cell["median"] is not None for row in rows if row["ours"]
                   for cell in row["cells"].values() if cell is not None)

    def troubles(self):
        """(way, sentence) of what is missing or failed."""
        for way in self.ways:
            for reason, times in self.reasons[way.key].items():
                yield way, reason if times == 0 else f"{times} of {self.tried[way.key]} runs: {reason}"


def version(package):
    try:
        found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True,
                               check=False)
    except OSError:
        return ""
    return found.stdout.strip()


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown processor"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                "unknown processor")


def congestion_control():
    try:
        return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def near_or_far(ns):
    return f"{ns:.0f} ns ({'far' if ns > FAR_NS else 'near'})" if ns > 0 else "not measured"


def on_the_way(distances):
    """The least and the most that were seen."""
    seen = [ns for ns in distances if ns > 0]
    return f"; {min(seen):.0f} to {max(seen):.0f} ns in all" if seen else ""


def head(config):
    """What the table was made on, line by line."""
    versions = ", ".join(f"{name} {said}" for name, said in config["packages"].items() if said)
    distance = config["distance"]
    yield f"{config['cpu']}, {config['cores']} cores, load {config['load'][0]:.1f} before and " \
          f"{config['load'][1]:.1f} after; {config['time']}"
    yield f"Medians of {config['rounds']} rounds, {config['seconds']:g} s a run; {versions or 'no peers'}"
    yield f"Network: {config['network']}; TCP: {config['tcp']}"
    yield f"A cache line to the other core and back: {near_or_far(distance[0])} before, {near_or_far(distance[-1])} " \
          f"after{on_the_way(distance)}"
    if config["first"]:
        yield f"A new process, from its start over the answer to its first message to its end: median " \
              f"{statistics.median(config['first']) * 1e3:.0f} ms of {len(config['first'])}, at most " \
              f"{max(config['first']) * 1e3:.0f} ms"


def troubles_of(comparison, rows):
    letters = {row["key"]: row["letter"] for row in rows}
    return [f"{letters[way.key]}, {way.name}: {said}" for way, said in comparison.troubles()]


def markdown(comparison, config, rows):
    """What stands in docs/performance.md."""
    lines = [*head(config), *table.notes(comparison.sizes)]
    troubles = [f"Missing or failed: {said}." for said in troubles_of(comparison, rows)]
    return "\n".join(f"* {line}" for line in lines + troubles) + "\n\n" \
        + table.markdown(comparison.ways, rows, comparison.sizes) + "\n"


def plain(comparison, config, rows):
    """The same for a terminal."""
    troubles = [f"missing or failed: {said}" for said in troubles_of(comparison, rows)]
    parts = [head(config), [table.text(rows, comparison.sizes)], table.notes(comparison.sizes),
             [table.legend(comparison.ways)], troubles]
    texts = ["\n".join(line if line[:1] in (" ", "") else f" {line}" for line in part) for part in parts]
    return "\n\n".join(filter(None, texts)) + "\n"


def keep(out, name, config, rows, comparison):
    """NAME.json with every single value, NAME.md with the tables."""
    reasons = [{"key": way.key, "says": said} for way, said in comparison.troubles()]
    facts = {way.key: vars(way.facts) for way in comparison.ways}
    out.mkdir(parents=True, exist_ok=True)
    kept = {"tool": name, "config": config, "rows": rows, "facts": facts, "troubles": reasons}
    (out / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(markdown(comparison, config, rows), encoding="utf-8")


def sizes_of(words):
    sizes = sorted({int(word) for word in words.split(",")})
    if not set(sizes) <= set(ways.SIZES):
        raise ValueError
    return sizes


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help="a build folder with tests and programs")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="where compare.json goes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take medians of (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of one run, about (%(default)s)")
    parser.add_argument("--sizes", help=f"some of {','.join(map(str, ways.SIZES))}")
    parser.add_argument("--processes", action="store_true", help="processes of one host alone")
    parser.add_argument("--idle", type=int, default=64, help="idle processes with --processes (%(default)s)")
    parser.add_argument("--markdown", action="store_true", help="print the tables for docs/performance.md")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds wants at least 1")
    if not 0.01 <= args.seconds <= 10:
        parser.error("--seconds wants 0.01 to 10")
    if not 1 <= args.idle <= 256:
        parser.error("--idle wants 1 to 256")
    try:
        args.sizes = sizes_of(args.sizes or ",".join(map(str, PROCESS_SIZES if args.processes else ways.SIZES)))
    except ValueError:
        parser.error(f"--sizes wants some of {','.join(map(str, ways.SIZES))}")
    if not (args.build / "apps" / "dat-perf").is_file():
        parser.error(f"{args.build}/apps/dat-perf is not there: build it first")
    args.build, args.out = args.build.resolve(), args.out.resolve()
    return args


def measure(args, place, hosts, own):
    """Run what there is to run, keep it and print it."""
    conf = place.folder / "dat.conf"
    conf.write_text(ways.conf_lines(f"roce-compare-{os.getpid()}"), encoding="ascii")
    ours = ways.Ours(args.build / "apps" / "dat-perf", conf)
    lines = ways.processes(ours, *hosts, args.idle) if hosts else ways.ways(ours, args.seconds)
    comparison = Comparison(place, lines, args.sizes, args.seconds)
    bench_stage = args.build / "test" / "bench" / "bench_stage"
    config = {"cpu": cpu_name(), "cores": len(place.cpus), "rounds": args.rounds, "seconds": args.seconds,
              "network": "a namespace of its own" if own else "the host's loopback interface",
              "tcp": congestion_control(), "packages": {package: version(package) for package in PACKAGES},
              "load": [os.getloadavg()[0]], "distance": [], "window": ways.WINDOW, "first": [],
              "time": time.strftime("%Y-%m-%d %H:%M")}

    def look(sentence):
        config["distance"].append(place.distance(bench_stage))
        print(f"{sentence}; a cache line to the other core and back: {near_or_far(config['distance'][-1])}",
              file=sys.stderr)

    look("a round that does not count")
    comparison.round(counts=False)
    for number in range(1, args.rounds + 1):
        look(f"round {number} of {args.rounds}")
        comparison.round()
    look("done")
    if hosts:
        config["first"] = hosts[0].first_message(FIRST_MESSAGES)
    config["load"].append(os.getloadavg()[0])
    rows = table.rows_of(comparison.ways, comparison.values, comparison.sizes)
    name = "processes" if hosts else "compare"
    keep(args.out, name, config, rows, comparison)
    print((markdown if args.markdown else plain)(comparison, config, rows))
    print(f"the same and every single value: {os.path.relpath(args.out)}/{name}.json, {name}.md", file=sys.stderr)
    return 0 if comparison.ours_ran() else 1


def compare(args, place, own):
    if not args.processes:
        return measure(args, place, (), own)
    alone, crowded = host.Host(place, args.build, "alone"), host.Host(place, args.build, "crowded")
    try:
        crowded.crowd(args.idle)
        return measure(args, place, (alone, crowded), own)
    finally:
        crowded.close()


def stop(_signal, _frame):
    sys.exit(143)


def main():
    args = parse_arguments()
    own = machine.own_network()
    signal.signal(signal.SIGTERM, stop)
    library = os.pathsep.join(filter(None, [str(args.build / "lib" / "front"), os.environ.get("LD_LIBRARY_PATH")]))
    place = machine.Machine(dict(os.environ, LD_LIBRARY_PATH=library, LC_ALL="C"))
    try:
        return compare(args, place, own)
    finally:
        place.close()


if __name__ == "__main__":
    sys.exit(main())
