/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_MEMORY_H
#define ROCE_MODEL_MEMORY_H

/**
 * @file
 * The memory of the code under test, and what is known of each word of it.
 *
 * Every run gets the same addresses, and nothing that was freed is used again. For each word it is known who touched
 * it when, in vector clocks that only locks, release and acquire carry from thread to thread (C11 5.1.2.4: a relaxed
 * access carries nothing). Two accesses of which one is a plain one and one a write, and of which neither came before
 * the other by those clocks, are a data race; so is an access to memory that was freed. A run without a data race is
 * the same, for each thread, whichever way the plain accesses between the visible operations are interleaved, and on
 * every processor.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_access {
	MEMORY_READ,
	MEMORY_WRITE,
	MEMORY_ATOMIC_READ,
	MEMORY_ATOMIC_WRITE,
	MEMORY_ACCESSES
};

/** Forget everything: the next run begins. */
void memory_begin(void);

/** Zeroed, on a cache line. @return NULL: the test asks for more than there is, or wants it to fail. */
void *memory_alloc(void *arg, size_t size);
void memory_free(void *arg, void *p);

/** Static memory of the code under test, in one block: it counts as memory of the model from now on. */
void memory_adopt(volatile void *address, size_t size);

/** Blocks that are not freed. */
unsigned int memory_live(void);

/** Thread @p self finds no memory until this is called again with -1. */
void memory_fail_for(int self);

/** Is it our memory? */
bool memory_ours(const volatile void *address);

/** The virtual objects that a write to the word changes (model_watch()); 0: the word is not watched. */
uint32_t memory_watched(const volatile void *address);
void memory_watch(const volatile void *address, uint32_t size, uint32_t changes);

bool memory_is_constant(const volatile void *address);
void memory_make_constant(const volatile void *address, uint32_t size);

/** Thread @p self touches memory: fails the run when that is a data race. No thread: no matter. */
void memory_touch(int self, const volatile void *address, uint32_t size, enum memory_access access);

/** All steps of thread @p self so far happen before the steps of others after their memory_acquire() of @p address. */
void memory_release(int self, const volatile void *address);

/** The same, and what was released there before stays so: a read and write in one. */
void memory_release_more(int self, const volatile void *address);

/** Drop what was released at @p address: a relaxed store. */
void memory_release_nothing(int self, const volatile void *address);
void memory_acquire(int self, const volatile void *address);

/** A name for an address, for reports: from whoever made the world. */
extern void (*memory_describe)(const volatile void *address, char *text, size_t size);

#endif
