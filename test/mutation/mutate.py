#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does anybody notice when the engine is wrong?

Breaks one rule of the engine after the other, as mutations.def says, each in a copy of the tree, and lets those who
should notice look: the unit tests of the engine, the conformance rules, the simulator.

  mutate.py [--build DIR] [NAME ...]   all of them, or those named; fails when one survives, or when somebody no longer
                                       notices whom docs/tables/mutations.md names
  mutate.py --write [--build DIR] [NAME ...]
                                       the same, and write docs/tables/mutations.md: survivors are missing there
  mutate.py --check                    builds nothing: every edit still applies, and docs/tables/mutations.md is current
  mutate.py --self-test                shows that --check can fail
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lint"))
import tree  # noqa: E402
from workshop import Workshop  # noqa: E402

DEF = "test/mutation/mutations.def"
PAGE = "docs/tables/mutations.md"
LAYERS = "pmd_roce"

HEAD = """\
# Mutations

{count} rules of the engine, each broken on purpose by one small edit, and what fails then: the first test or rule of
[test/unit](../../test/unit) and [test/conf](../../test/conf), and the words of the
[simulator](../testing.md#the-simulator). Only edits that made one of them fail are listed. They stand in
[mutations.def](../../test/mutation/mutations.def). `test/mutation/mutate.py` makes them again, one after the other, each
in a copy of the tree; `lint` fails when one no longer applies or is missing here. A dash: this one does not fail.

| edit | rule that it breaks | unit, conf | simulator |
|---|---|---|---|
"""

TAIL = """
## Edits that change nothing

They were made too, and nobody can notice them:

- Requests are sent in RTS only, which `may_send()` in [req.c](../../pmd_roce/requester/req.c) checks: the visit of a queue
  pair in [engine.c](../../pmd_roce/engine/engine.c) has checked it already, and an end of the connection inside of one
  visit ends its requests and the loop that sends them.
"""


class Mutation:
    def __init__(self, name, file, line):
        self.name, self.file, self.line = name, file, line
        self.rule, self.old, self.new = "", [], []

    def path(self, root):
        return Path(root, LAYERS, self.file)


def read(root):
    """([Mutation], findings)."""
    found, findings = [], []
    for number, line in enumerate(tree.lines(Path(root, DEF)), 1):
        place = f"{DEF}:{number}"
        head = re.match(r"^\[([a-z0-9-]+)\] ([a-z]+/[a-z_]+\.[ch])$", line)
        if head:
            if head.group(1) in [m.name for m in found]:
                findings.append((place, "a second " + head.group(1)))
            found.append(Mutation(head.group(1), head.group(2), number))
        elif not line or line.startswith(("#", "/*")):
            continue
        elif not found:
            findings.append((place, "no [name] above"))
        elif line.startswith("= "):
            found[-1].rule = " ".join(filter(None, (found[-1].rule, line[2:])))
        elif line.startswith("- "):
            found[-1].old.append(line[2:])
        elif line.startswith("+ "):
            found[-1].new.append(line[2:])
        else:
            findings.append((place, "what is this: " + line))
    findings += [(f"{DEF}:{m.line}", f"{m.name} has no rule, or changes nothing") for m in found
                 if not m.rule or not m.old or m.old == m.new]
    return found, findings


def apply(mutation, lines):
    """The lines with the edit, or the reason why it does not apply. Indentation does not count."""
    bare = [line.strip() for line in lines]
    size = len(mutation.old)
    places = [i for i in range(len(lines)) if bare[i:i + size] == mutation.old]
    if len(places) != 1:
        return f"{mutation.name} applies {len(places)} times in {mutation.file}, not once"
    at = places[0]
    indent = lines[at][:len(lines[at]) - len(bare[at])]
    return lines[:at] + [indent + line for line in mutation.new] + lines[at + size:]


def row(mutation):
    """The beginning of its row in the page."""
    return f"| `{mutation.name}`, [{Path(mutation.file).name}](../../{LAYERS}/{mutation.file}) | {mutation.rule} | "


def page(mutations, notices):
    return HEAD.format(count=len(mutations)) + "".join(
        row(m) + f"{notices[m.name][0] or '-'} | {notices[m.name][1] or '-'} |\n" for m in mutations) + TAIL


def told(root):
    """{beginning of a row: (who of unit and conf, what of the simulator)} of the page."""
    rows = {}
    for line in tree.lines(Path(root, PAGE)) if Path(root, PAGE).exists() else []:
        match = re.match(r"^(\| `.*\| )(.*?) \| (.*?) \|$", line)
        if match:
            rows[match.group(1)] = tuple("" if part == "-" else part for part in match.groups()[1:])
    return rows


