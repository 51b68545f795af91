/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_EMBED_SPREAD_H
#define TEST_EMBED_SPREAD_H

/**
 * @file
 * Two devices of several engines each, and between them a switch that decides on which queue a frame arrives, as the
 * RSS or the flow rules of a port would, or as they should not. The server's queue pairs, which live on all its engines,
 * share one receive queue, one region and one window.
 *
 * The client asks in groups: a WRITE, a SEND, a READ of what was written. A failure on any thread is kept with its line
 * (spread_check()); spread_close() fails the test with it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

#include "device/device.h"
#include "device/user.h"
#include "embed.h"
#include "engine/verbs.h"

#define SPREAD_ENGINES 4u
#define SPREAD_QPS     8u
#define SPREAD_ASKED   4u  /**< groups of one queue pair under way */
#define SPREAD_RECVS   48u /**< of the shared queue */
#define SPREAD_LOW     20u /**< its low watermark: when it is told, all receives go back at once */
#define SPREAD_MESSAGE 6144u

/** The owner of the queues. */
enum spread_mode {
	SPREAD_OWN,      /**< a port that the library opens */
	SPREAD_QUEUES,   /**< the program's port, all its queues attached */
	SPREAD_HANDOVER, /**< the program carries the frames of each queue */
};

/** Where frames arrive. */
enum spread_way {
	SPREAD_STEERED, /**< at the engine that owns the queue pair */
	SPREAD_HASHED, /**< by their UDP source port: those of one queue pair always at the same one, which knows nothing */
	SPREAD_ONE,    /**< all at the first */
	SPREAD_SPRAYED, /**< at each in turn, so that frames of one queue pair overtake each other */
};

struct spread_end {
	struct roce_device *device;
	struct roce_device_user user;
	struct rte_mempool *pool; /**< of what is sent; NULL: the library's */
	uint8_t *memory;          /**< see spread.c */
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq[2]; /**< each fed by queue pairs of all engines */
	struct roce_qp *qp[SPREAD_QPS];
};

struct spread {
	enum spread_mode mode;
	enum spread_way way;
	unsigned int engines;
	unsigned int address; /**< which of the device's: 0 IPv4, 1 IPv6 */
	const char *params;   /**< more of them, NULL: none */
	struct rte_mempool *
			foreign; /**< HANDOVER: frames of others come in between, from here; NULL: none */
	struct spread_end client, server;

	/* The switch. Rings from and to each end's queues. */
	uint16_t port[2];
	struct rte_mempool *ports;
	struct rte_ring *from[2][SPREAD_ENGINES];
	struct rte_ring *to[2][SPREAD_ENGINES];
	uint32_t turn;     /**< whose it is */
	uint64_t carried;  /**< RoCEv2 frames */
	uint64_t tagged;   /**< of them with a VLAN tag */
	uint64_t v6;       /**< of them over IPv6 */
	uint64_t wrong[2]; /**< brought to an end, on a queue that is not their owner's */
	uint64_t dropped;

	/* The server's consumer. */
	struct roce_srq *srq;
	struct roce_mw *mw;
	uint32_t window; /**< key */
	uint32_t next[SPREAD_QPS];
	uint32_t idle[SPREAD_RECVS]; /**< receives that are not posted */
	uint32_t idles;
	uint64_t posted, reaped;
	uint32_t armed; /**< times the watermark was set */
	uint32_t told;  /**< times it was crossed; atomic */

	/* The client's. */
	uint32_t asked[SPREAD_QPS], answered[SPREAD_QPS];

	int broken; /**< line of what went wrong first; atomic */
};

/** Open both ends and connect them. mode, way, engines, address, params and foreign are set, all else is zero. */
void spread_open(struct spread *s);
/** All is there that should be; then the ends go. No thread polls them. */
void spread_close(struct spread *s);

/** Any thread. */
void spread_check(struct spread *s, bool good, int line);
#define SPREAD_CHECK(s, good) spread_check(s, good, __LINE__)
bool spread_is_broken(const struct spread *s);

/** One poll of an engine. One thread at a time for each in HANDOVER. @return frames moved. */
unsigned int spread_poll(struct spread *s, struct spread_end *end, unsigned int engine);
/** Carry what both ends have sent. One thread. @return frames. */
unsigned int spread_carry(struct spread *s);

/** The client: have up to @p groups groups of each queue pair asked, and take answers. @return whether all are there. */
bool spread_ask(struct spread *s, uint32_t groups);
/** The server: take messages, judge them, and refill the shared queue when told. @return receives reaped. */
unsigned int spread_serve(struct spread *s);

/* ---- spread_wire.c ---- */

/** A pool whose locks the thread sanitizer sees. */
struct rte_mempool *spread_pool(const char *name, unsigned int frames);
/** Rings, and ports on them unless the program carries the frames. */
void spread_wire_open(struct spread *s);
void spread_wire_close(struct spread *s);
/** DPDK's name of the port of the client (0) and the server (1). */
const char *spread_port_name(unsigned int i);

#endif
