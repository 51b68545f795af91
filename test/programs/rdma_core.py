#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tests of rdma-core itself (packages rdma-core, python3-pyverbs, iproute2) over our libraries, and what is to come of each.

  rdma_core.py ROCE_RUN ROCED EXPECTED [--write]

EXPECTED has a line a test: its name, and ok, or skip, or ok|skip where the machine decides: by free hugepages. A test of a
device that has more than ours skips; one fails, which does not ask whether there are datagrams. They come packed with the
package, and are unpacked into a folder that ends with the run.
"""
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

PACKED = Path("/usr/share/doc/rdma-core/tests")
# The interpreter that pyverbs is made for.
PYTHON = "/usr/bin/python3"

# Tests of adapters of one vendor are not for us.
OTHERS = ("test_mlx5", "test_efa", "test_cuda")

# The tests of rdmacm open the device and then fork, and no child can use a device of its parent: here, each child is a new
# process. They wait for it as long as it runs.
RUNNER = """
import copyreg, multiprocessing, sys, unittest
import pyverbs.cm_enums
seconds, names, sys.argv[1:] = float(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
sys.path[:0] = [".", "tests"]
import tests
from args_parser import parser
parser.parse_args()
spawn, join = multiprocessing.get_context("spawn"), multiprocessing.process.BaseProcess.join


class Context(type(spawn)):
    def Barrier(self, parties, timeout):
        return super().Barrier(parties, timeout=seconds)


def join_once(child, timeout=None):
    join(child, 0 if hasattr(child, "joined") else seconds)
    child.joined = True


def state_of(test):
    return {name: value for name, value in vars(test).items() if not name.startswith("_")}


multiprocessing.get_context = lambda method: Context()
multiprocessing.process.BaseProcess.join = join_once
unittest.TestCase.__getstate__ = state_of
copyreg.pickle(pyverbs.cm_enums.rdma_port_space, lambda value: (int, (int(value),)))


class Result(unittest.TestResult):
    def say(self, test, word):
        print(test.id(), word, flush=True)

    def addSuccess(self, test):
        self.say(test, "ok")

    def addSkip(self, test, reason):
        self.say(test, "skip")

    def addFailure(self, test, err):
        self.say(test, "fail")
        print(self._exc_info_to_string(err, test), file=sys.stderr)

    addError = addFailure


unittest.defaultTestLoader.loadTestsFromNames(names).run(Result())
"""


def unpack(folder):
    """The tests in a folder. @return the modules that are for us."""
    tests = folder / "tests"
    tests.mkdir()
    for path in PACKED.iterdir():
        if path.suffix == ".gz":
            (tests / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        else:
            shutil.copy(path, tests)
    return sorted(f"tests.{path.stem}" for path in tests.glob("test_*.py") if not path.name.startswith(OTHERS))


def environment(folder, roced):
    run = folder / "run"
    run.mkdir(mode=0o700)
    env = {key: value for key, value in os.environ.items() if key not in ("DAT_OVERRIDE", "UDAPL_ROCE_PARAMS")}
    return env | {"XDG_RUNTIME_DIR": str(run), "UDAPL_ROCE_ROCED": roced, "PYTHONDONTWRITEBYTECODE": "1"}


def end_roced(roced, env):
    """One on demand ends by itself, a second after its last process: the test does not wait for that."""
    status = subprocess.run([roced, "--status", "--json"], capture_output=True, text=True, env=env, check=False).stdout
    pid = [word.split(":")[1] for word in status.replace(" ", "").replace("\n", "").split(",") if '"pid":' in word]
    if pid:
        os.kill(int(pid[0].strip("}]")), signal.SIGTERM)


def run(roce_run, roced):
    """({test: result}, what failures say)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        modules = unpack(folder)
        env = environment(folder, roced)
        command = [roce_run, PYTHON, "-c", RUNNER, str(limit.SECONDS / 4), ",".join(modules),
                   "--dev", "roce0", "--port", "1", "--gid", "0"]
        # A few hundred tests.
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=2 * limit.SECONDS, check=False)
        try:
            end_roced(roced, env)
        except ProcessLookupError:
            pass
    lines = (line.split() for line in done.stdout.splitlines() if line.startswith("tests."))
    results = {words[0]: words[1] for words in lines if len(words) == 2}
    return results, done.stderr + ("" if done.returncode == 0 else f"\nthe tests end with {done.returncode}\n")


def main():
    roce_run, roced, expected = (os.path.abspath(name) for name in sys.argv[1:4])
    found = PACKED.is_dir() and shutil.which("ip") is not None
    if not found or subprocess.run([PYTHON, "-c", "import pyverbs"], check=False).returncode != 0:
        print("the tests of rdma-core are missing, or what they run (packages rdma-core, python3-pyverbs, iproute2)")
        sys.exit(77)
    results, said = run(roce_run, roced)
    if "--write" in sys.argv:
        Path(expected).write_text("".join(f"{n} {r}\n" for n, r in sorted(results.items())), encoding="utf-8")
    wanted = dict(line.split() for line in Path(expected).read_text(encoding="utf-8").splitlines())
    wrong = sorted(n for n in wanted.keys() | results.keys() if results.get(n) not in wanted.get(n, "").split("|"))
    for name in wrong:
        print(f"{name}: {results.get(name)}, expected {wanted.get(name)}")
    if wrong:
        print(said)
    print(f"{len(results)} tests, {list(results.values()).count('ok')} ok, {len(wrong)} otherwise than expected")
    sys.exit(bool(wrong) or not results)


if __name__ == "__main__":
    main()
