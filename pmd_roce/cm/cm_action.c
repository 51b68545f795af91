/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The actions of the table of states. Telling the owner is the last thing an action does with a connection: the owner may
 * end or release it from inside.
 */

#include <errno.h>

#include <rte_common.h>

#include "cm/cm_action.h"
#include "cm/cm_conn.h"
#include "cm/cm_table.h"
#include "cm/cm_wire.h"

#define FIRST_REPEAT_US  200000u
#define DREQ_RETRIES     12
#define RESOLVE_AGAIN_US 100000u
#define SERVICE_CODE_MAX 24 /* 68 s: no peer makes us wait longer at a time */

/*
 * A REP that is never confirmed holds a place of the server, so MRAs do not prolong its repeats (53 s) without end. The
 * longest time that one MRA gets fits in.
 */
#define CONFIRM_US 120000000u

static uint64_t
code_us(unsigned int code)
{
	return (UINT64_C(4096) << code) / 1000;
}

/*
 * 0.2 s, then twice as long each time, up to the response time that both sides offer (4.3 s): a loss between
 * quick hosts costs little, and a slow one is not asked more often than Linux asks.
 */
uint64_t
roce_cm_repeat_us(unsigned int tries)
{
	uint64_t limit = code_us(ROCE_CM_CODE_RESPONSE);

	return tries > 5 ? limit : RTE_MIN(limit, (uint64_t)FIRST_REPEAT_US << tries);
}

/* A closing adapter waits a quarter of a second for the answer to its DREQ: time for a second repeat. */
static uint64_t
repeat_us(bool leaving, unsigned int tries)
{
	return roce_cm_repeat_us(tries) / (leaving ? 4 : 1);
}

/* The action is over, and this happens next. */
static void
then(struct roce_cm_transition *step, enum roce_cm_input_kind kind)
{
	step->then = (struct roce_cm_input){ .kind = kind, .now = step->in->now };
}

/* A message of this connection with nothing but its ids. */
static struct roce_cm_msg
message(const struct roce_cm_conn *conn, enum roce_cm_attr attr)
{
	return (struct roce_cm_msg){
		.tid = conn->tid,
		.ca_guid = conn->cm->config.ca_guid,
		.local_id = conn->local_id,
		.remote_id = conn->remote_id,
		.attr = attr,
	};
}

/* Store a message and send it; the timer repeats it. */
static void
send_stored(struct roce_cm_conn *conn, const struct roce_cm_msg *msg, uint64_t now)
{
	roce_cm_msg_encode(msg, &conn->stored);
	roce_cm_conn_owe(conn, ROCE_CM_OWE_MSG);
	roce_cm_conn_arm(conn, repeat_us(msg->attr == ROCE_CM_ATTR_DREQ, 0), now);
}

/* A REJ is not repeated by time: it is kept for a while, for a peer that says its message again. */
static void
send_rej(struct roce_cm_conn *conn, struct roce_cm_transition *step, uint16_t reason)
{
	struct roce_cm_msg msg = message(conn, ROCE_CM_ATTR_REJ);
	rte_be64_t guid = rte_cpu_to_be_64(msg.ca_guid);

	msg.reason = reason;
	msg.about = ROCE_CM_ABOUT_OTHER;
	if (step->from == ROCE_CM_STATE_REQ_RCVD)
		msg.about = ROCE_CM_ABOUT_REQ;
	else if (step->from == ROCE_CM_STATE_REP_RCVD)
		msg.about = ROCE_CM_ABOUT_REP;
	if (step->in->param != NULL)
		msg.param = *step->in->param;
	/* The receiver of a time-out may not know our id, or we not its: the GUID says who we are. */
	if (reason == ROCE_CM_REJ_TIMEOUT) {
		msg.ari = (const uint8_t *)&guid;
		msg.ari_len = sizeof(guid);
	}
	conn->refuses = true;
	send_stored(conn, &msg, step->in->now);
	roce_cm_conn_arm(conn, ROCE_CM_LINGER_US, step->in->now);
}

static void
act_none(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(conn);
	RTE_SET_USED(step);
}

