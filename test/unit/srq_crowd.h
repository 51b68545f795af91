/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SRQ_CROWD_H
#define ROCE_TEST_SRQ_CROWD_H

/**
 * @file
 * A crowd on one shared receive queue, and those of it that call beside the engines: posters, a consumer for each
 * completion queue, a controller that resizes and sets the low watermark, and a questioner. An error is noted down; the
 * test looks when the threads are gone. The engines, each with a thread of its own that plays the peers, and the scene that
 * all share are in srq_crowd_scene.c.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "queue/domain.h"
#include "fixture.h"
#include "wire/icrc.h"

#define ENGINES_MAX 4u
#define EPS_EACH    3u /**< queue pairs of an engine */
#define EPS_MAX     (ENGINES_MAX * EPS_EACH)
#define CQS         3u
#define POSTERS     2u
#define RECEIVES    96u
#define ROOM        512u   /**< bytes of a receive: a message of two packets */
#define MESSAGES    20000u /**< of an engine, unless the test is told another number */
#define ASTRAY_MAX  150u   /**< frames of an engine that another one receives */
#define MTU         256u
#define LOOKS       64u
#define PATIENCE    50u /**< looks at a watermark before the posters are held back for it */

/** The first bytes of a payload. */
struct stamp {
	uint32_t ep;
	uint32_t message;
};

struct endpoint {
	struct roce_qp *qp;
	struct roce_template template;
	struct roce_qp_connect connect;
	uint32_t index;
	uint32_t psn;
	uint32_t sent;     /**< messages that began; by the poller */
	uint32_t finished; /**< messages that were sent whole and not broken */
	uint32_t got;      /**< messages; by the consumer of its completion queue */
	uint32_t next;     /**< no message before this one may come any more */
	bool begun;        /**< the last packet of the message is missing */
};

struct scene {
	struct roce_domain *domain;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_srq *srq;
	struct roce_cq *cq[CQS];
	struct endpoint ep[EPS_MAX];
	unsigned int engines;
	unsigned int eps;
	uint32_t messages; /**< that each engine sends at least */
	bool fed;          /**< a message is only sent when a receive was posted for it */
	bool breaks;       /**< connections are broken in the middle of messages */
	bool looked_on;    /**< others come, go and look on beside it, twice at least */
	uint8_t *memory;
	uint32_t key;
	struct rte_mbuf *once[ENGINES_MAX][ASTRAY_MAX];
	uint32_t astray[ENGINES_MAX]; /**< of them used; by the poller */

	pthread_mutex_t idle_lock;
	uint32_t idle[RECEIVES]; /**< receives that the consumer has */
	uint32_t idles;

	/* Atomic. */
	int64_t permits; /**< receives posted for which no message was sent yet */
	uint64_t posted;
	uint64_t reaped;
	uint32_t flushed;
	uint32_t rejected; /**< messages that found no receive and came again */
	uint32_t low_events;
	uint32_t lives;  /**< of queues that came and went */
	uint32_t others; /**< messages that they completed */
	uint32_t views;  /**< lists that were looked at */
	bool hold_back;  /**< posters rest */
	bool stop;       /**< posters and the controller end */
	bool dry;        /**< nothing comes any more: consumers end when they find nothing */
	const char *wrong;

	/* The controller's; the numbers are read by others, too. */
	uint32_t max;
	uint32_t armings;
	uint32_t resizes;
};

/** Somebody on a thread of his own. */
struct actor {
	struct scene *s;
	unsigned int index;
	unsigned int seed;
};

/* ---- srq_crowd.c: those who call beside the engines, each on a thread of its own as an actor ---- */

/** Note an error down: the last one counts. Any thread. */
void complain(struct scene *s, const char *what);
bool is_set(const bool *flag);
/** The owner of a shared queue is the counter of its events. */
void notify(void *arg, enum roce_engine_async kind, void *owner, int status);
/** Threads: post what is idle, reap a completion queue, resize and set the low watermark. Each ends by its flag. */
void *post(void *arg);
/** Reap up to eight completions of one queue and check their messages. */
void reap(struct scene *s, struct roce_cq *cq);
void *consume(void *arg);
/** Counts must hold at every look. */
void look(struct scene *s);
void *control(void *arg);
/** Many looks in a row: a thread that is interrupted in the middle of one is what it must survive. */
void *question(void *arg);

/* ---- srq_crowd_scene.c: engines, and the scene ---- */

struct rte_mbuf *build(struct endpoint *ep, struct rte_mbuf *m, bool last);
/** @return taken in; false: there was no receive for it. */
bool deliver(struct scene *s, struct roce_engine *e, struct rte_mbuf *m);
void connect_ep(struct scene *s, struct endpoint *ep);
/** Thread of an engine, the actor's index: it sends the messages of its queue pairs, and polls. */
void *poll_engine(void *arg);
/** For the frames of one thread. */
struct rte_mempool *make_pool(const char *kind, unsigned int index);
/** The pools of all scenes, once for the program. */
void make_pools(void);
/** Values that a connection of this queue pair fixes, and the look of the frames of its peer. */
void introduce(struct endpoint *ep);
/** Everything but the threads, with @c engines of @p s; and the end of it, with each frame and byte back. */
void open_scene(struct scene *s);
void close_scene(struct scene *s);

#endif
