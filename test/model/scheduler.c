/* SPDX-License-Identifier: BSD-3-Clause */

#include "scheduler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "memory.h"

#define STACK_SIZE (64u << 10)

struct fiber {
	ucontext_t context;
	struct model_op pending;
	bool finished;
	uint8_t stack[STACK_SIZE] __rte_cache_aligned;
};

static struct fiber fiber[MODEL_THREADS];
static ucontext_t home;
static const struct model_program *program;
static int self = -1;
static bool failed;
static char failure[256];

int
model_self(void)
{
	return self;
}

const char *
model_failure(void)
{
	return failed ? failure : NULL;
}

void
model_fail(const char *format, ...)
{
	va_list args;

	/* Keep the first failure: it is the cause of later ones. */
	if (!failed) {
		va_start(args, format);
		vsnprintf(failure, sizeof(failure), format, args);
		va_end(args);
		failed = true;
	}
	/* Never to return: the explorer begins a new run. */
	if (self >= 0)
		swapcontext(&fiber[self].context, &home);
}

static void
fiber_main(void)
{
	program->script((unsigned int)self);
	fiber[self].finished = true;
	swapcontext(&fiber[self].context, &home);
}

static void
resume(unsigned int t)
{
	self = (int)t;
	swapcontext(&home, &fiber[t].context);
	self = -1;
}

void
model_begin(const struct model_program *p)
{
	program = p;
	failed = false;
	memory_begin();
	p->prepare();
	for (unsigned int t = 0; t < p->threads && !failed; t++) {
		struct fiber *f = &fiber[t];

		f->finished = false;
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = sizeof(f->stack);
		f->context.uc_link = NULL;
		makecontext(&f->context, fiber_main, 0);
		resume(t);
	}
}

uint32_t
model_unfinished(void)
{
	uint32_t mask = 0;

	for (unsigned int t = 0; t < program->threads; t++)
		mask |= fiber[t].finished ? 0 : 1u << t;
	return mask;
}

static bool
may_go_on(const struct model_op *op)
{
	if (op->kind == MODEL_LOCK)
		return ((const rte_spinlock_t *)op->address)->locked == 0;
	return op->kind != MODEL_UNTIL || *(const uint32_t *)op->address != 0;
}

uint32_t
model_enabled(void)
{
	uint32_t mask = model_unfinished();

	for (unsigned int t = 0; t < program->threads; t++) {
		if (!may_go_on(&fiber[t].pending))
			mask &= ~(1u << t);
	}
	return mask;
}

const struct model_op *
model_pending(unsigned int t)
{
	return &fiber[t].pending;
}

void
model_step(unsigned int t)
{
	resume(t);
	if (!failed)
		program->observe(t);
}

static bool
is_read(const struct model_op *op)
{
	return op->kind == MODEL_READ;
}

bool
model_dependent(const struct model_op *a, const struct model_op *b)
{
	if (((a->sees | a->changes) & b->changes) || ((b->sees | b->changes) & a->changes))
		return true;
	if (a->kind == MODEL_MARK || b->kind == MODEL_MARK || (is_read(a) && is_read(b)))
		return false;
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

bool
model_coenabled(const struct model_op *a, const struct model_op *b)
{
	/* One of the two threads holds the lock: it alone can unlock, the other can only wait. */
	return !(a->address == b->address &&
			((a->kind == MODEL_UNLOCK && b->kind != MODEL_TRYLOCK) ||
					(b->kind == MODEL_UNLOCK && a->kind != MODEL_TRYLOCK)));
}

/* Stop until the explorer lets this thread go on. */
static void
stop_before(const struct model_op *op)
{
	if (self < 0)
		return;
	fiber[self].pending = *op;
	swapcontext(&fiber[self].context, &home);
}

void
model_mark(uint32_t sees, uint32_t changes, const char *what)
{
	stop_before(&(const struct model_op){
			.kind = MODEL_MARK,
			.sees = sees,
			.changes = changes,
			.what = what,
			.where = "",
	});
}

void
model_watch(const volatile void *address, uint32_t size, uint32_t changes)
{
	memory_watch(address, size, changes);
}

void
model_constant(const volatile void *address, uint32_t size)
{
	memory_make_constant(address, size);
}

static void
stop_at_lock(enum model_kind kind, const rte_spinlock_t *lock, const char *what, const char *where)
{
	stop_before(&(const struct model_op){
			.kind = kind,
			.size = sizeof(*lock),
			.address = (uintptr_t)lock,
			.what = what,
			.where = where,
	});
}

void
model_lock(rte_spinlock_t *lock, const char *what, const char *where)
{
	stop_at_lock(MODEL_LOCK, lock, what, where);
	if (lock->locked != 0)
		model_fail("a lock that is held is taken while the world is made: %s", what);
	lock->locked = self + 2;
	memory_touch(self, lock, sizeof(*lock), MEMORY_ATOMIC_WRITE);
	memory_acquire(self, lock);
}

bool
model_trylock(rte_spinlock_t *lock, const char *what, const char *where)
{
	stop_at_lock(MODEL_TRYLOCK, lock, what, where);
	if (lock->locked != 0)
		return false;
	lock->locked = self + 2;
	memory_touch(self, lock, sizeof(*lock), MEMORY_ATOMIC_WRITE);
	memory_acquire(self, lock);
	return true;
}

void
model_unlock(rte_spinlock_t *lock, const char *what, const char *where)
{
	stop_at_lock(MODEL_UNLOCK, lock, what, where);
	if (lock->locked != self + 2)
		model_fail("unlocked by whom did not lock it: %s in %s", what, where);
	memory_touch(self, lock, sizeof(*lock), MEMORY_ATOMIC_WRITE);
	memory_release(self, lock);
	lock->locked = 0;
}

static_assert(sizeof(rte_spinlock_t) == sizeof(uint32_t), "a word is waited for as a lock is");

void
model_await(const volatile uint32_t *word, const char *what, const char *where)
{
	stop_before(&(const struct model_op){
			.kind = MODEL_LOCK,
			.size = sizeof(*word),
			.address = (uintptr_t)word,
			.what = what,
			.where = where,
	});
}

static void
stop_at_word(enum model_kind kind, const uint32_t *word, const char *what)
{
	stop_before(&(const struct model_op){
			.kind = kind,
			.size = sizeof(*word),
			.address = (uintptr_t)word,
			.what = what,
			.where = "",
	});
}

void
model_set(uint32_t *word, const char *what)
{
	stop_at_word(MODEL_UNLOCK, word, what);
	memory_release(self, word);
	*word = 1;
}

void
model_await_set(const uint32_t *word, const char *what)
{
	stop_at_word(MODEL_UNTIL, word, what);
	memory_acquire(self, word);
}

static void
stop_at_access(enum model_kind kind, const volatile void *address, const struct model_access *a)
{
	stop_before(&(const struct model_op){
			.kind = kind,
			.size = a->size,
			.address = (uintptr_t)address,
			.changes = kind == MODEL_WRITE ? memory_watched(address) : 0,
			.what = a->what,
			.where = a->where,
	});
}

static uint64_t
get(const volatile void *address, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)(uintptr_t)address, size);
	return value;
}