static void
act_resolve(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	const struct roce_cm_config *config = &conn->cm->config;
	const struct roce_ip dst = conn->path.dst_ip;
	uint64_t now = step->in->now;
	int rc = config->resolve(
			config->resolve_arg, conn->context, &dst, &conn->src, &conn->path, now);

	/* Where there is a path it may be to another address of the same host: all of 127.0.0.0/8 is one. */
	if (rc != 0)
		conn->path.dst_ip = dst;
	if (conn->tos != 0)
		conn->path.tos = conn->tos;
	if (rc == 0) {
		then(step, conn->path_only ? ROCE_CM_IN_FOUND : ROCE_CM_IN_RESOLVED);
		return;
	}
	if (rc != -EAGAIN || now >= conn->resolve_by || now >= conn->give_up) {
		then(step, ROCE_CM_IN_GIVE_UP);
		return;
	}
	roce_cm_conn_arm(conn, RESOLVE_AGAIN_US, now);
}

static void
act_found(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(step);
	roce_cm_conn_tell(conn, ROCE_CM_PATH, NULL);
}

static void
act_request(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	struct roce_cm_msg msg = message(conn, ROCE_CM_ATTR_REQ);

	if (conn->local.mtu_code != 0)
		conn->path.mtu_code = RTE_MIN(conn->path.mtu_code, conn->local.mtu_code);
	if (step->in->kind == ROCE_CM_IN_SMALLER)
		conn->path.mtu_code = step->in->msg->ari[0];
	conn->path.udp_sport = roce_cm_msg_sport(conn->flow_label);
	msg.param = conn->local;
	msg.param.extensions = conn->cm->config.extensions;
	msg.param.mtu_code = conn->path.mtu_code;
	msg.req = (struct roce_cm_req_info){
		.service_id = conn->service_id,
		.local_gid = conn->path.src_ip,
		.remote_gid = conn->path.dst_ip,
		.flow_label = conn->flow_label,
		.pkey = ROCE_PKEY_DEFAULT,
		.src_port = conn->src_port,
		.local_timeout = ROCE_CM_CODE_RESPONSE,
		.remote_timeout = ROCE_CM_CODE_RESPONSE,
		.max_retries = ROCE_CM_RETRIES,
		.traffic_class = conn->path.tos,
		.hop_limit = conn->path.ttl != 0 ? conn->path.ttl : ROCE_CM_TTL,
		.sl = (uint8_t)(conn->path.vlan_tci >> ROCE_PCP_SHIFT),
	};
	send_stored(conn, &msg, step->in->now);
}

static void
act_repeat(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	uint64_t now = step->in->now;
	bool leaving = step->from == ROCE_CM_STATE_DREQ_SENT;
	unsigned int most = leaving ? DREQ_RETRIES : ROCE_CM_RETRIES;

	if (conn->tries >= most || (!leaving && now >= conn->give_up)) {
		then(step, ROCE_CM_IN_GIVE_UP);
		return;
	}
	conn->prolonged = false;
	conn->patient_id = 0;
	conn->cm->stats.repeats++;
	roce_cm_conn_owe(conn, ROCE_CM_OWE_MSG);
	roce_cm_conn_arm(conn, repeat_us(leaving, ++conn->tries), now);
}

/* Once for each message we sent, so that nobody holds us for ever with MRAs. */
static void
act_prolong(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	uint64_t us = code_us(RTE_MIN(step->in->msg->service_timeout, SERVICE_CODE_MAX));

	if (conn->prolonged)
		return;
	conn->prolonged = true;
	conn->patient_id = step->in->msg->local_id;
	roce_cm_conn_arm(conn, us + roce_cm_repeat_us(conn->tries), step->in->now);
}

static void
act_reply(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	int rc;

	conn->remote_id = step->in->msg->local_id;
	conn->remote_qpn = step->in->msg->param.qpn;
	rc = roce_cm_conn_tell(conn, ROCE_CM_REPLY, step->in->msg);
	if (rc == ROCE_CM_LATER)
		return;
	then(step, rc == 0 ? ROCE_CM_IN_READY : ROCE_CM_IN_END);
	step->then.reason = ROCE_CM_REJ_NO_RESOURCES;
	/* Means nothing when the owner ended it from inside. It cannot be freed yet: that is the wheel's. */
}

static void
act_confirm(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(step);
	roce_cm_conn_owe(conn, ROCE_CM_OWE_RTU);
}

static void
act_patience(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(step);
	roce_cm_conn_owe(conn, ROCE_CM_OWE_MRA);
}

