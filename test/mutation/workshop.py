# SPDX-License-Identifier: BSD-3-Clause
"""Where mutate.py breaks things: a copy of the tree, one build folder, and those who should notice."""
import json
import re
import shutil
import subprocess
import sys
import threading

OPTIONS = ["--buildtype=debugoptimized", "-Ddebug=false", "-Dwerror=false", "-Dapps=false"]
WORLDS = 5000
SECONDS = 120  # for one program


class Workshop:
    def __init__(self, root, folder):
        self.root = root
        self.source, self.build = folder / "tree", folder / "build"
        self.simulator = str(self.build / "test/sim/sim")
        self.tests = []

    def begin(self, generated):
        """Copy, configure and build; whoever fails on an unbroken tree cannot notice anything."""
        if self.source.exists():
            shutil.rmtree(self.source)
        shutil.copytree(self.root, self.source, ignore=lambda folder, names: [
            name for name in names if name == "build" or generated(self.source.__class__(folder, name))])
        # A run that was ended may have left objects of a broken engine behind, one of another tree those of newer tests.
        for path in self.source.rglob("*.[ch]"):
            path.touch()
        if not (self.build / "build.ninja").exists():
            self._must(["meson", "setup", str(self.build), str(self.source), *OPTIONS])
        else:
            # A folder of an earlier run does not know of tests that are new.
            self._must(["meson", "setup", "--reconfigure", str(self.build), str(self.source)])
        self.tests = self._find_tests()
        self.compile([test["cmd"][0] for test in self.tests] + [self.simulator])
        wrong = self.unit(self.tests) or self.sim()
        if wrong:
            sys.exit("mutate.py: the tree as it is fails already: " + wrong)

    def _find_tests(self):
        """Unit tests of the engine and of channels, then the conformance rules. Tests of threads are left
        out: they notice by chance."""
        text = (self.source / "test/unit/meson.build").read_text()
        known = json.loads(self._must(["meson", "introspect", "--tests", str(self.build)]))
        names = []
        for layer in ("engine", "local"):
            files = re.search(rf"'{layer}': \{{\s*'files': \[(.*?)\]", text, re.S)
            if not files:
                sys.exit(f"mutate.py: test/unit/meson.build has no tests of {layer}")
            names += [name for name in re.findall(r"'(\w+)'", files.group(1)) if not name.endswith("threads")]
        return [test for test in known if (test["name"] in names and "unit" in str(test["suite"])) or
                test["name"] == "rules"]

    @staticmethod
    def _must(command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"mutate.py: {' '.join(command[:3])}:\n{done.stdout[-4000:]}")
        return done.stdout

    def compile(self, programs):
        start = len(str(self.build)) + 1
        self._must(["ninja", "-C", str(self.build), *(program[start:] for program in programs)])

    def judge(self, file):
        """(who of unit and conf, what of the simulator) notices that this file is wrong; "" for one that does not.

        Those who know the file best are built and asked first, and all others when they do not notice.
        """
        first = [test for test in self.tests if test["name"] in (file[:-2], "rules")]
        self.compile([test["cmd"][0] for test in first] + [self.simulator])
        return self.unit(first) or self._rest(first), self.sim()

    def _rest(self, first):
        rest = [test for test in self.tests if test not in first]
        self.compile([test["cmd"][0] for test in rest])
        return self.unit(rest)

    def unit(self, tests):
        """The first that fails; "" when none does."""
        for test in tests:
            failed = self._failure(test)
            if failed:
                return failed
        return ""

    @staticmethod
    def _failure(test):
        name = test["name"]
        try:
            done = subprocess.run(test["cmd"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=SECONDS, errors="replace")
        except subprocess.TimeoutExpired:
            return f"{name} hangs"
        if done.returncode == 0:
            return ""
        running = ""
        for line in done.stdout.splitlines():
            if line.startswith("[ RUN ") and not running:
                running = line.split("] ", 1)[1]
            elif line.startswith("[       OK ]"):
                running = ""
            elif line.startswith("[ RUN "):
                break
        return f"{name} `{running}`" if running else f"{name} ends with {done.returncode}"

    def sim(self):
        """The first violation; "" when there is none."""
        process = subprocess.Popen([self.simulator, str(WORLDS), "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        last = ""
        for line in process.stdout:
            last = line.strip() or last
            if line.startswith("VIOLATED "):
                process.kill()
                break
        process.wait()
        late = not watch.is_alive()
        watch.cancel()
        if last.startswith("VIOLATED "):
            return last[len("VIOLATED "):]
        if process.returncode == 0:
            return ""
        if late:
            return "hangs"
        return f"ends with signal {-process.returncode}" if process.returncode < 0 else last
