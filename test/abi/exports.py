#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a shared library shows: exports.py LIBRARY SONAME VERSION LIST [NEEDS]

LIST has one name a line. The library exports exactly these, all with the symbol version VERSION or the one behind
the name's @ (there, a fingerprint may follow), is called SONAME, and needs nothing but libc, what a sanitizer brings along,
and libraries that the expression NEEDS names.
"""
import re
import subprocess
import sys

library, soname, version, names, *more = sys.argv[1:]
ALLOWED_NEEDS = re.compile("|".join([r"lib(c|asan|ubsan|tsan)\.so\.\d+|ld-linux.*", *more]))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


findings = []
with open(names, encoding="utf-8") as f:
    wanted = dict((name, at or version) for name, _, at in (line.partition("@") for line in f.read().split()))
found = {}
for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
    kind, symbol = line.split()[-2:]
    name, _, at = symbol.partition("@@")
    if kind != "A":
        found[name] = re.sub(r"_[0-9a-f]{8}$", "", at)
findings += [f"{name} is not exported" for name in sorted(wanted.keys() - found.keys())]
findings += [f"{name} is exported" for name in sorted(found.keys() - wanted.keys())]
findings += [f"{name} has the version {at!r}" for name, at in sorted(found.items())
             if at != wanted.get(name, at)]

dynamic = run("readelf", "-d", "-W", library)
findings += [f"soname is {s}" for s in re.findall(r"\(SONAME\).*\[(.*)\]", dynamic) if s != soname]
findings += [f"needs {s}" for s in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) if not ALLOWED_NEEDS.fullmatch(s)]

print("\n".join(findings) or f"{len(wanted)} symbols of {version}")
sys.exit(1 if findings else 0)
