/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_FRAME_H
#define ROCE_WIRE_FRAME_H

/**
 * @file
 * Frames: bytes to `struct roce_pkt`, and a header template to bytes.
 *
 * RoCEv2 is Ethernet, an optional 802.1Q tag, IPv4 or IPv6, UDP to port 4791,
 * the transport headers, payload, 0-3 pad bytes and the ICRC (IBTA annex A17).
 * All headers must lie in the first mbuf segment; payload may be chained.
 * Parsing trusts no length: every byte that is read was first proved to exist.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "wire/bth.h"
#include "wire/opcode.h"

/** An IP address: IPv6, or IPv4 as ::ffff:a.b.c.d. Network byte order. */
struct roce_ip {
	union {
		uint8_t b[16];
		rte_be32_t w[4];
		uint64_t q[2];
	};
};

/** True when @p ip is an IPv4 address in IPv6 clothes. */
static inline bool
roce_ip_is_v4(const struct roce_ip *ip)
{
	return ip->q[0] == 0 && ip->w[2] == RTE_BE32(0x0000ffff);
}

/** The address of four octets in network byte order. */
static inline struct roce_ip
roce_ip_from_v4(rte_be32_t v4)
{
	return (struct roce_ip){ .w = { 0, 0, RTE_BE32(0x0000ffff), v4 } };
}

static inline bool
roce_ip_equal(const struct roce_ip *a, const struct roce_ip *b)
{
	return a->q[0] == b->q[0] && a->q[1] == b->q[1];
}

/** Result of the dissection of a received frame. */
enum roce_frame_verdict {
	ROCE_FRAME_OK = 0,
	ROCE_FRAME_FOREIGN,  /**< not seen to be UDP 4791; IPv6 extension headers too: untouched */
	ROCE_FRAME_LENGTH,   /**< IP, UDP, header or pad lengths contradict each other */
	ROCE_FRAME_FRAGMENT, /**< first IPv4 fragment of, or IPv4 options before, UDP 4791 */
	ROCE_FRAME_OPCODE,   /**< opcode unknown */
	ROCE_FRAME_VERSION,  /**< BTH transport version is not 0 */
	ROCE_FRAME_PKEY,     /**< not the default partition */
};

#define ROCE_ECN_CONGESTED 3u /**< both bits (RFC 3168) */

/** Has the network marked the frame: it was congested? @p ecn: its lower two bits are those of TOS or traffic class. */
static inline bool
roce_ecn_is_marked(uint8_t ecn)
{
	return (ecn & ROCE_ECN_CONGESTED) == ROCE_ECN_CONGESTED;
}

/** A parsed frame. Pointers lead into the first segment of the mbuf. */
struct roce_pkt {
	struct rte_mbuf *m;
	const struct roce_opcode_info *op;
	const uint8_t *l3;  /**< IPv4 or IPv6 header */
	const uint8_t *bth; /**< BTH, then its extension headers */
	uint8_t *placed; /**< the engine's, of a payload of ROCE_ONE_PASS_RX and more: where it is copied already; NULL: nowhere */
	uint32_t dest_qp;
	uint32_t psn;
	uint32_t payload_off; /**< bytes from the start of the frame */
	uint32_t payload_len; /**< bytes, without pad and ICRC */
	uint16_t vlan_tci;    /**< tag control information; 0: untagged */
	uint8_t opcode;
	uint8_t pad; /**< bytes */
	uint8_t ecn; /**< as in roce_ecn_is_marked() */
	bool v6;
	bool ack_req;
	bool solicited;
	bool becn;
	uint8_t repeat; /**< repeat number (repeat.h); the peer may have agreed to none */
};

/**
 * Look at a received frame.
 *
 * @param m   the frame; it stays the caller's.
 * @param pkt filled when the verdict is ROCE_FRAME_OK; else undefined but for the tag.
 * @return verdict. Trailing bytes behind the IP datagram (Ethernet padding) are accepted. The ICRC is
 *   not validated here (icrc.h), nor the addresses (the engine knows which are ours).
 */
enum roce_frame_verdict roce_frame_parse(struct rte_mbuf *m, struct roce_pkt *pkt);

/**
 * Where a frame goes that roce_frame_parse() found to be RoCEv2, also one that it found malformed.
 * @return false: it is no IP at all.
 */
bool roce_frame_destination(const struct rte_mbuf *m, struct roce_ip *dst);

/** Source and destination of a parsed frame. */
void roce_pkt_addresses(const struct roce_pkt *pkt, struct roce_ip *src, struct roce_ip *dst);

static inline const struct roce_reth *
roce_pkt_reth(const struct roce_pkt *pkt)
{
	return (const struct roce_reth *)(pkt->bth + pkt->op->ext_off);
}

