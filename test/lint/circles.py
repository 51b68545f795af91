#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Circles: the files of a folder call and include each other in one direction, but for small groups of them.

  circles.py [--self-test] BUILD

A file points to another when it includes it, or when its object needs a symbol that the other's defines. Files that
can all be reached from each other are a circle: none can be understood, tested or moved without the rest. BUILD
has the objects, and the list of how they are made (compile_commands.json).
"""
import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import tree

FILES_MAX = 4

# folder: files of its largest circle, where that is larger today. A number may only fall.
LARGER = {}

TOPS = ("lib", "pmd_roce")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def objects(root, build):
    """(source below root, object) of what was compiled for the folders. Some sources are compiled more than once."""
    found = []
    for entry in json.loads(Path(build, "compile_commands.json").read_text(encoding="utf-8")):
        source = Path(entry["directory"], entry["file"]).resolve()
        words = shlex.split(entry["command"])
        path = Path(entry["directory"], words[words.index("-o") + 1])
        if Path(root).resolve() in source.parents and path.is_file():
            name = tree.relative(source, root)
            if name.startswith(tuple(top + "/" for top in TOPS)):
                found.append((name, path))
    return found


def add_calls(edges, found):
    defined, needed = {}, {}
    for name, path in found:
        text = subprocess.run(["nm", "-P", "-g", str(path)], capture_output=True, text=True, check=True).stdout
        for symbol, kind, *_ in map(str.split, text.splitlines()):
            if kind == "U":
                needed.setdefault(name, set()).add(symbol)
            elif kind not in "wv":
                defined.setdefault(symbol, name)
    for name, wanted in needed.items():
        edges.setdefault(name, set()).update(defined[s] for s in wanted if s in defined)


def add_includes(edges, root):
    for top in TOPS:
        for path in tree.files(Path(root, top), *tree.C):
            targets = edges.setdefault(tree.relative(path, root), set())
            for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
                there = [p for p in (path.parent / target, *(Path(root, t, target) for t in TOPS)) if p.is_file()]
                targets.update(tree.relative(p, root) for p in there[:1])


def reachable(edges, start, folder):
    """Files of the folder that can be reached from one by at least one step, on ways inside of the folder."""
    seen, todo = set(), [start]
    while todo:
        for target in edges.get(todo.pop(), ()):
            if target not in seen and target.rsplit("/", 1)[0] == folder:
                seen.add(target)
                todo.append(target)
    return seen


def circles(edges, folder):
    """The circles of a folder, each a sorted list of its files, the largest first."""
    names = [name for name in edges if name.rsplit("/", 1)[0] == folder]
    reach = {name: reachable(edges, name, folder) for name in names}
    found = {tuple(sorted({name} | {other for other in reach[name] if name in reach.get(other, ())})) for name in names}
    return sorted((circle for circle in found if len(circle) > 1), key=lambda circle: (-len(circle), circle))


def judge(folder, found, larger):
    """Findings about the circles of one folder."""
    most = larger.get(folder, FILES_MAX)
    findings = [(folder, f"a circle of {len(c)} files, {most} at most: {' '.join(n.rsplit('/', 1)[1] for n in c)}")
                for c in found if len(c) > most]
    largest = max((len(c) for c in found), default=0)
    if folder in larger and largest < most:
        findings.append((folder, f"its largest circle has fallen to {largest} files: "
                                 "say so in LARGER, or take it out of there"))
    return findings


def check(root, build, larger):
    edges, found = {}, objects(root, build)
    if not found:
        tree.skip("nothing of lib and pmd_roce is compiled there")
    add_calls(edges, found)
    add_includes(edges, root)
    findings = []
    # Without DAT's headers some folders are not compiled, and have no calls.
    left_out = {f for f in larger if Path(root, f).is_dir() and not any(n.startswith(f + "/") for n, _ in found)}
    for folder in sorted({name.rsplit("/", 1)[0] for name in edges} | set(larger) - left_out):
        findings += judge(folder, circles(edges, folder), larger)
    return findings


def ring(n, folder):
    """Sources of which each calls the next, and the last the first."""
    return {f"{folder}/f{i}.c": f"int f{(i + 1) % n}(int);\nint f{i}(int a) {{ return a ? f{(i + 1) % n}(a - 1) : 0; }}\n"
            for i in range(n)}


def headers(n, folder):
    return {f"{folder}/h{i}.h": f'#pragma once\n#include "h{(i + 1) % n}.h"\n' for i in range(n)}


LEAF = {"pmd_roce/x/leaf.c": "int leaf(void) { return 1; }\n"}

# (what, files, exceptions, words of a finding or None)
CASES = [
    ("four in a circle", ring(4, "pmd_roce/a"), {}, None),
    ("five in a circle", ring(5, "pmd_roce/a"), {}, "pmd_roce/a: a circle of 5 files, 4 at most: f0.c f1.c f2.c f3.c f4.c"),
    ("five in a chain", {k: v.replace("f0(a - 1)", "0") for k, v in ring(5, "lib/a").items()}, {}, None),
    ("headers in a circle", {**headers(5, "lib/a"), **LEAF}, {}, "lib/a: a circle of 5 files"),
    ("an exception", ring(6, "lib/a"), {"lib/a": 6}, None),
    ("an exception that grows", ring(7, "lib/a"), {"lib/a": 6}, "lib/a: a circle of 7 files, 6 at most"),
    ("an exception that shrinks", ring(5, "lib/a"), {"lib/a": 6}, "lib/a: its largest circle has fallen to 5 files"),
    ("an exception of no folder", LEAF, {"lib/a": 6}, "lib/a: its largest circle has fallen to 0 files"),
    ("through another folder", {k.replace("a/f0", "b/f0"): v for k, v in ring(5, "lib/a").items()}, {}, None),
]


def build(folder, files):
    """Compile the sources, and say how in the way of a build."""
    database = []
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".c":
            command = ["cc", "-O0", "-o", f"{path.parent.name}_{path.stem}.o", "-c", str(path)]
            subprocess.run(command, cwd=folder, check=True)
            database.append({"directory": str(folder), "command": shlex.join(command), "file": str(path)})
    Path(folder, "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")


def self_test():
    wrong = 0
    for what, files, larger, words in CASES:
        with tempfile.TemporaryDirectory() as folder:
            build(folder, files)
            found = [f"{place}: {rule}" for place, rule in check(folder, folder, larger)]
        if not (found == [] if words is None else any(words in line for line in found)):
            wrong += 1
            print(f"self-test: {what}: wanted {words!r}, got {found}")
    print(f"{len(CASES)} self-test cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true", help="prove that the check can fail")
    parser.add_argument("build", nargs="?", type=Path)
    args = parser.parse_args()
    if args.self_test:
        self_test()
    if args.build is None:
        parser.error("BUILD is missing")
    tree.finish(check(tree.ROOT, args.build, LARGER))


if __name__ == "__main__":
    main()
