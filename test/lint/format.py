#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Format: every C file is as clang-format 14 would write it. Versions differ in taste, so only 14 judges.

  format.py [--self-test] [ROOT]
"""
import re
import shutil
import subprocess
import sys

import tree

COMPLAINT = re.compile(r"^(.*?):(\d+):\d+: (?:error|warning): (.*)$")


def tool():
    """clang-format 14, or None."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " version 14." in subprocess.run([path, "--version"], capture_output=True, text=True,
                                                     check=True).stdout:
            return path
    return None


def check(root):
    names = [str(path) for path in tree.files(root, *tree.C)]
    if not names:
        return []
    style = "--style=file:" + str(tree.ROOT / ".clang-format")
    run = subprocess.run([tool(), style, "--dry-run", "-Werror", *names], capture_output=True, text=True,
                         check=False)
    places = {}
    for line in run.stderr.splitlines():
        match = COMPLAINT.match(line)
        if match:
            places.setdefault(tree.relative(match.group(1), root), []).append(match.group(2))
    findings = [(f"{name}:{at[0]}", f"not formatted, in {len(at)} place(s): clang-format -i {name}")
                for name, at in places.items()]
    if run.returncode and not findings:
        findings.append(("clang-format", run.stderr.strip()))
    return findings


CASES = [
    ("formatted", {"lib/a.c": "int\nf(void)\n{\n\treturn 1;\n}\n"}, None),
    ("blanks for a tab", {"lib/a.c": "int\nf(void)\n{\n        return 1;\n}\n"}, "lib/a.c:3: not formatted"),
    ("a crowded header", {"lib/a.h": "int f( void );\n"}, "lib/a.h:1"),
]

if __name__ == "__main__":
    if tool() is None:
        tree.skip("clang-format 14 is not installed (package clang-format)")
    sys.exit(tree.main(check, CASES))
