#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of floor.py, made of runs that are written down here.

  test_floor.py
"""
import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import floor  # pylint: disable=wrong-import-position


def run(least, perf, case=("send_bw", 64, 1)):
    return {"case": list(case), "floor": least, "perf": perf}


class Rows(unittest.TestCase):
    def test_ratios_are_of_the_same_round(self):
        """Of a machine that got half as fast between two rounds each round tells the same."""
        rows = floor.rows_of([run(40, 50), run(80, 100), run(40, 200)])
        self.assertEqual(len(rows), 1)
        self.assertAlmostEqual(rows[0]["ratio"], 0.8)
        self.assertEqual(rows[0]["goal"], 0.9)

    def test_table_has_a_line_for_each(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            floor.show(floor.rows_of([run(40, 50), run(700, 1000, ("send_bw", 4096, 1))]))
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[1].split(), ["send_bw", "64", "1", "40.0", "50.0", "0.80", "0.90"])
        self.assertEqual(lines[2].split()[-2:], ["0.70", "-"])


if __name__ == "__main__":
    unittest.main()
