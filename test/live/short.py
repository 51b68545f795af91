# SPDX-License-Identifier: BSD-3-Clause
"""Which talks the short form has: one of each kind, in both roles, so that every run of all tests sees them."""
import fnmatch

PATTERNS = (
    "*, IPv4, MTU 1024, clean wire", "ours is the client, IPv6, MTU 1024, clean wire",
    "ours is the server, IPv6, MTU 1024, clean wire", "ours is the client, IPv4 with VLAN, *, clean wire",
    "ours is the *, IPv4, MTU 4096, clean wire",
    "ours is the client, IPv4, MTU 1024, 2 % lost, twice, out of order",
    "ours is the server, IPv4, MTU 1024, 2 % lost, twice, out of order",
    "*private data both ways, IPv4", "*nobody listens, IPv4", "*rejected by the consumer, IPv4",
    "*the first REQ is lost", "*the first DREP is lost", "*each REQ comes twice", "*rping",
    "*1000 connections, 16 of them at once", "ours is the server and is killed",
    "*guest is not ready for 2 s", "*ours is not ready for 2 s", "*WRITE with a wrong key is refused", "*through a window*",
    "*a SEND with a wrong ICRC",
    "*ib_send_bw, rdma_cm, shared queues", "*perftest ib_write_bw, socket exchange", "*perftest ib_read_bw, rdma_cm",
    "*ucmatose, connections: 1", "*SEND and WRITE with immediate",
    "either side, OFED's dapltest *", "*OFED's dapltest T, 2 threads, 4 endpoints each",
    "ours is the server, OFED's dtestx", "*four processes of one roced, *",
    "*by roce-run, ib_read_bw, socket exchange", "ours is the server, by roce-run, ib_send_lat, rdma_cm",
    "*by roce-run, rping, IPv4, bytes: 1000",
)


def is_in(name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in PATTERNS)
