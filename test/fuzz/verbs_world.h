/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_VERBS_WORLD_H
#define ROCE_FUZZ_VERBS_WORLD_H

/**
 * @file
 * A program of verbs: the objects that it has, every request that it posted, and what the library owes it.
 *
 * The device is loop0 of the process, which reaches itself. It is polled by the script alone (verbs_device.c), so a run
 * is a function of its script but for the time.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "base.h"

#define VW_SLOTS    4u    /**< objects of each kind */
#define VW_REQUESTS 4096u /**< of one script */
#define VW_ARENA    16384u
#define VW_ROOMY    VW_REQUESTS /**< a completion queue of this size never overflows */
#define VW_PENDING  16u
#define VW_COOKIE   UINT64_C(0xfeedc0de00000000) /**< upper half of each wr_id */

enum vw_kind {
	VW_PD,
	VW_TD,
	VW_CHANNEL,
	VW_CQ,
	VW_MR,
	VW_MW,
	VW_SRQ,
	VW_QP,
	VW_AH,
	VW_KINDS
};

enum vw_request_state {
	VW_FREE,
	VW_POSTED,
	VW_DONE,   /**< completed */
	VW_SILENT, /**< a later one of its queue completed: it owes no completion */
	VW_GONE,   /**< its queue pair was reset or ended: no completion may come */
};

struct vw_request {
	struct ibv_qp *qp;   /**< NULL: of a shared receive queue */
	struct ibv_srq *srq; /**< NULL: of a queue pair's own queues */
	uint8_t state;       /**< enum vw_request_state */
	bool receive;
	bool signaled;
	bool unsure; /**< of a batch that was refused: it may have been posted */
};

/** One object of any kind; NULL: an empty slot. */
struct vw_object {
	union {
		void *any;
		struct ibv_pd *pd;
		struct ibv_td *td;
		struct ibv_comp_channel *channel;
		struct ibv_cq *cq;
		struct ibv_mr *mr;
		struct ibv_mw *mw;
		struct ibv_srq *srq;
		struct ibv_qp *qp;
		struct ibv_ah *ah;
	};
	void *uses[4];        /**< objects that may not end before it */
	struct ibv_qp_ex *ex; /**< of a queue pair with send operations */
	bool extended;        /**< a completion queue that is polled piecewise */
	uint32_t unacked;     /**< events of a completion queue that were fetched */
};

struct vw {
	struct ibv_context *context;
	struct vw_object objects[VW_KINDS][VW_SLOTS];
	struct vw_request requests[VW_REQUESTS];
	uint32_t posted;
	struct ibv_async_event pending[VW_PENDING]; /**< fetched and not acknowledged */
	uint32_t pendings;
	uint32_t dead_key; /**< of a region or window that has ended */
	bool tight;        /**< completion queues may overflow, and what they lose is not missed */
	_Alignas(64) uint8_t arena[VW_ARENA];
};

extern struct vw vw;

/** Any numbers that follow from a record. */
struct vw_dice {
	uint64_t state;
};

static inline struct vw_dice
vw_dice(const uint8_t *record)
{
	struct vw_dice dice;

	memcpy(&dice.state, record + 8, sizeof(dice.state));
	return dice;
}

static inline uint32_t
vw_draw(struct vw_dice *dice)
{
	uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(z >> 32);
}

/** One of a table. */
#define VW_PICK(table, at) ((table)[(at) % RTE_DIM(table)])

/** A result of a call: 0, or an errno that a program can understand. @return it. */
int vw_result(int rc);

/** A call that gives an object or a reason. @return the object. */
void *vw_given(void *object);

static inline struct vw_object *
vw_at(enum vw_kind kind, uint8_t slot)
{
	return &vw.objects[kind][slot % VW_SLOTS];
}

/** The object of a slot, or the next one; NULL: there is none of the kind. */
struct vw_object *vw_some(enum vw_kind kind, uint8_t slot);

/* ---- verbs_device.c ---- */

/** Poll the device so often, and deliver what happened. */
void vw_poll(unsigned int times);

/** Objects of the context that have not ended, as the library counts them. */
unsigned int vw_left(void);

/* ---- verbs_make.c ---- */

void vw_make(enum vw_kind kind, const uint8_t *record);

/** End an object, and judge the result: EBUSY as long as another one uses it, else success. */
void vw_end(enum vw_kind kind, struct vw_object *object);

/** A domain, a queue, memory and two queue pairs that are connected. */
void vw_make_pair(void);

/* ---- verbs_state.c ---- */

void vw_modify_qp(const uint8_t *record);
void vw_connect(const uint8_t *record);
void vw_modify_srq(const uint8_t *record);
void vw_query(const uint8_t *record);
void vw_query_device(const uint8_t *record);

/** To ERR, so that all its requests complete. */
void vw_break(struct ibv_qp *qp);

/* ---- verbs_post.c ---- */

void vw_post_send(const uint8_t *record);
void vw_post_recv(const uint8_t *record);
void vw_post_srq_recv(const uint8_t *record);
void vw_bind(const uint8_t *record);

/** A sequence of ibv_wr_*(). */
void vw_wr(const uint8_t *record);

/** A new request, which the caller has still to post. @return its wr_id. */
uint64_t vw_new_request(struct ibv_qp *qp, struct ibv_srq *srq, bool receive, bool signaled);

/** It was posted. */
void vw_accept(uint64_t wr_id);

/* ---- verbs_poll.c ---- */

void vw_poll_cq(const uint8_t *record);
void vw_notify(const uint8_t *record);
void vw_get_event(const uint8_t *record);
void vw_ack(const uint8_t *record);
void vw_async(const uint8_t *record);
void vw_resize(const uint8_t *record);

/** Take all completions that there are. */
void vw_drain(void);

/** The queue pair was reset or has ended: its requests owe no completion, and may have none. */
void vw_forget(const struct ibv_qp *qp);

/** Acknowledge all that was fetched of an object, which ends. */
void vw_ack_all(struct vw_object *object);

/** Everything posted completes when its queue pair breaks. */
void vw_settle(void);

#endif
