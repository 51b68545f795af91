/* SPDX-License-Identifier: BSD-3-Clause */

#include "memory.h"

#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "scheduler.h"

#define ARENA_SIZE (256u << 10)
#define WORD       4u
#define BLOCKS     64u
#define ADOPTED    256u /**< bytes of static memory at most */

enum {
	WORD_FREED = 1,
	WORD_CONSTANT = 2
};

/* A word of four bytes. Clocks count the steps of a thread; 0: never. */
struct word {
	uint32_t run; /**< what stands here is of this run; else nothing is known */
	uint32_t changes;
	uint8_t flags;
	uint16_t touched[MEMORY_ACCESSES][MODEL_THREADS];
	uint16_t released[MODEL_THREADS];
};

struct block {
	uint8_t *at;
	size_t size;
	bool freed;
};

static const char *const access_name[MEMORY_ACCESSES] = {
	[MEMORY_READ] = "reads",
	[MEMORY_WRITE] = "writes",
	[MEMORY_ATOMIC_READ] = "reads (atomic)",
	[MEMORY_ATOMIC_WRITE] = "writes (atomic)",
};

/* clashes[a]: accesses that may not be without order to an access a. */
static const uint8_t clashes[MEMORY_ACCESSES] = {
	[MEMORY_READ] = 1 << MEMORY_WRITE | 1 << MEMORY_ATOMIC_WRITE,
	[MEMORY_WRITE] = (1 << MEMORY_ACCESSES) - 1,
	[MEMORY_ATOMIC_READ] = 1 << MEMORY_WRITE,
	[MEMORY_ATOMIC_WRITE] = 1 << MEMORY_READ | 1 << MEMORY_WRITE,
};

static uint8_t arena[ARENA_SIZE] __rte_cache_aligned;
static struct word shadow[(ARENA_SIZE + ADOPTED) / WORD];
static uintptr_t adopted;
static size_t adopted_size;
static struct block block[BLOCKS];
static unsigned int blocks, live;
static size_t used;
static uint32_t run;
static int fail_for;
static uint16_t clock_of[MODEL_THREADS][MODEL_THREADS]; /**< clock_of[t][u]: what t knows of u */

void (*memory_describe)(const volatile void *address, char *text, size_t size);

void
memory_begin(void)
{
	run++;
	blocks = 0;
	live = 0;
	used = 0;
	fail_for = -1;
	memset(clock_of, 0, sizeof(clock_of));
	for (unsigned int t = 0; t < MODEL_THREADS; t++)
		clock_of[t][t] = 1;
}

bool
memory_ours(const volatile void *address)
{
	return (uintptr_t)address - (uintptr_t)arena < ARENA_SIZE ||
			(uintptr_t)address - adopted < adopted_size;
}

void
memory_adopt(volatile void *address, size_t size)
{
	adopted = (uintptr_t)address;
	adopted_size = RTE_MIN(size, (size_t)ADOPTED);
}

static struct word *
word_at(const volatile void *address)
{
	bool foreign = (uintptr_t)address - adopted < adopted_size;
	struct word *w = &shadow[foreign ? (ARENA_SIZE + (uintptr_t)address - adopted) / WORD
					 : ((uintptr_t)address - (uintptr_t)arena) / WORD];

	if (w->run != run)
		*w = (struct word){ .run = run };
	return w;
}

static struct word *
word_of_lock(const volatile void *address)
{
	if (!memory_ours(address))
		model_fail("a lock or an atomic at %p, which is no memory of the model",
				(const void *)(uintptr_t)address);
	return word_at(address);
}

void *
memory_alloc(void *arg, size_t size)
{
	struct block *b = &block[blocks];

	if (model_self() >= 0 && model_self() == fail_for)
		return NULL;
	size = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	if (blocks == BLOCKS || used + size > ARENA_SIZE) {
		model_fail("the model has no memory left for %zu bytes", size);
		return NULL;
	}
	*b = (struct block){ .at = arena + used, .size = size };
	blocks++;
	live++;
	used += size;
	memset(b->at, 0, size);
	return b->at;
}

