/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Between datagrams and connections: a received message finds its connection
 * and is validated before the table sees it; what connections owe becomes frames.
 *
 * No received message makes more than one go out, and a REJ, MRA,
 * RTU or DREP of an unknown peer makes none: nobody is amplified, no two managers
 * can keep each other talking.
 */

#include <string.h>

#include <rte_ether.h>

#include "cm/cm_pvt.h"
#include "wire/icrc.h"
#include "wire/psn.h"

#define MESSAGES ROCE_CM_IN_MESSAGES

static_assert(ROCE_CM_ATTR_DREP - ROCE_CM_ATTR_REQ == ROCE_CM_IN_DREP,
		"an input of a message is its attribute id, counted from the REQ");

/* The counter of a message in one direction. */
static uint64_t *
counter(struct roce_cm_stats *stats, uint16_t attr, bool rx)
{
	uint64_t *const of[MESSAGES][2] = {
		[ROCE_CM_IN_REQ] = { &stats->tx_req, &stats->rx_req },
		[ROCE_CM_IN_MRA] = { &stats->tx_mra, &stats->rx_mra },
		[ROCE_CM_IN_REJ] = { &stats->tx_rej, &stats->rx_rej },
		[ROCE_CM_IN_REP] = { &stats->tx_rep, &stats->rx_rep },
		[ROCE_CM_IN_RTU] = { &stats->tx_rtu, &stats->rx_rtu },
		[ROCE_CM_IN_DREQ] = { &stats->tx_dreq, &stats->rx_dreq },
		[ROCE_CM_IN_DREP] = { &stats->tx_drep, &stats->rx_drep },
	};

	return of[attr - ROCE_CM_ATTR_REQ][rx];
}

/* ---- in ---- */

/* One whole MAD from general services to general services, from one station to us alone. */
static bool
datagram_ok(const struct roce_pkt *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt->m, const struct rte_ether_hdr *);
	struct roce_deth deth;

	if (pkt->opcode != IBV_OPCODE_UD_SEND_ONLY || pkt->payload_len != ROCE_MAD_LEN)
		return false;
	memcpy(&deth, roce_pkt_deth(pkt), sizeof(deth));
	return deth.qkey == RTE_BE32(ROCE_GSI_QKEY) &&
			(rte_be_to_cpu_32(deth.src_qp) & ROCE_QPN_MASK) == ROCE_QPN_GSI &&
			!rte_is_multicast_ether_addr(&eth->dst_addr) &&
			!rte_is_multicast_ether_addr(&eth->src_addr);
}

/* The route back to the sender of a frame. */
static struct roce_path
route_back(const struct roce_pkt *pkt)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkt->m, const struct rte_ether_hdr *);
	struct roce_path path = {
		.src_mac = eth->dst_addr,
		.dst_mac = eth->src_addr,
		.vlan_tci = pkt->vlan_tci,
		.ttl = ROCE_CM_TTL,
	};

	roce_pkt_addresses(pkt, &path.dst_ip, &path.src_ip);
	return path;
}

/*
 * A request is the same one only when it says the same: a peer that lost its memory may reuse an id. One that runs
 * with a fixed seed even says the same again; but once we are up, an old request is no more than an echo.
 */
static struct roce_cm_conn *
find_requested(const struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_ip *peer,
		uint64_t now)
{
	struct roce_cm_conn *conn = roce_cm_find_peer(cm, ROCE_CM_KEY_ID, peer, msg->local_id);

	if (conn == NULL || conn->tid != msg->tid || conn->remote_qpn != msg->param.qpn)
		return NULL;
	if (conn->state == ROCE_CM_STATE_ESTABLISHED && now > conn->echo_until)
		return NULL;
	return conn;
}

static struct roce_cm_conn *
find(const struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_ip *peer,
		uint64_t now)
{
	if (msg->attr == ROCE_CM_ATTR_REQ)
		return find_requested(cm, msg, peer, now);
	/* A peer that gives up before our REP came does not know our id. */
	if (msg->attr == ROCE_CM_ATTR_REJ && msg->remote_id == 0)
		return roce_cm_find_peer(cm, ROCE_CM_KEY_ID, peer, msg->local_id);
	return roce_cm_find_local(cm, msg->remote_id);
}

/* The ids, the role and the queue pair that a message names are those of the connection. */
static bool
fits(const struct roce_cm_conn *conn, const struct roce_cm_msg *msg)
{
	bool same = conn->remote_id == msg->local_id;

	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		return true;
	case ROCE_CM_ATTR_REP:
		return conn->active && (same || conn->remote_id == 0) &&
				msg->param.qpn >= ROCE_CM_QPN_FIRST;
	case ROCE_CM_ATTR_RTU:
		return same && !conn->active;
	case ROCE_CM_ATTR_DREQ:
		return same && msg->qpn == conn->local.qpn;
	case ROCE_CM_ATTR_MRA:
	case ROCE_CM_ATTR_REJ:
		return same || conn->remote_id == 0;
	default:
		return same;
	}
}

