/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_FRAME_PLAIN_H
#define ROCE_WIRE_FRAME_PLAIN_H

/**
 * @file
 * Plain frames, as most are: untagged IPv4 without options, with the BTH where the compiler knows it. Every
 * other frame is left to roce_frame_parse().
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "wire/frame.h"
#include "wire/icrc.h"

/** Where the headers of a plain frame stand: bytes from its start. */
#define ROCE_PLAIN_IP  ((uint32_t)sizeof(struct rte_ether_hdr))
#define ROCE_PLAIN_UDP ((uint32_t)(ROCE_PLAIN_IP + sizeof(struct rte_ipv4_hdr)))
#define ROCE_PLAIN_BTH ((uint32_t)(ROCE_PLAIN_UDP + sizeof(struct rte_udp_hdr)))

/** A plain frame goes on behind its BTH: bytes from its start. */
#define ROCE_PLAIN_END ((uint32_t)(ROCE_PLAIN_BTH + sizeof(struct roce_bth)))

/* Bytes 12 to 19 of a plain frame: Ethernet type, IP version and header length; the rest may be anything. */
#define ROCE_PLAIN_12      RTE_BE64(0x0800450000000000)
#define ROCE_PLAIN_12_MASK RTE_BE64(0xffffff0000000000)
/* Bytes 20 to 27: no fragment, whether it may become one or not; any TTL; UDP. */
#define ROCE_PLAIN_20      RTE_BE64(0x0000001100000000)
#define ROCE_PLAIN_20_MASK RTE_BE64(0x3fff00ff00000000)

static_assert(RTE_ETHER_TYPE_IPV4 == 0x0800 && IPPROTO_UDP == 0x11, "as in the two words");
static_assert((RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK) == 0x3fff, "as in the second word");

/* The first four bytes of a BTH, but the opcode: version 0, default partition, whatever the rest is. */
#define ROCE_PLAIN_BTH_WORD RTE_BE32((uint32_t)(ROCE_PKEY_DEFAULT & ROCE_PKEY_MASK))
#define ROCE_PLAIN_BTH_MASK RTE_BE32((uint32_t)ROCE_BTH_TVER_MASK << 16 | ROCE_PKEY_MASK)

/**
 * Untagged IPv4 without options or fragmentation, UDP to our port, and the BTH as above: one branch for all seven.
 *
 * @param frame with ROCE_PLAIN_END bytes at least.
 */
static inline bool
roce_frame_is_plain(const uint8_t *frame)
{
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + ROCE_PLAIN_UDP);
	uint64_t at12, at20;
	uint32_t bth;

	memcpy(&at12, frame + 12, sizeof(at12));
	memcpy(&at20, frame + 20, sizeof(at20));
	memcpy(&bth, frame + ROCE_PLAIN_BTH, sizeof(bth));
	return (((at12 ^ ROCE_PLAIN_12) & ROCE_PLAIN_12_MASK) |
			       ((at20 ^ ROCE_PLAIN_20) & ROCE_PLAIN_20_MASK) |
			       ((bth ^ ROCE_PLAIN_BTH_WORD) & ROCE_PLAIN_BTH_MASK) |
			       (uint32_t)(udp->dst_port ^ RTE_BE16(ROCE_UDP_PORT))) == 0;
}

/** Facts about a frame that roce_frame_judge() need not find out. */
struct roce_frame_known {
	uint32_t udp_off;    /**< where UDP begins, whose port is ours */
	uint32_t ip_payload; /**< bytes that the IP header says follow it */
	uint32_t held; /**< bytes of the frame: of all segments, or of the first one where that shall have all */
	bool plain; /**< roce_frame_is_plain() said yes: version and partition are good */
};

/** Bytes behind all headers of a frame that was judged good. */
struct roce_frame_body {
	uint32_t off; /**< where they begin */
	uint32_t len; /**< payload and pad, without the ICRC */
	uint32_t pad;
};

/** Bytes that IPv4 without options says follow it. A length below its own wraps around, and equals no UDP length. */
static inline uint32_t
roce_ipv4_payload(const struct rte_ipv4_hdr *ip)
{
	return (uint32_t)rte_be_to_cpu_16(ip->total_length) - (uint32_t)sizeof(*ip);
}

/**
 * Judge everything from the UDP header on.
 *
 * @param m   with the UDP header and a BTH in its first segment.
 * @param op  of the opcode byte; a caller who knows it has validated only what is left to be validated.
 * @return the first fault in this order; @p body is filled when there is none.
 */
