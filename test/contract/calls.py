#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has every call that libdat exports its row in calls.def? Ends with 1 and the names of those that have none."""
import re
import sys
from pathlib import Path

# name: why not
ELSEWHERE = {
    "dat_registry_list_providers": "judges its arguments in another order, see test_calls.c",
    "dats_get_ia_handle": "of the registry's own, test/unit/test_api.c",
}


def missing(exports, rows):
    called = set(re.findall(r"^CALL\(\w+,\s+(\w+)\(", rows, re.MULTILINE))
    return sorted(set(re.findall(r"^dats?_\w+", exports, re.MULTILINE)) - called - set(ELSEWHERE))


def main():
    if missing("dat_a\ndats_b\n", "CALL(a, dat_a(P(0)), ANY(HANDLE1))\n") != ["dats_b"]:
        sys.exit("calls.py: does not see a missing row")
    names = missing(Path(sys.argv[1]).read_text(), (Path(__file__).parent / "calls.def").read_text())
    for name in names:
        print(f"{name}: no row in calls.def")
    sys.exit(bool(names))


if __name__ == "__main__":
    main()
