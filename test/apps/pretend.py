# SPDX-License-Identifier: BSD-3-Clause
"""Sockets that a program of ours asks, played by a test, and a judge of what the program then says."""
import socket
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402


class Pretender:
    """A socket at a path, until the end of a `with`. A class of its own has talk(link), which OSError ends."""

    def __init__(self, path):
        Path(path).unlink(missing_ok=True)
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.server.bind(str(path))
        self.server.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                link, _ = self.server.accept()
                threading.Thread(target=self.serve, args=(link,), daemon=True).start()
        except OSError:
            pass

    def serve(self, link):
        try:
            with link:
                self.talk(link)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # accept() waits, and wakes.
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


class Judge:
    """Runs the program, and counts complaints."""

    def __init__(self, program):
        self.program = program
        self.failures = 0

    def run(self, *args):
        return subprocess.run([self.program, *args], capture_output=True, text=True, errors="replace", timeout=limit.SECONDS,
                              check=False)

    def complain(self, what, done):
        self.failures += 1
        print(f"FAIL: {what}: exit {done.returncode}, {done.stdout[-2000:]!r}, {done.stderr!r}")
