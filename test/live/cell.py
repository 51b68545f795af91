# SPDX-License-Identifier: BSD-3-Clause
"""What a cell of the matrix is, and the words its line is made of."""
import dataclasses
from typing import Callable

SIZES = (0, 1, 2, 3, 4, 33, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 1 << 20)
OURS = {"client": "ours is the client", "server": "ours is the server"}
CLEAN = "clean wire"
# Ours asks again when the round trip that it measured is over (docs/rc.md; 4 ms before the first), and an emulated host
# answers later now and then. No other trouble may be counted on a clean wire.
LATE = {"duplicate_request": "the guest answered later than the round trips before"}
LATE_MAX = 0.1  # of the packets that it received; fewer than LATE_FEW are nothing
LATE_FEW = 256  # one late answer has ours send up to a window of 128 again
# An emulated host, or the kernel of this one between the two, may lose a frame: seen once. Ours is
# right to say so when the recorder on our side of the wire has not seen that packet either.
NAKS = "rcvd_seq_err"
LOST = "a packet was lost before our end of the wire"
VERBS = {
    "send": "SEND", "sendsol": "solicited SEND", "sendinl": "inline SEND", "sendimm": "SEND with immediate",
    "sendinv": "SEND with invalidate", "echo": "SEND there and back", "write": "WRITE", "writeinl": "inline WRITE",
    "writeimm": "WRITE with immediate", "read": "READ", "fadd": "fetch and add", "cswp": "compare and swap",
    "badkey": "WRITE with a wrong key", "badkeyr": "READ with a wrong key", "oob": "WRITE beyond the end",
}
AT_ONCE = {"fill": "SENDs of 16 bytes at once", "reads": "READs of 2048 bytes at once"}


@dataclasses.dataclass
class Group:
    """Cells that one talk decides: one for each step, or one alone."""
    name: str
    go: Callable
    steps: tuple = ()
    path_mtu: int = 1024
    long: bool = False    # only with --long
    # More counters of trouble that may move, and why; "*": any.
    explains: dict = dataclasses.field(default_factory=dict)
    needs_guest: bool = False  # our program in the guest
    needs_programs: bool = False  # programs of verbs, by roce-run and in the guest
    needs_tools: bool = False  # the package dapl2-utils, and our provider for DAT 2.0

    def lines(self):
        return [self.line(step) for step in self.steps] or [self.name]

    def line(self, step):
        """role, [the step], the rest"""
        role, _, rest = self.name.partition(", ")
        return f"{role}, {describe(step)}, {rest}"


def steps(verb, sizes=SIZES):
    return tuple(f"{verb}:{size}" for size in sizes)


def describe(step):
    verb, _, n = step.partition(":")
    if verb in AT_ONCE:
        return f"{n} {AT_ONCE[verb]}"
    return f"{VERBS[verb]} of {n} bytes" if n else VERBS[verb]
