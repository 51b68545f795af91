#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The names of the installed library, each with its version: those that we define are exported, the others answer that they
are not offered. Programs are bound to all names at their start, whether they call them or not.

  symbols.py INSTALLED OURS MAP STUBS

INSTALLED is the shared library whose place ours takes, OURS the archive of what we define. Names with a version of their
own that programs of today no longer ask for (in brackets in objdump's list) are left out.
"""
import re
import subprocess
import sys

LINE = re.compile(r"^[0-9a-f]+ .{7}\s*\S+\s+[0-9a-f]+\s+(\(?)([A-Z]+_[A-Z0-9_.]+)\)?\s+([\w.]+)$")

# Results of calls that are not offered: a pointer, a descriptor or -1, nothing. The others give a positive errno.
POINTER = re.compile(r"(_?(ibv|rdma)_)(alloc|create|open|reg|import)_|verbs_open_device$|_verbs_init_and_alloc_context$"
                     r"|rdma_get_devices$|rdma_event_str$")
MINUS_ONE = re.compile(r"ibv_(init_ah_from_wc|read_ibdev_sysfs_file)$|rdma_|r[a-z0-9]+$")
NOTHING = re.compile(r"ibv_copy_|ibv_unimport_|ibv_register_driver|verbs_register_driver|verbs_set_ops$|verbs_uninit_context$"
                     r"|verbs_init_cq$|__verbs_log$|rdma_free_devices$")
# A number of things: none.
ZERO = re.compile(r"__ioctl_final_num_attrs$|verbs_allow_disassociate_destroy$")

HEAD = """/* Made by symbols.py: what the installed library has besides, and is not offered. */
#include <errno.h>
#include <stddef.h>

"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def versions(library):
    """({name: version}, [version, lowest first]) of the default versions."""
    names, nodes = {}, []
    for line in run("objdump", "-T", library).splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        old, version, name = match.groups()
        if "*UND*" in line:
            continue
        if name == version:
            nodes.append(version)
        elif not old:
            names[name] = version
    return names, sorted(nodes, key=lambda n: ("PRIVATE" in n, [int(p) for p in re.findall(r"\d+", n)]))


def defined(archive):
    return {line.split()[-1] for line in run("nm", "-g", "--defined-only", archive).splitlines() if " T " in line}


def stub(name):
    if NOTHING.match(name):
        return f"void {name}(void);\nvoid\n{name}(void)\n{{\n}}\n"
    if POINTER.match(name):
        return f"void *{name}(void);\nvoid *\n{name}(void)\n{{\n\terrno = EOPNOTSUPP;\n\treturn NULL;\n}}\n"
    value = "0" if ZERO.match(name) else "-1" if MINUS_ONE.match(name) else "EOPNOTSUPP"
    text = f"\terrno = EOPNOTSUPP;\n\treturn {value};\n"
    return f"int {name}(void);\nint\n{name}(void)\n{{\n{text}}}\n"


def version_map(names, nodes):
    text, before = "", ""
    for node in nodes:
        inside = "".join(f"\t\t{name};\n" for name in sorted(names) if names[name] == node)
        local = "" if before else "\tlocal:\n\t\t*;\n"
        body = f"\tglobal:\n{inside}" if inside else ""
        text += f"{node} {{\n{body}{local}}}{before};\n\n"
        before = " " + node
    return text


def main():
    installed, ours, map_name, stubs_name = sys.argv[1:]
    names, nodes = versions(installed)
    if not names:
        sys.exit(f"{installed} has no versions: is it the library of rdma-core?")
    have = defined(ours)
    with open(map_name, "w", encoding="utf-8") as file:
        file.write(version_map(names, nodes))
    with open(stubs_name, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(stub(name) for name in sorted(names) if name not in have))


if __name__ == "__main__":
    main()
