/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_TALK_PVT_H
#define ROCE_SIM_TALK_PVT_H

/**
 * @file
 * The state of the consumers of a world: talk.c brings them up and lets them act, say.c posts, hear.c checks the
 * completions, window.c binds, grants and takes back.
 */

#include "deed.h"
#include "engine/engine.h"
#include "queue/qp.h"
#include "judge.h"
#include "message.h"
#include "talk.h"
#include "world.h"

#define TALK_ARENA \
	(16u << 20) /**< bytes of each side: sources in the first half, receives in the second */
#define TALK_SLOTS 512u
#define TALK_BINDS 128u /**< of each window of one end */
#define TALK_ITEMS (WORLD_MESSAGES_MAX + 2 * TALK_BINDS)

enum item_kind {
	ITEM_MESSAGE,
	ITEM_BIND,  /**< of the window that nobody else uses */
	ITEM_GRANT, /**< of the window that the peer will use */
};

/** A request that was posted. */
struct item {
	uint32_t id; /**< number of its kind */
	uint8_t kind;
	bool signaled;
};

/** A memory window of one end. */
struct window {
	struct roce_mw *mw;
	uint32_t binds; /**< posted */
	uint32_t bound; /**< number of the newest that was seen in force, from 1 on */
	uint32_t key[TALK_BINDS];
};

enum grant_state {
	GRANT_KEPT = 0,
	GRANT_BINDING, /**< the bind was posted */
	GRANT_GIVEN,   /**< it is done: the peer may use the key, and say that it ends */
	GRANT_ENDING,  /**< the peer has said so */
};

/** One end of a queue pair. */
struct end {
	uint32_t talk;
	uint32_t side;
	struct roce_qp *qp;
	struct end *peer;
	struct judge_flow *flow;
	uint32_t posted;   /**< messages */
	uint32_t done;     /**< messages before this one are known to be complete */
	uint32_t good;     /**< the same, of those that succeeded */
	uint32_t received; /**< messages */
	bool failed;       /**< a request came back with an error */
	bool broken;
	enum ibv_wc_status refusal;     /**< WORLD_DENIED: how the refused request must end */
	enum ibv_wc_status receive_end; /**< and the receive that it took, if not like all others */
	enum grant_state grant_state;
	uint32_t granted_access; /**< IBV_ACCESS_REMOTE_* that the granted window grants */
	struct window own;       /**< shows when binds are executed */
	struct window granted;
	uint32_t items;       /**< requests posted */
	uint32_t ended;       /**< requests before this one are known to be complete */
	uint32_t binds_ended; /**< of them, binds */
	struct item item[TALK_ITEMS];
	uint32_t binds_before
			[WORLD_MESSAGES_MAX]; /**< of the own window, when the message was posted */
	uint32_t ends_key[WORLD_MESSAGES_MAX]; /**< the key that the message invalidates; 0: none */
};

/** A receive that waits to be posted again. */
struct repost {
	uint64_t at;
	uint32_t slot;
};

/** One side: the objects and memory that its queue pairs share, and its ends. */
struct side {
	struct roce_domain *domain;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	uint8_t *arena;
	uint32_t slots;
	uint32_t posted, reaped; /**< receives, ever */
	uint32_t waiting, first; /**< ring of reposts */
	struct repost repost[TALK_SLOTS];
	struct end end[WORLD_TALKS_MAX];
	struct deed_memory open;
};

/** The world that is being lived. */
struct talk {
	const struct world_params *world;
	struct judge *watch;
	const char *violation;
	uint32_t slot_size;
	uint32_t send_max; /**< requests of a queue pair: messages and binds */
	uint64_t dice;
	uint64_t kill_peer_at;
	struct side side[2];
	uint8_t bytes[MESSAGE_MAX + 64]; /**< of one message, in one piece */
};

extern struct talk talk;

/** Note what did not hold, if it is the first. */
void talk_violate(const char *what);

/** End the program when the engine refuses what it must not. */
void talk_must(int rc, const char *what);

/** A number below @p n that follows from the seed. */
uint32_t talk_dice(uint32_t n);

/** Cookie of a request. */
static inline uint64_t
talk_wr_id(enum item_kind kind, uint32_t id)
{
	return (uint64_t)kind << 32 | id;
}

/** Where message @p seq of an end works at its peer. */
struct deed_site talk_site(struct end *end, uint32_t seq);

/** Memory of the sender for message @p seq. */
uint8_t *talk_source(const struct end *end, uint32_t seq);

/** Memory and pieces of a receive. */
uint8_t *talk_slot(const struct side *side, uint32_t slot);
struct pieces talk_slot_pieces(uint32_t slot);

/** Is this the request of a WORLD_DENIED that asks for too much? */
bool talk_is_denied(const struct end *end, uint32_t seq);

/* ---- say.c ---- */

/** Has the consumer a message to post, and room for it? */
bool say_may(const struct end *end);

/** Post messages, and binds among them. @return how many. */
uint32_t say_some(struct end *end);

/** Post a receive. */
void say_receive(struct side *side, uint32_t slot);

/** Note that a request was posted. */
void say_item(struct end *end, enum item_kind kind, uint32_t id, bool signaled);

/* ---- hear.c ---- */

/** A request ended. */
void hear_send(const struct roce_event *event);

/** A receive ended. */
void hear_receive(struct side *side, const struct roce_event *event, uint64_t now);

/** Messages that use up no receive pass unseen. */
void hear_skip(struct end *end);

/* ---- window.c ---- */

void window_open(struct end *end);
void window_close(struct end *end);

/** Bind, perhaps. */
void window_post(struct end *end);

/** A bind ended. */
void window_bound(struct end *end, const struct item *item, enum ibv_wc_status status);

/** A message of the peer arrived that was posted behind so many binds of the peer's own window. */
void window_order(struct end *end, uint32_t binds);

/** The key that a request of @p end with this access at the peer may use instead; 0: none. */
uint32_t window_key(const struct end *end, uint32_t access);

/** @p end takes back the key that its peer granted it. @return the key; 0: none was granted. */
uint32_t window_give_back(struct end *end);

/** The peer's message that invalidates @p key arrived. */
void window_ended(struct end *end, uint32_t key);

#endif
