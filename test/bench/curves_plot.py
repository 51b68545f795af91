# SPDX-License-Identifier: BSD-3-Clause
"""
The figures of curves.py as drawings, one SVG a curve: two panels side by side, text as text, light or dark as the
reader has it. The same figures give the same bytes with the same matplotlib (Debian: python3-matplotlib).
"""
import io
import re
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

import curves_table

PAPER, INK, GRID = "#fefefe", "#24292f", "#d0d7de"
DARK = {PAPER: "#0d1117", INK: "#d5dae0", GRID: "#3d444d"}
# Seen on both papers, and told apart by who does not see all colours; the markers differ, too.
LOOKS = [("#2f81f7", "o"), ("#d9730d", "s"), ("#8a63d2", "^"), ("#2a9d6f", "D"), ("#c2457a", "v"), ("#7d8590", "x")]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: a figure over the place on the curve, of some series (all unless named)."""
    figure: str
    y_label: str
    x_label: str
    log: bool = False
    series: tuple = ()


RATE = ("mrate", "million messages a second")
SIZE, ENDPOINTS, DEPTH, LOST, MTU = ("message", "endpoints on the shared receive queue",
                                     "receive buffers on the shared queue", "frames lost", "path MTU")
PANELS = {
    "size": [Panel("gbits", "Gbit/s", SIZE), Panel(*RATE, SIZE, log=True)],
    "endpoints": [Panel(*RATE, ENDPOINTS),
                  Panel("connects", "connections a second", ENDPOINTS, log=True, series=("16 buffers each",))],
    "depth": [Panel(*RATE, DEPTH, log=True),
              Panel("cpu_ns", "ns of processor time a message", DEPTH, series=("at most half in flight",))],
    "loss": [Panel(*RATE, LOST, log=True), Panel("again", "frames sent again a message", LOST)],
    "cores": [Panel(*RATE, "engines of the receiver", series=("steered", "unsteered", "all on one")),
              Panel(*RATE, "cores, dat-perf", log=True, series=("64 B", "4 KiB", "64 KiB"))],
    "mtu": [Panel("gbits", "Gbit/s, messages of 64 KiB", MTU), Panel("cpu_us", "µs of processor time a message", MTU)],
}


def value(point, what):
    if what == "cpu_us":
        return point["median"]["cpu_ns"] / 1000
    return curves_table.of_point(point, what)


def lines_of(points, panel):
    """What a panel shows: {series: ([x], [y])}."""
    lines = {}
    for point in points:
        y = value(point, panel.figure)
        if (not panel.series or point["series"] in panel.series) and y is not None and (y > 0 or not panel.log):
            xs, ys = lines.setdefault(point["series"], ([], []))
            xs.append(point["x"])
            ys.append(y)
    return lines


def scale_x(axes, curve, label, places):
    axes.set_xlabel(label)
    if places[0] == 0:
        # No loss at all has its place left of the least.
        axes.set_xscale("symlog", linthresh=places[1] if len(places) > 1 else 1, linscale=0.5)
    else:
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(places[::-(-len(places) // 8)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: curves_table.x_word(curve, round(x))))


def scale_y(axes, panel):
    axes.set_ylabel(panel.y_label)
    if panel.log:
        axes.set_yscale("log")
        # Decades alone would leave one label where all lies within one.
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))


def draw_panel(axes, curve, points, panel):
    lines = lines_of(points, panel)
    if not lines:
        axes.set_axis_off()
        return
    for (series, (xs, ys)), (colour, marker) in zip(lines.items(), LOOKS):
        axes.plot(xs, ys, color=colour, marker=marker, markersize=4.5, linewidth=1.5, label=series)
    scale_x(axes, curve, panel.x_label, sorted({x for xs, _ in lines.values() for x in xs}))
    scale_y(axes, panel)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_facecolor(PAPER)
    axes.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        axes.legend(frameon=False, labelcolor=INK)


def in_both_lights(svg):
    """The drawing without what only a program reads, and with other colours where the reader likes it dark."""
    svg = re.sub(r"<!DOCTYPE.*?>\n| *<metadata>.*?</metadata>\n", "", svg, flags=re.DOTALL)
    svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
    rules = "".join(f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}\n' for light, dark in DARK.items()
                    for what in ("fill", "stroke"))
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{rules}}}</style>\n"
    return re.sub(r"(<svg .*?>\n)", lambda found: found.group(1) + style, svg, count=1, flags=re.DOTALL)


def draw(curve, points):
    """One curve as the text of an SVG."""
    here = [point for point in points if point["curve"] == curve]
    settings = {"svg.fonttype": "none", "svg.hashsalt": "udapl-roce", "font.family": "sans-serif",
                "font.sans-serif": ["DejaVu Sans"], "font.size": 10,
                "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
                "ytick.color": INK, "legend.fontsize": 9}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(10, 3.8), facecolor=PAPER, layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(PANELS[curve])), PANELS[curve]):
            draw_panel(axes, curve, here, panel)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return in_both_lights(text.getvalue())


def draw_all(kept, folder):
    """Draw every curve that has points. @return the files."""
    files = []
    for curve in curves_table.names(kept["points"]):
        files.append(folder / f"{curve}.svg")
        files[-1].write_text(draw(curve, kept["points"]), encoding="utf-8")
    return files
