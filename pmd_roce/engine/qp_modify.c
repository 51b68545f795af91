/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair moved step by step, as ibv_modify_qp() does it (IBTA Vol 1, 11.2.5.2): which step needs which attributes, and
 * what is done with them. The states themselves are those of qp_state.c.
 */

#include <errno.h>
#include <string.h>

#include "engine/qp_state.h"
#include "engine/verbs.h"
#include "queue/qp.h"
#include "queue/qp_end.h"
#include "requester/retry.h"
#include "requester/rewind.h"

#define STATES (ROCE_QPS_ERR + 1)

#define FLOW_LABEL_MAX 0xfffffu
#define SPORT_FIRST    0xc000u

/** Attributes that a step must have, and others that it may have. */
struct step {
	uint32_t needed; /**< with ROCE_QP_MOD_STATE; 0: there is no such step */
	uint32_t allowed;
	uint32_t not_offered; /**< allowed by IBTA, besides NOT_OFFERED */
};

#define INIT_ATTRS (ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT | ROCE_QP_MOD_ACCESS)
#define RTR_ATTRS                                                                            \
	(ROCE_QP_MOD_AV | ROCE_QP_MOD_PATH_MTU | ROCE_QP_MOD_DEST_QPN | ROCE_QP_MOD_RQ_PSN | \
			ROCE_QP_MOD_MAX_DEST_RD_ATOMIC | ROCE_QP_MOD_MIN_RNR_TIMER)
#define RTS_ATTRS                                                           \
	(ROCE_QP_MOD_SQ_PSN | ROCE_QP_MOD_TIMEOUT | ROCE_QP_MOD_RETRY_CNT | \
			ROCE_QP_MOD_RNR_RETRY | ROCE_QP_MOD_MAX_RD_ATOMIC)
#define LATE_ATTRS (ROCE_QP_MOD_CUR_STATE | ROCE_QP_MOD_ACCESS | ROCE_QP_MOD_MIN_RNR_TIMER)
#define SQD_ATTRS                                                              \
	(ROCE_QP_MOD_TIMEOUT | ROCE_QP_MOD_RETRY_CNT | ROCE_QP_MOD_RNR_RETRY | \
			ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_PORT)
#define SQD_NOT_OFFERED \
	(ROCE_QP_MOD_AV | ROCE_QP_MOD_MAX_RD_ATOMIC | ROCE_QP_MOD_MAX_DEST_RD_ATOMIC)
#define NOT_OFFERED (ROCE_QP_MOD_ALT_PATH | ROCE_QP_MOD_PATH_MIG_STATE)

/* Of a reliable connection. Any state leads to RESET and ERR besides. */
static const struct step steps[STATES][STATES] = {
	/* clang-format off */
	[ROCE_QPS_RESET] = {
		[ROCE_QPS_INIT] = { ROCE_QP_MOD_STATE | INIT_ATTRS, 0, 0 },
	},
	[ROCE_QPS_INIT] = {
		[ROCE_QPS_INIT] = { ROCE_QP_MOD_STATE, INIT_ATTRS, 0 },
		[ROCE_QPS_RTR] = { ROCE_QP_MOD_STATE | RTR_ATTRS, ROCE_QP_MOD_PKEY_INDEX | ROCE_QP_MOD_ACCESS, 0 },
	},
	[ROCE_QPS_RTR] = {
		[ROCE_QPS_RTS] = { ROCE_QP_MOD_STATE | RTS_ATTRS, LATE_ATTRS, 0 },
	},
	[ROCE_QPS_RTS] = {
		[ROCE_QPS_RTS] = { ROCE_QP_MOD_STATE, LATE_ATTRS, 0 },
		[ROCE_QPS_SQD] = { ROCE_QP_MOD_STATE, ROCE_QP_MOD_CUR_STATE | ROCE_QP_MOD_EN_SQD_ASYNC_NOTIFY, 0 },
	},
	[ROCE_QPS_SQD] = {
		[ROCE_QPS_RTS] = { ROCE_QP_MOD_STATE, LATE_ATTRS, 0 },
		[ROCE_QPS_SQD] = { ROCE_QP_MOD_STATE, LATE_ATTRS | SQD_ATTRS, SQD_NOT_OFFERED },
	},
	/* clang-format on */
};

static enum roce_qps
state_of(const struct roce_qp *qp)
{
	switch (roce_qp_state(qp)) {
	case ROCE_QP_RTR:
		return ROCE_QPS_RTR;
	case ROCE_QP_RTS:
		return qp->cold.sqd ? ROCE_QPS_SQD : ROCE_QPS_RTS;
	case ROCE_QP_ERR:
		return ROCE_QPS_ERR;
	default:
		return qp->cold.initialised ? ROCE_QPS_INIT : ROCE_QPS_RESET;
	}
}

