#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every page of section 3 has an example, and the compiler takes each; a type that one shows is that of the headers.

  man_examples.py [--self-test] ROOT C_COMPILER [FLAG...]

An example is part of a function of some program: what that program has is declared here.
"""
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LITERAL = re.compile(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", re.M | re.S)
PROGRAM = """
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dat/udat.h>
#include <dat/dat_registry.h>
#include <dat/dat_ib_extensions.h>
#include <roce/roce.h>
#include <roce/dat_ep.h>
enum { CLIENTS_MAX = 8, HELD_MAX = 8 };
struct buffer { DAT_LMR_TRIPLET segment; DAT_DTO_COOKIE cookie; };
extern DAT_IA_HANDLE ia;
extern DAT_PZ_HANDLE pz;
extern DAT_EP_HANDLE ep, spare;
extern DAT_SRQ_HANDLE srq;
extern DAT_EVD_HANDLE evd, recv_evd, request_evd, connect_evd, cr_evd, async_evd, soft_evd;
extern DAT_CNO_HANDLE cno;
extern DAT_CR_HANDLE cr;
extern DAT_PSP_HANDLE psp;
extern DAT_RSP_HANDLE rsp;
extern DAT_LMR_HANDLE lmr;
extern DAT_RMR_HANDLE rmr;
extern DAT_LMR_CONTEXT lmr_context;
extern DAT_RMR_CONTEXT rmr_context;
extern DAT_LMR_TRIPLET segment;
extern DAT_RMR_TRIPLET remote;
extern DAT_DTO_COOKIE cookie;
extern DAT_COUNT more, low, room;
extern DAT_EVENT event;
extern DAT_RETURN status, ret;
extern const DAT_PROVIDER_INFO *info;
extern struct buffer *buffer;
extern struct roce_device *device;
extern struct roce_context *context;
extern struct roce_pd *pd;
extern struct roce_mr *mr;
extern struct roce_mw *mw;
extern struct roce_cq *cq;
extern struct roce_srq *srq_of_verbs;
extern struct roce_qp *qp;
extern struct roce_cm_id *id;
extern struct rte_mempool *pool;
extern char memory[4096];
extern int rc, clients, extended, ended;
extern uint32_t key, piece;
extern void *client;
int use(void *), exchange(const void *, void *);
struct buffer *take_free(void);
void handle(DAT_EVENT *), finish(void *), forget(void *), give_up(void), other_work(void), work(const void *, uint64_t);
uint16_t rte_eth_rx_burst(uint16_t, uint16_t, struct rte_mbuf **, uint16_t);
void fail(const char *, ...);
void show(DAT_IA_ADDRESS_PTR, DAT_PORT_QUAL), show_counts(DAT_COUNT, DAT_COUNT), forward(struct rte_mbuf **, uint16_t);
"""


def examples(text):
    """The programs in a page's EXAMPLES; None: it has no such section."""
    found = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", text, re.M | re.S)
    if found is None:
        return None
    return [piece.replace("\\e", "\\").replace("\\&", "") for piece in LITERAL.findall(found.group(1))]


def structures(text):
    """The types that a page shows, without comments and spaces."""
    found = re.findall(r"^typedef (?:struct|union) \w+ \{(?:(?!^typedef).)*?^\} \w+;", text, re.M | re.S)
    return [re.sub(r"/\*.*?\*/|\s+", "", one, flags=re.S) for one in found]


def judge_structures(root):
    """What a page shows is what the headers have."""
    headers = {one for path in (root / "include/dat").glob("*.h") for one in structures(path.read_text(encoding="utf-8"))}
    return [f"{page.name}: another type than in the headers: {one[:60]}"
            for page in sorted((root / "docs/man").glob("*.3"))
            for one in structures(page.read_text(encoding="utf-8")) if one not in headers]


def judge(page, compiler):
    """What is wrong with a page, in words."""
    text = page.read_text(encoding="utf-8")
    if text.startswith(".so "):
        return []
    programs = examples(text)
    if not programs:
        return [f"{page.name}: there is no example"]
    wrong = []
    for number, program in enumerate(programs, 1):
        # It takes the compiler longer than all the rest.
        mbuf = "#include <rte_mbuf.h>\n" if "rte_pktmbuf" in program else ""
        source = mbuf + PROGRAM + f"void example(void);\nvoid example(void)\n{{\n{program}}}\n"
        done = subprocess.run([*compiler, "-x", "c", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                               "-Wno-unused", "-Wno-missing-field-initializers", "-"],
                              input=source, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
            wrong.append(f"{page.name}: example {number} does not compile: {first}")
    return wrong


def judge_all(root, compiler):
    pages = sorted((root / "docs" / "man").glob("*.3"))
    with ThreadPoolExecutor(2) as pool:
        return [line for lines in pool.map(lambda page: judge(page, compiler), pages) for line in lines], len(pages)


def self_test(compiler):
    """Pages with one fault each, and one without."""
    page = ".Sh NAME\n.Nm x\n.Sh EXAMPLES\nText:\n.Bd -literal -offset indent\n%s\n.Ed\n.Sh SEE ALSO\n"
    cases = {page % "status = dat_pz_free(pz);": 0, page % "status = dat_pz_free();": 1, page % "puts(\"a\\en\");": 0,
             ".Sh NAME\n.Nm x\n": 1, ".Sh EXAMPLES\nText.\n": 1, ".so man3/y.3\n": 0}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for text, want in cases.items():
            path = Path(folder, "x.3")
            path.write_text(text, encoding="utf-8")
            if len(judge(path, compiler)) != want:
                print(f"{want} finding(s) wanted, but {judge(path, compiler)}: {text}")
                wrong += 1
    print(f"{len(cases)} self-test cases, {wrong} wrong")
    return wrong


def main():
    args = sys.argv[1:]
    if args[0] == "--self-test":
        sys.exit(bool(self_test([*args[2:], f"-I{args[1]}/include"])))
    wrong, pages = judge_all(Path(args[0]), [*args[1:], f"-I{args[0]}/include"])
    wrong += judge_structures(Path(args[0]))
    for line in wrong:
        print(line)
    print(f"{pages} pages, {len(wrong)} finding(s)")
    sys.exit(bool(wrong) or not pages)


if __name__ == "__main__":
    main()
