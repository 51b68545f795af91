# SPDX-License-Identifier: BSD-3-Clause
"""Cells of live.py: the tools of Debian's dapl2-utils, as they are, over our provider for DAT 2.0 on one side and over
OFED's provider (rdma_cm) in the guest on the other.

They tell each other by TCP who they are, but for dapltest and dtestsrq. How they are judged: test/tools/judge_tool.py.
"""
import dataclasses
import os
import re
import shutil
import sys
import time

from cell import Group
from cells_perftest import BURST, GUEST, OURS
from lab import ADAPTER, HOST, STDBUF
from talk import Verdict

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import judge_tool  # noqa: E402  pylint: disable=wrong-import-position

PROVIDER = "libdaplroce.so.2"
SECONDS = 150
# A thousand endpoints take a while to free.
LAST_SECONDS = 30


@dataclasses.dataclass
class Tool:
    """What a tool says when it is ready and when it is done, and how it finds its server."""
    name: str
    ready: str
    done: str
    ours: str = HOST
    server: tuple = ("-s",)


DTEST = Tool("dtest", "waiting for client", "Test Complete. PASSED")
DTESTCM = Tool("dtestcm", "waiting for client", "Test Complete")
DTESTX = Tool("dtestx", "waiting to snd addr", "immed/atomic test PASSED", server=())
DTESTSRQ = Tool("dtestsrq", "server ready", "Test Complete", ours=OURS)
DAPLTEST = Tool("dapltest", "Service Point Ready", "Client Exiting", ours=OURS)
TOOLS = (DTEST, DTESTCM, DTESTX, DTESTSRQ, DAPLTEST)

# Way to (arguments, path MTU). The default burst, ten, is 260 MB, which an emulated host moves in half a minute.
DTESTS = {"": ("-b 65536 -B 3", 1024), "WRITEs that are looked for in memory": ("-b 4096 -W -D", 1024),
          "polling": ("-b 65536 -B 3 -p", 4096), "notification objects": ("-b 65536 -B 3 -c", 4096),
          "WRITE with immediate": ("-b 65536 -B 3 -w", 4096)}
SHARED = {"12 shared receives": (3, 4), "1000 shared receives": (100, 10)}
BURSTS = 3  # of dtestsrq
TRANSACTIONS = {
    "1 thread, 1 endpoint": "-i 100 -t 1 -w 1 -V client SR 256 server SR 256 client RW 4096 server RR 4096",
    "2 threads, 4 endpoints each":
        "-i 20 -t 2 -w 4 -V client SR 1024 3 server SR 1536 2 client RW 65536 server RR 65536",
    "2 threads, 2 endpoints each, polling": "-i 50 -t 2 -w 2 -V -P client SR 4096 server SR 8192",
}
OPERATIONS = {"RW": "WRITE", "RR": "READ"}
MODES = {"b": "blocking", "p": "polling"}
MESSAGE = re.compile(r"incoming data: header (-?\d+), ep num (\d+), ep msg num (\d+) ")
# A server says by TCP who it is, and before that, a moment too early, that it waits.
NOT_YET = "Could not connect to"
TRIES = 5
# dtestx tells its address before it listens: a client that is faster is refused, over any provider, and gives up.
LATE_REQUEST = "delay=1000,mad=0x10"
# Seen on the wire: rxe's timer runs on when an ACK comes, and a second later it repeats what was sent 2 to 8 ms before.
EXPLAINS = {**BURST, "completer_retry_err": "a timer of rxe, begun for an earlier request, ran out over a later one"}
HEADERS = {True: "-86", False: "85"}  # what a client, what a server gets


def lacks(lab):
    """Why the tools cannot run here, or empty."""
    for tool in TOOLS:
        if shutil.which(tool.name) is None:
            return f"{tool.name} is missing (package dapl2-utils)"
        if not lab.has_program(tool.name):
            return f"the guest's Debian has no {tool.name}"
    if shutil.which("stdbuf") is None or not os.path.exists(STDBUF):
        return "stdbuf is missing (package coreutils)"
    folders = lab.programs["libraries"].split(":")
    if not any(os.path.exists(os.path.join(folder, PROVIDER)) for folder in folders):
        return f"there is no {PROVIDER}: libdapl-dev was not there when this was built"
    return ""


def begin(lab, ours, *words):
    return lab.tool(*words) if ours else lab.guest_tool(*words, seconds=SECONDS)


def end(program, seconds=LAST_SECONDS):
    """All that it said, and how it ended."""
    said, status = program.finish(seconds)
    return f"{said}\nends with {status}\n" if status != -1 else f"{said}\nhad to be ended\n"


def judged(server, client, done, server_done=None):
    """A talk's verdict by what both sides said."""
    for who, said, words in (("the client", client, done), ("the server", server, server_done or done)):
        why = judge_tool.fault(said, words)
        if why:
            tail = " / ".join(line.strip() for line in said.strip().splitlines()[-4:])
            return Verdict(f"{who}: {why}: {tail}")
    return Verdict()


def serve(lab, client, tool, args):
    """The server of a talk, ready. @client: ours is the client."""
    lab.speak_tcp()
    server = begin(lab, not client, tool.name, "-P", ADAPTER, *tool.server, *args)
    server.wait_for(tool.ready)
    return server


def join(lab, client, tool, args):
    return begin(lab, client, tool.name, "-P", ADAPTER, "-h", GUEST if client else tool.ours, *args)