def exists(root, who):
    """Is there such a test function, or such a conformance rule, or a program that would hang or crash?"""
    name = re.search(r"`([^`]+)`", who)
    if not name:
        return Path(root, f"test/unit/test_{who.split()[0]}.c").exists()
    places = list(Path(root, "test/unit").glob("test_*.c")) + list(Path(root, "test/conf").glob("*.def"))
    return any(re.search(rf"(^|[\s(]){re.escape(name.group(1))}\b", path.read_text()) for path in places)


def check(root):
    """Findings of what can be known without building."""
    mutations, findings = read(root)
    rows = told(root)
    for m in mutations:
        lines = tree.lines(m.path(root)) if m.path(root).exists() else []
        if isinstance(apply(m, lines), str):
            findings.append((f"{DEF}:{m.line}", apply(m, lines)))
        who = rows.pop(row(m), None)
        if who is None:
            findings.append((PAGE, f"does not tell of {m.name} as it is now: mutate.py --write"))
        elif not any(who):
            findings.append((PAGE, f"{m.name} is noticed by nobody"))
        elif who[0] and not exists(root, who[0]):
            findings.append((PAGE, f"{m.name}: there is no {who[0]}"))
    findings += [(PAGE, "a row of something else: " + rest) for rest in rows]
    if not findings and f"\n{len(mutations)} rules of " not in Path(root, PAGE).read_text():
        findings.append((PAGE, "another number of rules: mutate.py --write"))
    return findings


def one(shop, mutation):
    """(who of unit and conf, what of the simulator), each "" when it does not notice."""
    place = mutation.path(shop.source)
    whole = place.read_text()
    lines = apply(mutation, whole.splitlines())
    if isinstance(lines, str):
        sys.exit("mutate.py: " + lines)
    try:
        place.write_text("\n".join(lines) + "\n")
        return shop.judge(mutation.file)
    finally:
        place.write_text(whole)


def run(args):
    """@return exit code."""
    mutations, findings = read(ROOT)
    if findings:
        tree.finish(findings)
    if args.name:
        mutations = [m for m in mutations if m.name in args.name]
    shop = Workshop(ROOT, Path(args.build))
    shop.begin(tree.generated)
    rows, notices, bad = told(ROOT), {}, 0
    for m in mutations:
        who = notices[m.name] = one(shop, m)
        before = rows.get(row(m), ("", ""))
        lost = [name for name, now in zip(before, who) if name and not now]
        word = "SURVIVES" if not any(who) else "noticed by fewer" if lost and not args.write else "noticed"
        bad += word != "noticed"
        print(f"{m.name:24} {word}: unit, conf: {who[0] or '-'}; sim: {who[1] or '-'}", flush=True)
    print(f"{len(mutations)} mutations, {len(mutations) - bad} noticed, {bad} not", flush=True)
    if args.write:
        every, _ = read(ROOT)
        notices = {m.name: notices.get(m.name) or rows.get(row(m), ("", "")) for m in every}
        Path(ROOT, PAGE).write_text(page([m for m in every if any(notices[m.name])], notices))
    return bad != 0


CODE = {LAYERS + "/queue/a.c": "int a;\n\tint b;\nint c;\n", "test/unit/test_a.c": "a__holds(void **state)\n"}


def small(edit, who="a `a__holds`", rule="Rule."):
    """A tree with one mutation."""
    mutation = Mutation("one", "queue/a.c", 1)
    mutation.rule = rule
    return {**CODE, DEF: "[one] queue/a.c\n= Rule.\n" + edit, PAGE: page([mutation], {"one": (who, "")})}


CASES = [
    ("it applies", small("- int b;\n+ int d;\n"), None),
    ("it is gone", small("- int e;\n+ int d;\n"), "applies 0 times"),
    ("it is there twice", {**small("- int a;\n+ int d;\n"), LAYERS + "/queue/a.c": "int a;\nint a;\n"}, "applies 2 times"),
    ("it changes nothing", small(""), "changes nothing"),
    ("another rule", small("- int b;\n+ int d;\n", rule="Other."), "does not tell of one"),
    ("nobody notices", small("- int b;\n+ int d;\n", who=""), "noticed by nobody"),
    ("no such test", small("- int b;\n+ int d;\n", who="a `a__fell`"), "there is no a `a__fell`"),
    ("a rule", {**small("- int b;\n+ int d;\n"), "test/unit/test_a.c": "UNIT_RULE(a__holds)\n"}, None),
    ("it hangs", small("- int b;\n+ int d;\n", who="a hangs"), None),
    ("no such program", small("- int b;\n+ int d;\n", who="b hangs"), "there is no b hangs"),
    ("no statement", small("- int b;\n+ int d;\nint e;\n"), "what is this"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="", help="where to copy the tree and to build; kept")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    if args.self_test:
        tree.self_test(check, CASES)
    if args.check:
        tree.finish(check(ROOT))
    if args.build:
        return run(args)
    args.build = tempfile.mkdtemp(prefix="mutate-")
    try:
        return run(args)
    finally:
        shutil.rmtree(args.build)


if __name__ == "__main__":
    sys.exit(main())
