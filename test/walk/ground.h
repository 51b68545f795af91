/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WALK_GROUND_H
#define ROCE_WALK_GROUND_H

/**
 * @file
 * The ground that is walked on: a domain of the real engine, its objects, and
 * beside each the model's. Everything that happens on it follows from the seed.
 *
 * Each action is done to both, and the engine's results are compared at once:
 * answers, events, async events. A difference ends the program (trace.h).
 */

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "engine/verbs.h"
#include "queue/domain.h"
#include "model.h"
#include "trace.h"

#define GROUND_ENGINES 4u
#define GROUND_INBOX   32u /**< frames that one call takes out of an engine's inbox */
#define GROUND_RECEIVE (3 * MODEL_MTU)

/** The peer of a queue pair: what it sends next, when it does not wait to hear how the last one fared. */
struct ground_sender {
	struct roce_template template;
	uint32_t link;
	uint32_t psn;
	uint32_t packets;   /**< of the message in progress that were sent */
	uint32_t in_flight; /**< in an inbox */
};

/** The frames that lie in an engine's inbox. */
struct ground_inbox {
	struct model_packet packet[GROUND_INBOX];
	uint32_t packets;
};

struct ground {
	struct model model;
	uint32_t heard; /**< async events of this step that came */
	uint64_t random;
	uint64_t now;
	uint64_t stamps; /**< packets made */
	unsigned int engines;
	uint16_t srqs; /**< how many of each there can be */
	uint16_t cqs;
	uint16_t qps;
	uint32_t srqs_made;
	struct roce_domain *domain;
	struct roce_engine *engine[GROUND_ENGINES];
	struct roce_pd *pd[2]; /**< the first one owns the memory and the shared queues */
	struct roce_mr *mr;
	uint8_t *memory;
	uint32_t key;
	struct roce_srq *srq[MODEL_SRQS];
	uint32_t srq_id[MODEL_SRQS];
	struct roce_cq *cq[MODEL_CQS];
	struct roce_qp *qp[MODEL_QPS];
	struct ground_sender sender[MODEL_QPS];
	struct ground_inbox inbox[GROUND_ENGINES];
};

/** Once, before the first walk. */
void ground_prepare(void);

/** An empty frame. */
struct rte_mbuf *ground_frame(void);

void ground_open(struct ground *g, unsigned int engines, uint64_t seed);

/** Ends everything, in a good order, and checks that everything came home. */
void ground_close(struct ground *g);

/** Let the @p nth allocation from now fail (1: the next one); 0: none. */
void ground_fail(uint32_t nth);

/** Disarms it. @return did it fail? */
bool ground_failed(void);

/* ---- objects; each compares the answer, too ---- */

/** @param failing  allocation that fails. @return made. */
bool ground_srq_make(struct ground *g, uint16_t srq, uint32_t max, uint32_t failing);
void ground_srq_end(struct ground *g, uint16_t srq);
bool ground_cq_make(struct ground *g, uint16_t cq, uint32_t depth, uint32_t failing);
void ground_cq_end(struct ground *g, uint16_t cq);
bool ground_qp_make(struct ground *g, uint16_t qp, uint16_t srq, uint16_t cq, uint32_t failing);
void ground_qp_end(struct ground *g, uint16_t qp);

/** Bring a queue pair from RESET to RTS, or only to RTR. */
void ground_connect(struct ground *g, uint16_t qp, uint32_t psn, bool ready);

/* ---- looking ---- */

/** All async events that the model wants came; call it at the end of every step. */
static inline void
ground_all_heard(struct ground *g)
{
	if (unlikely(g->heard != g->model.async_events))
		trace_violated("async event %u is missing: kind %u of object %llu", g->heard,
				g->model.async_event[g->heard].kind,
				(unsigned long long)g->model.async_event[g->heard].owner);
	g->heard = 0;
	g->model.async_events = 0;
}

/** Ask for the counts of a shared receive queue: its promises hold, and they are the model's. */
void ground_query(struct ground *g, uint16_t srq);

/** Compare everything that can be asked for. @param snapshot  what telemetry sees, too: slow. */
void ground_audit(struct ground *g, bool snapshot);

/** Take up to @p n events from a completion queue, each as the model wants it. */
void ground_reap(struct ground *g, uint16_t cq, uint32_t n);

/** One poll without new frames: what lies in the inbox is taken in, and what the engine says is thrown away. */
void ground_poll(struct ground *g, unsigned int engine);

/** Give a frame to an engine, which hands it over when the queue pair is not its own. */
void ground_deliver(struct ground *g, unsigned int engine, const struct model_packet *packet,
		bool ack_req);

/* ---- chance ---- */

static inline uint64_t
ground_random(struct ground *g)
{
	uint64_t z = g->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/** 0..n-1. */
static inline uint32_t
ground_draw(struct ground *g, uint32_t n)
{
	return (uint32_t)((ground_random(g) >> 32) * n >> 32);
}

/** True once in @p n times. */
static inline bool
ground_chance(struct ground *g, uint32_t n)
{
	return ground_draw(g, n) == 0;
}

#endif