static enum roce_cm_input_kind
kind_of(const struct roce_cm_conn *conn, const struct roce_cm_msg *msg)
{
	if (msg->attr == ROCE_CM_ATTR_REJ && msg->reason == ROCE_CM_REJ_INVALID_MTU &&
			msg->ari_len != 0 && conn->state == ROCE_CM_STATE_REQ_SENT &&
			msg->ari[0] != 0 && msg->ari[0] < conn->path.mtu_code)
		return ROCE_CM_IN_SMALLER;
	return msg->attr - ROCE_CM_ATTR_REQ;
}

/*
 * A message for a connection that we do not have. A DREQ is answered, because our DREP may have been lost; a REP
 * is refused, because its sender believes in a connection that nobody wants.
 */
static void
unknown_peer(struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_path *path,
		uint64_t now)
{
	struct roce_cm_msg reply = { .tid = msg->tid, .remote_id = msg->local_id };

	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		roce_cm_listen_request(cm, msg, path, now);
		return;
	case ROCE_CM_ATTR_REP:
		reply.attr = ROCE_CM_ATTR_REJ;
		reply.about = ROCE_CM_ABOUT_REP;
		reply.reason = ROCE_CM_REJ_INVALID_COMM_ID;
		break;
	case ROCE_CM_ATTR_DREQ:
		reply.attr = ROCE_CM_ATTR_DREP;
		reply.local_id = msg->remote_id;
		break;
	default:
		cm->stats.rx_unknown++;
		return;
	}
	cm->stats.rx_unknown++;
	roce_cm_answer(cm, path, &reply);
}

static void
dispatch(struct roce_cm *cm, const struct roce_cm_msg *msg, const struct roce_path *path,
		uint64_t now)
{
	struct roce_cm_conn *conn = find(cm, msg, &path->dst_ip, now);
	struct roce_cm_input in = { .msg = msg, .now = now };

	if (conn == NULL) {
		unknown_peer(cm, msg, path, now);
		return;
	}
	if (!roce_ip_equal(&conn->path.dst_ip, &path->dst_ip) ||
			!roce_ip_equal(&conn->path.src_ip, &path->src_ip)) {
		cm->stats.rx_wrong_source++;
		return;
	}
	if (!fits(conn, msg)) {
		cm->stats.rx_wrong_ids++;
		return;
	}
	if (msg->attr == ROCE_CM_ATTR_REQ)
		cm->stats.rx_duplicate_req++;
	in.kind = kind_of(conn, msg);
	if (!roce_cm_step(conn, &in))
		cm->stats.rx_unexpected++;
}

void
roce_cm_rx(void *arg, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_cm *cm = arg;
	struct roce_cm_mad copy;
	const struct roce_cm_mad *mad;
	struct roce_cm_msg msg;
	struct roce_path path;

	if (!datagram_ok(pkt)) {
		cm->stats.rx_malformed++;
		return;
	}
	mad = rte_pktmbuf_read(pkt->m, pkt->payload_off, sizeof(copy), &copy);
	if (mad == NULL || !roce_cm_msg_decode(mad, &msg)) {
		cm->stats.rx_malformed++;
		return;
	}
	++*counter(&cm->stats, msg.attr, true);
	path = route_back(pkt);
	dispatch(cm, &msg, &path, now);
}

/* ---- out ---- */

void
roce_cm_answer(struct roce_cm *cm, const struct roce_path *path, const struct roce_cm_msg *msg)
{
	struct roce_cm_answer *answer;

	if (cm->answers == ROCE_CM_ANSWERS) {
		cm->stats.answers_lost++;
		return;
	}
	answer = &cm->answer[(cm->answer_head + cm->answers++) % ROCE_CM_ANSWERS];
	cm->at = 0;
	answer->path = *path;
	roce_cm_msg_encode(msg, &answer->mad);
}

