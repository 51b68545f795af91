/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_BUFFERS_H
#define SRQD_BUFFERS_H

/**
 * @file
 * Buffers of one size, side by side in one registered region. A buffer is known by its number, which
 * is also what the cookie of a transfer carries.
 */

#include <stddef.h>
#include <stdint.h>

#include <dat/udat.h>

struct buffers {
	uint8_t *base;
	size_t bytes;
	uint32_t size; /**< of a buffer; 0 is a size */
	uint32_t stride;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
};

/** Map and register @p count buffers of @p size bytes. @return 0; -1 on error; the error was printed. */
int buffers_open(struct buffers *buffers, DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, uint32_t size,
		uint64_t count);

/** @return where buffer @p number begins. */
static inline uint8_t *
buffers_at(const struct buffers *buffers, uint64_t number)
{
	return buffers->base + number * buffers->stride;
}

/** @return the segment that is the first @p length bytes of buffer @p number. */
static inline DAT_LMR_TRIPLET
buffers_segment(const struct buffers *buffers, uint64_t number, DAT_VLEN length)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = buffers->lmr_context,
		.virtual_address = (DAT_VADDR)(uintptr_t)buffers_at(buffers, number),
		.segment_length = length,
	};
}

/** Give back what buffers_open() made; nothing is also good. @return 0; -1 on error; the error was printed. */
int buffers_close(struct buffers *buffers);

#endif /* SRQD_BUFFERS_H */
