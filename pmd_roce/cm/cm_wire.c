/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Between datagrams and messages: a received frame is validated and decoded, and what connections and answers owe
 * becomes frames. The meaning of a message is for cm_dispatch.c.
 */

#include <string.h>

#include <rte_ether.h>

#include "cm/cm_wire.h"
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

bool
roce_cm_wire_decode(struct roce_cm *cm, const struct roce_pkt *pkt, struct roce_cm_mad *copy,
		struct roce_cm_msg *msg, struct roce_path *back)
{
	const struct roce_cm_mad *mad = NULL;

	if (datagram_ok(pkt))
		mad = rte_pktmbuf_read(pkt->m, pkt->payload_off, sizeof(*copy), copy);
	if (mad == NULL || !roce_cm_msg_decode(mad, msg)) {
		cm->stats.rx_malformed++;
		return false;
	}
	msg->param.extensions = msg->param.extensions && cm->config.extensions;
	++*counter(&cm->stats, msg->attr, true);
	*back = route_back(pkt);
	return true;
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
		msg.about = conn->active ? ROCE_CM_ABOUT_REP : ROCE_CM_ABOUT_REQ;
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

uint16_t
roce_cm_wire_talk(struct roce_cm *cm, struct rte_mbuf **pkts, uint16_t max)
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