static void
put(volatile void *address, uint64_t value, uint32_t size)
{
	memcpy((void *)(uintptr_t)address, &value, size);
}

static bool
acquires(int order)
{
	return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool
releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

uint64_t
model_load(const volatile void *address, const struct model_access *a)
{
	if (memory_is_constant(address))
		return get(address, a->size);
	stop_at_access(MODEL_READ, address, a);
	memory_touch(self, address, a->size, MEMORY_ATOMIC_READ);
	if (acquires(a->order))
		memory_acquire(self, address);
	return get(address, a->size);
}

void
model_store(volatile void *address, uint64_t value, const struct model_access *a)
{
	stop_at_access(MODEL_WRITE, address, a);
	memory_touch(self, address, a->size, MEMORY_ATOMIC_WRITE);
	if (releases(a->order))
		memory_release(self, address);
	else
		memory_release_nothing(self, address);
	put(address, value, a->size);
}

/* A read-modify-write takes over what was released there, and leaves it released. */
static uint64_t
read_and_write(volatile void *address, const struct model_access *a)
{
	stop_at_access(MODEL_WRITE, address, a);
	memory_touch(self, address, a->size, MEMORY_ATOMIC_WRITE);
	if (acquires(a->order))
		memory_acquire(self, address);
	if (releases(a->order))
		memory_release_more(self, address);
	return get(address, a->size);
}

uint64_t
model_add(volatile void *address, uint64_t value, const struct model_access *a)
{
	uint64_t before = read_and_write(address, a);

	put(address, before + value, a->size);
	return before;
}

uint64_t
model_or(volatile void *address, uint64_t value, const struct model_access *a)
{
	uint64_t before = read_and_write(address, a);

	put(address, before | value, a->size);
	return before;
}

uint64_t
model_exchange(volatile void *address, uint64_t value, const struct model_access *a)
{
	uint64_t before = read_and_write(address, a);

	put(address, value, a->size);
	return before;
}

bool
model_compare_exchange(volatile void *address, void *expected, uint64_t value,
		const struct model_access *a)
{
	uint64_t before = read_and_write(address, a);

	if (before != get(expected, a->size)) {
		put(expected, before, a->size);
		return false;
	}
	put(address, value, a->size);
	return true;
}

void
model_plain(const volatile void *address, uint32_t size, bool write)
{
	const struct model_access a = { .size = size, .what = "a plain write", .where = "" };

	if (self < 0)
		return;
	if (!memory_ours(address)) {
		if (write && (uintptr_t)address - (uintptr_t)fiber[self].stack >= STACK_SIZE)
			model_fail("thread %d writes what is neither on its stack nor memory of the model",
					self);
		return;
	}
	if (write && memory_watched(address) != 0)
		stop_at_access(MODEL_WRITE, address, &a);
	memory_touch(self, address, size, write ? MEMORY_WRITE : MEMORY_READ);
}

void *
model_memcpy(void *to, const void *from, size_t n)
{
	model_plain(from, (uint32_t)n, false);
	model_plain(to, (uint32_t)n, true);
	return memcpy(to, from, n);
}
