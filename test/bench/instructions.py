#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many instructions a message of dat-perf costs, and in which layer, compared with the last figures kept.

  instructions.py --build DIR [WORDS ...]  count, print, compare with instructions.json; WORDS: only what is named so
  instructions.py --build DIR --write      count, and keep the figures there and in docs/performance.md
  instructions.py --check                  counts nothing: the figures kept, and those of the page, are of all cases

Runs dat-perf under valgrind --tool=callgrind with two numbers of messages. What the second run executed more is what
its further messages cost: start and end fall out. No clock has a say, so it may run beside anything. The figures are
those of one compiler, DPDK, libc and valgrind; with others they are printed and compared with nothing. Ends as the
tests do: the reasons, then the count.
"""
import argparse
import collections
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import callgrind

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "test" / "bench" / "instructions.json"
PAGE = ROOT / "docs" / "performance.md"
COMMAND = "./run.sh bench --instructions"

TOLERANCE = 0.02
NEAR = 0.005  # what is not so near to the last figure is counted again, until two are
TIMES = 3
TIMES_WRONG = 12  # of a figure that would fail: two that a busy machine has spoilt may agree
TIMEOUT = 3600

Case = collections.namedtuple("Case", "name few many options")

CASES = [Case(name, few, many, options.split()) for name, few, many, options in (
    ("send_bw 64 B", 1000, 11000, "-t send_bw -s 64"),
    ("send_bw 64 B, 64 endpoints", 2000, 12000, "-t send_bw -s 64 -q 64"),
    ("send_bw 64 B, own queue", 1000, 11000, "-t send_bw -s 64 --no-srq"),
    ("send_bw 1 KiB", 1000, 6000, "-t send_bw -s 1024"),
    ("send_bw 4 KiB", 500, 2500, "-t send_bw -s 4096"),
    ("send_bw 64 KiB", 100, 400, "-t send_bw -s 65536"),
    ("write_bw 64 KiB", 100, 400, "-t write_bw -s 65536"),
    ("read_bw 64 KiB", 100, 400, "-t read_bw -s 65536"),
    ("send_lat 64 B", 500, 2500, "-t send_lat -s 64"),
)]

# As the built-in entries. timeout=0 would keep the timers still that make the noise, and leave out what they cost.
CONF = "".join(f'loop{n} u1.2 threadsafe default {{0}} udapl-roce.1.2 "port=loop{n} ip=192.0.2.{n + 1}/24" ""\n'
               for n in (0, 1))
# Hugepages come and go with what else runs here.
EAL = "--no-shconf --no-pci --no-huge -m 512 --file-prefix=roce --log-level=*:error"


class Failed(Exception):
    """Nothing could be counted; the words say why."""


def run(command, environment=None):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=environment, timeout=TIMEOUT)
    except OSError as error:
        raise Failed(f"{command[0]} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(command)} does not come to an end") from error
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip().splitlines()
        raise Failed(f"{' '.join(command)} ends with {done.returncode}: {said[-1] if said else 'it says nothing'}")
    return done.stdout


class Counter:
    """Runs dat-perf of a build folder under callgrind. out: where its outputs stay, for callgrind_annotate."""

    def __init__(self, build, out):
        self.build, self.out = build, out
        out.mkdir(parents=True, exist_ok=True)
        conf = out / "dat.conf"
        conf.write_text(CONF.format(build / "lib" / "front" / "libdaplroce.so.1"), encoding="utf-8")
        # No other variable of the caller's: the contents of the environment move the stack.
        self.environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "DAT_OVERRIDE": str(conf),
                            "UDAPL_ROCE_EAL": EAL}
        self.config = {}

    def costs(self, case, messages):
        """{layer: instructions} of one whole run."""
        stem = re.sub(r"\W+", "-", case.name) + f"-{messages}"
        written, said = self.out / (stem + ".callgrind"), self.out / (stem + ".json")
        run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={written}",
             str(self.build / "apps" / "dat-perf"), *case.options, "-n", str(messages), "--warmup", "100",
             f"--json={said}"], self.environment)
        self.config = json.loads(said.read_text(encoding="utf-8"))["config"]
        with written.open(encoding="utf-8") as lines:
            try:
                return callgrind.by_layer(callgrind.read(lines), str(ROOT))
            except ValueError as error:
                raise Failed(f"{written}: {error}") from error

    def count(self, case, last):
        """{"all" or layer: instructions} of a message. last: the figure kept, or None."""
        few = many = None
        before = [last] if last else []
        for time in range(1, TIMES_WRONG + 1):
            few = least(few, self.costs(case, case.few))
            many = least(many, self.costs(case, case.many))
            found = by_message(few, many, case.many - case.few)
            fails = last and found["all"] > last * (1 + TOLERANCE)
            agrees = any(abs(found["all"] / other - 1) <= NEAR for other in before)
            if not fails and (agrees or time >= TIMES):
                break
            before.append(found["all"])
        return found


def least(old, new):
    """Who is kept waiting finds the retransmission timer run out and sends a frame again: the least is the truest."""
    return new if old is None or sum(new.values()) < sum(old.values()) else old


def by_message(few, many, messages):
    found = {"all": (sum(many.values()) - sum(few.values())) / messages}
    found.update((layer, (many[layer] - few[layer]) / messages) for layer in callgrind.LAYERS)
    return {name: round(value) for name, value in found.items()}


def vectors():
    """What of the processor valgrind passes on and libc chooses its copying by."""
    try:
        return "AVX2" if re.search(r"^flags\s*:.* avx2( |$)", Path("/proc/cpuinfo").read_text(encoding="ascii"),
                                   re.MULTILINE) else "SSE"
    except OSError:
        return "unknown"


def conditions(build, dpdk):
    """All that decides how many instructions it are, but for the sources."""
    said = run(["readelf", "-p", ".comment", str(build / "lib" / "front" / "libdaplroce.so.1")])
    compiler = re.search(r"(GCC|clang)\D.* (\d+\.\d+\.\d+)", said)
    return {"machine": platform.machine(), "compiler": " ".join(compiler.groups()) if compiler else "unknown",
            "DPDK": dpdk,
            "libc": " ".join(platform.libc_ver()),
            "valgrind": run(["valgrind", "--version"]).strip().split("-")[-1], "vectors": vectors()}


def differences(kept, here):
    """In words; empty: the figures may be compared, or none are kept."""
    return "; ".join(f"{name} {kept[name]}, here {here.get(name)}" for name in kept if kept[name] != here.get(name))


def moved(old, new):
    """Which layers made the difference, the largest first."""
    apart = {layer: new[layer] - old.get(layer, 0) for layer in callgrind.LAYERS}
    order = sorted((layer for layer in apart if apart[layer]), key=lambda layer: -abs(apart[layer]))
    return ", ".join(f"{layer} {apart[layer]:+d}" for layer in order[:4])


def judge(kept, now):
    """[(verdict, words)] by case: passed, fewer (passed, and worth keeping), failed. Both {name: {layer: figure}}."""
    verdicts = []
    for name, new in now.items():
        old = kept.get(name)
        if old is None:
            verdicts.append(("failed", f"{name}: no figure is kept; {COMMAND} --write"))
            continue
        words = f"{name}: {old['all']} -> {new['all']} ({new['all'] / old['all'] - 1:+.1%}), {moved(old, new)}"
        if new["all"] > old["all"] * (1 + TOLERANCE):
            verdicts.append(("failed", words))
        elif new["all"] < old["all"] * (1 - TOLERANCE):
            verdicts.append(("fewer", words))
        else:
            verdicts.append(("passed", words))
    return verdicts


def conclude(verdicts, reason):
    """Print the reasons and the count. reason: why nothing was compared, or "". @return the exit code."""
    sums = collections.Counter("passed" if verdict == "fewer" else verdict for verdict, _ in verdicts)
    if reason:
        print(f"skipped: instructions: counted with {reason}: compared with nothing")
        sums = collections.Counter(skipped=len(verdicts))
        verdicts = []
    for verdict, words in verdicts:
        if verdict == "failed":
            print(f"failed: instructions: {words}")
        elif verdict == "fewer":
            print(f"fewer: instructions: {words}; keep it: {COMMAND} --write")
    if sums["failed"]:
        print(f"Mend it, or keep the new figures with {COMMAND} --write and say why in the commit.")
    print(f"{sums['passed']} passed, {sums['failed']} failed, {sums['skipped']} skipped")
    return 1 if sums["failed"] else 0


def shown(figures):
    """The layers that have a share worth showing in any of them."""
    return [layer for layer in callgrind.LAYERS if any(new[layer] > new["all"] * 0.001 for new in figures.values())]


def print_figures(kept, now):
    print(f"\n {'instructions a message':<28}{'last':>9}{'now':>9}{'ratio':>9}")
    for name, new in now.items():
        old = kept.get(name, {}).get("all")
        ends = f"{old:>9}{new['all']:>9}{new['all'] / old:>9.3f}" if old else f"{'-':>9}{new['all']:>9}{'-':>9}"
        print(f" {name:<28}" + ends)
    layers = shown(now)
    print(f"\n {'by layer':<28}" + "".join(f"{layer:>9}" for layer in layers))
    for name, new in now.items():
        print(f" {name:<28}" + "".join(f"{new[layer]:>9}" for layer in layers))
    print(flush=True)


HEAD = "| instructions a message | all | "


def table(figures):
    """The figures as the page shows them, a list of lines."""
    layers = shown(figures)
    return [HEAD + " | ".join(layers) + " |", "|---" * (len(layers) + 2) + "|"] + [
        f"| {name} | {new['all']} | " + " | ".join(str(new[layer]) for layer in layers) + " |"
        for name, new in figures.items()]


def page_with(text, figures):
    """The page with this table for the one that is there. Failed: there is none."""
    lines = text.splitlines()
    begin = next((at for at, line in enumerate(lines) if line.startswith(HEAD)), None)
    if begin is None:
        raise Failed(f"{PAGE.name} has no table that begins with {HEAD}")
    end = next((at for at in range(begin, len(lines)) if not lines[at].startswith("|")), len(lines))
    return "\n".join(lines[:begin] + table(figures) + lines[end:]) + "\n"


def read_kept():
    try:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))
        return kept["counted with"], kept["instructions"]
    except FileNotFoundError:
        return {}, {}


def keep(here, now):
    KEPT.write_text(json.dumps({"counted with": here, "instructions": now}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), now), encoding="utf-8")
    print(f" kept in {KEPT.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")


def stale(text, kept):
    """What of the figures that are kept, or of the page that shows them, is not current; "": nothing."""
    others = {case.name for case in CASES} ^ set(kept)
    if others:
        return f"{KEPT.relative_to(ROOT)} lacks or has too much: {'; '.join(sorted(others))}"
    if page_with(text, kept) != text:
        return f"{PAGE.relative_to(ROOT)} shows other figures than {KEPT.relative_to(ROOT)}"
    return ""


def check():
    words = stale(PAGE.read_text(encoding="utf-8"), read_kept()[1])
    if words:
        print(f"{words}: {COMMAND} --write")
    return 1 if words else 0


def compare(args):
    cases = [case for case in CASES if not args.words or any(word in case.name for word in args.words)]
    if not cases:
        raise Failed("nothing is named so; there are: " + "; ".join(case.name for case in CASES))
    build = args.build.resolve()
    counter = Counter(build, (args.out or args.build / "callgrind").resolve())
    with_what, kept = read_kept()
    now = {case.name: counter.count(case, kept.get(case.name, {}).get("all")) for case in cases}
    here = conditions(build, counter.config["DPDK"])
    print(" " + ", ".join(f"{name} {value}" for name, value in here.items()) + f"; ICRC by {counter.config['icrc']}")
    print_figures(kept, now)
    if args.write:
        keep(here, now)
        kept, with_what = now, here
    return conclude(judge(kept, now), differences(with_what, here))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="a build folder with dat-perf, debug information and one -O3")
    parser.add_argument("--out", type=Path, help="where callgrind's outputs stay (callgrind/ in it)")
    parser.add_argument("--write", action="store_true", help="keep the figures")
    parser.add_argument("--check", action="store_true", help="is the page current?")
    parser.add_argument("words", nargs="*", metavar="WORDS", help="only what has these words in its name")
    args = parser.parse_args()
    if args.write and args.words:
        parser.error("--write keeps all figures or none: leave the words out")
    if not args.check and not args.build:
        parser.error("--build is wanted")
    try:
        return check() if args.check else compare(args)
    except Failed as error:
        print(f"failed: instructions: {error}")
        print("0 passed, 1 failed, 0 skipped")
        return 1


if __name__ == "__main__":
    sys.exit(main())
