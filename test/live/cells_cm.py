# SPDX-License-Identifier: BSD-3-Clause
"""Connections: how they begin and end, with everything that can go wrong meanwhile."""
from cell import Group
from lab import DEVICE_MTU, NETS
from talk import Talk, Wants, many, probe, verdict

MESSAGES = (("REQ", 0x10), ("REP", 0x13), ("RTU", 0x14), ("DREQ", 0x15), ("DREP", 0x16))
# The words of DAT for a connection, as the partner prints them.
PEER_REJECTED, NON_PEER_REJECTED = "event 0x4002", "event 0x4003"
DISCONNECTED, TIMED_OUT, UNREACHABLE = "event 0x4005", "event 0x4007", "event 0x4008"
NO_CONNECTION = 3  # exit status of the partner
ONE = "1 messages, 64 bytes, 0 bad"


def begin_and_end(talk, net):
    def cell(role, what, go, **more):
        return Group(f"ours is the {role}, {what}, {net}", go, long="VLAN" in net, **more)

    host = ("-a", talk.net.guest)
    yield cell("client", "private data both ways", lambda: talk.client(
        probe("server", *host, "-d", "world"), "-d", "hello", "client", "HOST", "send:1",
        wants=Wants(ours=("established: world",), guest=(b"hello".hex(),))))
    yield cell("server", "private data both ways", lambda: talk.server(
        probe("client", "-a", "HOST", "-d", "hello", "send:1"), "-d", "world", "server",
        wants=Wants(ours=("request: hello",), guest=(b"world".hex(),))))
    yield cell("client", "nobody listens", lambda: talk.client(
        "", "client", "HOST", "send:1", wants=Wants(ours=(NON_PEER_REJECTED,), status=NO_CONNECTION)))
    yield cell("server", "nobody listens", lambda: talk.server(
        f"{probe('client', '-p', '8000', '-a', 'HOST')}; {probe('client', '-a', 'HOST', 'send:64')}", "server",
        wants=Wants(ours=(ONE,), guest=("REJECTED status 8",))))
    yield cell("client", "rejected by the consumer", lambda: talk.client(
        probe("server", *host, "-R", "-d", "no"), "client", "HOST", "send:1",
        wants=Wants(ours=(PEER_REJECTED,), status=NO_CONNECTION)))
    yield cell("server", "rejected by the consumer", lambda: talk.server(
        probe("client", "-a", "HOST"), "-R", "server", wants=Wants(guest=("REJECTED status 28",))))
    for role, what, go in (("client", "ours connects anew at once, 20 times", lambda: talk.client(
            many("server", *host, "-c", "20"), "-n", "20", "client", "HOST", "echo:64")),
            ("server", "the guest connects anew at once, 20 times", lambda: talk.server(
                many("client", "-a", "HOST", "-c", "20"), "-c", "20", "server"))):
        yield cell(role, what, go, needs_guest=True)


def slow(lab, talk):
    yield Group("ours is the client, the guest answers after 3 s", lambda: talk.client(
        many("server", "-w", "3000"), "client", "HOST", "echo:64"), needs_guest=True)
    yield Group("ours is the server, ours answers after 8 s", lambda: talk.server(
        probe("client", "-a", "HOST", "send:64"), "-w", "8000", "server", wants=Wants(ours=(ONE,))))
    yield Group("ours is the client, the guest never answers", lambda: talk.client(
        probe("server", "-N", "-D", "20000"), "-t", "5000", "client", "HOST", "send:64",
        wants=Wants(ours=(TIMED_OUT,), status=NO_CONNECTION)))
    yield Group("ours is the client, there is no such host", lambda: talk.client(
        "", "client", "10.77.0.99", "send:64", wants=Wants(ours=(UNREACHABLE,), status=NO_CONNECTION)))
    yield Group("ours is the server, its path MTU is larger than what the guest asks for", lambda: Talk(
        lab, keys="mtu=4096").server(probe("client", "-a", "HOST", "send:5000"), "server", wants=Wants(
            ours=("1 messages, 5000 bytes, 0 bad",), guest=("path_mtu 1024",))))
    # The guest asks for 512, is told that 256 is the most, and must ask anew.
    yield Group("ours is the server, its path MTU is smaller than what the guest asks for", lambda: Talk(
        lab, keys="mtu=256").server(
            f"{probe('client', '-a', 'HOST')}; ip link set eth0 mtu {DEVICE_MTU[256]}; "
            f"{probe('client', '-a', 'HOST', 'send:64')}; ip link set eth0 mtu {DEVICE_MTU[512]}", "server",
            wants=Wants(ours=(ONE,), guest=("REJECTED status 26", "path_mtu 256"))), path_mtu=512)


