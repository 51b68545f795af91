#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts: shellcheck over the shell's, pyflakes over Python's. A line with "noqa" is let pass by the latter.

A file that others source names its shell in a line "shellcheck shell=".
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import tree

# Variables that a sourced file sets or reads, and `NAME= COMMAND`: usual here.
LET_PASS = "SC1007,SC2034,SC2154"
SHELL = re.compile(r"^#(?:!.*\b| shellcheck shell=)(?:ba|da)?sh$")
PLACE = re.compile(r"^(.*?):(\d+):\d+:? (.*)$")


def is_shell(path):
    lines = tree.lines(path)
    return path.suffix in ("", ".sh") and any(map(SHELL.match, lines[:3]))


def complaints(command, paths):
    """(path, line number, words) of each line that a checker prints."""
    if not paths:
        return
    run = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)
    for line in (run.stdout + run.stderr).splitlines():
        match = PLACE.match(line)
        yield (match.group(1), int(match.group(2)), match.group(3)) if match else (paths[0], 1, line)


def check(root):
    shell = [path for path in tree.files(root) if is_shell(path)]
    findings = [(f"{tree.relative(path, root)}:{number}", words) for path, number, words in
                complaints(["shellcheck", "-S", "warning", "-e", LET_PASS, "-f", "gcc"], shell)]
    for path, number, words in complaints(["pyflakes3"], tree.files(root, ".py")):
        if "noqa" not in tree.lines(Path(path))[number - 1]:
            findings.append((f"{tree.relative(path, root)}:{number}", words))
    return findings


CASES = [
    ("good ones", {"a.sh": "#!/bin/sh\necho \"$1\"\n", "a.py": "import sys\nsys.exit(0)\n"}, None),
    ("a word that splits", {"a.sh": "#!/bin/sh\nls $(cat \"$1\")\n"}, "a.sh:2: warning"),
    ("one without a suffix", {"run": "#!/usr/bin/env bash\na=(1,2)\necho \"${a[0]}\"\n"}, "run:2: warning"),
    ("one that is sourced", {"a.sh": "# shellcheck shell=bash\na=(1,2)\necho \"${a[0]}\"\n"}, "a.sh:2: warning"),
    ("an import for nothing", {"a.py": "import sys\n"}, "a.py:1: 'sys' imported but unused"),
    ("one that is meant", {"a.py": "import sys  # noqa: F401\n"}, None),
    ("no Python at all", {"a.py": "def (\n"}, "a.py:1: invalid syntax"),
]

if __name__ == "__main__":
    for program in ("shellcheck", "pyflakes3"):
        if shutil.which(program) is None:
            tree.skip(f"{program} is not installed (package {program})")
    sys.exit(tree.main(check, CASES))
