/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_SGE_H
#define ROCE_QUEUE_SGE_H

/**
 * @file
 * Lists of segments: copies between them and frames, each segment checked against its key.
 */

#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "queue/keys.h"

#define ROCE_ONE_PASS_RX \
	1024u /**< payload of a received frame from which copy and ICRC are one pass (placement.h) */

/**
 * Copy a segment word by word: the caller has just written it so, and a wide load would wait for those stores.
 * @param addr its address in memory.
 */
static inline void
roce_sge_set(struct roce_sge *to, const struct roce_sge *from, uint64_t addr)
{
	to->addr = addr;
	to->length = from->length;
	to->lkey = from->lkey;
}

/** roce_sge_copy_out() and roce_sge_copy_in() for any list and any frame. */
int roce_sge_gather(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, uint8_t *dst, uint32_t len);
int roce_sge_scatter(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, const struct roce_pkt *pkt);

/**
 * Copy bytes of a gather list into a frame.
 *
 * @param offset  bytes of the list to skip.
 * @param len     bytes to copy; the list is at least offset + len long.
 * @return 0, or as roce_keys_check(): nothing useful was copied.
 */
static inline int
roce_sge_copy_out(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, uint8_t *dst, uint32_t len)
{
	int rc;

	if (unlikely(offset != 0 || len > sge->length || len == 0))
		return roce_sge_gather(keys, pd, sge, offset, dst, len);
	rc = roce_keys_check_part(keys, pd, sge, len, 0);
	if (likely(rc == 0))
		memcpy(dst, (const void *)(uintptr_t)sge->addr, len);
	return rc;
}

/**
 * Bytes of a list that lie in one segment, where @p pd may touch them with all of @p access.
 *
 * @return NULL: they lie in several, or it may not.
 */
uint8_t *roce_sge_find(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, uint32_t len, unsigned int access);

/**
 * Copy the payload of a frame into a scatter list.
 *
 * @param offset  bytes of the list to skip; the list is at least that and the payload long.
 * @param pkt     the frame; its payload may be chained.
 * @return 0, or as roce_keys_check(): some bytes may have been written.
 */
static inline int
roce_sge_copy_in(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		uint32_t offset, const struct roce_pkt *pkt)
{
	const uint32_t len = pkt->payload_len;
	int rc;

	if (unlikely(offset != 0 || len > sge->length || len == 0 || !roce_pkt_in_first(pkt)))
		return roce_sge_scatter(keys, pd, sge, offset, pkt);
	rc = roce_keys_check_part(keys, pd, sge, len, IBV_ACCESS_LOCAL_WRITE);
	if (likely(rc == 0))
		memcpy((void *)(uintptr_t)sge->addr,
				rte_pktmbuf_mtod_offset(pkt->m, const uint8_t *, pkt->payload_off),
				len);
	return rc;
}

/** Copy at least one byte. Programs wait for the last byte of a message: when it is there, so is everything before it. */
static inline void
roce_bytes_place(uint8_t *to, const uint8_t *from, uint32_t len)
{
	memcpy(to, from, len - 1);
	__atomic_store_n(to + len - 1, from[len - 1], __ATOMIC_RELEASE);
}

/** Copy the payload of a frame, which is not empty, to one place, as roce_bytes_place() does. */
void roce_payload_place(const struct roce_pkt *pkt, uint8_t *to);

/** Is the payload of an accepted packet where it belongs? */
static inline bool
roce_pkt_is_placed(const struct roce_pkt *pkt)
{
	return pkt->payload_len >= ROCE_ONE_PASS_RX && pkt->placed != NULL;
}

#endif
