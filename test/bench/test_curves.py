#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The curves of the documentation: what is run for them, figures, tables, drawings.

  test_curves.py plain BUILD   what is run, read, kept and written as tables; dat-perf of BUILD, small
  test_curves.py drawn         the drawings; skipped without matplotlib
"""
import argparse
import contextlib
import io
import json
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom
from pathlib import Path

import curves
import curves_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
BUILD = None
SVG_MAX = 60000  # bytes


def point(curve, series, x, **median):
    return {"curve": curve, "series": series, "x": x, "command": "dat-perf -d 1", "median": median,
            "all": {name: [value] for name, value in median.items()}}


def perf_point(curve, series, x, rate, **more):
    return point(curve, series, x, rate=rate, gbits=rate * 64 * 8 / 1e9, cpu_ns=1e9 / rate, retransmits=0, rnr_naks=0,
                 messages=1000, connect_us=250.0, **more)


def kept_points():
    """Figures as of a run, invented: every curve, with the ends of its axis."""
    points = [perf_point("size", series, size, 9.876e6 / (1 + size)) for series in ("SEND", "WRITE", "READ")
              for size in (1, 64, 4096, 8 << 20)]
    points += [perf_point("endpoints", series, count, 8e6 / count) for count in (1, 16384)
               for series in ("16 buffers each", "16,384 buffers")]
    points += [perf_point("depth", "at most half in flight", depth, 5e6) for depth in (16, 65536)]
    points += [dict(perf_point("depth", "128 in flight", 16, 13900.0))]
    points[-1]["median"]["rnr_naks"] = 63.0
    points += [perf_point("loss", "64 B", ppm, 1e6 / (1 + ppm)) for ppm in (0, 100, 100000)]
    points += [point("cores", way, 4, rate=7.3e6, cpu_ns=137.0, handed_over=0.78) for way in ("steered", "unsteered")]
    points += [perf_point("mtu", "SEND", mtu, 1e6) for mtu in (256, 4096)]
    return points


KEPT = {"config": {"CPU": "A processor", "cores": 2, "DPDK": "22.11.11", "icrc": "avx512", "hugepages": 0, "rounds": 3,
                   "seconds": 1, "load": 0.5}, "points": kept_points()}


class Plan(unittest.TestCase):
    """What is run."""

    def places(self, curve):
        return {run.x for run in curves.plan([curve], 2)}

    def test_the_axes_reach_to_both_ends(self):
        ends = {"size": (1, 8 << 20), "endpoints": (1, 16384), "depth": (16, 65536), "loss": (0, 100000),
                "mtu": (256, 4096)}
        for curve, (least, most) in ends.items():
            self.assertEqual((min(self.places(curve)), max(self.places(curve))), (least, most), curve)

    def test_no_place_is_measured_twice_in_a_round(self):
        runs = curves.plan(list(curves.CURVES), 2)
        self.assertEqual(len(runs), len({(run.curve, run.series, run.x) for run in runs}))

    def test_only_what_was_asked_for(self):
        self.assertEqual({run.curve for run in curves.plan(["mtu", "loss"], 2)}, {"loss", "mtu"})

    def test_a_machine_of_one_core_runs_nothing_on_two(self):
        self.assertFalse([run for run in curves.plan(["cores"], 1) if run.args[-3:-2] == ("2",)])
        self.assertEqual(len([run for run in curves.plan(["cores"], 2) if "--cores" in run.args and run.x == 2]), 3)

    def test_every_run_is_by_time(self):
        for run in curves.plan(list(curves.CURVES), 2):
            if run.program == "dat-perf":
                self.assertEqual(run.args[-2:], ("-d", "1"))

    def test_half_of_the_buffers_or_too_few_of_them(self):
        commands = {run.args[:2] for run in curves.plan(["depth"], 2) if run.x == 16}
        self.assertEqual(commands, {("-r", "16"), ("--srq-depth", "16")})

    def refused(self, *args):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
            curves.parse(args)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_wrong_options_are_refused(self):
        self.assertIn("there is no curve 'sizes'", self.refused("--build", "b", "--only", "loss,sizes"))
        self.assertIn("at least 1", self.refused("--build", "b", "--rounds", "0"))
        self.assertIn("--build is wanted", self.refused())


class Read(unittest.TestCase):
    """What programs print, and what is kept of it."""

    def test_dat_perf_gives_every_figure(self):
        runs = [curves.Run("size", "SEND", 64, "dat-perf", ("-s", "64", "-n", "20000")),
                curves.Run("size", "READ", 64, "dat-perf", ("-t", "read_bw", "-n", "20000"))]
        points = {}
        for _ in range(3):
            config = curves.one_round(runs, BUILD, points)
        self.assertTrue(config["CPU"] and config["DPDK"])
        self.assertEqual(list(points), [("size", "SEND", 64), ("size", "READ", 64)])
        made = curves.with_medians(points)[0]
        self.assertEqual(made["command"], "dat-perf -s 64 -n 20000")
        self.assertEqual(made["all"]["messages"], [20000, 20000, 20000])
        for name in ("rate", "gbits", "cpu_ns", "connect_us"):
            self.assertTrue(min(made["all"][name]) <= made["median"][name] * 1.001, name)
            self.assertTrue(0 < made["median"][name] <= max(made["all"][name]) * 1.001, name)

    def test_bench_steer_says_engines_and_way(self):
        run = curves.Run("cores", None, 0, "bench_steer", ("--json",))
        text = ('{"kind": "steer", "name": "1, steered", "rate": 10800000, "ns": 93.10, "handed_over": 0.0000}\n'
                '{"kind": "steer", "name": "4, all on one", "rate": 8700000, "ns": 115.00, "handed_over": 0.7500}\n')
        self.assertEqual(curves.read(run, text), [
            ("steered", 1, {"rate": 10800000, "cpu_ns": 93.1, "handed_over": 0}),
            ("all on one", 4, {"rate": 8700000, "cpu_ns": 115, "handed_over": 0.75})])

    def test_the_middle_one_counts_and_all_are_kept(self):
        points = {1: {"curve": "mtu", "all": {"rate": [3.0, 1000.0, 2.0]}}}
        self.assertEqual(curves.with_medians(points), [
            {"curve": "mtu", "all": {"rate": [3.0, 1000.0, 2.0]}, "median": {"rate": 3.0}}])

    def test_what_is_kept_comes_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "curves.json")
            curves.keep(KEPT, path)
            self.assertEqual(curves.load(path), KEPT)
            self.assertEqual(len(path.read_text(encoding="utf-8").splitlines()), len(KEPT["points"]) + 3)

    def test_a_run_of_some_curves_leaves_the_others(self):
        new = {"config": {"rounds": 9}, "points": [perf_point("loss", "64 B", 0, 7.0)]}
        self.assertEqual(curves.merge(new, {"points": []}),
                         {"config": {"rounds": 9, "older": []}, "points": new["points"]})
        merged = curves.merge(new, KEPT)
        self.assertEqual(merged["config"], {"rounds": 9, "older": ["size", "endpoints", "depth", "cores", "mtu"]})
        self.assertTrue(curves_table.heading(merged["config"]).endswith(
            " Of an earlier run: size, endpoints, depth, cores, mtu."))
        self.assertEqual([p for p in merged["points"] if p["curve"] == "loss"], new["points"])
        self.assertEqual([p for p in merged["points"] if p["curve"] != "loss"],
                         [p for p in KEPT["points"] if p["curve"] != "loss"])

    def test_what_is_no_json_of_ours_ends_in_a_sentence(self):
        wrong = ["", "[]", '{"points": []}', '{"config": {"rounds": 1}, "points": [{"curve": "nothing"}]}',
                 json.dumps({"config": {"rounds": 1}, "points": [dict(KEPT["points"][0], median={"rate": "fast"})]})]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "curves.json")
            for text in wrong + [None]:
                if text is None:
                    path.unlink()
                else:
                    path.write_text(text, encoding="utf-8")
                with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
                    curves.load(path)
                self.assertEqual(ended.exception.code, 1, text)
                self.assertRegex(said.getvalue(), r"^curves.py: .*\n$", text)


class Tables(unittest.TestCase):
    """Figures as Markdown, and the page that holds them."""

    def test_numbers_have_three_digits(self):
        for value, text in ((9.8761, "9.88"), (0.06844, "0.0684"), (102.4, "102"), (13900, "13,900"), (99.96, "100"),
                            (0, "0"), (0.000617, "0.000617"), (5, "5.00")):
            self.assertEqual(curves_table.number(value), text)

    def test_places_have_their_unit(self):
        for curve, x, text in (("size", 1, "1 B"), ("size", 65536, "64 KiB"), ("size", 8 << 20, "8 MiB"),
                               ("mtu", 256, "256 B"), ("loss", 0, "0 %"), ("loss", 100, "0.01 %"),
                               ("loss", 100000, "10 %"), ("endpoints", 16384, "16,384")):
            self.assertEqual(curves_table.x_word(curve, x), text)

    def test_a_table_has_a_row_for_each_place(self):
        self.assertEqual(curves_table.table("depth", KEPT["points"]), (
            "| depth | at most half in flight, M/s | CPU ns | 128 in flight, M/s | RNR NAKs a thousand messages |\n"
            "|---|---|---|---|---|\n"
            "| 16 | 5.00 | 200 | 0.0139 | 63.0 |\n"
            "| 65,536 | 5.00 | 200 |  |  |\n"))
        self.assertIn("| 4 | 7.30 | 137 | 7.30 | 78% |", curves_table.table("cores", KEPT["points"]))
        # 16,384 connections in 250 microseconds.
        self.assertIn("| 65,536,000 |", curves_table.table("endpoints", KEPT["points"]))

    def test_what_was_measured_on_is_said(self):
        self.assertEqual(curves_table.heading(KEPT["config"]), "A processor, 2 cores, DPDK 22.11.11, ICRC avx512, "
                         "no hugepages; medians of 3 rounds, 1 s each, load 0.5.")
        self.assertIn(", hugepages; one round, 1 s each", curves_table.heading(
            KEPT["config"] | {"hugepages": 512, "rounds": 1}))

    def test_a_page_gets_its_tables_and_keeps_its_words(self):
        names = ["machine", *curves_table.names(KEPT["points"])]
        page = "\n".join(f"# {name}\n<!-- {name} -->\nold\n<!-- end -->\nwords\n" for name in names)
        new = curves_table.bring_up_to_date(page, KEPT)
        self.assertEqual(new.count("words\n"), len(names))
        self.assertNotIn("old", new)
        self.assertIn(curves_table.table("mtu", KEPT["points"]), new)
        self.assertEqual(curves_table.bring_up_to_date(new, KEPT), new)
        with self.assertRaisesRegex(ValueError, "no one place for mtu"):
            curves_table.bring_up_to_date(page.replace("<!-- mtu -->", ""), KEPT)

    def publish(self, folder, drawn):
        """What show() makes of a page with a place for each table; and the exit code, 0 without one."""
        names = ["machine", *curves_table.names(KEPT["points"])]
        page = Path(folder, curves.PAGE)
        page.write_text("".join(f"<!-- {name} -->\nold\n<!-- end -->\n" for name in names), encoding="utf-8")
        args = curves.parse(["--draw-only", "x", "--docs", str(folder)])
        with unittest.mock.patch.object(curves, "draw", return_value=drawn), contextlib.redirect_stderr(io.StringIO()):
            try:
                curves.show(KEPT, args)
            except SystemExit as ended:
                return page.read_text(encoding="utf-8"), ended.code
        return page.read_text(encoding="utf-8"), 0

    def test_the_documentation_gets_tables_drawings_and_json(self):
        with tempfile.TemporaryDirectory() as folder:
            page, code = self.publish(folder, [Path("size.svg")])
            self.assertEqual(code, 0)
            self.assertIn(curves_table.table("size", KEPT["points"]), page)
            self.assertEqual(curves.load(Path(folder, curves.KEPT, "curves.json")), KEPT)

    def test_without_drawings_the_documentation_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            page, code = self.publish(folder, [])
            self.assertEqual(code, 1)
            self.assertNotIn("|", page)
            self.assertFalse(Path(folder, curves.KEPT).exists())

    def test_the_page_of_the_documentation_is_that_of_its_json(self):
        kept = curves.load(DOCS / curves.KEPT / "curves.json")
        self.assertEqual(curves_table.names(kept["points"]), list(curves.CURVES))
        page = (DOCS / curves.PAGE).read_text(encoding="utf-8")
        self.assertEqual(curves_table.bring_up_to_date(page, kept), page)
        for name in curves.CURVES:
            drawing = DOCS / curves.KEPT / f"{name}.svg"
            xml.dom.minidom.parse(str(drawing))
            self.assertLess(drawing.stat().st_size, SVG_MAX, name)
            self.assertIn(f"({curves.KEPT}/{name}.svg)", page)


class Drawn(unittest.TestCase):
    """Figures as drawings."""

    def setUp(self):
        import curves_plot  # pylint: disable=import-outside-toplevel
        self.plot = curves_plot

    def texts(self, svg):
        return ["".join(node.data for node in text.childNodes if node.nodeType == node.TEXT_NODE)
                for text in xml.dom.minidom.parseString(svg).getElementsByTagName("text")]

    def test_every_curve_is_one_small_file(self):
        with tempfile.TemporaryDirectory() as folder:
            files = self.plot.draw_all(KEPT, Path(folder))
            self.assertEqual([path.name for path in files], [f"{name}.svg" for name in curves.CURVES])
            for path in files:
                self.assertLess(path.stat().st_size, SVG_MAX)
                self.assertEqual(path.read_text(encoding="utf-8"), self.plot.draw(path.stem, KEPT["points"]))

    def test_text_is_text_with_units(self):
        for curve, words in {"size": ("8 MiB", "Gbit/s", "SEND", "READ"),
                             "endpoints": ("16,384", "connections a second"),
                             "loss": ("0 %", "10 %", "frames lost"), "cores": ("engines of the receiver",)}.items():
            texts = self.texts(self.plot.draw(curve, KEPT["points"]))
            for word in words:
                self.assertIn(word, texts, curve)

    def test_no_date_no_foreign_address_no_blanks(self):
        svg = self.plot.draw("mtu", KEPT["points"])
        self.assertNotIn("DOCTYPE", svg)
        self.assertNotIn("metadata", svg)
        self.assertNotRegex(svg, r"[ \t]\n")

    def test_dark_readers_get_other_colours(self):
        svg = self.plot.draw("mtu", KEPT["points"])
        self.assertIn("prefers-color-scheme: dark", svg)
        for colour in self.plot.DARK:
            self.assertRegex(svg, rf'style="[^"]*(?:fill|stroke): {colour}', "a rule for a colour that is not used")

    def test_what_a_curve_has_no_figures_for_is_left_out(self):
        some = [p for p in KEPT["points"] if p["curve"] == "cores"]
        self.assertNotIn("cores, dat-perf", self.texts(self.plot.draw("cores", some)))


def main():
    global BUILD  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["plain", "drawn"])
    parser.add_argument("build", nargs="?", type=Path)
    args = parser.parse_args()
    BUILD = args.build
    if args.what == "drawn":
        try:
            import matplotlib  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            print("no matplotlib: python3-matplotlib is not installed")
            sys.exit(77)
    classes = [Drawn] if args.what == "drawn" else [Plan, Read, Tables]
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(each) for each in classes)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main()
