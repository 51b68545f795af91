#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judge what a tool of dapl2-utils printed: judge_tool.py FILE WORDS

The tools end with 0 whatever happened, and some say PASS where they failed: the sentence of the end must be there, and
no line of trouble. The last line of FILE is "ends with STATUS". Prints the reason when it is bad, and ends with 1.
"""
import re
import sys

TROUBLE = re.compile(r"ERR|\bErr\b|[Ee]rror|FAIL|[Mm]ismatch|[Pp]roblem|Could not open|had to be ended|unexpected")


def fault(said, words):
    """Why this output is bad, or empty."""
    for line in said.splitlines():
        if TROUBLE.search(line):
            return line.strip()
    if "ends with 0" not in said:
        return "it does not end with 0"
    return "" if words in said else f"'{words}' is missing"


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        why = fault(file.read(), sys.argv[2])
    if why:
        print(why)
    return why != ""


if __name__ == "__main__":
    sys.exit(main())
