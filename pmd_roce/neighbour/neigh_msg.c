/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/neigh_msg.h"

#include <netinet/in.h>
#include <string.h>

#include <rte_arp.h>
#include <rte_byteorder.h>
#include <rte_ip.h>

#include "neighbour/subnet.h"

#define ND_SOLICITATION  135
#define ND_ADVERTISEMENT 136

#define ND_FLAG_SOLICITED 0x40000000u
#define ND_FLAG_OVERRIDE  0x20000000u

#define ND_OPTION_SOURCE_MAC 1
#define ND_OPTION_TARGET_MAC 2

/** Neighbour solicitation and advertisement (RFC 4861 4.3, 4.4). On the wire, before the options. */
struct nd_header {
	uint8_t type;
	uint8_t code;
	rte_be16_t checksum;
	rte_be32_t flags; /* an advertisement's; reserved in a solicitation */
	uint8_t target[16];
} __attribute__((packed));

/** Source or target link-layer address option for Ethernet (RFC 4861 4.6.1). */
struct nd_mac_option {
	uint8_t type;
	uint8_t len8; /* eights of bytes, with these two */
	struct rte_ether_addr mac;
} __attribute__((packed, aligned(2)));

static_assert(sizeof(struct nd_header) == 24, "RFC 4861 4.3: 24 bytes before the options");
static_assert(sizeof(struct nd_mac_option) == 8, "RFC 4861 4.6.1: one eight");

static bool
ip_is_multicast6(const struct roce_ip *ip)
{
	return ip->b[0] == 0xff;
}

struct roce_ip
roce_neigh_solicited_node(const struct roce_ip *ip)
{
	struct roce_ip group = { .w = { RTE_BE32(0xff020000), 0, RTE_BE32(1), 0 } };

	group.b[12] = 0xff;
	memcpy(&group.b[13], &ip->b[13], 3);
	return group;
}

struct rte_ether_addr
roce_neigh_multicast_mac(const struct roce_ip *group)
{
	struct rte_ether_addr mac = { { 0x33, 0x33 } };

	memcpy(&mac.addr_bytes[2], &group->b[12], 4);
	return mac;
}

/* The link header. @return its length; 0: of another network, or too short. A tag of network 0 is none. */
static size_t
read_link(const uint8_t *frame, size_t len, const struct roce_neigh_tags *tags, rte_be16_t *type)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)frame;
	const struct rte_vlan_hdr *vlan = (const struct rte_vlan_hdr *)(eth + 1);
	uint16_t id = tags->stripped ? tags->stripped_tci & ROCE_VID_MASK : 0;
	size_t l2 = sizeof(*eth);

	if (len < l2)
		return 0;
	*type = eth->ether_type;
	if (*type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		l2 += sizeof(*vlan);
		/* One tag is the most that we understand. */
		if (len < l2 || tags->stripped)
			return 0;
		id = rte_be_to_cpu_16(vlan->vlan_tci) & ROCE_VID_MASK;
		*type = vlan->eth_proto;
	}
	return id == (tags->own_tci & ROCE_VID_MASK) ? l2 : 0;
}

static bool
read_arp(const uint8_t *l3, size_t len, struct roce_neigh_msg *msg)
{
	const struct rte_arp_hdr *arp = (const struct rte_arp_hdr *)l3;
	uint16_t opcode;

	if (len < sizeof(*arp))
		return false;
	if (arp->arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER) ||
			arp->arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
			arp->arp_hlen != RTE_ETHER_ADDR_LEN || arp->arp_plen != sizeof(rte_be32_t))
		return false;
	opcode = rte_be_to_cpu_16(arp->arp_opcode);
	if (opcode != RTE_ARP_OP_REQUEST && opcode != RTE_ARP_OP_REPLY)
		return false;
	msg->answer = opcode == RTE_ARP_OP_REPLY;
	if (arp->arp_data.arp_sip != 0)
		msg->sender = roce_ip_from_v4(arp->arp_data.arp_sip);
	/* The question names the target; an answer is about its sender. */
	msg->target = msg->answer ? msg->sender : roce_ip_from_v4(arp->arp_data.arp_tip);
	rte_ether_addr_copy(&arp->arp_data.arp_sha, &msg->mac);
	msg->has_mac = true;
	msg->solicited = true;
	msg->override = true;
	return true;
}

