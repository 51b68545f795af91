/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "cm/cm_msg.h"

/* Constants that Linux's rdma_cm puts there too, and that mean nothing to our own receiver. */
#define TARGET_ACK_DELAY 15

#define LOW3 0x07
#define LOW5 0x1f

/* A 24-bit number and the byte behind it. */
static rte_be32_t
pack24(uint32_t high, uint8_t low)
{
	return rte_cpu_to_be_32(high << 8 | low);
}

static uint32_t
high24(rte_be32_t word)
{
	return rte_be_to_cpu_32(word) >> 8;
}

static uint8_t
low8(rte_be32_t word)
{
	return (uint8_t)rte_be_to_cpu_32(word);
}

/* Private data: the consumer's bytes, the rest stays zero. */
static void
put_private(uint8_t *to, const struct roce_cm_param *param)
{
	if (param->private_len != 0)
		memcpy(to, param->private_data, param->private_len);
}

static void
take_private(struct roce_cm_param *param, const uint8_t *from, uint16_t len)
{
	param->private_data = from;
	param->private_len = len;
}

/* Annex A11: an IPv4 address stands in the last four bytes behind zeros, not as ::ffff:a.b.c.d. */
static void
put_address(uint8_t *to, const struct roce_ip *ip, bool v4)
{
	if (v4)
		memcpy(to + 12, ip->b + 12, 4);
	else
		memcpy(to, ip->b, sizeof(ip->b));
}

static void
put_ip_cm(uint8_t *to, const struct roce_cm_req_info *info)
{
	bool v4 = roce_ip_is_v4(&info->remote_gid);
	struct roce_ip_cm ip_cm = {
		.ip_version = (uint8_t)((v4 ? 4 : 6) << 4),
		.src_port = rte_cpu_to_be_16(info->src_port),
	};

	put_address(ip_cm.src, &info->local_gid, v4);
	put_address(ip_cm.dst, &info->remote_gid, v4);
	memcpy(to, &ip_cm, sizeof(ip_cm));
}

static void
take_ip_cm(struct roce_cm_req_info *info, const uint8_t *from)
{
	struct roce_ip_cm ip_cm;
	uint8_t family;

	memcpy(&ip_cm, from, sizeof(ip_cm));
	family = ip_cm.ip_version >> 4;
	info->src_port = rte_be_to_cpu_16(ip_cm.src_port);
	/* Another minor version is still the same layout. */
	info->ip_cm_ok = ip_cm.version >> 4 == 0 && (family == 4 || family == 6);
}

static void
put_req(struct roce_cm_req *req, const struct roce_cm_msg *msg)
{
	const struct roce_cm_param *param = &msg->param;
	const struct roce_cm_req_info *info = &msg->req;

	*req = (struct roce_cm_req){
		.local_comm_id = rte_cpu_to_be_32(msg->local_id),
		.reserved2 = rte_cpu_to_be_32(param->extensions ? ROCE_CM_REQ_EXTENSIONS : 0),
		.service_id = rte_cpu_to_be_64(info->service_id),
		.ca_guid = rte_cpu_to_be_64(msg->ca_guid),
		.qpn_resources = pack24(param->qpn, param->responder_resources),
		.eecn_depth = pack24(0, param->initiator_depth),
		.eecn_timeout = pack24(0, (uint8_t)(info->remote_timeout << ROCE_CM_TIME_SHIFT |
							info->transport << ROCE_CM_REQ_TRANSPORT_SHIFT |
							(param->srq ? 0 : ROCE_CM_REQ_E2E))),
		.psn_timeout = pack24(param->psn,
				(uint8_t)(info->local_timeout << ROCE_CM_TIME_SHIFT | param->retry)),
		.pkey = rte_cpu_to_be_16(info->pkey),
		.mtu_rnr = (uint8_t)(param->mtu_code << 4 | param->rnr_retry),
		.retries_srq = (uint8_t)(info->max_retries << 4 |
				(param->srq ? ROCE_CM_REQ_SRQ : 0)),
		.primary = {
			.local_lid = RTE_BE16(ROCE_CM_LID_PERMISSIVE),
			.remote_lid = RTE_BE16(ROCE_CM_LID_PERMISSIVE),
			.flow_rate = rte_cpu_to_be_32(info->flow_label << ROCE_CM_FLOW_SHIFT),
			.traffic_class = info->traffic_class,
			.hop_limit = info->hop_limit,
			.sl = (uint8_t)(info->sl << ROCE_CM_SL_SHIFT),
			.ack_timeout = (uint8_t)(param->ack_timeout << ROCE_CM_TIME_SHIFT),
		},
	};
	memcpy(req->primary.local_gid, info->local_gid.b, sizeof(req->primary.local_gid));
	memcpy(req->primary.remote_gid, info->remote_gid.b, sizeof(req->primary.remote_gid));
	put_ip_cm(req->private_data, info);
	put_private(req->private_data + sizeof(struct roce_ip_cm), param);
}

