#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Talks with a Linux host whose kernel has RoCE (rdma_rxe), in a guest of the lab.

live.py --lab RXE_LAB --partner PROGRAM --libraries DIR --work DIR [--long] [--only WORDS]

One line for each cell: role of ours, what is said, what the wire does. The last line is the count. Needs root and
QEMU; where something is missing everything is skipped, with the reason.
"""
import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import time

GUEST, OURS = "10.77.0.11", "10.77.0.1"
SIZES = (0, 1, 2, 3, 4, 33, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 1 << 20)
# rdmaprobe's text for the server's offer comes behind 24 bytes of numbers.
LOSSY = ("drop,prob=0.02", "dup,prob=0.02", "reorder,prob=0.02")
QUIET = "killall -9 rdmaprobe rping ucmatose 2>/dev/null; true"
CAPTURE_SECONDS = 0.5


def steps(verb, sizes=SIZES):
    return [f"{verb}:{size}" for size in sizes]


class Lab:
    """The lab's commands, in a working folder of ours."""

    def __init__(self, args):
        self.args = args
        self.env = dict(os.environ, RXE_LAB_DIR=os.path.join(args.work, "lab"), RXE_LAB_GUESTS="a",
                        RXE_LAB_NETNS=f"live{os.getpid()}")
        os.makedirs(self.env["RXE_LAB_DIR"], exist_ok=True)
        self.conf = os.path.join(args.work, "dat.conf")

    def call(self, *words, timeout=600):
        return subprocess.run([self.args.lab, *words], env=self.env, text=True, capture_output=True, timeout=timeout,
                              check=False)

    def must(self, *words, timeout=600):
        run = self.call(*words, timeout=timeout)
        if run.returncode != 0:
            raise RuntimeError(f"rxe-lab {' '.join(words)}: {(run.stderr or run.stdout).strip()[-300:]}")
        return run.stdout

    def up(self, mtu):
        self.env["RXE_LAB_MTU"] = str(mtu)
        self.must("up")
        self.must("run", "-t", "20", f"ip -6 addr add fd77::11/64 dev eth0 nodad; {QUIET}")
        # An emulated host takes its time over long answers.
        with open(self.conf, "w", encoding="utf-8") as out:
            for name, ip in (("v4", f"{OURS}/24"), ("v6", "fd77::1/64")):
                out.write(f'{name} u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 '
                          f'"port=net_af_packet0,iface=dut0 ip={ip} timeout=18" ""\n')

    def guest(self, command, seconds):
        """A command in the guest, whose output is read later."""
        return subprocess.Popen([self.args.lab, "run", "-t", str(seconds), command], env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def partner(self, *words, ia="v4"):
        command = [self.args.lab, "netns", "env", f"DAT_OVERRIDE={self.conf}",
                   f"LD_LIBRARY_PATH={self.args.libraries}", self.args.partner, "-D", ia, *words]
        return subprocess.Popen(command, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def counters(self):
        text = self.must("run", "-t", "20", "cd /sys/class/infiniband/rxe0/ports/1/hw_counters; grep . *")
        return {name: int(value) for name, value in (line.split(":") for line in text.split() if ":" in line)}


def finish(process, seconds):
    """(all output, exit status) of a process that should end by itself."""
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        return out, -1
    return out, process.returncode


def wait_for(process, words, seconds=30):
    """Read until the words are there, the output ends or the time is up. Returns what was read."""
    seen, until = "", time.monotonic() + seconds
    while words not in seen:
        # The pipe is read below the text layer, so that nothing waits in a buffer while select() sees nothing.
        left = until - time.monotonic()
        if left <= 0 or not select.select([process.stdout.buffer.raw], [], [], left)[0]:
            break
        piece = os.read(process.stdout.fileno(), 4096)
        if not piece:
            break
        seen += piece.decode("utf-8", "replace")
    return seen


class Talk:
    """One connection, or several, between ours and the guest's program. Empty string: as it should be."""

    def __init__(self, lab, seconds):
        self.lab, self.seconds = lab, seconds

    def client(self, guest, *words, ready="listening", ia="v4", host=GUEST, status=0, says=()):
        """Ours connects to a program in the guest."""
        server = self.lab.guest(guest, self.seconds)
        if ready:
            wait_for(server, ready)
        else:
            time.sleep(2)
        words = [host if word == "HOST" else word for word in words]
        out, rc = finish(self.lab.partner(*words, ia=ia), self.seconds)
        if server.poll() is None:
            self.lab.call("run", "-t", "10", QUIET)
        server_out, _ = finish(server, 20)
        return judge(out, rc, status, says) or judge(server_out, 0, 0, ())

    def server(self, guest, *words, ia="v4", status=0, guest_says=(), says=()):
        """A program in the guest connects to ours."""
        ours = self.lab.partner(*words, ia=ia)
        head = wait_for(ours, "listening")
        guest_out, _ = finish(self.lab.guest(guest, self.seconds), self.seconds + 10)
        out, rc = finish(ours, self.seconds)
        return judge(head + out, rc, status, says) or judge(guest_out, 0, 0, guest_says)


def judge(out, rc, status, says):
    if rc != status:
        return f"exit status {rc}: {out.strip()[-200:]}"
    for line in out.splitlines():
        if "FAILED" in line:
            return line
    for words in says:
        if words not in out:
            return f"'{words}' is missing in: {out.strip()[-300:]}"
    return ""


def probe(role, *words):
    return " ".join(["rdmaprobe", role, *words])


def received(count, size):
    return f"{count} messages, {size} bytes, 0 bad"


def verb_cells(talk, long, label, ia="v4", host=GUEST, ours=OURS):
    """Every verb, all sizes, both roles."""
    big = ("-a", host, "-s", str(1 << 20), "-q", "16", "-n", "16")
    sizes = SIZES if long else SIZES[:-1] + (1 << 20,)
    total = sum(sizes)
    for verb in ("send", "write", "read"):
        yield f"ours is the client, {verb}, {label}", lambda v=verb: talk.client(
            probe("server", *big), "client", "HOST", *steps(v, sizes), ia=ia, host=host)
    yield f"ours is the client, atomics, {label}", lambda: talk.client(
        probe("server", "-a", host), "client", "HOST", "write:64", "fadd", "fadd", "cswp", ia=ia, host=host,
        says=("0x312a231c150e0700", "0x312a231c150e0800"))
    for queue, option in (("a queue of its own", ()), ("a shared queue", ("-S",))):
        yield f"ours is the server, send into {queue}, {label}", lambda o=option: talk.server(
            probe("client", "-a", ours, *steps("send", sizes)), *o, "-s", str(1 << 20), "-r", "16", "server", ia=ia,
            says=(received(len(sizes), total),), guest_says=(f"step send:{sizes[-1]}: ok",))
    yield f"ours is the server, immediate, solicited, inline, {label}", lambda: talk.server(
        probe("client", "-I", "64", "-a", ours, "sendimm:10", "sendsol:1025", "sendinl:33", "writeimm:4097",
              "writeinl:20"), "-A", "server", ia=ia, says=("4 messages",), guest_says=("step writeinl:20: ok",))
    yield f"ours is the server, write, read, atomics, {label}", lambda: talk.server(
        probe("client", "-a", ours, *steps("write", sizes), *steps("read", sizes), "fadd", "cswp", "reads:40"),
        "server", ia=ia, guest_says=("step reads:40: ok",))


def cm_cells(talk):
    """Connections: what is said at their begin and end."""
    yield "ours is the client, private data both ways", lambda: talk.client(
        probe("server", "-d", "world"), "-d", "hello", "client", "HOST", "send:1", says=("established: world",))
    yield "ours is the server, private data both ways", lambda: talk.server(
        probe("client", "-a", OURS, "-d", "hello", "send:1"), "-d", "world", "server", says=("request: hello",),
        guest_says=(b"world".hex(),))
    yield "ours is the client, nobody listens", lambda: talk.client(
        "true", "client", "HOST", "send:1", ready=None, status=3, says=("event 0x4003",))
    yield "ours is the client, rejected", lambda: talk.client(
        probe("server", "-R", "-d", "no"), "client", "HOST", "send:1", status=3, says=("event 0x4002",))
    yield "ours is the server, rejects", lambda: talk.server(
        probe("client", "-a", OURS), "-R", "server", guest_says=("REJECTED status 28",))
    yield "ours is the server, nobody listens", lambda: talk.server(
        probe("client", "-p", "8000", "-a", OURS), "-c", "0", "server", guest_says=("REJECTED status 8",))
    yield "ours is the server, answers after 8 s", lambda: talk.server(
        probe("client", "-a", OURS, "send:64"), "-w", "8000", "server", says=(received(1, 64),))
    yield "ours is the server, the peer is killed", lambda: talk.server(
        probe("client", "-a", OURS, "-E", "send:64"), "server", says=(received(1, 64), "event 0x4005"))
    yield "ours is the client, 20 connections in a row", lambda: talk.client(
        probe("server", "-c", "20"), "-n", "20", "client", "HOST", "send:64", "read:64")
    yield "ours is the client, wrong keys and bounds", lambda: talk.client(
        probe("server"), "client", "HOST", "badkey:64", says=("status 6",)) or talk.client(
        probe("server"), "client", "HOST", "badkeyr:64", says=("status 6",)) or talk.client(
        probe("server"), "client", "HOST", "oob:64", says=("status 6",))


def rping_cells(talk):
    yield "ours answers rping", lambda: talk.server(
        f"rping -c -a {OURS} -p 7471 -v -C 10 -S 1000", "rping-server", says=("10 rounds",))
    yield "ours is the client of rping", lambda: talk.client(
        "rping -s -p 7471 -v -C 10 -S 1000", "rping", GUEST, "10", "1000", ready=None, says=("10 rounds, 0 bad",))


def fault_cells(lab, talk):
    """The same when the wire is bad."""
    def with_faults(rules, go):
        lab.must("fault", "a", *rules)
        try:
            return go()
        finally:
            lab.must("nofault", "a")

    work = ("send:65536", "send:1048576", "fill:60", "write:65536", "write:1048576", "read:65536", "read:262144",
            "fadd", "cswp", "reads:40")
    yield "ours is the client, all verbs, loss, duplicates, disorder", lambda: with_faults(LOSSY, lambda: talk.client(
        probe("server", "-s", str(1 << 20), "-q", "80", "-n", "80"), "client", "HOST", *work))
    yield "ours is the server, all verbs, loss, duplicates, disorder", lambda: with_faults(LOSSY, lambda: talk.server(
        probe("client", "-a", OURS, *work), "-S", "-s", str(1 << 20), "-r", "100", "server",
        says=("62 messages", " 0 bad"), guest_says=("step reads:40: ok",)))
    for name, attribute in (("REQ", 0x10), ("REP", 0x13), ("RTU", 0x14), ("DREQ", 0x15), ("DREP", 0x16)):
        rule = (f"drop,mad={attribute:#x},nth=1",)
        yield f"ours is the client, the first {name} is lost", lambda r=rule: with_faults(r, lambda: talk.client(
            probe("server"), "client", "HOST", "send:64"))
        yield f"ours is the server, the first {name} is lost", lambda r=rule: with_faults(r, lambda: talk.server(
            probe("client", "-a", OURS, "send:64"), "server", says=(received(1, 64),)))
    yield "ours is the client, receiver not ready for 2 s", lambda: talk.client(
        probe("server", "-D", "2000", "-M", "12"), "client", "HOST", "send:64", "send:5000")


def cells(lab, long):
    talk = Talk(lab, 120)
    lab.up(1500)
    yield from verb_cells(talk, long, "IPv4, MTU 1024")
    yield from verb_cells(talk, long, "IPv6, MTU 1024", "v6", "fd77::11", "fd77::1")
    yield from cm_cells(talk)
    yield from rping_cells(talk)
    yield from fault_cells(lab, talk)
    if long:
        lab.must("down")
        lab.up(4200)
        yield from verb_cells(talk, long, "IPv4, MTU 4096")


class Recorder:
    """All that is on the wire, for others to judge."""

    def __init__(self, lab, path):
        self.path = path
        self.process = subprocess.Popen([lab.args.lab, "netns", "tcpdump", "-i", "tap-a", "-U", "-w", path,
                                         "udp port 4791"], env=lab.env, stderr=subprocess.DEVNULL)
        time.sleep(CAPTURE_SECONDS)

    def end(self):
        time.sleep(CAPTURE_SECONDS)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def malformed(self):
        """How many frames of ours tshark finds malformed, and how many there are."""
        command = ["tshark", "-r", self.path]
        for protocol in ("rpcordma", "idp", "smc"):
            command += ["--disable-protocol", protocol]
        ours = f"(ip.src=={OURS} or ipv6.src==fd77::1) and infiniband"
        counts = []
        for rule in (f"{ours} and _ws.malformed", ours):
            run = subprocess.run([*command, "-Y", rule], text=True, capture_output=True, check=False)
            counts.append(len(run.stdout.splitlines()))
        return counts


def missing(args):
    if os.geteuid() != 0:
        return "not root"
    if not os.access(args.lab, os.X_OK):
        return f"there is no lab at {args.lab}"
    for program in ("qemu-system-x86_64", "tcpdump", "tshark", "cpio", "busybox"):
        if shutil.which(program) is None:
            return f"{program} is missing"
    return None


def run_all(args, lab):
    """Prints a line for each cell. Returns passed and failed."""
    passed = failed = 0
    lab.must("build")
    recorder = None
    try:
        for name, go in cells(lab, args.long):
            if args.only not in name:
                continue
            if recorder is None:
                before = lab.counters()
                recorder = Recorder(lab, os.path.join(args.work, "wire.pcap"))
            try:
                why = go()
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                why = str(error)
            passed, failed = passed + (not why), failed + bool(why)
            print(f"{'failed: ' if why else 'passed: '}{name}{': ' + why if why else ''}", flush=True)
    finally:
        if recorder is not None:
            recorder.end()
    if recorder is None:
        return 0, 1
    bad, all_of_ours = recorder.malformed()
    print(f"{'failed' if bad or not all_of_ours else 'passed'}: tshark finds {bad} of {all_of_ours} frames of ours malformed")
    after = lab.counters()
    print("rxe counted: " + ", ".join(f"{name} {after[name] - before.get(name, 0)}" for name in sorted(after)))
    ok = not bad and all_of_ours > 0
    return passed + ok, failed + (not ok)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("lab", "partner", "libraries", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", metavar="WORDS", default="", help="cells whose line has these words")
    args = parser.parse_args()
    why = missing(args)
    if why:
        print(f"skipped: a live Linux peer: {why}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    os.makedirs(args.work, exist_ok=True)
    # Whoever ends this wants the guest and the recorder to end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lab = Lab(args)
    passed = failed = 0
    try:
        passed, failed = run_all(args, lab)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"failed: the lab: {error}")
        failed += 1
    finally:
        lab.call("down")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
