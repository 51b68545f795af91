# SPDX-License-Identifier: BSD-3-Clause
"""What the programs print, as numbers: messages a second, or microseconds of half a round trip.

Each function takes the text of one run and the size of its messages in bytes; a text that is not what it should be
is a ValueError that says what is missing.
"""
import json
import re


def found(pattern, text, what):
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise ValueError(f"{what} is not in what it printed")
    return match


def ucx_row(text):
    """The two lines of ucx_perftest -f -v, as name to value."""
    match = found(r"^(iterations,.*)\n *([0-9.]+(?:,[0-9.]+){7})$", text, "the line of figures")
    return dict(zip(match.group(1).split(","), map(float, match.group(2).split(","))))


def ucx_rate(text, _size):
    return {"rate": ucx_row(text)["overall_mr"]}


def ucx_trip(text, _size):
    row = ucx_row(text)
    return {"trip": row["50.0_percentile_lat"], "mean": row["overall_lat"]}


def fabric_trip(text, _size):
    """usec/xfer of fi_pingpong is the mean of half a round trip."""
    match = found(r"^\d+[km]?(?:\s+\S+){5}\s+([0-9.]+)\s+[0-9.]+$", text, "the line of figures")
    mean = float(match.group(1))
    if mean <= 0:
        raise ValueError("it printed no time")
    return {"mean": mean}


def iperf_rate(text, size):
    """One write a message; bounds of messages are not kept by TCP. What the receiver has counts."""
    said = json.loads(text[text.index("{"):] if "{" in text else "null")
    if not said or said.get("error"):
        raise ValueError(said["error"] if said else "it printed no JSON")
    return {"rate": said["end"]["sum_received"]["bits_per_second"] / 8 / size}


def sockperf_trip(text, _size):
    median = found(r"percentile 50\.000 =\s*([0-9.]+)", text, "the median")
    mean = found(r"Summary: Latency is ([0-9.]+) usec", text, "the mean")
    return {"trip": float(median.group(1)), "mean": float(mean.group(1))}


def perf_result(text):
    """The first result in the JSON of dat-perf."""
    said = json.loads(text)
    if said.get("error"):
        raise ValueError(said["error"])
    return said["results"][0]


def perf_rate(text, _size):
    return {"rate": perf_result(text)["MsgRate"] * 1e6}


def perf_trip(text, _size):
    result = perf_result(text)
    return {"trip": result["t_typical"], "mean": result["t_avg"]}
