#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gate itself: which tests may run again (devtools/testlog.py), what a step and a whole run say (devtools/steps.sh), that
a test is apart from all others and leaves nothing behind (test/apart.sh), how a commit is judged (devtools/gate.sh), and how
tests are disturbed (devtools/disturb.py).

  test_gate.py TOP
"""
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(sys.argv.pop())
sys.path.insert(0, str(TOP / "devtools"))
import testlog  # noqa: E402 # pylint: disable=wrong-import-position

LIMIT = int(os.environ.get("ROCE_TEST_LIMIT", "120"))


def line(name, result="FAIL", code=1, stdout="FAIL: too few", stderr=""):
    return json.dumps({"name": "udapl-roce:" + name, "result": result, "returncode": code, "stdout": stdout, "stderr": stderr,
                       "duration": 1.0})


class Folder(unittest.TestCase):
    def setUp(self):
        # Of the test's own folder, which test/apart.sh gives and takes.
        self.folder = Path(tempfile.mkdtemp())

    def write(self, name, *lines):
        path = self.folder / name
        path.write_text("".join(text + "\n" for text in lines), encoding="utf-8")
        return path


class TestAgain(Folder):
    """A failure that load can cause is tried once more, alone."""

    def ask(self, command, *logs):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = {"again": testlog.again, "sum": testlog.add_up}[command](*logs)
        return code, said.getvalue().splitlines()

    def again(self, text):
        return self.ask("again", self.write("testlog.json", text))[1]

    def test_what_may_be_chance_runs_again(self):
        self.assertEqual(self.again(line("vdev / rnr_loop")), ["rnr_loop"])
        self.assertEqual(self.again(line("unit+tsan / threads", stdout="[  ERROR   ] --- 0 != 1")), ["threads"])
        self.assertEqual(self.again(line("vdev / memif", result="TIMEOUT", code=-15)), ["memif"])
        self.assertEqual(self.again(line("vdev / memif", stdout='{"lost": 0, "frames_lost": 3, "violations": 0}')), ["memif"])
        self.assertEqual(self.again(line("vdev / roce0", stdout="3 sent, 3 answered, 0% lost")), ["roce0"])
        self.assertEqual(self.again(line("vdev / down", stdout="FAIL: the server exits with 1")), ["down"])
        self.assertEqual(self.again(line("vdev / down", stdout="FAIL: the client exits with 143, ended by its limit")), ["down"])

    def test_what_load_cannot_cause_does_not(self):
        for never in (line("unit / srq", code=-11), line("unit / srq", code=139), line("unit / srq", code=134),
                      line("unit / srq", stderr="==1==ERROR: AddressSanitizer: heap-use-after-free"),
                      line("unit / srq", stderr="WARNING: ThreadSanitizer: data race"),
                      line("unit / srq", stdout="psn.c:3:1: runtime error: shift exponent 32"),
                      line("apps / perf", stdout="dat-perf: 1 message lost"),
                      line("apps / ping", stdout="10 sent, 9 answered, 10% lost"),
                      line("apps / perf", stdout="message 7 of endpoint 0 is corrupted"),
                      line("apps / perf", stdout="the other end of ia0 found 3 violations"),
                      line("unit / srq", stderr="[  ERROR   ] --- Test failed with exception: Segmentation fault(11)"),
                      line("vdev / memif", stdout="FAIL: the server exits with 139"),
                      line("apps / servers", stdout="FAIL: server exits with -6 instead of 0"),
                      line("vdev / loss", stdout="FAIL: dat-perf -s 64: client 0, server 139: "),
                      line("vdev / watch", stderr="AssertionError: -11 != 0"),
                      line("vdev / watch", stderr="CompletedProcess(args=['dat-info'], returncode=-6)"),
                      line("vdev / fork", stderr="free(): invalid pointer"),
                      line("vdev / memif", stderr="memif.sh: line 7: 4711 Aborted (core dumped) dat-perf -s 64"),
                      line("lint / words"), line("abi / symbols"), line("unit / srq", result="OK", code=0),
                      line("unit / srq", result="SKIP", code=77)):
            self.assertEqual(self.again(never), [], never)

    def test_one_that_passes_alone_is_told_as_flaky(self):
        log = self.write("testlog.json", line("unit / srq", result="OK", code=0), line("vdev / rnr_loop"), line("vdev / memif"))
        self.write("again.json", line("vdev / rnr_loop", result="OK", code=0), line("vdev / memif"))
        self.assertEqual(self.ask("sum", log), (1, [
            "flaky: udapl-roce:vdev / rnr_loop: FAIL: too few", "failed: udapl-roce:vdev / memif: fail",
            "2 passed, 1 failed, 0 skipped"]))
        self.write("again.json", line("vdev / rnr_loop", result="OK", code=0), line("vdev / memif", result="OK", code=0))
        self.assertEqual(self.ask("sum", log)[0], 0)

    def test_each_log_has_one_of_its_own_for_those(self):
        log = self.write("testlog-gate.json", line("vdev / rnr_loop"))
        self.write("again.json", line("vdev / rnr_loop", result="OK", code=0))
        self.assertEqual(self.ask("sum", log)[0], 1)
        self.write("again-gate.json", line("vdev / rnr_loop", result="OK", code=0))
        self.assertEqual(self.ask("sum", log)[0], 0)


class TestSteps(Folder):
    """A run goes on behind a failure, and its last line is the sum."""

    def run_steps(self, *steps):
        text = f"logs={self.folder}; . devtools/steps.sh; " + "; ".join(steps) + "; finish"
        done = subprocess.run(["bash", "-uc", text], cwd=TOP, capture_output=True, text=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_counts_add_up(self):
        code, said = self.run_steps("step one 60 echo '5 passed, 0 failed, 1 skipped'", "step two 60 true")
        self.assertEqual((code, said[-1]), (0, "6 passed, 0 failed, 1 skipped"))

    def test_a_failure_fails_and_the_next_step_runs(self):
        code, said = self.run_steps("step one 60 false", "step two 60 echo '2 passed, 0 failed, 0 skipped'")
        self.assertEqual((code, said[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("one: failed: false", said)

    def test_two_flaky_tests_are_told_and_three_fail(self):
        flaky = "step one 60 printf 'flaky: %s: late\\n3 passed, 0 failed, 0 skipped\\n' a b"
        code, said = self.run_steps(flaky)
        self.assertEqual((code, said[-1]), (0, "3 passed, 0 failed, 0 skipped"))
        self.assertIn("one: flaky: b: late", said)
        code, said = self.run_steps(flaky, "step two 60 printf 'flaky: c: late\\n1 passed, 0 failed, 0 skipped\\n'")
        self.assertEqual((code, said[-1]), (1, "4 passed, 1 failed, 0 skipped"))

    def test_a_step_that_hangs_is_too_slow(self):
        code, said = self.run_steps("step one 1 sleep 1000")
        self.assertEqual((code, said[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("one: failed: too slow: ended after 3 seconds, three times the usual", said)


class TestApart(Folder):
    """A test has names of its own and leaves nothing behind."""

    def apart(self, *command):
        return subprocess.Popen([TOP / "test/apart.sh", *command], env=dict(os.environ, TMPDIR=str(self.folder)),
                                stdout=subprocess.PIPE, text=True, start_new_session=True)

    def setUp(self):
        super().setUp()
        if subprocess.run([TOP / "test/apart.sh", "--can"], check=False).returncode != 0:
            self.skipTest("no namespaces here: wants root, or user namespaces")

    def test_it_exits_as_the_command(self):
        for command, code in (("true", 0), ("exit 77", 77), ("kill -SEGV $$", 128 + signal.SIGSEGV)):
            with self.apart("sh", "-c", command) as test:
                self.assertEqual(test.wait(LIMIT), code, command)

    def test_its_folder_goes_with_it(self):
        with self.apart("sh", "-c", "echo x >$TMPDIR/x && echo $TMPDIR") as test:
            room = Path(test.communicate(timeout=LIMIT)[0].strip())
        self.assertEqual(room.parent, self.folder)
        self.assertFalse(room.exists())

    def test_what_it_started_ends_with_it_even_if_it_is_killed(self):
        # The reader of the pipe sees its end when the last process that has it open has gone.
        with self.apart("sh", "-c", "setsid sleep 1000 & echo ready; exit 0") as test:
            self.assertEqual(test.communicate(timeout=LIMIT)[0], "ready\n")
        with self.apart("sh", "-c", "setsid sleep 1000 & echo ready; exec sleep 1000") as test:
            test.stdout.readline()
            os.killpg(test.pid, signal.SIGKILL)
            self.assertEqual(test.communicate(timeout=LIMIT)[0], "")

    def test_one_that_is_killed_leaves_no_name_to_the_next(self):
        # A device, a file of /run, a port, an abstract name, and a daemon that nobody waits for.
        make = ("import os, signal, socket, subprocess\n"
                "subprocess.run(['ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far'], check=True)\n"
                "open('/run/once', 'x').close()\n"
                "port, name = socket.socket(), socket.socket(socket.AF_UNIX)\n"
                "port.bind(('127.0.0.1', 4791))\n"
                "name.bind('\\0once')\n"
                "if os.fork() == 0: os.setsid()\n"
                "else: print('made', flush=True)\n"
                "signal.pause()")
        if os.getuid() != 0:
            self.skipTest("only root has a device and a /run of its own here")
        for _ in range(2):
            with self.apart(sys.executable, "-c", make) as test:
                self.assertEqual(test.stdout.readline(), "made\n")
                os.killpg(test.pid, signal.SIGKILL)
                self.assertEqual(test.communicate(timeout=LIMIT)[0], "")

    def test_folders_of_those_that_were_killed_go_with_the_run(self):
        # In place of meson: a test that is killed together with what would have removed its folder.
        self.write("meson", "#!/bin/sh", f'echo "$TMPDIR" >{self.folder}/run',
                   f"""setsid "{TOP}/test/apart.sh" sh -c 'echo "$TMPDIR" >{self.folder}/room; exec sleep 1000' &""",
                   f"until [ -s {self.folder}/room ]; do sleep 0.05; done", "kill -KILL -$!", "wait").chmod(0o755)
        text = (f'set -u; build_root={self.folder}; say() {{ :; }}; leave_autogroup_out() {{ :; }}; give_autogroup_back() {{ :; }}\n'
                '. devtools/suites.sh; run_tests build testlog')
        (self.folder / "build/meson-logs").mkdir(parents=True)
        subprocess.run(["bash", "-c", text], cwd=TOP, capture_output=True, text=True, timeout=LIMIT, check=False,
                       env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", TMPDIR=str(self.folder)))
        run, room = ((self.folder / name).read_text().strip() for name in ("run", "room"))
        self.assertTrue(room.startswith(run))
        self.assertFalse(Path(run).exists())

    def test_two_use_the_same_port_at_once(self):
        listen = ("import socket, sys; s = socket.socket(); s.bind(('127.0.0.1', 4791)); s.listen(); "
                  "print('listens', flush=True); sys.stdin.readline()")
        command = [TOP / "test/apart.sh", sys.executable, "-c", listen]
        both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        self.assertEqual([each.stdout.readline() for each in both], ["listens\n"] * 2)
        for each in both:
            each.communicate("\n", timeout=LIMIT)


class TestGate(Folder):
    """One commit is judged as CI judges it, whatever the caller's machine and checkout are like."""

    def setUp(self):
        super().setUp()
        self.top = self.folder / "main"
        (self.top / ".ci").mkdir(parents=True)
        (self.folder / "shared").mkdir()
        for name in ("autogroup", "nr_hugepages"):
            self.write(name, "1")
        self.git("init", "--quiet")

    def git(self, *words):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        return subprocess.run(["git", *who, *words], cwd=self.top, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, *lines):
        """One whose .ci/run has these lines."""
        run = self.write("main/.ci/run", "#!/bin/sh", *lines)
        run.chmod(0o755)
        self.git("add", ".ci/run")
        self.git("commit", "--quiet", "-m", "gate: judge")
        return self.git("rev-parse", "HEAD")

    def start(self, *words, before=""):
        text = ('set -eu; build_root=$PWD/build; autogroup=$PWD/../autogroup; hugepages=$PWD/..\n' + before +
                'say() { echo "$*" >&2; }; fail() { say "$*"; exit 1; }\n'
                f'. "{TOP}/devtools/gate.sh"; cmd_gate "$@"')
        return subprocess.Popen(["bash", "-c", text, "gate", *words], cwd=self.top, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, CALLER="yes"))

    def gate(self, *words):
        with self.start(*words) as gate:
            said, why = gate.communicate("input of the caller\n", timeout=LIMIT)
        return gate.returncode, said.splitlines(), why

    def passed(self):
        name = self.top / "build/gate/passed"
        return name.read_text(encoding="utf-8").strip() if name.is_file() else None

    def test_a_commit_is_judged_and_not_the_checkout(self):
        first = self.commit("echo first: $(git rev-parse HEAD)")
        self.commit("echo second")
        self.write("main/.ci/run", "#!/bin/sh", "echo not committed")
        self.assertEqual(self.gate()[:2], (0, ["second"]))
        self.assertEqual(self.gate(first)[:2], (0, [f"first: {first}"]))
        self.assertEqual(self.passed(), first)

    def test_nothing_of_the_caller_is_there(self):
        self.commit('echo "[$CALLER] [$(cat)]" $(ls ..)')
        self.assertEqual(self.gate()[1], ["[] [] main shared"])

    def test_a_failure_leaves_the_last_one_that_passed(self):
        good = self.commit("true")
        self.gate()
        self.commit("exit 3")
        code, _, why = self.gate()
        self.assertEqual((code, self.passed()), (1, good), why)

    def test_root_cannot_write_to_the_shared_folder(self):
        if os.getuid() != 0:
            self.skipTest("only root mounts it")
        self.commit("touch ../shared/x 2>/dev/null || echo refused")
        self.assertEqual(self.gate()[1], ["refused"])

    def test_one_runs_at_a_time_and_gives_back_what_it_took_when_it_is_ended(self):
        self.commit(f"echo 0 >{self.folder}/autogroup; echo 0 >{self.folder}/nr_hugepages; echo runs; sleep 1000")
        with self.start() as gate:
            self.assertEqual(gate.stdout.readline(), "runs\n")
            code, _, why = self.gate()
            self.assertEqual((code, why), (1, "a gate of this checkout is running; wait for its end\n"))
            gate.terminate()
            self.assertEqual(gate.wait(LIMIT), 143)
        self.assertIsNone(self.passed())
        if os.getuid() == 0:
            self.assertEqual([(self.folder / name).read_text() for name in ("autogroup", "nr_hugepages")], ["1\n", "1\n"])

    def said_when_ended(self, before=":"):
        """By the commands of a gate of an ordinary user that is told to end while it runs."""
        # Root would mount this one.
        (self.folder / "shared").rmdir()
        with self.start(before=f"id() {{ echo 1000; }}; {before}\n") as gate:
            self.assertEqual(gate.stdout.readline(), "runs\n")
            gate.terminate()
            # The reader of the pipe sees its end when the last process that has it open has gone.
            said = gate.communicate(timeout=LIMIT)[0]
            self.assertEqual(gate.returncode, 143)
        return said

    def test_all_that_an_ordinary_user_started_ends_with_it(self):
        # It has no namespace; a program ends those of other sessions, as meson its tests, if it is told to end.
        self.commit("setsid sleep 1000 &", "trap 'kill $!; echo ended; exit' TERM", "echo runs", "wait")
        self.assertEqual(self.said_when_ended(), "ended\n")

    def test_what_does_not_end_when_it_is_told_is_killed(self):
        self.commit("trap '' TERM", "echo runs", "sleep 1000")  # until it is killed
        self.assertEqual(self.said_when_ended("ROCE_TEST_LIMIT=0"), "")