/* Is there such a step, with these attributes? */
static int
judge_step(enum roce_qps from, enum roce_qps to, uint32_t mask)
{
	struct step step = { ROCE_QP_MOD_STATE, 0, 0 };

	if (to != ROCE_QPS_RESET && to != ROCE_QPS_ERR)
		step = steps[from][to];
	if (step.needed == 0 || (mask & step.needed) != step.needed)
		return -EINVAL;
	mask &= ~(step.needed | step.allowed);
	if (mask == 0)
		return 0;
	return (mask & ~(NOT_OFFERED | step.not_offered)) == 0 ? -EOPNOTSUPP : -EINVAL;
}

/* In SQD, with requests that were begun and are not over. */
static bool
is_draining(const struct roce_qp *qp)
{
	return state_of(qp) == ROCE_QPS_SQD && qp->tx.draining;
}

/* A value that the mask names is within its bounds. */
static bool
within(uint32_t mask, uint32_t attr, uint32_t value, uint32_t max)
{
	return !(mask & attr) || value <= max;
}

static bool
values_ok(const struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	if ((mask & ROCE_QP_MOD_PORT) && mod->port_num != 1)
		return false;
	if ((mask & ROCE_QP_MOD_PATH_MTU) && roce_mtu_code(mod->path_mtu) == 0)
		return false;
	return within(mask, ROCE_QP_MOD_PKEY_INDEX, mod->pkey_index, 0) &&
			within(mask, ROCE_QP_MOD_AV, mod->flow_label, FLOW_LABEL_MAX) &&
			within(mask, ROCE_QP_MOD_DEST_QPN, mod->dest_qpn, ROCE_QPN_MASK) &&
			within(mask, ROCE_QP_MOD_RQ_PSN, mod->rq_psn, ROCE_PSN_MASK) &&
			within(mask, ROCE_QP_MOD_SQ_PSN, mod->sq_psn, ROCE_PSN_MASK) &&
			within(mask, ROCE_QP_MOD_MIN_RNR_TIMER, mod->min_rnr_timer, 31) &&
			within(mask, ROCE_QP_MOD_TIMEOUT, mod->timeout, 31) &&
			within(mask, ROCE_QP_MOD_RETRY_CNT, mod->retry_cnt, 7) &&
			within(mask, ROCE_QP_MOD_RNR_RETRY, mod->rnr_retry, 7) &&
			within(mask, ROCE_QP_MOD_MAX_RD_ATOMIC, mod->max_rd_atomic,
					ROCE_RD_ATOMIC_MAX) &&
			within(mask, ROCE_QP_MOD_MAX_DEST_RD_ATOMIC, mod->max_dest_rd_atomic,
					qp->remote.max);
}

int
roce_qp_may_modify(const struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	enum roce_qps from = state_of(qp);
	enum roce_qps to = mask & ROCE_QP_MOD_STATE ? (enum roce_qps)mod->state : from;
	int rc;

	if (to >= STATES || ((mask & ROCE_QP_MOD_CUR_STATE) && mod->cur_state != from))
		return -EINVAL;
	rc = judge_step(from, to, mask | ROCE_QP_MOD_STATE);
	if (rc == 0 && is_draining(qp) && to != ROCE_QPS_RESET && to != ROCE_QPS_ERR)
		rc = -EINVAL;
	if (rc == 0 && !values_ok(qp, mod, mask))
		rc = -EINVAL;
	if (rc == 0 && qp->cold.conn != NULL && to != from && to != ROCE_QPS_ERR)
		rc = -EBUSY;
	return rc;
}

/* Attributes that several steps may change. */
static void
set_attributes(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	if (mask & ROCE_QP_MOD_ACCESS)
		qp->remote.access = mod->access & ROCE_REMOTE_ACCESS;
	if (mask & ROCE_QP_MOD_MIN_RNR_TIMER)
		qp->cold.connect.rnr_timer = mod->min_rnr_timer;
}

/* In SQD, where nothing is in flight. */
static void
set_retries(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask)
{
	struct roce_qp_connect *connect = &qp->cold.connect;

	if (mask & ROCE_QP_MOD_TIMEOUT)
		connect->ack_timeout = mod->timeout;
	if (mask & ROCE_QP_MOD_RETRY_CNT)
		connect->retry = mod->retry_cnt;
	if (mask & ROCE_QP_MOD_RNR_RETRY)
		connect->rnr_retry = mod->rnr_retry;
	roce_retry_adjust(qp);
}

/* The source port of a flow label, as verbs.h has it: ibv_flow_label_to_udp_sport(). */
static uint16_t
sport_of(uint32_t label)
{
	return (uint16_t)(SPORT_FIRST | ((label ^ label >> 14) & 0x3fff));
}

