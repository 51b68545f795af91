/* SPDX-License-Identifier: BSD-3-Clause */

#include <stddef.h>
#include <string.h>

#include <isa-l/crc.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "wire/crc.h"
#include "wire/icrc.h"

#define ONES    ROCE_ICRC_ONES
#define BTH_LEN 12

const uint8_t roce_icrc_mask_v4[ROCE_CRC_MASK_LEN] __rte_aligned(64) = {
	/* clang-format off */
	[ROCE_CRC_MASK_AT] =
	0xff, 0xff, 0xff, 0xff,
	0x00, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* IPv4: type of service */
	0xff, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, /* TTL, checksum */
	0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, /* UDP: checksum */
	0x00, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, /* BTH: FECN, BECN and reserved */
	/* clang-format on */
};

const uint8_t roce_icrc_mask_v6[ROCE_CRC_MASK_LEN] __rte_aligned(64) = {
	/* clang-format off */
	[ROCE_CRC_MASK_AT] =
	0xff, 0xff, 0xff, 0xff,
	0x0f, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0xff, /* IPv6: class, flow label; hop limit */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, /* UDP: checksum */
	0x00, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, /* BTH: FECN, BECN and reserved */
	/* clang-format on */
};

/* Copies @p len bytes at @p off of a chain. @return false: the chain ends before. */
static bool
chain_read(const struct rte_mbuf *m, uint32_t off, uint8_t *to, uint32_t len)
{
	for (; m != NULL && len > 0; m = m->next) {
		uint32_t here;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		here = RTE_MIN(len, m->data_len - off);
		memcpy(to, rte_pktmbuf_mtod_offset(m, const uint8_t *, off), here);
		to += here;
		len -= here;
		off = 0;
	}
	return len == 0;
}

/* Carries a CRC over bytes @p off to @p end of a chain, or over what there is of them. */
static uint32_t
crc_chain(uint32_t crc, const struct rte_mbuf *m, uint32_t off, uint32_t end)
{
	uint32_t len = end - off;

	for (; m != NULL && len > 0; m = m->next) {
		uint32_t here;

		if (off >= m->data_len) {
			off -= m->data_len;
			continue;
		}
		here = RTE_MIN(len, m->data_len - off);
		crc = crc32_gzip_refl(crc, rte_pktmbuf_mtod_offset(m, const uint8_t *, off), here);
		len -= here;
		off = 0;
	}
	return crc;
}

/* A frame in segments, with its headers in the first: from the IP header at @p l3 to @p end, the BTH at @p bth. */
static __rte_noinline uint32_t
crc_segments(const struct rte_mbuf *m, uint32_t l3, uint32_t bth, uint32_t end, bool v6)
{
	const uint8_t *mask = roce_icrc_mask(v6) + ROCE_CRC_MASK_AT;
	const uint8_t *stream = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3 - ONES);
	const uint32_t len = ONES + bth - l3 + BTH_LEN;
	uint8_t head[ROCE_CRC_MASK_LEN - ROCE_CRC_MASK_AT];

	for (uint32_t i = 0; i < len; i++)
		head[i] = stream[i] | mask[i];
	/* ISA-L inverts seed and result: this is the initial value zero. */
	return crc_chain(crc32_gzip_refl(UINT32_MAX, head, len), m, bth + BTH_LEN, end);
}

__rte_noinline bool
roce_icrc_ok_chain(const struct roce_pkt *pkt)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt->m, const uint8_t *);
	const uint32_t end = pkt->payload_off + pkt->payload_len + pkt->pad;
	rte_le32_t stored;
	uint32_t crc;

	crc = crc_segments(pkt->m, (uint32_t)(pkt->l3 - frame), (uint32_t)(pkt->bth - frame), end,
			pkt->v6);
	if (!chain_read(pkt->m, end, (uint8_t *)&stored, sizeof(stored)))
		return false;
	return rte_le_to_cpu_32(stored) == crc;
}

static inline void
store(uint8_t *at, uint32_t crc)
{
	const rte_le32_t stored = rte_cpu_to_le_32(crc);

	memcpy(at, &stored, sizeof(stored));
}

void
roce_icrc_put(struct rte_mbuf *m, const struct roce_template *t)
{
	uint8_t *stream = rte_pktmbuf_mtod_offset(m, uint8_t *, t->l3_off - ONES);
	const uint32_t len = m->data_len - ROCE_ICRC_LEN - (t->l3_off - ONES);

	store(stream + len, roce_crc_best->crc(stream, len, roce_icrc_mask(t->v6)));
}

void
roce_icrc_put_copy(struct rte_mbuf *m, const struct roce_template *t, uint8_t *to,
		const uint8_t *payload, uint32_t payload_len)
{
	uint8_t *stream = rte_pktmbuf_mtod_offset(m, uint8_t *, t->l3_off - ONES);
	const uint32_t len = m->data_len - ROCE_ICRC_LEN - (t->l3_off - ONES);

	store(stream + len,
			roce_crc_best->crc_copy_in(stream, (uint32_t)(to - stream), len, payload,
					payload_len, roce_icrc_mask(t->v6)));
}

void
roce_icrc_put_chain(struct rte_mbuf *m, const struct roce_template *t)
{
	const uint32_t end = m->pkt_len - ROCE_ICRC_LEN;
	struct rte_mbuf *last = rte_pktmbuf_lastseg(m);

	store(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len - ROCE_ICRC_LEN),
			crc_segments(m, t->l3_off, t->bth_off, end, t->v6));
}

const char *
roce_icrc_path(void)
{
	return roce_crc_best->name;
}