/* Options until the end; false: malformed. Takes the MAC address of the kind that goes with the message. */
static bool
read_options(const uint8_t *option, size_t len, uint8_t wanted, struct roce_neigh_msg *msg)
{
	while (len > 0) {
		const struct nd_mac_option *mac = (const struct nd_mac_option *)option;
		size_t size;

		if (len < 8 || mac->len8 == 0)
			return false;
		size = (size_t)mac->len8 * 8;
		if (size > len)
			return false;
		if (mac->type == wanted && size == sizeof(*mac)) {
			msg->mac = mac->mac;
			msg->has_mac = true;
		}
		option += size;
		len -= size;
	}
	return true;
}

/* Validity beyond the syntax (RFC 4861 7.1.1, 7.1.2). */
static bool
nd_is_valid(const struct roce_neigh_msg *msg)
{
	struct roce_ip group = roce_neigh_solicited_node(&msg->target);

	if (ip_is_multicast6(&msg->target))
		return false;
	if (msg->answer)
		return !(msg->solicited && ip_is_multicast6(&msg->l3_dst));
	if (roce_ip_is_zero(&msg->sender))
		return roce_ip_equal(&msg->l3_dst, &group) && !msg->has_mac;
	return true;
}

static bool
read_nd(const uint8_t *l3, size_t len, struct roce_neigh_msg *msg)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)l3;
	const struct nd_header *nd = (const struct nd_header *)(ip + 1);
	size_t payload;
	uint32_t flags;

	if (len < sizeof(*ip) + sizeof(*nd))
		return false;
	payload = rte_be_to_cpu_16(ip->payload_len);
	if (ip->proto != IPPROTO_ICMPV6 || ip->hop_limits != 255 || payload < sizeof(*nd) ||
			payload > len - sizeof(*ip) || (rte_be_to_cpu_32(ip->vtc_flow) >> 28) != 6)
		return false;
	if ((nd->type != ND_SOLICITATION && nd->type != ND_ADVERTISEMENT) || nd->code != 0)
		return false;
	/* Computed over a right checksum as well, nothing is left. */
	if (rte_ipv6_udptcp_cksum(ip, nd) != 0)
		return false;
	flags = rte_be_to_cpu_32(nd->flags);
	msg->answer = nd->type == ND_ADVERTISEMENT;
	msg->solicited = msg->answer && (flags & ND_FLAG_SOLICITED) != 0;
	msg->override = msg->answer && (flags & ND_FLAG_OVERRIDE) != 0;
	memcpy(msg->target.b, nd->target, sizeof(nd->target));
	memcpy(msg->sender.b, &ip->src_addr, sizeof(ip->src_addr));
	memcpy(msg->l3_dst.b, &ip->dst_addr, sizeof(ip->dst_addr));
	return read_options((const uint8_t *)(nd + 1), payload - sizeof(*nd),
			       msg->answer ? ND_OPTION_TARGET_MAC : ND_OPTION_SOURCE_MAC, msg) &&
			nd_is_valid(msg);
}

bool
roce_neigh_msg_read(const uint8_t *frame, size_t len, const struct roce_neigh_tags *tags,
		struct roce_neigh_msg *msg)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)frame;
	rte_be16_t type = 0;
	size_t l2 = read_link(frame, len, tags, &type);

	if (l2 == 0)
		return false;
	memset(msg, 0, sizeof(*msg));
	msg->src_mac = eth->src_addr;
	msg->dst_mac = eth->dst_addr;
	if (type == RTE_BE16(RTE_ETHER_TYPE_ARP))
		return read_arp(frame + l2, len - l2, msg);
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return read_nd(frame + l2, len - l2, msg);
	return false;
}

