/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_BUFFER_H
#define ROCE_MODEL_BUFFER_H

/**
 * @file
 * Stores that are seen later than they are made: a store buffer for each thread, as x86 has it.
 *
 * A plain or releasing atomic store goes into the buffer of its thread, oldest first, and reaches memory at any later
 * moment: a drain, which is a thread of the explorer, carries it there. A thread sees its own stores at once. A fence, a
 * sequentially consistent store, and whatever reads and writes in one wait until the buffer of their thread is empty. So
 * a word that is written ahead of a word that is read may be seen by others behind that, unless there is a fence.
 */

#include <stdbool.h>
#include <stdint.h>

#include "scheduler.h"

/** Threads, one bit each, whose fences do nothing: what is explored must find out. */
extern uint32_t buffer_without_fences;

/** In prepare(): the first @p threads have buffers, and thread @p threads + t is the drain of t. 0: no thread has one. */
void buffer_begin(unsigned int threads);

/** Is thread @p self a drain? It has nothing else to do: run buffer_drain(). */
bool buffer_is_drain(unsigned int self);
void buffer_drain(unsigned int self);

/** A thread with a buffer is at its end: its drain ends behind it. */
void buffer_end(void);

/* ---- for shim_local.h ---- */

uint64_t buffer_load(const volatile void *address, const struct model_access *a);
void buffer_store(volatile void *address, uint64_t value, const struct model_access *a);
uint64_t buffer_exchange(volatile void *address, uint64_t value, const struct model_access *a);
uint64_t buffer_or(volatile void *address, uint64_t value, const struct model_access *a);
void buffer_fence(void);

#endif
