#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run one shell command in an rxe-lab guest and pass on its output and status.

usage: lab-exec.py [-t SECONDS] [-i] RUN_DIR COMMAND

RUN_DIR holds the guest's lab.N.sock files. A free one is picked by lock file,
so several commands can run in one guest at once. The exit status is the
command's; 124 when the time ran out, 125 when the guest did not answer.
The frames are described at the top of guest-agent.c.
"""
import argparse
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time


def pick_port(run_dir, deadline):
    names = sorted(n[:-5] for n in os.listdir(".") if n.startswith("lab.") and n.endswith(".sock"))
    if not names:
        sys.exit(f"lab-exec.py: no guest sockets in {run_dir}")
    while True:
        for name in names:
            lock = open(name + ".lock", "w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                continue
            return name, lock
        if time.monotonic() > deadline:
            sys.exit("lab-exec.py: every port of the guest is busy")
        time.sleep(0.05)


def frame(kind, payload=b""):
    return struct.pack("<cI", kind, len(payload)) + payload


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-t", "--timeout", type=float, default=0, help="seconds; 0: none")
    ap.add_argument("-i", "--stdin", action="store_true", help="pass standard input on")
    ap.add_argument("run_dir")
    ap.add_argument("command")
    a = ap.parse_args()

    os.chdir(a.run_dir)  # socket paths are limited to 107 characters
    start_deadline = time.monotonic() + 30
    name, _lock = pick_port(a.run_dir, start_deadline)
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(name + ".sock")
    except OSError as e:
        print(f"lab-exec.py: {name}.sock: {e}", file=sys.stderr)
        return 125

    s.setblocking(False)
    nonce = os.urandom(8)
    out = frame(b"R", nonce + a.command.encode())
    want = frame(b"S", nonce)
    buf, started, killed, kill_at = b"", False, None, 0.0
    end = time.monotonic() + a.timeout if a.timeout else None
    stdin_open = a.stdin
    if not a.stdin:
        out += frame(b"I")

    interrupted = []
    for sig in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sig, lambda n, _f: interrupted.append(n))

    while True:
        now = time.monotonic()
        if not started and now > start_deadline:
            print("lab-exec.py: the guest agent does not answer", file=sys.stderr)
            return 125
        if (interrupted or (end and now > end)) and not killed:
            killed = 128 + interrupted.pop() if interrupted else 124
            out += frame(b"K", bytes([signal.SIGTERM]))
            kill_at = now + 2
        if killed and now > kill_at:
            return killed  # closing the port makes the agent kill the command
        readers = [s] + ([0] if stdin_open and started and not out else [])
        ready, writable, _ = select.select(readers, [s] if out else [], [], 0.2)
        if writable:
            try:
                out = out[s.send(out):]
            except BlockingIOError:
                pass
            except OSError as e:
                print(f"lab-exec.py: the guest went away: {e}", file=sys.stderr)
                return 125
        if 0 in ready:
            data = os.read(0, 32768)
            out += frame(b"I", data)
            stdin_open = bool(data)
        if s not in ready:
            continue
        try:
            data = s.recv(65536)
        except BlockingIOError:
            continue
        except OSError:
            data = b""
        if not data:
            print("lab-exec.py: the guest went away", file=sys.stderr)
            return 125
        buf += data
        if not started:
            at = buf.find(want)
            if at < 0:
                buf = buf[-len(want):]
                continue
            buf, started = buf[at + len(want):], True
        while len(buf) >= 5:
            kind, n = struct.unpack("<cI", buf[:5])
            if len(buf) < 5 + n:
                break
            payload, buf = buf[5:5 + n], buf[5 + n:]
            if kind == b"O":
                sys.stdout.buffer.write(payload)
                sys.stdout.buffer.flush()
            elif kind == b"E":
                sys.stderr.buffer.write(payload)
                sys.stderr.buffer.flush()
            elif kind == b"X":
                code = struct.unpack("<i", payload)[0]
                return killed or code


if __name__ == "__main__":
    sys.exit(main())
