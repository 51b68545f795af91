/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each kind of request that names memory, first or repeated, with each field of it wrong: the first wrong one ends the connection
 * and moves no byte. So a peer can guess one key on each connection, whatever it guesses with.
 */

#include <string.h>

#include "fixture_rdma.h"
#include "mw_scene.h"
#include "wire/icrc.h"

#define PSN          FX_RQ_PSN
#define LONG         (2 * FX_MTU + 8) /* bytes of a request of three packets */
#define KEY_BITS     32u
#define ADDRESS_BITS 64u

/** A kind of request. */
struct kind {
	uint8_t opcode;
	uint32_t length;  /**< bytes that it is about */
	uint32_t payload; /**< bytes in its first packet */
	uint32_t right;   /**< that it needs */
};

static const struct kind kinds[] = {
	{ IBV_OPCODE_RC_RDMA_WRITE_ONLY, 8, 8, IBV_ACCESS_REMOTE_WRITE },
	{ IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE, 8, 8, IBV_ACCESS_REMOTE_WRITE },
	{ IBV_OPCODE_RC_RDMA_WRITE_FIRST, LONG, FX_MTU, IBV_ACCESS_REMOTE_WRITE },
	{ IBV_OPCODE_RC_RDMA_READ_REQUEST, LONG, 0, IBV_ACCESS_REMOTE_READ },
	{ IBV_OPCODE_RC_COMPARE_SWAP, 8, 0, IBV_ACCESS_REMOTE_ATOMIC },
	{ IBV_OPCODE_RC_FETCH_ADD, 8, 0, IBV_ACCESS_REMOTE_ATOMIC },
};

/** The right request's fate, before the wrong one comes with its PSN. */
enum fate {
	NOTHING,      /**< the wrong one is the first */
	RNR_NAK,      /**< it had no receive */
	SEQUENCE_NAK, /**< it came ahead of its turn */
	EXECUTED,
	FATES,
};

/** Keys of the same memory, or of other memory. All are good ones but where it says so. */
enum key {
	RIGHT,
	ELSEWHERE,     /**< of other memory */
	OF_OTHER_ZONE, /**< of a region of another protection domain */
	WEAK,          /**< without the right that the request needs */
	ENDED,         /**< was the key of a region that has ended */
	KEYS,
};

/* Wrong fields: the bits of the key and of the address, other keys, and lengths. */
#define WRONG (KEY_BITS + ADDRESS_BITS + KEYS - 1 + 2)

/** Memory that a peer may name, for one kind of request. */
struct named {
	uint32_t key[KEYS];
	struct roce_mr *mr[KEYS]; /**< NULL: none of its own */
	struct roce_mw *weak;     /**< NULL: a region is weak */
	struct roce_pd *other;
};

static uint32_t
region_key(struct named *named, enum key key, struct roce_pd *pd, uint32_t offset, uint64_t length,
		unsigned int access)
{
	named->mr[key] = fx_mr(pd, place(offset), length, access);
	return roce_mr_key(named->mr[key]);
}

