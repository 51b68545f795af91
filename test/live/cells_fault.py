# SPDX-License-Identifier: BSD-3-Clause
"""Receivers that are not ready, frames that are damaged, requests that must be refused."""
from cell import Group, describe
from lab import NETS
from talk import Talk, Wants, many, probe

RNR = {"rcvd_rnr_err": "ours was not ready", "send_rnr_err": "the guest was not ready",
       # A packet behind the one that was not taken, and those sent again after the wait.
       "out_of_seq_request": "ours sent on before it heard", "duplicate_request": "ours sent it again",
       "rcvd_seq_err": "the guest sent on before it heard"}
REFUSED = {"send_err": "the request was refused"}
BROKEN = "event 0x4006"
DAMAGED = {"*": "the wire"}


def not_ready(lab, talk):
    yield Group("ours is the client, the guest is not ready for 2 s", lambda: talk.client(
        probe("server", "-D", "2000", "-M", "12"), "client", "HOST", "send:64", "send:5000"), explains=RNR)
    yield Group("ours is the server, ours is not ready for 2 s", lambda: talk.server(
        probe("client", "-a", "HOST", "send:64", "send:5000"), "-l", "2000", "server",
        wants=Wants(ours=("2 messages, 5064 bytes, 0 bad",))), explains=RNR)
    yield Group("ours is the server, ours is not ready for 2 s, shared queue", lambda: talk.server(
        probe("client", "-a", "HOST", "send:64", "send:5000"), "-S", "-l", "2000", "server",
        wants=Wants(ours=("2 messages, 5064 bytes, 0 bad",))), explains=RNR)
    yield Group("ours is the server, 60 SENDs at once into a shared queue of two", lambda: talk.server(
        probe("client", "-a", "HOST", "fill:60"), "-S", "-r", "2", "server",
        wants=Wants(ours=("60 messages, 960 bytes, 0 bad",))), explains=RNR)
    yield Group("ours is the client, 8 SENDs at once into a shared queue of four", lambda: talk.client(
        probe("server", "-S", "-n", "4", "-F", "1500", "-q", "80", "-M", "12"), "client", "HOST", "fill:8"),
        explains=RNR)
    yield Group("ours is the client, the guest is never ready: two tries", lambda: talk.client(
        probe("server", "-n", "0", "-r", "2", "-M", "12"), "client", "HOST", "send:64",
        wants=Wants(ours=("step send:64: FAILED",), status=1, steps_may_fail=True)), explains=RNR)
    yield Group("ours is the server, ours is never ready: two tries", lambda: Talk(lab, keys="rnr_retry=2").server(
        probe("client", "-a", "HOST", "send:64"), "-r", "0", "server",
        wants=Wants(guest=("RNR retry counter exceeded",), steps_may_fail=True)),
        explains=dict(RNR, retry_rnr_exceeded_err="ours was never ready"))


def refused(lab, talk):
    quick = Talk(lab, keys="timeout=14")
    for verb in ("badkey", "badkeyr", "oob"):
        what = describe(verb)
        yield Group(f"ours is the client, {what} is refused", lambda v=verb: talk.client(
            probe("server"), "client", "HOST", f"{v}:64", wants=Wants(ours=("status 6",))), explains=REFUSED)
        yield Group(f"ours is the server, {what} is refused", lambda v=verb: talk.server(
            probe("client", "-a", "HOST", f"{v}:64"), "server",
            wants=Wants(guest=("remote access error",), steps_may_fail=True)), explains=REFUSED)
    yield Group("ours is the server, SEND longer than the receive is refused", lambda: talk.server(
        probe("client", "-a", "HOST", "send:3000"), "-s", "100", "server",
        wants=Wants(guest=("remote",), steps_may_fail=True)), explains=REFUSED)
    yield Group("ours is the client, SEND longer than the receive is refused", lambda: talk.client(
        probe("server", "-s", "100"), "client", "HOST", "send:3000",
        wants=Wants(ours=("step send:3000: FAILED",), status=1, steps_may_fail=True)), explains=REFUSED)
    yield Group("ours is the server, WRITE through a window, SEND that invalidates it, WRITE is refused",
                lambda: talk.server(many("window", "-a", "HOST"), "-W", "server", wants=Wants(
                    ours=("1 messages, 64 bytes, 0 bad; 64 bytes written",), guest=("1 connections over",))),
                explains=REFUSED, needs_guest=True)
    for option, where in (("", ""), ("-S", ", the guest's shared queue")):
        yield Group(f"ours is the client, WRITE through a window, SEND that invalidates it, WRITE is refused{where}",
                    lambda o=option: talk.client(
                        many("grant", o), "-A", "client", "HOST", "borrow", "write:64", "sendinv:33", "refused:128",
                        wants=Wants(ours=("status 6",), guest=(
                            "received 33 bytes", "the key is invalid now", "64 bytes written"))),
                    explains=REFUSED, needs_guest=True)
    # rxe says ACK to it and ends its queue pair without a word; ours learns of it by its next request.
    yield Group("ours is the client, SEND that invalidates the key of a region ends the guest's queue pair",
                lambda: quick.client(
                    many("grant", "-r"), "-A", "client", "HOST", "borrow", "write:64", "sendinv:33", "refused:128",
                    wants=Wants(ours=("step sendinv:33: ok", "status 8", BROKEN), guest=(
                        "a receive ended: remote invalid request error", "64 bytes written"))),
                needs_guest=True)
    yield Group("ours is the server, SEND that invalidates the key of a region is refused", lambda: talk.server(
        probe("client", "-a", "HOST", "sendinv:5"), "server",
        wants=Wants(guest=("remote",), steps_may_fail=True)), explains=REFUSED)


def damaged(lab):
    """A damaged frame is dropped by its ICRC, and sent again."""
    for role in ("client", "server"):
        for what, op in (("a SEND", 0x04), ("an ACK", 0x11), ("an answer to a READ", 0x10)):
            talk = Talk(lab, rules=(f"corrupt=-1,op={op:#x},nth=1",))
            work = ("send:64", "send:65", "read:64")
            yield Group(f"ours is the {role}, {what} with a wrong ICRC", (lambda t=talk, w=work: t.client(
                probe("server"), "client", "HOST", *w)) if role == "client" else (lambda t=talk, w=work: t.server(
                    probe("client", "-A", "14", "-a", "HOST", *w), "server")), explains=DAMAGED)


def ours_lossy(lab):
    """What ours sends is disturbed by ours, where the lab's wire cannot: it knows no tags."""
    keys = "loss=20000 duplicate=20000 reorder=20000"
    work = ("send:65536", "fill:60", "write:65536", "read:65536", "fadd", "reads:40")
    for net in list(NETS.values())[2:]:
        talk = Talk(lab, net, keys)
        yield Group(f"ours is the client, all verbs, {net.name}, 2 % of what ours sends lost, twice, out of order",
                    lambda t=talk: t.client(probe("server", "-a", t.net.guest, "-q", "80", "-n", "80"), "client",
                                            "HOST", *work), explains=DAMAGED)
        yield Group(f"ours is the server, all verbs, {net.name}, 2 % of what ours sends lost, twice, out of order",
                    lambda t=talk: t.server(probe("client", "-a", "HOST", *work), "-S", "-r", "100", "server",
                                            wants=Wants(ours=("61 messages", " 0 bad"))), explains=DAMAGED)


def all_cells(lab):
    talk = Talk(lab)
    yield from not_ready(lab, talk)
    yield from refused(lab, talk)
    yield from damaged(lab)
    yield from ours_lossy(lab)