def disturbed(lab):
    """One message of the connection manager lost, or each of them twice."""
    for name, attribute in MESSAGES:
        for word, rule in (("the first {} is lost", f"drop,mad={attribute:#x},nth=1"),
                           ("each {} comes twice", f"dup,mad={attribute:#x}")):
            talk = Talk(lab, rules=(rule,))
            long = rule.startswith("dup") and name not in ("REQ", "DREQ")
            yield Group(f"ours is the client, {word.format(name)}", lambda t=talk: t.client(
                probe("server"), "client", "HOST", "send:64"), long=long)
            yield Group(f"ours is the server, {word.format(name)}", lambda t=talk: t.server(
                probe("client", "-a", "HOST", "send:64"), "server", wants=Wants(ours=(ONE,))), long=long)
    late = Talk(lab, rules=("delay=1500,mad=0x13", "delay=1500,mad=0x10"))
    yield Group("ours is the client, REQ and REP take 1.5 s", lambda: late.client(
        many("server", "-c", "3"), "-n", "3", "client", "HOST", "echo:64"), needs_guest=True)
    yield Group("ours is the server, REQ and REP take 1.5 s", lambda: late.server(
        many("client", "-a", "HOST", "-c", "3"), "-c", "3", "server"), needs_guest=True)
    all_lossy = Talk(lab, rules=("drop,prob=0.1",))
    yield Group("ours is the client, 20 connections, 10 % of all frames are lost", lambda: all_lossy.client(
        many("server", "-c", "20"), "-n", "20", "client", "HOST", "echo:64"), needs_guest=True, long=True,
        explains={"*": "the wire"})
    yield Group("ours is the server, 20 connections, 10 % of all frames are lost", lambda: all_lossy.server(
        many("client", "-a", "HOST", "-c", "20"), "-c", "20", "server"), needs_guest=True, long=True,
        explains={"*": "the wire"})


def thousand(talk):
    all_of_them = Wants(ours=("1000 messages, 64000 bytes, 0 bad",), guest=("1000 connections over",))
    more = {"needs_guest": True, "explains": {"duplicate_request": "a connection's first answer took more than 4 ms"}}
    yield Group("ours is the client, 1000 connections, one after the other", lambda: talk.client(
        many("server", "-c", "1000"), "-n", "1000", "client", "HOST", "echo:64", wants=all_of_them), **more)
    for words, at_once in (("one after the other", "1"), ("16 of them at once", "16")):
        yield Group(f"ours is the server, 1000 connections, {words}", lambda j=at_once: talk.server(
            many("client", "-a", "HOST", "-c", "1000", "-j", j), "-c", "1000", "server", wants=all_of_them), **more)


def timewait(talk):
    """The queue pair that the guest connects anew is one whose old connection is in timewait here, not established."""
    yield Group("ours is the server, the guest connects the same queue pair again within its timewait",
                lambda: talk.server(many("again", "-a", "HOST", "-c", "3"), "-c", "3", "server", wants=Wants(
                    ours=("3 messages, 192 bytes, 0 bad",), guest=("3 connections over",))), needs_guest=True)


# ---- one end dies

def guest_killed(talk):
    server = talk.guest(probe("server"))
    server.wait_for("listening")
    ours = talk.partner("client", talk.net.guest, "send:64", "sleep:3000")
    ours.wait_for("step send:64: ok")
    talk.lab.quiet()
    server.finish(20)
    return verdict(*ours.finish(talk.seconds), "", Wants(ours=(DISCONNECTED,)), "")


