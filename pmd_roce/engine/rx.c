/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in: whose they are, whether they are whole, and who handles them. */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "engine/engine.h"
#include "engine/lone_time.h"
#include "engine/placement.h"
#include "queue/qp_end.h"
#include "queue/sge.h"
#include "requester/ack.h"
#include "requester/dcqcn.h"
#include "requester/repair.h"
#include "requester/req_read.h"
#include "responder/resp.h"
#include "responder/resp_held.h"
#include "responder/resp_read.h"
#include "responder/resp_send.h"
#include "responder/resp_write.h"

/** Where the BTH stands in an untagged IPv6 frame: bytes. */
#define BTH_V6 (ROCE_PLAIN_BTH - sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_ipv6_hdr))

#define QPS_NEAR 128u /**< queue pairs of which all that a frame wants is near */

/** The fate of a received frame. */
enum fate {
	FATE_DONE,    /**< free it */
	FATE_GIVEN,   /**< somebody else's now */
	FATE_FOREIGN, /**< leave it to the caller */
};

static inline uint64_t
load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Does the frame come from the peer of the connection, to the address of this end? */
static inline bool
from_peer(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	struct roce_ip src, dst;

	if (likely(!pkt->v6))
		return roce_qp_rx_is_from(&qp->rx, load64(pkt->l3 + 12));
	roce_pkt_addresses(pkt, &src, &dst);
	return roce_ip_equal(&src, &qp->cold.peer) && roce_ip_equal(&dst, &qp->cold.local);
}

static bool
is_ours(const struct roce_domain *domain, const struct roce_ip *dst)
{
	for (unsigned int i = 0; i < domain->config.addrs; i++) {
		if (roce_ip_equal(dst, &domain->config.addr[i]))
			return true;
	}
	return false;
}

static __rte_noinline enum fate
forward_to_owner(struct roce_engine *e, struct roce_engine *owner, struct rte_mbuf *m)
{
	if (rte_ring_mp_enqueue(owner->inbox, m) != 0) {
		e->stats.rx_inbox_full++;
		return FATE_DONE;
	}
	e->stats.rx_handed_over++;
	return FATE_GIVEN;
}

static __rte_noinline enum fate
rx_gsi(struct roce_engine *e, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_domain *domain = e->domain;

	if (!(pkt->op->flags & ROCE_OP_DETH) || domain->gsi.rx == NULL) {
		e->stats.rx_unknown_qp++;
		return FATE_DONE;
	}
	if (e->index != 0)
		return forward_to_owner(e, domain->engine[0], pkt->m);
	e->stats.rx_gsi++;
	domain->gsi.rx(domain->gsi.arg, pkt, now);
	return FATE_DONE;
}

/* No queue pair with this number and peer: perhaps not for us at all, or for the connection manager. */
static __rte_noinline enum fate
rx_unknown_peer(struct roce_engine *e, const struct roce_pkt *pkt, bool known, uint64_t now)
{
	struct roce_ip src, dst;

	roce_pkt_addresses(pkt, &src, &dst);
	if (!is_ours(e->domain, &dst)) {
		e->stats.rx_foreign++;
		return FATE_FOREIGN;
	}
	if (!roce_icrc_ok(pkt)) {
		e->stats.rx_icrc_encapsulated++;
		return FATE_DONE;
	}
	if (pkt->dest_qp == ROCE_QPN_GSI)
		return rx_gsi(e, pkt, now);
	if (known)
		e->stats.rx_wrong_source++;
	else
		e->stats.rx_unknown_qp++;
	return FATE_DONE;
}

/* Data reaches a passive end whose RTU was lost: the peer is ready all the same. */
static __rte_noinline bool
accept_before_rtu(struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->rx.state != ROCE_QP_RTR ||
			(pkt->op->flags & (ROCE_OP_REQUEST | ROCE_OP_DETH)) != ROCE_OP_REQUEST) {
		qp->engine->stats.rx_wrong_state++;
		return false;
	}
	if (!qp->cold.heard) {
		qp->cold.heard = true;
		if (qp->cold.conn == NULL)
			roce_qp_pending_event(qp, ROCE_ENGINE_ASYNC_QP_COMM_EST);
		roce_qp_async_event(qp, ROCE_ENGINE_ASYNC_QP_ESTABLISHED, 0);
	}
	return qp->rx.state == ROCE_QP_RTR || qp->rx.state == ROCE_QP_RTS;
}

