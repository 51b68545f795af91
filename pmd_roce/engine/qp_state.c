/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a queue pair: RESET -> RTR -> RTS, and back to RESET. ERR is in qp_end.c. */

#include <errno.h>
#include <string.h>

#include "engine/qp_state.h"
#include "engine/verbs.h"
#include "queue/complete.h"
#include "queue/extbuf.h"
#include "queue/post.h"
#include "queue/qp_end.h"
#include "requester/reorder.h"
#include "requester/retry.h"
#include "responder/final_ack.h"
#include "responder/resp.h"
#include "responder/zcrx.h"

#define ECN_CAPABLE 0x02    /**< ECT(0) of RFC 3168 */
#define SPORT_FIRST 0xc000u /**< RoCEv2 entropy ports: 49152..65535 */

void
roce_qp_init(struct roce_qp *qp)
{
	struct roce_domain *domain = qp->pd->domain;

	/* A new one for each connection, so that frames of the last one do not fit. */
	qp->cold.first_psn = domain->config.first_psn <= ROCE_PSN_MASK
			? domain->config.first_psn
			: (uint32_t)roce_random(domain) & ROCE_PSN_MASK;
	qp->tx = (struct roce_qp_tx){
		.next = qp->post.head,
		.tail = qp->post.head,
		.begun = qp->post.head,
		.timeout_at = ROCE_NEVER,
		.limit_at = ROCE_NEVER,
	};
	qp->cold.repair = (struct roce_repair){ 0 };
	qp->cold.nak_alone = false;
	qp->rx.state = ROCE_QP_RESET;
	__atomic_store_n(&qp->post.connected, false, __ATOMIC_RELAXED);
	qp->rx.verb = ROCE_VERB_NONE;
	qp->rx.owes = 0;
	qp->rx.unacked = 0;
	qp->rx.nak_sent = false;
	qp->cold.heard = false;
	qp->cold.cnp_at = 0;
	qp->cold.odd_answers = 0;
	qp->cold.odd_psn = 0;
	qp->cold.dcqcn = (struct roce_dcqcn){ 0 };
	qp->cold.recovery = (struct roce_recovery){ 0 };
	qp->cold.reorder = (struct roce_reorder){ 0 };
	roce_reorder_forget(qp);
	roce_qp_hold(qp, false);
	qp->remote.access = ROCE_REMOTE_ACCESS;
	qp->cold.initialised = false;
	qp->cold.sqd = false;
	qp->cold.ended = false;
	qp->cold.connect = (struct roce_qp_connect){ 0 };
	qp->cold.sqd_event = false;
	qp->rx.msn = 0;
	qp->rx.got = 0;
	qp->post.tail_seen = qp->post.head;
	__atomic_store_n(&qp->post.one_by_one, domain->config.faults.wc_error != 0,
			__ATOMIC_RELAXED);
	roce_timer_init(&qp->tx.timer, roce_retry_fire);
}

/* One port a flow, from both ends' numbers, so that the network spreads flows over its paths. */
static uint16_t
source_port(uint32_t a, uint32_t b)
{
	uint64_t v = (uint64_t)a * b;

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint16_t)(SPORT_FIRST | (v & 0x3fff));
}

static bool
is_ours(const struct roce_domain_config *config, const struct roce_ip *ip)
{
	for (unsigned int i = 0; i < config->addrs; i++) {
		if (roce_ip_equal(&config->addr[i], ip))
			return true;
	}
	return false;
}

/* Which process may send to the queue pair, for whoever tells processes apart. */
static void
set_peer_process(const struct roce_qp *qp, uint16_t process)
{
	const struct roce_domain_config *config = &qp->pd->domain->config;

	if (config->peer_process != NULL)
		config->peer_process[qp->rx.qpn & ROCE_QPS_MASK] = process;
}

static bool
connect_ok(const struct roce_qp_connect *c)
{
	return roce_mtu_bytes(c->path.mtu_code) != 0 && c->retry <= 7 && c->rnr_retry <= 7 &&
			c->rnr_timer <= 31 && c->ack_timeout <= 31 && c->dest_qp <= ROCE_QPN_MASK &&
			c->rq_psn <= ROCE_PSN_MASK && c->sq_psn <= ROCE_PSN_MASK &&
			roce_ip_is_v4(&c->path.src_ip) == roce_ip_is_v4(&c->path.dst_ip);
}

