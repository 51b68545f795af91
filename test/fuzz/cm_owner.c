/* SPDX-License-Identifier: BSD-3-Clause */
/* Owners of connections: what they do, and what they may be told when. */

#include <errno.h>
#include <string.h>

#include "cm_world.h"

#define NESTED_MAX 64u /**< connects from inside a notify, so that a script comes to an end */

/* A place for a connection; the oldest released one when there is no other. NULL: all are in use. */
static struct cm_owner *
new_owner(struct cm_end *end, struct roce_cm_conn *conn, enum cm_phase phase)
{
	static const enum cm_phase wanted[2] = { CM_NOBODY, CM_RELEASED };

	for (unsigned int w = 0; w < 2; w++) {
		for (unsigned int i = 0; i < CM_OWNERS; i++) {
			struct cm_owner *owner = &end->owner[i];

			if (owner->phase != wanted[w])
				continue;
			*owner = (struct cm_owner){ .end = end, .conn = conn, .phase = phase };
			return owner;
		}
	}
	return NULL;
}

static struct cm_owner *
owner_of(struct cm_end *end, const struct roce_cm_conn *conn)
{
	for (unsigned int i = 0; i < CM_OWNERS; i++) {
		struct cm_owner *owner = &end->owner[i];

		if (owner->conn == conn && owner->phase != CM_NOBODY && owner->phase != CM_RELEASED)
			return owner;
	}
	return NULL;
}

void
cm_remember(struct cm_end *end)
{
	for (unsigned int i = 0; i < CM_OWNERS; i++) {
		struct cm_owner *owner = &end->owner[i];
		const struct roce_cm_conn *conn = owner->conn;

		if (owner->phase == CM_NOBODY || owner->phase == CM_RELEASED)
			continue;
		owner->local_id = conn->local_id;
		owner->remote_id = conn->remote_id;
		owner->local_qpn = conn->local.qpn;
		owner->remote_qpn = conn->remote_qpn;
		owner->tid = conn->tid;
		owner->peer = conn->path.dst_ip;
	}
}

struct roce_cm_param
cm_offer(struct cm_end *end)
{
	static const char text[ROCE_CM_PRIVATE_MAX_REQ] = "what an owner has to say";

	return (struct roce_cm_param){
		.qpn = end->next_qpn++,
		.psn = 0x123456,
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry = 7,
		.rnr_retry = 7,
		.ack_timeout = 14,
		.private_data = text,
		.private_len = sizeof(text),
	};
}

/* ---- what owners do ---- */

void
cm_connect(struct cm_end *end, const uint8_t *r)
{
	static const uint64_t patience[4] = { 1000, 1000000, 60000000, UINT64_MAX };
	struct roce_cm_conn *conn = NULL;
	struct roce_cm_connect connect = {
		.dst = cm_address(r[2] & 0x80 ? 77 : 1 - end->index),
		.service_id = CM_SERVICE + (r[2] & 3),
		.local = cm_offer(end),
		.timeout_us = patience[r[3] & 3],
	};
	struct cm_owner *owner = new_owner(end, NULL, CM_CONNECTING);

	if (owner == NULL)
		return;
	connect.local.mtu_code = r[4] & 7;
	/* One byte too many is refused. */
	connect.local.private_len = r[5] % (ROCE_CM_PRIVATE_MAX_REQ + 2);
	end->actions++;
	if (roce_cm_connect(end->cm, NULL, &connect, owner, cm_world.now, &conn) != 0) {
		owner->phase = CM_NOBODY;
		return;
	}
	owner->conn = conn;
}

void
cm_accept(struct cm_owner *owner)
{
	struct cm_end *end = owner->end;
	const struct roce_cm_param param = cm_offer(end);
	int rc;

	end->actions++;
	owner->phase = CM_ACCEPTED;
	rc = roce_cm_accept(owner->conn, &param, owner, cm_world.now);
	BASE_MUST(rc == 0 || rc == -ENOTCONN, "an accept succeeds, or comes too late");
	/* Too late: nothing is left to do but to release it. */
	if (rc != 0)
		owner->phase = CM_ENDED;
}

void
cm_ready(struct cm_owner *owner)
{
	enum cm_phase before = owner->phase;

	owner->end->actions++;
	/* The owner of an accepted connection is told of it from inside. */
	if (before == CM_REPLIED)
		owner->phase = CM_UP;
	BASE_MUST(roce_cm_ready(owner->conn, cm_world.now) == 0,
			"what waits for its queue pair can be ready");
}

void
cm_reject(struct cm_owner *owner)
{
	owner->end->actions++;
	owner->phase = CM_RELEASED;
	BASE_MUST(roce_cm_reject(owner->conn, ROCE_CM_REJ_CONSUMER, "no", 2, cm_world.now) == 0,
			"a request can be rejected");
}

void
cm_disconnect(struct cm_owner *owner)
{
	enum cm_phase before = owner->phase;
	bool follows;

	owner->end->actions++;
	follows = roce_cm_disconnect(owner->conn, cm_world.now);
	if (before == CM_DOWN || before == CM_ENDED) {
		BASE_MUST(!follows, "what is over ends once");
		return;
	}
	BASE_MUST(follows == (before == CM_UP || before == CM_LEAVING),
			"DISCONNECTED follows the end of a connection that was up");
	owner->phase = follows ? CM_LEAVING : CM_ENDED;
}