static inline const struct roce_deth *
roce_pkt_deth(const struct roce_pkt *pkt)
{
	return (const struct roce_deth *)(pkt->bth + pkt->op->ext_off);
}

static inline const struct roce_atomiceth *
roce_pkt_atomiceth(const struct roce_pkt *pkt)
{
	return (const struct roce_atomiceth *)(pkt->bth + pkt->op->ext_off);
}

static inline const struct roce_aeth *
roce_pkt_aeth(const struct roce_pkt *pkt)
{
	return (const struct roce_aeth *)(pkt->bth + pkt->op->aeth_off);
}

static inline const struct roce_sack *
roce_pkt_sack(const struct roce_pkt *pkt)
{
	return (const struct roce_sack *)(pkt->bth + pkt->op->ext_off);
}

static inline const struct roce_piggyback *
roce_pkt_piggyback(const struct roce_pkt *pkt)
{
	return (const struct roce_piggyback *)(pkt->bth + pkt->op->aeth_off);
}

/** Does all of the payload lie in the first segment? */
static inline bool
roce_pkt_in_first(const struct roce_pkt *pkt)
{
	return pkt->payload_off + pkt->payload_len <= pkt->m->data_len;
}

/** Does the frame, with its ICRC, end in the first segment? */
static inline bool
roce_pkt_ends_in_first(const struct roce_pkt *pkt)
{
	return pkt->payload_off + pkt->payload_len + pkt->pad + ROCE_ICRC_LEN <= pkt->m->data_len;
}

/** Immediate data, as on the wire (big endian). */
static inline rte_be32_t
roce_pkt_imm(const struct roce_pkt *pkt)
{
	return ((const struct roce_immdt *)(pkt->bth + pkt->op->imm_off))->data;
}

/* The tag control information of IEEE 802.1Q: priority (PCP):3 drop eligible:1 VLAN identifier (VID):12. */
#define ROCE_PCP_SHIFT 13
#define ROCE_VID_MASK  0x0fffu

/** The congestion marks of RFC 3168 in a TOS or traffic class octet; the rest is the DSCP of RFC 2474. */
#define ROCE_TOS_ECN 0x03u

/** Where a flow goes: everything below the BTH. */
struct roce_path {
	struct rte_ether_addr src_mac;
	struct rte_ether_addr dst_mac;
	struct roce_ip src_ip;
	struct roce_ip dst_ip; /**< same family as src_ip */
	uint16_t udp_sport; /**< source port, 49152..65535: entropy for the network's load balancing */
	uint16_t vlan_tci; /**< 0: untagged; with a VID of 0 and a priority: a tag that names no VLAN */
	uint8_t tos;       /**< DSCP << 2 | ECN */
	uint8_t ttl;
	uint8_t mtu_code; /**< IBTA path MTU 1..5: 256..4096 bytes */
};

#define ROCE_TEMPLATE_LEN 96

/** Largest frame of an MTU code: Ethernet, tag, IPv6, UDP, BTH, the longest extension, payload, pad, ICRC. */
#define ROCE_FRAME_LEN_MAX(mtu) ((mtu) + 14 + 4 + 40 + 8 + 12 + 28 + 4 + 3 + 4)

/** Everything up to and including the BTH, with lengths, PSN, opcode and checksum left to fill in. */
struct roce_template {
	uint8_t bytes[ROCE_TEMPLATE_LEN];
	uint8_t l3_off; /**< IP header, bytes from the start */
	uint8_t udp_off;
	uint8_t bth_off;
	bool v6;
	uint32_t ip_sum; /**< IPv4: one's complement sum of the header with length and checksum 0 */
	uint32_t udp_len; /**< what the next three were made for: most frames of a flow are as long as the last one */
	rte_be16_t dgram_len;
	rte_be16_t total_length; /**< of the IP header; IPv6: payload length */
	rte_be16_t ip_checksum;  /**< IPv4, unless the device makes it */
	uint64_t ol_flags; /**< for the mbuf: RTE_MBUF_F_TX_* when the device makes the IPv4 checksum */
};

/**
 * Make the template of a flow.
 *
 * @param t       filled whole.
 * @param path    the flow; copied.
 * @param dest_qp destination QP number, 24 bits.
 * @param ip_cksum_offload  the device fills in the IPv4 header checksum.
 */
void roce_template_init(struct roce_template *t, const struct roce_path *path, uint32_t dest_qp,
		bool ip_cksum_offload);

/** The fields that differ between two packets of a flow. */
struct roce_frame_spec {
	uint32_t psn;
	uint8_t opcode;
	bool ack_req;
	bool solicited;
	uint8_t repeat;       /**< repeat number (repeat.h), or 0 */
	uint32_t payload_len; /**< bytes, 0..MTU; the pad is derived */
};

