#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Titles: every commit says `folder: what it does`, lower case, in at most 60 characters.

  titles.py [--self-test] [ROOT]
"""
import re
import shutil
import subprocess
import sys

import tree

TITLE_MAX = 60
SHAPE = re.compile(r"^[a-z0-9_.]+(?:[/-][a-z0-9_.]+)*: \S")
# A sentence's capital; abbreviations such as PSN and names such as Linux keep theirs.
CAPITAL = re.compile(r"^[^:]*: +[A-Z][a-z]+\b")


def judge(title):
    """The rules that a title breaks."""
    if len(title) > TITLE_MAX:
        yield f"title of {len(title)} characters, {TITLE_MAX} at most"
    if not SHAPE.match(title):
        yield "a title reads `folder: words`"
    if CAPITAL.match(title):
        yield "the words begin in lower case"
    if title.endswith("."):
        yield "a title ends without a full stop"
    if re.match(r"(?:fixup|squash)!", title):
        yield "a fixup was left"


def git(root, *args):
    # The tree may belong to another user (a container, sudo): reading its log is no danger.
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", str(root), *args], capture_output=True, text=True,
                          check=False)


def check(root):
    log = git(root, "log", "--no-merges", "--format=%h%x09%s").stdout
    return [(f"commit {line.split(chr(9), 1)[0]}", f"{rule}: {line.split(chr(9), 1)[1]}")
            for line in log.splitlines() for rule in judge(line.split("\t", 1)[1])]


CASES = [
    ("engine: judge duplicates before length", 0),
    ("pmd_roce/cm: send REJ 8 when nobody listens on IPv6", 0),
    ("run.sh: reserve hugepages as root", 0),
    ("judge duplicates before length", 1),
    ("Engine: judge duplicates", 1),
    ("engine: Judge duplicates", 1),
    ("cm: connections as Linux rdma_cm speaks them", 0),
    ("engine: judge duplicates.", 1),
    ("engine: judge duplicates before length, and a lot more than that", 1),
    ("fixup! engine: judge duplicates", 2),
]


def self_test():
    wrong = [(title, want, list(judge(title))) for title, want in CASES if len(list(judge(title))) != want]
    for title, want, got in wrong:
        print(f"self-test: {title}: wanted {want} finding(s), got {got}")
    print(f"{len(CASES)} self-test cases, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    if shutil.which("git") is None:
        tree.skip("git is not installed, so there are no titles to read")
    top = git(tree.ROOT, "rev-parse", "--show-toplevel").stdout.strip()
    if top != str(tree.ROOT) or git(tree.ROOT, "rev-parse", "--verify", "-q", "HEAD").returncode:
        tree.skip("not a git tree with commits, so there are no titles to read")
    tree.finish(check(tree.ROOT))
