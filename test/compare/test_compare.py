#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the programs printed is read as what it means, and the table is counted right. recorded/ was printed by the
real programs: UCX 1.13.1, libfabric 1.17.0, iperf 3.12, sockperf 3.7, dat-perf."""
import json
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "devtools" / "compare"))
import compare
import machine
import parse
import table
import ways

RECORDED = Path(__file__).parent / "recorded"
PAGE = ROOT / "docs" / "performance.md"
SEND_KEY, PEER_KEY = "send", "ucx-tag-tcp"


def recorded(name):
    return (RECORDED / name).read_text(encoding="utf-8")


class Parsers(unittest.TestCase):
    """Text of one run to numbers: messages a second, microseconds of half a round trip."""

    def test_ucx_rate_is_the_overall_one_of_messages(self):
        self.assertEqual(parse.ucx_rate(recorded("ucx_bw.txt"), 64), {"rate": 840194})

    def test_ucx_trip_is_median_and_overall_mean(self):
        said = parse.ucx_trip(recorded("ucx_lat.txt"), 64)
        _, row = recorded("ucx_lat.txt").splitlines()
        self.assertEqual(said, {"trip": float(row.split(",")[1]), "mean": float(row.split(",")[3])})

    def test_ucx_pads_small_numbers(self):
        self.assertEqual(parse.ucx_trip(recorded("ucx_few.txt"), 64), {"trip": 12020.001, "mean": 12519.425})

    def test_ucx_without_a_line_of_figures(self):
        with self.assertRaisesRegex(ValueError, "figures"):
            parse.ucx_rate(recorded("ucx_no_transport.txt"), 64)

    def test_pingpong_trip_is_a_mean_whatever_the_unit_of_the_size(self):
        self.assertEqual(parse.fabric_trip(recorded("fi_pingpong_64.txt"), 64), {"mean": 98.40})
        last = recorded("fi_pingpong_1m.txt").splitlines()[-1].split()
        self.assertEqual(last[0], "1m")
        self.assertEqual(parse.fabric_trip(recorded("fi_pingpong_1m.txt"), 1048576), {"mean": float(last[6])})

    def test_pingpong_that_printed_only_its_head_or_no_time(self):
        head, row = recorded("fi_pingpong_64.txt").splitlines()
        for text in (head, "", head + "\n" + row.replace("98.40", "0.00")):
            with self.assertRaises(ValueError):
                parse.fabric_trip(text, 64)

    def test_iperf_rate_is_what_arrived_by_the_size_of_a_write(self):
        said = parse.iperf_rate(recorded("iperf3.json"), 4096)
        self.assertAlmostEqual(said["rate"] * 4096 * 8, 17516561135.196533, places=3)

    def test_iperf_says_why_not(self):
        with self.assertRaisesRegex(ValueError, "Connection refused"):
            parse.iperf_rate(recorded("iperf3_refused.json"), 4096)
        with self.assertRaisesRegex(ValueError, "no JSON"):
            parse.iperf_rate("", 4096)

    def test_sockperf_trip(self):
        text = recorded("sockperf.txt")
        said = parse.sockperf_trip(text, 64)
        self.assertIn(f"percentile 50.000 = {said['trip']:8.3f}", text)
        self.assertIn(f"Summary: Latency is {said['mean']:.3f} usec", text)

    def test_dat_perf_rate_is_in_messages_and_trip_in_microseconds(self):
        self.assertAlmostEqual(parse.perf_rate(recorded("dat_perf_bw.json"), 64)["rate"], 8422893)
        result = json.loads(recorded("dat_perf_lat.json"))["results"][0]
        self.assertEqual(parse.perf_trip(recorded("dat_perf_lat.json"), 64),
                         {"trip": result["t_typical"], "mean": result["t_avg"]})

    def test_dat_perf_says_why_not(self):
        with self.assertRaisesRegex(ValueError, "no adapter"):
            parse.perf_rate('{"results": [], "error": "no adapter"}', 64)

    def test_the_reason_is_the_last_line_with_an_error(self):
        self.assertIn("No such device", machine.reason_of(recorded("ucx_no_transport.txt") + "bye\n", 1))
        self.assertEqual(machine.reason_of("one\nan end\n\n", 1), "an end")
        self.assertEqual(machine.reason_of("", 3), "exit code 3")


def all_ways():
    return ways.ways(ways.Ours("dat-perf", "dat.conf"), 0.2)


class Table(unittest.TestCase):
    """Medians, ratios, and the words of the cells."""

    def test_a_median_leaves_out_the_rounds_that_failed(self):
        self.assertEqual(table.median([3, None, 1, 2, None]), 2)
        self.assertIsNone(table.median([None, None]))
        self.assertIsNone(table.median([]))

    def test_a_ratio_says_how_many_times_as_fast_ours_is(self):
        self.assertEqual(table.ratio("rate", [10], [5]), 2)
        self.assertEqual(table.ratio("trip", [10], [5]), 0.5)

    def test_a_ratio_is_the_median_of_those_of_the_rounds(self):
        # By medians it would be 4 / 4; each single round says otherwise.
        self.assertEqual(table.ratio("rate", [2, 4, 40], [4, 2, 20]), 2)
        self.assertEqual(table.ratio("rate", [None, 4, 40], [4, None, 20]), 2)
        self.assertIsNone(table.ratio("rate", [None, 4], [4, None]))

    def test_figures_have_three_digits_that_matter_and_ratios_two(self):
        self.assertEqual([table.figure(value) for value in (0.0452, 0.0996, 0.5, 9.994, 9.996, 99.94, 99.96, 624.4)],
                         ["0.045", "0.10", "0.50", "9.99", "10.0", "99.9", "100", "624"])
        self.assertEqual([table.times(value) for value in (0.123, 0.949, 0.951, 3.14, 9.96, 23.4)],
                         ["0.12x", "0.95x", "1.0x", "3.1x", "10x", "23x"])

    def test_rates_are_messages_for_the_smallest_and_bits_for_the_others(self):
        cell = {"median": 2e6}
        self.assertEqual(table.shown(cell, "rate 64"), "2.00")
        self.assertEqual(table.shown(cell, "rate 1024"), "16.4")
        self.assertEqual(table.shown(cell, "rate 4096"), "65.5")
        self.assertEqual(table.shown({"median": 0.5}, "trip 64"), "0.50")

    def test_what_is_not_measured_and_what_failed_look_different(self):
        self.assertEqual(table.shown(None, "rate 64"), "-")
        self.assertEqual(table.shown({"median": None}, "rate 64"), "fails")

    def test_rows_hold_medians_and_ratios_of_whom_they_are_compared_with(self):
        values = {(SEND_KEY, "rate", 64): [6e6, 8e6, 4e6], (PEER_KEY, "rate", 64): [3e6, 2e6, 2e6],
                  (SEND_KEY, "trip", 64): [1.0], (PEER_KEY, "trip", 64): [None]}
        rows = {row["key"]: row for row in table.rows_of(all_ways(), values, (64,))}
        mine, peer = rows[SEND_KEY]["cells"], rows[PEER_KEY]["cells"]
        self.assertEqual(mine["rate 64"]["median"], 6e6)
        self.assertEqual((mine["rate 64"]["least"], mine["rate 64"]["most"]), (4e6, 8e6))
        self.assertNotIn("ratio", mine["rate 64"])
        self.assertEqual((peer["rate 64"]["median"], peer["rate 64"]["ratio"]), (2e6, 2))
        self.assertEqual((peer["trip 64"]["median"], peer["trip 64"]["ratio"], peer["trip 64"]["rounds"]),
                         (None, None, 0))
        self.assertIsNone(rows["tcp"]["cells"]["trip 64"])

    def test_like_is_compared_with_like(self):
        by_key = {way.key: way for way in all_ways()}
        for way in by_key.values():
            if not way.against:
                self.assertTrue(way.ours)
                continue
            other = by_key[way.against]
            self.assertTrue(other.ours and not way.ours)
            self.assertEqual((other.group, other.facts.processes, other.facts.cores, other.mean),
                             (way.group, way.facts.processes, way.facts.cores, way.mean), way.key)

    def test_one_message_at_a_time_is_measured_by_trips_alone(self):
        for way in all_ways():
            if way.group == ways.PINGPONG:
                self.assertEqual({table.asked(way, test, 4096) for test in ("rate", "trip")}, {"trip"})

    def test_every_row_has_its_line_and_its_legend(self):
        lines = table.text(table.rows_of(all_ways(), {}, ways.SIZES), ways.SIZES).splitlines()
        letters = [line[1] for line in lines if len(line) > 2 and line[2] == " " and line[1] != " "]
        explained = [letter for words in table.together(table.legend_rows(all_ways())) for letter in words[0].split()]
        self.assertEqual(letters, [chr(ord("a") + number) for number in range(len(all_ways()))])
        self.assertEqual(sorted(explained), letters)

    def test_the_page_shows_the_rows_and_the_legend_of_today(self):
        _, _, behind = PAGE.read_text(encoding="utf-8").partition("<!-- begin: ./run.sh compare --markdown -->\n")
        shown, end, _ = behind.partition("<!-- end: ./run.sh compare --markdown -->")
        self.assertTrue(end)
        rows = [line.split(" | ")[:2] for line in shown.splitlines() if line.startswith("| ")]
        for number, way in enumerate(all_ways()):
            self.assertIn(["| " + chr(ord("a") + number), way.name], rows)
        for line in table.markdown_rows(table.together(table.legend_rows(all_ways()))):
            self.assertIn(line, shown.splitlines())

    def test_markdown_has_cells_of_one_number_in_each_table(self):
        for part in table.markdown(all_ways(), table.rows_of(all_ways(), {}, ways.SIZES), ways.SIZES).split("\n\n"):
            self.assertEqual(len({line.count("|") for line in part.splitlines()}), 1, part)


class Place:
    """A machine on which programs do as they are told: what to say, or why not."""

    cpus = [0, 1]

    def __init__(self, says):
        self.says, self.commands = says, []

    @staticmethod
    def core(number):
        return {number}

    def alone(self, command, *_):
        self.commands.append(command)
        return self.answer(command)

    def pair(self, _server, client, *_):
        self.commands.append(client)
        return self.answer(client)

    def answer(self, command):
        text = self.says(command)
        if isinstance(text, Exception):
            raise text
        return text


def one_way(key, place, seconds=0.2):
    """A comparison of one way, and that."""
    way = next(way for way in all_ways() if way.key == key)
    comparison = compare.Comparison(place, [way], (64,), seconds)
    comparison.missing = set()
    comparison.reasons = {key: {}}
    return comparison, way


class Rounds(unittest.TestCase):
    """What is counted, tried again and given up."""

    def test_the_first_round_finds_how_many_messages_fill_the_time_and_does_not_count(self):
        place = Place(lambda command: recorded("dat_perf_bw.json" if "send_bw" in command else "dat_perf_lat.json"))
        comparison, way = one_way("one", place)
        comparison.round(counts=False)
        self.assertEqual(comparison.values, {})
        comparison.round()
        self.assertEqual(comparison.values["one", "rate", 64], [8422893.0])
        counts = [int(command[command.index("-n") + 1]) for command in place.commands if "send_bw" in command]
        self.assertEqual(counts, [compare.FIRST["rate"][64], int(8422893.0 * 0.2)])
        mean = json.loads(recorded("dat_perf_lat.json"))["results"][0]["t_avg"]
        self.assertEqual(comparison.count(way.key, "trip", 64), int(0.5e6 / mean * 0.2))

    def test_what_failed_is_tried_again_and_its_reason_is_told(self):
        failures = [machine.Failed("hangs")]
        place = Place(lambda _: failures.pop() if failures else recorded("fi_pingpong_64.txt"))
        comparison, _ = one_way("fabric-rxm", place)
        comparison.round()
        self.assertEqual(comparison.values["fabric-rxm", "trip", 64], [98.40])
        self.assertEqual([said for _, said in comparison.troubles()], ["1 of 2 runs: hangs"])

    def test_who_fails_from_the_start_is_given_up_but_not_dropped(self):
        place = Place(lambda _: machine.Failed("no transport"))
        comparison, _ = one_way("fabric-rxm", place)
        comparison.round(counts=False)
        for _ in range(3):
            comparison.round()
        self.assertEqual(len(place.commands), 2 * compare.TRIES)
        self.assertEqual(comparison.values["fabric-rxm", "trip", 64], [None] * 3)
        self.assertEqual([said for _, said in comparison.troubles()], ["4 of 4 runs: no transport"])

    def test_text_that_is_no_figure_is_a_failure(self):
        comparison, _ = one_way("ucx-self", Place(lambda _: recorded("ucx_no_transport.txt")))
        comparison.round()
        self.assertEqual(comparison.values["ucx-self", "rate", 64], [None])
        self.assertIn("line of figures", next(comparison.troubles())[1])

    def test_one_message_at_a_time_gives_a_rate_by_its_mean(self):
        comparison, _ = one_way("fabric-tcp", Place(lambda _: recorded("fi_pingpong_64.txt")))
        comparison.round()
        self.assertAlmostEqual(comparison.values["fabric-tcp", "rate", 64][0], 1e6 / 98.40)

    def test_the_exit_code_is_about_ours(self):
        comparison, _ = one_way("fabric-tcp", Place(lambda _: machine.Failed("no")))
        comparison.round()
        self.assertTrue(comparison.ours_ran())
        comparison, _ = one_way("one", Place(lambda _: machine.Failed("no")))
        comparison.round()
        self.assertFalse(comparison.ours_ran())

    def test_all_are_told_the_same_window(self):
        for way in all_ways():
            if way.rate is None or way.program not in ("dat-perf", "ucx_perftest"):
                continue
            for size in ways.SIZES:
                command = way.job("rate", size, 1000, 1).client
                option = "-x" if way.ours else "-O"
                self.assertEqual(command[command.index(option) + 1], str(ways.WINDOW[size]))

    def test_nothing_leaves_the_loopback_interface(self):
        for way in all_ways():
            for test in ("rate", "trip"):
                if getattr(way, test) is None or way.ours:
                    continue
                job = way.job(test, 64, 1000, 1)
                if job.server is None:
                    self.assertIn("-l", job.client)
                else:
                    self.assertIn(machine.HOST, job.client)
                if way.program == "ucx_perftest":
                    self.assertEqual(job.environment["UCX_NET_DEVICES"], "lo")


class Arguments(unittest.TestCase):
    def test_sizes_are_some_of_those_measured(self):
        self.assertEqual(compare.sizes_of("4096,64"), [64, 4096])
        for words in ("65", "", "64,x"):
            with self.assertRaises(ValueError):
                compare.sizes_of(words)


if __name__ == "__main__":
    unittest.main()
