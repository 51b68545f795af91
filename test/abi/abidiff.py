#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The binary interface of a library against the one that is kept: abidiff.py [--renew] LIBRARY KEPT HEADERS...

KEPT is what libabigail's abidw says of the library's exported functions and of the types that they lead to, as far as
one of the folders HEADERS declares them. Ends with 1 and abidiff's report when a program that was compiled before could
notice: something is gone, or has another type, size, place or number. What is new at the end of nothing old may be new.
--renew writes KEPT. abidiff.py --self-test COMPILER... shows that all this is noticed.
"""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
# The text depends neither on the machine that wrote it nor on where in a file a declaration stands.
WRITE = ("--exported-interfaces-only", "--drop-private-types", "--drop-undefined-syms", "--no-architecture",
         "--no-comp-dir-path", "--no-corpus-path", "--no-elf-needed", "--no-parameter-names", "--no-show-locs",
         "--no-write-default-sizes", "--type-id-style", "hash")



def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def describe(library, headers):
    """What KEPT would be for this library."""
    folders = [word for folder in headers for word in ("--headers-dir", str(folder))]
    done = run("abidw", *WRITE, *folders, str(library))
    if done.returncode != 0:
        sys.exit(f"abidw ends with {done.returncode}: {done.stdout}")
    return done.stdout


def compare(kept, now):
    """What changed from the file to the description, in words; nothing when all that was there is as it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "now.abi")
        path.write_text(now, encoding="utf-8")
        # Of both descriptions what is private was left out already.
        done = run("abidiff", "--no-show-locs", "--no-added-syms", str(kept), str(path))
    return (done.stdout or f"abidiff ends with {done.returncode}\n") if done.returncode != 0 else ""


HEADER = ("struct hidden;\nstruct s { int a; long b; struct hidden *h; };\nenum e { ONE = 1, TWO };\n"
          "int f(struct s *s, enum e e);\nint g(void);\n")
SOURCE = ('#include "x.h"\nstruct hidden { int a; };\n'
          "int f(struct s *s, enum e e) { return s->a + (int)e + s->h->a; }\nint g(void) { return 0; }\n")
# Changes to header and source, and whether a program of the old header could notice them.
CASES = [
    ("nothing", "", "", False),
    ("a member more", "long b;", "long b; int c;", True),
    ("members in another order", "int a; long b;", "long b; int a;", True),
    ("another number", "ONE = 1", "ONE = 2", True),
    ("another argument", "enum e e)", "long e)", True),
    ("a function gone", "int g(void)", "static int g(void)", True),
    ("a function more", "int g(void) {", "int k(void) { return 0; }\nint g(void) {", False),
    ("a type that nobody sees", "struct hidden { int a; }", "struct hidden { int a; int b; }", False),
]


def self_test(compiler):
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        include = folder / "include"
        include.mkdir()
        for number, (what, old, new, noticed) in enumerate(CASES):
            (include / "x.h").write_text(HEADER.replace(old, new) if old else HEADER, encoding="utf-8")
            source = folder / "x.c"
            source.write_text(SOURCE.replace(old, new) if old else SOURCE, encoding="utf-8")
            subprocess.run([*compiler, "-g", "-w", "-shared", "-fPIC", f"-I{include}", "-o", f"{folder}/x.so", source],
                           check=True)
            now = describe(folder / "x.so", [include])
            if number == 0:
                (folder / "x.abi").write_text(now, encoding="utf-8")
            report = compare(folder / "x.abi", now)
            if bool(report) != noticed:
                wrong += 1
                print(f"self-test: {what}: {report or 'not noticed'}")
    print(f"{len(CASES)} self-test cases, {wrong} wrong")
    return bool(wrong)


def main(arguments):
    if not shutil.which("abidiff"):
        print("abidiff is missing (package abigail-tools)")
        return SKIP
    if arguments[0] == "--self-test":
        return self_test(arguments[1:])
    rewrite = arguments[0] == "--renew"
    library, kept, *headers = arguments[rewrite:]
    if ".debug_info" not in run("readelf", "-S", "-W", library).stdout:
        print(f"{Path(library).name} has no debug information to compare; meson setup -Dbuildtype=debugoptimized makes it")
        return SKIP
    now = describe(library, headers)
    if rewrite:
        Path(kept).write_text(now, encoding="utf-8")
    report = compare(kept, now)
    if "incompatible format version" in report:
        print(f"this libabigail writes another format than that of {Path(kept).name}, and compares only its own")
        return SKIP
    print(report or f"{Path(library).name} is as {Path(kept).name} says")
    return bool(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
