#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: every public function has one, its synopsis is the header's prototype, every page is installed,
stands in the overview, and renders without a warning; what apropos(1) reads of it makes a line.

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
           "include/dat/dat_ib_extensions.h", "include/dat/dat_error.h")
FOLDER = "include/roce"  # whatever is there
PAGES = "docs/man"
OVERVIEW = "udapl-roce.7"

# Declared, or defined in the header; the result is of any type, perhaps on a line of its own.
PROTOTYPE = re.compile(r"^(?:static (?:inline|__inline__) )?([A-Za-z_][\w ]*?(?: \*+)?)\s*\b((?:dats?|roce)_\w+)"
                       r"\(([^;{]*)\)(?:;|\s*\{)", re.M)
CALL_MACRO = re.compile(r"^#define (dats?_\w+|DAT_(?:GET|IS)_\w+)\(([^)]*)\)", re.M)
ALIAS = re.compile(r"^\.so man\d/(\S+)$")
PAGE = re.compile(r"^\S+\.[1-9]$")
WORDS = re.compile(r'"([^"]*)"|(\S+)')
LINT_LEVEL = re.compile(r": (?:STYLE|WARNING|ERROR|UNSUPP): ")


def normal(argument):
    """An argument without direction and spelling: the headers write *(list[]), a page *list[]."""
    return re.sub(r"\b(?:IN|OUT|INOUT)\b|[\s()]", "", argument)


def text_of(root, name):
    path = root / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def public(root):
    """The headers of the calls that a program may use."""
    return (*HEADERS, *(tree.relative(path, root) for path in tree.files(root / FOLDER, ".h")))


def declared(root, headers):
    """{function: (return type, arguments)}, and the same of macros that look like functions (no return type)."""
    found = {}
    for name in headers:
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
        if words[:1] == [".Xr"] and re.match(r"dat|DAT_|udapl|roce", words[1]) and f"{words[1]}.{words[2]}" not in pages:
            yield f"{name}:{number}", f"there is no page {words[1]}.{words[2]}"


def judge_name(name, lines, pages):
    """What apropos(1) shows: "name, name - words"; each name finds the page."""
    head = [line for _, line in section(lines, "NAME")]
    names = [line.split()[1] for line in head if line.startswith(".Nm ")]
    words = [line[4:] for line in head if line.startswith(".Nd ")]
    if len(words) != 1 or len(names) + 1 != len(head) or not head[-1].startswith(".Nd "):
        yield f"{name}:1", "the section NAME is not names and one line .Nd"
        return
    if words[0].endswith(".") or words[0][:1].isupper() or len(words[0]) > 70:
        yield f"{name}:1", f"'{words[0]}' is no short phrase in lower case without an end"
    for line in head[:-2]:
        if not line.endswith(" ,"):
            yield f"{name}:1", f"no comma behind {line}"
    for other in names:
        if f"{other}{Path(name).suffix}" not in pages:
            yield f"{name}:1", f"there is no page {other}{Path(name).suffix} for a name of this one"


def judge_overview(pages):
    """The overview leads to every page, second names too."""
    shown = {tuple(line.split()[1:3]) for line in pages.get(OVERVIEW, []) if line.startswith(".Xr ")}
    for name in sorted(pages.keys() - {OVERVIEW}):
        if (Path(name).stem, Path(name).suffix[1:]) not in shown:
            yield f"{PAGES}/{OVERVIEW}", f"{name} is not mentioned"


def judge_page(name, lines, functions, pages):
    alias = ALIAS.match(lines[0]) if len(lines) == 1 else None
    if alias is None:
        yield from judge_name(name, lines, pages)
        yield from judge_synopsis(name, lines, functions)
        yield from judge_references(name, lines, pages)
    elif f".Nm {Path(name).stem}" not in [line.rstrip(" ,") for line in pages.get(alias.group(1), [])]:
        yield f"{name}:1", f"{alias.group(1)} is no page with this name"


def render(path):
    """The first warning of the formatter, or None."""
    run = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", "-K", "utf8", "-z", str(path)], capture_output=True,
                         text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
    return run.stderr.splitlines()[0] if run.stderr.strip() else None


