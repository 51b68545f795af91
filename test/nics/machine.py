# SPDX-License-Identifier: BSD-3-Clause
"""An emulated machine with two NICs on one wire, each behind a PCIe root port of its own, and our programs in it.

The guest's image is that of the lab (test/lab) with our programs, our libraries and DPDK's drivers. A machine ends with
the process that started it.
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

DRIVERS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_vmxnet3", "net_virtio", "net_ring", "net_null")
PROGRAMS = ("dat-info", "dat-perf", "dat-ping")
LIBRARIES = ("libdat/libdat.so.1", "front/libdaplroce.so.1", "roce/libroce.so.0")
SYSTEM = "usr/lib/x86_64-linux-gnu"
# The guest runs no program of these, which would only take its memory.
USELESS = ("usr/lib/python3*", "usr/bin/python3*", f"{SYSTEM}/libicudata*", f"{SYSTEM}/libicu*", "usr/bin/dapltest")
PORTS = 4  # commands at once
MEMORY = 3072
HUGEPAGES = 512
BOOT_SECONDS = 300
LOOK_SECONDS = 0.05
PR_SET_PDEATHSIG = 1


class Broken(Exception):
    """The machine does not do what it is for: nothing is known of our programs."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def must(command, **more):
    run = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if run.returncode != 0:
        raise Broken(f"{' '.join(map(str, command))}: {(run.stderr or run.stdout).strip()[-300:]}")
    return run.stdout


def library(name):
    """A library of DPDK as this host has it: (its file, its name with the version of the ABI)."""
    folder = os.path.join("/", SYSTEM)
    found = sorted(f for f in os.listdir(folder) if f.startswith(f"librte_{name}.so.") and f.count(".") == 2)
    if not found:
        raise Broken(f"there is no librte_{name}.so in {folder}")
    return os.path.realpath(os.path.join(folder, found[-1])), found[-1]


def needed(files):
    """What the dynamic linker finds for these files."""
    found = set()
    for line in must(["ldd", *files]).splitlines():
        words = line.split()
        if len(words) > 2 and words[1] == "=>" and words[2].startswith("/"):
            found.add(words[2])
    return found


def plug_ins(folder):
    """Where the EAL looks for drivers: they count only when their name ends in the version of the ABI, in two numbers."""
    home = os.path.join("/", SYSTEM, "dpdk")
    name = next(iter(sorted(n for n in os.listdir(home) if n.startswith("pmds-"))), None)
    if name is None:
        raise Broken(f"there are no drivers in {home}")
    return os.path.join(folder, SYSTEM, "dpdk", name), name.removeprefix("pmds-")


def make_image(lab, build, work):
    """The guest's image, made anew: our programs may have changed."""
    root = os.path.join(work, "rootfs")
    shutil.rmtree(root, ignore_errors=True)
    must(["cp", "-a", os.path.join(lab, "rootfs"), root])
    must(["sh", "-c", f"cd '{root}' && rm -rf {' '.join(USELESS)}"])
    system = os.path.join(root, SYSTEM)
    pmds, abi = plug_ins(root)
    os.makedirs(pmds)
    files = [os.path.join(build, "apps", name) for name in PROGRAMS] + [os.path.join(build, "lib", name) for name in LIBRARIES]
    for path in files:
        shutil.copy(path, os.path.join(root, "usr/local/bin") if "/apps/" in path else system)
    for name in DRIVERS:
        path, short = library(name)
        shutil.copy(path, os.path.join(system, short))
        os.symlink(f"../../{short}", os.path.join(pmds, f"librte_{name}.so.{abi}"))
        files.append(path)
    for path in needed(files):
        if not os.path.exists(os.path.join(system, os.path.basename(path))):
            shutil.copy(os.path.realpath(path), os.path.join(system, os.path.basename(path)))
    must(["chroot", root, "/sbin/ldconfig"])
    must(["sh", "-c", f"cd '{root}' && find . -xdev -print0 | cpio --null -o -H newc --quiet -R 0:0 >'{work}/initrd'"])