static size_t
write_link(uint8_t *frame, uint16_t vlan_tci, const struct roce_neigh_msg *msg, uint16_t type)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)frame;
	struct rte_vlan_hdr *vlan = (struct rte_vlan_hdr *)(eth + 1);

	eth->dst_addr = msg->dst_mac;
	eth->src_addr = msg->src_mac;
	eth->ether_type = rte_cpu_to_be_16(type);
	if (vlan_tci == 0)
		return sizeof(*eth);
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	vlan->vlan_tci = rte_cpu_to_be_16(vlan_tci);
	vlan->eth_proto = rte_cpu_to_be_16(type);
	return sizeof(*eth) + sizeof(*vlan);
}

/* In an answer the target speaks, to l3_dst; in a question the sender asks for the target. */
static size_t
write_arp(uint8_t *l3, const struct roce_neigh_msg *msg)
{
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)l3;

	arp->arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = RTE_ETHER_ADDR_LEN;
	arp->arp_plen = sizeof(rte_be32_t);
	arp->arp_opcode = rte_cpu_to_be_16(msg->answer ? RTE_ARP_OP_REPLY : RTE_ARP_OP_REQUEST);
	arp->arp_data.arp_sha = msg->mac;
	if (msg->answer) {
		arp->arp_data.arp_sip = msg->target.w[3];
		arp->arp_data.arp_tha = msg->dst_mac;
		arp->arp_data.arp_tip = msg->l3_dst.w[3];
	} else {
		arp->arp_data.arp_sip = msg->sender.w[3];
		arp->arp_data.arp_tip = msg->target.w[3];
	}
	return sizeof(*arp);
}

static size_t
write_nd(uint8_t *l3, const struct roce_neigh_msg *msg)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)l3;
	struct nd_header *nd = (struct nd_header *)(ip + 1);
	struct nd_mac_option *option = (struct nd_mac_option *)(nd + 1);
	size_t payload = sizeof(*nd) + (msg->has_mac ? sizeof(*option) : 0);

	ip->vtc_flow = RTE_BE32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)payload);
	ip->proto = IPPROTO_ICMPV6;
	ip->hop_limits = 255;
	memcpy(&ip->src_addr, msg->sender.b, sizeof(ip->src_addr));
	memcpy(&ip->dst_addr, msg->l3_dst.b, sizeof(ip->dst_addr));
	nd->type = msg->answer ? ND_ADVERTISEMENT : ND_SOLICITATION;
	nd->flags = rte_cpu_to_be_32((msg->solicited ? ND_FLAG_SOLICITED : 0) |
			(msg->override ? ND_FLAG_OVERRIDE : 0));
	memcpy(nd->target, msg->target.b, sizeof(nd->target));
	if (msg->has_mac) {
		option->type = msg->answer ? ND_OPTION_TARGET_MAC : ND_OPTION_SOURCE_MAC;
		option->len8 = sizeof(*option) / 8;
		option->mac = msg->mac;
	}
	nd->checksum = rte_ipv6_udptcp_cksum(ip, nd);
	return sizeof(*ip) + payload;
}

size_t
roce_neigh_msg_write(uint8_t *frame, uint16_t vlan_tci, const struct roce_neigh_msg *msg)
{
	size_t len;

	memset(frame, 0, ROCE_NEIGH_FRAME_MAX);
	if (roce_ip_is_v4(&msg->target)) {
		len = write_link(frame, vlan_tci, msg, RTE_ETHER_TYPE_ARP);
		len += write_arp(frame + len, msg);
	} else {
		len = write_link(frame, vlan_tci, msg, RTE_ETHER_TYPE_IPV6);
		len += write_nd(frame + len, msg);
	}
	return len < ROCE_NEIGH_FRAME_MIN ? ROCE_NEIGH_FRAME_MIN : len;
}