static void
take_req(const struct roce_cm_req *req, struct roce_cm_msg *msg)
{
	uint8_t flags = low8(req->eecn_timeout);

	msg->local_id = rte_be_to_cpu_32(req->local_comm_id);
	msg->ca_guid = rte_be_to_cpu_64(req->ca_guid);
	msg->param = (struct roce_cm_param){
		.qpn = high24(req->qpn_resources),
		.psn = high24(req->psn_timeout),
		.responder_resources = low8(req->qpn_resources),
		.initiator_depth = low8(req->eecn_depth),
		.retry = low8(req->psn_timeout) & LOW3,
		.rnr_retry = req->mtu_rnr & LOW3,
		.ack_timeout = req->primary.ack_timeout >> ROCE_CM_TIME_SHIFT,
		.mtu_code = req->mtu_rnr >> 4,
		.srq = (req->retries_srq & ROCE_CM_REQ_SRQ) != 0,
		.extensions = req->reserved2 == RTE_BE32(ROCE_CM_REQ_EXTENSIONS),
	};
	msg->req = (struct roce_cm_req_info){
		.service_id = rte_be_to_cpu_64(req->service_id),
		.flow_label = rte_be_to_cpu_32(req->primary.flow_rate) >> ROCE_CM_FLOW_SHIFT,
		.pkey = rte_be_to_cpu_16(req->pkey),
		.local_timeout = low8(req->psn_timeout) >> ROCE_CM_TIME_SHIFT,
		.remote_timeout = flags >> ROCE_CM_TIME_SHIFT,
		.max_retries = req->retries_srq >> 4,
		.transport = (flags & ROCE_CM_REQ_TRANSPORT_MASK) >> ROCE_CM_REQ_TRANSPORT_SHIFT,
		.traffic_class = req->primary.traffic_class,
		.hop_limit = req->primary.hop_limit,
		.sl = req->primary.sl >> ROCE_CM_SL_SHIFT,
	};
	memcpy(msg->req.local_gid.b, req->primary.local_gid, sizeof(msg->req.local_gid.b));
	memcpy(msg->req.remote_gid.b, req->primary.remote_gid, sizeof(msg->req.remote_gid.b));
	take_ip_cm(&msg->req, req->private_data);
	take_private(&msg->param, req->private_data + sizeof(struct roce_ip_cm),
			ROCE_CM_PRIVATE_MAX_REQ);
}

static void
put_rep(struct roce_cm_rep *rep, const struct roce_cm_msg *msg)
{
	const struct roce_cm_param *param = &msg->param;

	*rep = (struct roce_cm_rep){
		.local_comm_id = rte_cpu_to_be_32(msg->local_id),
		.remote_comm_id = rte_cpu_to_be_32(msg->remote_id),
		.qpn = pack24(param->qpn, 0),
		.eecn = pack24(param->extensions ? ROCE_CM_REP_EXTENSIONS : 0, 0),
		.psn = pack24(param->psn, 0),
		.responder_resources = param->responder_resources,
		.initiator_depth = param->initiator_depth,
		.delay_e2e = TARGET_ACK_DELAY << ROCE_CM_TIME_SHIFT |
				(param->srq ? 0 : ROCE_CM_REP_E2E),
		.rnr_srq = (uint8_t)(param->rnr_retry << ROCE_CM_REP_RNR_SHIFT |
				(param->srq ? ROCE_CM_REP_SRQ : 0)),
		.ca_guid = rte_cpu_to_be_64(msg->ca_guid),
	};
	put_private(rep->private_data, param);
}

static void
take_rep(const struct roce_cm_rep *rep, struct roce_cm_msg *msg)
{
	msg->ca_guid = rte_be_to_cpu_64(rep->ca_guid);
	msg->param = (struct roce_cm_param){
		.qpn = high24(rep->qpn),
		.psn = high24(rep->psn),
		.responder_resources = rep->responder_resources,
		.initiator_depth = rep->initiator_depth,
		.rnr_retry = rep->rnr_srq >> ROCE_CM_REP_RNR_SHIFT,
		.srq = (rep->rnr_srq & ROCE_CM_REP_SRQ) != 0,
		.extensions = high24(rep->eecn) == ROCE_CM_REP_EXTENSIONS,
	};
	take_private(&msg->param, rep->private_data, ROCE_CM_PRIVATE_MAX_REP);
}

