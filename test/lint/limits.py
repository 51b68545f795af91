#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Limits: the numbers of udapl-roce(7), LIMITS, and of dat_ia_query(3), VALUES, are those that the code keeps.

A number of the first stands for the macros of SAYS; a number of the second is the begin of the entry of an attribute, and
stands for what ia_attr_out() and provider_attr_out() give that attribute (in DAT 1.2, where both versions differ).
"""
import re
import sys

import tree
from man import section

OVERVIEW, QUERY = "docs/man/udapl-roce.7", "docs/man/dat_ia_query.3"
VALUES = "lib/front/ia.c"
# Where the macros are that those of VALUES are made of.
HEADERS = ("lib/dapl/ia_limits.h", "pmd_roce/cm/cm.h", "include/roce/verbs.h")
# The entry in LIMITS, and the expressions that are this number, each with its file.
SAYS = {
    "endpoints of a device": [("DAPL_MAX_EPS", "lib/dapl/ia_limits.h"), ("ROCE_QPS_LIMIT", "pmd_roce/queue/config.h")],
    "unfinished requests of an endpoint, and as many posted receives": [("DAPL_MAX_DTOS", "lib/dapl/ia_limits.h")],
    "connections of a device, including those that have just ended": [("CONNECTIONS_MAX", "pmd_roce/device/device.c")],
    "segments of a post": [("DAPL_MAX_IOV", "lib/dapl/ia_limits.h")],
    "buffers of a shared receive queue, and events of a dispatcher": [("DAPL_MAX_SRQ_LEN", "lib/dapl/ia_limits.h"),
                                                                      ("DAPL_MAX_EVD_LEN", "lib/dapl/ia_limits.h")],
    "shared receive queues whose completions go to one dispatcher at a time": [
        ("ROCE_SRQ_TAG_MAX", "pmd_roce/queue/srq_reap_counter.h")],
    "memory regions and windows of a device together": [("LMR_MAX", VALUES), ("ROCE_KEY_PLACES - 1", "pmd_roce/queue/keys.h")],
    "addresses of a port": [("ROCE_ADDRS_MAX", "pmd_roce/queue/async_events.h"),
                            ("ROCE_DEVICE_ADDRS_MAX", "include/roce/device.h")],
    "bytes of a message": [("DAPL_MAX_MESSAGE", "lib/dapl/ia_limits.h")],
    "bytes of private data that can be sent": [("DAPL_MAX_PRIVATE", "lib/dapl/ia_limits.h")],
}

DEFINE = re.compile(r"^#define (\w+)[ \t]+(.+)$", re.M)
ATTRIBUTE = re.compile(r"^\t\t\.(max_\w+|optimal_buffer_alignment) = ([^,;{]+),$", re.M)
FIRST_OF_BOTH = re.compile(r"^BY_ABI\((.*), [^,]*\)$")
NUMBER = re.compile(r"(\d+)(?:\^(\d+))?\b")
KNOWN = {"INT32_MAX": 2**31 - 1, "UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1}


def macros(root, *names):
    """{name: expression} of the files that are there."""
    found = {}
    for name in names:
        path = root / name
        if path.is_file():
            text = path.read_text(encoding="utf-8").replace("\\\n", " ")
            for macro, expression in DEFINE.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
                found[macro] = FIRST_OF_BOTH.sub(r"\1", expression.strip())
    return found


def value(expression, defined):
    """A constant expression of C; None: it is none."""
    for _ in range(8):
        expression = re.sub(r"\bUINT64_C\((\d+)\)|\b(\d+)[uUlL]*\b", lambda m: m.group(1) or m.group(2), expression)
        expression = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: f"({KNOWN.get(m.group(), defined.get(m.group(), m.group()))})",
                            expression)
        if re.fullmatch(r"[\d\s()*+<-]+", expression):
            return eval(expression)  # pylint: disable=eval-used # digits and operators alone
    return None


def entries(lines):
    """(line number, words of .It, all words below it up to the next entry) of a list."""
    entry = None
    for number, line in lines:
        if line.startswith(".It "):
            if entry:
                yield entry
            entry = (number, line[4:], "")
        elif entry and line.startswith("."):
            yield entry
            entry = None
        elif entry:
            entry = (entry[0], entry[1], f"{entry[2]} {line}".strip())
    if entry:
        yield entry


def check_overview(root, findings):
    left = dict(SAYS)
    for number, said, text in entries(section(tree.lines(root / OVERVIEW), "LIMITS")):
        place, entry = f"{OVERVIEW}:{number}", text.rstrip(".;")
        if entry not in left:
            findings.append((place, f"'{entry}' is no entry that test/lint/limits.py knows"))
            continue
        for expression, name in left.pop(entry):
            keeps = value(expression, macros(root, *HEADERS, name))
            if str(keeps) != said:
                findings.append((place, f"{said} {entry}: {expression} of {name} is {keeps}"))
    findings += [(f"{OVERVIEW}:1", f"LIMITS has no entry '{entry}'") for entry in left]


def check_query(root, findings):
    source = root / VALUES
    gives = dict(ATTRIBUTE.findall(source.read_text(encoding="utf-8"))) if source.is_file() else {}
    defined = macros(root, *HEADERS, VALUES)
    for number, said, text in entries(section(tree.lines(root / QUERY), "VALUES")):
        amount = NUMBER.match(text)
        if not amount:
            continue
        says = int(amount.group(1)) ** int(amount.group(2) or 1)
        for attribute in re.findall(r"\b[a-z_]{3,}\b", said):
            each = re.match(r"\d+ for each of the (\d+)", text)
            keeps = value(gives.get(attribute, "nothing"), defined)
            if keeps != says * int(each.group(1) if each else 1):
                findings.append((f"{QUERY}:{number}", f"{attribute} is {keeps}, and not {text}"))


def check(root):
    findings = []
    check_overview(root, findings)
    if (root / QUERY).is_file():
        check_query(root, findings)
    return findings


def small(limits="", values="", attributes="", **change):
    """A tree with all that SAYS knows, where each number is its place in SAYS; change names other ones."""
    there, page = {}, ".Sh LIMITS\n.Bl -tag\n"
    for number, (entry, keeps) in enumerate(SAYS.items(), 1):
        page += f".It {number}\n{entry};\n"
        for expression, name in keeps:
            macro, _, less = expression.partition(" - ")
            amount = change.get(macro, number + int(less or 0))
            there[name] = there.get(name, "") + f"#define {macro} {amount} /**< one */\n"
    there[VALUES] += attributes
    return {**there, OVERVIEW: page + limits + ".El\n.Sh FILES\n.It 99\nfiles\n", QUERY: f".Sh VALUES\n{values}"}


CASES = [
    ("all as it is", small(), None),
    ("a number that was changed in the code", small(DAPL_MAX_IOV=33), "4 segments of a post: DAPL_MAX_IOV of lib/dapl/ia_limits.h is 33"),
    ("one of two", small(DAPL_MAX_EVD_LEN="(1 << 3)"), "DAPL_MAX_EVD_LEN of lib/dapl/ia_limits.h is 8"),
    ("less one", small(ROCE_KEY_PLACES="2u"), "ROCE_KEY_PLACES - 1 of pmd_roce/queue/keys.h is 1"),
    ("a macro that is gone", small(ROCE_SRQ_TAG_MAX="else"), "ROCE_SRQ_TAG_MAX of pmd_roce/queue/srq_reap_counter.h is None"),
    ("a new entry", small(limits=".It 5\nfriends.\n"), "'friends' is no entry"),
    ("an entry that is gone", {OVERVIEW: ".Sh LIMITS\n"}, "LIMITS has no entry 'segments of a post'"),
    ("attributes", small(values=".It Va max_eps , max_lmrs\n7, or so\n.It Va max_srqs\nas many as there are\n",
                         attributes="\t\t.max_eps = 7,\n\t\t.max_lmrs = LMR_MAX,\n"), None),
    ("a product, and a power", small(values=".It Va max_eps\n2 for each of the 3\n.It Va max_lmrs\n2^4 bytes\n",
                                     attributes="\t\t.max_eps = 2 * 3,\n\t\t.max_lmrs = LEN,\n#define LEN BY_ABI((UINT64_C(1) << 4), 9)\n"), None),
    ("an attribute of another number", small(values=".It Va max_eps\n8\n", attributes="\t\t.max_eps = 7,\n"),
     "docs/man/dat_ia_query.3:2: max_eps is 7, and not 8"),
    ("an attribute that is gone", small(values=".It Va max_eps\n8\n"), "max_eps is None, and not 8"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
