#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The whole of compare.py once, with programs that only pretend: what they say is told, who is missing or fails is
told too, and nothing is left behind. Then what Machine does to programs that do not end."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = HERE.parents[1] / "devtools" / "compare"
sys.path.insert(0, str(TOOL))
import machine

TOOLS = ("sh", "unshare", "ip", "mount", "dpkg-query")

# One text for all programs: it is what its name says. Servers wait for one caller, clients call and print what the
# real program once printed.
PRETENDER = r'''
import os, socket, sys
from pathlib import Path
recorded = Path(%r)
name, words = Path(sys.argv[0]).name, sys.argv[1:]

def after(word):
    return words[words.index(word) + 1] if word in words else None

def play(file):
    print((recorded / file).read_text(encoding="utf-8"), end="", flush=True)
    sys.exit(0)

if name == os.environ.get("PRETEND_TO_FAIL"):
    print("an error, as ordered")
    sys.exit(1)
if name == "bench_stage":
    print('{"kind": "distance", "ns": 64.5}', flush=True)
    sys.exit(0)
if name == "dat-perf":
    if "-D" in words and after("-D") + " u1.2" not in Path(os.environ["DAT_OVERRIDE"]).read_text(encoding="utf-8"):
        sys.exit("no such adapter")
    play("dat_perf_lat.json" if after("-t").endswith("_lat") else "dat_perf_bw.json")
port = after("-p") if name != "fi_pingpong" else after("-B") or after("-P")
client = "127.0.0.1" in words and "-s" not in words if name == "iperf3" else "127.0.0.1" in words
if client:
    socket.create_connection(("127.0.0.1", int(port))).close()
elif "-l" not in words:
    with socket.socket() as server:
        server.bind(("127.0.0.1", int(port)))
        server.listen()
        server.accept()[0].close()
    sys.exit(0)
if name == "fi_pingpong" and after("-p") == "shm":
    print("[error] there is no such provider")
    sys.exit(61)
play({"ucx_perftest": "ucx_lat.txt" if (after("-t") or "").endswith("lat") else "ucx_bw.txt",
      "fi_pingpong": "fi_pingpong_64.txt", "iperf3": "iperf3.json"}[name])
'''


