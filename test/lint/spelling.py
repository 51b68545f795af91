#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spelling: codespell over every text of ours; words it should let pass stand in .codespellrc."""
import shutil
import subprocess
import sys

import tree


def check(root):
    names = [str(path) for path in tree.files(root) if tree.lines(path)]
    if not names:
        return []
    run = subprocess.run(["codespell", "--config", str(tree.ROOT / ".codespellrc"), "--disable-colors", *names],
                         capture_output=True, text=True, check=False)
    findings = []
    for line in run.stdout.splitlines():
        place, _, words = line.partition(": ")
        path, _, number = place.rpartition(":")
        findings.append((f"{tree.relative(path, root)}:{number}", "spelling: " + words))
    if run.returncode and not findings:
        findings.append(("codespell", run.stderr.strip()))
    return findings


CASES = [
    ("right words", {"docs/a.md": "the responder receives\n"}, None),
    ("a wrong word", {"docs/a.md": "fine\nthe responder reci" "eves\n"}, "docs/a.md:2: spelling"),
]

if __name__ == "__main__":
    if shutil.which("codespell") is None:
        tree.skip("codespell is not installed (package codespell)")
    sys.exit(tree.main(check, CASES))
