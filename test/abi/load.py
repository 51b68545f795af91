#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How libdat finds a provider's library: load.py OPEN_CLOSE LIBDAT PROVIDER

By path; by a name that only exists beside libdat; by a name that does not exist; and when the library needs a
symbol that nobody has. OPEN_CLOSE and PROVIDER are from this folder.
"""
import os
import shutil
import subprocess
import sys
import tempfile

program, libdat, provider = sys.argv[1:]


def run(folder, library, preload=None):
    """(exit code, output) of the program with a dat.conf of one line."""
    conf = os.path.join(folder, "dat.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write(f'fake u1.2 nonthreadsafe default "{library}" fake.1.0 "" ""\n')
    env = dict(os.environ, DAT_OVERRIDE=conf)
    if preload:
        # A sanitizer's runtime insists on being first, so it stays first.
        env["LD_PRELOAD"] = " ".join(filter(None, [env.get("LD_PRELOAD"), preload]))
    done = subprocess.run([program, "fake"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def sanitized(library):
    text = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True, check=True).stdout
    return "__asan_" in text or "__tsan_" in text


def judge(what, got, code, words=""):
    good = got[0] == code and words in got[1]
    print(f"{'ok' if good else 'WRONG'}: {what}" + ("" if good else f": exit code {got[0]}, said: {got[1]}"))
    return good


with tempfile.TemporaryDirectory() as folder:
    beside = os.path.join(folder, "libdat.so.1")
    shutil.copy(libdat, beside)
    shutil.copy(provider, os.path.join(folder, "libbesideus.so.1"))
    with open(os.path.join(folder, "libbroken.so.1"), "w", encoding="utf-8") as f:
        f.write("this is no library\n")
    results = [
        judge("by path", run(folder, os.path.abspath(provider)), 0),
        judge("a path that does not exist", run(folder, "/nonexistent/x.so"), 1,
              "libdat: The library /nonexistent/x.so does not load: "),
        judge("a name that does not exist", run(folder, "libnonexistent.so.1"), 1,
              "dat_ia_open: DAT_PROVIDER_NOT_FOUND DAT_NO_SUBTYPE"),
        judge("a library that is no provider", run(folder, "libc.so.6"), 1,
              "libdat: The library libc.so.6 is no DAT provider: it lacks dat_provider_init."),
        judge("a name that is not beside libdat", run(folder, "libbesideus.so.1"), 1),
    ]
    if not sanitized(libdat):
        results += [
            judge("a name beside libdat", run(folder, "libbesideus.so.1", beside), 0),
            # The file was found, so the sentence is about it and not about the search.
            judge("a broken file beside libdat", run(folder, "libbroken.so.1", beside), 1,
                  f"does not load: {folder}/libbroken.so.1: "),
        ]
sys.exit(0 if all(results) else 1)
