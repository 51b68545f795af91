#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running provider through DPDK's telemetry socket and judges the answers. Usage: telemetry.py SOCKET"""
import json
import socket
import sys
import time

PATIENCE_S = 30
QUEUE_PAIRS = 8


def connect(path):
    """The socket once the program has made it: (connection, longest answer)."""
    end = time.monotonic() + PATIENCE_S
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            link.connect(path)
            return link, json.loads(link.recv(1024))["max_output_len"]
        except OSError as error:
            link.close()
            if time.monotonic() > end:
                sys.exit(f"{path}: {error}")
            time.sleep(0.1)


def asker(path):
    link, longest = connect(path)

    def ask(question):
        link.send(question.encode())
        return json.loads(link.recv(longest))[question.split(",", maxsplit=1)[0]]

    return ask


def wait_for_queue(ask):
    """The receiving adapter's shared queue once all queue pairs are on it: (adapter, id)."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for adapter, queues in (ask("/roce/srq") or {}).items():
            for number, queue in queues.items():
                if queue["queue_pairs"] == QUEUE_PAIRS and sum(
                        ask(f"/roce/srq,{number}")[adapter][number]["taken"].values()) > 0:
                    return adapter, number
        time.sleep(0.1)
    sys.exit("no shared receive queue has served its queue pairs")


def judge(ask):
    adapter, number = wait_for_queue(ask)
    queue = ask(f"/roce/srq,{number}")[adapter][number]
    assert 0 <= queue["available"] <= queue["outstanding"] <= queue["max"], queue
    assert queue["low_watermark"] == 0 and queue["armed"] == 0, queue
    assert queue["low_watermark_events"] == 0 and queue["empty_rnr"] >= 0, queue
    assert len(queue["held"]) == len(queue["taken"]) == QUEUE_PAIRS, queue
    # In-order connections hold one receive at the most; all of them are served, none far more than another.
    assert set(queue["held"].values()) <= {0, 1}, queue
    assert min(queue["taken"].values()) * 2 + 1000 > max(queue["taken"].values()), queue

    some = next(iter(queue["taken"]))
    pair = ask(f"/roce/qp,{some}")[adapter][some]
    assert pair["state"] == "rts" and pair["srq"] == int(number) and pair["taken"] > 0, pair
    assert len(ask("/roce/qp")[adapter]) == QUEUE_PAIRS
    assert ask("/roce/qp,1") is None and ask("/roce/srq,999") is None and ask("/roce/qp,x") is None

    assert ask("/roce/ports")[adapter]["engines"] >= 1
    assert ask(f"/roce/stats,{adapter}")["rx_send_requests"] > 0
    assert ask("/roce/cm")[adapter]["established"] == QUEUE_PAIRS


if __name__ == "__main__":
    judge(asker(sys.argv[1]))
