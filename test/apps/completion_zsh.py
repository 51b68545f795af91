#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zsh completes our programs: an interactive zsh finds the completion by name, as it is installed, and is typed at.

  completion_zsh.py FILE.zsh PROGRAM...     the programs lie in one folder, and those with perftest's names beside them

Exit 77 where zsh is missing.
"""
import os
import pty
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

TAB, SHOW = "\t", "\x14"
# The key SHOW writes the command line as it stands, and begins a new one.
START = """
bindkey -e
fpath=($ZDOTDIR/site $fpath)
autoload -Uz compinit && compinit -u -d $ZDOTDIR/dump
show() { print -r -- "<$BUFFER>" >>$ZDOTDIR/shown; BUFFER= }
zle -N show
bindkey '^T' show
print ready >>$ZDOTDIR/shown
"""
PERFTEST = [f"dat_{verb}_{kind}" for verb in ("send", "write", "read", "atomic") for kind in ("bw", "lat")]
CONF = 'wire0 u1.2 threadsafe default lib.so.1 x.1.0 "" ""\nkern0 k1.2 x\n'


class Shell:
    """An interactive zsh on a terminal of its own, that knows nothing but what is installed."""

    def __init__(self, folder, programs):
        self.shown, self.seen, self.said = folder / "shown", 0, b""
        (folder / ".zshrc").write_text(START, encoding="utf-8")
        (folder / "dat.conf").write_text(CONF, encoding="utf-8")
        (folder / "results.txt").touch()
        environment = dict(os.environ, ZDOTDIR=str(folder), HOME=str(folder), TERM="dumb", DAT_OVERRIDE=str(folder / "dat.conf"),
                           PATH=f"{programs}:{os.environ['PATH']}")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-d", "-i"], environment)
        self.answer()

    def answer(self):
        """The next line that the shell writes into its file."""
        end = time.monotonic() + limit.SECONDS
        while time.monotonic() < end:
            lines = self.shown.read_text(encoding="utf-8").splitlines() if self.shown.exists() else []
            if len(lines) > self.seen:
                self.seen += 1
                return lines[self.seen - 1]
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.said += os.read(self.terminal, 4096)
        sys.exit(f"zsh does not answer; it said: {self.said.decode(errors='replace')}")

    def completed(self, line):
        os.write(self.terminal, (line + TAB + SHOW).encode())
        return self.answer()[1:-1]

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def cases(names):
    """Each command line, and what it becomes by a TAB. A value or option that is alone is followed by a blank."""
    for name in names:
        yield f"{name} --hel", f"{name} --help "
        yield f"{name} --versio", f"{name} --version "
    yield "dat-perf -D wir", "dat-perf -D wire0 "
    yield "dat-perf -D ker", "dat-perf -D ker"
    yield "dat-perf -t atomic_l", "dat-perf -t atomic_lat "
    yield "dat-perf --perftest=write_l", "dat-perf --perftest=write_lat "
    yield "dat-perf --tx-d", "dat-perf --tx-depth "
    yield "dat-perf --perftest --tx-d", "dat-perf --perftest --tx-depth "
    yield "dat-perf --rate_l", "dat-perf --rate_l"
    yield "dat_read_lat -d wir", "dat_read_lat -d wire0 "
    yield "dat_send_bw --output=mes", "dat_send_bw --output=message_rate "
    yield "dat-perf -m 10", "dat-perf -m 1024 "
    yield "dat-info loop1", "dat-info loop1 "
    yield "dat-ping --json=resu", "dat-ping --json=results.txt "


def main():
    completion, programs = Path(sys.argv[1]), [Path(arg) for arg in sys.argv[2:]]
    if shutil.which("zsh") is None:
        print("zsh is missing (package zsh)")
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "site").mkdir()
        shutil.copy(completion, folder / "site" / "_udapl-roce")
        shell = Shell(folder, programs[0].resolve().parent)
        try:
            for line, want in cases([program.name for program in programs] + PERFTEST):
                got = shell.completed(line)
                if got != want:
                    print(f"'{line}' becomes '{got}', not '{want}'")
                    failed += 1
        finally:
            shell.end()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
