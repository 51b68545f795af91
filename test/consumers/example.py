#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compile the example of the documentation as its reader would: with what is installed, found by pkg-config.

  example.py MESON BUILD PREFIX WORK SOURCE C_COMPILER

Installs BUILD into WORK, and makes of SOURCE, without a word of this tree's build, a program with the shared library
and one with libroce and DPDK inside, in WORK: NAME-shared and NAME-static. Prints the folder of the shared library.
"""
import shutil
import sys
from pathlib import Path

from consumers import WARNINGS, Installed, needs, run


def compile_example(source, compiler, installed, work):
    # DPDK's own headers want what is beyond C11 and pedantic about nothing.
    warnings = [flag for flag in WARNINGS if flag != "-Wpedantic"]
    for static in (False, True):
        program = work / f"{source.stem}-{'static' if static else 'shared'}"
        run([*compiler, "-O2", *warnings, "-o", program, work / source.name,
             *installed.flags("roce", "--cflags", "--libs", *["--static"] * static)])
        if needs("roce", program) == static:
            sys.exit(f"{program} is linked with the other libroce")


def main():
    meson, build, prefix, work, source = sys.argv[1], *(Path(arg) for arg in sys.argv[2:6])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    shutil.copy(source, work)
    installed = Installed(meson, build, prefix, work)
    compile_example(source, sys.argv[6].split(","), installed, work)
    print(installed.libdir)


if __name__ == "__main__":
    main()
