/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flow's template: every byte that all packets of a flow share, so that a packet
 * is one copy of fixed size and a handful of stores.
 */

#include <stddef.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "wire/frame.h"

#define VTC_FLOW_V6 0x60000000u

/* Above Ethernet: IPv6, UDP, BTH, AtomicETH, immediate, ICRC. Linux counts the same 96. */
#define OVERHEAD                                                                              \
	(sizeof(struct rte_ipv6_hdr) + sizeof(struct rte_udp_hdr) + sizeof(struct roce_bth) + \
			sizeof(struct roce_atomiceth) + sizeof(struct roce_immdt) + ROCE_ICRC_LEN)

static_assert(ROCE_TEMPLATE_FIRST >= 14 + 4 + 20 + 8 + 12,
		"a tagged IPv4 template fits the first copy");
static_assert(ROCE_TEMPLATE_LEN >= 14 + 4 + 40 + 8 + 12, "a tagged IPv6 template fits");
static_assert(offsetof(struct rte_ipv4_hdr, total_length) == ROCE_IPV4_TOTAL_LENGTH &&
				offsetof(struct rte_ipv4_hdr, hdr_checksum) == ROCE_IPV4_CHECKSUM &&
				sizeof(struct rte_ipv4_hdr) == ROCE_IPV4_LEN,
		"as in DPDK");
static_assert(offsetof(struct rte_ipv6_hdr, payload_len) == ROCE_IPV6_PAYLOAD_LEN, "as in DPDK");
static_assert(offsetof(struct rte_udp_hdr, dgram_len) == ROCE_UDP_DGRAM_LEN &&
				sizeof(struct rte_udp_hdr) == ROCE_UDP_LEN,
		"as in DPDK");
static_assert(OVERHEAD == 96, "the path MTU must come out as Linux computes it");

/*
 * The flow label that names the same flow as a UDP source port: ibv_flow_label_to_udp_sport() of
 * verbs.h leads back to the port. Its upper part is 1, because label 0 means "no flow" (RFC 6437).
 */
static uint32_t
flow_label(uint16_t udp_sport)
{
	const uint32_t high = 1;

	return high << 14 | ((udp_sport & 0x3fffu) ^ high);
}

static uint32_t
sum_words(const void *data, uint32_t len)
{
	const uint8_t *p = data;
	uint32_t sum = 0;
	uint32_t i;

	for (i = 0; i < len; i += 2) {
		uint16_t word;

		memcpy(&word, p + i, sizeof(word));
		sum += word;
	}
	return sum;
}

/* Ethernet and tag; sets where the IP header begins. */
static void
put_l2(struct roce_template *t, const struct roce_path *path)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)t->bytes;
	rte_be16_t type = t->v6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(RTE_ETHER_TYPE_IPV4);

	eth->dst_addr = path->dst_mac;
	eth->src_addr = path->src_mac;
	t->l3_off = sizeof(*eth);
	if (path->vlan_tci != 0) {
		struct rte_vlan_hdr *tag = (struct rte_vlan_hdr *)(t->bytes + t->l3_off);

		eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		tag->vlan_tci = rte_cpu_to_be_16(path->vlan_tci);
		tag->eth_proto = type;
		t->l3_off += sizeof(*tag);
	} else {
		eth->ether_type = type;
	}
}

static void
put_v4(struct roce_template *t, const struct roce_path *path, bool ip_cksum_offload)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(t->bytes + t->l3_off);

	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->type_of_service = path->tos;
	ip->fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	ip->time_to_live = path->ttl;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = path->src_ip.w[3];
	ip->dst_addr = path->dst_ip.w[3];
	t->ip_sum = sum_words(ip, sizeof(*ip));
	if (ip_cksum_offload)
		t->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	t->udp_off = t->l3_off + sizeof(*ip);
}

static void
put_v6(struct roce_template *t, const struct roce_path *path)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(t->bytes + t->l3_off);

	ip->vtc_flow = rte_cpu_to_be_32(
			VTC_FLOW_V6 | (uint32_t)path->tos << 20 | flow_label(path->udp_sport));
	ip->proto = IPPROTO_UDP;
	ip->hop_limits = path->ttl;
	memcpy(&ip->src_addr, path->src_ip.b, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, path->dst_ip.b, sizeof(ip->dst_addr));
	t->udp_off = t->l3_off + sizeof(*ip);
}

void
roce_template_init(struct roce_template *t, const struct roce_path *path, uint32_t dest_qp,
		bool ip_cksum_offload)
{
	struct rte_udp_hdr *udp;
	struct roce_bth *bth;

	*t = (struct roce_template){ .v6 = !roce_ip_is_v4(&path->dst_ip) };
	put_l2(t, path);
	if (t->v6)
		put_v6(t, path);
	else
		put_v4(t, path, ip_cksum_offload);

	udp = (struct rte_udp_hdr *)(t->bytes + t->udp_off);
	udp->src_port = rte_cpu_to_be_16(path->udp_sport);
	udp->dst_port = RTE_BE16(ROCE_UDP_PORT);

	t->bth_off = t->udp_off + sizeof(*udp);
	bth = (struct roce_bth *)(t->bytes + t->bth_off);
	bth->pkey = RTE_BE16(ROCE_PKEY_DEFAULT);
	bth->dest_qp = rte_cpu_to_be_32(dest_qp & ROCE_QPN_MASK);
}

/* The sum is kept without the total length; two folds, because the first may carry again. */
static rte_be16_t
finish_checksum(uint32_t ip_sum, rte_be16_t total_length)
{
	uint32_t sum = ip_sum + total_length;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (rte_be16_t)~sum;
}

void
roce_template_resize(struct roce_template *t, uint32_t udp_len)
{
	const uint16_t total = (uint16_t)(t->v6 ? udp_len : sizeof(struct rte_ipv4_hdr) + udp_len);

	t->udp_len = udp_len;
	t->dgram_len = rte_cpu_to_be_16((uint16_t)udp_len);
	t->total_length = rte_cpu_to_be_16(total);
	t->ip_checksum = t->ol_flags != 0 ? 0 : finish_checksum(t->ip_sum, t->total_length);
}

uint8_t
roce_mtu_code(uint32_t bytes)
{
	uint8_t code;

	for (code = 1; code <= 5; code++)
		if (roce_mtu_bytes(code) == bytes)
			return code;
	return 0;
}

uint8_t
roce_mtu_fit(uint32_t device_mtu)
{
	uint8_t code;

	for (code = 5; code > 0; code--)
		if (roce_mtu_bytes(code) + OVERHEAD <= device_mtu)
			return code;
	return 0;
}
