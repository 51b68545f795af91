#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A memif server that is none.

  memif_false.py PATH busy      takes no connection, and as many wait as may
  memif_false.py PATH escape    refuses its client with bytes that a terminal obeys
  memif_false.py PATH wordless  refuses its client with no words

Tells when it is ready, and stays until it is ended.
"""
import signal
import socket
import struct
import sys

HELLO, DISCONNECT = 2, 8
WORDS = {"escape": b"\x1b[31mno\nmore", "wordless": b""}


def message(kind, body):
    return (struct.pack("<H", kind) + body).ljust(128, b"\0")


def main():
    path, how = sys.argv[1:3]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(0)
    waiting = []
    try:
        while how == "busy":
            waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            waiting[-1].setblocking(False)
            waiting[-1].connect(path)
    except BlockingIOError:
        pass
    print("ready", flush=True)
    while how in WORDS:
        client, _ = listener.accept()
        client.send(message(HELLO, struct.pack("<32sHHHHHB", b"false", 0x200, 0x200, 15, 7, 7, 14)))
        if client.recv(128):
            client.send(message(DISCONNECT, struct.pack("<I", 0) + WORDS[how]))
        client.close()
    signal.pause()


main()
