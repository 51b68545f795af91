/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Bytes to struct roce_pkt.
 *
 * Most frames are untagged IPv4 without options: one test proves that, and all offsets are constants
 * (frame_plain.h). Of the others the headers are located step by step. From the UDP header on all are judged by
 * roce_frame_judge().
 */

#include <stddef.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "wire/frame_plain.h"

#define ETH_LEN  sizeof(struct rte_ether_hdr)
#define TAG_LEN  sizeof(struct rte_vlan_hdr)
#define IPV4_LEN sizeof(struct rte_ipv4_hdr)
#define IPV6_LEN sizeof(struct rte_ipv6_hdr)
#define UDP_LEN  sizeof(struct rte_udp_hdr)
#define BTH_LEN  sizeof(struct roce_bth)

/* The furthest byte that says whether a frame is ours: UDP behind a tag and a full IPv4 header. */
#define LOCATE_LEN (ETH_LEN + TAG_LEN + 60 + UDP_LEN)

#define IPV4_PLAIN 0x45 /* version 4, no options */

static inline uint16_t
read_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The first @c len bytes of a frame, and what was found in them so far. */
struct locate {
	const uint8_t *head;
	uint32_t len;
	uint32_t l3_off;
	uint32_t udp_off;
	uint16_t type; /* ethertype behind the tag */
};

static bool
udp_is_ours(const struct locate *l)
{
	const uint32_t port_off = l->udp_off + offsetof(struct rte_udp_hdr, dst_port);

	return l->len >= port_off + 2 && read_be16(l->head + port_off) == ROCE_UDP_PORT;
}

/* Skips the Ethernet header and one tag. A tag that the device stripped counts as the one. */
static enum roce_frame_verdict
locate_l3(struct locate *l, const struct rte_mbuf *m, struct roce_pkt *pkt)
{
	const bool stripped = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;

	pkt->vlan_tci = roce_frame_stripped_tag(m);
	l->l3_off = ETH_LEN;
	if (l->len < l->l3_off)
		return ROCE_FRAME_FOREIGN;
	l->type = read_be16(l->head + l->l3_off - 2);
	if (l->type != RTE_ETHER_TYPE_VLAN)
		return ROCE_FRAME_OK;

	l->l3_off += TAG_LEN;
	if (stripped || l->len < l->l3_off)
		return ROCE_FRAME_FOREIGN;
	pkt->vlan_tci = read_be16(l->head + ETH_LEN);
	l->type = read_be16(l->head + l->l3_off - 2);
	return ROCE_FRAME_OK;
}

/* A later fragment shows no port, so it cannot be known for ours. */
static enum roce_frame_verdict
locate_udp_v4(struct locate *l)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(l->head + l->l3_off);
	uint32_t header_len;
	uint16_t fragment;

	if (l->len < l->l3_off + IPV4_LEN)
		return ROCE_FRAME_FOREIGN;
	header_len = (ip->version_ihl & 0x0fu) * 4;
	if (ip->version_ihl >> 4 != 4 || header_len < IPV4_LEN)
		return ROCE_FRAME_FOREIGN;
	fragment = rte_be_to_cpu_16(ip->fragment_offset);
	if (ip->next_proto_id != IPPROTO_UDP || (fragment & RTE_IPV4_HDR_OFFSET_MASK) != 0)
		return ROCE_FRAME_FOREIGN;

	l->udp_off = l->l3_off + header_len;
	if (!udp_is_ours(l))
		return ROCE_FRAME_FOREIGN;
	if ((fragment & RTE_IPV4_HDR_MF_FLAG) != 0 || header_len != IPV4_LEN)
		return ROCE_FRAME_FRAGMENT;
	return ROCE_FRAME_OK;
}

/* No extension header is followed: RoCEv2 has none, and the host's stack may want the frame. */
static enum roce_frame_verdict
locate_udp_v6(struct locate *l)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(l->head + l->l3_off);

	if (l->len < l->l3_off + IPV6_LEN)
		return ROCE_FRAME_FOREIGN;
	if (l->head[l->l3_off] >> 4 != 6 || ip->proto != IPPROTO_UDP)
		return ROCE_FRAME_FOREIGN;
	l->udp_off = l->l3_off + IPV6_LEN;
	return udp_is_ours(l) ? ROCE_FRAME_OK : ROCE_FRAME_FOREIGN;
}

