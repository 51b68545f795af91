/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WALK_MODEL_H
#define ROCE_WALK_MODEL_H

/**
 * @file
 * The promises of shared receive queues, as plain book-keeping: no ring, no
 * counter that wraps, no lock.
 *
 * A receive is in one place at a time: idle with the consumer, queued on a
 * shared receive queue, held by a queue pair, or done in a completion queue.
 * Counts are counts of places. The answer of a call, the next event of each
 * completion queue, and the async events of a step in their order all follow
 * from the places and the marks.
 *
 * Every object has a name that no other one ever has: it is the owner that
 * events and async events carry, so what belongs to a dead object is seen as such.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/verbs.h"

#define MODEL_SRQS         3u
#define MODEL_CQS          4u
#define MODEL_QPS          16u
#define MODEL_RECEIVES     1024u
#define MODEL_EVENTS       512u /**< deepest completion queue */
#define MODEL_ASYNC_EVENTS 160u /**< more than a step can cause: a whole inbox, each packet three */
#define MODEL_MTU          256u
#define MODEL_NONE         UINT16_MAX
#define MODEL_INFINITE     UINT32_MAX

enum model_place {
	MODEL_IDLE = 0,
	MODEL_QUEUED,
	MODEL_HELD,
	MODEL_DONE,
};

struct model_receive {
	uint32_t turn;   /**< times it was posted */
	uint32_t length; /**< bytes it holds */
	uint16_t srq;    /**< where it was posted; MODEL_NONE: idle, or that queue is dead */
	uint8_t place;   /**< enum model_place */
};

struct model_srq {
	uint64_t name; /**< 0: does not exist */
	uint32_t max;
	uint32_t max_sge;
	uint32_t low;
	uint32_t queued; /**< receives in each place */
	uint32_t held;
	uint32_t done;
	uint32_t told;  /**< low watermark events, ever */
	uint64_t empty; /**< times a message found nothing */
	uint32_t first; /**< of the line, counted since its birth */
	bool armed;
	uint16_t line[MODEL_RECEIVES]; /**< the queued ones in the order of posting */
};

/** The next event of a completion queue, as the consumer must see it. */
struct model_event {
	uint64_t qp; /**< name */
	uint64_t cookie;
	uint64_t first_stamp; /**< of the first and the last packet; 0: too short for one */
	uint64_t last_stamp;
	uint32_t last_at; /**< offset of the last packet */
	uint32_t length;
	uint32_t imm;
	uint16_t receive;
	uint8_t status;
	uint8_t flags;
};

struct model_cq {
	uint64_t name; /**< 0: does not exist */
	uint32_t depth;
	uint32_t first;
	uint32_t waiting;
	struct model_event event[MODEL_EVENTS];
};

#define MODEL_EARLY 128u /**< PSNs ahead of the one that is due, of packets that wait for it */

struct model_packet {
	uint64_t qp_name;
	uint64_t stamp; /**< first bytes of its payload when that has room for them */
	uint32_t link;
	uint32_t psn;
	uint32_t length;
	uint32_t imm;
	uint16_t qp;
	bool first;
	bool last;
	bool with_imm;
};

struct model_qp {
	uint64_t name; /**< 0: does not exist */
	uint16_t srq;
	uint16_t cq;      /**< MODEL_NONE: nobody wants to know */
	uint16_t holding; /**< receive of the message in progress; MODEL_NONE */
	uint8_t state;    /**< enum roce_qp_state */
	bool heard;       /**< a packet came since it is in RTR */
	uint32_t link;    /**< number of the connection */
	uint32_t psn;     /**< of the packet that may come next */
	uint32_t packets; /**< of the message in progress that came */
	uint32_t got;     /**< bytes of it */
	uint32_t soft;    /**< MODEL_INFINITE: none, or told */
	uint32_t hard;
	uint32_t taken; /**< ever */
	uint64_t first_stamp;
	bool refused; /**< the packet that is due found no receive: what follows is not kept */
	uint32_t early_packets;
	struct model_packet early[MODEL_EARLY]; /**< at its PSN; no name: none */
};

/** An async event that the step must cause; the completion queue has so many events waiting when it comes. */
struct model_async_event {
	uint64_t owner;
	int status;
	uint32_t waiting;
	uint16_t cq; /**< MODEL_NONE: not looked at */
	uint8_t kind;
};

/** How often what happened: a walk in which something never did proves nothing of it. */
struct model_tally {
	uint64_t taken, completed, flushed, returned, low, soft, hard, empty, overflow, too_long,
			breach, established, early;
};

struct model {
	uint64_t names; /**< given so far */
	struct model_srq srq[MODEL_SRQS];
	struct model_cq cq[MODEL_CQS];
	struct model_qp qp[MODEL_QPS];
	struct model_receive receive[MODEL_RECEIVES];
	uint16_t idle[MODEL_RECEIVES]; /**< a stack: what was idle last is used first */
	uint32_t idles;
	struct model_async_event async_event[MODEL_ASYNC_EVENTS];
	uint32_t async_events;
	struct model_tally tally;
};

void model_init(struct model *m);

/** Cookie of a receive as it lies on its queue. */
static inline uint64_t
model_cookie(const struct model *m, uint16_t receive)
{
	return (uint64_t)m->receive[receive].turn << 16 | receive;
}

/** The cookie it will have when it is posted. */
static inline uint64_t
model_cookie_next(const struct model *m, uint16_t receive)
{
	return ((uint64_t)m->receive[receive].turn + 1) << 16 | receive;
}

static inline uint32_t
model_outstanding(const struct model_srq *srq)
{
	return srq->queued + srq->held + srq->done;
}

/* ---- birth and death; destroying answers 0 or -EBUSY and changes nothing then ---- */

void model_srq_make(struct model *m, uint16_t srq, uint32_t max, uint32_t max_sge);
int model_srq_end(struct model *m, uint16_t srq);
void model_cq_make(struct model *m, uint16_t cq, uint32_t depth);
int model_cq_end(struct model *m, uint16_t cq);
void model_qp_make(struct model *m, uint16_t qp, uint16_t srq, uint16_t cq);
void model_qp_end(struct model *m, uint16_t qp);

/* ---- the consumer's calls; each answers what the engine must ---- */

/** The receive that the next post uses; MODEL_NONE: all are on their way. */
uint16_t model_next_idle(const struct model *m);

/** Post it. */
int model_post(struct model *m, uint16_t srq, uint32_t length, uint32_t segments);

/** Take the next event off, which must exist. @return it; valid until the next step. */
const struct model_event *model_reap(struct model *m, uint16_t cq);

int model_resize(struct model *m, uint16_t srq, uint32_t max);
int model_set_low(struct model *m, uint16_t srq, uint32_t low);
void model_set_high(struct model *m, uint16_t qp, uint32_t soft, uint32_t hard);

/** State ERR; RESET; from RESET to RTR or RTS, where @p psn comes first. */
void model_to_error(struct model *m, uint16_t qp);
void model_to_reset(struct model *m, uint16_t qp);
void model_connect(struct model *m, uint16_t qp, uint32_t psn, bool ready);

/* ---- the wire ---- */

/** A packet reaches the engine of its queue pair. */
void model_arrive(struct model *m, const struct model_packet *packet);

/** Do the places agree with the counts? @return NULL, or what does not. Walks over everything. */
const char *model_audit(const struct model *m);

#endif
