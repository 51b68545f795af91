#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which test proves which statement: writes docs/srq-statements.md, or checks that it is current (--check).

A test names what it proves in the comment right above it, in a line "Proves: srq_create.1 bug.S2". In C that is a
function; in a script it is the function below the comment, or the script itself when none follows. The statements
stand in statements.def.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lint"))
import tree  # noqa: E402

DEF = "test/contract/statements.def"
PAGE = "docs/srq-statements.md"

TAG = re.compile(r"^[\s/*#]*Proves:\s+(.*?)\s*(?:\*/)?\s*$")
STATEMENT = re.compile(r"^(\w+\.\w+)\s+(.*?)(?:\s+=\s+(.*))?$")
C_FUNCTION = re.compile(r"^(\w+)\(")
SHELL_FUNCTION = re.compile(r"^(\w+)\(\)")

HEAD = """\
# Statements and their tests

What the pages of the shared receive queue promise, and mistakes of other providers that we do not make: each with the
tests that prove it. Written by `test/contract/statements.py` from the comments above the tests; the check of the same
name fails when this page is not current, or a statement has no test.
"""


def statements(root):
    """({id: (words, reason or None)}, findings), in the order of the file."""
    found, findings = {}, []
    for number, line in enumerate(tree.lines(Path(root, DEF)), 1):
        if not line or line.startswith("#"):
            continue
        match = STATEMENT.match(line)
        if not match:
            findings.append((f"{DEF}:{number}", "not a statement: " + line))
        elif match.group(1) in found:
            findings.append((f"{DEF}:{number}", "a second " + match.group(1)))
        else:
            found[match.group(1)] = (match.group(2), match.group(3))
    return found, findings


def function_below(lines, number, pattern):
    """Name of the function whose comment holds the line; None when something else follows."""
    in_c = pattern is C_FUNCTION
    while in_c and number < len(lines) and "*/" not in lines[number]:
        number += 1
    for line in lines[number + 1:number + 5]:
        match = pattern.match(line)
        if match:
            return match.group(1)
        # Another comment may follow, a return type, but no blank line.
        if not line:
            return None
    return None


def tags(path, name):
    """(line number, ids, test) of each tag of a file; test is None when there is no function to go with it."""
    lines = tree.lines(path)
    for number, line in enumerate(lines):
        match = TAG.match(line)
        if not match:
            continue
        if name.endswith(".c"):
            test = function_below(lines, number, C_FUNCTION)
        else:
            test = function_below(lines, number, SHELL_FUNCTION) or ""
        yield number + 1, match.group(1).split(), test


def collect(root):
    """({id: (words, reason)}, {id: {file: [tests]}}, findings)."""
    known, findings = statements(root)
    proofs = {statement: {} for statement in known}
    for path in tree.files(Path(root, "test"), ".c", ".sh"):
        name = tree.relative(path, root)
        for number, ids, test in tags(path, name):
            if test is None:
                findings.append((f"{name}:{number}", "no test function right below"))
            for statement in ids:
                if statement not in known:
                    findings.append((f"{name}:{number}", "no such statement: " + statement))
                elif test is not None:
                    there = proofs[statement].setdefault(name, [])
                    if test and test not in there:
                        there.append(test)
    return known, proofs, findings


def judge_proofs(known, proofs):
    for statement, (_, reason) in known.items():
        if reason is None and not proofs[statement]:
            yield DEF, statement + " has no test"
        if reason is not None and proofs[statement]:
            yield DEF, statement + " has a test and a reason to have none"


def cell(files):
    out = []
    for name, tests in files.items():
        short = name.removeprefix("test/")
        out.append(f"[{short}](../{name})" + "".join(f"<br>`{test}`" for test in tests))
    return "<br>".join(out)


def title(group):
    return "Mistakes of others" if group == "bug" else "dat_" + group


def page(known, proofs):
    text, last = [HEAD], None
    for statement, (words, reason) in known.items():
        group = statement.partition(".")[0]
        if group != last:
            text.append(f"\n## {title(group)}\n\n| | statement | tests |\n|---|---|---|\n")
            last = group
        right = reason if reason is not None else cell(proofs[statement])
        text.append(f"| {statement.partition('.')[2]} | {words} | {right} |\n")
    return "".join(text)


def check(root):
    """Findings of a tree; the order is that of the files."""
    known, proofs, findings = collect(root)
    findings += judge_proofs(known, proofs)
    there = Path(root, PAGE)
    if not there.is_file() or there.read_text(encoding="utf-8") != page(known, proofs):
        findings.append((PAGE, "not current: run test/contract/statements.py"))
    return findings


def generate(root):
    known, proofs, findings = collect(root)
    Path(root, PAGE).write_text(page(known, proofs), encoding="utf-8")
    return [*findings, *judge_proofs(known, proofs)]


TEST = "/*\n * It holds.\n *\n * Pro" "ves: {}\n */\nstatic void\nf__holds(void **state)\n{{\n}}\n"


def case(definition, tests, generated=None):
    """A small tree: statements, tests, and the page (by default the right one)."""
    files = {DEF: definition, **tests}
    if generated is None:
        known, _ = {}, None
        for line in definition.splitlines():
            match = STATEMENT.match(line)
            if match:
                known[match.group(1)] = (match.group(2), match.group(3))
        proofs = {statement: {} for statement in known}
        for name in tests:
            proofs.get("a.1", {})[name] = ["f__holds"] if name.endswith(".c") else []
        generated = page(known, proofs)
    return {**files, PAGE: generated}


CASES = [
    ("one statement, one test", case("a.1  holds\n", {"test/x.c": TEST.format("a.1")}), None),
    ("a comment on one line", case("a.1 holds\n", {"test/x.c": "/* Pro" "ves: a.1 */\nstatic void\nf__holds(void)\n"}),
     None),
    ("a script", case("a.1 holds\n", {"test/x.sh": "#!/bin/sh\n# Pro" "ves: a.1\ntrue\n"}), None),
    ("a reason", case("a.1 holds\nbug.S1 does not = there is no such call\n", {"test/x.c": TEST.format("a.1")}), None),
    ("no test", case("a.1 holds\na.2 holds too\n", {"test/x.c": TEST.format("a.1")}), "a.2 has no test"),
    ("a test and a reason", case("a.1 holds = never\n", {"test/x.c": TEST.format("a.1")}), "and a reason"),
    ("an unknown statement", case("a.1 holds\n", {"test/x.c": TEST.format("a.1 a.3")}), "no such statement: a.3"),
    ("no function below", case("a.1 holds\n", {"test/x.c": "/* Pro" "ves: a.1 */\n\nint a;\n"}), "no test function"),
    ("a page of yesterday", case("a.1 holds\n", {"test/x.c": TEST.format("a.1")}, "old\n"), "not current"),
    ("twice", case("a.1 holds\na.1 holds\n", {"test/x.c": TEST.format("a.1")}), "a second a.1"),
    ("no statement", case("a.1 holds\nwhat?\n", {"test/x.c": TEST.format("a.1")}), "not a statement"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when something is missing or old")
    parser.add_argument("--self-test", action="store_true", help="prove that the check can fail")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    args = parser.parse_args()
    if args.self_test:
        tree.self_test(check, CASES)
    tree.finish(check(args.root) if args.check else generate(args.root))


if __name__ == "__main__":
    main()
