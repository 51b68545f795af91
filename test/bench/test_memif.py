#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of memif.py, made of runs that are written down here.

  test_memif.py
"""
import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import memif  # pylint: disable=wrong-import-position


def run(rate, distance, wire="memif", size=64, raw=40e6):
    ways = {"pointers": raw * 2, "copied": raw, "icrc": raw, "icrc, ack 32": raw / 2, "icrc, ack 16": raw / 4}
    return {"wire": wire, "size": size, "distance": distance, "rate": rate, "peak": rate * 2, "retransmits": 0,
            "raw": ways, "raw_best": {way: value * 1.25 for way, value in ways.items()}}


NEAR, FAR, MOVED = [50.0, 60.0], [400.0, 430.0], [50.0, 400.0]


class Rows(unittest.TestCase):
    def test_near_and_far_are_told_apart(self):
        rows = memif.rows_of([run(10e6, NEAR), run(4e6, FAR), run(12e6, NEAR), run(11e6, NEAR)])
        self.assertEqual([(row["distance"], row["rate"], row["runs"]) for row in rows],
                         [("far", 4e6, 1), ("near", 11e6, 3)])

    def test_a_run_in_which_the_cores_moved_counts_for_nothing(self):
        self.assertEqual(memif.rows_of([run(10e6, MOVED), run(10e6, MOVED[::-1])]), [])
        self.assertEqual(memif.rows_of([run(10e6, MOVED), run(20e6, NEAR)])[0]["rate"], 20e6)

    def test_wires_and_sizes_have_rows_of_their_own(self):
        rows = memif.rows_of([run(10e6, NEAR), run(10e6, NEAR, wire="ring"), run(1e6, NEAR, size=4096)])
        self.assertEqual([(row["wire"], row["size"]) for row in rows], [("memif", 64), ("memif", 4096), ("ring", 64)])

    def test_a_ratio_is_of_the_bare_wire(self):
        row = memif.rows_of([run(30e6, NEAR)])[0]
        self.assertEqual((row["ratio"]["pointers"], row["ratio"]["icrc"], row["ratio"]["icrc, ack 32"]),
                         (0.375, 0.75, 1.5))
        self.assertEqual(row["best_ratio"]["icrc"], 1.2)

    def test_a_message_of_many_frames_is_held_against_as_many(self):
        row = memif.rows_of([run(200e3, NEAR, size=65536, raw=4e6)])[0]
        self.assertEqual(row["raw"]["icrc"], 4e6 / 16)
        self.assertEqual(row["ratio"]["icrc"], 0.8)
        self.assertAlmostEqual(row["gbits"], 104.8576)


class Table(unittest.TestCase):
    def test_every_row_is_printed_and_what_moved_is_told(self):
        runs = [run(10e6, NEAR), run(5e6, FAR, wire="ring"), run(10e6, MOVED)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            memif.print_rows(memif.rows_of(runs), runs)
        text = out.getvalue()
        for words in ("two processes, net_memif", "two threads, net_ring", "64      near", "64      far",
                      "1 of 3 runs"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