static void
put_rej(struct roce_cm_rej *rej, const struct roce_cm_msg *msg)
{
	*rej = (struct roce_cm_rej){
		.local_comm_id = rte_cpu_to_be_32(msg->local_id),
		.remote_comm_id = rte_cpu_to_be_32(msg->remote_id),
		.about = (uint8_t)(msg->about << ROCE_CM_ABOUT_SHIFT),
		.ari_len = (uint8_t)(msg->ari_len << 1),
		.reason = rte_cpu_to_be_16(msg->reason),
	};
	if (msg->ari_len != 0)
		memcpy(rej->ari, msg->ari, msg->ari_len);
	put_private(rej->private_data, &msg->param);
}

static void
take_rej(const struct roce_cm_rej *rej, struct roce_cm_msg *msg)
{
	msg->about = rej->about >> ROCE_CM_ABOUT_SHIFT;
	msg->ari_len = rej->ari_len >> 1;
	if (msg->ari_len > ROCE_CM_REJ_ARI)
		msg->ari_len = ROCE_CM_REJ_ARI;
	msg->ari = rej->ari;
	msg->reason = rte_be_to_cpu_16(rej->reason);
	take_private(&msg->param, rej->private_data, ROCE_CM_PRIVATE_MAX_REJ);
}

bool
roce_cm_msg_decode(const struct roce_cm_mad *mad, struct roce_cm_msg *msg)
{
	const struct roce_mad_hdr *hdr = &mad->hdr;

	if (hdr->base_version != ROCE_MAD_BASE_VERSION || hdr->mgmt_class != ROCE_MAD_CLASS_CM ||
			hdr->class_version != ROCE_MAD_CM_VERSION ||
			hdr->method != ROCE_MAD_METHOD_SEND)
		return false;
	*msg = (struct roce_cm_msg){
		.tid = rte_be_to_cpu_64(hdr->tid),
		.attr = rte_be_to_cpu_16(hdr->attr),
		/* All but the REQ begin with the same two ids. */
		.local_id = rte_be_to_cpu_32(mad->rtu.local_comm_id),
		.remote_id = rte_be_to_cpu_32(mad->rtu.remote_comm_id),
	};
	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		msg->remote_id = 0;
		take_req(&mad->req, msg);
		return true;
	case ROCE_CM_ATTR_MRA:
		msg->about = mad->mra.about >> ROCE_CM_ABOUT_SHIFT;
		msg->service_timeout = mad->mra.timeout >> ROCE_CM_TIME_SHIFT & LOW5;
		return true;
	case ROCE_CM_ATTR_REJ:
		take_rej(&mad->rej, msg);
		return true;
	case ROCE_CM_ATTR_REP:
		take_rep(&mad->rep, msg);
		return true;
	case ROCE_CM_ATTR_DREQ:
		msg->qpn = high24(mad->dreq.remote_qpn);
		return true;
	case ROCE_CM_ATTR_RTU:
	case ROCE_CM_ATTR_DREP:
		return true;
	default:
		return false;
	}
}

void
roce_cm_msg_encode(const struct roce_cm_msg *msg, struct roce_cm_mad *mad)
{
	memset(mad, 0, sizeof(*mad));
	mad->hdr = (struct roce_mad_hdr){
		.base_version = ROCE_MAD_BASE_VERSION,
		.mgmt_class = ROCE_MAD_CLASS_CM,
		.class_version = ROCE_MAD_CM_VERSION,
		.method = ROCE_MAD_METHOD_SEND,
		.tid = rte_cpu_to_be_64(msg->tid),
		.attr = rte_cpu_to_be_16(msg->attr),
	};
	mad->rtu.local_comm_id = rte_cpu_to_be_32(msg->local_id);
	mad->rtu.remote_comm_id = rte_cpu_to_be_32(msg->remote_id);
	switch (msg->attr) {
	case ROCE_CM_ATTR_REQ:
		put_req(&mad->req, msg);
		break;
	case ROCE_CM_ATTR_MRA:
		mad->mra.about = (uint8_t)(msg->about << ROCE_CM_ABOUT_SHIFT);
		mad->mra.timeout = (uint8_t)(msg->service_timeout << ROCE_CM_TIME_SHIFT);
		break;
	case ROCE_CM_ATTR_REJ:
		put_rej(&mad->rej, msg);
		break;
	case ROCE_CM_ATTR_REP:
		put_rep(&mad->rep, msg);
		break;
	case ROCE_CM_ATTR_DREQ:
		mad->dreq.remote_qpn = pack24(msg->qpn, 0);
		break;
	default:
		break;
	}
}

uint16_t
roce_cm_msg_sport(uint32_t flow_label)
{
	uint32_t low = flow_label & 0x3fff;
	uint32_t high = (flow_label & ROCE_CM_FLOW_MASK) >> 14;

	return (uint16_t)(0xc000 | (low ^ high));
}
