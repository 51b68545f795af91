#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The conformance rules as a page: writes docs/tables/conformance.md, or checks that it is current (--check).

The rules stand in the *.def files beside this script; test_rules plays them. A sentence that goes on in the next rule
ends with a comma.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "lint"))
import tree  # noqa: E402

FOLDER = "test/conf"
PAGE = "docs/tables/conformance.md"
# The responder before the requester, as a frame meets them.
ORDER = ("responder_send.def", "responder_rdma.def", "requester.def")

RULE = re.compile(r"^rule (\S+)(?: (\S.*))?$")
STATEMENTS = ("with", ">", "<", "post", "receive", "wait", "event", "broken", "count", "memory", "word", "window",
              "gone")

HEAD = """\
# Conformance

Frames in, frames out: {count} rules of reliable connections, each played against the real engine by
[test/conf](../../test/conf) (`meson test --suite conf`; one alone: `ROCE_RULE=sequence.gap test_rules *.def`). A rule
says what the peer sends and all that has to follow: each frame with opcode, PSN, AckReq, syndrome, MSN, lengths and
payload, each completion, the state of the queue pair, counters, memory. Anything else must not happen.

The last column names the section of the InfiniBand architecture, volume 1, or the compliance statement (`C9-...`) where
there is no doubt about it; without one the rule is ours, or its number is not certain. Written by `test/conf/rules.py`.
"""


def places(root):
    """The files of rules in the order of the page."""
    there = sorted(path.name for path in Path(root, FOLDER).glob("*.def"))
    known = [name for name in ORDER if name in there]
    return [Path(root, FOLDER, name) for name in known + [name for name in there if name not in known]]


def read(root):
    """([(section, [(name, reference, sentence)])], findings)."""
    sections, findings, names = [], [], {}
    for path in places(root):
        rule = None
        for number, line in enumerate(tree.lines(path), 1):
            place, words = f"{FOLDER}/{path.name}:{number}", line.strip()
            match = RULE.match(line)
            if words.startswith("== "):
                sections.append((words[3:], []))
            elif match:
                rule = [match.group(1), match.group(2) or "", ""]
                if rule[0] in names:
                    findings.append((place, "a second " + rule[0]))
                names[rule[0]] = rule
                if not sections:
                    findings.append((place, "no section above"))
                    sections.append(("?", []))
                sections[-1][1].append(rule)
            elif words.startswith("= ") and rule:
                rule[2] = words[2:]
            elif words and not words.startswith("#") and words.split()[0] not in STATEMENTS:
                findings.append((place, "no statement: " + words))
    findings += [(FOLDER, name + " says nothing") for name, rule in names.items() if not rule[2]]
    return sections, findings


def page(sections):
    text = [HEAD.format(count=sum(len(rules) for _, rules in sections))]
    for title, rules in sections:
        text.append(f"\n## {title}\n\n| rule | what it says | |\n|---|---|---|\n")
        text += [f"| `{name}` | {words} | {reference} |\n" for name, reference, words in rules]
    return "".join(text)


def check(root):
    sections, findings = read(root)
    there = Path(root, PAGE)
    if not there.is_file() or there.read_text(encoding="utf-8") != page(sections):
        findings.append((PAGE, "not current: run test/conf/rules.py"))
    return findings


def generate(root):
    sections, findings = read(root)
    Path(root, PAGE).write_text(page(sections), encoding="utf-8")
    return findings


RULES = "== A\n\nrule a.b IBTA 9.7\n  = It holds.\n  > SEND_ONLY 0\n  < ACK 0\n"
RIGHT = page([("A", [("a.b", "IBTA 9.7", "It holds.")])])
CASES = [
    ("one rule", {"test/conf/x.def": RULES, PAGE: RIGHT}, None),
    ("a page of yesterday", {"test/conf/x.def": RULES.replace("holds", "held"), PAGE: RIGHT}, "not current"),
    ("no page", {"test/conf/x.def": RULES}, "not current"),
    ("a second one", {"test/conf/x.def": RULES + "rule a.b\n  = Again.\n", PAGE: RIGHT}, "a second a.b"),
    ("no sentence", {"test/conf/x.def": RULES.replace("  = It holds.\n", ""), PAGE: RIGHT}, "a.b says nothing"),
    ("no statement", {"test/conf/x.def": RULES + "  hope 5\n", PAGE: RIGHT}, "no statement: hope 5"),
    ("no section", {"test/conf/x.def": RULES.replace("== A\n", ""), PAGE: RIGHT}, "no section above"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is old")
    parser.add_argument("--self-test", action="store_true", help="prove that the check can fail")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    args = parser.parse_args()
    if args.self_test:
        tree.self_test(check, CASES)
    tree.finish(check(args.root) if args.check else generate(args.root))


if __name__ == "__main__":
    main()
