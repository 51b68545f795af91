/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CONF_PLAY_H
#define ROCE_TEST_CONF_PLAY_H

/**
 * @file
 * Plays one rule. The statements:
 *
 *   with OPTION N ...          before anything else: options of the stage (stage.h), by their names
 *   > OPCODE PSN[..PSN] ...    the peer sends a frame, or one with each PSN
 *   < OPCODE PSN[..PSN] ...    what the engine sends: everything, in order; "< nothing" in so many words
 *   post N[..N] VERB ...       requests with these numbers: SEND WRITE READ CAS FADD, with _IMM or _INV
 *   receive N [len E]          another receive
 *   wait US                    the clock moves
 *   event recv N STATUS ...    the next completion, of a receive or
 *   event send N[..N] STATUS   of requests
 *   broken STATUS              the queue pair broke, for this reason
 *   count COUNTER N            what a counter has reached
 *   memory E PSN LEN           there lies now the payload of the frame with this PSN
 *   memory E same LEN          there lies what was there at first
 *   word E N                   there lies this number
 *   window bound|gone          the window of key "window"
 *   gone own|all               a region ends: that of receives and requests, or that of the ordinary key
 *
 * Of a frame: len E, ack, se, ce (congestion experienced), va E, abs E (no place in the memory but a number), dma E, key NAME, msn N, credits N, timer N, add N, swap N, cmp N, orig N, and
 * from E: the payload is what lies there. Of a request: len E, at E (its own memory), va E, add N, swap N, cmp N, key
 * NAME (to invalidate), fence, se, silent. Of a completion: len E, imm, se, write, inv NAME. Answers are called
 * ACK, NAK_SEQ, NAK_INV, NAK_ACCESS, NAK_OP, NAK_<number> and RNR.
 *
 * In the end everything that was sent, completed or broken must have been told.
 */

#include "rules.h"

/** Play a rule; a difference fails the running test with the rule, its sentence and the line. */
void play_rule(const struct rule *rule);

/** How often the rules played so far had the peer send this opcode, or the engine. */
unsigned int play_heard(uint8_t opcode);
unsigned int play_said(uint8_t opcode);

#endif
