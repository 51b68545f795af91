/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_H
#define ROCE_TEST_FIXTURE_H

/**
 * @file
 * The smallest world an engine can live in: memory that is counted and can fail, a clock that is a variable,
 * a log of async events, and hands to put frames in and take frames out.
 *
 * An end is a domain with one of everything. A test of one end plays its peer itself (struct fx_peer makes
 * the peer's frames); a test of a conversation opens two ends and lets them exchange frames.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/verbs.h"
#include "queue/stats.h"
#include "unit.h"
#include "wire/aeth.h"
#include "wire/psn.h"

#define FX_HZ           UINT64_C(1000000000) /**< a tick is a nanosecond */
#define FX_MTU          1024u
#define FX_SQ_PSN       0x000100u /**< first PSN of our requests */
#define FX_RQ_PSN       0x800200u /**< first PSN of the peer's */
#define FX_MEMORY       65536u    /**< bytes of registered memory an end has */
#define FX_ASYNC_EVENTS 64u
#define FX_SENT         1024u
#define FX_IMM          RTE_BE32(0xfeedbeef) /**< immediate data of the peer's frames */

/** Rights of a region that its owner and all peers may do anything with. */
#define FX_ALL                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC)

#define FX_ACK       (ROCE_AETH_ACK | ROCE_CREDIT_INVALID) /**< syndrome of an ACK without credits */
#define FX_NAK(code) ((uint8_t)(ROCE_AETH_NAK | (code)))
#define FX_RNR(code) ((uint8_t)(ROCE_AETH_RNR | (code)))

struct fx_async_event {
	enum roce_engine_async kind;
	void *owner;
	int status;
};

struct fx_options {
	unsigned int engines; /**< 0: one */
	uint32_t first_qpn;   /**< 0: 0x100 */
	uint32_t cq_depth;    /**< 0: 1024 */
	uint32_t srq_size;    /**< 0: 256 */
	struct roce_extbuf_config extbuf;
	struct roce_zcrx_config zcrx;
};

struct fx_end {
	struct roce_domain *domain;
	struct roce_engine *engine; /**< number 0 */
	struct roce_pd *pd;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq;
	struct roce_srq *srq;
	struct roce_mr *mr;
	uint8_t *memory;
	uint32_t key;
	struct roce_ip ip;
	uint64_t now;
	unsigned int async_events;
	struct fx_async_event async_event[FX_ASYNC_EVENTS]; /**< the first ones */
	void (*on_async_event)(struct
			fx_end *end); /**< NULL, or called inside each async event, which is written down already */
};

/** A frame that an engine sent, taken apart; its mbuf is gone. */
struct fx_sent {
	uint64_t at;
	uint32_t dest_qp;
	uint32_t psn;
	uint32_t payload_len;
	uint32_t imm; /**< as on the wire */
	uint32_t msn;
	uint64_t va; /**< of the RETH */
	uint32_t length;
	uint8_t opcode;
	uint8_t syndrome;
	uint8_t first; /**< first byte of the payload */
	bool ack_req;
	bool solicited;
};

/** Makes the frames of the other end of a queue pair. */
struct fx_peer {
	struct roce_template template;
};

/* ---- memory ---- */

/** The memory of fx_end_open(), for what wants a struct roce_memory. */
extern const struct roce_memory fx_memory;

/** Allocations that were not freed. */
unsigned int fx_live(void);

/** Let the @p nth allocation from now fail (1: the next one); 0: none. */
void fx_fail(unsigned int nth);

/** Did the allocation that fx_fail() chose happen? */
bool fx_failed(void);

/* ---- ends and queue pairs ---- */

/** Address 192.0.2.@p last. */
struct roce_ip fx_ip(uint8_t last);

/** A domain of one engine at this address, whose seed is @p last; its async events reach nobody. */
struct roce_domain_config fx_config(uint8_t last);

void fx_end_open(struct fx_end *end, uint8_t last, const struct fx_options *options);

/**
 * End what the test has left of its queue pairs, shared receive queues and regions, then the end itself. Protection domains,
 * completion queues and windows that the test made are gone before.
 */
void fx_end_close(struct fx_end *end);

/** A protection domain, a completion queue, a region of memory: made without an error, the caller's to destroy. */
struct roce_pd *fx_pd(const struct fx_end *end);
struct roce_cq *fx_cq(const struct fx_end *end, uint32_t depth, void *owner);
struct roce_mr *fx_mr(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access);

/** Attributes of an ordinary queue pair on the end's shared receive queue. */
struct roce_qp_attr fx_attr(const struct fx_end *end);
struct roce_qp *fx_qp(struct fx_end *end, const struct roce_qp_attr *attr);

/** A connection with the ordinary values to @p dest_qp at @p ip. */
struct roce_qp_connect fx_connect(const struct fx_end *end, struct roce_ip ip, uint32_t dest_qp);

