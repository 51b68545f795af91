#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark suite: the bare wire, the stages of a packet, the shared receive queue and dat-perf, interleaved.

  bench.py --build DIR [--out DIR] [--rounds N]

Every round runs all of it once; medians over the rounds are printed and kept as JSON (bench.json in --out) with
every single value. Rates are by the clock, as dat-perf says them. Costs are processor time, so a machine that is
busy with something else hardly changes them, and the ratio to the bare wire is made of costs: the wire's for the
frames of a message, by the message's own. What dat-perf needs to start and to stop is measured and taken off.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MTU = 4096
FAR_NS = 250  # as distance.h
BANDWIDTH = {64: 2000000, 1024: 1000000, 4096: 500000, 65536: 50000}  # size: messages
LATENCY = {64: 200000}
MESSAGES_MIN = 100
RATIO_OF = {64: 64, 1024: 1024, 4096: 4096, 65536: 4096}  # message: payload of its frames


def give_up(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(1)


def hugepages():
    """Free pages of 2 MiB; the provider uses them when there are 64."""
    try:
        return int(Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def environment(build):
    # A machine's own configuration is no business of a benchmark.
    path = os.pathsep.join(filter(None, [str(build / "lib" / "front"), os.environ.get("LD_LIBRARY_PATH")]))
    return dict(os.environ, LD_LIBRARY_PATH=path, DAT_OVERRIDE="")


def run(command, build):
    """Output of a program, and the processor time it used in nanoseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(build),
                              stdin=subprocess.DEVNULL, timeout=300)
    except OSError as error:
        give_up(f"bench.py: {command[0]} does not start: {error.strerror}")
    except subprocess.TimeoutExpired:
        give_up(f"bench.py: {' '.join(command)} does not come to an end")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        give_up(f"bench.py: {' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.stdout, used * 1e9


def lines(build, program):
    text, _ = run([str(build / "test" / "bench" / program), "--json"], build)
    return [json.loads(line) for line in text.splitlines()]


def perf(build, test, size, messages):
    """What dat-perf found, and the processor time of the whole run."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "perf.json")
        _, used = run([str(build / "apps" / "dat-perf"), "-t", test, "-s", str(size), "-n", str(messages),
                       "--warmup", str(MESSAGES_MIN), f"--json={found}"], build)
        said = json.loads(found.read_text(encoding="utf-8"))
    return said["results"][0], used, said["config"]


def one_round(build, values):
    """Run everything once; values: key to list."""
    def note(key, value):
        values.setdefault(key, []).append(value)

    for line in lines(build, "bench_stage"):
        key = ("distance",) if line["kind"] == "distance" else (line["kind"], line["name"], line["size"])
        note(key, line["ns"])
    for line in lines(build, "bench_wire"):
        note(("wire", line["way"], line["size"]), line["ns"])
    for line in lines(build, "bench_handover"):
        note((line["kind"], line["name"]), line["ns"])
    for line in lines(build, "bench_steer"):
        for what in ("rate", "ns", "handed_over"):
            note(("steer", line["name"], what), line[what])
    for line in lines(build, "bench_connect"):
        for what in ("rate", "ns"):
            note((line["kind"], line["name"], what), line[what])
    for line in lines(build, "bench_memory"):
        note((line["kind"], line["name"]), line["bytes"])
    for line in lines(build, "bench_srq"):
        for what in ("min", "median", "max"):
            note((line["kind"], line["name"], what), line[what])
        note((line["kind"], line["name"], "says"), line.get("goal") or line.get("unit", ""))
    config = {}
    for size, messages in BANDWIDTH.items():
        _, idle, _ = perf(build, "send_bw", size, MESSAGES_MIN)
        result, used, config = perf(build, "send_bw", size, messages)
        note(("send_bw", "rate", size), result["MsgRate"] * 1e6)
        note(("send_bw", "ns", size), (used - idle) / messages)
    for size, messages in LATENCY.items():
        result, _, _ = perf(build, "send_lat", size, messages)
        for name in ("t_min", "t_typical", "p99"):
            note(("send_lat", name, size), result[name] * 1000)
    return {key: config[key] for key in ("CPU", "DPDK", "PMD", "MTU", "icrc", "provider") if key in config}


def medians(values):
    """Of each key the middle value; of what a program found as the least and the most, the least and the most."""
    pick = {"min": min, "max": max, "says": lambda list_: list_[0]}
    return {key: pick.get(key[-1], statistics.median)(list_) for key, list_ in values.items()}


def rows_of(middle):
    """The table of messages: one dict a size."""
    rows = []
    for size in BANDWIDTH:
        frames = max(1, -(-size // MTU))
        wire = middle[("wire", "copied", RATIO_OF[size])] * frames
        cost = middle[("send_bw", "ns", size)]
        rate = middle[("send_bw", "rate", size)]
        rows.append({"size": size, "rate": rate, "gbits": rate * size * 8 / 1e9, "ns": cost,
                     "wire_ns": wire, "ratio": wire / cost})
    return rows


def print_stages(middle, kind, title):
    names = list(dict.fromkeys(key[1] for key in middle if key[0] == kind))
    sizes = sorted({key[2] for key in middle if key[0] == kind})
    print(f"\n {title:<24}" + "".join(f"{size:>8} B" for size in sizes))
    for name in names:
        print(f" {name:<24}" + "".join(f"{middle[kind, name, size]:>10.1f}" for size in sizes))


def print_srq(middle, kind, title, digits):
    print(f"\n {title:<36}{'least':>10}{'median':>10}{'most':>10}")
    for name in dict.fromkeys(key[1] for key in middle if key[0] == kind):
        row = [middle[kind, name, what] for what in ("min", "median", "max")]
        says = middle[kind, name, "says"]
        end = f"at most {says:.2f}" if isinstance(says, float) else says
        print((f" {name:<36}" + "".join(f"{value:>10.{digits}f}" for value in row) + f"  {end}").rstrip())


def print_all(middle, rows):
    distance = middle[("distance",)]
    if distance > 0:
        print(f" one cache line there and back between two cores: {distance:.0f} ns "
              f"({'far' if distance > FAR_NS else 'near'})")
    print_stages(middle, "stage", "one stage alone, ns")
    print_stages(middle, "phase", "a whole message, ns")
    print_srq(middle, "ratio", "shared receive queue, ratios", 3)
    print_srq(middle, "cost", "shared receive queue, ns", 1)
    print(f"\n {'roce_device_rx(), foreign frames':<36}{'ns/frame':>10}")
    for name in (key[1] for key in middle if key[0] == "handover"):
        print(f" {name:<36}{middle['handover', name]:>10.2f}")
    print(f"\n {'engines on one queue, 64 B':<36}{'Mmessages/s':>12}{'CPU ns':>10}{'forwarded':>13}")
    for name in dict.fromkeys(key[1] for key in middle if key[0] == "steer"):
        rate, cost, share = (middle["steer", name, what] for what in ("rate", "ns", "handed_over"))
        print(f" {name:<36}{rate / 1e6:>12.3f}{cost:>10.1f}{share:>13.1%}")
    print(f"\n {'connections, one message each':<36}{'a second':>12}{'CPU ns':>10}")
    for name in dict.fromkeys(key[1] for key in middle if key[0] == "connect"):
        rate, cost = (middle["connect", name, what] for what in ("rate", "ns"))
        print(f" {'endpoints ' + name:<36}{rate:>12.0f}{cost:>10.0f}")
    print(f"\n {'an endpoint on a shared queue':<36}{'bytes':>12}")
    for name in (key[1] for key in middle if key[0] == "memory"):
        print(f" {name:<36}{middle['memory', name]:>12.0f}")
    print(f"\n {'bare wire':<10}{'pointers':>12}{'copied':>12}{'copied':>12}{'payload':>12}")
    print(f" {'':<10}{'ns/frame':>12}{'ns/frame':>12}{'Mframes/s':>12}{'Gbit/s':>12}")
    for size in sorted({key[2] for key in middle if key[0] == "wire"}):
        pointers, copied = middle["wire", "pointers", size], middle["wire", "copied", size]
        print(f" {size:<10}{pointers:>12.2f}{copied:>12.2f}{1000 / copied:>12.2f}{size * 8 / copied:>12.1f}")
    print(f"\n {'dat-perf':<10}{'Mmessages/s':>12}{'Gbit/s':>12}{'CPU ns':>12}{'wire ns':>12}{'ratio':>12}")
    for row in rows:
        print(f" {row['size']:<10}{row['rate'] / 1e6:>12.3f}{row['gbits']:>12.2f}{row['ns']:>12.1f}"
              f"{row['wire_ns']:>12.1f}{row['ratio']:>12.1%}")
    for size in LATENCY:
        least, typical, p99 = (middle["send_lat", name, size] for name in ("t_min", "t_typical", "p99"))
        print(f"\n half round trip, {size} B: {least:.0f} ns least, {typical:.0f} typical, {p99:.0f} at 99 %")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help="a build folder with tests and programs")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="where bench.json goes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take medians of (%(default)s)")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds wants at least 1")
    for name in ("apps/dat-perf", "test/bench/bench_wire", "test/bench/bench_stage", "test/bench/bench_srq",
                 "test/bench/bench_handover", "test/bench/bench_steer", "test/bench/bench_connect",
                 "test/bench/bench_memory"):
        if not (args.build / name).is_file():
            give_up(f"bench.py: {args.build}/{name} is not there: build it first")
    return args


def main():
    args = parse()
    values, config = {}, {}
    for number in range(1, args.rounds + 1):
        print(f"round {number} of {args.rounds}", file=sys.stderr)
        config = one_round(args.build.resolve(), values)
    middle = medians(values)
    rows = rows_of(middle)
    config.update(cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[0], hugepages=hugepages(),
                  rounds=args.rounds, time=time.strftime("%Y-%m-%d %H:%M"))
    print(f" {config['CPU']}, {config['cores']} cores, load {config['load']:.1f}, "
          f"{config['hugepages']} free hugepages; medians of {args.rounds} rounds")
    print(f" DPDK {config['DPDK']}, {config['PMD']}, MTU {config['MTU']}, ICRC {config['icrc']}")
    print_all(middle, rows)
    kept = {"config": config, "messages": rows,
            "values": [{"what": list(key), "median": middle[key], "all": values[key]} for key in values]}
    args.out.mkdir(parents=True, exist_ok=True)
    out = args.out / "bench.json"
    out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"\n the same and every single value as JSON: {out}")


if __name__ == "__main__":
    main()