class Command:
    """A command in the guest, whose output is read later."""

    def __init__(self, machine, words, seconds):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([machine.exec, "-t", str(seconds), machine.folder, words], stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        self.until = time.monotonic() + seconds + 10

    def said(self):
        return os.pread(self.out.fileno(), os.fstat(self.out.fileno()).st_size, 0).decode("utf-8", "replace")

    def wait_for(self, words):
        """Until it has said the words. @return False: it has ended without."""
        while words not in self.said():
            if self.process.poll() is not None:
                return words in self.said()
            time.sleep(LOOK_SECONDS)
        return True

    def finish(self):
        """(status, output)."""
        try:
            self.process.wait(max(1, self.until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, self.said()


class Machine:
    """device: of QEMU, with its options; both NICs are one. Everything on the wire is recorded."""

    def __init__(self, lab, scripts, work, name, device):
        self.lab, self.work, self.device = lab, work, device
        self.exec = os.path.join(scripts, "lab-exec.py")
        self.folder = os.path.join(work, name)
        self.share = os.path.join(work, "share")
        self.capture = os.path.join(self.folder, "wire.pcap")
        self.process = None

    def nic(self, n):
        """The command that plugs a NIC in."""
        return f"device_add {self.device},netdev=h{n},id=nic{n},mac=52:54:00:00:00:0{n + 1},bus=rp{n}"

    def arguments(self):
        nics = []
        for n in (0, 1):
            nics += ["-netdev", f"hubport,id=h{n},hubid=0", "-device", f"pcie-root-port,id=rp{n},chassis={n + 1},slot={n + 1},addr={n + 4}",
                     "-device", self.nic(n).removeprefix("device_add ")]
        ports = []
        for n in range(PORTS):
            ports += ["-chardev", f"socket,id=c{n},path=lab.{n}.sock,server=on,wait=off", "-device",
                      f"virtserialport,chardev=c{n},name=lab.{n}"]
        modules = "virtio_pci,virtio_console,9pnet_virtio,9p,vfio-pci"
        return ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max,-la57", "-smp", "2", "-m", str(MEMORY),
                "-M", "q35,kernel-irqchip=split", "-device", "intel-iommu,intremap=on,caching-mode=on", "-nodefaults",
                "-no-user-config", "-display", "none", "-no-reboot", "-kernel", os.path.join(self.lab, "vmlinux"),
                "-initrd", os.path.join(self.work, "initrd"), "-serial", "file:console.log",
                "-monitor", "unix:mon.sock,server=on,wait=off",
                "-fsdev", f"local,id=share,path={self.share},security_model=none",
                "-device", "virtio-9p-pci,fsdev=share,mount_tag=share,addr=1c", "-device", "virtio-rng-pci,addr=1d",
                "-device", "virtio-serial-pci,max_ports=16,addr=1e",
                # The emulated timer does not stand the kernel's test of it beside the remapping of interrupts.
                "-append", "console=ttyS0 quiet nokaslr mitigations=off no_timer_check net.ifnames=0 panic=-1 intel_iommu=on "
                f"hugepages={HUGEPAGES} lab.name=nics lab.ip= lab.mtu=1500 lab.rxe= lab.modules={modules}",
                "-object", f"filter-dump,id=dump,netdev=h0,file={self.capture},maxlen=65535", *nics, *ports]

    def boot(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        os.makedirs(self.share, exist_ok=True)
        with open(os.path.join(self.folder, "qemu.log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.arguments(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=die_with_parent)
        until = time.monotonic() + BOOT_SECONDS
        console = os.path.join(self.folder, "console.log")
        while not os.path.exists(console) or "rxe-lab: ready" not in self.read(console):
            if self.process.poll() is not None or time.monotonic() > until:
                raise Broken(f"the machine does not start: {self.read(os.path.join(self.folder, 'qemu.log')).strip()[-300:]}")
            time.sleep(LOOK_SECONDS)

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8", errors="replace") as text:
            return text.read()

    def is_gone(self):
        """QEMU itself may crash: then what a program said is no verdict on it."""
        return self.process.poll() is not None

    def start(self, words, seconds):
        return Command(self, words, seconds)

    def run(self, words, seconds=60):
        """(status, output)."""
        return self.start(words, seconds).finish()

    def write(self, name, text):
        """A file below /share of the guest."""
        with open(os.path.join(self.share, name), "w", encoding="utf-8") as out:
            out.write(text)

    def monitor(self, words):
        """A command of QEMU's monitor."""
        try:
            self.tell(words)
        except OSError as error:
            raise Broken(f"QEMU's monitor: {error}") from error

    def tell(self, words):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(60)
            # Paths of sockets are short.
            fd = os.open(self.folder, os.O_PATH)
            try:
                link.connect(f"/proc/self/fd/{fd}/mon.sock")
            finally:
                os.close(fd)
            self.prompt(link)
            link.sendall(words.encode() + b"\n")
            self.prompt(link)

    @staticmethod
    def prompt(link):
        said = b""
        while not said.rstrip().endswith(b"(qemu)"):
            more = link.recv(65536)
            if not more:
                raise Broken("QEMU's monitor is gone")
            said += more

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
