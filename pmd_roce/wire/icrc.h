/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_ICRC_H
#define ROCE_WIRE_ICRC_H

/**
 * @file
 * The invariant CRC (IBTA Vol 1, 7.8.1 and annex A17).
 *
 * CRC-32 over eight bytes of ones in place of the link header, then the frame
 * from the IP header to the pad bytes, where every field that a router may
 * change counts as ones: IPv4 TOS, TTL and checksum; IPv6 traffic class, flow
 * label and hop limit; UDP checksum; the reserved byte of the BTH. Stored
 * least significant byte first.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "wire/frame.h"

/** True when the ICRC of a parsed frame is right. Reads only the frame; chained segments are followed. */
bool roce_icrc_ok(const struct roce_pkt *pkt);

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
