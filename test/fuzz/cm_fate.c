/* SPDX-License-Identifier: BSD-3-Clause */
/* The datagrams that a connection manager must count as malformed or ignore: a second opinion, from the formats. */

#include <string.h>

#include "cm_world.h"
#include "oracle.h"

#define UD_SEND 0x64

static uint32_t
be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A whole datagram between general services, from one station to one. */
static bool
is_datagram(const uint8_t *bytes, const struct oracle_frame *f)
{
	const uint8_t *deth = bytes + f->payload_off - 8;

	return f->opcode == UD_SEND && f->payload_len == ROCE_MAD_LEN && be32(deth) == 0x80010000 &&
			(be32(deth + 4) & 0xffffff) == 1 && !(bytes[0] & 1) && !(bytes[6] & 1);
}

/* Base version 1, class 7 of version 2, method SEND, one of seven attributes (IBTA Vol 1, 13.4 and 12.6). */
static bool
is_message(const uint8_t *mad)
{
	uint32_t attr = (uint32_t)mad[16] << 8 | mad[17];

	return mad[0] == 1 && mad[1] == 7 && mad[2] == 2 && mad[3] == 3 && attr >= 0x10 &&
			attr <= 0x16;
}

static const struct roce_cm_conn *
find(const struct roce_cm *cm, uint32_t local_id)
{
	for (uint32_t i = 0; i < cm->slots; i++) {
		if (cm->slot[i].conn != NULL && cm->slot[i].conn->local_id == local_id)
			return cm->slot[i].conn;
	}
	return NULL;
}

/* Between these two addresses, and with a peer of that id. */
static bool
is_between(const struct roce_cm_conn *conn, uint32_t peer_id, const struct oracle_frame *f)
{
	return conn != NULL && conn->remote_id == peer_id &&
			roce_ip_equal(&conn->path.dst_ip, &f->src) &&
			roce_ip_equal(&conn->path.src_ip, &f->dst);
}

/*
 * A reject without our id is of a peer that gives up before it has our reply. @return the connection that it may not end: the
 * peer's only one of that id, and past that; NULL: there is none.
 */
static const struct roce_cm_conn *
find_past_reply(const struct roce_cm *cm, uint32_t peer_id, const struct oracle_frame *f)
{
	const struct roce_cm_conn *past = NULL;

	for (uint32_t i = 0; i < cm->slots; i++) {
		const struct roce_cm_conn *conn = cm->slot[i].conn;

		if (!is_between(conn, peer_id, f))
			continue;
		if (past != NULL || conn->state == ROCE_CM_STATE_REQ_RCVD ||
				conn->state == ROCE_CM_STATE_REP_SENT)
			return NULL;
		past = conn;
	}
	return past;
}

/* A message of somebody else about this connection, or of nobody. @p mad behind its header begins with the ids. */
static bool
is_misdirected(const struct roce_cm_conn *conn, const uint8_t *mad, const struct oracle_frame *f)
{
	uint32_t attr = mad[17], sender = be32(mad + 24);
	bool same = conn->remote_id == sender;

	if (!roce_ip_equal(&conn->path.dst_ip, &f->src) ||
			!roce_ip_equal(&conn->path.src_ip, &f->dst))
		return true;
	switch (attr) {
	case ROCE_CM_ATTR_REP:
		return !conn->active || (!same && conn->remote_id != 0) || be32(mad + 36) >> 8 < 2;
	case ROCE_CM_ATTR_RTU:
		return !same || conn->active;
	case ROCE_CM_ATTR_DREQ:
		return !same || be32(mad + 32) >> 8 != conn->local.qpn;
	case ROCE_CM_ATTR_DREP:
		return !same;
	default:
		return !same && conn->remote_id != 0;
	}
}

/* The connection that a message names, and that it may not change; NULL: there is none. */
static const struct roce_cm_conn *
find_unconcerned(const struct roce_cm *cm, const uint8_t *mad, const struct oracle_frame *f)
{
	uint32_t receiver = be32(mad + 28);
	const struct roce_cm_conn *conn;

	/* A request has no receiver's id; a reject may have none. */
	if (mad[17] == ROCE_CM_ATTR_REJ && receiver == 0)
		return find_past_reply(cm, be32(mad + 24), f);
	if (mad[17] == ROCE_CM_ATTR_REQ || receiver == 0)
		return NULL;
	conn = find(cm, receiver);
	return conn != NULL && is_misdirected(conn, mad, f) ? conn : NULL;
}

void
cm_expect(const struct cm_end *end, const uint8_t *bytes, const struct oracle_frame *f,
		struct cm_expect *expect)
{
	const uint8_t *mad = bytes + f->payload_off;
	const struct roce_cm_conn *conn;

	*expect = (struct cm_expect){ 0 };
	if (!is_datagram(bytes, f) || !is_message(mad)) {
		expect->malformed = true;
		return;
	}
	conn = find_unconcerned(end->cm, mad, f);
	if (conn == NULL)
		return;
	expect->ignored = conn;
	memcpy(&expect->before, conn, sizeof(expect->before));
}
