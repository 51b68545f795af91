#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Golden frames: made by scapy, read back by test_golden.c.

golden.py --write DIR   make golden.pcap and golden.tsv
golden.py --check DIR   make them again and compare; exit 77 without scapy

Every frame follows the conventions of our own builder (DF, id 0, UDP checksum 0,
MigReq 1, P_Key 0xffff, IPv6 flow label from the source port), so that the builder
must reproduce it byte for byte, unless its row says rebuild 0: those show what a
peer may do and we do not.

The IPv4 ICRC is scapy's; scapy has none for IPv6, so that one is computed here
with zlib from the definition.
"""
import argparse
import hashlib
import io
import struct
import sys
import zlib

try:
    from scapy.all import IP, IPv6, UDP, Dot1Q, Ether, Raw, PcapWriter, conf
    from scapy.contrib.roce import BTH
except ImportError:
    print("scapy is not installed: skipped")
    sys.exit(77)

conf.verb = 0

RETH, AETH, IMM, IETH, ATOMIC, ATOMICACK, DETH, CNP = 16, 4, 4, 4, 28, 8, 8, 16
SACK, PIGGYBACK = 16, 8  # of this provider

# name: opcode, lengths of the extension headers, may carry payload
OPCODES = {
    "SEND_FIRST": (0x00, [], True),
    "SEND_MIDDLE": (0x01, [], True),
    "SEND_LAST": (0x02, [], True),
    "SEND_LAST_WITH_IMMEDIATE": (0x03, [IMM], True),
    "SEND_ONLY": (0x04, [], True),
    "SEND_ONLY_WITH_IMMEDIATE": (0x05, [IMM], True),
    "RDMA_WRITE_FIRST": (0x06, [RETH], True),
    "RDMA_WRITE_MIDDLE": (0x07, [], True),
    "RDMA_WRITE_LAST": (0x08, [], True),
    "RDMA_WRITE_LAST_WITH_IMMEDIATE": (0x09, [IMM], True),
    "RDMA_WRITE_ONLY": (0x0A, [RETH], True),
    "RDMA_WRITE_ONLY_WITH_IMMEDIATE": (0x0B, [RETH, IMM], True),
    "RDMA_READ_REQUEST": (0x0C, [RETH], False),
    "RDMA_READ_RESPONSE_FIRST": (0x0D, [AETH], True),
    "RDMA_READ_RESPONSE_MIDDLE": (0x0E, [], True),
    "RDMA_READ_RESPONSE_LAST": (0x0F, [AETH], True),
    "RDMA_READ_RESPONSE_ONLY": (0x10, [AETH], True),
    "ACKNOWLEDGE": (0x11, [AETH], False),
    "ATOMIC_ACKNOWLEDGE": (0x12, [AETH, ATOMICACK], False),
    "COMPARE_SWAP": (0x13, [ATOMIC], False),
    "FETCH_ADD": (0x14, [ATOMIC], False),
    "SEND_LAST_WITH_INVALIDATE": (0x16, [IETH], True),
    "SEND_ONLY_WITH_INVALIDATE": (0x17, [IETH], True),
    "UD_SEND_ONLY": (0x64, [DETH], True),
    "UD_SEND_ONLY_WITH_IMMEDIATE": (0x65, [DETH, IMM], True),
    "CONGESTION_NOTIFICATION": (0x81, [CNP], False),
    "SELECTIVE_ACKNOWLEDGEMENT": (0xC1, [SACK], False),
    "SEND_ONLY_PIGGYBACK": (0xE4, [PIGGYBACK], True),
    "SEND_ONLY_WITH_IMMEDIATE_PIGGYBACK": (0xE5, [PIGGYBACK, IMM], True),
    "RDMA_WRITE_ONLY_PIGGYBACK": (0xEA, [PIGGYBACK, RETH], True),
    "RDMA_WRITE_ONLY_WITH_IMMEDIATE_PIGGYBACK": (0xEB, [PIGGYBACK, RETH, IMM], True),
    "SEND_ONLY_WITH_INVALIDATE_PIGGYBACK": (0xF7, [PIGGYBACK, IETH], True),
}
SIZES = [0, 1, 2, 3, 4, 33]
SPORTS = [49152, 50001, 55410, 65535]
MACS = ("02:00:00:00:00:0b", "02:00:00:00:00:0a")
V4 = ("192.0.2.1", "192.0.2.2")
V6 = ("2001:db8::1", "2001:db8::2")
COLUMNS = ("name rebuild opcode v6 vlan sport tos ttl dest_qp psn ack_req solicited becn"
           " ext payload_len pad").split()


def number(name, what, below):
    """A number that depends on the frame's name only."""
    digest = hashlib.sha256(f"{name}/{what}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


def noise(name, what, length):
    out = b""
    while len(out) < length:
        out += hashlib.sha256(f"{name}/{what}/{len(out)}".encode()).digest()
    return out[:length]


def payload_bytes(length):
    """What test_golden.c puts into a payload of this length."""
    return bytes((length + 7 * i) & 0xFF for i in range(length))


def flow_label(sport):
    return (1 << 14) | ((sport & 0x3FFF) ^ 1)


def icrc_v6(ip, udp_and_rest):
    """CRC-32 of eight ones bytes, the masked IPv6, UDP and BTH headers, the rest."""
    ip = bytearray(ip)
    ip[0] |= 0x0F
    ip[1] = ip[2] = ip[3] = ip[7] = 0xFF
    rest = bytearray(udp_and_rest)
    rest[6] = rest[7] = 0xFF
    rest[12] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(ip) + bytes(rest)))


