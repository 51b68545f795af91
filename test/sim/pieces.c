/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "pieces.h"

#define GUARD UINT64_C(0xeeddccbbaa998877)

struct pieces
pieces_cut(uint32_t len, uint64_t key)
{
	struct pieces p = { .n = 1 + (uint32_t)(key >> 52) % PIECES_MAX };
	uint32_t left = len;

	if (len == 0 && (key >> 55 & 1) != 0)
		p.n = 0;
	for (uint32_t i = 0; i + 1 < p.n; i++) {
		/* Short ones and long ones, and some with nothing in them. */
		uint32_t limit = (key >> (56 + i) & 1) != 0 ? left : RTE_MIN(left, 9u);

		p.len[i] = (uint32_t)(key >> (8 * i)) % (limit + 1);
		left -= p.len[i];
	}
	if (p.n > 0)
		p.len[p.n - 1] = left;
	return p;
}

void
pieces_list(const struct pieces *p, const uint8_t *at, uint32_t lkey, struct roce_sge *sge)
{
	for (uint32_t i = 0; i < p->n; i++) {
		sge[i] = (struct roce_sge){ (uintptr_t)at, p->len[i], lkey };
		at += p->len[i] + PIECES_GAP;
	}
}

void
pieces_put(const struct pieces *p, uint8_t *at, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < p->n; i++) {
		memcpy(at, bytes, p->len[i]);
		bytes += p->len[i];
		at += p->len[i] + PIECES_GAP;
	}
}

void
pieces_get(const struct pieces *p, const uint8_t *at, uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < p->n && len > 0; i++) {
		uint32_t n = RTE_MIN(len, p->len[i]);

		memcpy(bytes, at, n);
		bytes += n;
		len -= n;
		at += p->len[i] + PIECES_GAP;
	}
}

void
pieces_guard(const struct pieces *p, uint8_t *at)
{
	const uint64_t guard = GUARD;

	for (uint32_t i = 0; i < p->n; i++) {
		at += p->len[i];
		memcpy(at, &guard, PIECES_GAP);
		at += PIECES_GAP;
	}
}

bool
pieces_guarded(const struct pieces *p, const uint8_t *at)
{
	const uint64_t guard = GUARD;

	for (uint32_t i = 0; i < p->n; i++) {
		at += p->len[i];
		if (memcmp(at, &guard, PIECES_GAP) != 0)
			return false;
		at += PIECES_GAP;
	}
	return true;
}
