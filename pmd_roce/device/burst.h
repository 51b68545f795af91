/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_DEVICE_BURST_H
#define ROCE_DEVICE_BURST_H

/**
 * @file
 * One poll of a queue: a burst in, the engine and the neighbours at work, a burst out.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "ethdev/port.h"

/**
 * Poll one queue: receive a burst, let the engine and the neighbours work, send a burst. The caller holds the
 * lock of the engine. Frames the device refuses are kept and go first next time; until then the engine is asked
 * for no more. A device that is gone is left alone: time passes, and what the engine says is lost.
 *
 * @return frames moved.
 */
unsigned int roce_port_poll_locked(struct roce_port_queue *queue, uint64_t now);

/**
 * Send what is on the ready list of the engine, without a poll. It is left to the next poll when the device refused frames
 * before, when frames are changed or looped back on their way, and when the port has events. Locked.
 */
void roce_port_transmit(struct roce_port_queue *queue);

/** Only receive, burst after burst, until the queue is empty; bounded. Locked. */
void roce_port_receive(struct roce_port_queue *queue, uint64_t now);

/**
 * Fetch frames to send: of the neighbours, then of the engine, and do to them what was asked for on purpose. Locked.
 * @return how many, at most @p max, which is at least 3; ownership passes.
 */
uint16_t
roce_port_fetch(struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t max, uint64_t now);

/** No frame can be sent now: time passes all the same. Locked. */
void roce_port_run_timers(struct roce_port_queue *queue, uint64_t now);

/** Look for words among neighbours in frames that the engine left, and count them all. Locked. */
void roce_port_inspect_foreign(
		struct roce_port_queue *queue, struct rte_mbuf **pkts, uint16_t n, uint64_t now);

/** Next time at which a poll is useful without new frames; 0: now; ROCE_NEVER. Locked. */
uint64_t roce_port_deadline(const struct roce_port_queue *queue);

#endif