/* To free is to write: whoever touched the block must have done so before, and nobody may after. */
void
memory_free(void *arg, void *p)
{
	struct block *b = NULL;

	if (p == NULL)
		return;
	for (unsigned int i = 0; i < blocks; i++) {
		if (block[i].at == p)
			b = &block[i];
	}
	if (b == NULL || b->freed) {
		model_fail("%s", b == NULL ? "free of what is no block" : "a block is freed twice");
		return;
	}
	b->freed = true;
	live--;
	memory_touch(model_self(), b->at, (uint32_t)b->size, MEMORY_WRITE);
	for (size_t i = 0; i < b->size; i += WORD)
		word_at(b->at + i)->flags |= WORD_FREED;
}

unsigned int
memory_live(void)
{
	return live;
}

void
memory_fail_for(int self)
{
	fail_for = self;
}

uint32_t
memory_watched(const volatile void *address)
{
	return memory_ours(address) ? word_at(address)->changes : 0;
}

void
memory_watch(const volatile void *address, uint32_t size, uint32_t changes)
{
	for (uint32_t i = 0; i < size; i += WORD)
		word_at((const volatile uint8_t *)address + i)->changes |= changes;
}

bool
memory_is_constant(const volatile void *address)
{
	return !memory_ours(address) || (word_at(address)->flags & WORD_CONSTANT);
}

void
memory_make_constant(const volatile void *address, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += WORD)
		word_at((const volatile uint8_t *)address + i)->flags |= WORD_CONSTANT;
}

static void
report(int self, const volatile void *address, enum memory_access access, const char *fault)
{
	char name[64];

	memory_describe(address, name, sizeof(name));
	model_fail("thread %d %s %s: %s", self, access_name[access], name, fault);
}

static void
touch_word(int self, const volatile void *address, enum memory_access access)
{
	struct word *w = word_at(address);

	if (w->flags & WORD_FREED)
		report(self, address, access, "it was freed");
	if ((w->flags & WORD_CONSTANT) && (access == MEMORY_WRITE || access == MEMORY_ATOMIC_WRITE))
		report(self, address, access, "the model took it for a constant");
	for (int t = 0; t < MODEL_THREADS; t++) {
		if (t == self)
			continue;
		for (int a = 0; a < MEMORY_ACCESSES; a++) {
			char fault[64];

			if (!(clashes[access] & 1 << a) || w->touched[a][t] <= clock_of[self][t])
				continue;
			snprintf(fault, sizeof(fault), "data race, without order thread %d %s it",
					t, access_name[a]);
			report(self, address, access, fault);
		}
	}
	w->touched[access][self] = clock_of[self][self];
}

void
memory_touch(int self, const volatile void *address, uint32_t size, enum memory_access access)
{
	const volatile uint8_t *byte = address;

	if (self < 0 || !memory_ours(address))
		return;
	for (uint32_t i = 0; i < size; i += WORD)
		touch_word(self, byte + i, access);
	if (size > 0)
		touch_word(self, byte + size - 1, access);
}

void
memory_release(int self, const volatile void *address)
{
	memory_release_nothing(self, address);
	memory_release_more(self, address);
}

void
memory_release_more(int self, const volatile void *address)
{
	struct word *w;

	if (self < 0)
		return;
	w = word_of_lock(address);
	for (unsigned int t = 0; t < MODEL_THREADS; t++)
		w->released[t] = RTE_MAX(w->released[t], clock_of[self][t]);
	clock_of[self][self]++;
}

void
memory_release_nothing(int self, const volatile void *address)
{
	if (self >= 0)
		memset(word_of_lock(address)->released, 0, sizeof(word_of_lock(address)->released));
}

void
memory_acquire(int self, const volatile void *address)
{
	const struct word *w;

	if (self < 0)
		return;
	w = word_of_lock(address);
	for (unsigned int t = 0; t < MODEL_THREADS; t++)
		clock_of[self][t] = RTE_MAX(w->released[t], clock_of[self][t]);
}
