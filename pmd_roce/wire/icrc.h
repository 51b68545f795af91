/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_ICRC_H
#define ROCE_WIRE_ICRC_H

/**
 * @file
 * The invariant CRC (IBTA Vol 1, 7.8.1 and annex A17).
 *
 * CRC-32 over eight bytes of ones in place of the link header, then the frame from the IP header to the pad bytes.
 * Every field that a router may change counts as ones: IPv4 TOS, TTL and checksum; IPv6 traffic class, flow label and
 * hop limit; UDP checksum; the reserved byte of the BTH. Stored least significant byte first.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "wire/crc.h"
#include "wire/frame.h"

/** The stream of crc.h: four ones, which lie over the tail of the Ethernet header, then IP, UDP, BTH and so on. */
#define ROCE_ICRC_ONES 4

/** The bits of the headers that count as ones, as in crc.h. */
extern const uint8_t roce_icrc_mask_v4[ROCE_CRC_MASK_LEN];
extern const uint8_t roce_icrc_mask_v6[ROCE_CRC_MASK_LEN];

static inline const uint8_t *
roce_icrc_mask(bool v6)
{
	return unlikely(v6) ? roce_icrc_mask_v6 : roce_icrc_mask_v4;
}

/** roce_icrc_ok() of a frame whose ICRC, if it has one, does not lie in its first segment. */
bool roce_icrc_ok_chain(const struct roce_pkt *pkt);

/** True when the ICRC of a parsed frame is right. Reads only the frame; chained segments are followed. */
static inline bool
roce_icrc_ok(const struct roce_pkt *pkt)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt->m, const uint8_t *);
	const uint8_t *stream = pkt->l3 - ROCE_ICRC_ONES;
	const uint32_t icrc_at = pkt->payload_off + pkt->payload_len + pkt->pad;
	rte_le32_t stored;

	if (unlikely(pkt->m->data_len < icrc_at + ROCE_ICRC_LEN))
		return roce_icrc_ok_chain(pkt);
	memcpy(&stored, frame + icrc_at, sizeof(stored));
	return roce_crc_best->crc(stream, (uint32_t)(frame + icrc_at - stream),
			       roce_icrc_mask(pkt->v6)) == rte_le_to_cpu_32(stored);
}

/**
 * The same, copying the payload to @p to in the same pass over the bytes, whatever the outcome.
 *
 * @param pkt a frame whose ICRC lies in its first segment.
 */
static inline bool
roce_icrc_ok_copy(const struct roce_pkt *pkt, uint8_t *to)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt->m, const uint8_t *);
	const uint8_t *stream = pkt->l3 - ROCE_ICRC_ONES;
	const uint8_t *payload = frame + pkt->payload_off;
	const uint8_t *icrc = payload + pkt->payload_len + pkt->pad;
	rte_le32_t stored;

	memcpy(&stored, icrc, sizeof(stored));
	return roce_crc_best->crc_copy_out(stream, (uint32_t)(payload - stream),
			       (uint32_t)(icrc - stream), to, pkt->payload_len,
			       roce_icrc_mask(pkt->v6)) == rte_le_to_cpu_32(stored);
}

/**
 * Compute and store the ICRC of a frame made by roce_frame_build().
 *
 * @param m single segment, complete but for its last four bytes.
 * @param t the template it was made from.
 */
void roce_icrc_put(struct rte_mbuf *m, const struct roce_template *t);

/**
 * The same for a frame whose payload is still elsewhere: copies it in the same pass over the bytes.
 *
 * @param to where the payload belongs in the frame, behind all headers.
 */
void roce_icrc_put_copy(struct rte_mbuf *m, const struct roce_template *t, uint8_t *to,
		const uint8_t *payload, uint32_t payload_len);

/** The same for a frame that goes on in chained segments, of which the last one ends with those four bytes. */
void roce_icrc_put_chain(struct rte_mbuf *m, const struct roce_template *t);

/** Name of the way in which the CRC is computed, for the start-up line: that of roce_crc_best. */
const char *roce_icrc_path(void);

#endif
