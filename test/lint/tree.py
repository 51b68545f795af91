# SPDX-License-Identifier: BSD-3-Clause
"""What the lint scripts share: which files are ours, how a finding is printed, how a check proves it can fail.

A check is a function from a folder to findings. Its self-test is a list of cases, small trees with one fault
each, so that a check which has gone blind is itself a failing test.
"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIP = 77  # meson's exit code of a skipped test

C = (".c", ".h")


def generated(folder):
    """True for what is not written by hand: git's own, byte code, build trees of any name."""
    return folder.name in (".git", "__pycache__") or (folder / "meson-private").is_dir()


def files(root, *suffixes):
    """Our files below root in a stable order. build/ is where run.sh puts everything it makes."""
    found = []
    for folder, dirs, names in os.walk(root):
        here = Path(folder)
        dirs[:] = sorted(d for d in dirs if not generated(here / d) and here / d != Path(root, "build"))
        found += [here / name for name in sorted(names) if not suffixes or name.endswith(suffixes)]
    return found


def lines(path):
    """Lines of a text file without their ends; none when it is not text."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def relative(path, root):
    return Path(path).resolve().relative_to(Path(root).resolve()).as_posix()


def skip(reason):
    """End as a skipped test. The last line is the reason that run.sh prints."""
    print(reason)
    sys.exit(SKIP)


def finish(findings):
    """Print findings, each (place, rule), and end."""
    for place, rule in findings:
        print(f"{place}: {rule}")
    if findings:
        print(f"{len(findings)} finding(s)")
    sys.exit(1 if findings else 0)


def self_test(check, cases):
    """Each case is (what, {path: text}, words): the words must stand in a finding; None means no finding."""
    bad = 0
    for what, tree, words in cases:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in tree.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            found = [f"{place}: {rule}" for place, rule in check(Path(folder))]
        good = not found if words is None else any(words in line for line in found)
        if not good:
            bad += 1
            print(f"self-test: {what}: wanted {words!r}, got {found}")
    print(f"{len(cases)} self-test cases, {bad} wrong")
    sys.exit(1 if bad else 0)


def main(check, cases):
    """The command line of a check that needs nothing but a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true", help="prove that the check can fail")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    args = parser.parse_args()
    if args.self_test:
        self_test(check, cases)
    finish(check(args.root))
