#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Layers: a folder includes what lies below it, nothing above, and the pure folders no clock, thread or device.

The picture is in docs/architecture.md. Only direct includes are judged here; what an include drags in
shows as an undefined symbol of the static library (symbols.py).
"""
import re
import sys

import tree

# libc that neither reads a clock, nor starts a thread, nor prints.
PURE_LIBC = {"assert.h", "endian.h", "errno.h", "immintrin.h", "inttypes.h", "limits.h", "stdalign.h",
             "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h", "sys/queue.h",
             "x86intrin.h"}

# DPDK that is data structures and arithmetic.
PURE_DPDK = {"rte_atomic.h", "rte_bitmap.h", "rte_bitops.h", "rte_branch_prediction.h", "rte_byteorder.h",
             "rte_common.h", "rte_compat.h", "rte_cpuflags.h", "rte_debug.h", "rte_errno.h", "rte_ether.h",
             "rte_hash.h", "rte_hash_crc.h", "rte_ip.h", "rte_jhash.h", "rte_mbuf.h", "rte_mbuf_core.h",
             "rte_memcpy.h", "rte_mempool.h", "rte_pause.h", "rte_prefetch.h", "rte_ring.h",
             "rte_ring_elem.h", "rte_spinlock.h", "rte_udp.h", "rte_vect.h"}

# Numbers of rdma-core; nothing of it is linked.
RDMA_NUMBERS = {"infiniband/opcode.h", "infiniband/verbs.h"}

ISAL = {"isa-l.h", "isa-l/crc.h", "crc.h"}

ANY_LIBC = re.compile(r"^(?!rte_|dat/|roce/|infiniband/|isa-l|json|cmocka|pcap)[a-z0-9_/]+\.h$")
ANY_DPDK = re.compile(r"^rte_[a-z0-9_]+\.h$")

PURE = [PURE_LIBC, PURE_DPDK, RDMA_NUMBERS]

# folder: what it may include besides files of its own folder. Ours are written as folder/file.h or folder/*.
RULES = {
    "include/dat": {"ours": ["dat/*"], "theirs": [ANY_LIBC]},
    "include/roce": {"ours": ["roce/*"], "theirs": [PURE_LIBC, ANY_DPDK]},
    # For programs of DAT: what the provider adds to it.
    "include/roce/dat_ep.h": {"ours": ["dat/*"], "theirs": [PURE_LIBC]},
    "pmd_roce/wire": {"ours": [], "theirs": [*PURE, ISAL]},
    "pmd_roce/queue": {"ours": ["wire/*", "roce/verbs.h"], "theirs": PURE},
    "pmd_roce/requester": {"ours": ["wire/*", "queue/*"], "theirs": PURE},
    "pmd_roce/responder": {"ours": ["wire/*", "queue/*"], "theirs": PURE},
    "pmd_roce/engine": {"ours": ["wire/*", "queue/*", "requester/*", "responder/*", "roce/verbs.h"], "theirs": PURE},
    "pmd_roce/cm": {"ours": ["wire/*", "engine/engine.h", "queue/timer.h"], "theirs": PURE},
    # From the lowest: what logs and shows, neighbours, what knows drivers, who opens and polls.
    "pmd_roce/observe": {"ours": ["wire/*", "engine/engine.h", "engine/snapshot.h", "queue/stats.h",
                                  "queue/stats.def", "cm/cm.h", "cm/cm_stats.h", "cm/cm_stats.def"],
                         "theirs": [ANY_LIBC, ANY_DPDK]},
    # Between processes: what roced itself uses (proto, run_dir) is libc alone.
    "pmd_roce/local": {"ours": ["wire/*", "observe/*"], "theirs": [ANY_LIBC, ANY_DPDK]},
    "pmd_roce/neighbour": {"ours": ["wire/*", "engine/engine.h", "observe/log.h"],
                           "theirs": [ANY_LIBC, PURE_DPDK, {"rte_arp.h"}]},
    "pmd_roce/ethdev": {"ours": ["wire/*", "engine/engine.h", "local/*", "neighbour/*", "observe/*", "roce/*"],
                        "theirs": [ANY_LIBC, ANY_DPDK, RDMA_NUMBERS]},
    "pmd_roce/device": {"ours": ["wire/*", "engine/engine.h", "queue/stats.h", "queue/stats.def", "cm/cm.h", "ethdev/*",
                                 "local/*", "neighbour/*", "observe/*", "roce/*"],
                        "theirs": [ANY_LIBC, ANY_DPDK, RDMA_NUMBERS]},
    "lib/dapl": {"ours": ["queue/bias.h", "engine/verbs.h", "engine/engine.h", "cm/cm.h", "ethdev/fork.h", "ethdev/signals.h",
                          "device/user.h", "roce/device.h"],
                 "theirs": [ANY_LIBC, PURE_DPDK, RDMA_NUMBERS]},
    # Verbs, contexts and ids for programs: as dapl, with the public headers that it implements.
    "lib/roce": {"ours": ["engine/verbs.h", "engine/engine.h", "cm/cm.h", "device/user.h", "roce/*"],
                 "theirs": [ANY_LIBC, PURE_DPDK]},
    "lib/front": {"ours": ["dapl/*", "dat/*", "dat2/*", "roce/dat_ep.h"], "theirs": [ANY_LIBC]},
    # Verbs for unmodified programs: by the public headers of libroce alone.
    "lib/verbs": {"ours": ["roce/*"], "theirs": [ANY_LIBC, {"infiniband/verbs.h", "rdma/rdma_cma.h", "rdma/rdma_verbs.h"}]},
    "lib/libdat": {"ours": ["dat/*"], "theirs": [ANY_LIBC]},
    # The example of a program that has an EAL of its own.
    "apps/embed": {"ours": ["roce/*"], "theirs": [ANY_LIBC, ANY_DPDK]},
    # The daemon speaks with the library, and no program of users does.
    "apps/roced": {"ours": ["local/proto.h", "local/steady_wait.h", "local/uplink_counters.def", "local/run_dir.h", "local/ring.h", "local/bell.h",
                            "local/cm_frame.h", "observe/errmsg.h"],
                   "theirs": [ANY_LIBC]},
    # The process of its uplink is another program, of the library's layers.
    "apps/roced/uplink": {"ours": ["local/*", "neighbour/*", "ethdev/*", "observe/*", "wire/*", "engine/engine.h", "cm/cm.h"],
                          "theirs": [ANY_LIBC, ANY_DPDK]},
    # It asks roced for its status.
    "apps/info": {"ours": ["dat/*", "roce/*", "local/proto.h", "local/uplink_counters.def", "local/run_dir.h",
                           "observe/errmsg.h"],
                  "theirs": [ANY_LIBC, {"json-c/json.h", "json.h", "roced/counters.def"}]},
    # It judges frames by counters that the public headers do not have.
    "apps/replay": {"ours": ["wire/*", "queue/stats.h", "queue/stats.def", "engine/verbs.h", "cm/cm.h", "cm/cm_stats.h",
                             "cm/cm_stats.def", "device/*"],
                    "theirs": [ANY_LIBC, ANY_DPDK]},
    "apps": {"ours": ["dat/*", "roce/*"], "theirs": [ANY_LIBC, {"json-c/json.h", "json.h"}]},
}

OURS = {"dat", "dat2", "roce", "wire", "queue", "requester", "responder", "engine", "cm", "device", "ethdev",
        "local", "neighbour", "observe", "dapl", "front", "libdat", "verbs"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def rule_of(name):
    """(folder, rule) of a file: its own, or that of the longest folder that holds it."""
    folders = [f for f in RULES if name == f or name.startswith(f + "/")]
    folder = max(folders, key=len, default=None)
    return folder, RULES.get(folder)


def allowed_ours(target, patterns):
    return any(target == p or (p.endswith("/*") and target.startswith(p[:-1])) for p in patterns)


def allowed_theirs(target, rules):
    return any(target in r if isinstance(r, set) else r.match(target) for r in rules)


def own(path, folder, target, root):
    """True for a file of the includer's own folder, named with or without the folder's name."""
    base = root / folder
    last = folder.rsplit("/", 1)[-1]
    inside = target[len(last) + 1:] if target.startswith(last + "/") else target
    near = (path.parent / target).resolve()
    return (near.is_file() and base.resolve() in near.parents) or (base / inside).is_file()


def judge(path, name, root, target, quoted):
    """The rule that an include breaks, or None."""
    folder, rule = rule_of(name)
    if ".." in target:
        return f'"{target}": no include climbs with ..'
    if quoted and own(path, folder, target, root):
        return None
    if target.split("/", 1)[0] in OURS and "/" in target:
        if target.split("/", 1)[0] == folder.rsplit("/", 1)[-1] or allowed_ours(target, rule["ours"]):
            return None
        return f"{folder} may not include {target}"
    if allowed_theirs(target, rule["theirs"]):
        return None
    return f"{folder} may not include <{target}>"


def check(root):
    findings = []
    for path in tree.files(root, ".c", ".h", ".def"):
        name = tree.relative(path, root)
        if rule_of(name)[0] is None:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            broken = judge(path, name, root, match.group(2), match.group(1) == '"')
            if broken:
                findings.append((f"{name}:{number}", broken))
    return findings


CASES = [
    ("a clean file", {"pmd_roce/engine/a.c": '#include <string.h>\n#include <rte_mbuf.h>\n#include "wire/bth.h"\n'
                                             '#include "engine/a.h"\n', "pmd_roce/engine/a.h": ""}, None),
    ("the engine reads a clock", {"pmd_roce/engine/a.c": "#include <time.h>\n"}, "a.c:1: pmd_roce/engine may not"),
    ("the engine asks the TSC", {"pmd_roce/engine/a.c": "#include <rte_cycles.h>\n"}, "<rte_cycles.h>"),
    ("the CM locks a mutex", {"pmd_roce/cm/a.c": "\n#include <pthread.h>\n"}, "a.c:2: pmd_roce/cm may not"),
    ("the wire prints", {"pmd_roce/wire/a.c": "#include <stdio.h>\n"}, "<stdio.h>"),
    ("the wire knows the engine", {"pmd_roce/wire/a.c": '#include "queue/qp.h"\n'}, "queue/qp.h"),
    ("a queue knows the requester", {"pmd_roce/queue/a.c": '#include "requester/req.h"\n'}, "requester/req.h"),
    ("the requester knows the responder", {"pmd_roce/requester/a.c": '#include "responder/resp.h"\n'}, "responder/resp.h"),
    ("the responder knows the engine", {"pmd_roce/responder/a.c": '#include "engine/engine.h"\n'}, "engine/engine.h"),
    ("the engine knows the CM", {"pmd_roce/engine/a.c": '#include "cm/cm.h"\n'}, "cm/cm.h"),
    ("the engine knows ethdev", {"pmd_roce/engine/a.c": "#include <rte_ethdev.h>\n"}, "<rte_ethdev.h>"),
    ("the device knows a queue pair", {"pmd_roce/device/a.c": '#include "queue/qp.h"\n'}, "queue/qp.h"),
    ("ethdev knows the device", {"pmd_roce/ethdev/a.c": '#include "device/user.h"\n'}, "device/user.h"),
    ("ethdev knows the CM", {"pmd_roce/ethdev/a.c": '#include "cm/cm.h"\n'}, "cm/cm.h"),
    ("neighbours know ethdev", {"pmd_roce/neighbour/a.c": '#include "ethdev/port.h"\n'}, "ethdev/port.h"),
    ("neighbours ask a driver", {"pmd_roce/neighbour/a.c": "#include <rte_ethdev.h>\n"}, "<rte_ethdev.h>"),
    ("telemetry knows the device", {"pmd_roce/observe/a.c": '#include "device/device.h"\n'}, "device/device.h"),
    ("the device and all below", {"pmd_roce/device/a.c": '#include "ethdev/port.h"\n#include "observe/log.h"\n'
                                                         '#include "neighbour/neigh.h"\n#include "cm/cm.h"\n'}, None),
    ("dapl knows DAT", {"lib/dapl/a.c": "#include <dat/udat.h>\n"}, "dat/udat.h"),
    ("dapl looks into the engine", {"lib/dapl/a.c": '#include "queue/srq.h"\n'}, "queue/srq.h"),
    ("dapl and its five headers", {"lib/dapl/a.c": '#include <pthread.h>\n#include "engine/verbs.h"\n'
                                                   '#include "engine/engine.h"\n#include "cm/cm.h"\n'
                                                   '#include "device/user.h"\n#include <roce/device.h>\n'
                                                   '#include "obj.h"\n', "lib/dapl/obj.h": ""}, None),
    ("the verbs look into the engine", {"lib/roce/a.c": '#include "queue/qp.h"\n'}, "queue/qp.h"),
    ("the verbs and their headers", {"lib/roce/a.c": '#include <sys/eventfd.h>\n#include "engine/verbs.h"\n'
                                                     '#include "device/user.h"\n#include "roce/cm.h"\n#include "a.h"\n',
                                     "lib/roce/a.h": ""}, None),
    ("the front skips dapl", {"lib/front/a.c": '#include "engine/verbs.h"\n'}, "engine/verbs.h"),
    ("a program looks inside", {"apps/perf/a.c": '#include "dapl/obj.h"\n'}, "dapl/obj.h"),
    ("a program and the public headers", {"apps/perf/a.c": '#include <dat/udat.h>\n#include <roce/roce.h>\n'
                                                           '#include "report.h"\n#include <json-c/json.h>\n',
                                          "apps/perf/report.h": ""}, None),
    ("climbing", {"apps/perf/a.c": '#include "../../lib/dapl/obj.h"\n'}, "climbs"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
