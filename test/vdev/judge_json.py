#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judge what dat-perf wrote: judge_json.py EXPRESSION FILE...

Every FILE is one JSON object of a run without error, whose results tell of no violation and of as many messages as
were asked for; only the one that measures knows them for latencies. EXPRESSION is a Python expression that must hold
of the first: `o` is the object, `c` its configuration, `r` its result.
"""
import json
import sys


def fault(o, measures):
    """What is wrong with an object, or None."""
    if o.get("error"):
        return f"error: {o['error']}"
    if not o["results"]:
        return "no result"
    for result in o["results"]:
        if any(result["violations"].values()):
            return f"violations: {result['violations']}"
        counts = measures or result["test"] == "send_bw"
        if counts and o["config"]["duration"] == 0 and result["n_iterations"] != o["config"]["iterations"]:
            return f"{result['n_iterations']} messages instead of {o['config']['iterations']}"
    return None


def main():
    objects = []
    for name in sys.argv[2:]:
        try:
            with open(name, encoding="utf-8") as file:
                objects.append(json.load(file))
        except (OSError, ValueError) as error:
            print(f"{name}: {error}")
            return 1
        wrong = fault(objects[-1], len(objects) == 1)
        if wrong:
            print(f"{name}: {wrong}")
            return 1
    o, r = objects[0], objects[0]["results"][0]
    if not eval(sys.argv[1], {"o": o, "r": r, "c": o["config"]}):  # the expression is the test's own
        print(f"not {sys.argv[1]}: {json.dumps(o)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
