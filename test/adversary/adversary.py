#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The adversarial mix: consumers and servers among signals, strangers and hostile peers.

adversary.py --build DIR [--minutes N] [--seed N]

Some churn processes (churn.c) judge each count of their shared receive queues over loop adapters. A dat-srqd serves one
client after the other over net_memif. A victim (victim.c) and one more dat-srqd are at ends of veth interfaces, in a network
of their own; at the other ends are hostile peers (hostile.py). Signals have to end each wait of a waiter (waiter.c), and
dat-info must answer each scrape. All the while processes are killed, stopped, continued and interrupted at random, and
strangers (strangers.py) are at all doors. A death is the end of a process that nobody here killed, or that is held up
beyond the limit; a wrong count ends a churn or the victim. At the end each server has to serve a client still. The last
line is the sum; exit 1 when there was a death or a wrong count, or nothing was counted. SIGTERM makes it end sooner.
"""
import argparse
import collections
import contextlib
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402
import strangers  # noqa: E402

CHURNS = 3
WAITERS = 2
STOP_SECONDS = (0.02, 1.0)  # shorter than a connection's patience
PAUSE_SECONDS = (0.02, 0.3)
END_SECONDS = 60
ROUND = re.compile(r"round: (\d+) queries, (\d+) resizes, (\d+) armings, (\d+) connections")
SUMS = re.compile(r"([a-z_ ]+): (\d+)")
LINE = 'wire u1.2 threadsafe default libdaplroce.so.1 udapl-roce.1.2 "port={} ip={}/24" ""\n'
MEMIF = "net_memif0,role={},id=0,socket={}"
# Interfaces of the two servers with hostile peers, and what is behind them.
NEAR, FAR = ("near0", "near1"), ("far0", "far1")
SERVER, CLIENT, HOSTILE = "198.51.100.1", "198.51.100.2", "198.51.100.66"
SRQD_PORT, VICTIM_PORT = 18517, 77
WAITER_LINE = 9  # bytes
OWN_NETWORK = "ADVERSARY_NETWORK"  # set in it
# Signals that nobody handles, and that therefore do nothing.
UNHANDLED = (signal.SIGWINCH, signal.SIGURG, signal.SIGCHLD)


def own_network():
    """Go on in a network of our own, which goes with the last process. Root needs no more; others a user namespace."""
    if OWN_NETWORK in os.environ:
        return
    way = ["unshare", *(() if strangers.is_root() else ("--user", "--map-root-user")), "--net", "--"]
    if shutil.which("ip") and subprocess.run([*way, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ[OWN_NETWORK] = "1"
        os.execvp(way[0], [*way, sys.executable, "-B", *sys.argv])
    print("no hostile peers: they want ip (package iproute2), and root or user namespaces", flush=True)


def make_wires():
    """Pairs of interfaces on which the kernel is silent."""
    commands = ["ip link set lo up"]
    for near, far in zip(NEAR, FAR):
        commands.append(f"ip link add {near} mtu 1500 type veth peer name {far} mtu 1500")
        commands += [f"ip link set {end} arp off addrgenmode none up" for end in (near, far)]
    for command in commands:
        subprocess.run(command.split(), check=True)


class Program:
    """A process that is to run on, and what it says."""

    def __init__(self, name, command, env, out):
        self.name, self.out = name, open(out, "ab+")
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT)
        self.began, self.continues_at = time.monotonic(), 0.0
        self.interrupts, self.interrupted_at = 0, 0.0  # of a waiter

    def length(self):
        return os.fstat(self.out.fileno()).st_size

    def said(self):
        return os.pread(self.out.fileno(), self.length(), 0).decode("utf-8", "replace")

    def sleeps(self):
        """The thread that began does."""
        with contextlib.suppress(OSError), open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(") ")[2][0] == "S"
        return False

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def stop(self, seconds):
        self.signal(signal.SIGSTOP)
        self.continues_at = time.monotonic() + seconds

    def go_on(self):
        self.continues_at = 0.0
        self.signal(signal.SIGCONT)

    def end(self, number):
        """Ends it, and returns its status."""
        self.go_on()
        self.signal(number)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return -1000
        return self.process.returncode


class Mix:
    def __init__(self, build, folder, seed):
        self.random, self.build, self.folder = random.Random(seed), build, folder
        self.socket = os.path.join(folder, "memif.sock")
        self.deaths, self.done, self.programs, self.files = [], collections.Counter(), [], 0
        self.strangers = strangers.Strangers(self.random)
        self.scraper, self.over = None, False
        self.wired = OWN_NETWORK in os.environ
        libraries = [os.path.join(build, "lib", name) for name in ("front", "libdat")]
        self.env = dict(os.environ, LD_LIBRARY_PATH=":".join(libraries), RUNTIME_DIRECTORY=folder, XDG_RUNTIME_DIR=folder,
                        UDAPL_ROCE_ROCED="/nonexistent")
        for role, address in (("server", "192.0.2.1"), ("client", "192.0.2.2")):
            self.write(role, MEMIF.format(role, self.socket), address)
        for interface in (*NEAR, *FAR):
            self.write(interface, f"net_af_packet0,iface={interface}", SERVER if interface in NEAR else CLIENT)

    def write(self, name, port, address):
        with open(self.conf(name), "w", encoding="utf-8") as conf:
            conf.write(LINE.format(port, address))

    def conf(self, name):
        return os.path.join(self.folder, f"{name}.conf")

    # ---- programs ----

    def command(self, name):
        """Its words, its dat.conf, and more of its environment."""
        ours = os.path.join(self.build, "test/adversary/")
        srqd = [os.path.join(self.build, "apps/dat-srqd"), "-D", "wire"]
        client = [*srqd, "-n", "2000", "--connect"]
        manual = {"UDAPL_ROCE_PARAMS": "progress=manual"}
        seed = str(self.random.getrandbits(60))
        hostile = [sys.executable, "-B", str(Path(__file__).with_name("hostile.py"))]
        return {
            "churn": ([ours + "churn", seed], "", manual),
            "waiter": ([ours + "waiter"], "", {}),
            "exporter": ([os.path.join(self.build, "apps/dat-info"), "--metrics", "--listen", "0"], "", {}),
            "server": ([*srqd, "--interval", "0"], self.conf("server"), {}),
            "client": ([*client, "192.0.2.1"], self.conf("client"), {}),
            "srqd": ([*srqd, "--interval", "0", "--max-clients", "32", "--keepalive", "1", "--stall", "3", "--idle", "5"],
                     self.conf(NEAR[0]), {}),
            "guest": ([*client, SERVER], self.conf(FAR[0]), {}),
            "peers of srqd": ([*hostile, "srqd", FAR[0], HOSTILE, SERVER, str(SRQD_PORT), seed], "", {}),
            "victim": ([ours + "victim", "wire", str(VICTIM_PORT)], self.conf(NEAR[1]), manual),
            "last of victim": ([*hostile, "victim", FAR[1], HOSTILE, SERVER, str(VICTIM_PORT), seed, "once"], "", {}),
            "peers of victim": ([*hostile, "victim", FAR[1], HOSTILE, SERVER, str(VICTIM_PORT), seed], "", {}),
        }[name]

    def start(self, name):
        words, conf, more = self.command(name)
        self.files += 1
        program = Program(name, words, dict(self.env, DAT_OVERRIDE=conf, **more),
                          os.path.join(self.folder, f"{self.files}-{name.replace(' ', '-')}.out"))
        self.programs.append(program)
        return program

    def start_and_wait(self, name, word):
        """Until it says that it is there."""
        program = self.start(name)
        limit.wait_until(f"{name} says '{word}'", lambda: word in program.said() or program.process.poll() is not None)
        return program

    def died(self, program, how):
        self.complain(f"{program.name} {how}: {' / '.join(program.said().splitlines()[-8:])}")

    def complain(self, text):
        self.deaths.append(text)
        print("death:", text, flush=True)

    def count(self, program):
        text = program.said()
        for numbers in ROUND.findall(text):
            for what, number in zip(("queries", "resizes", "armings", "connections"), numbers):
                self.done[what] += int(number)
        if program.name == "victim" or "of" in program.name.split():
            lines = [line for line in text.splitlines() if line.startswith(("checks: ", "peers: "))]
            for what, number in SUMS.findall(lines[-1].removeprefix("peers: ") if lines else ""):
                self.done[f"{program.name}: {what.strip()}"] += int(number)

    def remove(self, program):
        self.count(program)
        program.out.close()
        self.programs.remove(program)

    def replace(self, program):
        """Whoever is gone comes again."""
        self.remove(program)
        self.start(program.name)

    def look(self):
        """What ended by itself, and what was stopped long enough. A client may fail: its server was stopped."""
        for program in list(self.programs):
            if program.continues_at and time.monotonic() > program.continues_at:
                program.go_on()
            status = program.process.poll()
            if status is None:
                self.look_at(program)
                continue
            if program.name in ("client", "guest"):
                if status < 0:
                    self.died(program, f"ended with {status}")
                self.done[f"{program.name}s served" if status == 0 else f"{program.name}s refused"] += 1
            else:
                self.died(program, f"ended with {status}")
            self.replace(program)

    def look_at(self, program):
        """Nothing is held up beyond the limit."""
        now = time.monotonic()
        if program.name in ("client", "guest") and now - program.began > limit.SECONDS:
            program.end(signal.SIGABRT)
        elif program.name == "waiter":
            self.interrupt(program, now)

    def interrupt(self, waiter, now):
        """The next signal, once the one before has ended its wait and the next wait is seen to sleep."""
        ended = waiter.length() // WAITER_LINE - 1
        if waiter.continues_at or ended < 0:
            return
        if ended > waiter.interrupts or (ended < waiter.interrupts and now - waiter.interrupted_at > limit.SECONDS):
            self.died(waiter, f"had {waiter.interrupts} signals, which ended {ended} waits")
            waiter.interrupts = ended
        elif ended == waiter.interrupts and waiter.sleeps():
            waiter.interrupts, waiter.interrupted_at = ended + 1, now
            waiter.signal(signal.SIGUSR1)
            self.done["signals that ended a wait"] += 1

    # ---- what is done to them ----

    def stray(self):
        """A stranger at a door."""
        doors = [lambda: self.strangers.at_door(self.socket), lambda: self.strangers.at_metrics(self.scraper.port)]
        if self.wired:
            doors.append(lambda: self.strangers.at_claim(*self.random.choice(
                [(near, SERVER) for near in NEAR] + [(FAR[0], CLIENT)])))
        self.random.choice(doors)()
        self.done["strangers"] += 1

    def disturb(self, program):
        """A signal that ends nothing: with a handler, which those have that have said something, or without one."""
        handles = program.name in ("churn", "victim") and program.length() > 0
        program.signal(self.random.choice((signal.SIGUSR1,) * 3 * handles + UNHANDLED))
        self.done["disturbances"] += 1

    def act(self):
        program = self.random.choice(self.programs)
        what = self.random.random()
        if what < 0.4:
            self.stray()
        elif what < 0.6:
            self.disturb(program)
        elif what < 0.85 and not program.continues_at:
            program.stop(self.random.uniform(*STOP_SECONDS))
            self.done["stops"] += 1
        elif program.name in ("churn", "client", "guest", "waiter", "peers of srqd", "peers of victim") and \
                program.process.poll() is None:
            program.end(signal.SIGKILL)
            self.replace(program)
            self.done["kills"] += 1

    # ---- the run ----

    def set_up(self):
        if strangers.is_root():
            os.chmod(self.folder, 0o755)
            self.strangers.settle(self.folder)
        else:
            print("no strangers' folders: they want root", flush=True)
        exporter = self.start_and_wait("exporter", "/metrics")
        self.scraper = strangers.Scraper(int(re.search(r":(\d+)/metrics", exporter.said()).group(1)), self.complain)
        self.scraper.start()
        self.start_and_wait("server", "answers on port")
        names = ["churn"] * CHURNS + ["waiter"] * WAITERS + ["client"]
        if self.wired:
            make_wires()
            self.start_and_wait("srqd", "answers on port")
            self.start_and_wait("victim", "victim listens")
            names += ["guest", "peers of srqd", "peers of victim"]
        for name in names:
            self.start(name)

    def finish(self, names, numbers=(0,)):
        """End those of a name in order, with one of these statuses."""
        for program in [program for program in self.programs if program.name in names]:
            if program.name == "waiter":
                # Between two waits a signal ends none.
                limit.wait_until("a waiter waits", program.sleeps)
            status = program.end(signal.SIGTERM)
            if status not in numbers:
                self.died(program, f"ended with {status} when it was told to")
            self.remove(program)

    def serve_still(self, name):
        """Places come back: one client more is served, within the limit."""
        until = time.monotonic() + limit.SECONDS
        while time.monotonic() < until:
            program = self.start(name)
            with contextlib.suppress(subprocess.TimeoutExpired):
                if program.process.wait(limit.SECONDS) == 0:
                    self.done["served at the end"] += 1
                    self.finish([name])
                    return
            program.end(signal.SIGKILL)
            self.remove(program)
        self.complain(f"no {name} is served at the end")

    def end_early(self, *_):
        self.over = True

    def run(self, seconds):
        self.set_up()
        signal.signal(signal.SIGTERM, self.end_early)
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.over:
            self.look()
            self.act()
            # For no condition: it is the disorder that is tested.
            time.sleep(self.random.uniform(*PAUSE_SECONDS))
        for program in self.programs:
            program.go_on()
        self.look()
        # SIGTERM is what ends a client that has not ended yet.
        self.finish(("client", "guest"), (0, 1, 143, -signal.SIGTERM))
        self.finish(("churn", "waiter", "peers of srqd", "peers of victim"), (0, -signal.SIGTERM))
        for name in ("client", "guest", "last of victim")[:1 + 2 * self.wired]:
            self.serve_still(name)
        self.scraper.end()
        self.done["scrapes"], self.done["scrapes with devices"] = self.scraper.scrapes, self.scraper.with_devices
        self.finish(("server", "srqd", "victim"))
        self.finish(("exporter",), (0, -signal.SIGTERM, 143))

    def kill_all(self):
        for program in self.programs:
            program.end(signal.SIGKILL)
        self.strangers.leave()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    args = parser.parse_args()
    own_network()
    print(f"the adversarial mix, {args.minutes:g} minutes; the same again: ./run.sh soak --adversary {args.minutes:g} {args.seed}",
          flush=True)
    with tempfile.TemporaryDirectory(prefix="adversary") as folder:
        mix = Mix(os.path.abspath(args.build), folder, args.seed)
        try:
            mix.run(args.minutes * 60)
        finally:
            mix.kill_all()
        left = [path for path in glob.glob(os.path.join(folder, "*.sock")) if os.path.exists(path)]
    print(", ".join(f"{what}: {number}" for what, number in sorted(mix.done.items())))
    wrong = sum(any(word in death for word in ("churn.c:", "contract.c:", "dat_pair.c:", "victim.c:", "ERROR")) for death in mix.deaths)
    print(f"{len(mix.deaths)} deaths, {wrong} wrong counts, {len(left)} sockets left, seed {args.seed}")
    nothing = mix.done["queries"] == 0 or mix.done["clients served"] == 0 or mix.done["scrapes"] == 0
    return bool(mix.deaths) or nothing or (mix.wired and mix.done["guests served"] == 0)


if __name__ == "__main__":
    sys.exit(main())
