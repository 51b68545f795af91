/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_TRAFFIC_H
#define PERF_TRAFFIC_H

/**
 * @file
 * The data path of all tests: posting sends, WRITEs or READs, reaping completions, giving receive
 * buffers back. "Send" below stands for what the test posts.
 *
 * This is what the benchmark measures beside the provider, so it does per message what any consumer
 * must do, and nothing else. A send asks for a completion only every plan->signal messages of its
 * endpoint, and with its last; a completion tells that all sends of the endpoint before it are
 * done too.
 */

#include "end.h"

/** Post every receive buffer of an end, once. @return 0; -1: refused; the error was printed. */
int perf_traffic_post_receives(struct perf_end *end);

/** Share @p messages among the endpoints of an end; PERF_ENDLESS: until perf_traffic_stop(). */
void perf_traffic_start(struct perf_end *end, uint64_t messages);

/**
 * End an endless run: post no more than what it takes for the last send of every endpoint to
 * complete. Sets end->goal.
 */
void perf_traffic_stop(struct perf_end *end);

/**
 * Post up to @p max sends, one endpoint after the other, as windows and quotas allow. An endpoint
 * gets several in a row, so that they may share packets' bursts and acknowledgements; then it is the
 * next one's turn, and nobody has two turns while another waits for one.
 * @return the number posted; -1: refused; the error was printed.
 */
int perf_traffic_send(struct perf_end *end, unsigned int max);

/** Post one send on @p ep, which must have room. @return 0; -1: refused; the error was printed. */
int perf_traffic_send_one(struct perf_end *end, struct perf_ep *ep);

/** @return true: all windowed sends of @p ep are outstanding. */
static inline bool
perf_traffic_full(const struct perf_end *end, const struct perf_ep *ep)
{
	return ep->posted - ep->completed >= end->plan->window;
}

/**
 * Take up to @p max completions from one EVD, stopping when it is empty. Receive buffers go back.
 * @return the number taken; -1: a transfer failed; the error was printed.
 */
int perf_traffic_reap(struct perf_end *end, DAT_EVD_HANDLE evd, unsigned int max);

/** Sleep until a completion is there, and take it. @return as perf_traffic_reap(). */
int perf_traffic_wait(struct perf_end *end, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us);

/**
 * Has the next WRITE of a write_lat test arrived? Tells by its last byte, which appears last. Then it
 * counts as received, and with --verify it is checked.
 * @return 1: yes; 0: not yet.
 */
int perf_traffic_look(struct perf_end *end);

/**
 * Every WRITE of a bandwidth test is acknowledged: with --verify check the memory that it went to.
 * Does nothing in other tests. Violations are in end->bad.
 * @param sent  messages that the peer wrote.
 */
void perf_traffic_judge_memory(struct perf_end *end, uint64_t sent);

/** @return true: of @p sent messages of the peer all are here, or their arrival is not ours to see. */
static inline bool
perf_traffic_arrived(const struct perf_end *end, uint64_t sent)
{
	return end->received >= sent || end->one_sided;
}

/**
 * All is over and the endpoints are disconnected: reap what is left, and check what arrived.
 * @param sent  messages that the peer sent.
 * @return 0; -1: a call failed; the error was printed. Violations are in end->bad.
 */
int perf_traffic_finish(struct perf_end *end, uint64_t sent);

#endif /* PERF_TRAFFIC_H */
