# SPDX-License-Identifier: BSD-3-Clause
"""What callgrind wrote: how many instructions were executed where, and to which layer of the stack a place belongs."""
import collections
import os
import re

# From the program down to the wire, then what is not ours.
LAYERS = ("dat-perf", "libdat", "front", "dapl", "cm", "port", "engine", "wire", "DPDK", "libc", "rest")

FOLDERS = {"apps": "dat-perf", "lib/libdat": "libdat", "lib/front": "front", "lib/dapl": "dapl", "lib/roce": "port",
           "lib/verbs": "front",
           "pmd_roce/cm": "cm", "pmd_roce/device": "port", "pmd_roce/ethdev": "port",
           "pmd_roce/neighbour": "port", "pmd_roce/local": "port", "pmd_roce/observe": "port", "pmd_roce/engine": "engine",
           "pmd_roce/queue": "engine", "pmd_roce/requester": "engine", "pmd_roce/responder": "engine", "pmd_roce/wire": "wire"}
OURS = {"dat-perf": "dat-perf", "libdat.so": "libdat", "libdaplroce.so": "front", "libroce.so": "port"}
LIBC = ("libc.so", "ld-linux", "libm.so", "libpthread.so")

Place = collections.namedtuple("Place", "object function_file file function")

NAME = re.compile(r"(c?)(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$")


class Reader:
    """Instructions by place, of the lines of one output. A name is written out once; later its number stands for it."""

    def __init__(self):
        self.costs = collections.Counter()
        self.names = {"ob": {}, "fl": {}, "fn": {}}
        self.at = {"ob": "???", "fl": "???", "fn": "???"}
        self.function_file = "???"

    def take_name(self, called, kind, number, name):
        # fl: of the function; fi, fe: of the lines that follow, which were inlined from there, or no longer are.
        kind = "fl" if kind in ("fi", "fe") else kind
        if name is not None:
            self.names[kind][number] = name
        if called:
            return
        self.at[kind] = self.names[kind][number]
        # A new function is in the file named last, whether as its own or as that of inlined lines before it.
        if kind == "fn":
            self.function_file = self.at["fl"]

    def take_cost(self, line):
        place = Place(self.at["ob"], self.function_file, self.at["fl"], self.at["fn"])
        self.costs[place] += int(line.split()[1])


def read(lines):
    """Counter of Place. ValueError: this is not callgrind's output, or not all of it."""
    reader, total, call = Reader(), None, False
    for line in lines:
        line = line.rstrip("\n")
        match = NAME.match(line)
        if match:
            reader.take_name(*match.groups())
        elif line.startswith("calls="):
            # The next line is what the called function cost, and is counted there.
            call = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not call:
                reader.take_cost(line)
            call = False
        elif line.startswith(("summary:", "totals:")):
            total = int(line.split()[1])
    if total is None or total != sum(reader.costs.values()):
        raise ValueError("callgrind's output ends in the middle, or is written in a way that is not known here")
    return reader.costs


def folder_layer(file, root):
    """Layer of a file of this tree, None for another one."""
    path = os.path.normpath(file)
    if not path.startswith(root + os.sep):
        return None
    path = path[len(root) + 1:]
    return next((layer for folder, layer in FOLDERS.items() if path.startswith(folder + "/")), None)


def layer_of(place, root):
    """One of LAYERS. root: the tree that was compiled, absolute.

    Inlined lines are their own file's, so that DPDK's rings and the engine are told apart within one function. Those
    of a header without a layer, of the compiler say, are the function's.
    """
    name = os.path.basename(place.object)
    if name.startswith("librte_"):
        return "DPDK"
    if name.startswith(LIBC):
        return "libc"
    own = next((layer for start, layer in OURS.items() if name.startswith(start)), None)
    if own is None:
        return "rest"
    if "/dpdk/" in place.file:
        return "DPDK"
    return folder_layer(place.file, root) or folder_layer(place.function_file, root) or own


def by_layer(costs, root):
    """{layer: instructions}, all of LAYERS."""
    found = dict.fromkeys(LAYERS, 0)
    for place, cost in costs.items():
        found[layer_of(place, root)] += cost
    return found
