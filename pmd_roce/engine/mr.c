/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "engine/engine_pvt.h"
#include "engine/mr.h"

int
roce_pd_create(struct roce_domain *domain, struct roce_pd **pd)
{
	struct roce_pd *p = roce_alloc(domain, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	p->domain = domain;
	*pd = p;
	return 0;
}

int
roce_pd_destroy(struct roce_pd *pd)
{
	if (__atomic_load_n(&pd->users, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	roce_free(pd->domain, pd);
	return 0;
}

static struct roce_mr *
entry_at(const struct roce_keys *keys, uint32_t index)
{
	return &keys->chunk[index / ROCE_KEY_CHUNK][index % ROCE_KEY_CHUNK];
}

/* A fresh index, or the one that rested longest when it rested for a whole chunk. @return NULL: none. Locked. */
static struct roce_mr *
take_entry(struct roce_domain *domain)
{
	struct roce_keys *keys = &domain->keys;
	struct roce_mr *mr;
	uint32_t index = keys->made + 1;

	if (keys->free_first != 0 &&
			(index % ROCE_KEY_CHUNK == 0 ||
					index >= ROCE_KEY_CHUNK * ROCE_KEY_CHUNKS)) {
		mr = entry_at(keys, keys->free_first);
		keys->free_first = mr->next_free;
		if (keys->free_first == 0)
			keys->free_last = 0;
		return mr;
	}
	if (index >= ROCE_KEY_CHUNK * ROCE_KEY_CHUNKS)
		return NULL;
	if (keys->chunk[index / ROCE_KEY_CHUNK] == NULL) {
		mr = roce_alloc(domain, ROCE_KEY_CHUNK * sizeof(*mr));
		if (mr == NULL)
			return NULL;
		__atomic_store_n(&keys->chunk[index / ROCE_KEY_CHUNK], mr, __ATOMIC_RELEASE);
	}
	keys->made = index;
	mr = entry_at(keys, index);
	mr->index = index;
	mr->tag = (uint8_t)roce_random(domain);
	return mr;
}

static void
give_entry(struct roce_keys *keys, struct roce_mr *mr)
{
	mr->next_free = 0;
	if (keys->free_last != 0)
		entry_at(keys, keys->free_last)->next_free = mr->index;
	else
		keys->free_first = mr->index;
	keys->free_last = mr->index;
}

int
roce_mr_create(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access,
		struct roce_mr **mr)
{
	struct roce_domain *domain = pd->domain;
	struct roce_mr *entry;

	if (len == 0 || addr + len < addr)
		return -EINVAL;
	rte_spinlock_lock(&domain->keys.lock);
	entry = take_entry(domain);
	if (entry == NULL) {
		rte_spinlock_unlock(&domain->keys.lock);
		return -ENOMEM;
	}
	entry->tag++;
	entry->access = access;
	entry->start = addr;
	entry->length = len;
	entry->pd = pd;
	__atomic_store_n(&entry->key, entry->index << 8 | entry->tag, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_add(&pd->users, 1, __ATOMIC_RELAXED);
	*mr = entry;
	return 0;
}

uint32_t
roce_mr_key(const struct roce_mr *mr)
{
	return mr->key;
}

void
roce_mr_destroy(struct roce_mr *mr)
{
	struct roce_pd *pd = mr->pd;
	struct roce_domain *domain = pd->domain;

	__atomic_store_n(&mr->key, 0, __ATOMIC_RELEASE);
	roce_domain_grace(domain);
	rte_spinlock_lock(&domain->keys.lock);
	give_entry(&domain->keys, mr);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_sub(&pd->users, 1, __ATOMIC_RELEASE);
}

void
roce_keys_fini(struct roce_keys *keys, const struct roce_memory *memory)
{
	for (uint32_t i = 0; i < ROCE_KEY_CHUNKS; i++)
		memory->free(memory->arg, keys->chunk[i]);
}

/* The piece of @p sge at @p offset, at most @p len bytes long. */
static struct roce_sge
piece_of(const struct roce_sge *sge, uint32_t offset, uint32_t len)
{
	return (struct roce_sge){
		.addr = sge->addr + offset,
		.length = RTE_MIN(sge->length - offset, len),
		.lkey = sge->lkey,
	};
}

int
roce_sge_copy_out(const struct roce_keys *keys, const struct roce_pd *pd,
		const struct roce_sge *sge, uint32_t offset, uint8_t *dst, uint32_t len)
{
	while (len > 0) {
		struct roce_sge piece;
		int rc;

		if (offset >= sge->length) {
			offset -= sge->length;
			sge++;
			continue;
		}
		piece = piece_of(sge, offset, len);
		rc = roce_keys_check(keys, pd, &piece, 0);
		if (unlikely(rc != 0))
			return rc;
		memcpy(dst, (const void *)(uintptr_t)piece.addr, piece.length);
		dst += piece.length;
		len -= piece.length;
		offset += piece.length;
	}
	return 0;
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
roce_sge_copy_in(const struct roce_keys *keys, const struct roce_pd *pd, const struct roce_sge *sge,
		uint32_t offset, const struct roce_pkt *pkt)
{
	const struct rte_mbuf *m = pkt->m;
	uint32_t from = pkt->payload_off;
	uint32_t len = pkt->payload_len;

	while (len > 0) {
		struct roce_sge piece;
		int rc;

		if (offset >= sge->length) {
			offset -= sge->length;
			sge++;
			continue;
		}
		piece = piece_of(sge, offset, len);
		rc = roce_keys_check(keys, pd, &piece, IBV_ACCESS_LOCAL_WRITE);
		if (unlikely(rc != 0))
			return rc;
		if (likely(from + piece.length <= m->data_len))
			memcpy((void *)(uintptr_t)piece.addr,
					rte_pktmbuf_mtod_offset(m, const uint8_t *, from),
					piece.length);
		else
			copy_from_chain((uint8_t *)(uintptr_t)piece.addr, m, from, piece.length);
		from += piece.length;
		len -= piece.length;
		offset += piece.length;
	}
	return 0;
}