/* One frame, or NULL (counted). @param entropy chooses the UDP source port: Linux has one for all, we spread. */
static struct rte_mbuf *
frame(struct roce_cm *cm, const struct roce_path *to, const struct roce_cm_mad *mad,
		uint32_t entropy)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(cm->config.pool);
	struct roce_frame_spec spec = {
		.psn = cm->psn,
		.opcode = IBV_OPCODE_UD_SEND_ONLY,
		.ack_req = true, /* means nothing for a datagram; Linux sets it */
		.payload_len = sizeof(*mad),
	};
	struct roce_deth deth = {
		.qkey = RTE_BE32(ROCE_GSI_QKEY),
		.src_qp = RTE_BE32(ROCE_QPN_GSI),
	};
	struct roce_path path = *to;
	struct roce_template template;
	uint8_t *at;

	if (m == NULL) {
		cm->stats.tx_no_mbuf++;
		return NULL;
	}
	path.udp_sport = roce_cm_msg_sport(entropy);
	roce_template_init(&template, &path, ROCE_QPN_GSI, cm->config.ip_cksum_offload);
	at = roce_frame_build(m, &template, &spec);
	memcpy(at, &deth, sizeof(deth));
	memcpy(at + sizeof(deth), mad, sizeof(*mad));
	roce_icrc_put(m, &template);
	cm->psn = roce_psn_add(cm->psn, 1);
	++*counter(&cm->stats, rte_be_to_cpu_16(mad->hdr.attr), false);
	return m;
}

/* The message for one of the bits that a connection owes. */
static void
compose(const struct roce_cm_conn *conn, uint8_t what, struct roce_cm_mad *mad)
{
	struct roce_cm_msg msg = {
		.tid = conn->tid,
		.local_id = conn->local_id,
		.remote_id = conn->remote_id,
	};

	switch (what) {
	case ROCE_CM_OWE_MRA:
		msg.attr = ROCE_CM_ATTR_MRA;
		msg.about = ROCE_CM_ABOUT_REQ;
		msg.service_timeout = ROCE_CM_CODE_SERVICE;
		break;
	case ROCE_CM_OWE_RTU:
		msg.attr = ROCE_CM_ATTR_RTU;
		break;
	case ROCE_CM_OWE_DREP:
		msg.attr = ROCE_CM_ATTR_DREP;
		msg.tid = conn->dreq_tid;
		break;
	default:
		*mad = conn->stored;
		return;
	}
	roce_cm_msg_encode(&msg, mad);
}

/*
 * Living connections need the places: those that are over and wait for nothing but time give theirs up, the oldest
 * first, once all is said. Here, where the wheel runs: nobody works on a connection now.
 */
static void
make_room(struct roce_cm *cm, uint64_t now)
{
	struct roce_cm_conn *conn;

	while (roce_cm_is_crowded(cm) && (conn = TAILQ_FIRST(&cm->lingering)) != NULL &&
			conn->owes == 0) {
		cm->stats.timewait_cut++;
		roce_cm_step_kind(conn, ROCE_CM_IN_TIMER, now);
	}
}

/* Make the messages that are owed, as far as there is room and memory. */
static uint16_t
talk(struct roce_cm *cm, struct rte_mbuf **pkts, uint16_t max)
{
	struct roce_cm_conn *conn;
	struct roce_cm_mad mad;
	uint16_t n;

	for (n = 0; n < max && cm->answers != 0; n++) {
		struct roce_cm_answer *answer = &cm->answer[cm->answer_head];

		pkts[n] = frame(cm, &answer->path, &answer->mad,
				(uint32_t)rte_be_to_cpu_64(answer->mad.hdr.tid));
		if (pkts[n] == NULL)
			return n;
		cm->answer_head = (cm->answer_head + 1) % ROCE_CM_ANSWERS;
		cm->answers--;
	}
	while (n < max && (conn = TAILQ_FIRST(&cm->talking)) != NULL) {
		uint8_t what = conn->owes & -conn->owes;

		compose(conn, what, &mad);
		pkts[n] = frame(cm, &conn->path, &mad, conn->local_id);
		if (pkts[n] == NULL)
			return n;
		n++;
		conn->owes &= ~what;
		if (conn->owes == 0)
			TAILQ_REMOVE(&cm->talking, conn, talking);
	}
	return n;
}

static inline bool
has_to_say(const struct roce_cm *cm)
{
	return cm->answers != 0 || !TAILQ_EMPTY(&cm->talking);
}

uint16_t
roce_cm_tx(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	struct roce_cm *cm = arg;
	uint16_t n;

	roce_wheel_advance(cm->wheel, now);
	make_room(cm, now);
	n = talk(cm, pkts, max);
	/* Where places are few connections may have to leave at any time. */
	cm->at = has_to_say(cm) || roce_cm_is_crowded(cm) ? 0 : roce_wheel_deadline(cm->wheel);
	return n;
}

uint64_t
roce_cm_deadline(void *arg)
{
	const struct roce_cm *cm = arg;

	if (has_to_say(cm))
		return 0;
	return roce_wheel_deadline(cm->wheel);
}
