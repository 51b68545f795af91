#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The version script of libroce, with a name for its inside: fingerprint.py ROOT MAP.IN MAP DEPFILE

A provider has functions of the engine inside, which know what the structures look like (engine/single.c). So the version of
what is exported to providers has a fingerprint of all private headers behind its name, and a provider that was compiled with
others is refused by the loader of the system, in so many words.
"""
import hashlib
import sys
from pathlib import Path


def headers(root):
    return sorted(path for folder in ("pmd_roce", "include/roce") for path in (root / folder).rglob("*")
                  if path.suffix in (".h", ".def"))


def fingerprint(root):
    digest = hashlib.sha256()
    for path in headers(root):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:8]


def main(root, template, script, depfile):
    text = Path(template).read_text(encoding="utf-8").replace("@INTERNAL@", f"ROCE_INTERNAL_{fingerprint(Path(root))}")
    Path(script).write_text(text, encoding="utf-8")
    paths = " ".join(str(path).replace(" ", "\\ ") for path in headers(Path(root)))
    Path(depfile).write_text(f"{script}: {paths}\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
