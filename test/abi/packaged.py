#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The symbols that a Debian package promises are those that its library exports: packaged.py SYMBOLS VERSION LIST

SYMBOLS is debian/PACKAGE.symbols, LIST as for exports.py. dpkg-gensymbols would find out when the package is built.
"""
import re
import sys
from pathlib import Path

symbols, version, names = sys.argv[1:]
wanted = {f"{name}@{at or version}" for name, _, at in
          (line.partition("@") for line in Path(names).read_text(encoding="utf-8").split())
          if not at.endswith("_INTERNAL")} | {f"{version}@{version}"}
found = set(re.findall(r"^ (\w\S*@\S+) ", Path(symbols).read_text(encoding="utf-8"), re.MULTILINE))
findings = [f"{symbols} lacks {name}" for name in sorted(wanted - found)]
findings += [f"{symbols} has {name}, which is not exported" for name in sorted(found - wanted)]
print("\n".join(findings) or f"{len(found)} symbols")
sys.exit(1 if findings else 0)
