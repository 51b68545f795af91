#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges dat-info beside a server on roce0, its clients and their roced.

  roce0_info.py DAT_INFO DAT_SRQD ROCED
"""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import limit  # noqa: E402

PORT = 7
SERVICE_TCP = 0x01060000  # IBTA, annex A11: service ids of TCP's ports
CLIENTS = 2
COLUMNS = 80


class Host:
    """The processes of this test, each of which ends with it."""

    def __init__(self, info, srqd, roced):
        self.info, self.srqd, self.roced = info, srqd, roced
        self.children = []

    def start(self, *args):
        child = subprocess.Popen([self.srqd, "-D", "roce0", "-p", str(PORT), *args], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        self.children.append(child)
        return child.pid

    def run(self, *args):
        return subprocess.run([self.info, *args], capture_output=True, text=True, timeout=limit.SECONDS, check=False)

    def good(self, *args):
        done = self.run(*args)
        assert done.returncode == 0 and not done.stderr, done
        return done.stdout

    def look(self):
        """{pid: what it tells} of one look."""
        return {one["pid"]: one for one in map(json.loads, self.good("--watch", "--count", "1", "--json").splitlines())}

    def status(self):
        return json.loads(subprocess.run([self.roced, "--status", "--json"], capture_output=True, text=True,
                                         timeout=limit.SECONDS, check=True).stdout)

    def end(self):
        for child in self.children:
            child.kill()
            child.wait(limit.SECONDS)
        self.children = []


def roced_of(look):
    return next((one["roced"] for one in look.values() if one["process"] == "roced"), None)


def device_of(look, pid):
    return look.get(pid, {}).get("devices", {}).get("roced", {})


def at_work(host, server, clients):
    """All channels carry frames in both directions."""
    if host.run("--watch", "--count", "1").returncode != 0:
        return False
    look = host.look()
    counts = [device_of(look, pid).get("channels", {}) for pid in (server, *clients)]
    return [len(count) for count in counts] == [CLIENTS] + [1] * CLIENTS and all(
        channel["rx_frames"] > 100 and channel["tx_frames"] > 100 for count in counts for channel in count.values())


def judge_json(host, server, clients):
    look = host.look()
    roced = roced_of(look)
    assert roced["pid"] == host.status()["pid"] and roced["version"] == host.status()["version"], roced
    numbers = {process["pid"]: process["number"] for process in roced["processes"]}
    assert set(numbers) == {server, *clients} == set(look) - {roced["pid"]}, (numbers, look.keys())
    for pid in numbers:
        device = device_of(look, pid)
        peers = clients if pid == server else [server]
        assert device["port"]["process"] == numbers[pid] and device["port"]["adapters"] == ["roce0"], device["port"]
        assert device["port"]["channels"] == len(peers) >= device["port"]["channels_polled"], device["port"]
        assert set(device["channels"]) == {str(numbers[peer]) for peer in peers}, device["channels"]
        assert {channel["state"] for channel in device["channels"].values()} <= {"polled", "armed"}, device["channels"]
        stats = device["stats"]
        assert stats["local_rx_frames"] > 100 and stats["local_tx_frames"] > 100, stats
        assert stats["local_rx_roced"] > 0 and stats["local_tx_roced"] > 0, stats
        assert stats["local_rx_wrong_source"] == stats["local_broken"] == stats["local_tx_no_channel"] == 0, stats
    at = {process["pid"]: process for process in roced["processes"]}
    assert at[server]["listeners"] == [SERVICE_TCP + PORT] and at[clients[0]]["listeners"] == [], at
    assert roced["counters"]["channels"] == CLIENTS and roced["counters"]["frames_forwarded"] >= 2 * CLIENTS, roced
    return roced, numbers


def judge_list(host, server, roced, numbers):
    """Without arguments: the adapter and one of its processes, then roced and all of them."""
    listed = json.loads(host.good("--json"))
    assert listed["roce0"]["driver"] == "roced" and listed["roce0"]["pid"] in numbers, listed["roce0"]
    assert listed["roce0"]["others"] == len(numbers) - 1 and "others" not in listed["loop0"], listed
    assert listed["roced"]["pid"] == roced["pid"] and len(listed["roced"]["processes"]) == len(numbers), listed["roced"]
    text = host.good()
    line = next(line for line in text.splitlines() if line.startswith("roce0 "))
    assert line.endswith(f" dat-srqd, {len(numbers) - 1} more"), line
    assert f"roced {roced['version']}, pid {roced['pid']}, started " in text, text
    rows = {int(line.split()[1]): line for line in text.splitlines() if len(line.split()) > 3 and line.split()[1].isdigit()
            and line.split()[2] == "dat-srqd" and line.split()[0].isdigit()}
    assert set(rows) == set(numbers), text
    assert rows[server].endswith(f"; listens at {PORT}") and f" {CLIENTS} " in rows[server], rows[server]
    used = json.loads(host.good("--json", "roce0"))
    assert used["pid"] in numbers and len(used["channels"]) > 0, used


def judge_table(host, server, roced, numbers):
    tables = [table for table in host.good("--watch", "0.3", "--count", "2").split("\n\n") if table]
    assert len(tables) == 2 and f" {len(numbers)} processes," in tables[0], tables[0]
    for number, table in enumerate(tables):
        lines = table.split("\n")
        assert max(map(len, lines)) <= COLUMNS, table
        at = lines.index(f"process {roced['pid']} roced")
        assert f": {len(numbers)} processes, {CLIENTS} channels, 1 listener" in lines[at + 1], table
        assert ("- passed" in lines[at + 2]) == (number == 0), table
        rows = {}
        for pid, own in numbers.items():
            at = lines.index(f"process {pid} dat-srqd")
            assert f"  process {own} of roced: " in lines[at + 3], table
            rows[pid] = lines[at + 5].split()
        assert all(row[1:3] == [str(server), "dat-srqd"] for pid, row in rows.items() if pid != server), rows
        assert all((row[4] == "-") == (number == 0) for row in rows.values()), rows


def samples(families):
    return {(sample.name, sample.labels.get("pid"), sample.labels.get("state")): sample for family in families
            for sample in family.samples}


def judge_metrics(host, server, roced, numbers):
    """One text has all processes and roced, by either parser."""
    pid = str(roced["pid"])
    for found in (samples(read_plain(host.good("--metrics"))), samples(read_openmetrics(host.good("--metrics", "--openmetrics")))):
        assert found[("roce_processes", None, None)].value == len(numbers), found
        assert found[("roced_processes", pid, None)].value == len(numbers)
        assert found[("roced_channels_open", pid, None)].value == CLIENTS
        assert found[("roced_frames_forwarded_total", pid, None)].value >= 2 * CLIENTS
        assert found[("roced_violations_total", pid, None)].value == 0
        for process, number in numbers.items():
            one = found[("roced_process_channels", str(process), None)]
            assert one.labels["number"] == str(number) and one.labels["process"] == "dat-srqd", one
            assert one.value == (CLIENTS if process == server else 1), one
            assert found[("roce_local_tx_frames_total", str(process), None)].value > 100
            assert sum(found[("roce_channels", str(process), state)].value for state in
                       ("polled", "armed", "stalled", "broken")) == one.value
    only = samples(read_plain(host.good("--metrics", "--pid", str(server))))
    assert ("roced_processes", pid, None) not in only and only[("roce_processes", None, None)].value == 1, only


def judge_stopped(host, server, roced):
    """A roced that does not answer costs nobody the others."""
    def is_left_out():
        # Each time anew: somebody else may let it go on.
        os.kill(roced["pid"], signal.SIGSTOP)
        table = host.good("--watch", "--count", "1")
        os.kill(roced["pid"], signal.SIGSTOP)
        done = host.run("--metrics")
        assert f"process {server} dat-srqd" in table, table
        assert done.returncode == 0 and f'pid="{server}"' in done.stdout, done
        return "does not tell its status" in table and "roced_processes" not in done.stdout

    try:
        limit.wait_until("a roced that stands still is left out", is_left_out)
    finally:
        os.kill(roced["pid"], signal.SIGCONT)


def judge(host):
    done = host.run("--metrics")
    assert done.returncode == 1 and "no running process" in done.stderr, done
    assert "roced" not in json.loads(host.good("--json")), "a roced that was not there"
    # The one that dat-info started ends.
    limit.wait_until("roced ends", lambda: host.run("--metrics").returncode == 1)
    server = host.start("--interval", "0")
    limit.wait_until("the server listens", lambda: "listens at" in host.run().stdout)
    clients = [host.start("--connect", "127.0.0.1", "-n", "1000000000") for _ in range(CLIENTS)]
    limit.wait_until("all are at work", lambda: at_work(host, server, clients))
    roced, numbers = judge_json(host, server, clients)
    judge_list(host, server, roced, numbers)
    judge_table(host, server, roced, numbers)
    judge_metrics(host, server, roced, numbers)
    judge_stopped(host, server, roced)


def main():
    host = Host(*sys.argv[1:])
    try:
        judge(host)
    finally:
        host.end()
    limit.wait_until("roced ends", lambda: host.run("--metrics").returncode == 1)


if __name__ == "__main__":
    main()
