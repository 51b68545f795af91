#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Openings: a sentence begins with its subject, not with Who, What, Nobody or Nothing.

Checks comments of C, Meson and Python in the folders that follow the rule already, manual pages, and the pages of docs/.
"""
import re
import sys

import tree

FOLDERS = ("apps/", "include/", "lib/", "pmd_roce/", "test/")
WORDS = r"(?:Who|Whoever|Whose|Whatever|Nobody|Nothing|What)\b"
# At the begin of a comment or of a line in one, and behind the end of a sentence.
COMMENT = re.compile(rf"(?:/\*+<?|^\s*\*|//|[.:;])\s+(?P<word>{WORDS})")
HASH = re.compile(rf"#\s+(?:.*[.:;]\s+)?(?P<word>{WORDS})")
# Neither a row of a table nor code.
PROSE = re.compile(rf"^(?!\||    )(?:|\s*\*\s+|.*?[.:;]\s+)(?P<word>{WORDS})")
MANUAL = re.compile(rf"^(?!\.)(?:|.*?[.:;]\s+)(?P<word>{WORDS})")
MANUALS = (".1", ".3", ".5", ".7")
PAGE = re.compile(r"docs/[a-z-]+\.md")


def opening(name):
    """The expression that finds bad openings in a file; None: it is not checked."""
    if name.endswith((".c", ".h")) and name.startswith(FOLDERS):
        return COMMENT
    if name.endswith((".py", ".build")) and name.startswith(FOLDERS):
        return HASH
    if name.startswith("docs/man/") and name.endswith(MANUALS):
        return MANUAL
    if PAGE.fullmatch(name):
        return PROSE
    return None


def check(root):
    findings = []
    for path in tree.files(root, ".c", ".h", ".md", ".py", ".build", *MANUALS):
        name = tree.relative(path, root)
        expression = opening(name)
        if expression is None or name == "test/lint/openings.py":
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = expression.search(line)
            if match:
                findings.append((f"{name}:{number}", f"a sentence begins with {match['word']}: name its subject"))
    return findings


CASES = [
    ("subjects", {"include/a.h": "/** The peer. Zero: none. */\n", "lib/roce/a.c": "/* Somebody asked. */\n"}, None),
    ("inside of a sentence", {"include/a.h": "/** Values, and what they mean. */\n"}, None),
    ("another folder", {"devtools/a.c": "/* What it is. */\n", "devtools/a.py": "# What it is.\n"}, None),
    ("this file", {"test/lint/openings.py": "# What it is.\n"}, None),
    ("a comment", {"include/a.h": "int a; /**< What it is. */\n"}, "include/a.h:1: a sentence begins with What"),
    ("a line of a comment", {"lib/roce/a.c": "/*\n * Nobody asks.\n */\n"}, "lib/roce/a.c:2: a sentence begins"),
    ("a page", {"docs/a.md": "| What | Who |\n\n    What code.\n\nIt says what it is.\n"}, None),
    ("a sentence of a page", {"docs/a.md": "One.\n\n* Two. Whoever asks.\n"}, "docs/a.md:3: a sentence begins"),
    ("a manual page", {"docs/man/a.3": ".Nd what it is\n.It Va What\nIt says what it is.\n"}, None),
    ("a line of a manual page", {"docs/man/a.3": ".Pp\nWhat it is.\n"}, "docs/man/a.3:2: a sentence begins with What"),
    ("a script", {"lib/roce/a.py": "a = 1  # One. What it is.\n"}, "lib/roce/a.py:1: a sentence begins with What"),
    ("a build file", {"apps/meson.build": "# What runs.\n"}, "apps/meson.build:1: a sentence begins with What"),
    ("a test", {"test/unit/a.c": "/* Nobody asks. */\n"}, "test/unit/a.c:1: a sentence begins with Nobody"),
    ("a second sentence", {"pmd_roce/cm/a.c": "/* One. Nothing else. */\n"}, "pmd_roce/cm/a.c:1: a sentence begins"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