static __rte_always_inline enum roce_frame_verdict
roce_frame_judge(const struct rte_mbuf *m, struct roce_frame_known known,
		const struct roce_opcode_info *op, struct roce_frame_body *body)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(frame + known.udp_off);
	const struct roce_bth *bth = (const struct roce_bth *)(udp + 1);
	const uint32_t headers = known.udp_off + (uint32_t)sizeof(*udp) + op->header_len;
	const uint32_t end = headers + ROCE_ICRC_LEN;
	const uint32_t udp_len = rte_be_to_cpu_16(udp->dgram_len);
	const uint32_t len = known.udp_off + udp_len - end;
	const uint32_t pad = (bth->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;

	if (unlikely(udp_len != known.ip_payload))
		return ROCE_FRAME_LENGTH;
	if (!known.plain &&
			unlikely(known.held < known.udp_off + udp_len ||
					udp_len < sizeof(*udp) + sizeof(*bth) + ROCE_ICRC_LEN))
		return ROCE_FRAME_LENGTH;
	if (!known.plain && unlikely((bth->flags & ROCE_BTH_TVER_MASK) != 0))
		return ROCE_FRAME_VERSION;
	if (unlikely(!(op->flags & ROCE_OP_PAYLOAD) && op->flags == 0))
		return ROCE_FRAME_OPCODE;
	/* A body that ends before it begins wraps around, and is behind the end of any frame. */
	if (unlikely(m->data_len < headers || known.held < end || len > known.held - end ||
			    (len & 3) != 0 || len < pad ||
			    (!(op->flags & ROCE_OP_PAYLOAD) && len != 0)))
		return ROCE_FRAME_LENGTH;
	if (!known.plain &&
			unlikely((bth->pkey & RTE_BE16(ROCE_PKEY_MASK)) !=
					RTE_BE16(ROCE_PKEY_DEFAULT & ROCE_PKEY_MASK)))
		return ROCE_FRAME_PKEY;
	*body = (struct roce_frame_body){ .off = headers, .len = len, .pad = pad };
	return ROCE_FRAME_OK;
}

/**
 * Judge a frame as most are. Its header is plain, or the answer is no.
 *
 * @param m   with ROCE_PLAIN_END bytes at least in its first segment.
 * @param op,held,body as in roce_frame_judge().
 */
static __rte_always_inline bool
roce_plain_is_good(const struct rte_mbuf *m, const struct roce_opcode_info *op, uint32_t held,
		struct roce_frame_body *body)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + ROCE_PLAIN_IP);
	const struct roce_frame_known known = {
		.udp_off = ROCE_PLAIN_UDP,
		.ip_payload = roce_ipv4_payload(ip),
		.held = held,
		.plain = true,
	};

	return likely(roce_frame_is_plain(frame)) &&
			likely(roce_frame_judge(m, known, op, body) == ROCE_FRAME_OK);
}

/** The tag that a device took out of a frame; 0: it was untagged. */
static inline uint16_t
roce_frame_stripped_tag(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 ? m->vlan_tci : 0;
}

/** A plain frame of a request, or of an answer to a READ. */
struct roce_plain_packet {
	uint64_t flow4; /**< source and destination address, as they stand in the frame */
	uint32_t dest_qp;
	uint32_t psn;
	const struct roce_piggyback *ack; /**< the acknowledgement that it carries; NULL: none */
	const struct roce_reth
			*reth; /**< of a WRITE or READ: the memory that it names; NULL: none */
	const struct roce_aeth *aeth; /**< of an answer; NULL: none */
	const uint8_t *stream;        /**< of its ICRC (crc.h) */
	const uint8_t *payload;
	uint32_t payload_len; /**< bytes, without pad and ICRC */
	const uint8_t *icrc;  /**< where it stands */
	uint16_t vlan_tci;    /**< as in struct roce_pkt */
	bool ack_req;
	bool solicited;
	uint8_t repeat; /**< as in struct roce_pkt */
	bool congested; /**< as from roce_ecn_is_marked() */
};

/** Is there a RETH behind the BTH, or behind the acknowledgement? @p opcode: one that roce_plain_packet_parse() looks for. */
static inline bool
roce_plain_has_reth(uint8_t opcode)
{
	return (opcode & ~ROCE_OPCODE_PIGGYBACK) == IBV_OPCODE_RC_RDMA_WRITE_ONLY ||
			opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST;
}