static uint32_t
window_key(struct roce_mw *of, uint64_t length, uint32_t access)
{
	struct roce_mw_bind bind = part(0, length, access);

	bind.mw = of;
	assert_int_equal(post_bind(qp, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	assert_int_equal(next_event().status, IBV_WC_SUCCESS);
	return bind.key;
}

/* Memory of exactly the length of the request: regions, and where @p windows a window that is right and one that is weak. */
static struct named
name_memory(const struct kind *kind, bool windows)
{
	struct named named = { .other = fx_pd(&end) };
	const uint32_t less = FX_ALL & ~kind->right;

	named.key[ELSEWHERE] = region_key(&named, ELSEWHERE, end.pd, 2 * LONG, LONG, ALL_ACCESS);
	named.key[OF_OTHER_ZONE] =
			region_key(&named, OF_OTHER_ZONE, named.other, 0, kind->length, ALL_ACCESS);
	named.key[ENDED] = region_key(&named, ENDED, end.pd, 0, kind->length, ALL_ACCESS);
	assert_int_equal(roce_mr_destroy(named.mr[ENDED]), 0);
	named.mr[ENDED] = NULL;
	if (!windows) {
		named.key[RIGHT] = region_key(&named, RIGHT, end.pd, 0, kind->length, ALL_ACCESS);
		named.key[WEAK] = region_key(&named, WEAK, end.pd, 0, kind->length, less);
		return named;
	}
	assert_int_equal(roce_mw_create(end.pd, &named.weak, &named.weak), 0);
	named.key[RIGHT] = window_key(mw, kind->length, FX_ALL & ~IBV_ACCESS_LOCAL_WRITE);
	named.key[WEAK] = window_key(named.weak, kind->length, less & ~IBV_ACCESS_LOCAL_WRITE);
	return named;
}

static void
forget(struct named *named)
{
	if (named->weak != NULL)
		roce_mw_destroy(named->weak);
	for (unsigned int i = 0; i < KEYS; i++) {
		if (named->mr[i] != NULL)
			assert_int_equal(roce_mr_destroy(named->mr[i]), 0);
	}
	assert_int_equal(roce_pd_destroy(named->other), 0);
}

/* False: such a request has no such field. */
static bool
spoil(struct fx_target *target, const struct kind *kind, const struct named *named,
		unsigned int wrong)
{
	if (wrong < KEY_BITS) {
		target->rkey ^= 1u << wrong;
		return true;
	}
	wrong -= KEY_BITS;
	if (wrong < ADDRESS_BITS) {
		target->va ^= UINT64_C(1) << wrong;
		return true;
	}
	wrong -= ADDRESS_BITS;
	if (wrong < KEYS - 1) {
		target->rkey = named->key[wrong + 1];
		return true;
	}
	target->length = wrong == KEYS - 1 ? kind->length + 1 : UINT32_MAX;
	return kind->right != IBV_ACCESS_REMOTE_ATOMIC;
}

/* Two faults come ahead of any key: an atomic's address that is no multiple of 8, and more than a message can have. */
static uint8_t
nak_of(const struct kind *kind, const struct fx_target *target, enum fate fate)
{
	if (kind->right == IBV_ACCESS_REMOTE_ATOMIC && target->va % sizeof(uint64_t) != 0 &&
			fate != EXECUTED)
		return FX_NAK(ROCE_NAK_INVALID_REQUEST);
	if (target->length == UINT32_MAX && fate != EXECUTED)
		return FX_NAK(ROCE_NAK_INVALID_REQUEST);
	return FX_NAK(ROCE_NAK_REMOTE_ACCESS);
}

static bool
takes_receive(const struct kind *kind)
{
	return kind->opcode == IBV_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE;
}

/* The connection has one request behind it. False: such a request cannot have had that. */
static bool
begin(const struct kind *kind, struct fx_peer *from, const struct fx_target *right, enum fate fate)
{
	const uint32_t at = fate == SEQUENCE_NAK ? PSN + 1 : PSN;
	struct roce_event event;
	unsigned int n;

	if (fate == NOTHING)
		return true;
	if (fate == RNR_NAK && !takes_receive(kind))
		return false;
	if (fate == EXECUTED && takes_receive(kind))
		fx_fill_srq(&end, 1, 8);
	fx_rx(&end, fx_about(from, kind->opcode, at, kind->payload, right, FX_ACKREQ));
	if (fate == EXECUTED) {
		const struct fx_sent *sent = fx_tx_all(&end, &n);

		assert_int_equal(n, kind->opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST ? 3 : 1);
		assert_int_equal(sent[0].syndrome & 0xe0, ROCE_AETH_ACK);
		(void)roce_cq_poll(end.recv_cq, &event, 1);
		return true;
	}
	assert_int_equal(fx_tx_one(&end).syndrome & 0xe0,
			fate == RNR_NAK ? ROCE_AETH_RNR : ROCE_AETH_NAK);
	return true;
}

/* A queue pair that answers READs and atomics, whose peer is @p from. */
static struct roce_qp *
connection(struct fx_peer *from)
{
	struct roce_qp_attr attr = fx_attr(&end);
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);

	attr.max_dest_rd_atomic = 1;
	connect.max_dest_rd_atomic = 1;
	return fx_play(&end, &attr, &connect, from);
}

/* A WRITE that was executed is acknowledged again, whatever its repeat names: that tells nothing of any key. */
static bool
is_only_acknowledged(const struct kind *kind, enum fate fate)
{
	return fate == EXECUTED && kind->right == IBV_ACCESS_REMOTE_WRITE;
}

static bool
try_request(const struct kind *kind, const struct named *named, enum fate fate, unsigned int wrong)
{
	static uint8_t memory[FX_MEMORY];
	const struct fx_target right = { place(0), named->key[RIGHT], kind->length };
	struct fx_target guess = right;
	struct fx_peer from;
	struct roce_qp *at;

	if (!spoil(&guess, kind, named, wrong))
		return false;
	at = connection(&from);
	if (!begin(kind, &from, &right, fate)) {
		roce_qp_destroy(at);
		return false;
	}
	memcpy(memory, end.memory, FX_MEMORY);
	fx_rx(&end, fx_about(&from, kind->opcode, PSN, kind->payload, &guess, FX_ACKREQ));
	if (is_only_acknowledged(kind, fate)) {
		assert_int_equal(fx_tx_one(&end).syndrome & 0xe0, ROCE_AETH_ACK);
		assert_int_equal(roce_qp_state(at), ROCE_QP_RTS);
	} else {
		assert_int_equal(fx_tx_one(&end).syndrome, nak_of(kind, &guess, fate));
		assert_int_equal(roce_qp_state(at), ROCE_QP_ERR);
	}
	assert_memory_equal(end.memory, memory, FX_MEMORY);
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	roce_qp_destroy(at);
	return true;
}

/* Requests of one kind that were tried. */
static unsigned int
try_all(const struct kind *kind, bool windows)
{
	struct named named = name_memory(kind, windows);
	unsigned int tries = 0;

	for (unsigned int fate = 0; fate < FATES; fate++) {
		for (unsigned int wrong = 0; wrong < WRONG; wrong++)
			tries += try_request(kind, &named, (enum fate)fate, wrong);
	}
	forget(&named);
	return tries;
}

static void
try_kinds(bool windows)
{
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		const unsigned int fates = takes_receive(&kinds[i]) ? 4 : 3;
		const bool is_atomic = kinds[i].right == IBV_ACCESS_REMOTE_ATOMIC;

		assert_int_equal(try_all(&kinds[i], windows),
				fates * (is_atomic ? WRONG - 2 : WRONG));
	}
}

