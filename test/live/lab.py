# SPDX-License-Identifier: BSD-3-Clause
"""The lab: one guest with Linux's RoCE on a network segment in a namespace of ours, and the programs at both ends.

A Lab leaves nothing behind, however its process ends: what it starts dies with it (PR_SET_PDEATHSIG), and a guardian
takes guest and namespace down when the pipe from its parent breaks.
"""
import contextlib
import ctypes
import dataclasses
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

SHARE = "/share"
ADAPTER = "ia"
VLAN = 7
# An Ethernet MTU for each path MTU: a RoCE frame has 96 bytes of headers at most in the eyes of rdma_cm.
DEVICE_MTU = {256: 400, 512: 800, 1024: 1500, 2048: 2200, 4096: 4200}
SMALLEST_IPV6_MTU = 1280
# The host's own address, on the lab's bridge: the one on its port is our provider's alone.
HOST, HOST_MAC = "10.77.0.2", "02:4c:42:77:00:02"
# Frames that are complete, checksums included: wire-fault hands them on as they are. (What ethtool -K br0 tx off does.)
NO_OFFLOAD = "import array, fcntl, socket, struct; off = array.array('I', [0x17, 0]); " \
    "fcntl.ioctl(socket.socket(), 0x8946, struct.pack('16sQ16x', b'br0', off.buffer_info()[0]))"
# A library of coreutils: a tool prints each line as it says it.
STDBUF = "/usr/libexec/coreutils/libstdbuf.so"
QUIET = "killall -9 rdmaprobe live_guest rping 2>/dev/null; true"
PR_SET_PDEATHSIG = 1
LOOK_SECONDS = 0.02


@dataclasses.dataclass(frozen=True)
class Net:
    """One way between the two hosts."""
    name: str
    ours: str
    guest: str
    prefix: int
    device: str = "eth0"
    keys: str = ""


NETS = {net.name: net for net in (
    Net("IPv4", "10.77.0.1", "10.77.0.11", 24),
    Net("IPv6", "fd77::1", "fd77::11", 64),
    Net("IPv4 with VLAN", "10.78.0.1", "10.78.0.11", 24, f"eth0.{VLAN}", f"vlan={VLAN}"),
    Net("IPv6 with VLAN", "fd78::1", "fd78::11", 64, f"eth0.{VLAN}", f"vlan={VLAN}"),
)}


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def lead_group():
    """The children of a program can be ended together with it."""
    os.setpgid(0, 0)
    die_with_parent()