def gone(pid):
    """Nobody runs under this number; what waits to be buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


class Pretended(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for place, names in (("build/apps", ["dat-perf"]), ("build/test/bench", ["bench_stage"]),
                             ("bin", ["ucx_perftest", "fi_pingpong", "iperf3"])):
            (self.folder / place).mkdir(parents=True)
            for name in names:
                program = self.folder / place / name
                program.write_text(f"#!{sys.executable} -BSE" + PRETENDER % str(HERE / "recorded"), encoding="utf-8")
                program.chmod(0o755)
        for tool in filter(shutil.which, TOOLS):
            (self.folder / "bin" / tool).symlink_to(shutil.which(tool))
        (self.folder / "tmp").mkdir()

    def compare(self, *words, **environment):
        command = [sys.executable, "-B", str(TOOL / "compare.py"), "--build", str(self.folder / "build"), "--out",
                   str(self.folder / "out"), "--rounds", "2", "--seconds", "5", "--sizes", "64", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, PATH=str(self.folder / "bin"), TMPDIR=str(self.folder / "tmp"),
                                       **environment))
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        return done

    def kept(self):
        return json.loads((self.folder / "out" / "compare.json").read_text(encoding="utf-8"))

    def test_all_that_ran_has_its_figure_and_all_that_did_not_its_reason(self):
        done = self.compare()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        kept = self.kept()
        cells = {row["key"]: row["cells"] for row in kept["rows"]}
        self.assertEqual(cells["send"]["rate 64"]["all"], [8422893.0] * 2)
        self.assertEqual(cells["ucx-tag-shm"]["rate 64"]["median"], 840194)
        self.assertAlmostEqual(cells["ucx-tag-tcp"]["rate 64"]["ratio"], 8422893 / 840194)
        self.assertEqual(cells["fabric-rxm"]["trip 64"]["median"], 98.40)
        troubles = {trouble["key"]: trouble["says"] for trouble in kept["troubles"]}
        self.assertEqual(troubles, {
            "tcp-trip": "sockperf is not installed (package sockperf)",
            "fabric-shm": "4 of 4 runs: [error] there is no such provider",
        })
        self.assertEqual(kept["config"]["distance"], [64.5] * 4)
        for said in (*troubles.values(), "64 ns (near)", "fails"):
            self.assertIn(said, done.stdout)

    def test_when_ours_fails_the_table_is_there_and_the_exit_code_is_1(self):
        done = self.compare("--markdown", "--rounds", "1", PRETEND_TO_FAIL="dat-perf")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("runs: an error, as ordered", done.stdout)
        self.assertIn("UCX tag, TCP | 0.84 |", done.stdout)
        self.assertIn((self.folder / "out" / "compare.md").read_text(encoding="utf-8"), done.stdout)

    def test_without_a_network_of_its_own_it_is_the_loopback_interface_of_all(self):
        (self.folder / "bin" / "unshare").unlink()
        self.assertEqual(self.compare("--rounds", "1").returncode, 0)
        self.assertEqual(self.kept()["config"]["network"], "the host's loopback interface")

    def test_arguments_that_make_no_sense_are_refused(self):
        for words in (("--rounds", "0"), ("--seconds", "60"), ("--sizes", "65"), ("--build", "nowhere")):
            self.assertEqual(self.compare(*words).returncode, 2, words)
        self.assertFalse((self.folder / "out").exists())


class Ends(unittest.TestCase):
    """Programs end, whatever they do."""

    def setUp(self):
        self.place = machine.Machine(dict(os.environ))
        self.addCleanup(self.place.close)

    def test_who_does_not_end_is_ended_with_all_that_it_started(self):
        numbers = self.place.folder / "numbers"
        script = f"sleep 600 & echo $! $$ >{numbers}.new; mv {numbers}.new {numbers}; wait"
        child = self.place.start(["sh", "-c", script], self.place.core(0), {})
        while not numbers.exists():
            time.sleep(0.01)
        with self.assertRaisesRegex(machine.Failed, "did not come to an end"):
            self.place.finish(child, 0.01)
        for pid in numbers.read_text(encoding="ascii").split():
            while not gone(pid):
                time.sleep(0.01)
        self.assertEqual(self.place.running, [])

    @unittest.skipUnless(os.access(machine.SHARED_MEMORY, os.W_OK), "no shared memory here")
    def test_the_shared_memory_of_who_is_ended_goes_too(self):
        child = self.place.start(["sh", "-c", f">{machine.SHARED_MEMORY}/$$:0:0; exec sleep 600"],
                                 self.place.core(0), {})
        left = machine.SHARED_MEMORY / f"{child.pid}:0:0"
        while not left.exists():
            time.sleep(0.01)
        self.place.end(child)
        self.assertFalse(left.exists())

    def test_a_server_that_gives_up_or_is_never_ready_is_told(self):
        with self.assertRaisesRegex(machine.Failed, "an error of mine"):
            self.place.pair(["sh", "-c", "echo an error of mine >&2; exit 3"], ["true"], {}, lambda _: False, False, 60)
        with self.assertRaisesRegex(machine.Failed, "is not ready"):
            self.place.pair(["sleep", "600"], ["true"], {}, lambda _: False, False, 0.01)
        self.assertEqual(self.place.running, [])

    def test_a_server_that_stays_is_ended(self):
        self.place.pair(["sleep", "600"], ["true"], {}, lambda _: True, True, 60)
        self.assertEqual(self.place.running, [])

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(machine.Failed, "does not start"):
            self.place.alone(["/nowhere/program"], self.place.core(0), {}, 1)

    def test_no_distance_without_the_program(self):
        self.assertEqual(self.place.distance("/nowhere/bench_stage"), 0.0)
        self.assertEqual(self.place.distance(shutil.which("true")), 0.0)


if __name__ == "__main__":
    unittest.main()