def talk(lab, client, tool, args):
    server = serve(lab, client, tool, args)
    for _ in range(TRIES):
        them = join(lab, client, tool, args)
        # A side that waits for one that is gone waits long.
        until = time.monotonic() + SECONDS
        while server.running() and them.running() and time.monotonic() < until:
            time.sleep(0.1)
        if NOT_YET not in them.said():
            break
    them = end(them)
    server = end(server, 2 if judge_tool.fault(them, tool.done) else LAST_SECONDS)
    return judged(server, them, tool.done)


def extended(lab, client):
    with lab.faults(*[LATE_REQUEST] * client):
        return talk(lab, client, DTESTX, ())


def ask(lab, client, kind, args, done):
    """One test of dapltest's server, which is asked to leave then."""
    where = GUEST if client else OURS
    server = begin(lab, not client, "dapltest", "-T", "S", "-D", ADAPTER)
    server.wait_for(DAPLTEST.ready)
    said = [end(begin(lab, client, "dapltest", "-T", kind, "-D", ADAPTER, "-s", where, *words), SECONDS)
            for kind, words in ((kind, args), ("Q", ()))]
    server = end(server, 10)
    if "Finished" not in server:
        return Verdict(f"the server finished nothing: {server.strip()[-200:]}; the client: {said[0].strip()[-200:]}")
    verdict = judged(server, said[0], done, "Exiting.")
    return verdict if verdict.why else judged(server, said[1], DAPLTEST.done, "Exiting.")


def missed(said, client, connections, burst):
    """What of the messages for one side did not come, or not in order; empty: all is well."""
    wanted = list(range(1, burst * BURSTS + 1))
    for endpoint in range(connections):
        got = [int(number) for header, ep, number in MESSAGE.findall(said)
               if int(ep) == endpoint and header == HEADERS[client]]
        if got != wanted:
            return f"endpoint {endpoint} got {got}"
    return ""


def shared(lab, client, connections, burst):
    """dtestsrq. OFED's side waits for an event that rxe does not have ("last WQE reached"), between two guests, too:
    of it all messages and the first disconnect are wanted. It is ended then, and ours must come to its end."""
    args = ("-c", str(connections), "-B", str(burst), "-v")
    server, them = serve(lab, client, DTESTSRQ, args), join(lab, client, DTESTSRQ, args)
    ours, guest = (them, server) if client else (server, them)
    guest.wait_for("Wait for EP async event", SECONDS)
    if client:
        ours.wait_for(DTESTSRQ.done)
    lab.call("run", "-t", "10", f"killall -9 {DTESTSRQ.name}")
    said, guest = end(ours), guest.finish(LAST_SECONDS)[0]
    why = judge_tool.fault(said, DTESTSRQ.done) or missed(said, client, connections, burst)
    if why:
        return Verdict(f"ours: {why}: {said.strip()[-200:]}")
    why = judge_tool.fault(f"{guest}\nends with 0", "disc event[0] complete") or \
        missed(guest, not client, connections, burst)
    return Verdict(f"the guest: {why}: {guest.strip()[-200:]}" if why else "")


def nobody(lab, tool):
    """Neither side passes with an adapter that nobody has."""
    for ours in (True, False):
        if tool is DAPLTEST:
            words = ("-T", "T", "-D", "nobody", "-s", GUEST if ours else OURS, "-i", "1", "client", "SR", "256",
                     "server", "SR", "256")
        else:
            words = ("-P", "nobody", *tool.server)
        said = end(begin(lab, ours, tool.name, *words), 20)
        if not judge_tool.fault(said, tool.done):
            return Verdict(f"{'ours' if ours else 'the guest'} passes: {said.strip()[-200:]}")
    return Verdict()


def all_cells(lab):
    def cell(name, go, **more):
        return Group(name, go, needs_tools=True, explains=EXPLAINS, **more)

    for tool in TOOLS:
        yield cell(f"either side, OFED's {tool.name} does not pass with an adapter that nobody has",
                   lambda tool=tool: nobody(lab, tool))
    for client in (True, False):
        role = "ours is the client" if client else "ours is the server"
        yield from tools_cells(lab, cell, role, client)
        yield from dapltest_cells(lab, cell, role, client)


def tools_cells(lab, cell, role, client):
    for way, (args, path_mtu) in DTESTS.items():
        yield cell(f"{role}, OFED's dtest{', ' * bool(way)}{way}",
                   lambda args=args: talk(lab, client, DTEST, args.split()),
                   path_mtu=path_mtu)
    yield cell(f"{role}, OFED's dtest, bursts of 10", lambda: talk(lab, client, DTEST, ("-b", "65536")), long=True)
    for way, args in (("1000 connections", "-c 1000"), ("100 connections, waiting", "-c 100 -w")):
        yield cell(f"{role}, OFED's dtestcm, {way}", lambda args=args: talk(lab, client, DTESTCM, args.split()))
    yield cell(f"{role}, OFED's dtestx", lambda: extended(lab, client))
    for way, (connections, burst) in SHARED.items():
        yield cell(f"{role}, OFED's dtestsrq, {way}", lambda c=connections, b=burst: shared(lab, client, c, b))
    yield cell(f"{role}, OFED's dtestsrq, nothing shared",
               lambda: talk(lab, client, DTESTSRQ, ("-c", "3", "-B", "4", "-S", "0")))


def dapltest_cells(lab, cell, role, client):
    for way, args in TRANSACTIONS.items():
        yield cell(f"{role}, OFED's dapltest T, {way}",
                   lambda args=args: ask(lab, client, "T", args.split(), DAPLTEST.done))
    for kind, operation in OPERATIONS.items():
        for mode, way in MODES.items():
            yield cell(f"{role}, OFED's dapltest P, {operation}, {way}",
                       lambda k=kind, m=mode: ask(lab, client, "P", f"-i 1000 -p 16 -m {m} {k} 4096".split(),
                                                  f"raw: {k}"))
