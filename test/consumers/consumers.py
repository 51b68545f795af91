#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do programs of others compile with what is installed, find it by pkg-config, and run?

  consumers.py MESON BUILD PREFIX WORK C_COMPILER [CXX_COMPILER]

Installs BUILD into WORK, then compiles each program of this folder as C and C++ of several years, links it with the
shared registry, with the static one, and with registry and provider inside, and runs it on the built-in adapters. Those
of the folder roce have libroce in place of the registry.
"""
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

HERE = Path(__file__).resolve().parent
# A type of the standard is a long long, which C of 1989 and C++ of 1998 have only as an addition.
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-long-long", "-Werror"]
DIALECTS = {"c": ["-std=c99", "-std=gnu89"], "c++": ["-std=c++98", "-std=c++17"]}
ROCE_DIALECTS = {"c": ["-std=c99"], "c++": ["-std=c++11"]}


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class Installed:
    """What is installed, as pkg-config tells it."""

    def __init__(self, meson, build, prefix, work):
        run([meson, "install", "-C", build, "--no-rebuild", "--destdir", work / "root"])
        self.prefix = work / "root" / prefix.relative_to("/")
        (self.pc,) = self.prefix.rglob("dat.pc")
        self.libdir = self.pc.parent.parent
        # Where it lies for now. Other packages have a prefix of their own.
        for pc in self.pc.parent.glob("*.pc"):
            text = pc.read_text(encoding="utf-8")
            pc.write_text(text.replace(f"prefix={prefix}\n", f"prefix={self.prefix}\n"), encoding="utf-8")

    def flags(self, package, *asked):
        env = dict(os.environ, PKG_CONFIG_PATH=str(self.pc.parent))
        return run(["pkg-config", *asked, package], env=env).split()

    def link(self, package, static):
        if not static:
            return self.flags(package, "--libs")
        # A static registry is asked for by name; --static tells what it wants. For libroce it says all.
        return ["-l:libdat.a" if flag == "-ldat" else flag for flag in self.flags(package, "--libs", "--static")]

    def env(self):
        env = {name: value for name, value in os.environ.items() if not name.startswith("DAT_")}
        return dict(env, LD_LIBRARY_PATH=str(self.libdir), DAT_OVERRIDE="")


def needs(library, program):
    """Is it linked with the shared library?"""
    return f"[{library}.so." in run(["readelf", "-d", program])


def check_whole(objects, compiler, installed, program, asked):
    """A program with the provider inside has no library of ours; with --static, none of DPDK either."""
    run([*compiler, objects, "-o", program, *installed.flags("daplroce", "--libs", *asked)])
    for library in ("libdat", "libdaplroce", "libroce", *(["librte_eal"] if asked else [])):
        if needs(library, program):
            sys.exit(f"{program} needs {library}, which should be inside")
    # The folder of our libraries is not told: nothing is to be loaded from there.
    run(["timeout", str(limit.SECONDS), program], env=dict(installed.env(), LD_LIBRARY_PATH=""))


def check(source, package, language, dialect, compiler, installed, work):
    name = work / f"{source.stem}{dialect}"
    run([*compiler, "-x", language, dialect, *WARNINGS, *installed.flags(package, "--cflags"),
         "-c", source, "-o", f"{name}.o"])
    for static in (False, True):
        program = f"{name}-{'static' if static else 'shared'}"
        run([*compiler, f"{name}.o", "-o", program, *installed.link(package, static), "-pthread"])
        if needs(f"lib{package}", program) == static:
            sys.exit(f"{program} is linked with the other lib{package}")
        run(["timeout", str(limit.SECONDS), program], env=installed.env())
    # How a program was compiled matters to no linker: one dialect will do.
    if package == "dat" and dialect == DIALECTS["c"][0]:
        check_whole(f"{name}.o", compiler, installed, f"{name}-whole", [])
        check_whole(f"{name}.o", compiler, installed, f"{name}-whole-static", ["--static"])


def check_all(folder, package, dialects, compilers, installed, work):
    sources = sorted(folder.glob("*.c"))
    for language, compiler in compilers.items():
        for dialect in dialects[language]:
            began = time.monotonic()
            for source in sources:
                check(source, package, language, dialect, compiler, installed, work)
            print(f"{package} {dialect}: {len(sources)} program(s), shared and static, "
                  f"{time.monotonic() - began:.1f} s")


def main():
    meson, build, prefix, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    compilers = dict(zip(DIALECTS, (compiler.split(",") for compiler in sys.argv[5:])))
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    installed = Installed(meson, build, prefix, work)
    check_all(HERE, "dat", DIALECTS, compilers, installed, work)
    check_all(HERE / "roce", "roce", ROCE_DIALECTS, compilers, installed, work)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
