#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of a static library: what it may leave undefined, and how what it defines is called.

  symbols.py --layer NAME ARCHIVE [LOWER...]   the allow list of a pure layer
  symbols.py --order LOWEST... HIGHEST         no archive needs a symbol that only a later one defines
  symbols.py --prefix REGEX ARCHIVE...         every extern symbol matches

LOWER are the archives of the layers below: what they define may be used. An include scan cannot see what a
header's inline functions call; the symbol table can.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tree

# Pure libc, and what a compiler calls on its own.
LIBC = (r"mem(cpy|set|move|cmp|chr)", r"str(n?len|n?cmp|chr)", r"__assert_fail", r"__stack_chk_fail",
        r"__mem(cpy|set|move)_chk", r"__tls_get_addr", r"_GLOBAL_OFFSET_TABLE_", r"__(asan|ubsan|tsan|sanitizer)_.*")

# Symbols of DPDK's inline functions and data structures: no device, clock, thread or log.
# __rte_panic is RTE_ASSERT in a debug build.
DPDK = (r"rte_mempool_ops_table", r"per_lcore__(lcore_id|rte_errno)", r"rte_mempool_contig_blocks_check_cookies",
        r"rte_mempool_check_cookies", r"__rte_pktmbuf_(read|linearize)", r"rte_pktmbuf_free_bulk",
        r"rte_mbuf_sanity_check", r"rte_ring_(init|get_memsize|get_memsize_elem|reset)", r"__rte_panic")

HASH = (r"rte_hash_.*", r"rte_jhash.*")
ISAL = (r"crc32_gzip_refl",)
# __cpu_*: of the compiler, for __builtin_cpu_supports().
CPU = (r"rte_cpu_get_flag_enabled", r"rte_vect_get_max_simd_bitwidth", r"__cpu_(model|features2|indicator_init)")

LAYERS = {
    "wire": LIBC + DPDK + ISAL + CPU,
    "queue": LIBC + DPDK,
    "requester": LIBC + DPDK,
    "responder": LIBC + DPDK,
    "engine": LIBC + DPDK,
    "cm": LIBC + DPDK + HASH,
}


def nm(archive, *options):
    """(object, symbol) pairs."""
    text = subprocess.run(["nm", "-A", "-P", *options, str(archive)], capture_output=True, text=True,
                          check=True).stdout
    pairs = []
    for line in text.splitlines():
        place, rest = line.split(": ", 1)
        member = re.search(r"\[([^]]+)\]$", place)
        name, kind = rest.split()[:2]
        # Weak undefined symbols are the tool chain's hooks, not calls.
        if kind not in "wv":
            pairs.append((f"{Path(archive).name}({member.group(1) if member else '?'})", name))
    return pairs


def undefined(layer, archive, lower):
    """Findings: symbols that a pure layer must not need."""
    known = {name for a in (archive, *lower) for _, name in nm(a, "-g", "--defined-only")}
    allowed = re.compile("|".join(f"(?:{p})" for p in LAYERS[layer]))
    return [(place, f"{layer} is pure and may not need {name}")
            for place, name in nm(archive, "-u") if name not in known and not allowed.fullmatch(name)]


def upward(archives):
    """Findings: symbols that an archive needs and that only one behind it in the list defines."""
    defined = {}
    for at, archive in enumerate(archives):
        for _, name in nm(archive, "-g", "--defined-only"):
            defined.setdefault(name, at)
    return [(place, f"{name} is defined above, in {Path(archives[defined[name]]).name}")
            for at, archive in enumerate(archives) for place, name in nm(archive, "-u") if defined.get(name, at) > at]


def prefixes(pattern, archives):
    """Findings: extern symbols without the prefix."""
    allowed = re.compile(pattern)
    hidden = re.compile(r"__(asan|ubsan|odr_asan|tsan).*|__x86\.get_pc_thunk.*")
    return [(place, f"extern symbol {name} does not match {pattern}")
            for archive in archives for place, name in nm(archive, "-g", "--defined-only")
            if not allowed.match(name) and not hidden.match(name)]


def build(folder, name, text):
    """A static library of one object, for the self-test."""
    source, obj, archive = (Path(folder, name + end) for end in (".c", ".o", ".a"))
    source.write_text(text, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-fno-builtin", "-c", str(source), "-o", str(obj)], check=True)
    subprocess.run(["ar", "rcs", str(archive), str(obj)], check=True)
    return archive


def calls(symbols):
    """C source of one function that needs each of the symbols."""
    return ("".join(f"int {s}(void);\n" for s in symbols) +
            "int roce_thing_do(void) { return " + " + ".join(f"{s}()" for s in symbols) + "; }\n")


def self_test():
    never = {"rte_eth_dev_stop", "rte_get_tsc_hz", "rte_log", "printf", "malloc", "free", "pthread_create",
             "pthread_mutex_lock", "clock_gettime", "write", "rte_malloc", "roce_above"}
    always = {"memcpy", "roce_below", "__rte_pktmbuf_read"}
    some = {"crc32_gzip_refl": "wire", "rte_hash_lookup_data": "cm"}
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        lower = build(folder, "lower", "int roce_below(void) { return 1; }\n")
        upper = build(folder, "upper", calls(never | always | set(some)))
        for layer in LAYERS:
            found = {rule.rsplit(" ", 1)[1] for _, rule in undefined(layer, upper, [lower])}
            cases.append((layer, found, never | {s for s, owner in some.items() if owner != layer}))
        plain = build(folder, "plain", "static int quiet(void) { return 1; }\n"
                                       "int helper(void) { return quiet(); }\nint roce_ok(void) { return 2; }\n")
        low = build(folder, "low", "int roce_both(void);\nint roce_low(void) { return roce_both(); }\n")
        mid = build(folder, "mid", "int roce_low(void);\nint roce_high(void);\nint roce_nobody(void);\n"
                                   "int roce_both(void) { return roce_low(); }\n"
                                   "int roce_mid(void) { return roce_both() + roce_high() + roce_nobody(); }\n")
        high = build(folder, "high", "int roce_mid(void);\nint roce_high(void) { return roce_mid(); }\n")
        cases.append(("order", {rule.split(" ")[0] for _, rule in upward([low, mid, high])}, {"roce_both", "roce_high"}))
        cases.append(("order turned round", {rule.split(" ")[0] for _, rule in upward([high, mid, low])},
                      {"roce_low", "roce_mid"}))
        cases.append(("prefix", {rule.split(" ")[2] for _, rule in prefixes("roce_", [plain])}, {"helper"}))
    wrong = [case for case in cases if case[1] != case[2]]
    for what, found, wanted in wrong:
        print(f"self-test: {what}: missed {sorted(wanted - found)}, too many {sorted(found - wanted)}")
    print(f"{len(cases)} self-test cases, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--layer", choices=LAYERS)
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--prefix")
    parser.add_argument("archives", nargs="*")
    args = parser.parse_args()
    if args.self_test:
        self_test()
    if args.layer:
        tree.finish(undefined(args.layer, args.archives[0], args.archives[1:]))
    if args.order:
        tree.finish(upward(args.archives))
    tree.finish(prefixes(args.prefix, args.archives))


if __name__ == "__main__":
    main()
