# SPDX-License-Identifier: BSD-3-Clause
"""The programs that are compared, the properties of each, and how it is started."""
from dataclasses import dataclass, field
from typing import Callable, Optional

import parse
from machine import HOST, listens

SIZES = (64, 1024, 4096, 65536, 1048576)
# Messages in flight, as dat-perf chooses them by itself. The other programs get the same numbers.
WINDOW = {64: 128, 1024: 128, 4096: 128, 65536: 8, 1048576: 4}
SERVER, CLIENT = "192.0.2.1", "192.0.2.2"
WARMUP_MOST = 20000

STREAM = "two processes, a core each, many messages in flight"
PINGPONG = "two processes, a core each, one message at a time"
ALONE = "one process"
GROUPS = (STREAM, PINGPONG, ALONE)


@dataclass(frozen=True)
class Facts:
    """What happens to a message; columns of the legend."""
    processes: int
    cores: int
    kernel: str
    frames: str
    checksum: str
    copies: str
    reliable: str


@dataclass(frozen=True)
class Job:
    """One measurement: a program started once or as server and client."""
    client: list
    read: Callable
    server: Optional[list] = None
    ready: Optional[Callable] = None
    stays: bool = False
    cores: int = 1
    environment: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Way:
    """A line of the table. rate, trip: given messages' size and number and a port they make the Job, or None."""
    key: str
    name: str
    group: str
    program: str
    package: str
    facts: Facts
    rate: Optional[Callable] = None
    trip: Optional[Callable] = None
    against: str = ""  # the key of ours that it is compared with
    sizes: tuple = SIZES
    mean: bool = False  # half round trips are means, because the program prints no median

    @property
    def ours(self):
        return self.program == "dat-perf"

    def job(self, test, size, count, port):
        make = self.rate if test == "rate" else self.trip
        return make(size, count, port)


