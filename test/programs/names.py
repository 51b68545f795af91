#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A library that takes the place of another has each of its names, by the same default version, and no other one.

  names.py INSTALLED OURS
"""
import re
import subprocess
import sys

LINE = re.compile(r"^[0-9a-f]+ .{7}\s*\S+\s+[0-9a-f]+\s+([A-Z]\S+)\s+(\S+)$")


def names(library):
    text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    found = (LINE.match(line) for line in text.splitlines() if "*UND*" not in line)
    return {match.groups() for match in found if match}


def main():
    installed, ours = (names(path) for path in sys.argv[1:])
    for version, name in sorted(installed - ours):
        print(f"missing: {name} of {version}")
    for version, name in sorted(ours - installed):
        print(f"one too many: {name} of {version}")
    print(f"{len(installed)} names")
    sys.exit(not installed or installed != ours)


if __name__ == "__main__":
    main()
