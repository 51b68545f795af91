#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Answers: each question of docs/README.md has an answer, every link of a page leads to a file or heading that is there,
code that README shows of an example is in it, and a key that a page names is one of udapl-roce(7).

  answers.py [--self-test] [ROOT]
"""
import re
import sys
import textwrap

import tree

INDEX = "docs/README.md"
QUESTION = re.compile(r"^\| ([^|]+\?) \| (.*) \|$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$")
FENCE = re.compile(r"^ *```")
KEY = re.compile(r"`([a-z][a-z_-]*)=[^`\s]*`")
KEYS = "docs/man/udapl-roce.7"
# Keys of DPDK's devices, of the kernel, of QEMU and of fio.
FOREIGN = {"bsize", "client", "mac", "member", "no-rx", "path", "tx_pcap", "safe-mode-support", "secret", "server", "size",
           "slave", "zero-copy", "wc_activate", "hugepages", "intel_iommu", "disable-legacy", "host_mtu", "packed", "ioengine"}
EXCERPT = re.compile(r"^<!-- lines of (\S+) -->\n```c\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def anchor(heading):
    """The name that GitHub and pandoc give to the place of a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")


def anchors(path):
    inside, found = False, set()
    for line in tree.lines(path):
        inside ^= bool(FENCE.match(line))
        heading = HEADING.match(line)
        if heading and not inside:
            found.add(anchor(heading.group(1)))
    return found


def wrong_links(path, lines):
    for number, line in enumerate(lines, 1):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            target, _, place = link.partition("#")
            there = (path.parent / target).resolve() if target else path
            if "://" in link or link.startswith("mailto:"):
                continue
            if not there.exists():
                yield number, f"a link to {target}, which is not there"
            elif place and there.suffix == ".md" and place not in anchors(there):
                yield number, f"a link to #{place}, which no heading of {there.name} has"


def without_answer(lines):
    for number, line in enumerate(lines, 1):
        question = QUESTION.match(line)
        if question and not LINK.search(question.group(2)):
            yield number, f"no link answers: {question.group(1)}"


def unknown_keys(lines, known):
    for number, line in enumerate(lines, 1):
        for key in KEY.findall(line):
            if known and key not in known | FOREIGN:
                yield number, f"{key}= is no key of {KEYS}"


def other_excerpts(root, text):
    for example, code in EXCERPT.findall(text):
        source = root / example
        shown = textwrap.dedent(code)
        whole = source.read_text(encoding="utf-8") if source.is_file() else ""
        if textwrap.indent(shown, "\t", lambda line: line.strip()) not in whole:
            yield f"what is shown is not in {example}"


def check(root):
    findings = []
    manual = root / KEYS
    known = set(re.findall(r"[a-z][a-z_-]*(?==)", manual.read_text(encoding="utf-8"))) if manual.is_file() else set()
    for path in tree.files(root, ".md"):
        name, lines = tree.relative(path, root), tree.lines(path)
        wrong = [*wrong_links(path, lines), *unknown_keys(lines, known)]
        if name == INDEX:
            wrong += without_answer(lines)
        findings += [(f"{name}:{number}", rule) for number, rule in wrong]
        findings += [(f"{name}:1", rule) for rule in other_excerpts(root, "\n".join(lines) + "\n")]
    return findings


def pages(index="| How? | [a](a.md#how-it-is-done) |\n", readme="", example="int\nmain(void)\n{\n\ta();\n\tb();\n}\n"):
    return {"docs/README.md": "# D\n\n" + index, "docs/a.md": "# A\n\n## How it is `done`\n\n```\n## not one\n```\n",
            "docs/man/udapl-roce.7": ".It Cm mtu= Ns Ar bytes\n", "README.md": readme, "docs/examples/e.c": example}


SHOWN = "<!-- lines of docs/examples/e.c -->\n```c\na();\nb();\n```\n"

CASES = [
    ("answers", pages(readme=SHOWN), None),
    ("a question without an answer", pages("| How? | it depends |\n"), "no link answers: How?"),
    ("a heading that is not there", pages("| How? | [a](a.md#why) |\n"), "a link to #why, which no heading of a.md has"),
    ("a heading in code", pages("| How? | [a](a.md#not-one) |\n"), "a link to #not-one"),
    ("a page that is not there", pages("| How? | [b](b.md) |\n"), "a link to b.md, which is not there"),
    ("keys", pages(readme="`mtu=`, `mtu=4096` and `bsize=8192`\n"), None),
    ("a key that is not there", pages(readme="Use `capture=x`.\n"), "README.md:1: capture= is no key of docs/man/udapl-roce.7"),
    ("an example that went on", pages(readme=SHOWN, example="\ta();\n\tc();\n"), "README.md:1: what is shown is not in"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
