#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Words: a term that was replaced by the field's does not come back, in code, tests, documents or file names.

Only words without an ordinary English use are here; docs/glossary.md has the terms that took their places.
"""
import re
import sys

import tree

# (regular expression of whole words, what to write). A file's own path is judged like a line, number 0.
RETIRED = [
    (r"farewells?|say_farewell|FAREWELL_US", "disconnect drain, or DREQ"),
    (r"dapl_progress_(?:ring|use|drop|forget_parent)|dapl/progress\.c", "dapl_progress_thread_*, progress_thread.c"),
    (r"[Ww]atched completion queues?|roce_cq_settle|add_watcher|drop_watcher|was_watched", "armed completion queue"),
    (r"ROCE_NOTICE_\w+|roce_notice_kind|roce_(?:qp|trace)_notice|fx_notice", "ROCE_ENGINE_ASYNC_*, async event"),
    (r"roce_notes?(?:_list|_init|_take)?|engine/notes\.c|roce_context_tell", "roce_pending_async, roce_async_queue"),
    (r"roce_cm_told(?:_list)?|roce_cm_id_(?:un)?tell|told_count", "roce_cm_pending_event"),
    (r"dapl_evd_told|orphaned_told|untold_link|notes_lock", "dapl_evd_notify, undelivered, notify_lock"),
    (r"roce_memory_note_\w+|(?:far|unfit)_told", "roce_memory_log_*, logged"),
    (r"hand_over(?=\()|hand_over__\w+|test_hand_over\.c", "forward_to_owner(), forward__*"),
    (r"port/handover\.c|test_handover\.c", "inject.c"),
    (r"(?:info|roce)_why\w*|why_len|why_text|port/why\.h", "errmsg, errmsg_len"),
    (r"roce_life(?:_\w+)?|port/life\.[ch]", "roce_port_events, port_events.c"),
    (r"roce_blocks?(?:_\w+)?|ROCE_BLOCK_\w+|port/blocks\.[ch]", "size_class_cache.c"),
    (r"roce_port_use_barrier|port/barrier\.[ch]", "membarrier.c"),
    (r"port/(?:embed|lend|roce|share)\.c", "attach.c, attached_port.c, device.c, port_addrs.c"),
    (r"roce_bias_(?:take|give|leans)|[Ll]ocks? that lean|ROCE_BIAS_(?:MARKS|PATIENCE\w*)", "roce_bias_try_acquire()"),
    (r"rx_early|roce_icrc_ok_early|engine/early\.[ch]", "direct placement, placement.c"),
    (r"[Oo]wing list", "delayed-ACK list"),
    (r"turners?|wait_for_turners|(?:dapl_ia|roce_port)_(?:must_)?turn(?:_\w+)?|TURN_OTHERS|dequeue_after_turn", "poll"),
    (r"turn_(?:others|gsi|or_nap|locked|handover)", "poll_others, poll_gsi"),
    (r"path_found|way_back", "path resolved, route"),
    (r"FRONT(?=\()", "the function's written-out name"),
    (r"[Ss]hort ways?|[Ll]ong ways?|roce_single\w*|engine/single\.c|test_single\.c", "fast or slow path"),
    (r"roce_fault(?:_(?:burst|fini|init|room|throw))?|port/fault\.[ch]|test_fault\.c", "fault_injection.c"),
    (r"roce_attach(?:_open|_close|_is_found)?|port/attach\.h", "port_probe.h"),
    (r"roce_keys_ended|judge_anew", "roce_key_epoch(), revalidate()"),
    (r"roce_(?:qp|srq|cm)_census\w*|engine/census\.[ch]", "roce_qp_snapshot, snapshot.h"),
    (r"release_owing|ROCE_LISTED_OWING|test_owing\.c", "delayed_acks, test_delayed_ack.c"),
    (r"roce_req_(?:un)?stick", "prot_error"),
    (r"roce_cq_(?:un)?watch", "roce_cq_add_waiter(), roce_cq_remove_waiter()"),
    (r"roce_qp_fetch|roce_engine_fetch", "roce_qp_prefetch(), roce_engine_refill()"),
    (r"roce_srq_give_back", "roce_srq_reap_silent()"),
    (r"roce_memif_keep|port/memif_fd\.c", "roce_memif_close_in_children(), memif_fork.c"),
    (r"roce_loans?(?:_\w+)?|ROCE_LOAN\w*|ROCE_LEND|(?:engine|port|test)_?/?loan\w*\.[ch]|[Ll]oans?|[Ll]enders?|[Ll]ending",
     "zero-copy receive, zcrx"),
    (r"pmd_roce/port|roce_port_(?:do_apart|events_act)",
     "pmd_roce/device, ethdev, neighbour or observe"),
    (r"roce_port_lend|roce_device_lend|roce_attach_lend|roce_memory_plan_lent", "the names in attached_port.c"),
]

# Public names that stay as aliases: (path, word) of one finding each.
ALLOWED = set()

RULES = [(re.compile(rf"(?<![A-Za-z0-9_])(?:{words})(?![A-Za-z0-9_])"), right) for words, right in RETIRED]
ANY = re.compile("|".join(words for words, _ in RETIRED))


def judge(name, number, text):
    for words, right in RULES if ANY.search(text) else ():
        for match in words.finditer(text):
            if (name, match.group()) not in ALLOWED:
                yield f"{name}:{number}", f"retired word {match.group()}: write {right}"


def check(root):
    findings = []
    for path in tree.files(root):
        name = tree.relative(path, root)
        if name == "test/lint/words.py":
            continue
        findings += judge(name, 0, name)
        for number, line in enumerate(tree.lines(path), 1):
            findings += judge(name, number, line)
    return findings


CASES = [
    ("the field's words", {"lib/a.c": "drain_disconnects(ia);\nforward_to_owner(e, m);\n"}, None),
    ("part of another word", {"lib/a.c": "roce_lifetime_x, my_roce_notes;\n", "docs/a.md": "untold notes\n"}, None),
    ("this file", {"test/lint/words.py": "farewell\n"}, None),
    ("an identifier", {"lib/a.c": "int a;\nsay_farewell(ia);\n"}, "lib/a.c:2: retired word say_farewell: write"),
    ("one of a family", {"lib/a.c": "case ROCE_NOTICE_QP_BROKEN:\n"}, "lib/a.c:1: retired word ROCE_NOTICE_QP_BROKEN"),
    ("a phrase", {"docs/a.md": "a watched completion queue\n"}, "docs/a.md:1: retired word watched completion queue"),
    ("a call", {"test/a.def": "- hand_over(e, m);\n"}, "test/a.def:1: retired word hand_over:"),
    ("a manual page", {"docs/man/a.7": "Its farewell.\n"}, "docs/man/a.7:1: retired word farewell"),
    ("a file name", {"pmd_roce/port/life.c": "int a;\n"}, "pmd_roce/port/life.c:0: retired word port/life.c"),
    ("a file that is named", {"docs/a.md": "`pmd_roce/engine/notes.c`\n"}, "docs/a.md:1: retired word engine/notes.c"),
]

if __name__ == "__main__":
    sys.exit(tree.main(check, CASES))
