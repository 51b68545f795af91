#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What run.sh asks of meson: the suites of a build folder, and the sum of a test run.

  testlog.py suites BUILD          names of the suites, one a line
  testlog.py programs BUILD SUITE...  what is to be built for them, as ninja calls it
  testlog.py sum TESTLOG.JSON...   reasons of the skipped, names of the failed, then the count

A test that skips (exit code 77) prints the reason as its last line.
"""
import json
import subprocess
import sys
from pathlib import Path

PASSED = {"OK", "EXPECTEDFAIL"}


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, text=True,
                                     check=True).stdout)


def tests_of(build):
    """(test, its suites), one a test"""
    return [(test, {suite.split(":", 1)[-1] for suite in test["suite"]}) for test in introspect(build, "--tests")]


def suites(build):
    print("\n".join(sorted(set().union(*(names for _, names in tests_of(build))))))


def programs(build, *wanted):
    """Themselves, and what they want to be there."""
    root = Path(build).resolve()
    ids = set().union(*(test["depends"] for test, names in tests_of(build) if names & set(wanted)))
    paths = {Path(target["filename"][0]).resolve() for target in introspect(build, "--targets") if target["id"] in ids}
    print("\n".join(sorted(str(path.relative_to(root)) for path in paths)))


def reason(test):
    said = [line.strip() for line in (test.get("stdout") or "").splitlines() if line.strip()]
    return said[-1] if said else "it does not say why"


def add_up(logs):
    tests = [json.loads(line) for log in logs if Path(log).is_file()
             for line in Path(log).read_text(encoding="utf-8").splitlines() if line.strip()]
    skipped = [t for t in tests if t["result"] == "SKIP"]
    failed = [t for t in tests if t["result"] not in PASSED | {"SKIP"}]
    for test in skipped:
        print(f"skipped: {test['name']}: {reason(test)}")
    for test in failed:
        print(f"failed: {test['name']}: {test['result'].lower()}")
    passed = len(tests) - len(skipped) - len(failed)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("suites", "programs", "sum"):
        sys.exit(__doc__)
    sys.exit({"suites": suites, "programs": programs, "sum": lambda *logs: add_up(logs)}[sys.argv[1]](*sys.argv[2:]))
