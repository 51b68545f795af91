#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A processor that lacks SSE4.2 is told so and does nothing else: processor.py OPEN_CLOSE LIBROCE PROVIDER

DPDK is made for such processors only, and its constructors run before anybody could ask. So the libraries carry a mark
that the dynamic loader obeys (x86-64-v2), and libdat says what it means. An emulated Core 2 shows it.
"""
import os
import platform
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

program, libroce, provider = sys.argv[1:]

if platform.machine() != "x86_64":
    print(f"no such mark on {platform.machine()}")
    sys.exit(SKIP)

good = True


def judge(what, holds, said):
    global good
    good = good and holds
    print(f"{'ok' if holds else 'WRONG'}: {what}" + ("" if holds else f": {said}"))


for library in libroce, provider:
    notes = subprocess.run(["readelf", "-n", library], capture_output=True, text=True, check=True).stdout
    judge(f"{os.path.basename(library)} wants x86-64-v2", "x86 ISA needed: x86-64-v2" in notes, notes)

emulator = shutil.which("qemu-x86_64")
if emulator is None:
    print("not emulated: qemu-x86_64 is missing (package qemu-user)")
    sys.exit(0 if good else 1)


def run(processor):
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as conf:
        conf.write(f'x u1.2 threadsafe default "{os.path.abspath(provider)}" x.1.0 "port=nosuch ip=192.0.2.1/24" ""\n')
        conf.flush()
        # The unknown key ends the open before the EAL starts, so the emulator need not be able to run the EAL.
        env = dict(os.environ, DAT_OVERRIDE=conf.name, UDAPL_ROCE_PARAMS="nosuch=1")
        done = subprocess.run([emulator, "-cpu", processor, program, "x"], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


code, text = run("core2duo")
judge("a Core 2 is refused in a sentence", code == 1 and "it is made for x86-64-v2 (SSE4.2 and POPCNT), which this "
      "processor lacks.\n" in text, f"exit code {code}, said: {text}")
code, text = run("Nehalem")
judge("a Nehalem is not", code == 1 and "unknown key 'nosuch'" in text, f"exit code {code}, said: {text}")
sys.exit(0 if good else 1)
