#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames that concern nobody but the two interfaces at the ends of a wire: does each come through, once, in order, whole?

  foreign.py ONE OTHER

Sends a few at a time both ways and waits for them, until it is told to end by SIGTERM: so none is lost because a machine
is slow. Prints a line when the first have come, and at the end how many there were.
"""
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

ETHERTYPE = 0x88B5  # IEEE 802: for experiments
ROUND = 16
SIZES = (60, 61, 64, 257, 1000, 1514)

ended = False


def end(*_):
    global ended
    ended = True


def frame(way, number):
    """One like no other, to nobody's address."""
    head = bytes.fromhex("02feed00000" + str(way)) + bytes.fromhex("02beef00000" + str(way))
    body = number.to_bytes(8, "big") * (SIZES[number % len(SIZES)] // 8 + 1)
    return (head + ETHERTYPE.to_bytes(2, "big") + body)[:SIZES[number % len(SIZES)]]


def listen(interface):
    # Of this type alone: what else the interface hears shall not fill the socket.
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    receiver.bind((interface, ETHERTYPE))
    receiver.settimeout(limit.SECONDS)  # A frame that takes longer is lost.
    return receiver


def one_round(ends, first):
    for way, sender in enumerate(ends):
        for number in range(first, first + ROUND):
            sender.send(frame(way, number))
    for way, receiver in enumerate(reversed(ends)):
        for number in range(first, first + ROUND):
            try:
                came = receiver.recv(2048)
            except socket.timeout:
                sys.exit(f"frame {number} of way {way} is lost")
            if came != frame(way, number):
                sys.exit(f"in place of frame {number} of way {way}: {came.hex()}")


def main():
    signal.signal(signal.SIGTERM, end)
    ends = [listen(interface) for interface in sys.argv[1:3]]
    sent = 0
    while not ended:
        one_round(ends, sent)
        if sent == 0:
            print("they come through", flush=True)
        sent += ROUND
    for receiver in ends:
        receiver.setblocking(False)
        try:
            sys.exit(f"one more: {receiver.recv(2048).hex()}")
        except BlockingIOError:
            pass
    print(f"{2 * sent} frames")


if __name__ == "__main__":
    main()