static void
act_answer(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	struct roce_cm_msg msg = message(conn, ROCE_CM_ATTR_REP);

	msg.param = *step->in->param;
	msg.param.extensions = conn->extensions;
	conn->local = *step->in->param;
	conn->local.private_data = NULL;
	conn->local.private_len = 0;
	conn->give_up = roce_cm_after(step->in->now, roce_cm_ticks(conn->cm, CONFIRM_US));
	send_stored(conn, &msg, step->in->now);
}

static void
act_again(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	if (step->from == ROCE_CM_STATE_REP_SENT || conn->refuses)
		roce_cm_conn_owe(conn, ROCE_CM_OWE_MSG);
}

static void
act_establish(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	roce_cm_conn_tell(conn, ROCE_CM_ESTABLISHED, NULL);
	if (step->in->kind == ROCE_CM_IN_DREQ)
		step->then = *step->in;
}

/* The last that the owner hears. It may let go of the connection, which still has something to say and so stays. */
static void
tell_broken(struct roce_cm_conn *conn)
{
	roce_cm_conn_tell(conn, ROCE_CM_BROKEN, NULL);
	conn->silent = true;
}

static void
act_reject(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	uint16_t reason = step->in->reason != 0 ? step->in->reason : ROCE_CM_REJ_CONSUMER;

	/* As Linux says it when a client dies with its REQ pending. */
	if (step->from == ROCE_CM_STATE_REQ_SENT)
		reason = ROCE_CM_REJ_TIMEOUT;
	send_rej(conn, step, reason);
	if (step->in->kind == ROCE_CM_IN_QP_DOWN)
		tell_broken(conn);
}

static void
act_refused(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	conn->cm->stats.rejected++;
	roce_cm_conn_tell(conn, ROCE_CM_REJECTED, step->in->msg);
}

static void
act_timed_out(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	conn->cm->stats.timed_out++;
	send_rej(conn, step, ROCE_CM_REJ_TIMEOUT);
	roce_cm_conn_tell(conn, ROCE_CM_TIMED_OUT, NULL);
}

static void
act_unreachable(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(step);
	conn->cm->stats.unreachable++;
	roce_cm_conn_tell(conn, ROCE_CM_UNREACHABLE, NULL);
}

static void
act_disconnect(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	struct roce_cm_msg msg = message(conn, ROCE_CM_ATTR_DREQ);

	msg.qpn = conn->remote_qpn;
	if (step->in->kind != ROCE_CM_IN_QP_DOWN) {
		send_stored(conn, &msg, step->in->now);
		return;
	}
	/* The NAK that says why may leave by another queue, and must not be overtaken: the timer sends this. */
	roce_cm_msg_encode(&msg, &conn->stored);
	roce_cm_conn_arm(conn, ROCE_CM_DREQ_DELAY_US, step->in->now);
	tell_broken(conn);
}

static void
act_answer_dreq(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	conn->dreq_tid = step->in->msg->tid;
	roce_cm_conn_owe(conn, ROCE_CM_OWE_DREP);
}

static void
act_left(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	if (step->in->kind == ROCE_CM_IN_DREQ)
		act_answer_dreq(conn, step);
	conn->cm->stats.disconnected++;
	roce_cm_conn_tell(conn, ROCE_CM_DISCONNECTED, NULL);
}

static void
act_refuse_reply(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	struct roce_cm_msg msg = message(conn, ROCE_CM_ATTR_REJ);

	if (conn->refuses) {
		roce_cm_conn_owe(conn, ROCE_CM_OWE_MSG);
		return;
	}
	msg.tid = step->in->msg->tid;
	msg.remote_id = step->in->msg->local_id;
	msg.about = ROCE_CM_ABOUT_REP;
	msg.reason = ROCE_CM_REJ_INVALID_COMM_ID;
	roce_cm_answer(conn->cm, &conn->path, &msg);
}

static void
act_drop(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	act_none(conn, step);
}

static void
act_forget(struct roce_cm_conn *conn, struct roce_cm_transition *step)
{
	RTE_SET_USED(step);
	if (conn->released)
		roce_cm_conn_free(conn);
}

const struct roce_cm_action roce_cm_action[] = {
#define DESCRIBE(word) [ROCE_CM_ACT_##word] = { act_##word, #word },
	ROCE_CM_ACTIONS(DESCRIBE)
#undef DESCRIBE
};