/* Is the frame what was sent? */
static inline bool
icrc_ok(struct roce_qp *qp, struct roce_pkt *pkt)
{
	if (pkt->payload_len >= ROCE_ONE_PASS_RX)
		return roce_icrc_ok_place(qp, pkt);
	return roce_icrc_ok(pkt);
}

static inline enum fate
rx_one(struct roce_engine *e, struct roce_pkt *pkt, uint64_t now)
{
	struct roce_qp *qp = roce_qp_find(e->domain, pkt->dest_qp);

	if (unlikely(qp == NULL || !from_peer(qp, pkt)))
		return rx_unknown_peer(e, pkt, qp != NULL, now);
	if (unlikely(qp->engine != e))
		return forward_to_owner(e, qp->engine, pkt->m);
	if (unlikely(!icrc_ok(qp, pkt))) {
		e->stats.rx_icrc_encapsulated++;
		return FATE_DONE;
	}
	if (unlikely(qp->rx.state != ROCE_QP_RTS) && !accept_before_rtu(qp, pkt))
		return FATE_DONE;
	if (unlikely(pkt->op->flags & (ROCE_OP_DETH | ROCE_OP_CNP | ROCE_OP_SACK))) {
		/* A datagram is for another kind of queue pair. */
		if (pkt->op->flags & ROCE_OP_DETH)
			e->stats.rx_malformed_opcode++;
		else if (pkt->op->flags & ROCE_OP_SACK)
			roce_repair_rx(qp, pkt, now);
		else
			roce_dcqcn_slow(qp, now);
		return FATE_DONE;
	}
	if ((pkt->op->flags & ROCE_OP_PIGGYBACK) &&
			unlikely(!roce_ack_rx_piggybacked(qp, roce_pkt_piggyback(pkt), now)))
		return FATE_DONE;
	if (unlikely(roce_ecn_is_marked(pkt->ecn)))
		roce_dcqcn_marked(qp, now);
	if (pkt->op->flags & ROCE_OP_REQUEST) {
		roce_resp_rx(qp, pkt, now);
	} else if (likely(pkt->opcode == IBV_OPCODE_RC_ACKNOWLEDGE)) {
		e->stats.rx_acks++;
		roce_ack_rx(qp, roce_pkt_aeth(pkt), pkt->psn, now);
	} else {
		roce_read_rx(qp, pkt, now);
	}
	return FATE_DONE;
}

/* Faults of a frame for another host are that host's to count. */
static __rte_noinline enum fate
rx_unparsed(struct roce_engine *e, const struct rte_mbuf *m, enum roce_frame_verdict verdict)
{
	struct roce_ip dst;

	if (verdict != ROCE_FRAME_FOREIGN &&
			!(roce_frame_destination(m, &dst) && is_ours(e->domain, &dst)))
		verdict = ROCE_FRAME_FOREIGN;
	switch (verdict) {
	case ROCE_FRAME_LENGTH:
		e->stats.rx_malformed_length++;
		break;
	case ROCE_FRAME_FRAGMENT:
		e->stats.rx_malformed_fragment++;
		break;
	case ROCE_FRAME_OPCODE:
		e->stats.rx_malformed_opcode++;
		break;
	case ROCE_FRAME_VERSION:
		e->stats.rx_malformed_version++;
		break;
	case ROCE_FRAME_PKEY:
		e->stats.rx_malformed_pkey++;
		break;
	default:
		e->stats.rx_foreign++;
		return FATE_FOREIGN;
	}
	return FATE_DONE;
}

/* A frame of which nothing is known yet. @param m set to NULL when somebody else has it, whatever is done with it here. */
static __rte_noinline enum fate
rx_any(struct roce_engine *e, struct rte_mbuf **m, uint64_t now)
{
	enum roce_frame_verdict verdict;
	struct roce_pkt pkt;
	enum fate fate;

	if (e->held > 0 && !e->domain->multi_engine && roce_resp_hold_plain(e, m))
		return FATE_DONE;
	verdict = roce_frame_parse(*m, &pkt);
	if (!roce_domain_has_vlan(e->domain, pkt.vlan_tci))
		verdict = ROCE_FRAME_FOREIGN;
	if (unlikely(verdict != ROCE_FRAME_OK))
		return rx_unparsed(e, *m, verdict);
	fate = rx_one(e, &pkt, now);
	*m = pkt.m;
	return fate;
}

