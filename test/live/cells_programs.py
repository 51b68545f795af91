# SPDX-License-Identifier: BSD-3-Clause
"""Cells of live.py: programs of verbs as Debian has them at both ends. On one side they run by roce-run behind a roced whose
uplink is the port, in the guest on rxe.

Their exit statuses and tables are one judge; rping -V compares what comes back, too.
"""
import contextlib
import os
import re
import shutil
import time

from cell import Group
from cells_dapl import EXPLAINS, LATE_REQUEST
from cells_perftest import COUNT, GUEST, OURS, PORT, SIZE, TESTS, last
from cells_uplink import wait_until_listening
from lab import HOST, NETS
from talk import Verdict

SECONDS = 60
RPING_PORT, QPERF_PORT = 7471, 19765
CM_LISTENS = "rdma resource show cm_id | grep -q LISTEN"
ROUNDS = 20
QPERF_TESTS = ("rc_lat", "rc_bw", "rc_rdma_write_bw", "rc_rdma_read_bw", "rc_fetch_add_mr")
PINGS = rf"ping data: rdma-ping-{ROUNDS - 1}"
# A side that answers a READ or an atomic has measured nothing.
PASSIVE = ("read_lat", "atomic_lat")
KILL = "killall -9 rping ucmatose qperf " + " ".join(f"ib_{test}" for test in TESTS) + " 2>/dev/null; true"
# On this host; the guest has those of its packages.
PROGRAMS = ("ib_send_bw", "rping", "qperf")
ROLES = {True: "ours is the client", False: "ours is the server"}


def lacks(lab):
    """Why no program can run here, or empty."""
    if not os.access(lab.programs["run"], os.X_OK):
        return "there is no roce-run: libibverbs-dev was not there when this was built"
    for program in PROGRAMS:
        if shutil.which(program) is None:
            return f"{program} is missing (packages perftest, rdmacm-utils, qperf)"
        if not lab.has_program(program):
            return f"the guest's image has no {program}: remove {lab.folder}"
    return ""


def tcp_listens(port):
    """A command that succeeds when that port of the kernel listens."""
    return f"cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':{port:04X} .* 0A '"


def wait_for_guest(lab, check):
    lab.guest_must(f"n=0; until {check}; do n=$((n + 1)); [ $n -lt 200 ] || exit 1; sleep 0.1; done", 30)


def wait_for_ours(lab, roced, port):
    """Until our server listens; @port: of the kernel, or None: that of rdma_cm."""
    if port is None:
        wait_until_listening(lab, roced, 1)
        return
    until = time.monotonic() + 30
    while lab.call("netns", "sh", "-c", tcp_listens(port)).returncode != 0:
        if time.monotonic() > until:
            raise RuntimeError(f"our server does not listen at port {port}")
        time.sleep(0.1)


def fault(who, program, says, seconds=SECONDS):
    """Why this side of a talk is wrong; empty: it ended well, and said the words."""
    said, status = program.finish(seconds)
    if status != 0:
        return f"{who} ended with {status}: {last(said)}"
    missing = [words for words in says if not re.search(words, said, re.M)]
    return f"{who} does not say '{missing[0]}': {last(said)}" if missing else ""


def judge(lab, ours, guest, ours_says, guest_says):
    """Both ends are to end by themselves, well."""
    until = time.monotonic() + SECONDS
    while ours.running() and guest.running() and time.monotonic() < until:
        time.sleep(0.05)
    # A side whose peer has failed may wait for ever.
    if ours.process.poll() not in (None, 0) or guest.process.poll() not in (None, 0) or time.monotonic() >= until:
        time.sleep(1)  # until the other side has ended by itself, which it may never do
        lab.call("run", "-t", "10", KILL)
    whys = fault("ours", ours, ours_says, 15), fault("the guest", guest, guest_says, 15)
    return Verdict("; ".join(why for why in whys if why))


@contextlib.contextmanager
def ended(program):
    """A program that ends with this; one of ours with its children: qperf has one for each client."""
    try:
        yield program
    finally:
        if program.running():
            program.terminate()
            program.finish(10)


def talk(lab, client, ours, guest, says, port=None, net=NETS["IPv4"]):
    """One command at each end. @port: at which the server listens by TCP, or None: by rdma_cm; @says: of ours, of the guest"""
    with lab.roced(net) as roced:
        if client:
            them = lab.guest(guest, SECONDS)
            wait_for_guest(lab, tcp_listens(port) if port else CM_LISTENS)
            with ended(lab.program(*ours.split())) as us:
                return judge(lab, us, them, *says)
        with ended(lab.program(*ours.split())) as us:
            wait_for_ours(lab, roced, port)
            return judge(lab, us, lab.guest(guest, SECONDS), *says)


