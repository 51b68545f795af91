#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which test proves which statement: writes the pages of TABLES, or checks that they are current (--check).

A test names what it proves in the comment right above it, in a line "Proves: srq_create.1 bug.S2". In C that is a
function; in a script it is the function below the comment, or the script itself when none follows; in rules of
test/conf it is the rule below. The statements stand in the *.def files of TABLES.
"""
import argparse
import re
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lint"))
import tree  # noqa: E402

DEF = "test/contract/statements.def"
PAGE = "docs/tables/srq-statements.md"
RC_DEF = "test/contract/rcbugs.def"
RC_PAGE = "docs/tables/rc-bugs.md"
# Pages by hand that name tests.
NAMING = ("docs/security.md",)

TAG = re.compile(r"^[\s/*#]*Proves:\s+(.*?)\s*(?:\*/)?\s*$")
STATEMENT = re.compile(r"^(\w+\.\w+)\s+(.*?)(?:\s+=\s+(.*))?$")
C_FUNCTION = re.compile(r"^(?:UNIT_RULE(?:_IN)?\()?(\w+)[(),]")
SHELL_FUNCTION = re.compile(r"^(\w+)\(\)")
RULE = re.compile(r"^rule (\S+)")
NAMED = re.compile(r"`([a-z]\w*?__\w+)`")

HEAD = """\
# Statements and their tests

Promises of the pages of the shared receive queue, and mistakes of other providers that we do not make: each with the
tests that prove it. Written by `test/contract/statements.py` from the comments above the tests; the check of the same
name fails when this page is not current, or a statement has no test.
"""


RC_HEAD = """\
# Mistakes of other providers

