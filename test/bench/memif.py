#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two cores: the bare wire and dat-perf over the same wire, interleaved.

  memif.py --build DIR [--out DIR] [--rounds N]

Two processes over net_memif, and two threads over the rings of loop0 and loop1. The sender has the first processor,
the receiver the second. A round runs each wire with each size once: how far apart the processors are, the bare wire,
dat-perf, and once more how far apart. On a virtual machine that distance changes and halves or doubles everything,
so a run in which it was not the same first and last counts for nothing, and what was found near and far is told
apart. Medians over the rounds are printed, and kept as JSON (memif.json in --out) with every single run.

Frames a second of the bare wire are those of the median round of half a millisecond, and dat-perf tells its average.
`best` is what either reaches at times: dat-perf in its best 10 ms, the wire in the best tenth of its rounds. Where
nothing else runs all that is alike.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import FAR_NS, environment, give_up, hugepages

WIRES = {"memif": "two processes, net_memif", "ring": "two threads, net_ring"}
FRAME = {64: 64, 4096: 4096, 65536: 4096}  # message: payload of its frames
WAYS = ("pointers", "copied", "icrc", "icrc, ack 32")
SKIPPED = 77
LIMIT_S = 120
LOAD_MAX = 1.0  # before we begin


def place(distance_ns):
    return "far" if distance_ns > FAR_NS else "near"