def perftest(lab, test, client, cm):
    size = 8 if test.startswith("atomic") else SIZE
    # 18 is a second: an emulated host may take longer than perftest's 67 ms.
    same = f"-F -u 18 -n {COUNT}" + f" -s {SIZE}" * (size == SIZE) + " -R" * cm
    ours, guest = f"ib_{test} -d roce0 -x 0 {same}", f"ib_{test} -d rxe0 -x 1 {same}"
    # Busy polling starves an emulated host, but writes have no other way.
    if not test.startswith("write"):
        guest += " -e"
    if not cm:
        lab.speak_tcp()
    if client:
        ours += f" {GUEST}"
    else:
        guest += f" {OURS if cm else HOST}"
    # perftest listens anew for its own queue pair. A client that is faster is refused, over any device, and gives up.
    rules = [LATE_REQUEST] * (client and cm)
    table = rf"^ *{size} +{COUNT} "
    passive = "remote address" if test in PASSIVE else table
    says = ([table], [passive]) if client else ([passive], [table])
    with lab.faults(*rules):
        return talk(lab, client, ours, guest, says, None if cm else PORT)


def rping(lab, client, net, size):
    server, asks = f"rping -s -p {RPING_PORT} -C {ROUNDS} -S {size} -v -a", f"rping -c -V -v -p {RPING_PORT} -C {ROUNDS} -S {size} -a"
    ours = f"{asks} {net.guest}" if client else f"{server} {net.ours}"
    guest = f"{server} {net.guest}" if client else f"{asks} {net.ours}"
    return talk(lab, client, ours, guest, ([PINGS], [PINGS]), net=net)


def persistent(lab, client):
    """A server that goes on, and two clients, one after the other."""
    server, asks = f"rping -s -P -p {RPING_PORT}", f"rping -c -V -v -p {RPING_PORT} -C {ROUNDS} -a"
    with lab.roced() as roced, ended(lab.guest(server, SECONDS) if client else lab.program(*server.split())) as serves:
        if client:
            wait_for_guest(lab, CM_LISTENS)
        else:
            wait_for_ours(lab, roced, None)
        for number in ("first", "second"):
            program = lab.program(*f"{asks} {GUEST}".split()) if client else lab.guest(f"{asks} {OURS}", SECONDS)
            why = fault(f"the {number} client", program, [PINGS])
            if why or not serves.running():
                return Verdict(why or f"the server ended behind the {number} client: {last(serves.said())}")
    return Verdict()


def ucmatose(lab, client, connections):
    same = f"ucmatose -c {connections} -C 10 -S 3000"
    ours = f"{same} -s {GUEST}" if client else same
    guest = same if client else f"{same} -s {OURS}"
    return talk(lab, client, ours, guest, (["^return status 0"], ["^return status 0"]))


def qperf(lab, client):
    """Its client has one name for the server, by TCP and by rdma_cm: that of the guest, or ours."""
    asks = f"qperf {GUEST if client else OURS} -cm 1 -t 1 {' '.join(QPERF_TESTS)}"
    tables = [rf"^{test}:" for test in QPERF_TESTS]
    with lab.roced(), lab.kernel_has(), ended(lab.guest("qperf", SECONDS) if client else lab.program("qperf")) as server:
        if client:
            wait_for_guest(lab, tcp_listens(QPERF_PORT))
        else:
            wait_for_ours(lab, None, QPERF_PORT)
        why = fault("ours" if client else "the guest", lab.program(*asks.split()) if client else lab.guest(asks, SECONDS), tables)
        return Verdict(why or ("" if server.running() else f"the server ended: {last(server.said())}"))


def all_cells(lab):
    def cell(client, what, go):
        return Group(f"{ROLES[client]}, by roce-run, {what}", go, explains=EXPLAINS, needs_programs=True)

    for client in (True, False):
        for cm in (True, False):
            for test in TESTS:
                yield cell(client, f"ib_{test}, {'rdma_cm' if cm else 'socket exchange'}",
                           lambda a=(test, client, cm): perftest(lab, *a))
        for net, size in (("IPv4", 1000), ("IPv4", 50000), ("IPv6", 1000)):
            yield cell(client, f"rping, {net}, bytes: {size}",
                       lambda a=(client, NETS[net], size): rping(lab, *a))
        yield cell(client, "rping, a server for several clients", lambda c=client: persistent(lab, c))
        for connections in (1, 8):
            yield cell(client, f"ucmatose, connections: {connections}",
                       lambda a=(client, connections): ucmatose(lab, *a))
        yield cell(client, "qperf", lambda c=client: qperf(lab, c))
