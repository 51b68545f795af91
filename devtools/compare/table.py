# SPDX-License-Identifier: BSD-3-Clause
"""The table of a comparison: medians over the rounds, and the speed of ours relative to each peer.

values: (key of the way, "rate" or "trip", size) to a list with one number a round, None where there is none. A rate is
messages a second, a trip microseconds of half a round trip. A ratio is taken within each round, of two runs that
were next to each other, and the median of these is shown: where the machine changes between two rounds, both change.
"""
import statistics

import ways

FIGURE, RATIO = 10, "x"
MISSING, FAILED = "-", "fails"
LEGEND = ("way", "processes", "cores", "kernel on the path", "frames", "checksum", "copies of a message", "reliability")


def median(numbers):
    """None of none."""
    there = [number for number in numbers if number is not None]
    return statistics.median(there) if there else None


def ratio(test, ours, peers):
    """The speed of ours relative to the peer's. None: there is no round in which both ran."""
    pairs = [(a, b) for a, b in zip(ours, peers) if a is not None and b is not None]
    return median([a / b if test == "rate" else b / a for a, b in pairs])


def columns(sizes):
    """(test, size) of each column: rates, then half a round trip of the smallest."""
    return [*(("rate", size) for size in sizes), ("trip", sizes[0])]


def asked(way, test, size):
    """The test behind a cell: None where the way has no such figure. One at a time, the trip also says the rate."""
    if size not in way.sizes:
        return None
    if way.group == ways.PINGPONG:
        return "trip"
    return test if getattr(way, test) is not None else None


def rows_of(all_ways, values, sizes):
    """One dict a line: the cells by "rate 64" and the like; a cell is None where nothing was to be measured."""
    rows = []
    for number, way in enumerate(all_ways):
        cells = {}
        for test, size in columns(sizes):
            name = f"{test} {size}"
            if asked(way, test, size) is None:
                cells[name] = None
                continue
            mine = values.get((way.key, test, size), [])
            there = [value for value in mine if value is not None]
            cells[name] = {"median": median(mine), "least": min(there, default=None),
                           "most": max(there, default=None), "rounds": len(there), "all": mine}
            if way.against:
                cells[name]["ratio"] = ratio(test, values.get((way.against, test, size), []), mine)
        rows.append({"letter": chr(ord("a") + number), "key": way.key, "name": way.name, "group": way.group,
                     "against": way.against, "ours": way.ours, "mean": way.mean, "cells": cells})
    return rows


def figure(value):
    """Three digits that matter."""
    if value >= 99.95:
        return f"{value:.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.0995 else f"{value:.3f}"


def times(value):
    """A ratio, two digits."""
    if value >= 9.95:
        return f"{value:.0f}{RATIO}"
    return f"{value:.1f}{RATIO}" if value >= 0.95 else f"{value:.2f}{RATIO}"


def shown(cell, name):
    """As the table has it: the smallest messages in millions a second, others in Gbit/s, trips in microseconds."""
    if cell is None:
        return MISSING
    if cell["median"] is None:
        return FAILED
    test, size = name.split()
    if test == "trip":
        return figure(cell["median"])
    rate = cell["median"]
    return figure(rate / 1e6 if in_messages(int(size)) else rate * int(size) * 8 / 1e9)


def in_messages(size):
    """Is the rate of this size said in messages?"""
    return size < 1024


def size_name(size):
    for bytes_, unit in ((1048576, "MiB"), (1024, "KiB")):
        if size >= bytes_:
            return f"{size // bytes_} {unit}"
    return f"{size} B"


def heads(sizes):
    """Title and unit of each column."""
    titles = [(size_name(size), "M/s" if in_messages(size) else "Gbit/s") for size in sizes]
    return [*titles, (f"{size_name(sizes[0])} half", "trip, us")]


def lines_of(rows):
    """(group or None, words of a line): rows in their groups, a line of ratios below each peer."""
    letter = {row["key"]: row["letter"] for row in rows}
    for group in ways.GROUPS:
        lines = [row for row in rows if row["group"] == group]
        if lines:
            yield group, []
        for row in lines:
            cells = row["cells"].items()
            yield None, [row["letter"], row["name"], *(shown(cell, name) for name, cell in cells)]
            if row["against"]:
                ratios = [cell and cell.get("ratio") for _, cell in cells]
                yield None, ["", f"speed of {letter[row['against']]} relative to {row['letter']}",
                             *("" if value is None else times(value) for value in ratios)]


def text(rows, sizes):
    """The table for a terminal."""
    above, below = zip(*heads(sizes))
    out = [" " * 44 + "".join(f"{word:>{FIGURE}}" for word in words) for words in (above, below)]
    for group, words in lines_of(rows):
        if group:
            out += ["", f" {group}"]
        else:
            letter, name, *cells = words
            indent = name if letter else f"  {name}"
            out.append(f" {letter:<2}{indent:<41}" + "".join(f"{cell:>{FIGURE}}" for cell in cells))
    return "\n".join(line.rstrip() for line in out)


def legend_rows(all_ways):
    for number, way in enumerate(all_ways):
        facts = way.facts
        yield [chr(ord("a") + number), str(facts.processes), str(facts.cores), facts.kernel, facts.frames,
               facts.checksum, facts.copies, facts.reliable]


def legend(all_ways):
    """The properties of each way, for a terminal. Ways with the same properties share a line."""
    return "\n".join(padded([LEGEND, *together(legend_rows(all_ways))]))


def together(rows):
    """Rows that differ in their letter only, as one."""
    letters = {}
    for letter, *rest in rows:
        letters.setdefault(tuple(rest), []).append(letter)
    return [[" ".join(keys), *rest] for rest, keys in letters.items()]


def padded(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [" " + "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]


def notes(sizes):
    """How the table is to be read."""
    windows = ", ".join(str(ways.WINDOW[size]) for size in sizes)
    yield f"Messages in flight: at most {windows}, by size; iperf3 has as many as the socket takes."
    yield "One message at a time: half round trips are means, and rates follow from them; other figures are medians."
    yield "Relative speed: the median of the ratios within each round."


def markdown_rows(rows):
    return ["| " + " | ".join(row) + " |" for row in rows]


def markdown(all_ways, rows, sizes):
    """Both as they stand in docs/performance.md."""
    *rates, trip = heads(sizes)
    head = ["", "", *map(", ".join, rates), " ".join(trip)]
    out = markdown_rows([head, ["---"] * len(head)])
    for group, words in lines_of(rows):
        out += markdown_rows([["", f"**{group}**", *[""] * (len(head) - 2)] if group else words])
    out += ["", *markdown_rows([LEGEND, ["---"] * len(LEGEND), *together(legend_rows(all_ways))])]
    return "\n".join(out)
