# SPDX-License-Identifier: BSD-3-Clause
"""Every verb and size, in both roles, over a network, at a path MTU, on a wire that is clean or is not."""
from cell import CLEAN, SIZES, Group, steps
from lab import NETS
from talk import Talk, Wants, many, probe

BIG = ("-s", str(1 << 20), "-q", "16", "-n", "16")
FEW = (0, 1, 3, 1025, 65536)
MORE = tuple(size for size in SIZES if size not in FEW)
FAULTS = {
    CLEAN: (),
    "2 % lost": ("drop,prob=0.02",),
    "2 % twice": ("dup,prob=0.02",),
    "2 % out of order": ("reorder,prob=0.02",),
    "2 % lost, twice, out of order": ("drop,prob=0.02", "dup,prob=0.02", "reorder,prob=0.02"),
}
FAULTS_EXPLAIN = {"*": "the wire"}
# The atomics of the guest find what a server that just started has in its memory, or what a WRITE left there.
ADDED, SWAPPED = "0x312a231c150e0700", "0x312a231c150e0800"


def matrix(lab, net_name, path_mtu, fault, sizes=SIZES, long=False):
    """All verbs for one combination of network, MTU and fault. Without --long other MTUs see SEND, WRITE, READ."""
    rules = FAULTS[fault]
    # Where frames are lost, waiting is most of the time: a quarter of a second must do.
    talk = Talk(lab, NETS[net_name], f"mtu={path_mtu}{' timeout=16' if rules else ''}", rules)
    tail = f"{net_name}, MTU {path_mtu}, {fault}"
    explains = FAULTS_EXPLAIN if rules else {}

    def group(role, what, go, needs_guest=False):
        name = f"ours is the {role}, {tail}" if what else tail
        return Group(name, go, tuple(what), path_mtu, long, explains, needs_guest=needs_guest)

    for made in (*clients(group, talk, sizes), *servers(group, talk, sizes)):
        plain = any(step.startswith(("echo", "read:", "send:")) for step in made.steps) and "shared" not in made.name
        made.long |= path_mtu != 1024 and not plain
        yield made


def clients(group, talk, sizes):
    host = ("-a", talk.net.guest)
    echo = steps("echo", sizes)
    yield group("client", echo, lambda: talk.client(
        many("server", *host, "-s", str(1 << 20)), "-s", str(1 << 20), "-r", "4", "client", "HOST", *echo), True)
    rdma = (*steps("write", sizes), *steps("read", sizes))
    yield group("client", rdma, lambda: talk.client(probe("server", *host, *BIG), "client", "HOST", *rdma))
    atomics = ("write:64", "fadd", "cswp", "sendsol:33", "fill:60", "reads:40")
    yield group("client", atomics, lambda: talk.client(
        probe("server", *host, "-q", "80", "-n", "80"), "client", "HOST", *atomics, wants=Wants(ours=(ADDED, SWAPPED))))


def patience(talk):
    return ("-A", "14") if talk.rules else ()


def servers(group, talk, sizes):
    into = f"{len(sizes)} messages, {sum(sizes)} bytes, 0 bad"
    for option, verb in (((), "send"), (("-S",), "send")):
        said = steps(verb, sizes)
        yield group("server into a shared queue" if option else "server", said, lambda o=option, s=said: talk.server(
            probe("client", *patience(talk), "-a", "HOST", *s), *o, "-s", str(1 << 20), "-r", "16", "server",
            wants=Wants(ours=(into,))))
    rdma = (*steps("write", sizes), *steps("read", sizes))
    yield group("server", rdma, lambda: talk.server(
        probe("client", *patience(talk), "-a", "HOST", *rdma), "server",
        wants=Wants(ours=(f"{max(sizes)} bytes written",))))
    # The bytes of a WRITE with immediate are not in the receive.
    rest = (*steps("sendimm", sizes[:8]), *steps("writeimm", sizes[:8]), "sendsol:1025", "sendinl:33", "writeinl:20",
            "fadd", "cswp", "fill:60", "reads:40")
    count = 2 * len(sizes[:8]) + 2 + 60
    yield group("server", rest, lambda: talk.server(
        probe("client", *patience(talk), "-I", "64", "-a", "HOST", *rest), "-A", "-S", "-r", "100", "server",
        wants=Wants(ours=(f"{count} messages",))))


def all_cells(lab):
    yield from matrix(lab, "IPv4", 1024, CLEAN)
    yield from matrix(lab, "IPv6", 1024, CLEAN, FEW)
    for net in ("IPv4 with VLAN", "IPv6 with VLAN"):
        yield from matrix(lab, net, 1024, CLEAN, FEW, long=net.startswith("IPv6"))
    everything = list(FAULTS)[-1]
    yield from matrix(lab, "IPv4", 1024, everything, FEW)
    yield from matrix(lab, "IPv6", 1024, everything, (3, 65536))
    yield from matrix(lab, "IPv4", 1024, everything, MORE, long=True)
    yield from matrix(lab, "IPv6", 1024, CLEAN, MORE, long=True)
    yield from matrix(lab, "IPv6", 1024, everything, [s for s in SIZES if s not in (3, 65536)], long=True)
    for fault in list(FAULTS)[1:-1]:
        yield from matrix(lab, "IPv4", 1024, fault, long=True)
    for path_mtu in (256, 512, 2048, 4096):
        yield from matrix(lab, "IPv4", path_mtu, CLEAN, FEW)
        yield from matrix(lab, "IPv4", path_mtu, CLEAN, MORE, long=True)
        yield from matrix(lab, "IPv4", path_mtu, everything, long=True)
