#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""calls.py EXPORTS12 SLOTS: has every call that libdat exports, and every one in the table of a provider of DAT 2.0, its
row in calls.def? Ends with 1 and the names of those that have none.
"""
import re
import sys
from pathlib import Path

# name: why not
ELSEWHERE = {
    "dat_registry_list_providers": "judges its arguments in another order, see test_calls.c",
    "dats_get_ia_handle": "of the registry's own, test/unit/test_api.c",
}


# Slots that are called by another name.
NAMES20 = {"dat_ia_open": "dat_ia_openv", "dat_handle_extendedop": "dat_ib_post_cmp_and_swap"}


def of_abi(rows, abi):
    """The rows for one version: what stands under a condition about the other is none."""
    kept, skipping = [], False
    others = ["#if DAT_ABI == 20", "#if DIRECT"] if abi == 12 else ["#if DAT_ABI == 12"]
    for line in rows.splitlines():
        if line.startswith("#if"):
            skipping = line in others
        elif line.startswith("#else"):
            skipping = not skipping
        elif line.startswith("#endif"):
            skipping = False
        elif not skipping:
            kept.append(line)
    return "\n".join(kept)


def missing(names, rows, elsewhere=()):
    called = set(re.findall(r"^CALL\(\w+,\s+(\w+)\(", rows, re.MULTILINE))
    return sorted(set(names) - called - set(elsewhere))


def slots(text):
    names = [f"dat_{name}" for name in re.findall(r"^CALL\((\w+),", text, re.MULTILINE)]
    return [NAMES20.get(name, name) for name in names]


def check_itself():
    rows = "CALL(a, dat_a(P(0)))\n#if DAT_ABI == 12\nCALL(b,\n\tdat_b(P(0)))\n#else\nCALL(c, dat_c(P(0)))\n#endif\n"
    want = {12: ["dat_c"], 20: ["dat_b"]}
    for abi, names in want.items():
        if missing(["dat_a", "dat_b", "dat_c"], of_abi(rows, abi)) != names:
            sys.exit("calls.py: does not see a missing row")


def main():
    check_itself()
    exports, table = (Path(name).read_text() for name in sys.argv[1:])
    rows = (Path(__file__).parent / "calls.def").read_text()
    exported = re.findall(r"^dats?_\w+", exports, re.MULTILINE)
    names = missing(exported, of_abi(rows, 12), ELSEWHERE) + missing(slots(table), of_abi(rows, 20))
    for name in names:
        print(f"{name}: no row in calls.def")
    sys.exit(bool(names))


if __name__ == "__main__":
    main()
