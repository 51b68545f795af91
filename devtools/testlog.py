#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What run.sh asks of meson: the suites of a build folder, and the sum of a test run.

  testlog.py suites BUILD          names of the suites, one a line
  testlog.py programs BUILD SUITE...  what is to be built for them, as ninja calls it
  testlog.py again TESTLOG.JSON    names of the failed that may run once more, one a line
  testlog.py seconds TESTLOG.JSON  tests and seconds of each suite
  testlog.py sum TESTLOG.JSON...   reasons of the skipped, names of the flaky and of the failed, then the count

A test that skips (exit code 77) prints the reason as its last line.

A test that failed beside others and passed alone, in the log again*.json beside its own, is flaky: it counts as passed, and
its line says how it failed. Failures that load cannot cause are never run again: a signal that ended the test or a program of
its own, the report of a sanitizer, a message lost or changed, a suite that only reads.
"""
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PASSED = {"OK", "EXPECTEDFAIL"}
# Files are what they are, however busy the machine is.
ONLY_READ = {"lint", "lint-slow", "abi"}
# Reports of sanitizers; what dat-perf --verify and other checks of payload say; and how a program died of a signal that it
# caused, which cmocka, a shell, or a test in a shell or in Python tells of it while the test itself just fails.
NEVER_CHANCE = re.compile(r"Sanitizer|runtime error:|[1-9]\d* violation|wrong byte|of wrong length"
                          r"|(?<!\b0 )(?<!\b0% )\b(lost|duplicated|reordered|corrupted|misdelivered)\b(?!\": 0\b)"
                          r"|Test failed with exception|Segmentation fault|Bus error|Illegal instruction|core dumped"
                          r"|Floating point exception|Bad system call|(^|[\d:] )Aborted\b"
                          r"|\b(exit(s|ed)?|end(s|ed)?|failed|status|code|client|server)( with)?:? (13[1-6]|139|159|-[4-8]|-11|-31)\b"
                          r"|returncode=(13[1-6]|139|159|-[4-8]|-11|-31)\b|AssertionError: -([4-8]|11|31) !="
                          r"|free\(\): |double free|malloc\(\): |stack smashing|Assertion `",
                          re.IGNORECASE | re.MULTILINE)
# The first one is what cmocka, our scripts or Python say of a failure.
TELLING = re.compile(r"^(FAIL|\[  ERROR|not ok)|\w+(Error|Exception): |[Ff]ailed|complain")


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


def read(*logs):
    """The tests of logs; a log that is not there has none."""
    return [json.loads(line) for log in logs if Path(log).is_file()
            for line in Path(log).read_text(encoding="utf-8").splitlines() if line.strip()]


def output(test):
    return (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")


def has_failed(test):
    return test["result"] not in PASSED | {"SKIP"}


def suites_of(test):
    """Of a log's line, whose name is 'project:suite+suite / test'."""
    return set(test["name"].split(" / ")[0].split(":", 1)[-1].split("+"))


def may_be_chance(test):
    # meson ends a test that is late by a signal of its own; test/apart.sh exits with 128 and the number of one.
    by_signal = test["result"] != "TIMEOUT" and not 0 <= test.get("returncode", 0) < 128
    return not by_signal and not suites_of(test) & ONLY_READ and not NEVER_CHANCE.search(output(test))


def again(log):
    names = [test["name"].split(" / ", 1)[-1] for test in read(log) if has_failed(test) and may_be_chance(test)]
    print("\n".join(names), end="\n" if names else "")


def seconds(log):
    spent = defaultdict(list)
    for test in read(log):
        spent["+".join(sorted(suites_of(test)))].append(test["duration"])
    for name, each in sorted(spent.items(), key=lambda item: -sum(item[1])):
        print(f"seconds: {name}: {len(each)} tests, {sum(each):.0f} s")


def first_line(test):
    if test["result"] == "TIMEOUT":
        return "late"
    said = [line.strip() for line in output(test).splitlines() if line.strip()]
    return next((line for line in said if TELLING.search(line)), said[-1] if said else test["result"].lower())


def add_up(*logs):
    tests = []
    for log in logs:
        good_alone = {test["name"] for test in read(Path(log).with_name(Path(log).name.replace("testlog", "again"))) if test["result"] in PASSED}
        tests += [dict(test, flaky=has_failed(test) and test["name"] in good_alone) for test in read(log)]
    skipped = [t for t in tests if t["result"] == "SKIP"]
    failed = [t for t in tests if has_failed(t) and not t["flaky"]]
    for test in skipped:
        print(f"skipped: {test['name']}: {reason(test)}")
    for test in tests:
        if test["flaky"]:
            print(f"flaky: {test['name']}: {first_line(test)}")
    for test in failed:
        print(f"failed: {test['name']}: {test['result'].lower()}")
    passed = len(tests) - len(skipped) - len(failed)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    commands = {"suites": suites, "programs": programs, "again": again, "seconds": seconds, "sum": add_up}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]](*sys.argv[2:]))
