#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Headers: each compiles alone, so that no file depends on the order of its includes.

  headers.py [--self-test] [--root DIR] [--cxx] -- COMPILER [FLAG...]

With --cxx only the public headers (include/), as C++98 and C++11; without, every header as gnu11, the public ones
as C89 and strict C99.
"""
import argparse
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

WARN = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
C_WARN = ["-Wmissing-prototypes", "-Wstrict-prototypes"]
# The front is one source for two ABIs; on its own it needs to be told which.
ABI = ["-DDAT_ABI=12"]


def jobs(root, cxx):
    """(header, language flags) of all that is to be compiled."""
    for path in tree.files(root, ".h"):
        name = tree.relative(path, root)
        if name.startswith("include/"):
            if cxx:
                # Only their fixed-width integers are newer than C++98.
                yield name, ["-x", "c++", "-std=c++98", "-pedantic", "-Wno-long-long", *WARN]
                yield name, ["-x", "c++", "-std=c++11", "-pedantic", *WARN]
            else:
                yield name, ["-x", "c", "-std=c89", "-pedantic", "-Wno-long-long", *WARN, *C_WARN]
                yield name, ["-x", "c", "-std=c99", "-pedantic", *WARN, *C_WARN]
        elif not cxx:
            yield name, ["-x", "c", "-std=gnu11", "-D_GNU_SOURCE", *ABI, *WARN, *C_WARN]


def compile_alone(root, name, flags, compiler):
    """The compiler's first complaint as a finding, or None."""
    where = ["-I" + str(root / d) for d in ("include", "pmd_roce", "lib", "apps", "test")]
    where.append("-I" + str((root / name).parent))
    # Included twice, so that a missing guard shows too; a header of macros alone is no translation unit.
    source = f'#include "{(root / name).resolve()}"\n' * 2 + "extern int alone;\n"
    run = subprocess.run([*compiler, *flags, *where, "-fsyntax-only", "-"], input=source, capture_output=True,
                         text=True, check=False)
    if run.returncode == 0:
        return None
    first = next((line for line in run.stderr.splitlines() if "error" in line), run.stderr.strip())
    return name, f"does not compile alone as {flags[1]} {flags[2]}: {first}"


def check(root, compiler, cxx):
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda job: compile_alone(root, *job, compiler), jobs(root, cxx))
    return [finding for finding in found if finding]


CASES = [
    ("complete", {"include/dat/a.h": "#ifndef A_H\n#define A_H\n#include <stdint.h>\nuint8_t f(void);\n#endif\n"},
     None),
    ("leans on another include", {"pmd_roce/wire/a.h": "uint8_t roce_f(void);\n"}, "wire/a.h: does not compile"),
    ("no guard", {"lib/dapl/a.h": "struct a { int b; };\n"}, "lib/dapl/a.h"),
    ("newer than C99", {"include/dat/a.h": "struct a { int c; struct { int b; }; };\n"}, "include/dat/a.h"),
    ("an old-style prototype", {"lib/dapl/a.h": "int f();\n"}, "lib/dapl/a.h"),
]
CXX_CASES = [
    ("a C++ word as a name", {"include/dat/a.h": "#ifndef A_H\n#define A_H\nvoid f(int class);\n#endif\n"}, "a.h"),
    ("newer than C++98", {"include/roce/a.h": "#ifndef A_H\n#define A_H\nenum a {\n\tA,\n};\n#endif\n"},
     "include/roce/a.h"),
    ("private ones are left alone", {"lib/dapl/a.h": "void f(int class);\n"}, None),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--root", default=tree.ROOT, type=Path)
    parser.add_argument("--cxx", action="store_true")
    parser.add_argument("compiler", nargs="+")
    args = parser.parse_args()
    if args.self_test:
        tree.self_test(lambda root: check(root, args.compiler, args.cxx), CXX_CASES if args.cxx else CASES)
    tree.finish(check(args.root, args.compiler, args.cxx))


if __name__ == "__main__":
    main()
