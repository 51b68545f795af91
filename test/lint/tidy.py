#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tidy: clang-tidy 14 with .clang-tidy over every source of the compile database. Slow, so a suite of its own.

  tidy.py [--self-test] BUILD [FILE...]
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

COMPLAINT = re.compile(r"^(.*?):(\d+):\d+: (?:error|warning): (.*)$")
NOTE = re.compile(r"^.*?: note: (.*)$")

# Where prototypes are DAT's and not ours: only there may a function have more than six parameters.
DAT_PROTOTYPES = ("include/dat/", "lib/libdat/", "lib/front/", "test/")


def tool():
    """clang-tidy 14, or None."""
    for name in ("clang-tidy-14", "clang-tidy"):
        path = shutil.which(name)
        if path and " version 14." in subprocess.run([path, "--version"], capture_output=True, text=True,
                                                     check=True).stdout:
            return path
    return None


def sources(build, root):
    """Our files of a compile database, each once: the front is compiled twice from one source."""
    database = json.loads(Path(build, "compile_commands.json").read_text(encoding="utf-8"))
    paths = {Path(entry["directory"], entry["file"]).resolve() for entry in database}
    build = Path(build).resolve()
    return sorted(p for p in paths if root.resolve() in p.parents and build not in p.parents)


def dictated(place, rule, notes):
    """True for a function whose only fault is a list of parameters that DAT gave it."""
    return (place.startswith(DAT_PROTOTYPES) and "readability-function-size" in rule and notes != []
            and all("parameters (threshold" in note for note in notes))


def small_numbers(place, rule):
    """True for a product that is widened in a test: its factors are constants of a few digits."""
    return place.startswith("test/") and "bugprone-implicit-widening-of-multiplication-result" in rule


def element_size(path, line, rule):
    """True for sizeof(a[0]) of an array of pointers: it says what it means, unlike the slip the rule is after."""
    if "bugprone-sizeof-expression" not in rule:
        return False
    return re.search(r"sizeof\([\w>.-]+\[0\]\)", tree.lines(path)[line - 1]) is not None


def tidy(build, path, root):
    """Findings of one file, as (place, rule)."""
    # Flags that only gcc knows are no finding; everything else is an error by .clang-tidy. The analyzer, which takes more
    # than a third of the time, looks at what runs at users; what tests do wrong in memory, the sanitizers see.
    test = Path(root, "test").resolve() in path.resolve().parents
    run = subprocess.run([tool(), "-p", str(build), "--quiet", "--config-file=" + str(tree.ROOT / ".clang-tidy"),
                          "--extra-arg=-Wno-unknown-warning-option",
                          *(["--checks=-clang-analyzer-*"] if test else []), str(path)],
                         capture_output=True, text=True, check=False)
    complaints = []
    for line in run.stdout.splitlines():
        match, note = COMPLAINT.match(line), NOTE.match(line)
        if match:
            # A relative path is one of the compile database, from the build folder.
            place = os.path.relpath(Path(build, match.group(1)).resolve(), root.resolve())
            complaints.append((place, match.group(2), match.group(3), []))
        elif note and complaints and "expanded from macro" not in note.group(1):
            complaints[-1][3].append(note.group(1))
    if run.returncode and not complaints:
        return {(os.path.relpath(path, root), (run.stderr or run.stdout).strip())}
    return {(f"{place}:{line}", ", ".join([rule, *notes[:1]])) for place, line, rule, notes in complaints
            if not (dictated(place, rule, notes) or small_numbers(place, rule)
                    or element_size(root / place, int(line), rule))}


def check(build, root, names=()):
    wanted = {Path(name).resolve() for name in names}
    paths = [p for p in sources(build, root) if not wanted or p in wanted]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set().union(*pool.map(lambda path: tidy(build, path, root), paths))
    print(f"{len(paths)} files")
    return sorted(found)


SEVEN = ("int f(int a, int b, int c, int d, int e, int g, int h);\nint\n"
         "f(int a, int b, int c, int d, int e, int g, int h)\n{\n\treturn a + b + c + d + e + g + h;\n}\n")
SIZES = ("struct a {{\n\tint b[9];\n}};\nunsigned long f(const struct a *q, struct a **p);\nunsigned long\n"
         "f(const struct a *q, struct a **p)\n{{\n\treturn (p[0] == q) * sizeof({});\n}}\n")
WIDE = "unsigned long f(int a, int b);\nunsigned long\nf(int a, int b)\n{\n\treturn a * b;\n}\n"
CASES = [
    ("clean", "int f(int a);\nint\nf(int a)\n{\n\treturn a + 1;\n}\n", None),
    ("a pointer used after it was found NULL", "int f(const int *a);\nint\nf(const int *a)\n{\n"
     "\tif (a == 0)\n\t\treturn *a;\n\treturn 0;\n}\n", "clang-analyzer"),
    ("the size of a pointer for that of a struct", SIZES.format("q"), "bugprone-sizeof-expression"),
    ("the size of an element", SIZES.format("p[0]"), None),
    ("seven parameters", SEVEN, "readability-function-size"),
]


def check_text(root):
    """The self-test's check: a folder with a compile database made on the spot."""
    database = [{"directory": str(root), "file": str(p), "command": f"cc -c {p}"} for p in tree.files(root, ".c")]
    (root / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
    with tempfile.TemporaryDirectory() as build:
        (root / "compile_commands.json").rename(Path(build, "compile_commands.json"))
        return check(build, root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("build", nargs="?", type=Path)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if tool() is None:
        tree.skip("clang-tidy 14 is not installed (package clang-tidy)")
    if args.self_test:
        cases = [(what, {"lib/dapl/a.c": text}, words) for what, text, words in CASES]
        tree.self_test(check_text, [*cases, ("DAT's parameters", {"lib/front/a.c": SEVEN}, None),
                                    ("a widened product", {"lib/dapl/a.c": WIDE}, "implicit-widening"),
                                    ("a widened product in a test", {"test/a.c": WIDE}, None)])
    if args.build is None:
        parser.error("which build folder?")
    tree.finish(check(args.build, tree.ROOT, args.files))


if __name__ == "__main__":
    main()
