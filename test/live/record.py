# SPDX-License-Identifier: BSD-3-Clause
"""All that passes between the two hosts, and what others say about it."""
import collections
import ipaddress
import os
import signal
import struct
import subprocess
import sys
import time

import lab

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conf"))
import judge  # noqa: E402  pylint: disable=wrong-import-position

# tcpdump gets what the kernel has gathered after a second at the latest.
SETTLE_SECONDS = 1.5
ROCE = "udp port 4791 or (vlan and udp port 4791)"
# Protocols that tshark guesses from payloads which only look like them.
GUESSES = ("rpcordma", "idp", "smc")
PCAP_HEADER = 24
PCAP_FRAME = struct.Struct("=IIII")
FIELDS = ("frame.number", "ip.src", "ipv6.src", "_ws.malformed", "infiniband.bth.opcode", "infiniband.mad.attributeid")
# Of an acknowledgement of ours: the PSN that it waits for did not come (AETH syndrome, IBTA Vol 1, 9.7.5.2.8).
NAK_FIELDS = ("ip.src", "ipv6.src", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.aeth.syndrome")
NAK_SEQUENCE = 0x60
PSN_MASK = 0xffffff
GAP_MAX = 1024
MESSAGES = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP"}
OURS = {net.ours for net in lab.NETS.values()}
# Counters that a wire without faults leaves alone; the cell has to explain those that move.
TROUBLE = ("duplicate_request", "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err", "rcvd_seq_err",
           "retry_exceeded_err", "retry_rnr_exceeded_err", "completer_retry_err", "send_err", "link_downed")


class Recorder:
    """Our end of the wire, before its faults: what we send is recorded as we sent it."""

    def __init__(self, the_lab, path):
        self.path = path
        self.process = subprocess.Popen(
            the_lab.inside("tcpdump", "-Z", "root", "-i", "port-br", "-U", "-B", "16384", "-w", path, ROCE),
            stderr=subprocess.PIPE, preexec_fn=lab.die_with_parent)
        # Frames that pass before it listens are judged by nobody.
        while (line := self.process.stderr.readline()) and b"listening on" not in line:
            pass

    def end(self):
        time.sleep(SETTLE_SECONDS)  # until the last frames have come: how many there will be is not known
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def judge(self):
        """What tshark says: (frames of ours, how many are malformed, the first of those, connection messages)."""
        command = ["tshark", "-r", self.path]
        for protocol in GUESSES:
            command += ["--disable-protocol", protocol]
        command += ["-T", "fields"]
        for field in FIELDS:
            command += ["-e", field]
        run = subprocess.run(command, text=True, capture_output=True, check=False)
        messages, bad, frames = {"ours": collections.Counter(), "the guest": collections.Counter()}, [], 0
        for line in run.stdout.splitlines():
            number, v4, v6, malformed, opcode, attribute = (line.split("\t") + [""] * len(FIELDS))[:len(FIELDS)]
            ours = (v4 or v6) in OURS
            frames += ours
            # A frame without an opcode is not even taken for RoCE.
            if ours and (malformed or not opcode):
                bad.append(number)
            if attribute:
                messages["ours" if ours else "the guest"][MESSAGES.get(int(attribute, 0), attribute)] += 1
        return frames, len(bad), bad[0] if bad else "", messages

    def gaps(self, since):
        """(NAKs of ours for a gap since that moment, of how many the wire never had the packet that is missing)."""
        time.sleep(SETTLE_SECONDS)  # until the last frames have come: how many there will be is not known
        command = ["tshark", "-r", self.path, "-Y", f"frame.time_epoch >= {since:.6f}", "-T", "fields"]
        for field in NAK_FIELDS:
            command += ["-e", field]
        run = subprocess.run(command, text=True, capture_output=True, check=False)
        return count_gaps(line.split("\t") for line in run.stdout.splitlines())

    def judge_bytes(self):
        """What the judge of test/conf says, with an ICRC of its own: (frames of ours, their faults counted)."""
        faults, frames = collections.Counter(), 0
        for data, whole in packets(self.path):
            found = judge.locate(data)
            if found is None:
                continue
            l3 = found[0]
            source = data[l3 + 12:l3 + 16] if data[l3] >> 4 == 4 else data[l3 + 8:l3 + 24]
            if str(ipaddress.ip_address(source)) in OURS:
                frames += 1
                faults.update(judge.judge(data, whole).faults)
        return frames, faults


def count_gaps(rows):
    """Of rows of NAK_FIELDS: (NAKs of ours for a gap, of how many the packet that is missing had not passed before)."""
    requests, naks, absent = [], 0, 0
    for v4, v6, psn, queue_pair, syndrome in rows:
        if not psn:
            continue
        psn = int(psn, 0)
        if (v4 or v6) not in OURS:
            requests.append((queue_pair, psn))
        elif syndrome and int(syndrome, 0) == NAK_SEQUENCE:
            naks += 1
            # The queue pair that says so is the one that has had a packet from behind the gap.
            behind = next((q for q, p in reversed(requests) if 0 < (p - psn) & PSN_MASK < GAP_MAX), None)
            absent += behind is not None and (behind, psn) not in requests
    return naks, absent


def packets(path):
    """(bytes, captured whole) of every frame of a capture of this machine's tcpdump."""
    with open(path, "rb") as capture:
        capture.read(PCAP_HEADER)
        while head := capture.read(PCAP_FRAME.size):
            _, _, length, on_wire = PCAP_FRAME.unpack(head)
            yield capture.read(length), length == on_wire


def moved(before, after):
    """What of the kernel's counters of trouble has grown: name to by how much."""
    grown = collections.Counter(after)
    grown.subtract(before)
    return {name: n for name, n in grown.items() if name in TROUBLE and n > 0}
