/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_BASE_H
#define ROCE_FUZZ_BASE_H

/**
 * @file
 * The base of every fuzzer: an EAL without files, frames whose bytes end where their buffer ends, memory that is
 * counted, and scripts.
 *
 * An input is a script: one record that describes the world, then one record for each step. Records have all one
 * length, so that steps can be moved, doubled and left out without changing the meaning of the others (mutate.c).
 * A run is a function of its script alone. A violation ends the program with a message, as a sanitizer would: the
 * script is the reproducer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "engine/engine.h"

#define BASE_RECORD    16u  /**< bytes */
#define BASE_STEPS_MAX 96u  /**< records behind the first one; the rest of an input is not read */
#define BASE_MAGIC     0xf5 /**< first byte of a script: no text begins with it */
#define BASE_ROOM      4352 /**< bytes of the largest frame */

/** The test of each program in this folder, under the name that libFuzzer calls. @return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Start the EAL and make the pools; later calls do nothing. */
void base_start(void);

/** End, as a sanitizer would. */
void base_end(void) __rte_noreturn;

/** A promise was broken: say which, in the words of printf, and end. */
#define BASE_VIOLATED(...)                                       \
	do {                                                     \
		fprintf(stderr, "fuzz: violated: " __VA_ARGS__); \
		base_end();                                      \
	} while (0)

/** The promise @p what, in words, must hold. */
#define BASE_MUST(holds, what)                                                \
	do {                                                                  \
		if (unlikely(!(holds)))                                       \
			BASE_VIOLATED("%s:%d: %s", __FILE__, __LINE__, what); \
	} while (0)

/** Are these the same bytes, those between the members of a structure included? For copies made by memcpy(). */
static inline bool
base_same_bytes(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

/** Frames to send come from here. */
struct rte_mempool *base_pool(void);

/** Take every frame of the pool away, or give them back: nobody can send meanwhile. */
void base_dry(bool dry);

/** A frame to build in, always the same one; nobody may free it. */
struct rte_mbuf *base_scratch(void);

/** How a received frame lies in memory. */
struct base_cut {
	uint16_t first;  /**< bytes in the first segment; 0, or as many as there are: all */
	uint16_t second; /**< bytes in the second; 0: the rest */
	uint8_t offset; /**< of the first byte in its buffer: how it is aligned. DPDK promises even ones. */
};

/**
 * A received frame: each segment in memory of its own that ends with its last byte, so that the address sanitizer
 * sees every read beyond. The caller's, until it is freed like any other.
 */
struct rte_mbuf *base_frame(const uint8_t *bytes, uint32_t len, const struct base_cut *cut);

/** Frames that were not freed, received ones and ones to send. */
unsigned int base_frames(void);

/** For a domain or a connection manager: zeroed, aligned, counted, and failing when asked to. */
extern const struct roce_memory base_memory;

/** Allocations that were not freed. */
unsigned int base_live(void);

/** Let the @p nth allocation from now fail (1: the next one); 0: none. */
void base_fail(unsigned int nth);

/* ---- scripts ---- */

struct base_script {
	const uint8_t *data;
	uint32_t records;
};

/** @return false: no script, nothing to do. */
static inline bool
base_script_open(struct base_script *script, const uint8_t *data, size_t size)
{
	*script = (struct base_script){ .data = data, .records = (uint32_t)(size / BASE_RECORD) };
	if (script->records > BASE_STEPS_MAX + 1)
		script->records = BASE_STEPS_MAX + 1;
	return script->records > 0 && data[0] == BASE_MAGIC;
}

static inline const uint8_t *
base_script_record(const struct base_script *script, uint32_t index)
{
	return script->data + (size_t)index * BASE_RECORD;
}

/** Two bytes of a record as a number. */
static inline uint32_t
base_u16(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

/** Three bytes of a record as a number. */
static inline uint32_t
base_u24(const uint8_t *at)
{
	return base_u16(at) | (uint32_t)at[2] << 16;
}

/** The action of a record. */
typedef void (*base_step)(const uint8_t *record);

/** Places in a table of steps; some stand in several, to be taken more often. */
#define BASE_STEPS 32u

/** Do what a record says: its first byte chooses the step, or, as 0xff, that nobody can send, or everybody again. */
static inline void
base_script_do(const base_step step[static BASE_STEPS], const uint8_t *record)
{
	if (record[0] == 0xff)
		base_dry(record[2] & 1);
	else
		step[record[0] % BASE_STEPS](record);
}

/** When it is after a record that waits: at the next deadline, or some ticks later, or many. */
static inline uint64_t
base_script_wait(const uint8_t *record, uint64_t now, uint64_t deadline)
{
	if ((record[2] & 1) && deadline != ROCE_NEVER)
		return RTE_MAX(now, deadline);
	return now + ((uint64_t)base_u16(record + 3) << (record[2] >> 3));
}

#endif
