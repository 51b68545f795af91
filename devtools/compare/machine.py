# SPDX-License-Identifier: BSD-3-Clause
"""Where programs are compared: a network of their own, a core for each end, and nothing left behind.

Traffic goes over the loopback interface only. Where the kernel allows it, it is that of a network namespace which
ends with this program, and so do System V segments and what is left in the folder of POSIX shared memory.
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOST = "127.0.0.1"
MARK = "ROCE_COMPARE_NETWORK"
SHARED_MEMORY = Path("/dev/shm")
PREPARE = "ip link set lo up && mount -t tmpfs tmpfs /dev/shm"
PR_SET_PDEATHSIG = 1
LISTENS = "0A"  # in /proc/net/tcp
LIBC = ctypes.CDLL(None)


class Failed(Exception):
    """A program did not do what it should; the text says why."""


def own_network():
    """Start anew in a network of our own. @return True: this is it; False: there is none to be had."""
    if os.environ.get(MARK):
        return True
    command = ["unshare", "--net", "--mount", "--ipc", "--propagation", "private"]
    if os.geteuid() != 0:
        command[1:1] = ["--user", "--map-current-user", "--keep-caps"]
    try:
        tried = subprocess.run([*command, "sh", "-c", PREPARE], check=False, stdin=subprocess.DEVNULL,
                               capture_output=True)
    except OSError:
        return False
    if tried.returncode != 0:
        return False
    sys.stdout.flush()
    inside = ["sh", "-c", PREPARE + ' && exec "$@"', "sh", sys.executable, "-B", *sys.argv]
    os.execvpe(command[0], [*command, *inside], dict(os.environ, **{MARK: "1"}))


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def listens(port):
    """Does anybody, in this network?"""
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        try:
            rows = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, rows):
            if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                return True
    return False


def reason_of(text, status):
    """The sentence in which a program said why it gave up."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(said):
        if "error" in line.lower():
            return line[:200]
    return said[-1][:200] if said else f"exit code {status}"


class Machine:
    """Starts programs on cores, and ends them."""

    def __init__(self, environment):
        self.environment = environment
        self.cpus = sorted(os.sched_getaffinity(0))[:2]
        self.folder = Path(tempfile.mkdtemp())
        self.running = []
        self.started = 0

    def close(self):
        for process in list(self.running):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def core(self, number):
        return {self.cpus[number % len(self.cpus)]}

    def start(self, command, cpus, environment):
        """A process with its output in files, which ends with us whatever becomes of us."""
        def prepare():
            os.sched_setaffinity(0, cpus)
            LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))

        self.started += 1
        paths = [self.folder / f"{self.started}.{name}" for name in ("out", "err")]
        with paths[0].open("wb") as out, paths[1].open("wb") as err:
            try:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           start_new_session=True, preexec_fn=prepare,
                                           env=dict(self.environment, **environment))
            except OSError as error:
                raise Failed(f"{command[0]} does not start: {error.strerror}") from None
        process.out, process.err = paths
        self.running.append(process)
        return process

    def end(self, process):
        """With all that it started: they are a session of their own."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        # What libfabric leaves when it is ended, by its number.
        for left in SHARED_MEMORY.glob(f"{process.pid}:*"):
            left.unlink(missing_ok=True)
        if process in self.running:
            self.running.remove(process)

    @staticmethod
    def text(process):
        """What it printed until now."""
        return process.out.read_text(encoding="utf-8", errors="replace")

    def reason(self, process):
        return reason_of(self.text(process) + process.err.read_text(encoding="utf-8", errors="replace"),
                         process.returncode)

    def finish(self, process, seconds):
        """Its exit code; it is gone in any case."""
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"did not come to an end in {seconds:.0f} s") from None
        finally:
            self.end(process)
        if status != 0:
            raise Failed(self.reason(process))

    def await_server(self, process, ready, seconds):
        give_up = time.monotonic() + seconds
        while not ready(process):
            if process.poll() is not None:
                raise Failed(self.reason(process))
            if time.monotonic() > give_up:
                raise Failed(f"the server is not ready after {seconds:.0f} s")
            time.sleep(0.01)

    def alone(self, command, cpus, environment, patience):
        """What one program printed."""
        process = self.start(command, cpus, environment)
        self.finish(process, patience)
        return self.text(process)

    def pair(self, server, client, environment, ready, stays, patience):
        """What the client printed. stays: the server does not end by itself."""
        behind = self.start(server, self.core(0), environment)
        try:
            self.await_server(behind, ready, patience)
            text = self.alone(client, self.core(1), environment, patience)
            if not stays:
                try:
                    behind.wait(patience)
                except subprocess.TimeoutExpired:
                    raise Failed("the server did not come to an end") from None
            return text
        finally:
            self.end(behind)

    def distance(self, program, patience=20):
        """Nanoseconds of a cache line to the other core and back; 0: one core only, or no program to measure it.

        The first line of bench_stage tells, and we do not wait for the others."""
        try:
            process = self.start([str(program), "--json"], set(self.cpus), {})
        except Failed:
            return 0.0
        try:
            self.await_server(process, lambda one: "\n" in self.text(one), patience)
        except Failed:
            pass
        finally:
            self.end(process)
        first = self.text(process).partition("\n")
        return float(json.loads(first[0])["ns"]) if first[1] else 0.0
