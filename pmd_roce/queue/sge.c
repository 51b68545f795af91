/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between frames and lists of segments that the common case (sge.h) does not cover. */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "queue/sge.h"

/* The part of a segment, @p offset bytes behind the start of @p sge, at most @p len long. Both move on to the segment it is in. */
static inline struct roce_sge
part_at(const struct roce_sge **sge, uint32_t *offset, uint32_t len)
{
	while (*offset >= (*sge)->length) {
		*offset -= (*sge)->length;
		++*sge;
	}
	return (struct roce_sge){
		.addr = (*sge)->addr + *offset,
		.length = RTE_MIN((*sge)->length - *offset, len),
		.lkey = (*sge)->lkey,
	};
}

int
roce_sge_gather(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		uint32_t offset, uint8_t *dst, uint32_t len)
{
	while (len > 0) {
		struct roce_sge part = part_at(&sge, &offset, len);
		int rc;

		rc = roce_keys_check(keys, pd, &part, 0);
		if (unlikely(rc != 0))
			return rc;
		memcpy(dst, (const void *)(uintptr_t)part.addr, part.length);
		dst += part.length;
		len -= part.length;
		offset += part.length;
	}
	return 0;
}

uint8_t *
roce_sge_find(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		uint32_t offset, uint32_t len, unsigned int access)
{
	const struct roce_sge part = part_at(&sge, &offset, len);

	if (part.length < len || roce_keys_check(keys, pd, &part, access) != 0)
		return NULL;
	return (uint8_t *)(uintptr_t)part.addr;
}

/* Copy from a chain to one place. */
static void
copy_from_chain(uint8_t *dst, const struct rte_mbuf *m, uint32_t from, uint32_t len)
{
	while (from >= m->data_len) {
		from -= m->data_len;
		m = m->next;
	}
	while (len > 0) {
		uint32_t n = RTE_MIN(len, m->data_len - from);

		memcpy(dst, rte_pktmbuf_mtod_offset(m, const uint8_t *, from), n);
		dst += n;
		len -= n;
		from = 0;
		m = m->next;
	}
}

int
roce_sge_scatter(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		uint32_t offset, const struct roce_pkt *pkt)
{
	const struct rte_mbuf *m = pkt->m;
	uint32_t from = pkt->payload_off;
	uint32_t len = pkt->payload_len;

	while (len > 0) {
		struct roce_sge part = part_at(&sge, &offset, len);
		int rc;

		rc = roce_keys_check(keys, pd, &part, IBV_ACCESS_LOCAL_WRITE);
		if (unlikely(rc != 0))
			return rc;
		if (likely(from + part.length <= m->data_len))
			memcpy((void *)(uintptr_t)part.addr,
					rte_pktmbuf_mtod_offset(m, const uint8_t *, from),
					part.length);
		else
			copy_from_chain((uint8_t *)(uintptr_t)part.addr, m, from, part.length);
		from += part.length;
		len -= part.length;
		offset += part.length;
	}
	return 0;
}

void
roce_payload_place(const struct roce_pkt *pkt, uint8_t *to)
{
	const struct rte_mbuf *m = pkt->m;
	uint32_t from = pkt->payload_off;
	uint32_t len = pkt->payload_len;
	uint8_t last;

	if (likely(from + len <= m->data_len)) {
		roce_bytes_place(to, rte_pktmbuf_mtod_offset(m, const uint8_t *, from), len);
		return;
	}
	copy_from_chain(to, m, from, len - 1);
	copy_from_chain(&last, m, from + len - 1, 1);
	__atomic_store_n(to + len - 1, last, __ATOMIC_RELEASE);
}