/* Fields of the BTH, and where it stands. */
static inline void
fill(struct roce_pkt *pkt, struct rte_mbuf *m, const struct roce_bth *bth,
		const struct roce_opcode_info *op, struct roce_frame_body body)
{
	const uint32_t dest_qp = rte_be_to_cpu_32(bth->dest_qp);
	const uint32_t psn = rte_be_to_cpu_32(bth->psn);

	pkt->m = m;
	pkt->op = op;
	pkt->bth = (const uint8_t *)bth;
	pkt->dest_qp = dest_qp & ROCE_QPN_MASK;
	pkt->psn = psn & 0xffffff;
	pkt->payload_off = body.off;
	pkt->payload_len = body.len - body.pad;
	pkt->opcode = bth->opcode;
	pkt->pad = (uint8_t)body.pad;
	pkt->ack_req = (psn & ROCE_BTH_ACKREQ) != 0;
	pkt->solicited = (bth->flags & ROCE_BTH_SE) != 0;
	pkt->repeat = psn >> ROCE_BTH_REPEAT_SHIFT & ROCE_BTH_REPEAT_MASK;
	pkt->becn = (dest_qp & ROCE_BTH_BECN) != 0;
}

/* Judges everything from the UDP header on, whose port was found to be ours, and fills the packet. */
static enum roce_frame_verdict
parse_transport(struct rte_mbuf *m, struct roce_pkt *pkt, uint32_t udp_off, uint32_t ip_payload)
{
	const struct roce_frame_known known = {
		.udp_off = udp_off,
		.ip_payload = ip_payload,
		.held = m->pkt_len,
	};
	const struct roce_bth *bth =
			rte_pktmbuf_mtod_offset(m, const struct roce_bth *, udp_off + UDP_LEN);
	enum roce_frame_verdict verdict;
	struct roce_frame_body body;

	if (unlikely(m->data_len < udp_off + UDP_LEN + BTH_LEN))
		return ROCE_FRAME_LENGTH;
	verdict = roce_frame_judge(m, known, &roce_opcode[bth->opcode], &body);
	if (likely(verdict == ROCE_FRAME_OK))
		fill(pkt, m, bth, &roce_opcode[bth->opcode], body);
	return verdict;
}

/* Fields of an IPv4 header. */
static inline void
fill_v4(struct roce_pkt *pkt, const struct rte_ipv4_hdr *ip)
{
	pkt->l3 = (const uint8_t *)ip;
	pkt->v6 = false;
	pkt->ecn = ip->type_of_service & RTE_IPV4_HDR_ECN_MASK;
}

static enum roce_frame_verdict
parse_v4(struct rte_mbuf *m, struct roce_pkt *pkt, uint32_t l3_off)
{
	const struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, l3_off);

	fill_v4(pkt, ip);
	return parse_transport(m, pkt, l3_off + IPV4_LEN, roce_ipv4_payload(ip));
}

static enum roce_frame_verdict
parse_v6(struct rte_mbuf *m, struct roce_pkt *pkt, uint32_t l3_off)
{
	const struct rte_ipv6_hdr *ip =
			rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, l3_off);

	pkt->l3 = (const uint8_t *)ip;
	pkt->v6 = true;
	pkt->ecn = (pkt->l3[1] >> 4) & RTE_IPV4_HDR_ECN_MASK;
	return parse_transport(m, pkt, l3_off + IPV6_LEN, rte_be_to_cpu_16(ip->payload_len));
}

/* Tags, IPv6, options, fragments, foreign and truncated frames. */
static __rte_noinline enum roce_frame_verdict
parse_any(struct rte_mbuf *m, struct roce_pkt *pkt)
{
	uint8_t copy[LOCATE_LEN];
	struct locate l = { .len = RTE_MIN(m->pkt_len, (uint32_t)LOCATE_LEN) };
	enum roce_frame_verdict verdict;

	/* The owner of a frame must not depend on how the device cut it into segments. */
	l.head = rte_pktmbuf_read(m, 0, l.len, copy);
	verdict = locate_l3(&l, m, pkt);
	if (verdict != ROCE_FRAME_OK)
		return verdict;

	if (l.type == RTE_ETHER_TYPE_IPV4)
		verdict = locate_udp_v4(&l);
	else if (l.type == RTE_ETHER_TYPE_IPV6)
		verdict = locate_udp_v6(&l);
	else
		return ROCE_FRAME_FOREIGN;
	if (verdict != ROCE_FRAME_OK)
		return verdict;
	if (m->data_len < l.udp_off)
		return ROCE_FRAME_LENGTH;
	if (l.type == RTE_ETHER_TYPE_IPV4)
		return parse_v4(m, pkt, l.l3_off);
	return parse_v6(m, pkt, l.l3_off);
}