class Program:
    """A process, and all that it says: in a file, so that it never waits for somebody to read."""

    def __init__(self, command, env, begin=die_with_parent):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT, preexec_fn=begin)

    def said(self):
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode("utf-8", "replace")

    def running(self):
        return self.process.poll() is None

    def wait_for(self, words, seconds=30):
        """Until it has said the words, is over or the time is up."""
        until = time.monotonic() + seconds
        while self.running() and words not in self.said() and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def finish(self, seconds):
        """(all output, exit status) of a process that should end by itself. -1: it did not."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.said(), -1
        return self.said(), self.process.returncode

    def terminate(self):
        """Of one that leads a group, all of it."""
        if os.getpgid(self.process.pid) == self.process.pid:
            os.killpg(self.process.pid, signal.SIGTERM)
        else:
            self.process.terminate()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Lab:
    """The lab's commands, in a working folder of ours."""

    def __init__(self, script, work, programs, release=""):
        """programs: partner, roced, run (roce-run), guest (its program, or None), libraries (a search path); release: a Debian of the guest's own"""
        self.script, self.work, self.programs = script, work, programs
        self.folder = os.path.join(work, "lab")
        self.env = dict(os.environ, RXE_LAB_DIR=self.folder, RXE_LAB_GUESTS="a", RXE_LAB_MTU=str(DEVICE_MTU[4096]),
                        RXE_LAB_NETNS=f"live{os.getpid()}", RXE_LAB_RELEASE=release)
        os.makedirs(self.folder, exist_ok=True)
        self.confs = itertools.count()
        self.guardian = self.lock = None
        self.path_mtu = 0

    # ---- the lab's life

    def call(self, *words, timeout=600):
        return subprocess.run([self.script, *words], env=self.env, text=True, capture_output=True, timeout=timeout,
                              check=False)

    def must(self, *words, timeout=600):
        run = self.call(*words, timeout=timeout)
        if run.returncode != 0:
            raise RuntimeError(f"rxe-lab {' '.join(words)}: {(run.stderr or run.stdout).strip()[-300:]}")
        return run.stdout

    def up(self):
        """Build what is not built yet, and start the guest."""
        # Until the guardian of a run before this one is done. Ours keeps the lock as long as it lives.
        self.lock = open(os.path.join(self.work, "lock"), "w", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.call("down")
        self.guardian = guard(lambda: self.call("down"))
        # An image of before has less.
        if not os.path.exists(os.path.join(self.folder, "initrd")) or \
                not self.has_program("../local/bin/rdmaprobe") or not self.has_program("qperf"):
            self.must("build")
        self.start()

    def start(self):
        self.must("up")
        self.carry()
        self.prepare()

    def down(self):
        """Tell the guardian, and wait until it is done."""
        if self.guardian is not None:
            os.close(self.guardian[1])
            os.waitpid(self.guardian[0], 0)
            self.guardian = None
            self.lock.close()

    def crash(self):
        """Cut the guest's power, and start it again."""
        with open(os.path.join(self.folder, "run/a/pid"), encoding="utf-8") as pid:
            os.kill(int(pid.read()), signal.SIGKILL)
        time.sleep(0.5)  # until the process, a child of somebody else, has gone
        self.start()

    def carry(self):
        """What the guest's image has not: our program, adapters under our name, and the kernel's module for VLANs."""
        share = os.path.join(self.folder, "share")
        # dtest tells the other side which adapter it is to open.
        with open(os.path.join(share, "dat.conf"), "w", encoding="utf-8") as out:
            out.write(f'{ADAPTER} u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""\n')
        if os.path.exists(STDBUF):
            shutil.copy(STDBUF, share)
        if self.programs["guest"] is not None:
            shutil.copy(self.programs["guest"], share)
        with open(os.path.join(self.folder, "version"), encoding="utf-8") as text:
            version = text.read().strip()
        debs = os.path.join(self.folder, "debs")
        package = next(name for name in os.listdir(debs) if name.startswith(f"linux-image-{version}_"))
        # Debian 13 has its modules below usr/, each compressed.
        command = f"dpkg-deb --fsys-tarfile '{debs}/{package}' | " \
            f"tar -x -C '{share}' --transform='s,.*/net/,,' --wildcards " \
            "'*/net/8021q/*.ko*' '*/net/802/*.ko*' '*/net/llc/llc.ko*'; " \
            f"find '{share}' -name '*.ko.xz' -exec xz -d -f {{}} +"
        subprocess.run(command, shell=True, check=True)

    def prepare(self):
        """Addresses and the VLAN of a guest that has just started."""
        self.guest_must(f"cd {SHARE}; for m in llc/llc 802/stp 802/garp 802/mrp 8021q/8021q; do insmod $m.ko; done; "
                        f"ip link add link eth0 name eth0.{VLAN} type vlan id {VLAN}; {QUIET}")
        self.set_mtu(1024)

    def set_mtu(self, path_mtu):
        """Give the guest's devices the MTU that makes this the path MTU. (IPv6 has a smallest one, and forgets.)"""
        mtu = DEVICE_MTU[path_mtu]
        commands = [f"ip link set eth0 mtu {mtu}; ip link set eth0.{VLAN} mtu {mtu} up"]
        for net in NETS.values():
            if ":" not in net.guest:
                commands.append(f"ip addr replace {net.guest}/{net.prefix} dev {net.device}")
            elif mtu >= SMALLEST_IPV6_MTU:
                commands.append(f"ip -6 addr replace {net.guest}/{net.prefix} dev {net.device} nodad")
        self.guest_must("; ".join(commands))
        self.path_mtu = path_mtu

    # ---- the guest

    def has_program(self, name):
        """Is that program in the guest's image?"""
        return os.path.exists(os.path.join(self.folder, "rootfs/usr/bin", name))

    def guest_must(self, command, seconds=20):
        return self.must("run", "-t", str(seconds), command)

    def wait_for_listeners(self, *ports):
        """Until programs of the guest that do not say so listen by rdma_cm, or the time is up."""
        # The kernel knows a listener as one of the device.
        check = " && ".join(f"echo \"$l\" | grep -q 'LISTEN.*:{port}\\b'" for port in ports)
        self.guest_must(f"n=0; until l=$(rdma resource show cm_id) && {check}; do "
                        "n=$((n + 1)); [ $n -lt 200 ] || { echo \"$l\"; exit 1; }; sleep 0.1; done", 60)

    def guest(self, command, seconds):
        """A command in the guest, whose output is read later."""
        return Program([self.script, "run", "-t", str(seconds), command], self.env)

    def guest_tool(self, *words, seconds):
        """A program on DAT 2.0 in the guest, over OFED's provider."""
        return self.guest(f"DAT_OVERRIDE={SHARE}/dat.conf LD_PRELOAD={SHARE}/{os.path.basename(STDBUF)} _STDBUF_O=L "
                          + " ".join(words), seconds)

    def quiet(self):
        self.call("run", "-t", "10", QUIET)

    def counters(self):
        """What the guest's kernel counts."""
        text = self.guest_must("cd /sys/class/infiniband/rxe0/ports/1/hw_counters; grep . *")
        return {name: int(value) for name, value in (line.split(":") for line in text.split() if ":" in line)}

    def version(self):
        return self.guest_must("uname -r").strip()

    # ---- ours

    def inside(self, *words):
        """A command of ours in the lab's namespace, as a process and not a script's child."""
        return ["ip", "netns", "exec", self.env["RXE_LAB_NETNS"], *words]

    def partner(self, *words, net=NETS["IPv4"], keys=""):
        """Our end. An emulated host takes its time over long answers, so it gets a second.

        Our device has the largest MTU of all; the guest's own decides unless the keys do.
        """
        return self.ours(self.programs["partner"], "-D", ADAPTER, *words, net=net, keys=keys)

    def tool(self, *words):
        """A program on DAT 2.0, over our provider."""
        return self.ours("stdbuf", "-oL", *words)

    def ours(self, *words, net=NETS["IPv4"], keys=""):
        """A program on either registry, whose adapter is ours."""
        conf = os.path.join(self.work, f"dat{next(self.confs) % 16}.conf")
        for key, value in (("timeout", 18), ("mtu", self.path_mtu)):
            if f"{key}=" not in keys:
                keys += f" {key}={value}"
        adapter = f'"port=net_af_packet0,iface=dut0 ip={net.ours}/{net.prefix} {net.keys} {keys}" ""\n'
        with open(conf, "w", encoding="utf-8") as out:
            for line in ("u1.2 threadsafe default libdaplroce.so.1", "u2.0 nonthreadsafe default libdaplroce.so.2"):
                out.write(f"{ADAPTER} {line} udapl-roce.1.2 {adapter}")
        env = dict(os.environ, DAT_OVERRIDE=conf, LD_LIBRARY_PATH=self.programs["libraries"])
        return Program(self.inside(*words), env)

    # ---- ours behind roced

    @contextlib.contextmanager
    def roced(self, net=NETS["IPv4"]):
        """A roced whose uplink is our end of the wire, which no other program of ours has meanwhile."""
        folder = os.path.join(self.work, "run")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder, 0o700)
        command = self.inside(self.programs["roced"], "-v", "--dir", os.path.join(folder, "udapl-roce"),
                              "--port", "net_af_packet0,iface=dut0", "--ip", f"{net.ours}/{net.prefix}", "--mtu", str(self.path_mtu))
        program = Program(command, os.environ)
        try:
            program.wait_for("process 0 ", 30)
            yield program
        finally:
            program.process.terminate()
            if program.finish(20)[1] != 0:
                raise RuntimeError(f"roced ends with {program.process.returncode}: {program.said()[-300:]}")

    def roced_status(self, roced):
        """The status that roced tells of itself."""
        run = subprocess.run([self.programs["roced"], "--status", "--json", "--dir", os.path.join(self.work, "run/udapl-roce")],
                             text=True, capture_output=True, timeout=20, check=False)
        if run.returncode != 0:
            raise RuntimeError(f"{run.stderr.strip()}: {roced.said()[-300:]}")
        return json.loads(run.stdout)

    def behind_roced(self, *words):
        """Our end, on the adapter that processes share."""
        env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(self.work, "run"), UDAPL_ROCE_PARAMS="timeout=18",
                   LD_LIBRARY_PATH=self.programs["libraries"])
        env.pop("DAT_OVERRIDE", None)
        return Program(self.inside(self.programs["partner"], "-D", "roce0", *words), env)

    def program(self, *words):
        """A program of verbs as Debian has it, by roce-run, on the adapter that processes share."""
        env = dict(os.environ, XDG_RUNTIME_DIR=os.path.join(self.work, "run"))
        for name in ("DAT_OVERRIDE", "UDAPL_ROCE_PARAMS", "LD_LIBRARY_PATH", "LD_PRELOAD"):
            env.pop(name, None)
        return Program(self.inside(self.programs["run"], *words), env, lead_group)

    def speak_tcp(self):
        """The host's own programs can be found by TCP from now on."""
        # Else the bridge takes another one with each port that comes or goes, and the guest looks for the old one.
        self.must("netns", "ip", "link", "set", "br0", "address", HOST_MAC)
        self.must("netns", "ip", "addr", "replace", f"{HOST}/24", "dev", "br0")
        self.must("netns", "python3", "-c", NO_OFFLOAD)

    @contextlib.contextmanager
    def kernel_has(self, net=NETS["IPv4"]):
        """The kernel has our address on our port, for TCP: as on a host whose uplink is an interface in use."""
        address = f"{net.ours}/{net.prefix}"
        # The bridge would answer for it, too, with its own MAC address.
        self.must("netns", "sh", "-c", f"ip link set br0 arp off; ip addr flush dev br0; ip addr add {address} dev dut0")
        try:
            yield
        finally:
            self.must("netns", "sh", "-c", f"ip addr del {address} dev dut0; ip link set br0 arp on")

    # ---- the wire

    @contextlib.contextmanager
    def faults(self, *rules):
        """The guest's wire has these faults (see the lab's wire-fault). None: a plain wire.

        One that is no matter of chance must have come to pass, or the talk would prove nothing.
        """
        if not rules:
            yield
            return
        self.must("fault", "a", *rules)
        try:
            yield
            with open(os.path.join(self.folder, "run/a/fault.log"), encoding="utf-8") as log:
                done = log.read()
            for rule in rules:
                if "prob=" not in rule and rule not in done:
                    raise RuntimeError(f"the wire never did {rule}")
        finally:
            self.must("nofault", "a")


def guard(clean_up):
    """A process that cleans up when its parent closes the pipe or dies. Returns its id and the pipe's end."""
    read, write = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(read)
        return pid, write
    os.close(write)
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # A program that waits for the output of this run must not wait for the guardian.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.read(read, 1)
    try:
        clean_up()
    finally:
        os._exit(0)
