#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/udapl.md that say who has which call name exactly the calls there are, once each.

The first table: what dat/udat.h and the headers beside it declare. The second: what a provider of DAT 2.0 has more than
one of 1.2; without the headers of libdat2 that half is skipped.
"""
import re
import sys
from pathlib import Path

import man
import tree

PAGE = "docs/udapl.md"
HEADERS = ("include/dat/dat.h", "include/dat/udat.h", "include/dat/dat_registry.h")
SLOTS = "include/dat/udat_redirection.h"
SLOTS20 = "usr/include/dat2/udat_redirection.h"
HEAD = re.compile(r"\|\s*call\s*\|.*\bOFED 2\.1\.10\b.*\|")
SLOT = re.compile(r"^\s*DAT_\w+_FUNC\s+(\w+)_func;", re.M)


def tables(text):
    """The tables about OFED, each as a list of (line number, cells)."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if HEAD.fullmatch(line):
            found.append([])
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            found[-1].append((number, [cell.strip() for cell in line.strip("|").split("|")]))
    return found


def slots(text):
    return set(SLOT.findall(re.sub(r"/\*.*?\*/", " ", text, flags=re.S)))


def compare(rows, names, columns):
    seen = {}
    for number, cells in rows:
        name, place = cells[0], f"{PAGE}:{number}"
        if name not in names:
            yield place, f"{name} is no call"
        if name in seen:
            yield place, f"{name} stands in line {seen[name]} already"
        if len(cells) != columns or not all(cells):
            yield place, f"{name}: not {columns} cells with something in each"
        seen.setdefault(name, number)
    for name in sorted(names - seen.keys()):
        yield PAGE, f"{name} has no row"


def check(root, foreign=None):
    """@foreign: where the headers of libdat2 would be, below it usr/include."""
    found = tables(man.text_of(root, PAGE))
    if len(found) != 2:
        return [(PAGE, f"not two tables of calls but {len(found)}")]
    findings = list(compare(found[0], set(man.declared(root, HEADERS)), 5))
    newer = slots(man.text_of(foreign or root, SLOTS20))
    if newer:
        findings += compare(found[1], newer - slots(man.text_of(root, SLOTS)), 3)
    return findings


def world(first="| dat_a | required | yes | yes | no |\n| dat_b | required | yes | yes | no |\n",
          second="| c | yes | no |\n"):
    return {"include/dat/udat.h": "DAT_RETURN dat_a(IN int x);\n#define dat_b(x, y) \\\n\tdat_a((x))\n",
            SLOTS: "\tDAT_A_FUNC a_func; /* DAT_D_FUNC d_func; */\n",
            SLOTS20: "    DAT_A_FUNC  a_func;\n    DAT_C_FUNC  c_func;\n",
            PAGE: "| call | standard | here | OFED 2.1.10 | illumos 1.2 |\n|---|---|---|---|---|\n" + first +
                  "\n| call | notes |\n|---|---|\n| dat_e | other table |\n"
                  "\n| call | here | OFED 2.1.10 |\n|---|---|---|\n" + second}


CASES = [
    ("both tables", world(), None),
    ("a call without a row", world(first="| dat_a | required | yes | yes | no |\n"), "dat_b has no row"),
    ("a row without a call", world(first=world()[PAGE].split("\n", 2)[2].split("\n\n")[0] +
                                   "\n| dat_f | required | yes | yes | no |\n"), "udapl.md:5: dat_f is no call"),
    ("twice", world(second="| c | yes | no |\n| c | yes | no |\n"), "c stands in line"),
    ("an empty cell", world(second="| c | yes | |\n"), "c: not 3 cells"),
    ("a slot of 1.2", world(second="| c | yes | no |\n| a | yes | no |\n"), "a is no call"),
    ("a slot without a row", world(second=""), "c has no row"),
    ("no tables", {PAGE: "nothing\n"}, "not two tables"),
]

if __name__ == "__main__":
    if "--self-test" not in sys.argv and not Path("/", SLOTS20).is_file() and not check(tree.ROOT):
        tree.skip("the headers of libdat2 are missing (package libdapl-dev); the table of DAT 1.2 was checked")
    sys.exit(tree.main(lambda root: check(root, Path("/") if root == tree.ROOT else None), CASES))