UNIT_RULE(regions__wrongly_named_by_any_request_end_the_connection)
{
	try_kinds(false);
}

UNIT_RULE(windows__wrongly_named_by_any_request_end_the_connection)
{
	try_kinds(true);
}

/* Keys that a SEND may not end: each bit of a window's wrong, of regions, of a window of another domain, and one that has ended. */
#define INVALID (KEY_BITS + 3)

static uint32_t
invalid_key(uint32_t right, unsigned int wrong, const uint32_t *others)
{
	return wrong < KEY_BITS ? right ^ 1u << wrong : others[wrong - KEY_BITS];
}

static struct rte_mbuf *
invalidate(struct fx_peer *from, uint32_t psn, uint32_t what)
{
	struct rte_mbuf *m = fx_request(
			from, ROCE_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE, psn, 0, FX_ACKREQ);
	const rte_be32_t key = rte_cpu_to_be_32(what);
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	memcpy((void *)(uintptr_t)(pkt.bth + pkt.op->imm_off), &key, sizeof(key));
	roce_icrc_put(m, &from->template);
	return m;
}

/* The connection has a SEND behind it that ended the right window, or was refused for now. */
static void
begin_invalidate(struct fx_peer *from, uint32_t right, enum fate fate)
{
	static const uint8_t answer[] = { [RNR_NAK] = ROCE_AETH_RNR,
		[SEQUENCE_NAK] = ROCE_AETH_NAK,
		[EXECUTED] = ROCE_AETH_ACK };

	if (fate == EXECUTED)
		fx_fill_srq(&end, 1, 8);
	if (fate != NOTHING) {
		fx_rx(&end, invalidate(from, fate == SEQUENCE_NAK ? PSN + 1 : PSN, right));
		assert_int_equal(fx_tx_one(&end).syndrome & 0xe0, answer[fate]);
	}
	if (fate == EXECUTED)
		assert_int_equal(fx_event(end.recv_cq).flags, ROCE_EVENT_INVALID);
	else
		fx_fill_srq(&end, 1, 8);
}

static void
try_invalidate(enum fate fate, unsigned int wrong, const uint32_t *others)
{
	const uint32_t right = window_key(mw, 8, PEER_READS);
	struct fx_peer from;
	struct roce_qp *at = connection(&from);
	struct roce_event event;

	begin_invalidate(&from, right, fate);
	fx_rx(&end, invalidate(&from, PSN, invalid_key(right, wrong, others)));
	if (fate == EXECUTED) {
		assert_int_equal(fx_tx_one(&end).syndrome & 0xe0, ROCE_AETH_ACK);
		assert_int_equal(roce_qp_state(at), ROCE_QP_RTS);
	} else {
		assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
		assert_int_equal(roce_qp_state(at), ROCE_QP_ERR);
		assert_int_equal(bound_key(), right);
		event = fx_event(end.recv_cq);
		assert_int_equal(event.status, IBV_WC_REM_INV_REQ_ERR);
	}
	assert_int_equal(roce_cq_count(end.recv_cq), 0);
	roce_qp_destroy(at);
}

UNIT_RULE(windows__of_others_are_ended_by_no_send)
{
	struct roce_pd *pd = fx_pd(&end);
	struct roce_mr *its = fx_mr(pd, place(0), 8, ALL_ACCESS);
	struct roce_qp_attr attr = fx_attr(&end);
	struct fx_peer from;
	struct roce_mw *other;
	uint32_t others[] = { roce_mr_key(region), 0, window_key(mw, 8, PEER_READS) };
	struct roce_mw_bind bind = part(0, 8, PEER_READS);
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	struct roce_qp *owner;

	attr.pd = pd;
	owner = fx_play(&end, &attr, &connect, &from);
	assert_int_equal(roce_mw_create(pd, &other, &other), 0);
	bind.mw = other;
	bind.mr_key = roce_mr_key(its);
	assert_int_equal(post_bind(owner, 1, &bind, ROCE_WR_SIGNALED), 0);
	settle();
	assert_int_equal(next_event().status, IBV_WC_SUCCESS);
	others[1] = bind.key;
	for (unsigned int fate = 0; fate < FATES; fate++) {
		for (unsigned int wrong = 0; wrong < INVALID; wrong++) {
			try_invalidate((enum fate)fate, wrong, others);
			assert_true(lives(roce_mr_key(region)));
			assert_true(lives(bind.key));
		}
	}
	roce_qp_destroy(owner);
	roce_mw_destroy(other);
	assert_int_equal(roce_mr_destroy(its), 0);
	assert_int_equal(roce_pd_destroy(pd), 0);
}
