#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: every public function has one, its synopsis is the header's prototype, every page is installed
and renders without a warning.

A second name of a page is a file of one line, `.so man3/first_name.3`.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tree

HEADERS = ("include/dat/dat.h", "include/dat/udat.h", "include/dat/dat_registry.h",
           "include/dat/dat_ib_extensions.h", "include/roce/dat_ep.h")
PAGES = "docs/man"

# Declared, or defined in the header.
PROTOTYPE = re.compile(r"^(?:static inline )?(DAT_RETURN)\s+((?:dats?|roce)_\w+)\(([^;{]*)\)(?:;|\s*\{)", re.M)
CALL_MACRO = re.compile(r"^#define (dats?_\w+)\(([^)]*)\)", re.M)
ALIAS = re.compile(r"^\.so man\d/(\S+)$")
PAGE = re.compile(r"^\S+\.[1-9]$")
WORDS = re.compile(r'"([^"]*)"|(\S+)')


def normal(argument):
    """An argument without direction and spelling: the headers write *(list[]), a page *list[]."""
    return re.sub(r"\b(?:IN|OUT|INOUT)\b|[\s()]", "", argument)


def text_of(root, name):
    path = root / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def declared(root):
    """{function: (return type, arguments)}, and the same of macros that look like functions (no return type)."""
    found = {}
    for name in HEADERS:
        text = re.sub(r"/\*.*?\*/", " ", text_of(root, name), flags=re.S)
        for match in PROTOTYPE.finditer(text):
            found[match.group(2)] = (match.group(1), [normal(a) for a in match.group(3).split(",")])
        for match in CALL_MACRO.finditer(text):
            found[match.group(1)] = (None, [normal(a) for a in match.group(2).split(",")])
    return found


def section(lines, title):
    """The lines of one section of a page, with their numbers."""
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith(".Sh "):
            inside = line == ".Sh " + title
        elif inside:
            yield number, line


def prototypes(lines):
    """(line number, function, return type, arguments) of each function in a synopsis."""
    returns, opened = None, None
    for number, line in section(lines, "SYNOPSIS"):
        words = [quoted or plain for quoted, plain in WORDS.findall(line)] or [""]
        if words[0] == ".Ft":
            returns = " ".join(words[1:])
        elif words[0] == ".Fn":
            yield number, words[1], returns, [normal(a) for a in words[2:]]
            returns = None
        elif words[0] == ".Fo":
            opened = (number, words[1], returns, [])
        elif words[0] == ".Fa" and opened:
            opened[3].extend(normal(a) for a in words[1:])
        elif words[0] == ".Fc" and opened:
            yield opened
            returns, opened = None, None


def judge_synopsis(name, lines, functions):
    names = {line.split()[1] for _, line in section(lines, "NAME") if line.startswith(".Nm ")}
    shown = set()
    for number, function, returns, arguments in prototypes(lines):
        shown.add(function)
        if function not in functions:
            yield f"{name}:{number}", f"no header declares {function}"
        elif functions[function] != (returns, arguments):
            yield f"{name}:{number}", f"the header declares {function} otherwise"
        if function not in names:
            yield f"{name}:{number}", f"{function} does not stand in the section NAME"
    for function in sorted(names & functions.keys() - shown):
        yield f"{name}:1", f"the synopsis lacks {function}"


def judge_references(name, lines, pages):
    """Only pages of ours can be known to exist."""
    for number, line in enumerate(lines, 1):
        words = line.split()
        if words[:1] == [".Xr"] and re.match(r"dat|udapl|roce", words[1]) and f"{words[1]}.{words[2]}" not in pages:
            yield f"{name}:{number}", f"there is no page {words[1]}.{words[2]}"


def judge_page(name, lines, functions, pages):
    alias = ALIAS.match(lines[0]) if len(lines) == 1 else None
    if alias is None:
        yield from judge_synopsis(name, lines, functions)
        yield from judge_references(name, lines, pages)
    elif f".Nm {Path(name).stem}" not in [line.rstrip(" ,") for line in pages.get(alias.group(1), [])]:
        yield f"{name}:1", f"{alias.group(1)} is no page with this name"


def render(path):
    """The first warning of the formatter, or None."""
    run = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", "-K", "utf8", "-z", str(path)], capture_output=True,
                         text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
    return run.stderr.splitlines()[0] if run.stderr.strip() else None


