# SPDX-License-Identifier: BSD-3-Clause
"""The figures of curves.py as tables in Markdown, and those tables in a page of the documentation."""
import re

COUNTS = {1 << 20: "MiB", 1 << 10: "KiB", 1: "B"}

# A curve: what its rows are, and its columns as (series, figure, title).
COLUMNS = {
    "size": ("message", [("SEND", "mrate", "SEND M/s"), ("SEND", "gbits", "Gbit/s"), ("SEND", "cpu_ns", "CPU ns"),
                         ("WRITE", "mrate", "WRITE M/s"), ("WRITE", "gbits", "Gbit/s"), ("WRITE", "cpu_ns", "CPU ns"),
                         ("READ", "mrate", "READ M/s"), ("READ", "gbits", "Gbit/s"), ("READ", "cpu_ns", "CPU ns")]),
    "endpoints": ("endpoints", [("16 buffers each", "mrate", "16 buffers each, M/s"),
                                ("16 buffers each", "cpu_ns", "CPU ns"),
                                ("16,384 buffers", "mrate", "16,384 buffers in all, M/s"),
                                ("16,384 buffers", "cpu_ns", "CPU ns"),
                                ("16 buffers each", "connects", "connections a second")]),
    "depth": ("depth", [("at most half in flight", "mrate", "at most half in flight, M/s"),
                        ("at most half in flight", "cpu_ns", "CPU ns"),
                        ("128 in flight", "mrate", "128 in flight, M/s"),
                        ("128 in flight", "rnr_share", "RNR NAKs a thousand messages")]),
    "loss": ("lost frames", [("64 B", "mrate", "64 B, M/s"), ("64 B", "again", "frames sent again a message"),
                             ("64 KiB", "gbits", "64 KiB, Gbit/s"),
                             ("64 KiB", "again", "frames sent again a message")]),
    "cores": ("engines, cores", [("steered", "mrate", "engines, steered, M/s"), ("steered", "cpu_ns", "CPU ns"),
                                 ("unsteered", "mrate", "by a hash, M/s"), ("unsteered", "handed_over", "forwarded"),
                                 ("all on one", "mrate", "all on one queue, M/s"),
                                 ("all on one", "handed_over", "forwarded"), ("64 B", "mrate", "cores, 64 B, M/s"),
                                 ("4 KiB", "gbits", "4 KiB, Gbit/s"), ("64 KiB", "gbits", "64 KiB, Gbit/s")]),
    "mtu": ("path MTU", [("SEND", "gbits", "64 KiB SEND, Gbit/s"), ("SEND", "cpu_ns", "CPU ns"),
                         ("WRITE", "gbits", "WRITE, Gbit/s"), ("WRITE", "cpu_ns", "CPU ns"),
                         ("READ", "gbits", "READ, Gbit/s"), ("READ", "cpu_ns", "CPU ns")]),
}


def bytes_word(count):
    """4096 is 4 KiB."""
    unit = next(unit for unit in COUNTS if count % unit == 0)
    return f"{count // unit} {COUNTS[unit]}"


def x_word(curve, x):
    """How a place on the axis of a curve is written."""
    if curve in ("size", "mtu"):
        return bytes_word(x)
    if curve == "loss":
        return f"{x / 10000:g} %"
    return f"{x:,}"


def number(value):
    """Three digits that count, and no exponent."""
    if value == 0:
        return "0"
    digits = 0
    while abs(value) * 10 ** digits < 99.95 and digits < 6:
        digits += 1
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text and abs(value) < 1e-4 else text


def figure(median, name):
    """A figure of a point as a number, made of those that were measured; None: the point has none."""
    made = {
        "mrate": lambda m: m["rate"] / 1e6,
        "connects": lambda m: 1e6 * m["endpoints"] / m["connect_us"],
        "rnr_share": lambda m: 1000 * m["rnr_naks"] / m["messages"],
        "again": lambda m: m["retransmits"] / m["messages"],
    }
    try:
        return made[name](median) if name in made else median[name]
    except (KeyError, ZeroDivisionError):
        return None


def of_point(point, name):
    """As figure(), of a whole point."""
    return figure(dict(point["median"], endpoints=point["x"]), name)


def cell(point, name):
    value = None if point is None else of_point(point, name)
    if value is None:
        return ""
    return f"{value:.0%}" if name == "handed_over" else number(value)


def names(points):
    """The curves that have points, in the order of the page."""
    there = {point["curve"] for point in points}
    return [name for name in COLUMNS if name in there]


def table(name, points):
    """One curve as a table: a row for each place on its axis."""
    rows_are, columns = COLUMNS[name]
    at = {(point["series"], point["x"]): point for point in points if point["curve"] == name}
    lines = [f"| {rows_are} | " + " | ".join(title for _, _, title in columns) + " |",
             "|---" * (len(columns) + 1) + "|"]
    for x in sorted({x for _, x in at}):
        cells = [cell(at.get((series, x)), what) for series, what, _ in columns]
        lines.append(f"| {x_word(name, x)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def heading(config):
    """One sentence: on what this was measured, and how."""
    words = {"CPU": "?", "DPDK": "?", "cores": "?", "rounds": "?", "seconds": "?", "load": "?", "icrc": "?",
             "hugepages": 0} | config
    # The provider uses them from 64 on.
    huge = "hugepages" if words["hugepages"] >= 64 else "no hugepages"
    rounds = "one round" if words["rounds"] == 1 else f"medians of {words['rounds']} rounds"
    return (f"{words['CPU']}, {words['cores']} cores, DPDK {words['DPDK']}, ICRC {words['icrc']}, {huge}; {rounds}, "
            f"{words['seconds']} s each, load {words['load']}."
            + (f" Of an earlier run: {', '.join(words['older'])}." if words.get("older") else ""))


def bring_up_to_date(text, kept):
    """
    A page whose tables are those of the figures: what stands between `<!-- NAME -->` and `<!-- end -->` is replaced.
    ValueError: a curve has no place in the page.
    """
    parts = {name: table(name, kept["points"]) for name in names(kept["points"])}
    parts["machine"] = heading(kept["config"]) + "\n"
    for name, part in parts.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda found, part=part:
                              found.group(1) + "\n" + part + "\n" + found.group(2), text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"there is no one place for {name}, from <!-- {name} --> to <!-- end -->")
    return text