def mandoc(path):
    """The first finding of the other formatter, of style too, or None. A page that is not installed here is no fault of
    this one."""
    run = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(path)], capture_output=True, text=True, check=False)
    return next((line.split(": ", 2)[-1] for line in run.stdout.splitlines()
                 if LINT_LEVEL.search(line) and "referenced manual not found" not in line), None)


def render_all(root, pages, words, formatter):
    whole = [name for name in sorted(pages) if not ALIAS.match((pages[name] or [""])[0])]
    with ThreadPoolExecutor(2) as pool:
        for name, warning in zip(whole, pool.map(lambda name: formatter(root / PAGES / name), whole)):
            if warning:
                yield f"{PAGES}/{name}:1", f"{words}: {warning}"


def check(root):
    functions = declared(root, public(root))
    pages = {path.name: tree.lines(path) for path in tree.files(root / PAGES) if PAGE.match(path.name)}
    installed = text_of(root, PAGES + "/meson.build")
    findings = [(PAGES, f"{function} has no page") for function in sorted(functions) if f"{function}.3" not in pages]
    findings += judge_overview(pages)
    for name, lines in pages.items():
        findings += judge_page(f"{PAGES}/{name}", lines, functions, pages)
        if f"'{name}'" not in installed:
            findings.append((f"{PAGES}/meson.build", f"{name} is not installed"))
    for words, formatter in (("groff", render), ("mandoc", mandoc)):
        if shutil.which(words):
            findings += render_all(root, pages, words, formatter)
    return findings


HEADER = {"include/dat/dat.h": "DAT_RETURN dat_a(IN int x, OUT int *(y[]));\n",
          "include/dat/udat.h": "/** DAT_RETURN dat_no(void); */\nDAT_RETURN\ndat_b(IN int x);\n"}
ROCE = {"include/roce/c.h": "struct roce_c;\nstruct roce_s {\n\tint (*roce_no)(int x);\n};\n"
                            "struct roce_c *roce_c(const struct roce_s *s);\nuint16_t\nroce_d(void);\n"}
MACRO = {"include/dat/dat_error.h": "#define DAT_GET_C(x, y) \\\n\tdat_b((x))\n"}
SECOND = ".so man3/dat_a.3\n"


def page(name="dat_a", more=("dat_b",), synopsis='.Ft DAT_RETURN\n.Fn dat_a "int x" "int *y[]"\n', tail="",
         words=".Nd nothing\n"):
    names = "".join(f".Nm {n} ,\n" for n in (name, *more[:-1]) if more) + f".Nm {(name, *more)[-1]}\n"
    return (".Dd November 28, 2026\n.Dt DAT_A 3\n.Os x\n.Sh NAME\n" + names + words + ".Sh SYNOPSIS\n" + synopsis +
            '.Ft DAT_RETURN\n.Fo dat_b\n.Fa "int x"\n.Fc\n.Sh DESCRIPTION\nNothing.\n' + tail)


def world(first=None, second=SECOND, **more):
    """Pages, an overview of all of them but @missing, and what installs them but @left; more files by their names."""
    pages = {"dat_a.3": first or page(), "dat_b.3": second, **more.get("pages", {})}
    shown = " ,\n".join(f".Xr {name[:-2]} 3" for name in pages if name != more.get("missing"))
    pages["udapl-roce.7"] = (".Dd November 28, 2026\n.Dt UDAPL-ROCE 7\n.Os x\n.Sh NAME\n.Nm udapl-roce\n.Nd words\n"
                             ".Sh DESCRIPTION\n" + shown + "\n")
    install = ", ".join(f"'{name}'" for name in pages if name != more.get("left"))
    return {**HEADER, **more.get("files", {}), **{f"docs/man/{name}": text for name, text in pages.items()},
            "docs/man/meson.build": f"install_man({install})\n"}


def macro(**more):
    return world(page(more=("dat_b", "DAT_GET_C"),
                      synopsis='.Fn DAT_GET_C x y\n.Ft DAT_RETURN\n.Fn dat_a "int x" "int *y[]"\n'),
                 files=MACRO, **more)


