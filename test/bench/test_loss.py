#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of loss.py, made of runs that are written down here.

  test_loss.py
"""
import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import loss  # pylint: disable=wrong-import-position


def run(rate, lossy, test="send_bw", size=64):
    return {"test": test, "size": size, "rate": rate, "faults": {"1 %": lossy}}


class Rows(unittest.TestCase):
    def test_shares_are_of_the_same_round(self):
        """Of a machine that got half as fast between two rounds each round tells the same."""
        rows = loss.rows_of([run(10e6, 9e6), run(5e6, 4.5e6), run(8e6, 2e6)])
        self.assertEqual(len(rows), 1)
        self.assertAlmostEqual(rows[0]["shares"]["1 %"], 0.9)
        self.assertEqual(rows[0]["rate"], 8e6)

    def test_tests_and_sizes_are_told_apart(self):
        rows = loss.rows_of([run(10e6, 9e6), run(1e6, 5e5, size=4096), run(2e6, 1e6, test="read_bw")])
        self.assertEqual([(row["test"], row["size"]) for row in rows],
                         [("send_bw", 64), ("send_bw", 4096), ("read_bw", 64)])

    def test_table_has_a_line_for_each(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            loss.show(loss.rows_of([run(10e6, 9e6), run(1e6, 5e5, size=4096)]))
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("0.900", lines[1])
        self.assertIn("0.500", lines[2])


if __name__ == "__main__":
    unittest.main()
