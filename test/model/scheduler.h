/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_SCHEDULER_H
#define ROCE_MODEL_SCHEDULER_H

/**
 * @file
 * Threads whose every step is chosen from outside.
 *
 * A thread is a coroutine. It stops before each visible operation (a lock, an unlock, an atomic access, a mark of
 * the test's own) and says what it is about to do; model_step() lets it do that and run on to the next one. The
 * code between two visible operations runs undivided: memory.h proves for each run that no thread could have told.
 *
 * Locks block: a thread that waits for a lock that is held is not enabled.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_spinlock.h>

#define MODEL_THREADS 6
#define MODEL_STEPS   512 /**< of a run, at most */

enum model_kind {
	MODEL_READ,
	MODEL_WRITE, /**< also what reads and writes in one */
	MODEL_LOCK,
	MODEL_TRYLOCK,
	MODEL_UNLOCK,
	MODEL_MARK,  /**< touches no memory of the code under test */
	MODEL_UNTIL, /**< waits until a word is set that was zero; the one who sets it unlocks it */
};

/**
 * The operation that a thread is about to do.
 *
 * Beside memory there are up to 32 virtual objects, bits of @c sees and @c changes: by them a test says what its
 * verdict depends on, so that the explorer does not treat orders as equal that the test can tell apart.
 */
struct model_op {
	enum model_kind kind;
	uint32_t size;
	uintptr_t address;
	uint32_t sees;
	uint32_t changes;
	const char *what;  /**< the operand as it stands in the source */
	const char *where; /**< function */
};

/** A program that is to be run in every order. */
struct model_program {
	const char *name;
	unsigned int threads;
	void (*prepare)(void);              /**< make the world anew; no thread runs */
	void (*script)(unsigned int self);  /**< of each thread */
	void (*observe)(unsigned int self); /**< after each step, who made it */
	void (*finish)(void);               /**< judge, when all threads are at their end */
};

/* ---- for the explorer ---- */

/** Make the world and bring every thread to its first visible operation. */
void model_begin(const struct model_program *program);

/** Threads that can make a step, one bit each. */
uint32_t model_enabled(void);

/** Threads that are not at their end. */
uint32_t model_unfinished(void);

/** The next operation of thread @p t, which is not at its end. */
const struct model_op *model_pending(unsigned int t);

void model_step(unsigned int t);

/** Sentence about what went wrong in this run; NULL: nothing. */
const char *model_failure(void);

/** Can the order of the two be told? Different threads, both are about to be done or one was done last. */
bool model_dependent(const struct model_op *a, const struct model_op *b);

/** Can there be a state in which either of the two may come next? */
bool model_coenabled(const struct model_op *a, const struct model_op *b);

/* ---- for the test ---- */

/** The thread that runs; -1: none, the world is being made or judged. */
int model_self(void);

/** The run failed. On a thread this does not return. */
void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A visible operation of the test's own. */
void model_mark(uint32_t sees, uint32_t changes, const char *what);

/** Plain writes to this memory are visible, and all writes change the virtual objects @p changes. */
void model_watch(const volatile void *address, uint32_t size, uint32_t changes);

/** This memory is not written while threads run: reading it is not visible. */
void model_constant(const volatile void *address, uint32_t size);

/* ---- for shim.h ---- */

void model_lock(rte_spinlock_t *lock, const char *what, const char *where);
bool model_trylock(rte_spinlock_t *lock, const char *what, const char *where);
void model_unlock(rte_spinlock_t *lock, const char *what, const char *where);

/** Go on when @p word is zero: as a lock that is free for all then. */
void model_await(const volatile uint32_t *word, const char *what, const char *where);

/** Set a word, once, that others wait for until it is set. The writes before it happen before their reads behind it. */
void model_set(uint32_t *word, const char *what);
void model_await_set(const uint32_t *word, const char *what);

/** Memory order and place of an atomic access. */
struct model_access {
	uint32_t size;
	int order;
	const char *what;
	const char *where;
};

uint64_t model_load(const volatile void *address, const struct model_access *a);
void model_store(volatile void *address, uint64_t value, const struct model_access *a);

/** @return the value before. */
uint64_t model_add(volatile void *address, uint64_t value, const struct model_access *a);
uint64_t model_or(volatile void *address, uint64_t value, const struct model_access *a);
uint64_t model_exchange(volatile void *address, uint64_t value, const struct model_access *a);
bool model_compare_exchange(volatile void *address, void *expected, uint64_t value,
		const struct model_access *a);

/** A plain access; @p write: it is a write. */
void model_plain(const volatile void *address, uint32_t size, bool write);

void *model_memcpy(void *to, const void *from, size_t n);

#endif
