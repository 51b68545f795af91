# SPDX-License-Identifier: BSD-3-Clause
"""Talks between two processes in the machine, each on one of its NICs."""
import dataclasses
import subprocess
import sys

from machine import Broken

ADDRESSES = {0: ("0000:01:00.0", "192.0.2.1", "fd00::1"), 1: ("0000:02:00.0", "192.0.2.2", "fd00::2")}
# An emulated processor takes its time: the local ACK timeout is a second.
PATIENCE = "timeout=18"
SECONDS = 200  # of a command
SIZES = (1, 64, 1024, 4097, 65536, 1048576)
SHORT_SIZES = (64, 65536)
TESTS = ("send_bw", "write_bw", "read_bw", "atomic_bw")
BIND = """modprobe vfio-pci
for d in /sys/bus/pci/devices/0000:0[12]:00.0; do
	if [ -e $d/driver ]; then echo ${d##*/} >$d/driver/unbind; fi
	echo vfio-pci >$d/driver_override
	echo ${d##*/} >/sys/bus/pci/drivers_probe
	readlink $d/driver
done
"""
VIRTIO = "virtio-net-pci,disable-legacy=on,iommu_platform=on,ats=on,host_mtu=9000"


@dataclasses.dataclass(frozen=True)
class Nic:
    """A NIC as QEMU emulates it. interrupts: of frames received, they come. link: may go down and come up again."""
    name: str
    device: str
    driver: str
    interrupts: bool = True
    link: bool = True


NICS = (
    # Its driver (DPDK 22.11) does not know the vectors of MSI-X that vfio-pci switches on: interrupts are taken, and never come.
    Nic("e1000e", "e1000e", "net_e1000_em", interrupts=False),
    Nic("vmxnet3", "vmxnet3", "net_vmxnet3"),
    Nic("virtio", f"{VIRTIO},mrg_rxbuf=on", "net_virtio"),
    # Once its link was down it sends nothing any more. Whether QEMU 7.2 or its driver (DPDK 22.11) is wrong is not known.
    Nic("virtio packed", f"{VIRTIO},packed=on", "net_virtio", link=False),
)


class Pair:
    """Both NICs of a machine, bound for DPDK."""

    def __init__(self, machine, nic):
        self.machine, self.nic = machine, nic

    def bind(self):
        status, said = self.machine.run(BIND)
        if status != 0 or said.split().count("../../../../bus/pci/drivers/vfio-pci") != 2:
            raise Broken(f"the NICs cannot be bound to vfio-pci: {said.strip()[-300:]}")

    def adapter(self, end, keys="", v6=False):
        """The command that names the configuration of an end, in front of a program."""
        port, v4, ip6 = ADDRESSES[end]
        address = f"ip={ip6}/64" if v6 else f"ip={v4}/24"
        self.machine.write(f"{end}.conf", f'wire u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 '
                           f'"port={port} {address} {PATIENCE} {keys}" ""\n')
        return f"UDAPL_ROCE_LOG=info DAT_OVERRIDE=/share/{end}.conf"

    def talk(self, server, ready, client, keys="", v6=False, meanwhile=None):
        """Both ends end well. @return why not, or ""; and what the client said."""
        peer = ADDRESSES[0][2 if v6 else 1]
        there = self.machine.start(f"{self.adapter(0, keys, v6)} {server}", SECONDS)
        if not there.wait_for(ready):
            return f"the server ends with {there.finish()[0]}: {tail(there.said())}", ""
        here = self.machine.start(f"{self.adapter(1, keys, v6)} {client} {peer}", SECONDS)
        if meanwhile is not None:
            meanwhile(here)
        status, said = here.finish()
        if status != 0:
            there.process.terminate()
            there.finish()
            return f"the client ends with {status}: {tail(said)}; the server said: {tail(there.said())}", said
        status, told = there.finish()
        return (f"the server ends with {status}: {tail(told)}" if status != 0 else ""), said

    def ping(self, **more):
        return self.talk("dat-ping -D wire -l -c 1", "dat-ping answers", "dat-ping -D wire -c 3 -i 20", **more)[0]

    def perf(self, test, size, options="", **more):
        count = 200 if size < 65536 else 40 if size < 1048576 else 8
        if test == "atomic_bw":
            options += " -s 8"
        else:
            options += f" -s {size}"
        words = f"dat-perf -D wire -t {test} -n {count} --warmup 2 --verify {options}"
        return self.talk(words, "Waiting for a client", words, **more)[0]


def tail(text):
    """The last lines, as one."""
    return " | ".join(line for line in text.strip().splitlines()[-6:])


