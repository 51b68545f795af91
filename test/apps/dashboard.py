#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Grafana dashboard asks for what the exporter has: every metric and label in it is one that dat-info prints of a
program at work, rates are of counters alone, and no panel lies upon another. All that tells of roced and of the channels of
roce0 has a panel.

  dashboard.py DASHBOARD.json dat-srqd dat-info roced

Exit 77 where Prometheus' library for Python is missing.
"""
import copy
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

# A name with its selector and range; what has a parenthesis behind it is a function or an aggregation.
NAME = re.compile(r"([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?\s*(\[[^\]]*\])?(?!\w|\s*\()")
GROUPING = re.compile(r"\b(?:by|without)\s*\(([^)]*)\)")
COUNTED = re.compile(r"\b(?:rate|irate|increase)\s*\($")
VARIABLES = {"__rate_interval"}
# Labels that a scrape adds to each sample.
SCRAPED = {"instance", "job"}


# Of these every metric has a panel.
SHOWN = ("roced_", "roce_local_", "roce_channels")


class Programs:
    """A server and its clients in one process, and others that talk over roce0. Each program ends with this."""

    def __init__(self, srqd, info, roced, folder):
        # The sockets of this test, and no others.
        self.env = {**os.environ, "RUNTIME_DIRECTORY": folder, "XDG_RUNTIME_DIR": folder, "UDAPL_ROCE_ROCED": roced}
        self.srqd, self.info = srqd, info
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child, how in reversed(self.children):
            child.send_signal(how)
            child.wait()

    def run(self, *args, how=signal.SIGKILL):
        """Start a program that ends by that signal."""
        child = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env)
        self.children.append((child, how))

    def start(self, *args):
        self.run(self.srqd, *args)

    def metrics(self):
        done = subprocess.run([self.info, "--metrics", "--queue-pairs"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self.env, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def wait_for(self, pattern):
        """The metrics, once a line of them is like that."""
        end = time.monotonic() + limit.SECONDS
        while not re.search(pattern, text := self.metrics(), re.MULTILINE):
            if time.monotonic() > end:
                sys.exit(f"in vain waited for {pattern}")
            time.sleep(0.1)
        return text


def exported(srqd, info, roced):
    """The samples of programs at work: {metric: names of its labels}, and the names of counters."""
    from prometheus_client.parser import text_string_to_metric_families
    with tempfile.TemporaryDirectory() as folder, Programs(srqd, info, roced, folder) as programs:
        programs.run(roced, "--port", "net_null0,no-rx=1", "--ip", "192.0.2.1/24", how=signal.SIGTERM)
        programs.wait_for(r"^roced_uplink\{.*\} 1$")
        programs.start("--self", "2", "-n", "1000000000")
        programs.start("-D", "roce0", "-p", "7")
        programs.wait_for(r"^roced_listeners\{.*\} 1$")
        programs.start("-D", "roce0", "-p", "7", "--connect", "127.0.0.1", "-n", "1000000000")
        programs.wait_for(r"^roce_channels\{.*state=\"polled\"\} 1$")
        text = programs.wait_for(r"^roce_srq_max\{.*device=\"loop")
    labels, counters = {}, set()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
            if family.type == "counter":
                counters.add(sample.name)
    return labels, counters


def judge_query(query, legend, labels, counters):
    """What is wrong with a query of PromQL and the legend of its series."""
    groups = [word.strip() for found in GROUPING.findall(query) for word in found.split(",")]
    asked, have = set(groups) | set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend)), None
    bare = GROUPING.sub("", query)
    for found in NAME.finditer(bare):
        name, selector, span = found.groups()
        if name not in labels:
            yield f"the exporter has no metric {name}"
            continue
        have = labels[name] | SCRAPED
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", selector or ""):
            if label not in have:
                yield f"{name} has no label {label}"
        rated = bool(COUNTED.search(bare[:found.start()]))
        if rated != (name in counters) or rated != (span is not None):
            yield f"a counter wants a rate over a range, and nothing else does: {name}"
    if have is None:
        yield f"a query without a metric: {query}"
        return
    yield from (f"'{query}' has no label {label}" for label in sorted(asked - have))
    if groups:
        yield from (f"'{query}' loses the label {label}" for label in sorted(asked - set(groups)))


def overlap(one, other):
    return one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"] and \
        one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"]


def judge(dashboard, labels, counters):
    """What is wrong with a dashboard."""
    variables = dashboard["templating"]["list"]
    known = VARIABLES | {variable["name"] for variable in variables}
    for variable in variables:
        found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable.get("definition", ""))
        if found:
            yield from judge_query(found.group(1), f"{{{{{found.group(2)}}}}}", labels, counters)
    for name in sorted(set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) - known - {"__all"}):
        yield f"there is no variable ${name}"
    panels = dashboard["panels"]
    for i, panel in enumerate(panels):
        if not panel["title"] or not panel["description"] or not panel["fieldConfig"]["defaults"]["unit"]:
            yield f"panel {panel['id']} has no title, description or unit"
        for other in panels[:i]:
            if panel["id"] == other["id"] or overlap(panel["gridPos"], other["gridPos"]):
                yield f"'{panel['title']}' and '{other['title']}' have one id or one place"
        for target in panel["targets"]:
            for words in judge_query(target["expr"], target["legendFormat"], labels, counters):
                yield f"{panel['title']}: {words}"
    shown = {name for panel in panels for target in panel["targets"] for name in re.findall(r"\w+", target["expr"])}
    yield from (f"no panel has {name}" for name in sorted(labels) if name.startswith(SHOWN) and name not in shown)


def broken(dashboard):
    """The dashboard with one mistake at a time."""
    for change in (lambda p: p["targets"][0].update(expr="roce_cq_overflows"),
                   lambda p: p["targets"][0].update(expr='roce_srq_max{srqs="1"}'),
                   lambda p: p["targets"][0].update(expr="roce_srq_max", legendFormat="{{qp}}"),
                   lambda p: p["targets"][0].update(expr="sum by (device) (roce_srq_max)", legendFormat="{{srq}}"),
                   lambda p: p["targets"][0].update(expr="rate(roce_srq_max[1m])"),
                   lambda p: p["targets"][0].update(expr="roce_rx_frames_total"),
                   lambda p: p["targets"][0].update(expr='roce_srq_max{device="$devices"}'),
                   lambda p: p["gridPos"].update(w=24),
                   lambda p: p.update(title="")):
        other = copy.deepcopy(dashboard)
        change(other["panels"][0])
        yield other
    for name in ("roced_listeners", "roced_uplink_tx_refused_total", "roce_local_bells_total", "roce_channels"):
        other = copy.deepcopy(dashboard)
        other["panels"] = [panel for panel in other["panels"] if name not in json.dumps(panel)]
        yield other


def main():
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        print("python3-prometheus-client is missing")
        sys.exit(77)
    dashboard = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    samples = exported(*sys.argv[2:5])
    complaints = list(judge(dashboard, *samples))
    complaints += [f"mistake {i} is not seen" for i, other in enumerate(broken(dashboard)) if not list(judge(other, *samples))]
    print("\n".join(complaints))
    sys.exit(len(complaints) > 0)


if __name__ == "__main__":
    main()
