/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_PSN_H
#define ROCE_WIRE_PSN_H

/**
 * @file
 * Packet sequence numbers: 24-bit serial numbers (IBTA Vol 1, 9.7.2).
 *
 * A PSN lives in the low 24 bits of a uint32_t in host order; the high bits
 * are zero. Half the circle is "behind", half is "ahead": comparisons hold
 * while two PSNs are less than 2^23 apart, which the send window guarantees.
 */

#include <stdint.h>

#define ROCE_PSN_MASK 0xffffffu

/** @p psn moved @p n packets ahead (n may be huge or "negative": arithmetic is modulo 2^24). */
static inline uint32_t
roce_psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & ROCE_PSN_MASK;
}

/** Signed distance from @p b to @p a: negative when @p a is older. Range -2^23 .. 2^23-1. */
static inline int32_t
roce_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