int
roce_qp_begin_receiving(struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	struct roce_path path = connect->path;
	const struct roce_domain_config *config = &qp->engine->domain->config;

	if (qp->rx.state != ROCE_QP_RESET || !connect_ok(connect))
		return -EINVAL;
	qp->cold.connect = *connect;
	qp->cold.peer = path.dst_ip;
	qp->cold.local = path.src_ip;
	if (path.udp_sport == 0)
		path.udp_sport = source_port(qp->rx.qpn, connect->dest_qp);
	if (config->ecn)
		path.tos |= ECN_CAPABLE;
	roce_template_init(&qp->cold.template, &path, connect->dest_qp, config->ip_cksum_offload);

	qp->rx.flow4 = 0;
	if (roce_ip_is_v4(&path.dst_ip)) {
		rte_be32_t flow[2] = { path.dst_ip.w[3], path.src_ip.w[3] };

		memcpy(&qp->rx.flow4, flow, sizeof(flow));
	}
	set_peer_process(qp,
			is_ours(config, &path.dst_ip) ? (uint16_t)(connect->dest_qp / ROCE_QPS_MAX)
						      : 0);
	qp->rx.mtu = roce_mtu_bytes(path.mtu_code);
	qp->rx.epsn = connect->rq_psn;
	roce_resp_read_init(qp, connect->max_dest_rd_atomic);
	__atomic_store_n(&qp->rx.state, ROCE_QP_RTR, __ATOMIC_RELEASE);
	return 0;
}

void
roce_qp_begin_sending(struct roce_qp *qp)
{
	const struct roce_qp_connect *connect = &qp->cold.connect;

	qp->tx.psn = connect->sq_psn;
	qp->tx.una = connect->sq_psn;
	qp->tx.max = connect->sq_psn;
	qp->tx.piggyback = connect->extensions;
	roce_retry_init(qp);
	qp->post.max_rd_atomic = connect->max_rd_atomic;
	qp->post.max_read = (uint32_t)RTE_MIN(
			(uint64_t)ROCE_READ_PACKETS_MAX * qp->rx.mtu, (uint64_t)ROCE_MSG_MAX);
	__atomic_store_n(&qp->post.connected, true, __ATOMIC_RELEASE);
}

int
roce_qp_to_rtr(struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	int rc = roce_qp_begin_receiving(qp, connect);

	if (rc == 0)
		roce_qp_begin_sending(qp);
	return rc;
}

int
roce_qp_to_rts(struct roce_qp *qp)
{
	if (qp->rx.state == ROCE_QP_RTS)
		return 0;
	if (qp->rx.state != ROCE_QP_RTR)
		return -EINVAL;
	__atomic_store_n(&qp->rx.state, ROCE_QP_RTS, __ATOMIC_RELEASE);
	roce_qp_ready(qp);
	return 0;
}

void
roce_qp_make_final_ack(struct roce_qp *qp)
{
	bool reads = qp->rx.owes & ROCE_OWES_READ;

	/* First: an answer in the state ENDING would break the queue pair. */
	__atomic_store_n(&qp->rx.state, ROCE_QP_ERR, __ATOMIC_SEQ_CST);
	qp->rx.owes = roce_qp_last_answer(&qp->rx);
	/* Messages that the peer would have asked about with a later one count, too. */
	if (qp->rx.owes == 0 && !reads && qp->rx.unacked > 0)
		qp->rx.owes = ROCE_OWES_ACK;
	if (qp->rx.owes != 0)
		roce_final_ack_make(qp);
}

void
roce_qp_to_reset(struct roce_qp *qp)
{
	struct roce_engine *e = qp->engine;
	uint32_t dropped = 0;

	roce_engine_answer_doorbells(e);
	roce_qp_unlist(qp);
	roce_timer_cancel(e->wheel, &qp->tx.timer);
	roce_held_drop(qp);
	if (qp->rx.holding)
		dropped = 1;
	set_peer_process(qp, ROCE_NO_PROCESS);
	if (qp->rx.rq->private_queue) {
		while (roce_srq_take(qp->rx.rq, qp->rx.recv))
			;
	} else if (dropped > 0) {
		qp->cold.eventless += dropped;
		roce_srq_reap_silent(qp->rx.rq, dropped);
	}
	if (qp->wq.flags & ROCE_WQE_EXTBUF)
		roce_extbuf_drop(qp);
	if (qp->cold.zcrx != NULL)
		roce_zcrx_drop(qp);
	__atomic_store_n(&qp->tx.tail, roce_qp_posted(qp), __ATOMIC_RELEASE);
	roce_qp_init(qp);
}
