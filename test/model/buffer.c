/* SPDX-License-Identifier: BSD-3-Clause */

#include "buffer.h"

#include "memory.h"

#define STORES 64u /**< of a thread, in a run */

struct store {
	volatile void *address; /**< NULL: the thread is at its end */
	uint64_t value;
	struct model_access access;
};

/* Each store has words of its own: so the explorer knows which of them a thread waits for. */
struct words {
	uint32_t made[STORES];
	uint32_t seen[STORES];
};

static struct buffer {
	struct words *words;
	unsigned int made; /**< stores */
	unsigned int seen; /**< of them, by others */
	struct store store[STORES];
} buffer[MODEL_THREADS];
static unsigned int buffers;

uint32_t buffer_without_fences;

void
buffer_begin(unsigned int threads)
{
	buffers = threads;
	for (unsigned int t = 0; t < threads; t++) {
		buffer[t].made = buffer[t].seen = 0;
		buffer[t].words = memory_alloc(NULL, sizeof(*buffer[t].words));
	}
}

bool
buffer_is_drain(unsigned int self)
{
	return self >= buffers && self < 2 * buffers;
}

/* Of the running thread; NULL: its stores are seen at once. */
static struct buffer *
own_buffer(void)
{
	return model_self() >= 0 && (unsigned int)model_self() < buffers ? &buffer[model_self()]
									 : NULL;
}

static void
append(struct buffer *b, const struct store *store)
{
	if (b->made == STORES)
		model_fail("more than %u stores of a thread", STORES);
	model_set(&b->words->made[b->made],
			store->address != NULL ? store->access.what : "its end");
	b->store[b->made++] = *store;
}

void
buffer_drain(unsigned int self)
{
	struct buffer *b = &buffer[self - buffers];

	for (;; b->seen++) {
		const struct store *store = &b->store[b->seen];

		model_await_set(&b->words->made[b->seen], "a store");
		if (store->address == NULL)
			return;
		model_store(store->address, store->value, &store->access);
		model_set(&b->words->seen[b->seen], store->access.what);
	}
}

void
buffer_end(void)
{
	if (own_buffer() != NULL)
		append(own_buffer(), &(const struct store){ .address = NULL });
}

/* All stores of the running thread have been seen. */
static void
drain_own(void)
{
	const struct buffer *b = own_buffer();

	if (b != NULL && b->made > 0)
		model_await_set(&b->words->seen[b->made - 1], "its stores");
}

void
buffer_fence(void)
{
	if (model_self() >= 0 && (buffer_without_fences & 1u << model_self()) == 0)
		drain_own();
}

uint64_t
buffer_load(const volatile void *address, const struct model_access *a)
{
	const struct buffer *b = own_buffer();

	for (unsigned int i = b != NULL ? b->made : 0; i > (b != NULL ? b->seen : 0); i--) {
		if (b->store[i - 1].address == address)
			return b->store[i - 1].value;
	}
	return model_load(address, a);
}

void
buffer_store(volatile void *address, uint64_t value, const struct model_access *a)
{
	if (own_buffer() != NULL && a->order != __ATOMIC_SEQ_CST) {
		append(own_buffer(), &(const struct store){ address, value, *a });
		return;
	}
	drain_own();
	model_store(address, value, a);
}

uint64_t
buffer_exchange(volatile void *address, uint64_t value, const struct model_access *a)
{
	drain_own();
	return model_exchange(address, value, a);
}

uint64_t
buffer_or(volatile void *address, uint64_t value, const struct model_access *a)
{
	drain_own();
	return model_or(address, value, a);
}
