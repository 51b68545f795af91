/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of memory keys: its places, their tags, and who has them. */

#include "queue/domain.h"
#include "queue/keys.h"

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

void
roce_keys_fini(struct roce_keys *keys, const struct roce_memory *memory)
{
	for (uint32_t i = 0; i < ROCE_KEY_CHUNKS; i++) {
		if (keys->chunk[i] != unused)
			memory->free(memory->arg, keys->chunk[i]);
	}
}