def warm(count):
    return min(WARMUP_MOST, max(count // 10, 1))


OWN = {"frames": "RoCEv2 in Ethernet", "checksum": "ICRC", "reliable": "ACK, timeout, selective repeat"}
OURS = Facts(2, 2, "no", copies="4: frame and ring at either end", **OWN)
OURS_ONE = Facts(1, 1, "no", copies="2: frame at either end", **OWN)
OURS_TWO = Facts(1, 2, "no", copies="2: frame at either end", **OWN)
KERNEL_TCP = {"kernel": "all bytes", "frames": "TCP within the kernel", "checksum": "none on lo",
              "reliable": "TCP's"}
SHARED = {"frames": "none", "checksum": "none", "reliable": "none needed"}
TCP = Facts(2, 2, copies="2 by the kernel", **KERNEL_TCP)
UCX_TCP = Facts(2, 2, copies="2 by the kernel, and UCX's", **KERNEL_TCP)
UCX_SELF_TCP = Facts(1, 1, copies="2 by the kernel, and UCX's", **KERNEL_TCP)
UCX_TAG_SHM = Facts(2, 2, "large messages", copies="2; large ones 1 by the kernel", **SHARED)
UCX_PUT_SHM = Facts(2, 2, "no", copies="1", **SHARED)
UCX_SELF = Facts(1, 1, "no", copies="1 or 2", **SHARED)
FABRIC_TCP = Facts(2, 2, copies="2 by the kernel, and libfabric's", **KERNEL_TCP)
FABRIC_SHM = Facts(2, 2, "large messages", copies="2; large ones 1 by the kernel", **SHARED)


class Ours:
    """dat-perf: over net_memif with a dat.conf of ours, over roce0 of a host, or in one process over net_ring."""

    def __init__(self, program, conf):
        self.program, self.conf = str(program), str(conf)

    def command(self, test, size, count, warmup=None):
        return [self.program, "-t", test, "-s", str(size), "-n", str(count), "--warmup", str(warmup or warm(count)),
                *(["-x", str(WINDOW[size])] if test.endswith("_bw") else []), "--json"]

    def two(self, test, read):
        def make(size, count, _port):
            command = self.command(test, size, count)
            return Job([*command, "-D", "client", SERVER], read, [*command[:-1], "-D", "server"],
                       lambda process: process.out.stat().st_size > 0, environment={"DAT_OVERRIDE": self.conf})
        return make

    def shared(self, test, read, host):
        """
        Two processes of this host (host.Host), by the adapter that is built in. Its idle processes greet them meanwhile: that
        is over when the measurement begins.
        """
        def make(size, count, _port):
            command = self.command(test, size, count, count if host.idle else None)
            return Job([*command, "-D", "roce0", "127.0.0.1"], read, [*command[:-1], "-D", "roce0"],
                       lambda process: process.out.stat().st_size > 0, environment=host.environment)
        return make

    def one(self, test, read, cores):
        def make(size, count, _port):
            return Job([*self.command(test, size, count), "--cores", str(cores)], read, cores=cores,
                       environment={"DAT_OVERRIDE": ""})
        return make


def conf_lines(socket_name):
    """The pair of adapters, as docs/recipes.md has it."""
    line = ('{0} u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 '
            '"port=net_memif0,role={0},socket={1} ip={2}/30" ""\n')
    return line.format("server", socket_name, SERVER) + line.format("client", socket_name, CLIENT)


def listening(port):
    return lambda _process: listens(port)


def ucx(test, read, transports):
    environment = {"UCX_TLS": transports, "UCX_NET_DEVICES": "lo"}

    def make(size, count, port):
        client = ["ucx_perftest", HOST, "-p", str(port), "-t", test, "-s", str(size), "-n", str(count), "-w",
                  str(warm(count)), *(["-O", str(WINDOW[size])] if test.endswith("_bw") else []), "-f", "-v"]
        return Job(client, read, ["ucx_perftest", "-p", str(port)], listening(port), environment=environment)
    return make


def ucx_alone(test, read, transports):
    def make(size, count, _port):
        return Job(["ucx_perftest", "-l", "-t", test, "-s", str(size), "-n", str(count), "-w", str(warm(count)),
                    "-O", str(WINDOW[size]), "-f", "-v"], read,
                   environment={"UCX_TLS": transports, "UCX_NET_DEVICES": "lo"})
    return make


def fabric(provider, *kind):
    def make(size, count, port):
        common = ["fi_pingpong", "-p", provider, *kind, "-I", str(count), "-S", str(size)]
        return Job([*common, "-P", str(port), HOST], parse.fabric_trip, [*common, "-B", str(port)], listening(port))
    return make


def iperf(seconds):
    """It counts by whole seconds."""
    def make(size, _count, port):
        return Job(["iperf3", "-c", HOST, "-p", str(port), "-l", str(size), "-t", str(max(1, round(seconds))), "-N",
                    "-J"], parse.iperf_rate, ["iperf3", "-s", "-1", "-B", HOST, "-p", str(port)], listening(port))
    return make


def sockperf(seconds):
    def make(size, _count, port):
        return Job(["sockperf", "pp", "--tcp", "-i", HOST, "-p", str(port), "-m", str(size), "-t",
                    str(max(1, round(seconds)))], parse.sockperf_trip,
                   ["sockperf", "sr", "--tcp", "-i", HOST, "-p", str(port)], listening(port), stays=True)
    return make


def ways(ours, seconds):
    """All lines of the table of `./run.sh compare`, in its order."""
    rate, trip = parse.perf_rate, parse.perf_trip
    us = ("dat-perf", "")
    peer, fab = ("ucx_perftest", "ucx-utils"), ("fi_pingpong", "libfabric-bin")
    return [
        Way("send", "ours: SEND, shared receive queue, memif", STREAM, *us, OURS,
            ours.two("send_bw", rate), ours.two("send_lat", trip)),
        Way("write", "ours: RDMA WRITE, memif", STREAM, *us, OURS,
            ours.two("write_bw", rate), ours.two("write_lat", trip)),
        Way("ucx-tag-tcp", "UCX tag, TCP", STREAM, *peer, UCX_TCP, ucx("tag_bw", parse.ucx_rate, "tcp"),
            ucx("tag_lat", parse.ucx_trip, "tcp"), "send"),
        Way("ucx-put-tcp", "UCX put, TCP", STREAM, *peer, UCX_TCP, ucx("ucp_put_bw", parse.ucx_rate, "tcp"),
            ucx("ucp_put_lat", parse.ucx_trip, "tcp"), "write"),
        Way("tcp", "kernel TCP, one write a message", STREAM, "iperf3", "iperf3", TCP, iperf(seconds), None, "send"),
        Way("tcp-trip", "kernel TCP, there and back", STREAM, "sockperf", "sockperf", TCP, None, sockperf(seconds),
            "send"),
        Way("ucx-tag-shm", "UCX tag, shared memory", STREAM, *peer, UCX_TAG_SHM,
            ucx("tag_bw", parse.ucx_rate, "sm"), ucx("tag_lat", parse.ucx_trip, "sm"), "send"),
        Way("ucx-put-shm", "UCX put, shared memory", STREAM, *peer, UCX_PUT_SHM,
            ucx("ucp_put_bw", parse.ucx_rate, "sm"), ucx("ucp_put_lat", parse.ucx_trip, "sm"), "write"),
        Way("pong", "ours: SEND, shared receive queue, memif", PINGPONG, *us, OURS,
            None, ours.two("send_lat", trip), mean=True),
        Way("fabric-rxm", "libfabric tcp;ofi_rxm, tagged", PINGPONG, *fab, FABRIC_TCP,
            None, fabric("tcp;ofi_rxm", "-e", "rdm", "-m", "tagged"), "pong", mean=True),
        Way("fabric-tcp", "libfabric tcp, msg", PINGPONG, *fab, FABRIC_TCP,
            None, fabric("tcp", "-e", "msg"), "pong", mean=True),
        Way("fabric-shm", "libfabric shm, tagged", PINGPONG, *fab, FABRIC_SHM,
            None, fabric("shm", "-e", "rdm", "-m", "tagged"), "pong", mean=True),
        Way("one", "ours: SEND, one core polls both ends", ALONE, *us, OURS_ONE,
            ours.one("send_bw", rate, 1), ours.one("send_lat", trip, 1)),
        Way("two", "ours: SEND, a core for each end", ALONE, *us, OURS_TWO,
            ours.one("send_bw", rate, 2), ours.one("send_lat", trip, 2)),
        Way("ucx-self-tcp", "UCX tag with itself, TCP", ALONE, *peer, UCX_SELF_TCP,
            ucx_alone("tag_bw", parse.ucx_rate, "tcp"), None, "one"),
        Way("ucx-self", "UCX tag with itself, memory", ALONE, *peer, UCX_SELF,
            ucx_alone("tag_bw", parse.ucx_rate, "self"), None, "one"),
    ]


def processes(ours, host, crowded, idle):
    """All lines of the table of `./run.sh bench --processes`."""
    rate, trip = parse.perf_rate, parse.perf_trip
    us = ("dat-perf", "")
    peer = ("ucx_perftest", "ucx-utils")
    return [
        Way("send", "ours: SEND, shared receive queue, roce0", STREAM, *us, OURS,
            ours.shared("send_bw", rate, host), ours.shared("send_lat", trip, host)),
        Way("send-idle", f"ours: the same beside {idle} idle processes", STREAM, *us, OURS,
            ours.shared("send_bw", rate, crowded), ours.shared("send_lat", trip, crowded), "send"),
        Way("write", "ours: RDMA WRITE, roce0", STREAM, *us, OURS,
            ours.shared("write_bw", rate, host), ours.shared("write_lat", trip, host)),
        Way("memif", "ours: SEND, shared receive queue, memif", STREAM, *us, OURS,
            ours.two("send_bw", rate), ours.two("send_lat", trip), "send"),
        Way("ucx-tag-shm", "UCX tag, shared memory", STREAM, *peer, UCX_TAG_SHM,
            ucx("tag_bw", parse.ucx_rate, "sm"), ucx("tag_lat", parse.ucx_trip, "sm"), "send"),
        Way("ucx-put-shm", "UCX put, shared memory", STREAM, *peer, UCX_PUT_SHM,
            ucx("ucp_put_bw", parse.ucx_rate, "sm"), ucx("ucp_put_lat", parse.ucx_trip, "sm"), "write"),
    ]