def bench(build, *args):
    """What bench_apart prints; None: it cannot run here, and has said why."""
    command = [str(build / "test" / "bench" / "bench_apart"), *args, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(build),
                              stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        give_up(f"memif.py: {' '.join(command)} does not come to an end")
    if done.returncode == SKIPPED:
        print(f"memif.py: {' '.join(args)}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    if done.returncode != 0:
        give_up(f"memif.py: {' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def write_conf(folder):
    """A pair of adapters as the recipe has them, with a socket name of our own."""
    conf = Path(folder, "dat.conf")
    lines = [f'{name} u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "port=net_memif0,role={role},'
             f'socket=bench-{os.getpid()} ip=192.0.2.{last}/30" ""\n'
             for name, role, last in (("a0", "server", 1), ("a1", "client", 2))]
    conf.write_text("".join(lines), encoding="ascii")
    return conf


def start(build, cpu, conf, args):
    env = dict(environment(build), DAT_OVERRIDE=str(conf) if conf else "")
    return subprocess.Popen([str(build / "apps" / "dat-perf"), *args], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))


def end(process, what):
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        give_up(f"memif.py: {what} does not come to an end")
    if process.returncode != 0:
        give_up(f"memif.py: {what} failed: {(err or out).strip()}")


def perf(build, wire, size, seconds):
    """What dat-perf found: the client's JSON."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "perf.json")
        args = ["-t", "send_bw", "-s", str(size), "-d", str(seconds)]
        if wire == "ring":
            end(start(build, None, None, [*args, "--cores", "2", f"--json={found}"]), "dat-perf --cores 2")
        else:
            cpus, conf = sorted(os.sched_getaffinity(0)), write_conf(folder)
            server = start(build, cpus[1], conf, ["-D", "a0", *args])
            try:
                server.stdout.readline()
                client = start(build, cpus[0], conf, ["-D", "a1", *args, f"--json={found}", "192.0.2.1"])
                end(client, "the client of dat-perf")
                end(server, "the server of dat-perf")
            finally:
                server.kill()
        return json.loads(found.read_text(encoding="utf-8"))


def one_run(build, wire, size, seconds):
    """The distance, the bare wire, dat-perf, and the distance again; None: this wire is not here."""
    first = bench(build, "distance")
    raw = bench(build, wire, str(FRAME[size]))
    if first is None or raw is None:
        return None, {}
    said = perf(build, wire, size, seconds)
    last = bench(build, "distance")
    result = said["results"][0]
    run = {"wire": wire, "size": size, "distance": [first[0]["ns"], last[0]["ns"]],
           "raw": {line["way"]: 1e9 / line["ns"] for line in raw},
           "raw_best": {line["way"]: 1e9 / line["best"] for line in raw},
           "rate": result["MsgRate"] * 1e6, "peak": result["BW_peak"] * 1e9 / 8 / size,
           "retransmits": result["retransmits"]}
    return run, said["config"]


def rows_of(runs):
    """One dict for each wire, size and distance: medians of the runs whose distance stayed what it was."""
    groups = {}
    for run in runs:
        first, last = (place(ns) for ns in run["distance"])
        if first == last:
            groups.setdefault((run["wire"], run["size"], first), []).append(run)
    rows = []
    for (wire, size, distance), members in sorted(groups.items()):
        frames = -(-size // FRAME[size])
        row = {"wire": wire, "size": size, "distance": distance, "runs": len(members),
               "rate": statistics.median(run["rate"] for run in members),
               "peak": statistics.median(run["peak"] for run in members)}
        row["gbits"] = row["rate"] * size * 8 / 1e9
        for raw in ("raw", "raw_best"):
            row[raw] = {way: statistics.median(run[raw][way] for run in members) / frames for way in WAYS}
        row["ratio"] = {way: row["rate"] / row["raw"][way] for way in WAYS}
        row["best_ratio"] = {way: row["peak"] / row["raw_best"][way] for way in WAYS}
        rows.append(row)
    return rows


def print_rows(rows, runs):
    for wire, title in WIRES.items():
        mine = [row for row in rows if row["wire"] == wire]
        if not mine:
            continue
        print(f"\n {title}: millions of messages a second; the share of the bare wire that dat-perf reaches")
        print(f" {'size':<8}{'cores':<6}{'pointers':>10}{'copied':>10}{'icrc':>10}{'and ACKs':>10}"
              f"{'dat-perf':>11}{'best':>10}{'Gbit/s':>9}{'of pointers':>13}{'of icrc':>9}{'best':>7}{'runs':>6}")
        for row in mine:
            raw = "".join(f"{row['raw'][way] / 1e6:>10.3f}" for way in WAYS)
            print(f" {row['size']:<8}{row['distance']:<6}{raw}{row['rate'] / 1e6:>11.3f}{row['peak'] / 1e6:>10.3f}"
                  f"{row['gbits']:>9.1f}{row['ratio']['pointers']:>13.0%}{row['ratio']['icrc']:>9.0%}"
                  f"{row['best_ratio']['icrc']:>7.0%}{row['runs']:>6}")
    moved = len(runs) - sum(row["runs"] for row in rows)
    if moved > 0:
        print(f"\n {moved} of {len(runs)} runs do not count: the cores were near first and far last, or the other way")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help="a build folder with tests and programs")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="where memif.json goes (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take medians of (%(default)s)")
    parser.add_argument("--seconds", type=int, default=1, help="seconds of a run of dat-perf (%(default)s)")
    args = parser.parse_args()
    if args.rounds < 1 or args.seconds < 1:
        parser.error("--rounds and --seconds want at least 1")
    for name in ("apps/dat-perf", "test/bench/bench_apart"):
        if not (args.build / name).is_file():
            give_up(f"memif.py: {args.build}/{name} is not there: build it first")
    if len(os.sched_getaffinity(0)) < 2:
        print("memif.py: this process may use one processor only", file=sys.stderr)
        sys.exit(SKIPPED)
    return args


def main():
    args = parse()
    build = args.build.resolve()
    if os.getloadavg()[0] > LOAD_MAX:
        print("memif.py: this machine is busy with something else: rates are worth little", file=sys.stderr)
    wires, runs, config = list(WIRES), [], {}
    for number in range(1, args.rounds + 1):
        print(f"round {number} of {args.rounds}", file=sys.stderr)
        for wire in list(wires):
            for size in FRAME:
                run, said = one_run(build, wire, size, args.seconds)
                if run is None:
                    wires.remove(wire)
                    break
                runs.append(run)
                config = said
    rows = rows_of(runs)
    kept = {key: config[key] for key in ("CPU", "DPDK", "MTU", "icrc", "provider") if key in config}
    kept.update(cores=len(os.sched_getaffinity(0)), load=os.getloadavg()[0], hugepages=hugepages(),
                rounds=args.rounds, time=time.strftime("%Y-%m-%d %H:%M"))
    print(f" {kept.get('CPU')}, {kept['cores']} cores, load {kept['load']:.1f}, {kept['hugepages']} free hugepages; "
          f"medians of {args.rounds} rounds")
    print_rows(rows, runs)
    args.out.mkdir(parents=True, exist_ok=True)
    out = args.out / "memif.json"
    out.write_text(json.dumps({"config": kept, "rows": rows, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    print(f"\n the same and every single run as JSON: {out}")


if __name__ == "__main__":
    main()
