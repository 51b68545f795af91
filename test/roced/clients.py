#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two clients of roced that know its messages as bytes: print the status, as JSON, while both are attached.

  clients.py SOCKET ROCED
"""
import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

HELLO, LISTEN, OPEN = 1, 2, 4
IDENTITY = 12 + 4 + 16 + 16 * 20  # struct roce_proto_identity


def message(kind, body):
    return struct.pack("=I4x", kind) + body


def attach(path, name):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(limit.SECONDS)
    client.connect(path)
    bell = os.memfd_create("bell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(bell, os.sysconf("SC_PAGE_SIZE"))
    fcntl.fcntl(bell, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    hello = struct.pack("=III32s", 2, 0, 0, name) + bytes(IDENTITY)
    socket.send_fds(client, [message(HELLO, hello)], [bell])
    os.close(bell)
    kind, number = struct.unpack_from("=I4xI", client.recv(4096))
    assert kind == 7 and number > 0, (kind, number)
    return client, number


def main():
    path, roced = sys.argv[1:]
    first, _ = attach(path, b'a"b\\\x1b')
    second, number = attach(path, b"second")
    first.send(message(LISTEN, struct.pack("=Q", 17)))
    first.recv(4096)
    first.send(message(OPEN, struct.pack("=I", number)))
    first.recv(4096)
    folder = os.path.dirname(path)
    sys.stdout.write(subprocess.run([roced, "--status", "--json", "--dir", folder], check=True, text=True,
                                    capture_output=True, timeout=limit.SECONDS).stdout)
    first.close()
    second.recv(4096)
    assert struct.unpack_from("=I4xI", second.recv(4096)) == (11, 1)


if __name__ == "__main__":
    main()