def ours_killed(talk):
    ours = talk.partner("server")
    ours.wait_for("listening")
    guest = talk.guest(probe("client", "-a", talk.net.ours, "-t", "3", "-A", "14", "send:64", "sleep:2000", "send:65"))
    guest.wait_for("step send:64: ok")
    ours.kill()
    guest.wait_for("step send:65: FAILED", 60)
    talk.lab.quiet()
    said, _ = guest.finish(20)
    return verdict("", 0, said, Wants(guest=("transport retry counter exceeded",), steps_may_fail=True), "")


def ours_restarts(talk):
    """Ours is killed, begins anew and connects the same queue pair number, which the guest holds for connected."""
    server = talk.guest(many("server", "-c", "2"))
    server.wait_for("listening")
    first = talk.lab.partner("client", talk.net.guest, "echo:64", "sleep:60000", keys="qpn=4660 seed=1")
    first.wait_for("step echo:64: ok")
    first.kill()
    second = talk.lab.partner("-y", "3", "client", talk.net.guest, "echo:64", keys="qpn=4660 seed=2")
    said, status = second.finish(talk.seconds)
    guest, _ = server.finish(talk.seconds)
    return verdict(said, status, guest, Wants(ours=(NON_PEER_REJECTED,), guest=("2 connections over",)), "")


def guest_crashes(talk):
    """The guest's power is cut; its first queue pair after the start is the one that ours holds for connected."""
    talk.lab.guest_must("rdma link delete rxe0; rdma link add rxe0 type rxe netdev eth0; sleep 1")
    ours = talk.partner("-c", "2", "server")
    ours.wait_for("listening")
    guest = talk.guest(probe("client", "-a", talk.net.ours, "send:64", "sleep:60000"))
    guest.wait_for("step send:64: ok")
    talk.lab.crash()
    guest.finish(20)
    again, _ = talk.guest(many("client", "-y", "3", "-a", talk.net.ours)).finish(talk.seconds)
    said, status = ours.finish(talk.seconds)
    return verdict(said, status, again, Wants(guest=("refused: 10", "1 connections over")), "")


def guest_vanishes(talk):
    """The guest's cable is pulled in the middle of a connection."""
    server = talk.guest(probe("server"))
    server.wait_for("listening")
    ours = talk.partner("client", talk.net.guest, "send:64", "sleep:3000", "send:65")
    ours.wait_for("step send:64: ok")
    with talk.lab.faults("drop"):
        said, status = ours.finish(talk.seconds)
    talk.lab.quiet()
    server.finish(20)
    return verdict(said, status, "", Wants(ours=("step send:65: FAILED", "event 0x4006"), status=1,
                                           steps_may_fail=True), "")


def deaths(lab, talk):
    yield Group("ours is the server, the guest's program leaves without a word", lambda: talk.server(
        probe("client", "-a", "HOST", "-E", "send:64"), "server", wants=Wants(ours=(ONE, DISCONNECTED))))
    yield Group("ours is the client, the guest's program is killed", lambda: guest_killed(talk))
    yield Group("ours is the server and is killed", lambda: ours_killed(talk),
                explains={"*": "ours was killed"})
    yield Group("ours is the client, its peer vanishes", lambda: guest_vanishes(Talk(lab, keys="timeout=14")))
    yield Group("ours is the client, is killed and connects the same queue pair: stale", lambda: ours_restarts(talk),
                needs_guest=True)
    yield Group("ours is the server, the guest crashes and connects the same queue pair: stale",
                lambda: guest_crashes(talk), needs_guest=True, explains={"*": "the guest's kernel began anew"})


def rping(talk):
    yield Group("ours is the server of rping", lambda: talk.server(
        f"rping -c -a {talk.net.ours} -p 7471 -v -C 10 -S 1000", "rping-server", wants=Wants(ours=("10 rounds",))))
    yield Group("ours is the client of rping", lambda: talk.client(
        "rping -s -p 7471 -v -C 10 -S 1000", "rping", "HOST", "10", "1000", port=7471,
        wants=Wants(ours=("10 rounds, 0 bad",))))


def all_cells(lab):
    talk = Talk(lab)
    for net in NETS:
        yield from begin_and_end(Talk(lab, NETS[net]), net)
    yield from slow(lab, talk)
    yield from disturbed(lab)
    yield from rping(talk)
    yield from thousand(talk)
    yield from timewait(talk)
    yield from deaths(lab, talk)
