# SPDX-License-Identifier: BSD-3-Clause
"""Cells of live.py: perftest and ucmatose in the guest, both roles, and SEND and WRITE with immediate from us.

Without -R perftest tells its numbers over TCP.
"""
import re
import time

from cell import Group
from lab import HOST
from talk import Verdict

GUEST, OURS = "10.77.0.11", "10.77.0.1"
PORT, PROBE_PORT, SIZE, COUNT = 18515, 7471, 4000, 20
MORE_SIZES = (2, 65536)
SECONDS = 60
TESTS = ("send_bw", "send_lat", "write_bw", "write_lat", "read_bw", "read_lat", "atomic_bw", "atomic_lat")
SHARED = ("send_bw", "send_lat")
KILL = "killall -9 ucmatose " + " ".join(f"ib_{test}" for test in TESTS) + " 2>/dev/null; true"
# As ours posted it: nobody turns its bytes round.
IMMEDIATE = "imm 0x1badcafe"
# Twenty messages at once are eighty packets: who is late once makes us say all of them again.
BURST = {"duplicate_request": "the guest answered a burst later than the round trips before"}


def last(text):
    return " / ".join(line.strip() for line in text.splitlines()[-4:])


def talk(lab, guest, ours, ours_first, says):
    """Runs both sides."""
    if ours_first:
        us = lab.partner(*ours)
        us.wait_for("listening")
        them = lab.guest(guest, SECONDS)
    else:
        # Ours tries again until somebody listens.
        them = lab.guest(guest, SECONDS)
        us = lab.partner(*ours)
    # A side that waits for one that is gone waits long.
    while us.running() and them.running():
        time.sleep(0.1)
    if us.process.poll() not in (None, 0) or them.process.poll() not in (None, 0):
        lab.call("run", "-t", "10", KILL)
        us.process.terminate()
    out, rc = us.finish(SECONDS + 10)
    guest_out, guest_rc = them.finish(SECONDS + 10)
    if rc != 0:
        return Verdict(f"ours ended with {rc}: {last(out)}; the guest: {last(guest_out)}")
    if guest_rc != 0:
        return Verdict(f"the guest ended with {guest_rc}: {last(guest_out)}")
    return Verdict("" if re.search(says, guest_out, re.M) else f"'{says}' is missing in: {last(guest_out)}")


def perftest(lab, test, client, cm, size, shared=False):
    """One run of a test; @client: ours is."""
    atomic = test.startswith("atomic")
    size = 8 if atomic else size
    # Without rdma_cm perftest would say it again after 67 ms, which a busy machine may take; 18 is a second.
    guest = ["ib_" + test, "-d rxe0 -x 1 -F -u 18", f"-n {COUNT}"]
    ours = ["-p", str(PORT), "-n", str(COUNT), "-s", str(size), "-r", "100"]
    if not atomic:
        guest.append(f"-s {size}")
    # Busy polling starves an emulated host, but writes have no other way.
    if not test.startswith("write"):
        guest.append("-e")
    if cm:
        guest.append("-R")
        ours.append("-C")
    else:
        lab.speak_tcp()
    if shared:
        guest.append("--use-srq")
        ours.append("-S")
    # A side whose memory is read while it waits has measured nothing.
    says = "remote address" if client and test in ("read_lat", "atomic_lat") else rf"^ *{size} +{COUNT} "
    ours += ["perftest", test]
    if client:
        ours.append(GUEST)
    else:
        guest.append(OURS if cm else HOST)
    return talk(lab, " ".join(guest), ours, not client, says)


def ucmatose(lab, client, connections):
    guest = f"ucmatose -c {connections} -C 10 -S 100 " + (f"-b {GUEST}" if client else f"-s {OURS}")
    ours = ["-S", "-r", "100", "-s", "100", "-c", str(connections), "ucmatose", "10"] + ([GUEST] if client else [])
    return talk(lab, guest, ours, not client, "^return status 0")


def immediate(lab):
    guest = "rdmaprobe server -v -q 16 -n 16"
    ours = ["client", GUEST, "sleep:2000", "sendimm:0", "sendimm:10", "sendimm:5000", "writeimm:0", "writeimm:4097"]
    them = lab.guest(guest, SECONDS)
    lab.wait_for_listeners(PROBE_PORT)
    out, rc = lab.partner(*ours).finish(SECONDS)
    guest_out, guest_rc = them.finish(SECONDS)
    if rc != 0 or guest_rc != 0:
        return Verdict(f"ours ended with {rc}, the guest with {guest_rc}: {last(out)}; {last(guest_out)}")
    seen = guest_out.count(IMMEDIATE)
    return Verdict("" if seen == 5 else f"the guest saw the immediate data {seen} times of 5: {last(guest_out)}")


def all_cells(lab):
    for client in (True, False):
        role = "ours is the client" if client else "ours is the server"
        for cm in (True, False):
            way = "rdma_cm" if cm else "socket exchange"
            for test in TESTS:
                yield Group(f"{role}, perftest ib_{test}, {way}",
                            lambda a=(test, client, cm): perftest(lab, *a, SIZE), explains=BURST)
            for test in SHARED:
                yield Group(f"{role}, perftest ib_{test}, {way}, shared queues",
                            lambda a=(test, client, cm): perftest(lab, *a, SIZE, True), explains=BURST)
            for test, size in ((test, size) for size in MORE_SIZES for test in TESTS[:6]):
                yield Group(f"{role}, perftest ib_{test}, {way}, bytes: {size}",
                            lambda a=(test, client, cm, size): perftest(lab, *a), long=True, explains=BURST)
        for connections in (1, 8):
            yield Group(f"{role}, ucmatose, connections: {connections}",
                        lambda a=(client, connections): ucmatose(lab, *a))
    yield Group("ours is the client, SEND and WRITE with immediate", lambda: immediate(lab))
