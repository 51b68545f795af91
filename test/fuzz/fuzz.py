#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fuzzers of a build, one after the other, each for so many seconds from the kept corpus on.

  fuzz.py --build DIR [--seconds N] [NAME...]

DIR is a build folder that was set up with -Dfuzz=true. Inputs that reach something new are left in DIR/fuzz/NAME/new
and serve the next run; one that found something is left in DIR/fuzz/NAME/found and named. The last line is a count;
a finding makes the exit code 1.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPT_MAX = 97 * 16  # as base.h: the records that are read
TEXT_MAX = 8192  # as fuzz_conf.c

# name: what it is fed, its longest input, and what its coverage is counted in
FUZZERS = {
    "rx": ("frames", SCRIPT_MAX, ("pmd_roce/wire/", "pmd_roce/queue/", "pmd_roce/requester/", "pmd_roce/responder/",
                                  "pmd_roce/engine/")),
    "cm": ("connection messages", SCRIPT_MAX, ("pmd_roce/cm/",)),
    "local": ("memory of channels", SCRIPT_MAX, ("pmd_roce/local/receive.c", "pmd_roce/local/transmit.c", "pmd_roce/local/ring.h",
                                                 "pmd_roce/local/bell.h")),
    "roced": ("messages to roced", SCRIPT_MAX, ("apps/roced/broker", "apps/roced/cm_frame.c", "pmd_roce/local/proto.c")),
    "verbs": ("calls of verbs", SCRIPT_MAX, ("lib/verbs/", "lib/roce/qp_modify.c", "lib/roce/user.c", "pmd_roce/queue/")),
    "conf": ("configuration", TEXT_MAX, ("lib/libdat/conf.c", "pmd_roce/ethdev/devargs.c", "pmd_roce/neighbour/subnet.c")),
}

OURS = re.compile(r"(?:^|/)((?:pmd_roce|lib|apps)/[\w/]+\.[ch])$")
STATUS = re.compile(r"^#\d+\s.* cov: (\d+) ft: (\d+)")
EXECUTED = re.compile(r"^stat::number_of_executed_units:\s+(\d+)", re.MULTILINE)
WRITTEN = re.compile(r"Test unit written to (\S+)")
NO_FINDING = "slow-unit-"  # of what libFuzzer leaves behind
TAIL = 40  # lines of a log that are shown


def give_up(sentence):
    print(f"fuzz.py: {sentence}", file=sys.stderr)
    sys.exit(1)


def llvm_tool(name):
    """Of the compiler's version first; None when there is none."""
    return shutil.which(f"{name}-14") or shutil.which(name)


class Run:
    """One fuzzer, once."""

    def __init__(self, name, build):
        self.name = name
        self.what, self.longest, self.tested = FUZZERS[name]
        self.program = build / "test" / "fuzz" / f"fuzz_{name}"
        self.place = build / "fuzz" / name
        self.new = self.place / "new"
        self.found = self.place / "found"
        self.log = self.place / "log"
        self.profile = self.place / "profraw"
        self.status = 0
        self.seconds = 0.0

    def command(self, seconds):
        return [str(self.program), str(self.new), str(HERE / "corpus" / self.name), f"-max_total_time={seconds}",
                f"-max_len={self.longest}", "-timeout=20", f"-artifact_prefix={self.found}/", "-print_final_stats=1",
                "-reload=0"]

    def start(self, seconds):
        if not self.program.is_file():
            give_up(f"{self.program} is not there: set the build up with -Dfuzz=true, and compile 'fuzzers'")
        for folder in (self.new, self.found):
            folder.mkdir(parents=True, exist_ok=True)
        self.profile.unlink(missing_ok=True)
        environment = dict(os.environ, LLVM_PROFILE_FILE=str(self.profile),
                           UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_stack_use_after_return=1")
        since = time.monotonic()
        with open(self.log, "w", encoding="utf-8") as log:
            self.status = subprocess.run(self.command(seconds), stdout=log, stderr=subprocess.STDOUT, check=False,
                                         env=environment, stdin=subprocess.DEVNULL).returncode
        self.seconds = time.monotonic() - since

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def executions(self):
        """As libFuzzer counted them; it may have been stopped before it could."""
        counted = EXECUTED.search(self.text())
        return int(counted.group(1)) if counted else 0

    def edges(self):
        """Edges and features that libFuzzer saw last."""
        seen = [STATUS.match(line) for line in self.text().splitlines()]
        seen = [match for match in seen if match]
        return (seen[-1].group(1), seen[-1].group(2)) if seen else ("?", "?")

    def findings(self):
        return [path for path in WRITTEN.findall(self.text()) if not Path(path).name.startswith(NO_FINDING)]

    def covered(self):
        """Percent of lines and of regions of what is tested; None: a run that found something leaves no profile."""
        profdata, cov = llvm_tool("llvm-profdata"), llvm_tool("llvm-cov")
        if self.status != 0 or profdata is None or cov is None or not self.profile.is_file():
            return None
        merged = self.place / "profdata"
        subprocess.run([profdata, "merge", "-o", str(merged), str(self.profile)], check=True)
        told = subprocess.run([cov, "export", "-summary-only", "-instr-profile", str(merged), str(self.program)],
                              check=True, capture_output=True, text=True)
        (self.place / "coverage.json").write_text(told.stdout, encoding="utf-8")
        return self.share(json.loads(told.stdout)["data"][0]["files"])

    def share(self, files):
        count = {"lines": [0, 0], "regions": [0, 0]}
        for entry in files:
            ours = OURS.search(entry["filename"])
            if ours is None or not ours.group(1).startswith(self.tested):
                continue
            for kind, sums in count.items():
                sums[0] += entry["summary"][kind]["covered"]
                sums[1] += entry["summary"][kind]["count"]
        return {kind: f"{100 * sums[0] / sums[1]:.1f} % of {sums[1]}" for kind, sums in count.items() if sums[1] > 0}

    def report(self):
        """Say what came of it. Returns whether nothing was found."""
        found = self.findings()
        good = self.status == 0 and not found
        edges, features = self.edges()
        covered = self.covered()
        print(f"  executions  {self.executions()} in {self.seconds:.0f} seconds")
        if covered is not None:
            print(f"  lines       {covered.get('lines', 'none')} in {' '.join(self.tested)}")
            print(f"  regions     {covered.get('regions', 'none')}")
        print(f"  edges       {edges}, features {features}, inputs {len(list(self.new.iterdir()))} beside the corpus")
        print(f"  findings    {len(found)}")
        if good:
            return True
        print("\n".join(self.text().splitlines()[-TAIL:]))
        for path in found:
            print(f"failed: {self.program.name}: kept as {path}; again: {self.program} {path}")
        if not found:
            print(f"failed: {self.program.name} ended with {self.status}; {self.log} says more")
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    if args.seconds < 1:
        give_up("to fuzz for 0 seconds proves nothing")
    failed = 0
    names = args.name or list(FUZZERS)
    for name in names:
        if name not in FUZZERS:
            give_up(f"there is no fuzzer '{name}'; there are: {' '.join(FUZZERS)}")
        run = Run(name, args.build)
        print(f"{run.program.name}: {run.what}, {args.seconds} seconds", flush=True)
        run.start(args.seconds)
        failed += not run.report()
        sys.stdout.flush()
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