def frame(row, ip_extra=None, bth_extra=None, udp_checksum=0, trailer=b""):
    ext = bytes.fromhex(row["ext"])
    body = ext + payload_bytes(row["payload_len"]) + bytes(row["pad"])
    bth_fields = {"migreq": 1, "pkey": 0xFFFF, **(bth_extra or {})}
    bth = BTH(opcode=row["opcode"], solicited=row["solicited"], padcount=row["pad"],
              dqpn=row["dest_qp"], ackreq=row["ack_req"], psn=row["psn"], becn=row["becn"],
              **bth_fields)
    udp = UDP(sport=row["sport"], dport=4791, chksum=udp_checksum)
    link = Ether(src=MACS[0], dst=MACS[1])
    if row["vlan"]:
        link = link / Dot1Q(prio=row["vlan"] >> 13, id=(row["vlan"] >> 12) & 1,
                            vlan=row["vlan"] & 0xFFF)
    if not row["v6"]:
        fields = {"flags": "DF", "id": 0, **(ip_extra or {})}
        ip = IP(src=V4[0], dst=V4[1], tos=row["tos"], ttl=row["ttl"], **fields)
        return bytes(link / ip / udp / bth / Raw(body)) + trailer

    fields = {"fl": flow_label(row["sport"]), **(ip_extra or {})}
    ip = IPv6(src=V6[0], dst=V6[1], tc=row["tos"], hlim=row["ttl"], nh=17, **fields)
    bth.icrc = 0
    plain = bytes(ip / udp / Raw(bytes(bth)[:12] + body + b"\0" * 4))
    plain = plain[:-4] + icrc_v6(plain[:40], plain[40:-4])
    link.lastlayer().type = 0x86DD
    return bytes(link) + plain + trailer


def row_of(name, op, v6, vlan, size, **over):
    code, ext, carries = OPCODES[op]
    size = size if carries else 0
    row = {
        "name": name, "rebuild": 1, "opcode": code, "v6": int(v6), "vlan": vlan,
        "sport": SPORTS[number(name, "sport", len(SPORTS))],
        "tos": number(name, "tos", 64) << 2, "ttl": 1 + number(name, "ttl", 255),
        "dest_qp": number(name, "qp", 1 << 24), "psn": number(name, "psn", 1 << 24),
        "ack_req": number(name, "ack", 2), "solicited": number(name, "se", 2), "becn": 0,
        "ext": noise(name, "ext", sum(ext)).hex(), "payload_len": size, "pad": -size % 4,
    }
    row.update(over)
    return row


