/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_FLOOR_H
#define ROCE_BENCH_FLOOR_H

/**
 * @file
 * The least that a SEND into a shared receive queue costs: the floor that the provider is measured against.
 *
 * Two ends on one thread exchange valid RoCEv2 frames through the ports that the provider opens for loop0 and loop1. A
 * frame is built from a template and has an ICRC; the receiver checks the ICRC and the PSN, takes a receive, copies the
 * payload, and completes the message; acknowledgements complete the SENDs. The headers and the ICRC are those of wire/,
 * the provider's own. There is nothing else: no retransmission, no timers, no memory keys, no locks, no states, no
 * counters and no API. A lost or wrong frame ends the program.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "bench.h"
#include "ethdev/port.h"
#include "wire/frame.h"

/* Powers of two. */
#define FLOOR_QPS    64u
#define FLOOR_DEPTH  64u   /**< SENDs of a queue pair */
#define FLOOR_RECVS  1024u /**< receives of an end */
#define FLOOR_EVENTS (FLOOR_QPS * FLOOR_DEPTH)

struct floor_send {
	const uint8_t *from;
	uint32_t len; /**< bytes */
	uint32_t psn; /**< of the last frame, when that was sent */
	uint64_t id;
};

struct floor_recv {
	uint8_t *to;
	uint32_t room; /**< bytes */
	uint64_t id;
};

struct floor_event {
	uint64_t id;
	uint32_t len; /**< bytes */
	uint32_t qp;  /**< index */
};

/** A completion queue. Entries at head - 1 and before, down to tail, are there. */
struct floor_cq {
	uint32_t head, tail;
	struct floor_event event[FLOOR_EVENTS];
};

/** Indices of queue pairs, each at most once. */
struct floor_list {
	uint32_t head, tail;
	uint8_t qp[FLOOR_QPS];
};

struct floor_qp {
	struct roce_template request, ack;
	uint32_t psn;              /**< of the next frame */
	uint32_t expected;         /**< PSN */
	uint32_t messages;         /**< received: the MSN */
	uint32_t silent;           /**< frames since the last that asks for an acknowledgement */
	uint32_t head, next, tail; /**< SENDs: posted, to be sent, not acknowledged */
	uint32_t offset;           /**< bytes sent of the one at next */
	uint32_t received;         /**< bytes of the message that arrives */
	struct floor_recv recv;    /**< of that message */
	bool ready;                /**< on the list of those with something to send */
	bool owes;                 /**< on the list of those with something to acknowledge */
	struct floor_send send[FLOOR_DEPTH];
};

struct floor_end {
	struct roce_port *port;
	uint32_t mtu;       /**< payload of a frame, bytes */
	uint32_t ack_every; /**< frames, or fewer */
	struct floor_list ready, owing;
	uint32_t recv_head, recv_tail;
	struct floor_recv recv[FLOOR_RECVS];
	struct rte_mbuf *frame[BENCH_BURST]; /**< allocated, the first @ref frames of them */
	uint32_t frames;
	struct floor_cq sent, received;
	struct floor_qp qp[FLOOR_QPS];
};

/** Open the ports of loop0 and loop1, and connect each queue pair of an end with that of the same index of the other. */
void floor_open(struct floor_end end[2], uint32_t mtu);
void floor_close(struct floor_end end[2]);

/** Post a SEND; every sixteenth and the last of a window that is full complete. @return false: the window is full. */
bool
floor_post_send(struct floor_end *e, uint32_t qp, const uint8_t *from, uint32_t len, uint64_t id);

/** Post a receive to the queue that all queue pairs of the end share. */
void floor_post_recv(struct floor_end *e, uint8_t *to, uint32_t room, uint64_t id);

/** Receive a burst, and send one. */
void floor_poll(struct floor_end *e);

/** Take a completion. @return false: there is none. */
static inline bool
floor_take(struct floor_cq *cq, struct floor_event *event)
{
	if (cq->tail == cq->head)
		return false;
	*event = cq->event[cq->tail++ % FLOOR_EVENTS];
	return true;
}

#endif
