#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running provider through DPDK's telemetry socket and judges the answers.

  telemetry.py SOCKET [PREFIX]        a program with 8 queue pairs on one shared queue
  telemetry.py SOCKET --hugepages     the same program with hugepages: where its memory lies
  telemetry.py SOCKET --crowd N       one with more queue pairs than an answer has room for, on two engines

With PREFIX the same questions go through Debian's dpdk-telemetry.py, too.
"""
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

QUEUE_PAIRS = 8


def connect(path):
    """The socket once the program has made it: (connection, longest answer)."""
    end = time.monotonic() + limit.SECONDS
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
    end = time.monotonic() + limit.SECONDS
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
    # Without hugepages the descriptors lie on ordinary pages, of the node that the kernel tells, or refuses to.
    assert queue["hugepages"] == 0 and queue["page_bytes"] == os.sysconf("SC_PAGESIZE"), queue
    node = queue["numa_node"]
    assert node == "unknown" or Path(f"/sys/devices/system/node/node{node}").exists() or node == 0, queue
    # In-order connections hold one receive at the most; all of them are served, none far more than another.
    assert set(queue["held"].values()) <= {0, 1}, queue
    assert min(queue["taken"].values()) * 2 + 1000 > max(queue["taken"].values()), queue

    some = next(iter(queue["taken"]))
    pair = ask(f"/roce/qp,{some}")[adapter][some]
    assert pair["state"] == "rts" and pair["srq"] == int(number) and pair["taken"] > 0, pair
    assert len(ask("/roce/qp")[adapter]) == QUEUE_PAIRS
    assert ask("/roce/qp,1") is None and ask("/roce/srq,999") is None and ask("/roce/qp,x") is None

    judge_engines(ask, adapter)
    stats = ask(f"/roce/stats,{adapter}")
    assert stats["rx_send_requests"] > 0
    connections = ask("/roce/cm")[adapter]
    assert connections["established"] == QUEUE_PAIRS
    assert connections["counters"]["established"] == QUEUE_PAIRS, connections
    judge_help(ask("/roce/help"), stats, connections["counters"])
    judge_pages(ask, adapter, number)


def judge_hugepages(ask):
    """The descriptor pool lies on hugepages of the node that the EAL took them from."""
    adapter, number = wait_for_queue(ask)
    queue = ask(f"/roce/srq,{number}")[adapter][number]
    assert queue["hugepages"] == 1 and queue["page_bytes"] == 2 << 20, queue
    assert isinstance(queue["numa_node"], int), queue
    assert ask("/roce/ports")[adapter]["hugepages"] == 1


def judge_engines(ask, adapter):
    """What each engine received, and what it forwarded to others; with several, what steers frames to them."""
    port = ask("/roce/ports")[adapter]
    engines = ask(f"/roce/engines,{adapter}")
    assert engines.pop("port") == adapter and list(engines) == [str(n) for n in range(port["engines"])], engines
    assert sum(engine["rx_frames"] for engine in engines.values()) > 0, engines
    assert all(engine["rx_handed_over"] <= engine["rx_frames"] for engine in engines.values()), engines
    assert (port["link"], port["hugepages"], port["adapters"]) == (1, 0, [adapter]), port
    assert port["adapter_ips"] == [port["ip"]], port
    # net_ring can neither hash nor match.
    steering = {name: port.get(name) for name in ("steering_ipv4", "steering_ipv6")}
    assert set(steering.values()) == {"nothing" if len(engines) > 1 else None}, port


def judge_help(meanings, stats, counters):
    """Every counter has a meaning, and nothing else has."""
    names = set(stats) - {"port"} | {"cm_" + name for name in counters}
    assert names == set(meanings), names ^ set(meanings)
    assert meanings["retransmits"] == "request frames sent again (frames)", meanings


def judge_pages(ask, adapter, number):
    """All queues, from any number on, in order, as often as one asks."""
    page = ask(f"/roce/qps,{adapter}")
    numbers = [int(n) for n in page["list"]]
    assert page["total"] == len(numbers) == QUEUE_PAIRS and numbers == sorted(numbers), page
    for skipped in range(QUEUE_PAIRS):
        rest = ask(f"/roce/qps,{adapter},{numbers[skipped]}")
        assert [int(n) for n in rest["list"]] == numbers[skipped:] and rest["total"] == QUEUE_PAIRS, rest
    assert ask(f"/roce/qps,{adapter},{numbers[-1] + 1}")["list"] == {}
    before = page["list"][str(numbers[0])]
    now = ask(f"/roce/qps,{adapter},{numbers[0]}")["list"][str(numbers[0])]
    assert (now["taken"] - before["taken"]) % 2**32 < 2**31 and now["received"] < 2**24, (before, now)
    assert (now["posted"] - now["completed"]) % 2**32 == now["requests"], now
    assert list(ask(f"/roce/srqs,{adapter}")["list"]) == [number]
    assert ask(f"/roce/srqs,{adapter},{int(number) + 1}") == {"total": 1, "list": {}}
    for wrong in ("", ",", ",1", "nowhere", f"{adapter},", f"{adapter},x", f"{adapter},1,", "x" * 100):
        for what in ("qps", "srqs"):
            assert ask(f"/roce/{what},{wrong}") is None, (what, wrong)


def judge_debian(prefix, ask):
    """dpdk-telemetry.py lists the commands, and brings what we were told ourselves."""
    adapter = next(iter(ask("/roce/ports")))
    questions = ["/roce/ports", f"/roce/ports,{adapter}", f"/roce/stats,{adapter}", "/roce/srq", "/roce/qp",
                 "/roce/cm", "/roce/engines", "/roce/help", f"/roce/qps,{adapter}", f"/roce/srqs,{adapter}"]
    text = subprocess.run(["dpdk-telemetry.py", "-f", prefix], input="\n".join(["/", *questions]), text=True,
                          stdout=subprocess.PIPE, check=True, timeout=limit.SECONDS).stdout
    # Not at a terminal it prints nothing but the answers, one a line.
    answers = [json.loads(line) for line in text.splitlines()]
    assert len(answers) == len(questions) + 1, text
    for question, answer in zip(questions, answers[1:]):
        command = question.split(",", maxsplit=1)[0]
        assert command in answers[0]["/"], (command, answers[0])
        assert same_keys(answer[command], ask(question)), (question, answer)


def same_keys(one, other):
    """Numbers move on meanwhile; what they are numbers of does not."""
    if not isinstance(one, dict):
        return isinstance(one, type(other))
    return isinstance(other, dict) and one.keys() == other.keys() and all(
        same_keys(one[key], other[key]) for key in one)


def judge_crowd(ask, pairs):
    """An answer has room for some; page by page come all, once and in order."""
    end = time.monotonic() + limit.SECONDS
    while any(d["established"] != pairs for d in ask("/roce/cm").values()) or not ask("/roce/cm"):
        assert time.monotonic() < end, ask("/roce/cm")
        time.sleep(0.1)
    shown = ask("/roce/qp")
    assert [len(queues) for queues in shown.values()] == [32, 32], shown
    for adapter, port in ask("/roce/ports").items():
        assert port["engines"] == 2, port
        judge_engines(ask, adapter)
        numbers, first = [], 0
        while page := list(ask(f"/roce/qps,{adapter},{first}")["list"]):
            assert len(page) == min(48, pairs - len(numbers)), page
            numbers += map(int, page)
            first = numbers[-1] + 1
        assert numbers == sorted(set(numbers)) and len(numbers) == pairs, numbers
        busiest = shown[adapter].values()
        assert [q["held"] for q in busiest] == sorted((q["held"] for q in busiest), reverse=True), busiest


def main():
    ask = asker(sys.argv[1])
    if sys.argv[2:3] == ["--crowd"]:
        judge_crowd(ask, int(sys.argv[3]))
        return
    if sys.argv[2:] == ["--hugepages"]:
        judge_hugepages(ask)
        return
    judge(ask)
    if len(sys.argv) > 2:
        judge_debian(sys.argv[2], ask)


if __name__ == "__main__":
    main()
