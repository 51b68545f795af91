#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian under roce-run with ROCE_FAULTS: what they survive, and what counters tell of it.

  faults.py ROCE_RUN ROCED

Packages rdmacm-utils, perftest and ibverbs-utils have the programs. The processes have a roced of their own.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

SURVIVED = "loss=1%,reorder=1%,corrupt=0.1%,rnr=1%"


class Host:
    """The processes of this test, each of which ends with it."""

    def __init__(self, folder, run, roced):
        self.run, self.roced, self.folder = run, roced, folder
        self.environ = dict(os.environ, XDG_RUNTIME_DIR=str(folder), RUNTIME_DIRECTORY=str(folder), UDAPL_ROCE_ROCED=roced)
        for name in ("DAT_OVERRIDE", "UDAPL_ROCE_PARAMS", "UDAPL_ROCE_EAL", "ROCE_FAULTS"):
            self.environ.pop(name, None)
        self.children = []

    def start(self, faults, *command):
        child = subprocess.Popen([self.run, *command], env=dict(self.environ, ROCE_FAULTS=faults), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.children.append(child)
        return child

    def status(self):
        done = subprocess.run([self.roced, "--status", "--json"], env=self.environ, capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def end(self):
        for child in self.children:
            child.kill()
            child.wait(limit.SECONDS)
        pid = self.status().get("pid")
        if pid:
            os.kill(pid, signal.SIGTERM)


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return str(one.getsockname()[1])


def listens_at(port):
    """A process does, by the kernel."""
    tables = "".join(Path(name).read_text(encoding="ascii") for name in ("/proc/net/tcp", "/proc/net/tcp6"))
    return any(f":{int(port):04X} " in line and " 0A " in line for line in tables.splitlines())


def counters(host, child):
    """What the process counts, by DPDK's telemetry: each process of the user has a socket of its own."""
    for path in Path(host.folder).glob("dpdk/*/dpdk_telemetry.v2*"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
            try:
                link.connect(str(path))
            except OSError:
                continue
            hello = json.loads(link.recv(1024))
            link.send(b"/roce/stats")
            stats = json.loads(link.recv(hello["max_output_len"]))["/roce/stats"]
            if hello["pid"] == child.pid:
                return stats["roced"]
    raise AssertionError(f"process {child.pid} answers no question")


def ends(child, well=True):
    text, _ = child.communicate(timeout=limit.SECONDS)
    assert (child.returncode == 0) == well, f"{child.args} ends with {child.returncode}: {text[-2000:]}"
    return text


def rping(host):
    """A ping-pong of SEND, WRITE and READ ends well, and the server, which goes on, has counted what was done to it."""
    port = free_port()
    server = host.start(f"seed=7,{SURVIVED}", "rping", "-s", "-P", "-p", port)
    limit.wait_until("rping listens", lambda: any(one["listeners"] for one in host.status().get("processes", [])))
    ends(host.start(f"seed=8,{SURVIVED}", "rping", "-c", "-a", "127.0.0.1", "-C", "2000", "-p", port))
    assert server.poll() is None, ends(server)
    found = counters(host, server)
    for name in ("port_injected_losses", "port_injected_reorders", "port_injected_corruptions", "injected_rnr_naks", "retransmits"):
        assert found[name] > 0, (name, found)


def bandwidth(host):
    """Messages of many packets arrive at both ends."""
    port = free_port()
    command = ("ib_send_bw", "-x", "0", "-F", "-n", "200", "-p", port)
    server = host.start(f"seed=9,{SURVIVED}", *command)
    limit.wait_until("ib_send_bw listens", lambda: listens_at(port))
    ends(host.start(f"seed=10,{SURVIVED}", *command, "127.0.0.1"))
    ends(server)


def words(host):
    """A word that is none: no device, and one sentence that names variable and word."""
    said = ends(host.start("loss=1%,los=2%", "ibv_devinfo"), well=False)
    assert "ROCE_FAULTS: los=2% is unknown" in said, said


def main():
    for program in ("rping", "ib_send_bw", "ibv_devinfo"):
        if not shutil.which(program):
            print(f"{program} is missing (packages rdmacm-utils, perftest, ibverbs-utils)")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        host = Host(Path(folder), *sys.argv[1:3])
        try:
            for case in (rping, bandwidth, words):
                case(host)
        finally:
            host.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
