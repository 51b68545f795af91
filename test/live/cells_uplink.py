# SPDX-License-Identifier: BSD-3-Clause
"""Cells of live.py: four processes of ours behind one roced, whose uplink is the port, and the guest's clients.

All four have one address, so the port of a listener alone says whose a client is. Each pair has a number or a size of its
own: a client that another process served would be found by that.
"""
import time

from cell import Group
from cells_perftest import COUNT, GUEST, OURS, last
from talk import Verdict

SERVERS = 4
RPING_PORT, PERFTEST_PORT = 7471, 18515
SECONDS = 90
TESTS = ("send_bw", "send_lat", "write_bw", "read_bw")


def rounds(i):
    return 10 * (i + 1)


def size(i):
    return 1000 * (i + 1)


def at_once(commands):
    """Commands of the guest at the same time. The status is that of one that failed."""
    commands = list(commands)
    return "; ".join(f"({command}) & p{i}=$!" for i, command in enumerate(commands)) + "; " + \
        " && ".join(f"wait $p{i}" for i in range(len(commands)))


def wait_until_listening(lab, roced, n):
    """Until so many processes listen."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        listeners = [p for p in lab.roced_status(roced)["processes"] if p["listeners"]]
        if len(listeners) == n:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{len(listeners)} of {n} servers listen: {roced.said()[-300:]}")


def judge(servers, them, words):
    """Each server ends by itself, and says its words."""
    guest_out, guest_rc = them.finish(SECONDS + 10)
    for i, server in enumerate(servers):
        out, rc = server.finish(SECONDS if guest_rc == 0 else 1)
        if rc != 0 or words(i) not in out:
            return Verdict(f"server {i} ended with {rc}, without '{words(i)}': {last(out)}; the guest: {last(guest_out)}")
    return Verdict("" if guest_rc == 0 else f"the guest ended with {guest_rc}: {last(guest_out)}")


def rping(lab):
    with lab.roced() as roced:
        servers = [lab.behind_roced("-p", str(RPING_PORT + i), "rping-server") for i in range(SERVERS)]
        wait_until_listening(lab, roced, SERVERS)
        them = lab.guest(at_once(f"rping -c -a {OURS} -p {RPING_PORT + i} -v -C {rounds(i)} -S {size(i)}"
                                 for i in range(SERVERS)), SECONDS)
        return judge(servers, them, lambda i: f"{rounds(i)} rounds")


def perftest(lab):
    """A test each, one after the other on the one processor of the guest, while the other servers wait."""
    with lab.roced() as roced:
        servers = [lab.behind_roced("-p", str(PERFTEST_PORT + i), "-n", str(COUNT), "-s", str(size(i)), "-r", "100", "-C",
                                    "perftest", test) for i, test in enumerate(TESTS)]
        wait_until_listening(lab, roced, len(TESTS))
        them = lab.guest(" && ".join(f"ib_{test} -d rxe0 -x 1 -F -R -u 18 -p {PERFTEST_PORT + i} -n {COUNT} -s {size(i)} {OURS}"
                                     for i, test in enumerate(TESTS)), SECONDS)
        return judge(servers, them, lambda i: "")


def clients(lab):
    """The other way: four processes connect to one server of the guest each."""
    with lab.roced():
        them = lab.guest(at_once(f"rping -s -p {RPING_PORT + i} -v -C {rounds(i)} -S {size(i)}"
                                 for i in range(SERVERS)), SECONDS)
        lab.wait_for_listeners(*(RPING_PORT + i for i in range(SERVERS)))
        ours = [lab.behind_roced("-p", str(RPING_PORT + i), "rping", GUEST, str(rounds(i)), str(size(i)))
                for i in range(SERVERS)]
        return judge(ours, them, lambda i: "")


def all_cells(lab):
    who = "four processes of one roced"
    yield Group(f"ours is the server, {who}, rping", lambda: rping(lab))
    yield Group(f"ours is the server, {who}, perftest, rdma_cm", lambda: perftest(lab))
    yield Group(f"ours is the client, {who}, rping", lambda: clients(lab))
