#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each DAT header alone, as strict C and C++, twice in one source: headers_alone.py INCLUDE_DIR C|C++ COMPILER..."""
import os
import subprocess
import sys

include, language, *compiler = sys.argv[1:]
FLAGS = {"C": ["-x", "c", "-std=c99"], "C++": ["-x", "c++", "-std=c++11"]}[language]
WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", include]

headers = sorted(os.listdir(os.path.join(include, "dat")))
headers = [h for h in headers if h.endswith(".h")]
bad = 0
for header in headers:
    source = f"#include <dat/{header}>\n" * 2 + "extern int alone;\n"
    run = subprocess.run([*compiler, *FLAGS, *WARN, "-"], input=source, text=True, check=False)
    bad += run.returncode != 0
print(f"{len(headers)} headers as {language}, {bad} do not compile alone")
sys.exit(1 if bad or not headers else 0)