static int
receive(struct roce_qp *qp, const struct roce_qp_mod *mod, const struct roce_path *path)
{
	struct roce_qp_connect connect = {
		.path = *path,
		.dest_qp = mod->dest_qpn,
		.rq_psn = mod->rq_psn,
		.rnr_timer = mod->min_rnr_timer,
		.max_dest_rd_atomic = mod->max_dest_rd_atomic,
		.flow_label = mod->flow_label,
	};

	if (mod->path_mtu > roce_mtu_bytes(path->mtu_code))
		return -EINVAL;
	connect.path.mtu_code = roce_mtu_code(mod->path_mtu);
	/* The marks of congestion are not the consumer's. */
	if ((mod->traffic_class & ~ROCE_TOS_ECN) != 0)
		connect.path.tos = mod->traffic_class & (uint8_t)~ROCE_TOS_ECN;
	if (mod->hop_limit != 0)
		connect.path.ttl = mod->hop_limit;
	if (mod->flow_label != 0)
		connect.path.udp_sport = sport_of(mod->flow_label);
	return roce_qp_begin_receiving(qp, &connect);
}

static int
send(struct roce_qp *qp, const struct roce_qp_mod *mod)
{
	struct roce_qp_connect *connect = &qp->cold.connect;

	if (qp->cold.sqd) {
		roce_qp_sqd_leave(qp);
		return 0;
	}
	connect->sq_psn = mod->sq_psn;
	connect->ack_timeout = mod->timeout;
	connect->retry = mod->retry_cnt;
	connect->rnr_retry = mod->rnr_retry;
	connect->max_rd_atomic = mod->max_rd_atomic;
	roce_qp_begin_sending(qp);
	return roce_qp_to_rts(qp);
}

/* The last frame of what was begun asks for its acknowledgement. If it was sent already, something is sent again that does. */
static void
drain(struct roce_qp *qp, bool event)
{
	const struct roce_qp_tx *tx = &qp->tx;

	roce_qp_sqd_enter(qp, event);
	if (tx->next == tx->begun && tx->tail != tx->begun)
		roce_req_end_silence(qp);
}

/* The answer that it owes is not the connection's any more, but the peer's. */
static void
reset(struct roce_qp *qp)
{
	roce_qp_make_final_ack(qp);
	roce_qp_to_reset(qp);
}

static int
enter(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask,
		const struct roce_path *path)
{
	switch (mod->state) {
	case ROCE_QPS_RESET:
		reset(qp);
		return 0;
	case ROCE_QPS_INIT:
		qp->cold.initialised = true;
		return 0;
	case ROCE_QPS_RTR:
		return receive(qp, mod, path);
	case ROCE_QPS_RTS:
		return send(qp, mod);
	case ROCE_QPS_SQD:
		drain(qp,
				(mask & ROCE_QP_MOD_EN_SQD_ASYNC_NOTIFY) &&
						mod->en_sqd_async_notify != 0);
		return 0;
	default:
		roce_qp_to_error(qp);
		return 0;
	}
}

int
roce_qp_do_modify(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask,
		const struct roce_path *path)
{
	bool moves = (mask & ROCE_QP_MOD_STATE) &&
			(mod->state != state_of(qp) || mod->state == ROCE_QPS_RESET);
	int rc = moves ? enter(qp, mod, mask, path) : 0;

	if (rc == 0)
		set_attributes(qp, mod, mask);
	if (!moves && state_of(qp) == ROCE_QPS_SQD)
		set_retries(qp, mod, mask);
	return rc;
}

void
roce_qp_show(const struct roce_qp *qp, struct roce_qp_mod *mod)
{
	const struct roce_qp_connect *c = &qp->cold.connect;
	const uint8_t state = (uint8_t)state_of(qp);
	const bool begun = c->path.mtu_code != 0;

	*mod = (struct roce_qp_mod){
		.state = state,
		.cur_state = state,
		.port_num = state == ROCE_QPS_RESET ? 0 : 1,
		.min_rnr_timer = c->rnr_timer,
		.timeout = c->ack_timeout,
		.retry_cnt = c->retry,
		.rnr_retry = c->rnr_retry,
		.max_rd_atomic = c->max_rd_atomic,
		.max_dest_rd_atomic = c->max_dest_rd_atomic,
		.traffic_class = c->path.tos,
		.hop_limit = c->path.ttl,
		.access = state == ROCE_QPS_RESET ? 0 : qp->remote.access,
		.path_mtu = begun ? roce_mtu_bytes(c->path.mtu_code) : 0,
		.dest_qpn = c->dest_qp,
		.rq_psn = c->rq_psn,
		.sq_psn = c->sq_psn,
		.flow_label = c->flow_label,
		.sq_draining = is_draining(qp),
	};
	memcpy(mod->remote_ip, c->path.dst_ip.b, sizeof(mod->remote_ip));
	memcpy(mod->local_ip, c->path.src_ip.b, sizeof(mod->local_ip));
}
