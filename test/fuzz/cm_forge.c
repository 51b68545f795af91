/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the script: what the other end or an unknown peer could say about a connection that there is or was, with
 * some fields otherwise.
 */

#include <string.h>

#include "cm_world.h"
#include "oracle.h"

/** Places of a record, when it makes a message. */
enum {
	R_STEP = 0,
	R_TO,     /**< second end:1, from an unknown peer:1, message:3, bad ICRC:1 */
	R_OWNER,  /**< which connection it is about */
	R_IDS,    /**< local:2, remote:2, transaction:2, queue pair:2 */
	R_FIELD,  /**< reason, service, time code */
	R_PARAM,  /**< MTU:3, transport:2, timers */
	R_NUMBER, /**< queue pair or id of somebody new */
	R_PATCH,  /**< of the datagram: offset, value; twice */
	R_FRAME = 11,
	R_CUT = 14,
};

/* As it is, not there, off by one, of somebody new. */
static uint32_t
near(uint32_t number, uint8_t how, const uint8_t *r)
{
	switch (how & 3) {
	case 1:
		return 0;
	case 2:
		return number + 1;
	case 3:
		return 0x4000u + r[R_NUMBER];
	default:
		return number;
	}
}

/* Seen from @p to, which keeps @p about, its peer's ids are the other way round. */
static struct roce_cm_msg
message_of(const struct cm_owner *about, const uint8_t *r)
{
	static const uint16_t reasons[8] = { 0, 3, 4, 8, 10, 26, 28, 0xffff };
	static uint8_t ari[8];
	struct roce_cm_msg msg = {
		.tid = near((uint32_t)about->tid, r[R_IDS] >> 4, r) | (about->tid >> 32 << 32),
		.local_id = near(about->remote_id, r[R_IDS], r),
		.remote_id = near(about->local_id, r[R_IDS] >> 2, r),
		.attr = (uint16_t)(ROCE_CM_ATTR_REQ + (r[R_TO] >> 2) % 7),
		.reason = reasons[r[R_FIELD] & 7],
		.about = r[R_FIELD] >> 6,
		.ari = ari,
		.service_timeout = r[R_FIELD] & 31,
		.qpn = near(about->local_qpn, r[R_IDS] >> 6, r),
	};

	if (msg.attr == ROCE_CM_ATTR_REJ) {
		ari[0] = r[R_PARAM] & 7;
		msg.ari_len = r[R_PARAM] >> 3 & 7;
	}
	return msg;
}

static void
offer(struct roce_cm_msg *msg, const struct cm_owner *about, struct cm_end *to, const uint8_t *r)
{
	msg->param = (struct roce_cm_param){
		.qpn = near(about->remote_qpn, r[R_IDS] >> 6, r),
		.psn = 0x111111,
		.responder_resources = 4,
		.initiator_depth = r[R_FIELD],
		.retry = 7,
		.rnr_retry = r[R_PARAM] & 7,
		.ack_timeout = r[R_PARAM] & 31,
		.mtu_code = 3,
	};
	if (msg->attr != ROCE_CM_ATTR_REQ)
		return;
	if (r[R_PARAM] & 0x80)
		msg->param.mtu_code = r[R_PARAM] & 15;
	msg->req = (struct roce_cm_req_info){
		.service_id = CM_SERVICE + (r[R_FIELD] & 3),
		.local_gid = cm_address(1 - to->index),
		.remote_gid = cm_address(to->index),
		.pkey = ROCE_PKEY_DEFAULT,
		.transport = r[R_PARAM] & 0x40 ? r[R_PARAM] >> 3 & 3 : 0,
		.src_port = 0x8001,
		.max_retries = 15,
	};
}

/* The frame around the datagram, as a network or an enemy could make it. */
static void
patch_frame(struct cm_flat *flat, const uint8_t *r)
{
	uint32_t value = base_u16(r + R_FRAME + 1);

	switch (r[R_FRAME] & 7) {
	case 1: /* a group address */
		flat->bytes[value & 1 ? 0 : 6] |= 1;
		break;
	case 2: /* another Q_Key, another queue pair it comes from */
		flat->bytes[54 + (value & 7)] ^= (uint8_t)(value >> 8);
		break;
	case 3: /* with immediate: four bytes are a header now, or four more come in */
		flat->bytes[42] = IBV_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE;
		if (value & 1)
			break;
		memmove(flat->bytes + 66, flat->bytes + 62, flat->len - 62);
		flat->len += 4;
		flat->bytes[39] += 4;
		flat->bytes[17] += 4;
		break;
	case 4: /* a shorter datagram */
		value = 4 * (1 + (value & 31));
		flat->len -= value;
		flat->bytes[39] -= (uint8_t)value;
		flat->bytes[17] -= (uint8_t)value;
		break;
	case 5: /* padded */
		flat->bytes[43] ^= 0x30 & (uint8_t)value;
		break;
	default:
		break;
	}
}

static void
wrap(const struct roce_cm_mad *mad, const struct cm_end *to, const uint8_t *r, struct cm_flat *flat)
{
	const struct roce_path path = {
		.src_mac = { { 2, 0, 0, 0, 0, (uint8_t)(2 - to->index) } },
		.dst_mac = { { 2, 0, 0, 0, 0, (uint8_t)(1 + to->index) } },
		.src_ip = cm_address(r[R_TO] & 2 ? 90u : 1u - to->index),
		.dst_ip = cm_address(to->index),
		.udp_sport = 55410,
		.ttl = 64,
	};
	const struct roce_frame_spec spec = {
		.opcode = IBV_OPCODE_UD_SEND_ONLY,
		.payload_len = sizeof(*mad),
	};
	const struct roce_deth deth = { RTE_BE32(ROCE_GSI_QKEY), RTE_BE32(ROCE_QPN_GSI) };
	struct rte_mbuf *m = base_scratch();
	struct roce_template template;
	uint8_t *at;

	roce_template_init(&template, &path, ROCE_QPN_GSI, false);
	at = roce_frame_build(m, &template, &spec);
	memcpy(at, &deth, sizeof(deth));
	memcpy(at + sizeof(deth), mad, sizeof(*mad));
	flat->len = m->data_len;
	memcpy(flat->bytes, rte_pktmbuf_mtod(m, void *), flat->len);
}

void
cm_forge(const uint8_t *r, struct cm_flat *flat)
{
	struct cm_end *to = &cm_world.end[r[R_TO] & 1];
	const struct cm_owner *about = &to->owner[r[R_OWNER] % CM_OWNERS];
	struct roce_cm_msg msg = message_of(about, r);
	struct roce_cm_mad mad;

	if (msg.attr == ROCE_CM_ATTR_REQ || msg.attr == ROCE_CM_ATTR_REP)
		offer(&msg, about, to, r);
	roce_cm_msg_encode(&msg, &mad);
	for (unsigned int i = 0; i < 2; i++)
		((uint8_t *)&mad)[r[R_PATCH + 2 * i]] ^= r[R_PATCH + 2 * i + 1];
	*flat = (struct cm_flat){ .to = to->index };
	wrap(&mad, to, r, flat);
	patch_frame(flat, r);
	flat->cut = (struct base_cut){ .first = (uint16_t)(r[R_CUT] * 2u) };
	(void)oracle_seal(flat->bytes, flat->len);
}