class TestNetwork(Folder):
    """A network that fails now and then fails no run."""

    def run_with(self, command):
        """With programs of this folder before all others."""
        return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=LIMIT, check=False,
                              env=dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"))

    def test_apt_tries_again_and_waits_for_another_one(self):
        self.write("apt-get", "#!/bin/sh", 'echo "$@"').chmod(0o755)
        done = self.run_with(["bash", "-c", 'set -eu; . devtools/packages.sh; as_root() { "$@"; }; apt_get -q install x'])
        self.assertEqual(done.stdout.split(), ["-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=600", "-q", "install", "x"])

    def bootstrap(self, good):
        """A bare tree, where each debootstrap but that many-th fails. Returns what is said, and the number of tries."""
        if os.getuid() != 0:
            self.skipTest("bare trees want root")
        tries = self.folder / "tries"
        self.write("apt-get", "#!/bin/sh", "echo Debian deb http://192.0.2.1/debian bookworm main").chmod(0o755)
        # Its tree has nothing to run: the command in it fails, whatever it is.
        self.write("debootstrap", "#!/bin/sh", f"echo try >>{tries}", f"[ $(wc -l <{tries}) -eq {good} ] || exit 1",
                   'mkdir -p "$3/etc/apt/apt.conf.d" && echo 12 >"$3/etc/debian_version"').chmod(0o755)
        done = self.run_with(["devtools/clean-tree.sh", str(self.folder / "tree"), "true"])
        return done.stdout + done.stderr, len(tries.read_text().splitlines())

    def test_debootstrap_is_tried_once_more(self):
        said, tries = self.bootstrap(2)
        self.assertIn("debootstrap failed, is tried once more", said)
        self.assertEqual(tries, 2)
        self.assertIn("deb http://192.0.2.1/debian bookworm main", (self.folder / "tree/etc/apt/sources.list").read_text())
        # So do the packages of the tree.
        self.assertIn('Acquire::Retries "5"', (self.folder / "tree/etc/apt/apt.conf.d/00host").read_text())

    def test_debootstrap_is_tried_twice_at_most_and_leaves_no_half_tree(self):
        said, tries = self.bootstrap(3)
        self.assertIn("debootstrap failed: its last lines stand above", said)
        self.assertEqual(tries, 2)
        self.assertEqual(sorted(path.name for path in self.folder.glob("tree*")), [])


