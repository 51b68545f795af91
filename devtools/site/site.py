#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Guides and manual pages as HTML: pandoc reads the guides, as GitHub does, and mandoc the manual pages.

  site.py TREE OUTPUT          OUTPUT is made anew

docs/start.md is the front page. The site has no script, no font and nothing else from the network.
"""
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRONT = Path("docs/start.md")
AT_ROOT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{up}style.css"></head><body>
<nav><a href="{up}index.html">start</a><a href="{up}README.html">what it is</a><a href="{up}docs/README.html">guides</a><a
href="{up}docs/man/index.html">manual pages</a><a href="{up}CHANGELOG.html">changes</a></nav>
"""
FOOT = "</body></html>\n"
ALIAS = re.compile(r"^\.so man\d/(\S+)$")


def guides(tree):
    """Every guide, by its path in the tree."""
    return [Path(name) for name in AT_ROOT] + sorted(path.relative_to(tree) for path in (tree / "docs").rglob("*.md"))


def manuals(tree):
    return sorted(path.relative_to(tree) for path in (tree / "docs/man").iterdir() if re.search(r"\.[1-9]$", path.name))


def pictures(tree):
    return sorted(path.relative_to(tree) for kind in ("*.svg", "*.png") for path in (tree / "docs").rglob(kind))


def place(path):
    """Where a file of the tree lies in the site."""
    if path == FRONT:
        return Path("index.html")
    if path.suffix == ".md":
        return path.with_suffix(".html")
    return path if path.suffix in (".svg", ".png", ".c", ".json") else path.with_name(path.name + ".html")


def up_from(page):
    return "../" * (len(page.parts) - 1)


def write(output, page, title, body):
    target = output / page
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(HEAD.format(title=html.escape(title), up=up_from(page)) + body + FOOT, encoding="utf-8")


def write_guide(tree, output, path, known):
    """A guide, whose links to files of the site are kept."""
    page = place(path)
    lines = [f"{os.path.relpath(other, path.parent)}\t{os.path.relpath(place(other), page.parent)}" for other in known]
    if path.parts[0] == "docs":
        lines += [f"{os.path.relpath('docs/man', path.parent)}{end}\t{os.path.relpath('docs/man/index.html', page.parent)}"
                  for end in ("", "/")]
    pages = output / "pages"
    pages.write_text("\n".join(lines) + "\n", encoding="utf-8")
    body = subprocess.run(["pandoc", "-f", "gfm", "-t", "html5", f"--lua-filter={HERE / 'links.lua'}", tree / path],
                          env=dict(os.environ, PAGES=str(pages)), check=True, stdout=subprocess.PIPE, text=True).stdout
    pages.unlink()
    title = re.search(r"^# (.*)$", (tree / path).read_text(encoding="utf-8"), re.M)
    write(output, page, title.group(1) if title else path.name, body)


def description(tree, path):
    """The line that apropos(1) shows."""
    found = re.search(r"^\.Nd (.*)$", (tree / path).read_text(encoding="utf-8"), re.M)
    return found.group(1) if found else ""


def write_manuals(tree, output, paths):
    """Each manual page, a second name as a link to the first, and the list of all."""
    names = {path.name for path in paths}
    rows = []
    for path in paths:
        alias = ALIAS.match((tree / path).read_text(encoding="utf-8"))
        target = alias.group(1) if alias else path.name
        rows.append(f'<tr><td><a href="{target}.html">{path.stem}({path.suffix[1:]})</a></td>'
                    f"<td>{html.escape(description(tree, path.with_name(target)))}</td></tr>")
        if alias:
            write(output, place(path), path.stem, f'<p>See <a href="{target}.html">{target}</a>.</p>')
            continue
        body = subprocess.run(["mandoc", "-Thtml", "-O", "fragment,man=%N.%S.html", tree / path], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        # Pages of others are not here.
        body = re.sub(r'<a class="Xr" href="([^"]*)\.html"([^>]*)>(.*?)</a>',
                      lambda m: m.group(0) if m.group(1) in names else m.group(3), body)
        write(output, place(path), path.stem, body)
    write(output, Path("docs/man/index.html"), "Manual pages", f"<h1>Manual pages</h1><table>{''.join(rows)}</table>")


def main():
    tree, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    sources = sorted(path.relative_to(tree) for kind in ("examples/*.c", "dashboards/*.json") for path in (tree / "docs").glob(kind))
    copies = pictures(tree) + sources
    known = guides(tree) + manuals(tree) + copies
    shutil.copy(HERE / "style.css", output)
    for path in copies:
        (output / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree / path, output / path)
    for path in guides(tree):
        write_guide(tree, output, path, known)
    write_manuals(tree, output, manuals(tree))


if __name__ == "__main__":
    main()
