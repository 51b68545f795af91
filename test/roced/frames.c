/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include "unit/cm_golden.h"
#include "wire/bth.h"

static const uint8_t localhost[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };

static void
copy_golden(struct roce_cm_mad *mad, uint16_t attr)
{
	static const struct {
		uint16_t attr;
		const uint8_t *bytes;
		size_t len;
	} golden[] = {
		{ ROCE_CM_ATTR_REQ, linux_req, sizeof(linux_req) },
		{ ROCE_CM_ATTR_REP, linux_rep, sizeof(linux_rep) },
		{ ROCE_CM_ATTR_RTU, linux_rtu, sizeof(linux_rtu) },
		{ ROCE_CM_ATTR_REJ, linux_rej_nobody, sizeof(linux_rej_nobody) },
		{ ROCE_CM_ATTR_DREQ, linux_dreq, sizeof(linux_dreq) },
		{ ROCE_CM_ATTR_DREP, linux_drep, sizeof(linux_drep) },
	};

	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		if (golden[i].attr == attr)
			memcpy(mad, golden[i].bytes, golden[i].len);
	}
}

static void
fill_mad(struct roce_cm_mad *mad, const struct frame_spec *spec)
{
	copy_golden(mad, spec->attr == ROCE_CM_ATTR_MRA ? ROCE_CM_ATTR_REJ : spec->attr);
	mad->hdr.attr = htons(spec->attr);
	mad->hdr.tid = htobe64(spec->tid);
	mad->req.local_comm_id = htonl(spec->local_id);
	if (spec->attr == ROCE_CM_ATTR_REQ) {
		mad->req.qpn_resources = htonl(spec->qpn << 8 | 16);
		mad->req.service_id =
				htobe64(spec->service_id == 0 ? FRAMES_SERVICE : spec->service_id);
	} else {
		mad->rtu.remote_comm_id = htonl(spec->remote_id);
	}
	if (spec->attr == ROCE_CM_ATTR_REP)
		mad->rep.qpn = htonl(spec->qpn << 8);
}

/* ---- the headers ---- */

static uint8_t *
put(uint8_t *at, const void *header, size_t len)
{
	memcpy(at, header, len);
	return at + len;
}

static uint8_t *
put_ip(uint8_t *at, const uint8_t *src, const uint8_t *dst, uint16_t len)
{
	struct ether_header ether = { .ether_type = htons(ETHERTYPE_IP) };
	struct iphdr v4 = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons((uint16_t)(len + sizeof(v4))),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
	};
	struct ip6_hdr v6 = { .ip6_ctlun.ip6_un1 = {
					      htonl(6u << 28), htons(len), IPPROTO_UDP, 64 } };

	if (memcmp(dst, v4_mapped, sizeof(v4_mapped)) == 0) {
		memcpy(&v4.saddr, src + 12, sizeof(v4.saddr));
		memcpy(&v4.daddr, dst + 12, sizeof(v4.daddr));
		return put(put(at, &ether, sizeof(ether)), &v4, sizeof(v4));
	}
	ether.ether_type = htons(ETHERTYPE_IPV6);
	memcpy(&v6.ip6_src, src, sizeof(v6.ip6_src));
	memcpy(&v6.ip6_dst, dst, sizeof(v6.ip6_dst));
	return put(put(at, &ether, sizeof(ether)), &v6, sizeof(v6));
}

struct roce_msg
frame_message(const struct frame_spec *spec)
{
	struct roce_msg msg = { .type = ROCE_MSG_FRAME };
	struct roce_cm_mad mad = { .hdr = { .base_version = 0 } };
	struct roce_bth bth = { .opcode = 0x64, .pkey = 0xffff, .dest_qp = htonl(1) };
	struct roce_deth deth = { .qkey = htonl(0x80010000), .src_qp = htonl(1) };
	const uint16_t len = sizeof(struct udphdr) + sizeof(bth) + sizeof(deth) + sizeof(mad) + 4;
	struct udphdr udp = { .source = htons(55410), .dest = htons(4791), .len = htons(len) };
	uint8_t *at;

	fill_mad(&mad, spec);
	at = put_ip(msg.frame.data, spec->src == NULL ? localhost : spec->src,
			spec->dst == NULL ? localhost : spec->dst, len);
	at = put(at, &udp, sizeof(udp));
	at = put(at, &bth, sizeof(bth));
	at = put(at, &deth, sizeof(deth));
	at = put(at, &mad, sizeof(mad));
	at += 4; /* the ICRC, which is for the receiver */
	msg.frame.len = (uint32_t)(at - msg.frame.data);
	return msg;
}