/** Is it the opcode of an answer to a READ? */
static inline bool
roce_plain_is_answer(uint8_t opcode)
{
	return opcode >= IBV_OPCODE_RC_RDMA_READ_RESPONSE_FIRST &&
			opcode <= IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY;
}

/** Opcode of a frame, were it plain; ROCE_OPCODE_NONE when it ends before that. */
static inline uint8_t
roce_plain_opcode(const struct rte_mbuf *m)
{
	return likely(m->data_len >= ROCE_PLAIN_END)
			? *rte_pktmbuf_mtod_offset(m, const uint8_t *, ROCE_PLAIN_BTH)
			: ROCE_OPCODE_NONE;
}

/**
 * Look at a received frame, of which @p packet tells, when it is that and good but for its ICRC, which is not validated here,
 * as its addresses are not.
 *
 * @param opcode of a whole SEND or WRITE, or of one that carries an acknowledgement, of a READ, or of an answer to a READ: the
 *   only one that is looked for.
 * @return false: it is something else, or does not lie in one segment; @p packet is undefined.
 */
static __rte_always_inline bool
roce_plain_packet_parse(const struct rte_mbuf *m, uint8_t opcode, struct roce_plain_packet *packet)
{
	const struct roce_opcode_info *op = &roce_opcode[opcode];
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + ROCE_PLAIN_IP);
	const struct roce_bth *bth = (const struct roce_bth *)(frame + ROCE_PLAIN_BTH);
	struct roce_frame_body body;
	uint32_t psn;

	if (m->data_len < ROCE_PLAIN_END + ROCE_ICRC_LEN || bth->opcode != opcode ||
			!roce_plain_is_good(m, op, m->data_len, &body))
		return false;
	psn = rte_be_to_cpu_32(bth->psn);
	memcpy(&packet->flow4, &ip->src_addr, sizeof(packet->flow4));
	packet->dest_qp = rte_be_to_cpu_32(bth->dest_qp) & ROCE_QPN_MASK;
	packet->psn = psn & 0xffffff;
	packet->ack = opcode & ROCE_OPCODE_PIGGYBACK
			? (const struct roce_piggyback *)(frame + ROCE_PLAIN_END)
			: NULL;
	packet->reth = roce_plain_has_reth(opcode)
			? (const struct roce_reth *)((const uint8_t *)bth + op->ext_off)
			: NULL;
	packet->aeth = roce_plain_is_answer(opcode) && (op->flags & ROCE_OP_AETH)
			? (const struct roce_aeth *)((const uint8_t *)bth + op->aeth_off)
			: NULL;
	packet->stream = frame + ROCE_PLAIN_IP - ROCE_ICRC_ONES;
	packet->payload = frame + body.off;
	packet->payload_len = body.len - body.pad;
	packet->icrc = packet->payload + body.len;
	packet->vlan_tci = roce_frame_stripped_tag(m);
	packet->ack_req = (psn & ROCE_BTH_ACKREQ) != 0;
	packet->repeat = psn >> ROCE_BTH_REPEAT_SHIFT & ROCE_BTH_REPEAT_MASK;
	packet->solicited = (bth->flags & ROCE_BTH_SE) != 0;
	packet->congested = roce_ecn_is_marked(ip->type_of_service);
	return true;
}

/** Is this what the frame has as its ICRC? */
static __rte_always_inline bool
roce_plain_packet_has_icrc(const struct roce_plain_packet *packet, uint32_t crc)
{
	rte_le32_t stored;

	memcpy(&stored, packet->icrc, sizeof(stored));
	return rte_le_to_cpu_32(stored) == crc;
}

/** True when the ICRC of the frame is right. */
static __rte_always_inline bool
roce_plain_packet_icrc_ok(const struct roce_plain_packet *packet)
{
	uint32_t crc = roce_crc_best->crc(packet->stream, (uint32_t)(packet->icrc - packet->stream),
			roce_icrc_mask_v4);

	return roce_plain_packet_has_icrc(packet, crc);
}

/** The same, copying the payload to @p to in the same pass over the bytes, whatever the outcome. */
static __rte_always_inline bool
roce_plain_packet_icrc_ok_copy(const struct roce_plain_packet *packet, uint8_t *to)
{
	uint32_t crc = roce_crc_best->crc_copy_out(packet->stream,
			(uint32_t)(packet->payload - packet->stream),
			(uint32_t)(packet->icrc - packet->stream), to, packet->payload_len,
			roce_icrc_mask_v4);

	return roce_plain_packet_has_icrc(packet, crc);
}

#endif