def roce(result="struct roce_c *", **more):
    """Calls of the transport, whose results are of all types."""
    synopsis = f'.Ft {result}\n.Fn roce_c "const struct roce_s *s"\n.Ft uint16_t\n.Fn roce_d void\n'
    return world(page(more=("dat_b", "roce_c", "roce_d"),
                      synopsis=synopsis + '.Ft DAT_RETURN\n.Fn dat_a "int x" "int *y[]"\n'), files=ROCE, **more)


CASES = [
    ("a page and a second name", world(), None),
    ("a macro", macro(pages={"DAT_GET_C.3": SECOND}), None),
    ("a macro without a page", macro(), "DAT_GET_C has no page"),
    ("a name without a page", macro(), "no page DAT_GET_C.3 for a name"),
    ("no page", {**HEADER}, "dat_b has no page"),
    ("calls of the transport", roce(pages={"roce_c.3": SECOND, "roce_d.3": SECOND}), None),
    ("a pointer without a page", roce(pages={"roce_d.3": SECOND}), "roce_c has no page"),
    ("a number without a page", roce(pages={"roce_c.3": SECOND}), "roce_d has no page"),
    ("another pointer", roce("const struct roce_c *", pages={"roce_c.3": SECOND, "roce_d.3": SECOND}),
     "declares roce_c otherwise"),
    ("a call of the transport not shown", {**world(page(more=("dat_b", "roce_d")), pages={"roce_d.3": SECOND}), **ROCE},
     "the synopsis lacks roce_d"),
    ("another argument", world(page(synopsis='.Ft DAT_RETURN\n.Fn dat_a "long x" "int *y[]"\n')), "dat_a.3:10: the header"),
    ("another result", world(page(synopsis='.Ft void\n.Fn dat_a "int x" "int *y[]"\n')), "dat_a.3:10: the header"),
    ("another name", world(page(synopsis='.Ft DAT_RETURN\n.Fn dat_d "int x"\n')), "no header declares dat_d"),
    ("no synopsis", world(page(synopsis="")), "the synopsis lacks dat_a"),
    ("not in NAME", world(page(more=())), "dat_b does not stand"),
    ("a sentence in NAME", world(page(words=".Nd Nothing.\n")), "is no short phrase"),
    ("two phrases in NAME", world(page(words=".Nd nothing\n.Nd at all\n")), "not names and one line"),
    ("no comma in NAME", world(page().replace(".Nm dat_a ,", ".Nm dat_a")), "no comma behind .Nm dat_a"),
    ("a second name of another page", world(page(more=()), SECOND), "dat_b.3:1: dat_a.3 is no page"),
    ("a dead reference", world(page(tail=".Sh SEE ALSO\n.Xr dat_e 3\n")), "there is no page dat_e.3"),
    ("not installed", world(left="dat_b.3"), "dat_b.3 is not installed"),
    ("not in the overview", world(missing="dat_b.3"), "dat_b.3 is not mentioned"),
]
RENDERED = [("a list that is not closed", world(page(tail=".Bl -bullet\n.It\nx\n.Sh SEE ALSO\n.Xr ls 1\n")), "groff: ")]
LINTED = [("a date without a day", world(page().replace("November 28,", "November")), "mandoc: WARNING: cannot parse date"),
          ("references out of order", world(page(tail=".Sh SEE ALSO\n.Xr udapl-roce 7 ,\n.Xr ls 1\n")),
           "mandoc: WARNING: unusual Xr order"),
          ("a line of more than 80 bytes", world(page(tail=17 * "words " + "\n")), "mandoc: STYLE: input text line longer")]

if __name__ == "__main__":
    groff = shutil.which("groff") is not None
    if not groff and "--self-test" not in sys.argv and not check(tree.ROOT):
        tree.skip("groff is not installed (package groff-base); all but the rendering was checked")
    sys.exit(tree.main(check, CASES + (RENDERED if groff else []) + (LINTED if shutil.which("mandoc") else [])))