/** Bring a queue pair to RTS. */
void fx_up(struct roce_qp *qp, const struct roce_qp_connect *connect);

/** Change the state of a queue pair, under the lock of its engine. */
void fx_to_error(struct roce_qp *qp);
void fx_to_reset(struct roce_qp *qp);
void fx_drain(struct roce_qp *qp);

/** A queue pair in RTS whose peer the test plays; ordinary when @p attr is NULL. */
struct roce_qp *fx_play(struct fx_end *end, const struct roce_qp_attr *attr,
		const struct roce_qp_connect *connect, struct fx_peer *peer);

/** The same with an ordinary queue pair; the peer is number 0x777 at 192.0.2.99. */
struct roce_qp *fx_played_qp(struct fx_end *end, struct fx_peer *peer);

/** The peer of @p qp as @p connect describes it. */
struct fx_peer fx_peer_of(const struct roce_qp *qp, const struct roce_qp_connect *connect);

/** Connect two queue pairs with each other; the second one allows each @p depth READs and atomics under way. */
void fx_join(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb);
void fx_join_reading(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb,
		uint8_t depth);

/* ---- work ---- */

/** Post a SEND of @p len bytes from the end's memory at @p offset. @return as roce_qp_post_send(). */
int fx_send(struct fx_end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len,
		uint8_t flags);

/** Post @p n such SENDs from offset 0, with success; wr_id is their number. */
void fx_send_many(struct fx_end *end, struct roce_qp *qp, uint32_t n, uint32_t len, uint8_t flags);

/** Requests, and receives, that the queue pair has: roce_qp_depth(). */
uint32_t fx_requests(const struct roce_qp *qp);
uint32_t fx_receives(const struct roce_qp *qp);

/** A receive of @p len bytes into the end's memory at @p offset, for @p sge to live in. */
struct roce_recv_wr fx_recv(const struct fx_end *end, struct roce_sge *sge, uint64_t wr_id,
		uint32_t offset, uint32_t len);

/** Post @p n receives of @p len bytes to the end's shared queue; wr_id is their number, all at offset 0. */
void fx_fill_srq(struct fx_end *end, uint32_t n, uint32_t len);

/* ---- frames ---- */

#define FX_ACKREQ    0x01
#define FX_SOLICITED 0x02

/** A request of the peer; payload byte i is (psn + i) modulo 256, immediate data FX_IMM. */
struct rte_mbuf *
fx_request(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, unsigned flags);

/** An acknowledgement of the peer. */
struct rte_mbuf *fx_answer(struct fx_peer *peer, uint8_t syndrome, uint32_t psn, uint32_t msn);

/** Give one frame to the end's first engine; it must be consumed. */
void fx_rx(struct fx_end *end, struct rte_mbuf *m);

/** Shorter: give a request, an answer. */
void fx_rx_request(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn,
		uint32_t len, unsigned flags);
void fx_rx_answer(struct fx_end *end, struct fx_peer *peer, uint8_t syndrome, uint32_t psn);

/** Take what the engine sends, in polls of 32, until it is silent or @p max is reached. @return frames. */
unsigned int fx_tx(struct fx_end *end, struct fx_sent *sent, unsigned int max);

/** The frames of one poll of the first engine, @p max at the most; they are the caller's. @return how many. */
uint16_t fx_take(struct fx_end *end, struct rte_mbuf **pkts, uint16_t max);

/** As fx_tx() with FX_SENT places, kept until the next call. */
const struct fx_sent *fx_tx_all(struct fx_end *end, unsigned int *n);

/** The same, and a failure when it is not @p n frames. */
const struct fx_sent *fx_tx_exactly(struct fx_end *end, unsigned int n);

/** The same for a test that looks at none of them. @return frames. */
unsigned int fx_tx_drop(struct fx_end *end);

/** The only frame that the engine sends now; a failure when it is none or several. */
struct fx_sent fx_tx_one(struct fx_end *end);

/** The engine has nothing to send now. */
void fx_tx_none(struct fx_end *end);

/** Carry frames both ways until both ends are silent. */
void fx_exchange(struct fx_end *a, struct fx_end *b);

/**
 * Move the clock from deadline to deadline up to @p until, discarding nothing: what is sent is recorded.
 * @return frames sent, at most FX_SENT; their times stand in @c at.
 */
const struct fx_sent *fx_run(struct fx_end *end, uint64_t until, unsigned int *n);

/* ---- what came of it ---- */

/** The only event of a completion queue; a failure when it is none or several. */
struct roce_event fx_event(struct roce_cq *cq);

/** Counts of a shared receive queue, as three numbers. */
void fx_expect_counts(struct roce_srq *srq, uint32_t max, uint32_t available, uint32_t outstanding);

/** So many async events came, the last one of this kind. */
void fx_expect_async(const struct fx_end *end, unsigned int n, enum roce_engine_async kind);

const struct roce_stats *fx_stats(const struct fx_end *end);

#endif
