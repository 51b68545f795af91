/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_TRACE_H
#define ROCE_SIM_TRACE_H

/**
 * @file
 * Trace of the wire of a world that is run again: a line for each frame.
 */

#include <stdint.h>

#include <rte_mbuf.h>

/** From now on frames are printed. */
void trace_on(void);

/** A frame passes. @param what a word: where. */
void trace_frame(const char *what, uint32_t side, struct rte_mbuf *m, uint64_t now);

#endif
