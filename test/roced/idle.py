#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The idle processes of `./run.sh bench --processes`: each has a channel to whoever comes, and nothing is left behind.

  idle.py BUILD TOOLS
"""
import os
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

COUNT = 5
CHANNEL = 10


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def main():
    build, tools = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, tools)
    import host
    import machine

    # A measurement gives up sooner.
    host.PATIENCE_S = limit.SECONDS
    before = descriptors()
    place = machine.Machine(dict(os.environ))
    crowded = host.Host(place, build, "crowded")
    try:
        crowded.crowd(COUNT)
        comer = host.Idle(crowded.path())
        comer.socket.settimeout(limit.SECONDS)
        peers = {struct.unpack_from("=I4xI", comer.socket.recv(host.ROOM)) for _ in range(COUNT)}
        assert peers == {(CHANNEL, one.number) for one in crowded.idle}, peers
        comer.close()
    finally:
        crowded.close()
        place.close()
    assert not place.running and descriptors() == before, (place.running, descriptors(), before)


if __name__ == "__main__":
    main()
