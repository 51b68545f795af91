#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of the Grafana dashboard: a Prometheus that has scraped the exporter answers the query of each panel, and
matplotlib draws the answer where the dashboard has the panel, with its title, unit and legend.

  draw.py DASHBOARD.json http://HOST:PORT SECONDS PICTURE.svg      of the last SECONDS
"""
import io
import json
import re
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/bench"))
import curves_plot  # noqa: E402
from curves_plot import GRID, INK, LOOKS, PAPER  # noqa: E402

COLUMNS, ROW, WIDTH = 24, 0.42, 12  # of the grid; inches of a row, and of the picture
STEP, RANGE = 1, "5s"               # seconds from point to point; what a rate is over
UNITS = {"Bps": "B/s", "ops": "/s", "pps": "frames/s", "s": "s", "none": ""}
COLOURS = [colour for colour, _ in LOOKS]


def ask(server, query, seconds):
    """The series that a query brings: [({label: value}, [(second, value)])]."""
    query = re.sub(r"\$__rate_interval", RANGE, re.sub(r"\$(?:process|device)\b", ".*", query))
    now = time.time()
    words = urllib.parse.urlencode({"query": query, "start": now - seconds, "end": now, "step": STEP})
    with urllib.request.urlopen(f"{server}/api/v1/query_range?{words}", timeout=30) as reply:
        answer = json.load(reply)
    return [(series["metric"], [(at - now, float(value)) for at, value in series["values"]])
            for series in answer["data"]["result"]]


def legend_of(pattern, labels):
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found.group(1), ""), pattern)


def draw_lines(axes, panel, server, seconds):
    unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
    lines = 0
    for target in panel["targets"]:
        for labels, points in ask(server, target["expr"], seconds):
            # A line that is nothing all the time would only hide the others, and fill the legend.
            if any(value for _, value in points):
                axes.plot(*zip(*points), color=COLOURS[lines % len(COLOURS)], linewidth=1.3,
                          linestyle=("-", "--", ":")[lines // len(COLOURS) % 3], label=legend_of(target["legendFormat"], labels))
                lines += 1
    axes.set_ylim(bottom=0)
    axes.set_xlim(-seconds, 0)
    axes.yaxis.set_major_formatter(EngFormatter(unit=unit, sep=" "))
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=unit == ""))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0f} s" if x < 0 else "now")
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if lines == 0:
        axes.text(0.5, 0.5, "none", ha="center", va="center", transform=axes.transAxes)
        axes.set_yticks([])
    else:
        axes.legend(frameon=False, labelcolor=INK, fontsize=6.5, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))


def draw_number(axes, panel, server, seconds):
    series = ask(server, panel["targets"][0]["expr"], seconds)
    unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
    number = float(f"{series[0][1][-1][1]:.3g}") if series else 0
    text = EngFormatter(unit=unit, sep=" ").format_data(number) if series else "no data"
    axes.text(0.5, 0.45, text, ha="center", va="center", fontsize=14, color=COLOURS[0], transform=axes.transAxes)
    axes.set_axis_off()


def draw_table(axes, panel, server, seconds):
    rows = [labels for labels, _ in ask(server, panel["targets"][0]["expr"], seconds)]
    hidden = panel["transformations"][0]["options"]["excludeByName"]
    names = sorted({name for row in rows for name in row if name not in hidden})
    table = axes.table([[row.get(name, "") for name in names] for row in rows], colLabels=names, loc="upper center",
                       cellLoc="left", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for cell in table.get_celld().values():
        cell.set_edgecolor(GRID)
        cell.get_text().set_color(INK)
    axes.set_axis_off()


KINDS = {"timeseries": draw_lines, "stat": draw_number, "table": draw_table}


def place(figure, panel, rows):
    """Axes where the grid of the dashboard has the panel, with room for title and legend."""
    at = panel["gridPos"]
    left, top = at["x"] / COLUMNS, at["y"] / rows
    width, height = at["w"] / COLUMNS, at["h"] / rows
    above, below, beside = 0.9 / rows, (2.2 if panel["type"] == "timeseries" else 0.2) / rows, 0.08
    if panel["type"] != "timeseries":
        beside = 0.01
    return figure.add_axes((left + beside, 1 - top - height + below, width - beside - 0.02, height - above - below))


def draw(dashboard, server, seconds):
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"])
    settings = {"svg.fonttype": "none", "svg.hashsalt": "udapl-roce", "font.family": "sans-serif",
                "font.sans-serif": ["DejaVu Sans"], "font.size": 8, "text.color": INK, "axes.labelcolor": INK,
                "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.facecolor": PAPER}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(WIDTH, rows * ROW), facecolor=PAPER)
        for panel in dashboard["panels"]:
            axes = place(figure, panel, rows)
            KINDS[panel["type"]](axes, panel, server, seconds)
            axes.set_title(panel["title"], loc="left", fontsize=9, fontweight="bold")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return curves_plot.in_both_lights(text.getvalue())


def main():
    dashboard = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[4]).write_text(draw(dashboard, sys.argv[2], int(sys.argv[3])), encoding="utf-8")


if __name__ == "__main__":
    main()
