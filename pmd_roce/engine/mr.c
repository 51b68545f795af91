/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "engine/extbuf.h"

int
roce_pd_create(struct roce_context *context, struct roce_pd **pd)
{
	struct roce_pd *p = roce_alloc(context->domain, sizeof(*p));

	if (p == NULL)
		return -ENOMEM;
	p->domain = context->domain;
	p->context = context;
	__atomic_fetch_add(&context->users, 1, __ATOMIC_RELAXED);
	*pd = p;
	return 0;
}

int
roce_pd_destroy(struct roce_pd *pd)
{
	if (__atomic_load_n(&pd->users, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	__atomic_fetch_sub(&pd->context->users, 1, __ATOMIC_RELEASE);
	roce_free(pd->domain, pd);
	return 0;
}

/* The key at place 0, which is never handed out: a key of another place. A key of 0 would find itself live there. */
#define NO_KEY UINT32_MAX

/* Chunks of which no place was handed out: no key is live there. It is never written. */
static struct roce_mr unused[ROCE_KEY_CHUNK] = { { .key = NO_KEY } };

void
roce_keys_init(struct roce_keys *keys)
{
	rte_spinlock_init(&keys->lock);
	for (uint32_t i = 0; i < ROCE_KEY_CHUNKS; i++)
		keys->chunk[i] = unused;
}

static struct roce_mr *
entry_at(const struct roce_keys *keys, uint32_t place)
{
	return &keys->chunk[place / ROCE_KEY_CHUNK][place % ROCE_KEY_CHUNK];
}

#define ROUNDS 4u

/* The finalizer of SplitMix64: every bit of the result hangs on every bit of @p z. */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/*
 * The tag of a use: a permutation of 16 bits (a Feistel network), another one for each place and each secret. So the
 * tags of a place come all before one comes again, in an order that does not show.
 */
static uint16_t
tag_of(const struct roce_keys *keys, uint32_t place, uint32_t use)
{
	uint8_t left = (uint8_t)(use >> 8);
	uint8_t right = (uint8_t)use;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t input = (uint64_t)place << 16 | round << 8 | right;
		uint8_t next = (uint8_t)(left ^ mix(keys->secret ^ mix(input)));

		left = right;
		right = next;
	}
	return (uint16_t)(left << 8 | right);
}

uint32_t
roce_keys_name(const struct roce_keys *keys, struct roce_mr *mr)
{
	uint32_t use = __atomic_add_fetch(&mr->uses, 1, __ATOMIC_RELAXED);
	uint32_t tag = tag_of(keys, mr->place, use);

	return (tag & 0xff00) << 16 | (uint32_t)mr->place << 8 | (tag & 0xff);
}

/* A fresh place, or the one that rested longest when it rested for a whole chunk. */
struct roce_mr *
roce_keys_take(struct roce_domain *domain)
{
	struct roce_keys *keys = &domain->keys;
	struct roce_mr *mr;
	uint32_t place = keys->made + 1;

	if (keys->free_first != 0 && (place % ROCE_KEY_CHUNK == 0 || place >= ROCE_KEY_PLACES)) {
		mr = entry_at(keys, keys->free_first);
		keys->free_first = mr->next_free;
		if (keys->free_first == 0)
			keys->free_last = 0;
		return mr;
	}
	if (place >= ROCE_KEY_PLACES)
		return NULL;
	if (keys->chunk[place / ROCE_KEY_CHUNK] == unused) {
		mr = roce_alloc(domain, ROCE_KEY_CHUNK * sizeof(*mr));
		if (mr == NULL)
			return NULL;
		if (place < ROCE_KEY_CHUNK)
			mr[0].key = NO_KEY;
		__atomic_store_n(&keys->chunk[place / ROCE_KEY_CHUNK], mr, __ATOMIC_RELEASE);
	}
	if (keys->secret == 0)
		keys->secret = roce_random(domain) | 1;
	keys->made = place;
	mr = entry_at(keys, place);
	mr->place = (uint16_t)place;
	return mr;
}

void
roce_keys_give(struct roce_keys *keys, struct roce_mr *mr)
{
	mr->next_free = 0;
	if (keys->free_last != 0)
		entry_at(keys, keys->free_last)->next_free = mr->place;
	else
		keys->free_first = mr->place;
	keys->free_last = mr->place;
}

int
roce_mr_create(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access,
		struct roce_mr **mr)
{
	struct roce_domain *domain = pd->domain;
	const struct roce_extbuf_config *extbuf = &domain->config.extbuf;
	struct roce_mr *entry;

	if (len == 0 || addr + len < addr)
		return -EINVAL;
	access &= ~ROCE_MR_EXTBUF;
	if (extbuf->look != NULL && extbuf->look(extbuf->arg, addr, len))
		access |= ROCE_MR_EXTBUF;
	rte_spinlock_lock(&domain->keys.lock);
	entry = roce_keys_take(domain);
	if (entry == NULL) {
		rte_spinlock_unlock(&domain->keys.lock);
		return -ENOMEM;
	}
	entry->access = access;
	entry->start = addr;
	entry->length = len;
	entry->pd = pd;
	entry->peer_pd = pd;
	entry->windows = 0;
	__atomic_store_n(&entry->key, roce_keys_name(&domain->keys, entry), __ATOMIC_RELEASE);
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

/* @return false: something hangs on the region, and nothing changed. */
static bool
end_key(struct roce_domain *domain, struct roce_mr *mr)
{
	bool busy;

	/* A window that is being bound either finds the key, and then we find the window, or it does not. */
	rte_spinlock_lock(&domain->keys.lock);
	busy = mr->windows != 0 || __atomic_load_n(&mr->visitors, __ATOMIC_ACQUIRE) != 0;
	if (!busy) {
		__atomic_store_n(&mr->key, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&domain->keys.epoch, domain->keys.epoch + 1, __ATOMIC_RELEASE);
	}
	rte_spinlock_unlock(&domain->keys.lock);
	return !busy;
}

/* The same where frames may refer to the region: nobody makes one meanwhile, and those that came home are counted. */
static bool
end_key_alone(struct roce_domain *domain, struct roce_mr *mr)
{
	bool ended;

	roce_domain_lock(domain);
	for (unsigned int i = 0; i < domain->config.engines; i++)
		roce_extbufs_collect(domain->engine[i]);
	ended = end_key(domain, mr);
	roce_domain_unlock(domain);
	return ended;
}

int
roce_mr_destroy(struct roce_mr *mr)
{
	struct roce_pd *pd = mr->pd;
	struct roce_domain *domain = pd->domain;

	if (domain->config.extbuf.least != 0) {
		if (!end_key_alone(domain, mr))
			return -EBUSY;
	} else {
		if (!end_key(domain, mr))
			return -EBUSY;
		roce_domain_grace(domain);
	}
	rte_spinlock_lock(&domain->keys.lock);
	roce_keys_give(&domain->keys, mr);
	rte_spinlock_unlock(&domain->keys.lock);
	__atomic_fetch_sub(&pd->users, 1, __ATOMIC_RELEASE);
	return 0;
}

bool
roce_mr_covers(struct roce_domain *domain, uint32_t key, uint64_t addr, uint64_t len)
{
	const struct roce_mr *mr = roce_keys_find(&domain->keys, key);

	return mr != NULL && mr->pd != NULL && roce_mr_holds(mr, addr, len);
}

void
roce_keys_fini(struct roce_keys *keys, const struct roce_memory *memory)
{
	for (uint32_t i = 0; i < ROCE_KEY_CHUNKS; i++) {
		if (keys->chunk[i] != unused)
			memory->free(memory->arg, keys->chunk[i]);
	}
}

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

	/* Programs wait for the last byte of a message: when it is there, so is everything before it. */
	if (likely(from + len <= m->data_len))
		memcpy(to, rte_pktmbuf_mtod_offset(m, const uint8_t *, from), len - 1);
	else
		copy_from_chain(to, m, from, len - 1);
	copy_from_chain(&last, m, from + len - 1, 1);
	__atomic_store_n(to + len - 1, last, __ATOMIC_RELEASE);
}