/* Number of the queue pair that the frame is for, were it an untagged one of ours. */
static inline uint32_t
peek_qpn(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)frame;
	rte_be32_t dest_qp;
	uint32_t at;

	if (unlikely(m->data_len < BTH_V6 + sizeof(struct roce_bth)))
		return 0;
	at = eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) ? ROCE_PLAIN_BTH : BTH_V6;
	memcpy(&dest_qp, frame + at + offsetof(struct roce_bth, dest_qp), sizeof(dest_qp));
	return rte_be_to_cpu_32(dest_qp) & ROCE_QPN_MASK;
}

/*
 * Prefetch what the frames want of their queue pairs. With thousands of them all is far away, and nobody waits for one
 * line while the next could be under way: first the places in the table, then the lines that every frame wants.
 */
static __rte_noinline void
prefetch_queue_pairs(const struct roce_domain *domain, struct rte_mbuf **pkts, uint16_t n)
{
	uint32_t qpn[ROCE_RX_BURST];

	for (uint16_t i = 0; i < n; i++) {
		qpn[i] = peek_qpn(pkts[i]) & ROCE_QPS_MASK;
		rte_prefetch0(&domain->qp[qpn[i]]);
	}
	for (uint16_t i = 0; i < n; i++) {
		const struct roce_qp *qp = __atomic_load_n(&domain->qp[qpn[i]], __ATOMIC_ACQUIRE);

		if (likely(qp != NULL)) {
			rte_prefetch0(&qp->rx);
			rte_prefetch0(&qp->owner);
		}
	}
}

/*
 * Is that all there is to freeing the frame: to put it back into the pool? One segment with a buffer of its own, and
 * nobody else refers to it.
 */
static inline bool
is_plain(const struct rte_mbuf *m, const struct rte_mempool *pool)
{
	return m->pool == pool && rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1 &&
			m->next == NULL && RTE_MBUF_DIRECT(m);
}

/* Free a frame, which may be NULL: its consumer has it (zcrx.h). @return 1: it is for the caller to put back. */
static inline uint32_t
let_go(struct rte_mbuf *m, const struct rte_mempool *pool, struct rte_mbuf **back)
{
	if (unlikely(m == NULL || !is_plain(m, pool))) {
		rte_pktmbuf_free(m);
		return 0;
	}
	*back = m;
	return 1;
}

/* Once a burst: kept out of what is done for each frame. */
static __rte_noinline void
put_back(struct rte_mempool *pool, struct rte_mbuf **back, uint32_t n)
{
	if (n > 0)
		rte_mempool_put_bulk(pool, (void **)back, n);
}

/* Of frames that another core made all lines are far away: two of the bytes, and the one that freeing reads. */
static inline void
prefetch_frames(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
		rte_prefetch0(rte_pktmbuf_mtod_offset(
				pkts[i], const uint8_t *, RTE_CACHE_LINE_SIZE));
		rte_prefetch0(&pkts[i]->next);
	}
}

/* WRITEs that come one behind the other. @return how many of the first frames were taken. */
static inline uint16_t
rx_writes(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint16_t taken = 0;

	while (taken < n &&
			roce_resp_write(e, pkts[taken], IBV_OPCODE_RC_RDMA_WRITE_ONLY, now, NULL))
		taken++;
	return taken;
}

/* The same of READs. */
static inline uint16_t
rx_reads(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t taken = 0;

	while (taken < n && roce_resp_read(e, pkts[taken]))
		taken++;
	return taken;
}

/*
 * The fast paths of all but a SEND: of WRITEs, READs and their answers, and of requests that take an acknowledgement along.
 * @return how many of the first frames were taken.
 */
static __rte_noinline uint16_t
rx_fast_other(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	const struct rte_mbuf *m = pkts[0];

	switch (roce_plain_opcode(m)) {
	case ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY:
		return roce_resp_send(e, m, ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY, now,
				roce_ack_rx_piggybacked);
	case IBV_OPCODE_RC_RDMA_WRITE_ONLY:
		return rx_writes(e, pkts, n, now);
	case ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY:
		return roce_resp_write(e, m, ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_RDMA_WRITE_ONLY,
				now, roce_ack_rx_piggybacked);
	case IBV_OPCODE_RC_RDMA_READ_REQUEST:
		return rx_reads(e, pkts, n);
	default:
		return roce_read_rx_plain(e, pkts, n, now);
	}
}

