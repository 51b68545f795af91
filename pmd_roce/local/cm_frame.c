/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/cm_frame.h"

#include <endian.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include "wire/bth.h"

#define OPCODE_UD_SEND_ONLY 0x64
#define QPN_SHIFT           8 /* of a queue pair number in a message: the lower byte is of others */

/* The part of the frame that has not been read. */
struct rest {
	const uint8_t *at;
	size_t len;
};

/* Copy a header. @return false: the frame ends before that. */
static bool
take(struct rest *rest, void *header, size_t len)
{
	if (rest->len < len)
		return false;
	memcpy(header, rest->at, len);
	rest->at += len;
	rest->len -= len;
	return true;
}

static void
map_v4(uint8_t *ip, uint32_t v4)
{
	memset(ip, 0, 10);
	memset(ip + 10, 0xff, 2);
	memcpy(ip + 12, &v4, sizeof(v4));
}

static bool
take_v4(struct rest *rest, struct roce_cm_frame *frame)
{
	const size_t len = rest->len;
	struct iphdr ip;

	if (!take(rest, &ip, sizeof(ip)) || ip.version != IPVERSION || ip.ihl != sizeof(ip) / 4)
		return false;
	if (ntohs(ip.tot_len) != len || (ntohs(ip.frag_off) & (IP_MF | IP_OFFMASK)) != 0 ||
			ip.protocol != IPPROTO_UDP)
		return false;
	map_v4(frame->src, ip.saddr);
	map_v4(frame->dst, ip.daddr);
	return true;
}

static bool
take_v6(struct rest *rest, struct roce_cm_frame *frame)
{
	struct ip6_hdr ip;

	if (!take(rest, &ip, sizeof(ip)) || ip.ip6_vfc >> 4 != 6 ||
			ntohs(ip.ip6_plen) != rest->len || ip.ip6_nxt != IPPROTO_UDP)
		return false;
	memcpy(frame->src, &ip.ip6_src, sizeof(frame->src));
	memcpy(frame->dst, &ip.ip6_dst, sizeof(frame->dst));
	return true;
}

static bool
take_ip(struct rest *rest, struct roce_cm_frame *frame)
{
	struct ether_header ether;

	if (!take(rest, &ether, sizeof(ether)))
		return false;
	switch (ntohs(ether.ether_type)) {
	case ETHERTYPE_IP:
		return take_v4(rest, frame);
	case ETHERTYPE_IPV6:
		return take_v6(rest, frame);
	default:
		return false;
	}
}

/* From general services to general services, one whole datagram. */
static bool
take_transport(struct rest *rest)
{
	const size_t len = rest->len;
	struct udphdr udp;
	struct roce_bth bth;
	struct roce_deth deth;

	if (!take(rest, &udp, sizeof(udp)) || ntohs(udp.dest) != ROCE_UDP_PORT ||
			ntohs(udp.len) != len)
		return false;
	if (!take(rest, &bth, sizeof(bth)) || bth.opcode != OPCODE_UD_SEND_ONLY ||
			(bth.flags & (ROCE_BTH_PAD_MASK | ROCE_BTH_TVER_MASK)) != 0 ||
			(ntohl(bth.dest_qp) & ROCE_QPN_MASK) != ROCE_QPN_GSI)
		return false;
	return take(rest, &deth, sizeof(deth)) && ntohl(deth.qkey) == ROCE_GSI_QKEY &&
			(ntohl(deth.src_qp) & ROCE_QPN_MASK) == ROCE_QPN_GSI;
}

static bool
is_manager(const struct roce_mad_hdr *hdr)
{
	return hdr->base_version == ROCE_MAD_BASE_VERSION && hdr->mgmt_class == ROCE_MAD_CLASS_CM &&
			hdr->class_version == ROCE_MAD_CM_VERSION &&
			hdr->method == ROCE_MAD_METHOD_SEND;
}

/* Each message begins with the id of its sender, and all but a REQ go on with that of their receiver. */
static bool
read_mad(const struct roce_cm_mad *mad, struct roce_cm_frame *frame)
{
	frame->attr = ntohs(mad->hdr.attr);
	if (!is_manager(&mad->hdr) || frame->attr < ROCE_CM_ATTR_REQ ||
			frame->attr > ROCE_CM_ATTR_DREP)
		return false;
	frame->tid = mad->hdr.tid;
	frame->local_id = ntohl(mad->rtu.local_comm_id);
	frame->remote_id = ntohl(mad->rtu.remote_comm_id);
	switch (frame->attr) {
	case ROCE_CM_ATTR_REQ:
		frame->remote_id = 0;
		frame->qpn = ntohl(mad->req.qpn_resources) >> QPN_SHIFT;
		frame->service_id = be64toh(mad->req.service_id);
		break;
	case ROCE_CM_ATTR_REP:
		frame->qpn = ntohl(mad->rep.qpn) >> QPN_SHIFT;
		break;
	case ROCE_CM_ATTR_MRA:
	case ROCE_CM_ATTR_REJ:
		frame->about = mad->rej.about >> ROCE_CM_ABOUT_SHIFT;
		break;
	default:
		break;
	}
	return true;
}

bool
roce_cm_frame_parse(const uint8_t *data, size_t len, struct roce_cm_frame *frame)
{
	struct rest rest = { .at = data, .len = len };
	struct roce_cm_mad mad;

	*frame = (struct roce_cm_frame){ .attr = 0 };
	return take_ip(&rest, frame) && take_transport(&rest) && take(&rest, &mad, sizeof(mad)) &&
			rest.len == ROCE_ICRC_LEN && read_mad(&mad, frame);
}