class TestBuild(Folder):
    """A tree compiles for any user."""

    def cache_for(self, theirs):
        """The folder that ccache is told to take, where it would take theirs by itself."""
        self.write("ccache", "#!/bin/sh", f"echo {theirs}").chmod(0o755)
        text = f'set -eu; build_root=build; . "{TOP}/devtools/build.sh"; make_cache_writable; echo "${{CCACHE_DIR:-its own}}"'
        done = subprocess.run(["bash", "-c", text], cwd=self.folder, capture_output=True, text=True, check=True,
                              env={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        return done.stdout.strip()

    def test_the_cache_of_compilations_is_the_user_s(self):
        self.assertEqual(self.cache_for(self.folder / "home/.cache"), "its own")

    def test_a_user_without_a_home_has_it_in_the_build_folder(self):
        self.assertEqual(self.cache_for("/proc/nobody/.cache"), str(self.folder / "build/ccache"))
        self.assertEqual(self.cache_for(""), str(self.folder / "build/ccache"))


class TestDisturb(unittest.TestCase):
    """A machine that others use, too."""

    def test_a_process_of_a_test_stands_still_and_goes_on(self):
        program = ("import os, time\n"
                   "child = os.fork()\n"
                   "while child == 0: time.sleep(0.01)\n"
                   "stopped = os.waitpid(child, os.WUNTRACED)[1]\n"
                   "goes_on = os.waitpid(child, os.WCONTINUED)[1]\n"
                   "print(os.WIFSTOPPED(stopped), os.WIFCONTINUED(goes_on), flush=True)\n"
                   "os.kill(child, 9)")
        command = ["sh", "-c", '"$@"; exit', "gate", TOP / "test/apart.sh", sys.executable, "-c", program]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as gate:
            # Its pipe ends with the last of its busy processes.
            with subprocess.Popen([sys.executable, "-B", TOP / "devtools/disturb.py", str(gate.pid), "--pause", "0.1"],
                                  stdout=subprocess.PIPE, text=True) as disturb:
                try:
                    self.assertEqual(gate.communicate(timeout=LIMIT)[0], "True True\n")
                    said = disturb.communicate(timeout=LIMIT)[0]
                finally:
                    for each in (gate, disturb):
                        each.kill()
        self.assertEqual(disturb.returncode, 0)
        self.assertRegex(said, r"^disturb\.py: [1-9][0-9]* times a process of a test stood still for 0\.25 s, beside 2 busy ones\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