Mistakes of public providers in reliable connections, which must not happen here: each as the rule that holds instead,
with the tests that show it. Written by `test/contract/statements.py` from the comments above the tests; the check of
the same name fails when this page is not current, or a line has neither a test nor a reason to have none.
"""

Table = namedtuple("Table", "definition page head")
TABLES = (Table(DEF, PAGE, HEAD), Table(RC_DEF, RC_PAGE, RC_HEAD))


def statements(root, definition):
    """({id: (words, reason or None)}, findings), in the order of the file. No file: no statements."""
    found, findings = {}, []
    if not Path(root, definition).is_file():
        return found, findings
    for number, line in enumerate(tree.lines(Path(root, definition)), 1):
        if not line or line.startswith("#"):
            continue
        match = STATEMENT.match(line)
        if not match:
            findings.append((f"{definition}:{number}", "not a statement: " + line))
        elif match.group(1) in found:
            findings.append((f"{definition}:{number}", "a second " + match.group(1)))
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
        elif name.endswith(".def"):
            test = function_below(lines, number, RULE)
        else:
            test = function_below(lines, number, SHELL_FUNCTION) or ""
        yield number + 1, match.group(1).split(), test


def collect(root):
    """([(table, {id: (words, reason)})], {id: {file: [tests]}}, findings)."""
    known, findings = [], []
    for table in TABLES:
        found, wrong = statements(root, table.definition)
        known.append((table, found))
        findings += wrong
    proofs = {statement: {} for _, found in known for statement in found}
    for path in tree.files(Path(root, "test"), ".c", ".sh", ".def"):
        name = tree.relative(path, root)
        for number, ids, test in tags(path, name):
            if test is None:
                findings.append((f"{name}:{number}", "no test function right below"))
            for statement in ids:
                if statement not in proofs:
                    findings.append((f"{name}:{number}", "no such statement: " + statement))
                elif test is not None:
                    there = proofs[statement].setdefault(name, [])
                    if test and test not in there:
                        there.append(test)
    return known, proofs, findings


def judge_proofs(known, proofs):
    for table, found in known:
        for statement, (_, reason) in found.items():
            if reason is None and not proofs[statement]:
                yield table.definition, statement + " has no test"
            if reason is not None and proofs[statement]:
                yield table.definition, statement + " has a test and a reason to have none"


def cell(files):
    out = []
    for name, tests in files.items():
        short = name.removeprefix("test/")
        out.append(f"[{short}](../../{name})" + "".join(f"<br>`{test}`" for test in tests))
    return "<br>".join(out)


def title(group):
    return {"bug": "Mistakes of others", "rc": "Reliable connections"}.get(group, "dat_" + group)


def page(head, known, proofs):
    text, last = [head], None
    for statement, (words, reason) in known.items():
        group = statement.partition(".")[0]
        if group != last:
            text.append(f"\n## {title(group)}\n\n| | statement | tests |\n|---|---|---|\n")
            last = group
        right = reason if reason is not None else cell(proofs[statement])
        text.append(f"| {statement.partition('.')[2]} | {words} | {right} |\n")
    return "".join(text)


def judge_names(root):
    """Tests that a page names and that do not exist."""
    there = set()
    for path in tree.files(Path(root, "test"), ".c"):
        there.update(match.group(1) for match in map(C_FUNCTION.match, tree.lines(path)) if match)
    for name in NAMING:
        path = Path(root, name)
        for number, line in enumerate(tree.lines(path) if path.is_file() else [], 1):
            yield from ((f"{name}:{number}", "no such test: " + test) for test in NAMED.findall(line)
                        if test not in there)


def check(root):
    """Findings of a tree; the order is that of the files."""
    known, proofs, findings = collect(root)
    findings += judge_proofs(known, proofs)
    findings += judge_names(root)
    for table, found in known:
        there = Path(root, table.page)
        now = there.read_text(encoding="utf-8") if there.is_file() else ""
        if now != (page(table.head, found, proofs) if found else ""):
            findings.append((table.page, "not current: run test/contract/statements.py"))
    return findings


def generate(root):
    known, proofs, findings = collect(root)
    for table, found in known:
        if found:
            Path(root, table.page).write_text(page(table.head, found, proofs), encoding="utf-8")
    return [*findings, *judge_proofs(known, proofs)]


TEST = "/*\n * It holds.\n *\n * Pro" "ves: {}\n */\nstatic void\nf__holds(void **state)\n{{\n}}\n"


def case(definition, tests, generated=None, table=TABLES[0]):
    """A small tree: statements, tests, and the page (by default the right one)."""
    files = {table.definition: definition, **tests}
    if generated is None:
        known = {}
        for line in definition.splitlines():
            match = STATEMENT.match(line)
            if match:
                known[match.group(1)] = (match.group(2), match.group(3))
        proofs = {statement: {} for statement in known}
        for name in tests:
            proofs[next(iter(proofs))][name] = ["f__holds"] if name.endswith((".c", ".def")) else []
        generated = page(table.head, known, proofs)
    return {**files, table.page: generated}


CASES = [
    ("one statement, one test", case("a.1  holds\n", {"test/x.c": TEST.format("a.1")}), None),
    ("a comment on one line", case("a.1 holds\n", {"test/x.c": "/* Pro" "ves: a.1 */\nstatic void\nf__holds(void)\n"}),
     None),
    ("a rule of a unit test", case("a.1 holds\n", {"test/x.c": "/* Pro" "ves: a.1 */\nUNIT_RULE(f__holds)\n{\n}\n"}), None),
    ("a script", case("a.1 holds\n", {"test/x.sh": "#!/bin/sh\n# Pro" "ves: a.1\ntrue\n"}), None),
    ("a reason", case("a.1 holds\nbug.S1 does not = there is no such call\n", {"test/x.c": TEST.format("a.1")}), None),
    ("no test", case("a.1 holds\na.2 holds too\n", {"test/x.c": TEST.format("a.1")}), "a.2 has no test"),
    ("a test and a reason", case("a.1 holds = never\n", {"test/x.c": TEST.format("a.1")}), "and a reason"),
    ("an unknown statement", case("a.1 holds\n", {"test/x.c": TEST.format("a.1 a.3")}), "no such statement: a.3"),
    ("no function below", case("a.1 holds\n", {"test/x.c": "/* Pro" "ves: a.1 */\n\nint a;\n"}), "no test function"),
    ("a page of yesterday", case("a.1 holds\n", {"test/x.c": TEST.format("a.1")}, "old\n"), "not current"),
    ("twice", case("a.1 holds\na.1 holds\n", {"test/x.c": TEST.format("a.1")}), "a second a.1"),
    ("no statement", case("a.1 holds\nwhat?\n", {"test/x.c": TEST.format("a.1")}), "not a statement"),
    ("another table", case("rc.R1 holds\n", {"test/x.c": TEST.format("rc.R1")}, table=TABLES[1]), None),
    ("a page of yesterday of another table", case("rc.R1 holds\n", {"test/x.c": TEST.format("rc.R1")}, "old\n",
                                                  table=TABLES[1]), "rc-bugs.md: not current"),
    ("no test in another table", case("rc.R1 holds\nrc.R2 too\n", {"test/x.c": TEST.format("rc.R1")},
                                      table=TABLES[1]), "rc.R2 has no test"),
    ("a test that a page names", {**case("a.1 holds\n", {"test/x.c": TEST.format("a.1")}), NAMING[0]: "`f__holds`\n"},
     None),
    ("a test that is gone", {**case("a.1 holds\n", {"test/x.c": TEST.format("a.1")}), NAMING[0]: "`f__held`\n"},
     "no such test: f__held"),
    ("a rule", case("rc.R1 holds\n", {"test/x.def": "# Pro" "ves: rc.R1\nrule f__holds\n"}, table=TABLES[1]), None),
    ("no rule below", case("rc.R1 holds\n", {"test/x.def": "# Pro" "ves: rc.R1\n\nrule f__holds\n"},
                           table=TABLES[1]), "no test function"),
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
