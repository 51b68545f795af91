#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sentences: at most 30 words, where a colon and a semicolon end one, too.

Checks comments in apps, include, lib and pmd_roce, prose of the pages, and manual pages: neither code nor
rows of tables whose cells are lists of names.
"""
import re
import sys

import tree

WORDS_MAX = 30
FOLDERS = ("apps/", "include/", "lib/", "pmd_roce/")
PAGE = re.compile(r"(?:docs/)?[A-Za-z-]+\.md")
MANUAL = "docs/man/"
MANUALS = (".1", ".3", ".5", ".7")

COMMENT = re.compile(r"/\*.*?\*/", re.S)
LEADER = re.compile(r"^\s*(?:/\*+<?|\*(?!/))? ?", re.M)
# A new idea: an empty line, an item of a list, a tag, a line that is indented like code.
BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|\n(?=   )|@(?:return|param|file)\b")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"(?<=[.:;!?])\s+")
# Manual pages: neither examples nor lists of names; macros inside of a sentence hold words of it, any other macro ends it.
CODE = re.compile(r"^\.Bd -(?:literal|unfilled).*?^\.Ed$|^\.Sh (?:SYNOPSIS|SEE ALSO)$.*?(?=^\.Sh |\Z)", re.S | re.M)
INLINE = re.compile(r"\.(?:Ad|Ar|Cm|Dq|Dv|Em|Er|Ev|Fa|Fl|Fn|Ft|Ic|In|Li|Nm|No|Ns|Op|Pa|Pq|Ql|Qq|Sq|Sy|Va|Vt|Xr) ?(.*)")
MARK = re.compile(r"(?<!\S)(?:[,()|1-9]|Ns|No)(?!\S)")
BLOCK = re.compile(r"^```.*?^```|<!--.*?-->|^#.*?$|^    .*?$", re.S | re.M)


def too_long(text):
    """The sentences of a paragraph that are too long."""
    for sentence in END.split(" ".join(text.split())):
        if len(sentence.split()) > WORDS_MAX:
            yield sentence


def of_source(text):
    """(line, paragraph) of each comment."""
    for match in COMMENT.finditer(text):
        plain = LEADER.sub("", match.group()[:-2])
        for paragraph in BREAK.split(plain):
            yield text.count("\n", 0, match.start()) + 1, paragraph


def of_page(text):
    """(line, paragraph) of a page; a cell of a table is one."""
    text = BLOCK.sub(lambda match: "\n" * match.group().count("\n"), text)
    at = 0
    for part in re.split(r"(\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|\n(?=\|)|(?<=\n)\|[^\n]*)", "\n" + text):
        line = text.count("\n", 0, at) + 1
        at += len(part)
        for cell in part.strip().strip("|").split(" | ") if part.lstrip().startswith("|") else [part]:
            yield line, LINK.sub(r"\1", cell)


def of_manual(text):
    """(line, paragraph) of a manual page."""
    text = CODE.sub(lambda match: "\n" * match.group().count("\n"), text)
    begin, words = 1, []
    for number, line in enumerate([*text.split("\n"), ".El"], 1):
        inline = INLINE.fullmatch(line)
        if inline or not line.startswith("."):
            words.append(MARK.sub("", inline[1]) if inline else line)
            continue
        yield begin, re.sub(r"\s+([.:;])(?=\s|$)", r"\1", " ".join(words))
        begin, words = number + 1, []


def paragraphs_of(name):
    """The reader of a file's prose; None: it is not checked."""
    if name.startswith(MANUAL) and name.endswith(MANUALS):
        return of_manual
    if name.endswith(".md"):
        return of_page if PAGE.fullmatch(name) else None
    return of_source if name.startswith(FOLDERS) and name.endswith((".c", ".h")) else None


def check(root):
    findings = []
    for path in tree.files(root, ".c", ".h", ".md", *MANUALS):
        name = tree.relative(path, root)
        paragraphs = paragraphs_of(name)
        if paragraphs is None:
            continue
        for line, paragraph in paragraphs("\n".join(tree.lines(path))):
            for sentence in too_long(paragraph):
                begin = " ".join(sentence.split()[:6])
                findings.append((f"{name}:{line}", f"{len(sentence.split())} words, {WORDS_MAX} at most: {begin} ..."))
    return findings


LONG = "word " * (WORDS_MAX + 1)
CASES = [
    ("short", {"lib/a.c": "/* One. Two: three. */\n", "docs/a.md": "One.\n"}, None),
    ("colons", {"lib/a.c": "/*\n * " + "word " * 20 + "end:\n * " + "word " * 20 + "\n */\n"}, None),
    ("code", {"docs/a.md": "Begin:\n\n    " + LONG + "\n\n```\n" + LONG + "\n```\n"}, None),
    ("items", {"docs/a.md": "* " + "word " * 20 + "\n* " + "word " * 20 + "\n"}, None),
    ("another folder", {"test/a.c": "/* " + LONG + "*/\n", "docs/tables/a.md": LONG + "\n"}, None),
    ("a comment", {"lib/a.c": "int a;\n/* " + LONG + "*/\n"}, "lib/a.c:2: 31 words, 30 at most: word word"),
    ("behind a tag", {"lib/a.h": "/**\n * One.\n * @return " + LONG + "\n */\n"}, "lib/a.h:1: 31 words"),
    ("a paragraph", {"docs/a.md": "One.\n\nTwo. " + LONG.replace(" ", "\n", 20) + "\n"}, "docs/a.md:"),
    ("a cell", {"README.md": "| a | b |\n|---|---|\n| a | " + LONG + " |\n"}, "README.md:"),
    ("a manual page's code", {"docs/man/a.1": ".Sh SYNOPSIS\n" + LONG + "\n.Sh A\n.Bd -literal\n" + LONG + "\n.Ed\n"}, None),
    ("a list in a manual page", {"docs/man/a.1": ".It Va a , b\n" + "word " * 20 + "\n.Pp\n" + "word " * 20 + "\n"}, None),
    ("a manual page", {"docs/man/a.1": ".Sh A\n" + "word " * 20 + "\n.Xr a 1 ,\n" + "word " * 10 + "\n"}, "docs/man/a.1:2: 31"),
    ("an item", {"docs/a.md": "* One.\n* " + LONG + "\n"}, "docs/a.md:"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
