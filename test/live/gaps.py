#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""record.count_gaps(): a NAK of ours is right when the packet that it asks for has not passed the wire."""
import sys

import record

GUEST, OURS = "10.77.0.11", "10.77.0.1"
NAK = "0x60"


def rows(*frames):
    """(source, PSN, destination queue pair, syndrome or "")"""
    return [(source, "", str(psn), queue_pair, syndrome) for source, psn, queue_pair, syndrome in frames]


CASES = (
    ("nothing is missing", rows((GUEST, 1, "q", ""), (OURS, 1, "g", "0x1f")), (0, 0)),
    ("the wire lost it", rows((GUEST, 1, "q", ""), (GUEST, 3, "q", ""), (OURS, 2, "g", NAK)), (1, 1)),
    ("ours lost it", rows((GUEST, 2, "q", ""), (GUEST, 3, "q", ""), (OURS, 2, "g", NAK)), (1, 0)),
    ("it came behind the NAK", rows((GUEST, 3, "q", ""), (OURS, 2, "g", NAK), (GUEST, 2, "q", "")), (1, 1)),
    ("another queue pair has had that PSN", rows((GUEST, 2, "r", ""), (GUEST, 3, "q", ""), (OURS, 2, "g", NAK)), (1, 1)),
    ("PSNs begin again", rows((GUEST, 0, "q", ""), (OURS, 0xffffff, "g", NAK)), (1, 1)),
    ("nothing came from behind the gap", rows((GUEST, 1, "q", ""), (OURS, 2, "g", NAK)), (1, 0)),
    ("frames that are no RoCE", [(GUEST, "", "", "", "")], (0, 0)),
)


def main():
    wrong = [name for name, given, wanted in CASES if record.count_gaps(given) != wanted]
    for name in wrong:
        print(f"FAIL: {name}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
