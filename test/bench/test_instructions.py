#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What callgrind writes is read right, and what it means is said right. recorded/: two runs of `dat-perf -s 64`, of
1000 and of 11000 messages, shortened to a few functions and lines."""
import contextlib
import io
import itertools
import unittest
from pathlib import Path

import callgrind
import instructions

RECORDED = Path(__file__).resolve().parent / "recorded"
MESSAGES = 10000
TREE = "/tree"
SOURCES = TREE + "/build/instructions/../.."  # as the compiler writes it


def recorded(name):
    return (RECORDED / f"{name}.callgrind").read_text(encoding="utf-8").splitlines()


def costs(**where):
    """Instructions of the longer run at all places of this object, function, file."""
    found = callgrind.read(recorded("many"))
    return sum(cost for place, cost in found.items()
               if all(getattr(place, name).endswith(value) for name, value in where.items()))


def figures(all_, **layers):
    return {**dict.fromkeys(callgrind.LAYERS, 0), **layers, "all": all_}


class Read(unittest.TestCase):
    def test_a_call_costs_its_caller_only_the_call(self):
        self.assertEqual(costs(function="dat_srq_post_recv"), 48496)

    def test_inlined_lines_are_of_their_own_file(self):
        self.assertEqual(costs(function="rx_burst", file="rte_prefetch.h"), 703 + 10755)
        self.assertEqual(costs(function="front_srq_post_recv", file="front/srq.c"),
                         24248 + 36372 + 24248 + 48496 + 60620)

    def test_a_name_is_written_out_once(self):
        self.assertEqual(costs(object="libroce.so.0", function="roce_srq_post", file="engine/srq.c"),
                         36372 + 48496 + 24248 + 12124 + 12124 + 24248 + 12124 + 36372)

    def test_a_function_has_a_file_even_behind_inlined_lines(self):
        found = callgrind.read(["fl=(1) a.c", "fn=(1) one", "1 5", "fi=(2) b.c", "2 7", "", "fn=(2) two", "3 9",
                                "totals: 21"])
        self.assertEqual({place.function: place.function_file for place in found}, {"one": "a.c", "two": "b.c"})

    def test_what_ends_in_the_middle_is_refused(self):
        with self.assertRaises(ValueError):
            callgrind.read(recorded("many")[:100])
        with self.assertRaises(ValueError):
            callgrind.read([])


class Layer(unittest.TestCase):
    PLACES = (
        # object, file of the function, file of the lines: layer
        ("libroce.so.0", "pmd_roce/engine/rx.c", "pmd_roce/engine/rx.c", "engine"),
        ("libroce.so.0", "pmd_roce/engine/rx.c", "pmd_roce/wire/frame_parse.c", "wire"),
        ("libroce.so.0", "pmd_roce/wire/crc_clmul.c", "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h", "wire"),
        ("libroce.so.0", "pmd_roce/engine/rx.c", "/usr/include/dpdk/rte_mbuf.h", "DPDK"),
        ("libroce.so.0", "pmd_roce/queue/post.c", "pmd_roce/queue/keys.h", "engine"),
        ("libroce.so.0", "pmd_roce/responder/resp.c", "pmd_roce/requester/ack.c", "engine"),
        ("libroce.so.0", "pmd_roce/cm/cm.c", "include/roce/roce.h", "cm"),
        ("libroce.so.0", "pmd_roce/device/poll.c", "pmd_roce/device/poll.c", "port"),
        ("libroce.so.0", "???", "???", "port"),
        ("libdaplroce.so.1", "lib/front/srq.c", "lib/dapl/obj.h", "dapl"),
        ("libdaplroce.so.1", "lib/front/srq.c", "/usr/include/x86_64-linux-gnu/bits/string_fortified.h", "front"),
        ("libdat.so.1", "???", "???", "libdat"),
        ("dat-perf", "apps/perf/traffic.c", "apps/cli/evd.c", "dat-perf"),
        ("librte_net_ring.so.23.0", "???", "???", "DPDK"),
        ("libc.so.6", "./string/memmove.S", "./string/memmove.S", "libc"),
        ("libnuma.so.1", "???", "???", "rest"),
        ("???", "???", "???", "rest"),
    )

    def test_a_place_is_of_the_layer_of_its_folder(self):
        for object_, function_file, file, layer in self.PLACES:
            ours = [name if name[0] in "/.?" else f"{SOURCES}/{name}" for name in (function_file, file)]
            place = callgrind.Place("/a/folder/" + object_, *ours, "f")
            self.assertEqual(callgrind.layer_of(place, TREE), layer, place)

    def test_another_tree_is_not_ours(self):
        place = callgrind.Place("/a/dat-perf", "/tree-lib/dapl/ep.c", "/tree-lib/dapl/ep.c", "f")
        self.assertEqual(callgrind.layer_of(place, TREE), "dat-perf")

    def test_every_folder_of_sources_has_a_layer(self):
        folders = [path.parent.relative_to(instructions.ROOT).as_posix() for top in ("pmd_roce", "lib", "apps")
                   for path in (instructions.ROOT / top).rglob("*.c")]
        for folder in folders:
            self.assertIsNotNone(callgrind.folder_layer(f"{TREE}/{folder}/x.c", TREE), folder)


class Count(unittest.TestCase):
    CASE = instructions.Case("a case", 1000, 11000, [])

    def of_runs(self, last, *runs):
        """What is counted when the runs of few and of many messages cost so much in turn, and how many were made."""
        made = itertools.count()
        counter = object.__new__(instructions.Counter)
        counter.costs = lambda case, messages: {**dict.fromkeys(callgrind.LAYERS, 0), "wire": runs[next(made)]}
        return counter.count(self.CASE, last)["all"], next(made)

    def test_start_and_end_fall_out(self):
        few, many = (callgrind.by_layer(callgrind.read(recorded(name)), TREE) for name in ("few", "many"))
        found = instructions.by_message(few, many, MESSAGES)
        self.assertEqual([found[layer] for layer in ("dat-perf", "libdat", "front", "dapl")], [20, 4, 26, 14])
        self.assertEqual(found["rest"], 0)
        self.assertAlmostEqual(found["all"], sum(found[layer] for layer in callgrind.LAYERS), delta=5)

    def test_what_is_as_last_time_is_counted_once(self):
        self.assertEqual(self.of_runs(200, 500000, 2500000), (200, 2))

    def test_what_is_not_is_counted_until_two_agree(self):
        self.assertEqual(self.of_runs(197, 500000, 2500000, 500000, 2500000), (200, 4))
        self.assertEqual(self.of_runs(None, 500000, 2500000, 500000, 2500000), (200, 4))

    def test_what_a_busy_machine_adds_does_not_stay(self):
        self.assertEqual(self.of_runs(200, 500000, 2900000, 800000, 2500000), (200, 4))

    def test_what_would_fail_is_counted_again(self):
        self.assertEqual(self.of_runs(100, 500000, 2500000, 500000, 2500000, 500000, 1500000), (100, 6))
        self.assertEqual(self.of_runs(100, *[500000, 2500000] * 12), (200, 24))

    def test_there_is_an_end(self):
        self.assertEqual(self.of_runs(None, 0, 9000000, 0, 5000000, 0, 1000000), (100, 6))


class Judge(unittest.TestCase):
    KEPT = {"a": figures(1000, engine=600, wire=400)}

    def verdict(self, now, **layers):
        return instructions.judge(self.KEPT, {"a": figures(now, **layers)})[0]

    def said(self, verdicts, reason=""):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = instructions.conclude(verdicts, reason)
        return code, out.getvalue().splitlines()

    def test_two_percent_more_is_too_much(self):
        self.assertEqual(self.verdict(1020)[0], "passed")
        self.assertEqual(self.verdict(1021)[0], "failed")

    def test_two_percent_less_wants_to_be_kept(self):
        self.assertEqual(self.verdict(980)[0], "passed")
        self.assertEqual(self.verdict(979)[0], "fewer")

    def test_it_says_how_much_and_where(self):
        self.assertEqual(self.verdict(1060, engine=670, wire=390)[1], "a: 1000 -> 1060 (+6.0%), engine +70, wire -10")

    def test_what_has_no_figure_fails(self):
        self.assertEqual(instructions.judge({}, self.KEPT)[0][0], "failed")

    def test_the_last_line_is_the_count(self):
        code, lines = self.said([("passed", "a"), ("fewer", "b"), ("failed", "c")])
        self.assertEqual((code, lines[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: instructions: c", lines)
        self.assertEqual(self.said([("passed", "a"), ("fewer", "b")])[0], 0)

    def test_figures_of_something_else_fail_nothing(self):
        code, lines = self.said([("failed", "a"), ("passed", "b")], "compiler GCC 12.2.0, here GCC 14.2.0")
        self.assertEqual((code, lines[-1]), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertEqual([line for line in lines if line.startswith("failed")], [])
        self.assertIn("GCC 14.2.0", next(line for line in lines if line.startswith("skipped: ")))

    def test_it_names_what_is_something_else(self):
        kept = {"compiler": "GCC 12.2.0", "DPDK": "22.11.11"}
        self.assertEqual(instructions.differences(kept, dict(kept, valgrind="3.19.0")), "")
        self.assertEqual(instructions.differences(kept, dict(kept, DPDK="24.11.4")), "DPDK 22.11.11, here 24.11.4")


class Page(unittest.TestCase):
    def test_the_table_is_replaced(self):
        new = {"a": figures(1000, engine=600, wire=399, rest=1)}
        text = f"words\n\n{instructions.HEAD}engine |\n|---|---|---|\n| a | 900 | 500 |\n\nwords\n"
        self.assertEqual(instructions.page_with(text, new),
                         f"words\n\n{instructions.HEAD}engine | wire |\n|---|---|---|---|\n| a | 1000 | 600 | 399 |\n"
                         "\nwords\n")

    def test_a_page_without_one_is_told_of(self):
        with self.assertRaises(instructions.Failed):
            instructions.page_with("words\n", {})

    def test_the_figures_are_those_of_the_cases(self):
        figures_of_all = {case.name: figures(1000) for case in instructions.CASES}
        page = "\n".join(instructions.table(figures_of_all)) + "\n"
        self.assertEqual(instructions.stale(page, figures_of_all), "")
        self.assertIn("docs/performance.md", instructions.stale(page.replace("1000", "1001"), figures_of_all))
        figures_of_all["one that is no more"] = figures(1)
        self.assertIn("one that is no more", instructions.stale(page, figures_of_all))


if __name__ == "__main__":
    unittest.main()