/* Are frames of this opcode, which is not SEND only, for rx_fast_other()? Others are not to pay for a call. */
static inline bool
has_fast_path(uint8_t opcode)
{
	return opcode == (ROCE_OPCODE_PIGGYBACK | IBV_OPCODE_RC_SEND_ONLY) ||
			(opcode & ~ROCE_OPCODE_PIGGYBACK) == IBV_OPCODE_RC_RDMA_WRITE_ONLY ||
			opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST || roce_plain_is_answer(opcode);
}

/* The fast paths. @return how many of the first frames they took; 0: the first is for rx_any(). */
static __rte_always_inline uint16_t
rx_fast(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	if (likely(roce_resp_send(e, pkts[0], IBV_OPCODE_RC_SEND_ONLY, now, NULL)))
		return 1;
	return has_fast_path(roce_plain_opcode(pkts[0])) ? rx_fast_other(e, pkts, n, now) : 0;
}

static uint16_t
rx_burst(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct rte_mempool *pool = pkts[0]->pool;
	struct rte_mbuf *done[ROCE_RX_BURST];
	const bool alone = !e->domain->multi_engine;
	uint16_t foreign = 0;
	uint32_t plain = 0;

	prefetch_frames(pkts, n);
	if (__atomic_load_n(&e->domain->qps, __ATOMIC_RELAXED) > QPS_NEAR)
		prefetch_queue_pairs(e->domain, pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		const uint16_t taken = likely(alone) ? rx_fast(e, pkts + i, n - i, now) : 0;
		struct rte_mbuf *m = pkts[i];
		enum fate fate = FATE_DONE;

		if (unlikely(taken == 0))
			fate = rx_any(e, &m, now);
		if (unlikely(fate == FATE_FOREIGN))
			pkts[foreign++] = m;
		else if (likely(fate == FATE_DONE))
			plain += let_go(m, pool, &done[plain]);
		for (uint16_t more = taken; unlikely(more > 1); more--)
			plain += let_go(pkts[++i], pool, &done[plain]);
	}
	put_back(pool, done, plain);
	return foreign;
}

/*
 * Frames that other engines received for us. A frame is foreign here if its address or VLAN left the device meanwhile.
 * @return how many.
 */
static unsigned int
rx_inbox(struct roce_engine *e, uint64_t now)
{
	struct rte_mbuf *pkts[ROCE_RX_BURST];
	unsigned int n;
	uint16_t foreign;

	if (!e->domain->multi_engine)
		return 0;
	n = rte_ring_sc_dequeue_burst(e->inbox, (void **)pkts, ROCE_RX_BURST, NULL);
	if (n == 0)
		return 0;
	foreign = rx_burst(e, pkts, (uint16_t)n, now);
	if (foreign > 0)
		rte_pktmbuf_free_bulk(pkts, foreign);
	return n;
}

/* So many frames came. */
static inline void
count_burst(struct roce_engine *e, unsigned int n)
{
	if (n > 0)
		e->burst = (uint16_t)n;
}

void
roce_engine_rx_forwarded(struct roce_engine *e, uint64_t now)
{
	unsigned int n = e->domain->multi_engine ? rte_ring_count(e->inbox) : 0;

	roce_lone_time(e, now);
	/* Others may add to it all the time. */
	for (unsigned int i = 0; i < n; i += ROCE_RX_BURST)
		(void)rx_inbox(e, now);
	count_burst(e, n);
}

uint16_t
roce_engine_rx(struct roce_engine *e, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	uint16_t foreign = 0;

	roce_lone_time(e, now);
	e->busy = n >= ROCE_RX_BURST;
	e->stats.rx_frames += n;
	for (uint32_t i = 0; i < n; i += ROCE_RX_BURST) {
		uint16_t left = rx_burst(e, pkts + i, (uint16_t)RTE_MIN(n - i, ROCE_RX_BURST), now);

		if (unlikely(left > 0 && foreign != i))
			memmove(pkts + foreign, pkts + i, left * sizeof(pkts[0]));
		foreign += left;
	}
	/* Last: a DREQ that another engine received must not overtake acknowledgements in this burst. */
	count_burst(e, n + rx_inbox(e, now));
	return foreign;
}