def render_all(root, pages):
    whole = [name for name in sorted(pages) if not ALIAS.match((pages[name] or [""])[0])]
    with ThreadPoolExecutor(2) as pool:
        warnings = pool.map(lambda name: render(root / PAGES / name), whole)
        return [(f"{PAGES}/{name}:1", "groff: " + warning) for name, warning in zip(whole, warnings) if warning]


def check(root):
    functions = declared(root)
    pages = {path.name: tree.lines(path) for path in tree.files(root / PAGES) if PAGE.match(path.name)}
    installed = text_of(root, PAGES + "/meson.build")
    findings = [(PAGES, f"{function} has no page") for function, (returns, _) in sorted(functions.items())
                if returns and f"{function}.3" not in pages]
    for name, lines in pages.items():
        findings += judge_page(f"{PAGES}/{name}", lines, functions, pages)
        if f"'{name}'" not in installed:
            findings.append((f"{PAGES}/meson.build", f"{name} is not installed"))
    if shutil.which("groff"):
        findings += render_all(root, pages)
    return findings


HEADER = {"include/dat/dat.h": "DAT_RETURN dat_a(IN int x, OUT int *(y[]));\n",
          "include/dat/udat.h": "/** DAT_RETURN dat_no(void); */\nDAT_RETURN\ndat_b(IN int x);\n"
                                "#define dat_c(x, y) \\\n\tdat_b((x))\n"}
INSTALL = "install_man('dat_a.3', 'dat_b.3')\n"


def page(name="dat_a", more=("dat_b",), synopsis='.Ft DAT_RETURN\n.Fn dat_a "int x" "int *y[]"\n', tail=""):
    names = "".join(f".Nm {n} ,\n" for n in (name, *more[:-1]) if more) + f".Nm {(name, *more)[-1]}\n"
    return (".Dd November 2026\n.Dt DAT_A 3\n.Os x\n.Sh NAME\n" + names + ".Nd nothing\n.Sh SYNOPSIS\n" + synopsis +
            '.Ft DAT_RETURN\n.Fo dat_b\n.Fa "int x"\n.Fc\n.Sh DESCRIPTION\nNothing.\n' + tail)


def world(first=None, second=".so man3/dat_a.3\n", install=INSTALL):
    return {**HEADER, "docs/man/dat_a.3": first or page(), "docs/man/dat_b.3": second, "docs/man/meson.build": install}


CASES = [
    ("a page and a second name", world(), None),
    ("a macro", world(page(more=("dat_b", "dat_c"),
                           synopsis='.Fn dat_c x y\n.Ft DAT_RETURN\n.Fn dat_a "int x" "int *y[]"\n')), None),
    ("no page", {**HEADER}, "dat_b has no page"),
    ("another argument", world(page(synopsis='.Ft DAT_RETURN\n.Fn dat_a "long x" "int *y[]"\n')), "dat_a.3:10: the header"),
    ("another result", world(page(synopsis='.Ft void\n.Fn dat_a "int x" "int *y[]"\n')), "dat_a.3:10: the header"),
    ("another name", world(page(synopsis='.Ft DAT_RETURN\n.Fn dat_d "int x"\n')), "no header declares dat_d"),
    ("no synopsis", world(page(synopsis="")), "the synopsis lacks dat_a"),
    ("not in NAME", world(page(more=())), "dat_b does not stand"),
    ("a second name of another page", world(page(more=()), ".so man3/dat_a.3\n"), "dat_b.3:1: dat_a.3 is no page"),
    ("a dead reference", world(page(tail=".Sh SEE ALSO\n.Xr dat_e 3\n")), "there is no page dat_e.3"),
    ("not installed", world(install="install_man('dat_a.3')\n"), "dat_b.3 is not installed"),
]
RENDERED = [("a list that is not closed", world(page(tail=".Bl -bullet\n.It\nx\n.Sh SEE ALSO\n.Xr ls 1\n")), "groff: ")]

if __name__ == "__main__":
    groff = shutil.which("groff") is not None
    if not groff and "--self-test" not in sys.argv and not check(tree.ROOT):
        tree.skip("groff is not installed (package groff-base); all but the rendering was checked")
    sys.exit(tree.main(check, CASES + (RENDERED if groff else [])))
