#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lengths: a file is one idea (500 lines, a test 700), a function fits a screen (60 lines); run.sh only dispatches (150).

The public DAT headers are as long as the standard is; files that are mainly a table may be listed. The width
of lines is clang-format's business.
"""
import re
import sys

import tree

FILE_MAX, TEST_MAX, FUNCTION_MAX = 500, 700, 60

# Scripts that stay short: what they do is elsewhere.
DISPATCHERS = {"run.sh": 150}

# file: why it may be longer
TABLES = {}

NAME = re.compile(r"([A-Za-z_]\w*)\(")


def file_max(name):
    if name in DISPATCHERS:
        return DISPATCHERS[name]
    if name.startswith("include/dat/") or name in TABLES:
        return None
    return TEST_MAX if name.startswith("test/") else FILE_MAX


def functions(lines):
    """(line number, name, length) of each function: in DPDK style its braces stand alone in column one."""
    opened, name = None, "?"
    for number, line in enumerate(lines, 1):
        if opened is None and NAME.match(line):
            name = NAME.match(line).group(1)
        if line == "{":
            opened = number
        elif line == "}" and opened is not None:
            yield opened, name, number - opened
            opened = None


def check(root):
    findings = []
    for path in tree.files(root, *tree.C, *DISPATCHERS):
        name, lines = tree.relative(path, root), tree.lines(path)
        limit = file_max(name)
        if limit is not None and len(lines) > limit:
            findings.append((f"{name}:{limit + 1}", f"file of {len(lines)} lines, {limit} at most"))
        for number, function, length in functions(lines):
            if length > FUNCTION_MAX:
                findings.append((f"{name}:{number}", f"{function} has {length} lines, {FUNCTION_MAX} at most"))
    return findings


def body(lines):
    return "int\nf(void)\n{\n" + "\tg();\n" * lines + "}\n"


CASES = [
    ("just short enough", {"lib/a.c": body(59), "lib/b.h": "\n" * 500, "test/c.c": "\n" * 700}, None),
    ("a long function", {"lib/a.c": body(60)}, "lib/a.c:3: f has 61 lines"),
    ("a long file", {"lib/b.h": "\n" * 501}, "lib/b.h:501: file of 501 lines"),
    ("a long test", {"test/c.c": "\n" * 701}, "test/c.c:701"),
    ("a dispatcher", {"run.sh": "\n" * 150}, None),
    ("a dispatcher that does the work", {"run.sh": "\n" * 151}, "run.sh:151: file of 151 lines, 150 at most"),
    ("the standard's header", {"include/dat/udat.h": "\n" * 2000}, None),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