def info(pair):
    status, said = pair.machine.run(f"{pair.adapter(0)} dat-info wire", SECONDS)
    if status != 0:
        return f"dat-info ends with {status}: {tail(said)}"
    return "" if pair.nic.driver in said else f"dat-info does not name {pair.nic.driver}: {tail(said)}"


# Each end has received some hundred frames.
AT_WORK = "until [ $(dat-info --metrics | grep -c '^roce_port_rx_frames_total.* [1-9][0-9][0-9]') -eq 2 ]; do sleep 0.2; done"


def wait_for_work(pair):
    status, said = pair.machine.run(AT_WORK)
    if status != 0:
        raise Broken(f"no traffic: {tail(said)}")


def link(pair):
    """The cable of the client is out for a while under traffic: nothing is lost, and both ends go on."""
    def pull(_):
        wait_for_work(pair)
        pair.machine.monitor("set_link nic1 off")
        # Long enough for both ends to see it and to repeat what was lost. Their output is read only when they have ended.
        pair.machine.run("sleep 1")
        pair.machine.monitor("set_link nic1 on")
    words = "dat-perf -D wire -d 10 --verify"
    why, said = pair.talk(words, "Waiting for a client", words, meanwhile=pull)
    if not why and not ("link is down" in said and "link is up" in said):
        return f"the link did not move: {tail(said)}"
    return why


def sleeps(pair):
    """A server that waits for its client sleeps until a frame comes: an interrupt ends its sleep."""
    seen = []

    def look(client):
        while client.process.poll() is None and not any(seen):
            said = pair.machine.run("dat-info --metrics")[1]
            seen.append(any(line.startswith("roce_port_rx_interrupts_total") and not line.endswith(" 0")
                            for line in said.splitlines()))
    words = "dat-perf -D wire -d 5 -e"
    why, _ = pair.talk(words, "Waiting for a client", words, meanwhile=look)
    return why or ("" if any(seen) else "no interrupt ended a sleep")


def unplug(pair):
    """The client's NIC is pulled out under traffic: its program ends by itself. Then it is there again, and works."""
    def pull(_):
        wait_for_work(pair)
        pair.machine.monitor("device_del nic1")
    words = "dat-perf -D wire -d 60 --verify"
    why, said = pair.talk(words, "Waiting for a client", words, meanwhile=pull)
    if not why:
        return "dat-perf goes on without its NIC"
    if not why.startswith("the client ends with 1:"):
        return why
    pair.machine.monitor(pair.machine.nic(1))
    pair.bind()
    return pair.ping()


def again(pair):
    """Opened and closed twenty times, by processes of their own."""
    status, said = pair.machine.run(f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {pair.adapter(0)} "
                                    "dat-info --json wire >/tmp/info || exit 1; done", 4 * SECONDS)
    return f"dat-info ends with {status}: {tail(said)}" if status != 0 else pair.ping()


def cases(nic, short):
    """(name, what to do with a pair)."""
    yield "dat-info names the driver", info
    yield "dat-ping", lambda pair: pair.ping()
    yield "dat-ping, IPv6", lambda pair: pair.ping(v6=True)
    yield "dat-ping, VLAN 7", lambda pair: pair.ping(keys="vlan=7 pcp=3")
    for test in TESTS:
        for size in (8,) if test == "atomic_bw" else SHORT_SIZES if short else SIZES:
            yield f"{test} of {size} bytes", lambda pair, t=test, s=size: pair.perf(t, s)
    yield "send_bw, 8 endpoints on a shared receive queue", lambda pair: pair.perf("send_bw", 1024, "-q 8")
    yield "send_bw, waiting for events", lambda pair: pair.perf("send_bw", 1024, "-e")
    yield "send_bw, without a copy", lambda pair: pair.perf("send_bw", 65536, keys="zero_copy=256")
    if nic.link:
        yield "the link goes down and up", link
    yield "send_bw of 65536 bytes, path MTU 4096", lambda pair: pair.perf("send_bw", 65536, keys="mtu=4096")
    if nic.interrupts:
        yield "a server that waits sleeps", sleeps
    if not short:
        yield "the NIC is unplugged and comes back", unplug
        yield "twenty opens", again


def judge(machine, judge_py):
    """What tshark and the judge of test/conf say about all frames of the wire."""
    run = subprocess.run([sys.executable, "-B", judge_py, "--tshark", "--min", "10", machine.capture], capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else tail(run.stdout + run.stderr)


def leftovers(pair):
    """Processes and hugepages that a program left in the guest."""
    status, said = pair.machine.run("pidof dat-info dat-perf dat-ping; sed -n 's/HugePages_\\(Total\\|Free\\): *//p' /proc/meminfo")
    words = said.split()
    return "" if status == 0 and len(words) == 2 and words[0] == words[1] else f"left behind: {tail(said)}"

