#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`./run.sh docs`: every page of the tree is there, every link leads to a page and place of the site, and nothing comes from
the network.

  site.py TREE        skipped (77) without pandoc or mandoc
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

OUTSIDE = ("http:", "https:", "mailto:")
LINK = re.compile(r"\]\(([^)#\s]+)")


class Page(HTMLParser):
    """The places and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.parts = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("img", "script", "link", "iframe"):
            self.parts.append(values.get("src") or values.get("href") or "")


def wrong_links(path, pages):
    """What a page promises and the site does not have."""
    for link in pages[path].links:
        if link.startswith(OUTSIDE):
            continue
        target, place = urldefrag(link)
        there = Path(os.path.normpath(path.parent / unquote(target))) if target else path
        if not there.is_file():
            yield f"a link to {link}"
        elif place and there in pages and unquote(place) not in pages[there].ids:
            yield f"a link to a place that is not there: {link}"
    for part in pages[path].parts:
        if part.startswith((*OUTSIDE, "//")) or not (path.parent / part).is_file():
            yield f"a part from elsewhere: {part}"


def broken(tree):
    """Links of guides to files that the tree does not have."""
    for path in (*tree.glob("*.md"), *(tree / "docs").rglob("*.md")):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            if not target.startswith(OUTSIDE) and not (path.parent / target).exists():
                yield f"{path.relative_to(tree)}: a link to {target}"


def judge(tree, site):
    """Findings, in words."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    found = [f"{path.relative_to(site)}: {what}" for path in pages for what in wrong_links(path, pages)]
    for path in (tree / "docs/man").iterdir():
        if path.suffix[1:].isdigit() and site / f"docs/man/{path.name}.html" not in pages:
            found.append(f"{path.name} is missing")
    for path in (tree / "docs").rglob("*.md"):
        page = path.relative_to(tree).with_suffix(".html")
        if path.name != "start.md" and site / page not in pages:
            found.append(f"{page} is missing")
    found += broken(tree)
    return found if pages else ["there is no page"]


def spoil(site):
    """A site with a fault of each kind is not taken."""
    page = site / "index.html"
    text = page.read_text(encoding="utf-8")
    for fault in ('<a href="nowhere.html">x</a>', '<a href="#nowhere">x</a>', '<img src="https://example.org/x.png">'):
        page.write_text(text + fault, encoding="utf-8")
        yield fault
    page.write_text(text, encoding="utf-8")


def main():
    tree = Path(sys.argv[1])
    for tool in ("pandoc", "mandoc"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is missing")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder).resolve() / "site"
        subprocess.run([sys.executable, "-B", tree / "devtools/site/site.py", tree, site], check=True)
        found = judge(tree, site)
        found += [f"this fault is not seen: {fault}" for fault in spoil(site) if not judge(tree, site)]
    for line in found:
        print(line)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