void
cm_release(struct cm_owner *owner)
{
	owner->end->actions++;
	owner->phase = CM_RELEASED;
	roce_cm_release(owner->conn, cm_world.now);
}

void
cm_qp_async_event(struct cm_owner *owner, enum roce_engine_async kind)
{
	struct cm_end *end = owner->end;
	enum cm_phase before = owner->phase;

	/* An accept may establish inside, a drain may end: the manager tells what it has to. */
	end->actions++;
	if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN && (before == CM_UP || before == CM_ACCEPTED))
		owner->phase = CM_ENDED;
	if (kind == ROCE_ENGINE_ASYNC_QP_DRAINED && before == CM_UP)
		owner->phase = CM_LEAVING;
	if (kind == ROCE_ENGINE_ASYNC_QP_DRAINED &&
			(before == CM_CONNECTING || before == CM_REPLIED || before == CM_ACCEPTED))
		owner->phase = CM_ENDED;
	end->gsi.qp_async_event(end->gsi.arg, owner->conn, kind, cm_world.now);
}

/* ---- what owners are told ---- */

static void
connect_again(struct cm_end *end)
{
	static const uint8_t r[BASE_RECORD];

	if (end->nested++ < NESTED_MAX)
		cm_connect(end, r);
}

static int
told_request(struct cm_end *end, const struct roce_cm_event *event)
{
	struct cm_owner *owner = owner_of(end, event->conn);

	BASE_MUST(event->owner == end, "a request is told to its listener");
	BASE_MUST(owner == NULL, "a request is told once");
	owner = new_owner(end, event->conn, CM_REQUESTED);
	if (owner == NULL)
		return -ENOBUFS;
	switch (end->policy.request) {
	case 1:
		cm_accept(owner);
		break;
	case 2:
		cm_reject(owner);
		break;
	case 3:
		owner->phase = CM_NOBODY;
		return -ENOBUFS;
	default:
		break;
	}
	return 0;
}

static int
told_reply(struct cm_owner *owner)
{
	BASE_MUST(owner->phase == CM_CONNECTING, "a reply is told once, to who connects");
	switch (owner->end->policy.reply) {
	case 1:
		owner->phase = CM_ENDED;
		return -EIO;
	case 2:
		cm_disconnect(owner);
		return 0;
	case 3:
		cm_release(owner);
		return 0;
	case 0:
		owner->phase = CM_UP;
		return 0;
	default:
		owner->phase = CM_REPLIED;
		return ROCE_CM_LATER;
	}
}

static void
told_up(struct cm_owner *owner)
{
	struct cm_end *end = owner->end;

	BASE_MUST(owner->phase == CM_ACCEPTED, "what was accepted is established once");
	owner->phase = CM_UP;
	if (end->policy.up == 1)
		cm_disconnect(owner);
	else if (end->policy.up == 2)
		cm_release(owner);
	else if (end->policy.up == 3)
		connect_again(end);
}

static void
told_down(struct cm_owner *owner, enum roce_cm_event_kind kind)
{
	struct cm_end *end = owner->end;

	if (kind == ROCE_CM_DISCONNECTED)
		BASE_MUST(owner->phase == CM_UP || owner->phase == CM_LEAVING ||
						owner->phase == CM_REPLIED,
				"what ends was up, at one end at least");
	else if (kind == ROCE_CM_BROKEN)
		BASE_MUST(owner->phase != CM_DOWN, "what breaks was not over");
	else if (kind == ROCE_CM_UNREACHABLE)
		BASE_MUST(owner->phase == CM_CONNECTING,
				"nobody is unreachable but for who connects");
	else
		BASE_MUST(owner->phase == CM_CONNECTING || owner->phase == CM_REPLIED ||
						owner->phase == CM_ACCEPTED,
				"what never came up was coming up");
	owner->phase = CM_DOWN;
	if (end->policy.down & 1)
		cm_release(owner);
	if (end->policy.down & 2)
		connect_again(end);
}

int
cm_notify(void *arg, const struct roce_cm_event *event)
{
	struct cm_end *end = arg;
	struct cm_owner *owner = event->owner;

	end->told++;
	/* Somebody reads what is there. */
	if (event->peer != NULL && event->peer->private_len > 0) {
		const uint8_t *data = event->peer->private_data;
		volatile uint8_t sum = 0;

		for (uint16_t i = 0; i < event->peer->private_len; i++)
			sum = (uint8_t)(sum + data[i]);
	}
	if (event->kind == ROCE_CM_REQUEST)
		return told_request(end, event);
	BASE_MUST(owner >= end->owner && owner < end->owner + CM_OWNERS, "an owner is one");
	/* No event comes from inside roce_cm_connect(), so the owner knows the connection by now. */
	BASE_MUST(owner->conn == event->conn, "an owner is told of its own connection");
	BASE_MUST(owner->phase != CM_RELEASED, "nothing is told of what was released");
	if (event->kind == ROCE_CM_REPLY)
		return told_reply(owner);
	if (event->kind == ROCE_CM_ESTABLISHED)
		told_up(owner);
	else
		told_down(owner, event->kind);
	return 0;
}