def regular():
    """Every opcode over every lower layer, the payload sizes in turn; then all sizes."""
    turn = 0
    for op in OPCODES:
        for v6 in (False, True):
            for vlan in (0, 5 << 13 | 100):
                size = SIZES[turn % len(SIZES)]
                name = f"{op}-{'v6' if v6 else 'v4'}-{'vlan' if vlan else 'plain'}-{size}"
                yield row_of(name, op, v6, vlan, size)
                turn += 1
    for op in ("SEND_ONLY", "RDMA_WRITE_ONLY_WITH_IMMEDIATE", "RDMA_READ_RESPONSE_ONLY"):
        for v6 in (False, True):
            for size in SIZES + [1024]:
                yield row_of(f"{op}-{'v6' if v6 else 'v4'}-size-{size}", op, v6, 0, size)
    for psn in (0, 1, 0x7FFFFF, 0x800000, 0xFFFFFF):
        yield row_of(f"psn-{psn:x}", "SEND_ONLY", False, 0, 4, psn=psn)
    for qpn in (0, 1, 2, 0xFFFFFE):
        yield row_of(f"qpn-{qpn:x}", "SEND_ONLY", False, 0, 4, dest_qp=qpn)
    for sport in SPORTS:
        yield row_of(f"sport-{sport}", "SEND_ONLY", True, 0, 4, sport=sport)


def peers():
    """What other stacks send and we do not: parsed, never built. Row and what is special."""
    def peer(name, v6=False, **over):
        return row_of(name, "SEND_ONLY", v6, 0, 5, rebuild=0, **over)

    yield peer("peer-ip-id-no-df"), {"ip_extra": {"id": 0x1234, "flags": 0}}
    yield peer("peer-tos-ecn", tos=0x6B), {}
    yield peer("peer-v6-label", v6=True, tos=0x03), {"ip_extra": {"fl": 0xABCDE}}
    yield peer("peer-migreq-0"), {"bth_extra": {"migreq": 0}}
    yield peer("peer-limited-member"), {"bth_extra": {"pkey": 0x7FFF}}
    yield peer("peer-udp-checksum"), {"udp_checksum": 0x1234}
    yield peer("peer-becn", becn=1), {}
    yield peer("peer-fecn-reserved"), {"bth_extra": {"fecn": 1, "resv6": 0x3F, "resv7": 0x7F}}
    yield row_of("peer-cnp", "CONGESTION_NOTIFICATION", False, 0, 0, rebuild=0, becn=1,
                 ext="00" * CNP), {}
    yield peer("peer-trailer"), {"trailer": b"\xee" * 7}
    yield peer("peer-sport", sport=1024), {}


def make():
    """The bytes of golden.pcap and golden.tsv."""
    rows, frames = [], []
    for row in regular():
        rows.append(row)
        frames.append(frame(row))
    for row, special in peers():
        rows.append(row)
        frames.append(frame(row, **special))

    out = io.BytesIO()
    writer = PcapWriter(out, linktype=1, endianness="<")
    writer.write_header(None)
    for data in frames:
        writer.write_packet(data, sec=0, usec=0)
    writer.flush()
    text = "\t".join(COLUMNS) + "\n"
    for row in rows:
        text += "\t".join(str(row[c]) if row[c] != "" else "-" for c in COLUMNS) + "\n"
    return {"golden.pcap": out.getvalue(), "golden.tsv": text.encode()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", metavar="DIR")
    group.add_argument("--check", metavar="DIR")
    args = parser.parse_args()
    failed = False
    for name, data in make().items():
        path = f"{args.write or args.check}/{name}"
        if args.write:
            with open(path, "wb") as out:
                out.write(data)
            continue
        with open(path, "rb") as committed:
            if committed.read() != data:
                print(f"{path} differs from what {sys.argv[0]} --write makes")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
