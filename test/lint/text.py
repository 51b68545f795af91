#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Text: no path of somebody's machine, no package host, no open ends, a licence line in every source, clean lines."""
import re
import sys

import tree

SPDX_C = "/* SPDX-License-Identifier: BSD-3-Clause */"
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
SOURCES = (".c", ".h", ".def")
SCRIPTS = (".py", ".sh", "meson.build", "run.sh", ".ci/run")

# Spelled so that this file does not hold what it looks for.
MACHINE = re.compile(r"/(?:work|farm|root|home/\w+)/")
HOSTS = re.compile(r"https?://[^ ]*(?:deb" r"ian|n" r"pm|py" r"pi)[^ ]*/")
OPEN_ENDS = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
CONFLICT = re.compile(r"^(?:<{7}|>{7})( |$)")


def judge_line(name, line):
    """The rules that one line breaks."""
    if MACHINE.search(line):
        yield "a path of one machine: " + MACHINE.search(line).group(0)
    # The machine-readable form of a copyright file is named by its address there.
    if HOSTS.search(line) and name != "debian/copyright":
        yield "a package host"
    if OPEN_ENDS.search(line):
        yield "an open end: open an issue instead of writing " + OPEN_ENDS.search(line).group(0)
    if CONFLICT.match(line):
        yield "a merge conflict"
    if line != line.rstrip() and not name.endswith(".patch"):
        yield "blanks at the end of the line"


def judge_head(name, lines):
    """The rule that the first lines of a file break, or None."""
    if name.endswith(SOURCES) and (not lines or lines[0] != SPDX_C) and not name.endswith(".def"):
        return "the first line is " + SPDX_C
    if name.endswith((*SCRIPTS, ".def")) and lines and not any(SPDX in line for line in lines[:3]):
        return "no SPDX line in the first three"
    return None


def check(root):
    findings = []
    for path in tree.files(root):
        name, lines = tree.relative(path, root), tree.lines(path)
        head = judge_head(name, lines)
        if head:
            findings.append((f"{name}:1", head))
        findings += [(f"{name}:{number}", rule) for number, line in enumerate(lines, 1)
                     for rule in judge_line(name, line)]
        if lines and not path.read_bytes().endswith(b"\n"):
            findings.append((f"{name}:{len(lines)}", "no newline at the end of the file"))
    return findings


HEAD = SPDX_C + "\n"
CASES = [
    ("clean", {"lib/a.c": HEAD + "int a;\n", "run.sh": "#!/bin/sh\n# " + SPDX + "\n", "README.md": "words\n"}, None),
    ("no licence line", {"lib/a.c": "int a;\n"}, "lib/a.c:1: the first line is"),
    ("an empty source", {"lib/a.h": ""}, "lib/a.h:1: the first line is"),
    ("a script without one", {"test/a.py": "print()\n"}, "test/a.py:1: no SPDX"),
    ("somebody's home", {"docs/a.md": "see /home" "/joe/x\n"}, "docs/a.md:1: a path"),
    ("a folder of this machine", {"docs/a.md": "\n/wo" "rk/main\n"}, "docs/a.md:2: a path"),
    ("a host", {"docs/a.md": "https://deb.deb" "ian.org/x/\n"}, "a package host"),
    ("the form of a copyright file", {"debian/copyright": "Format: https://www.deb" "ian.org/doc/\n"}, None),
    ("an open end", {"lib/a.c": HEAD + "/* TO" "DO: later */\n"}, "lib/a.c:2: an open end"),
    ("a conflict", {"docs/a.md": "<" * 7 + " HEAD\n"}, "a merge conflict"),
    ("a blank", {"docs/a.md": "word \n"}, "blanks at the end"),
    ("no newline", {"docs/a.md": "word"}, "docs/a.md:1: no newline"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