/*
 * A frame as most are, with at least its headers up to the BTH in the first segment.
 * @return false: some part of it is otherwise, or wrong; @p pkt is undefined but for the tag.
 */
static inline bool
parse_plain(struct rte_mbuf *m, const uint8_t *frame, struct roce_pkt *pkt)
{
	const struct roce_bth *bth = (const struct roce_bth *)(frame + ROCE_PLAIN_BTH);
	const struct roce_opcode_info *op = &roce_opcode[bth->opcode];
	struct roce_frame_body body;

	if (unlikely(!roce_plain_is_good(m, op, m->pkt_len, &body)))
		return false;
	fill(pkt, m, bth, op, body);
	fill_v4(pkt, (const struct rte_ipv4_hdr *)(frame + ROCE_PLAIN_IP));
	return true;
}

/*
 * Most frames of others show it at once: a program that hands us all that it receives pays for little more than this.
 * For every other frame parse_any() is called. All up to the UDP header is there.
 */
static inline bool
is_plainly_foreign(const uint8_t *frame)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)frame;
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + ETH_LEN);
	const struct rte_ipv6_hdr *ip6 = (const struct rte_ipv6_hdr *)(frame + ETH_LEN);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + ETH_LEN + IPV4_LEN);

	switch (eth->ether_type) {
	case RTE_BE16(RTE_ETHER_TYPE_IPV4):
		return ip->next_proto_id != IPPROTO_UDP ||
				(ip->version_ihl == IPV4_PLAIN &&
						udp->dst_port != RTE_BE16(ROCE_UDP_PORT));
	case RTE_BE16(RTE_ETHER_TYPE_IPV6):
		return ip6->proto != IPPROTO_UDP;
	default:
		return eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_VLAN);
	}
}

enum roce_frame_verdict
roce_frame_parse(struct rte_mbuf *m, struct roce_pkt *pkt)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	pkt->vlan_tci = roce_frame_stripped_tag(m);
	if (likely(m->data_len >= ROCE_PLAIN_END && parse_plain(m, frame, pkt)))
		return ROCE_FRAME_OK;
	if (m->data_len >= ROCE_PLAIN_BTH && is_plainly_foreign(frame))
		return ROCE_FRAME_FOREIGN;
	return parse_any(m, pkt);
}

bool
roce_frame_destination(const struct rte_mbuf *m, struct roce_ip *dst)
{
	uint8_t copy[LOCATE_LEN];
	struct locate l = { .len = RTE_MIN(m->pkt_len, (uint32_t)LOCATE_LEN) };
	struct roce_pkt pkt;

	l.head = rte_pktmbuf_read(m, 0, l.len, copy);
	if (locate_l3(&l, m, &pkt) != ROCE_FRAME_OK)
		return false;
	if (l.type == RTE_ETHER_TYPE_IPV4 && l.len >= l.l3_off + IPV4_LEN) {
		const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(l.head + l.l3_off);

		*dst = roce_ip_from_v4(ip->dst_addr);
		return true;
	}
	if (l.type == RTE_ETHER_TYPE_IPV6 && l.len >= l.l3_off + IPV6_LEN) {
		const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)(l.head + l.l3_off);

		memcpy(dst->b, &ip->dst_addr, sizeof(dst->b));
		return true;
	}
	return false;
}

void
roce_pkt_addresses(const struct roce_pkt *pkt, struct roce_ip *src, struct roce_ip *dst)
{
	if (pkt->v6) {
		const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)pkt->l3;

		memcpy(src->b, &ip->src_addr, sizeof(src->b));
		memcpy(dst->b, &ip->dst_addr, sizeof(dst->b));
	} else {
		const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)pkt->l3;

		*src = roce_ip_from_v4(ip->src_addr);
		*dst = roce_ip_from_v4(ip->dst_addr);
	}
}
