#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Versions: the changelogs begin with the release that meson.build names, and with nothing else but what is unreleased.

  versions.py [--self-test] [ROOT]
"""
import re
import sys

import tree

PROJECT = re.compile(r"^project\(.*?\bversion: '([^']+)'", re.DOTALL | re.MULTILINE)
RELEASE = re.compile(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", re.MULTILINE)
DEBIAN = re.compile(r"\S+ \((.+)-[^-)]+\) ")


def first(pattern, path):
    """What the pattern finds first in a file; None: nothing, or no file."""
    found = pattern.search(path.read_text()) if path.is_file() else None
    return found and found.group(1)


def check(root):
    version = first(PROJECT, root / "meson.build")
    said = {"CHANGELOG.md": first(RELEASE, root / "CHANGELOG.md"),
            "debian/changelog": first(DEBIAN, root / "debian" / "changelog")}
    return [(f"{name}:1", f"the last release is {told}, and meson.build says {version}")
            for name, told in said.items() if told != version]


def texts(meson, changelog, debian):
    return {"meson.build": f"project('p', 'c',\n        version: '{meson}')\n",
            "CHANGELOG.md": f"# Changelog\n\n## Unreleased\n\n## {changelog} - 2026-01-01\n\n## 0.1.0 - 2025-01-01\n",
            "debian/changelog": f"p ({debian}-1) unstable; urgency=medium\n"}


CASES = [
    ("one version", texts("1.2.0", "1.2.0", "1.2.0"), None),
    ("a changelog that was left behind", texts("1.2.0", "1.1.0", "1.2.0"), "CHANGELOG.md:1: the last release is 1.1.0"),
    ("a package that was left behind", texts("1.2.0", "1.2.0", "1.1.0"), "debian/changelog:1: the last release is 1.1.0"),
    ("no package", {"meson.build": "project('p', version: '1.0')\n", "CHANGELOG.md": "## 1.0 - 2026-01-01\n"},
     "debian/changelog:1: the last release is None"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