/** Lengths and checksum of a flow's frames for another UDP length. */
void roce_template_resize(struct roce_template *t, uint32_t udp_len);

/* An untagged or tagged IPv4 template fits the first part; only IPv6 needs the second. */
#define ROCE_TEMPLATE_FIRST 64

/* Where a frame's lengths stand: bytes from the start of their header. */
#define ROCE_IPV4_TOTAL_LENGTH 2
#define ROCE_IPV4_CHECKSUM     10
#define ROCE_IPV4_LEN          20
#define ROCE_IPV6_PAYLOAD_LEN  4
#define ROCE_UDP_DGRAM_LEN     4
#define ROCE_UDP_LEN           8

/**
 * Write the headers of a frame into an empty mbuf.
 *
 * Fills the first segment with the template, patched, and leaves room for the extension headers of the opcode. Then
 * data_len and pkt_len cover headers, payload, pad and ICRC in this one segment: its tailroom must hold them. Pad bytes
 * are zeroed. A template belongs to one thread at a time.
 *
 * @return where the extension headers begin (right behind the BTH); payload begins at that pointer plus
 *   `roce_opcode[spec->opcode].header_len - sizeof(struct roce_bth)`. Write both, then roce_icrc_put().
 */
static inline uint8_t *
roce_frame_build(struct rte_mbuf *m, struct roce_template *t, const struct roce_frame_spec *spec)
{
	const uint32_t header_len = roce_opcode[spec->opcode].header_len;
	const uint32_t pad = -spec->payload_len & 3;
	const uint32_t body = header_len + spec->payload_len + pad + ROCE_ICRC_LEN;
	const uint32_t udp_len = ROCE_UDP_LEN + body;
	const uint32_t frame_len = t->bth_off + body;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *l3 = frame + t->l3_off;
	uint8_t *bth_at = frame + t->bth_off;
	struct roce_bth *bth = (struct roce_bth *)bth_at;

	if (unlikely(udp_len != t->udp_len))
		roce_template_resize(t, udp_len);
	memcpy(frame, t->bytes, ROCE_TEMPLATE_FIRST);
	if (unlikely(t->v6)) {
		memcpy(frame + ROCE_TEMPLATE_FIRST, t->bytes + ROCE_TEMPLATE_FIRST,
				ROCE_TEMPLATE_LEN - ROCE_TEMPLATE_FIRST);
		memcpy(l3 + ROCE_IPV6_PAYLOAD_LEN, &t->total_length, sizeof(t->total_length));
	} else {
		memcpy(l3 + ROCE_IPV4_TOTAL_LENGTH, &t->total_length, sizeof(t->total_length));
		memcpy(l3 + ROCE_IPV4_CHECKSUM, &t->ip_checksum, sizeof(t->ip_checksum));
		if (t->ol_flags != 0) {
			m->ol_flags = t->ol_flags;
			m->l2_len = t->l3_off;
			m->l3_len = ROCE_IPV4_LEN;
		}
	}
	memcpy(frame + t->udp_off + ROCE_UDP_DGRAM_LEN, &t->dgram_len, sizeof(t->dgram_len));
	bth->opcode = spec->opcode;
	bth->flags = (uint8_t)((spec->solicited ? ROCE_BTH_SE : 0) | ROCE_BTH_MIGREQ |
			pad << ROCE_BTH_PAD_SHIFT);
	bth->psn = rte_cpu_to_be_32((spec->ack_req ? ROCE_BTH_ACKREQ : 0) |
			(uint32_t)spec->repeat << ROCE_BTH_REPEAT_SHIFT | (spec->psn & 0xffffff));

	/* The word that ends in the pad; without pad, the ICRC's, which is written last anyway. */
	memset(bth_at + header_len + (spec->payload_len & ~3u), 0, 4);

	m->data_len = (uint16_t)frame_len;
	m->pkt_len = frame_len;
	return bth_at + sizeof(*bth);
}

/** Bytes of payload per packet of an IBTA MTU code 1..5; 0 for any other code. */
static inline uint32_t
roce_mtu_bytes(uint8_t code)
{
	return code >= 1 && code <= 5 ? 128u << code : 0;
}

/** IBTA MTU code of 256, 512, 1024, 2048 or 4096 bytes; 0 for any other number. */
uint8_t roce_mtu_code(uint32_t bytes);

/** The largest IBTA MTU code whose frames fit a device MTU (bytes above the Ethernet header); 0: none. */
uint8_t roce_mtu_fit(uint32_t device_mtu);

#endif
