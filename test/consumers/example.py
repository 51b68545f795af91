#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compile examples of the documentation as their readers would: with what is installed, found by pkg-config.

  example.py MESON BUILD PREFIX WORK C_COMPILER PACKAGE SOURCE...

Installs BUILD into WORK, and makes of each SOURCE, without a word of this tree's build, a program in WORK. Those on dat
are NAME. Those on roce are two, NAME-shared with the shared library and NAME-static with libroce and DPDK inside.
Prints the folder of the shared library.
"""
import shutil
import sys
from pathlib import Path

from consumers import WARNINGS, Installed, needs, run

# DPDK's own headers want what is beyond C11 and pedantic about nothing.
STRICT = {"dat": WARNINGS, "roce": [flag for flag in WARNINGS if flag != "-Wpedantic"]}
KINDS = {"dat": {"": False}, "roce": {"-shared": False, "-static": True}}


def compile_example(source, package, compiler, installed, work):
    for suffix, static in KINDS[package].items():
        program = work / f"{source.stem}{suffix}"
        run([*compiler, "-O2", *STRICT[package], "-o", program, work / source.name,
             *installed.flags(package, "--cflags", "--libs", *["--static"] * static)])
        if needs(f"lib{package}", program) == static:
            sys.exit(f"{program} is linked with the other lib{package}")


def main():
    meson, build, prefix, work = sys.argv[1], *(Path(arg) for arg in sys.argv[2:5])
    compiler, package = sys.argv[5].split(","), sys.argv[6]
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    installed = Installed(meson, build, prefix, work)
    for source in map(Path, sys.argv[7:]):
        shutil.copy(source, work)
        compile_example(source, package, compiler, installed, work)
    print(installed.libdir)


if __name__ == "__main__":
    main()
