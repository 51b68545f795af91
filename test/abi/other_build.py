#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A provider beside a libroce of another build: other_build.py OPEN_CLOSE LIBROCE PROVIDER

It does not load, and the reason is said: its functions know what the structures of the other looked like. A copy of LIBROCE
whose fingerprint is another stands for that; the same copy with its own fingerprint shows that it is no other reason.
OPEN_CLOSE is from this folder.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

program, libroce, provider = sys.argv[1:]
FINGERPRINT = re.compile(rb"ROCE_INTERNAL_([0-9a-f]{8})")


def run(folder, image):
    """(exit code, output) of the program when libroce is this image."""
    library = Path(folder, Path(libroce).name)
    library.write_bytes(image)
    conf = Path(folder, "dat.conf")
    conf.write_text(f'loop0 u1.2 threadsafe default "{os.path.abspath(provider)}" udapl-roce.1.2 "port=loop0 ip=192.0.2.1/24" ""\n',
                    encoding="utf-8")
    env = dict(os.environ, DAT_OVERRIDE=str(conf), DAT_DBG_TYPE="1", LD_PRELOAD=str(library),
               UDAPL_ROCE_EAL="--no-huge -m 256 --no-shconf --no-pci")
    done = subprocess.run([program, "loop0"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


own = Path(libroce).read_bytes()
name = FINGERPRINT.search(own)
if name is None:
    sys.exit("WRONG: libroce has no fingerprint")
other = own.replace(name[0], b"ROCE_INTERNAL_01234567")
with tempfile.TemporaryDirectory() as temporary:
    code, said = run(temporary, own)
    if code != 0:
        sys.exit(f"WRONG: a copy of libroce: exit code {code}, said: {said}")
    code, said = run(temporary, other)
    if code != 1 or f"version `{name[0].decode()}' not found" not in said:
        sys.exit(f"WRONG: libroce of another build: exit code {code}, said: {said}")
print("ok: a provider loads beside libroce of its own build only")
