#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The version script of libroce, with a name for its inside: fingerprint.py ROOT DPDK_VERSION MAP.IN MAP DEPFILE

A provider has functions of the engine inside, which know what the structures look like and who may write to them
(queue/fastpath.c). So the version of what is exported to providers has a fingerprint of all sources of the layers behind its
name, and a provider that was compiled with others is refused by the loader of the system, in so many words.
"""
import hashlib
import sys
from pathlib import Path

FOLDERS = ("include/roce", "lib/roce", "pmd_roce")
SOURCES = (".c", ".def", ".h")


def sources(root):
    return sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SOURCES)


def fingerprint(root, dpdk):
    digest = hashlib.sha256(f"{dpdk}\0".encode())
    for path in sources(root):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:8]


def main(root, dpdk, template, script, depfile):
    root, script = Path(root), Path(script)
    text = Path(template).read_text(encoding="utf-8").replace("@INTERNAL@", f"ROCE_INTERNAL_{fingerprint(root, dpdk)}")
    # Libraries that are linked with it need not be linked again when it says the same.
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        script.write_text(text, encoding="utf-8")
    # Folders too: there a new file is seen.
    paths = sources(root)
    paths += sorted({path.parent for path in paths})
    escaped = " ".join(str(path).replace(" ", "\\ ") for path in paths)
    Path(depfile).write_text(f"{script}: {escaped}\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
