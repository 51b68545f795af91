/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REPAIR_BITS_H
#define ROCE_REQUESTER_REPAIR_BITS_H

/**
 * @file
 * The maps of repair.h: sets of PSNs. Bit i is PSN tx.una + i.
 */

#include <rte_common.h>

#include "requester/repair.h"

typedef unsigned __int128 bits;

#define BITS 128

/* The PSNs before bit @p n. */
static inline bits
below(int32_t n)
{
	if (n <= 0)
		return 0;
	return n >= BITS ? ~(bits)0 : ((bits)1 << n) - 1;
}

static inline int32_t
lowest(bits map)
{
	uint64_t low = (uint64_t)map;

	return low != 0 ? (int32_t)rte_bsf64(low) : 64 + (int32_t)rte_bsf64((uint64_t)(map >> 64));
}

/* One behind the highest bit; 0: none is set. */
static inline int32_t
end_of(bits map)
{
	uint64_t high = (uint64_t)(map >> 64);

	return high != 0 ? 64 + (int32_t)rte_fls_u64(high) : (int32_t)rte_fls_u64((uint64_t)map);
}

static inline bits
shift(bits map, int32_t by)
{
	if (by <= -BITS || by >= BITS)
		return 0;
	return by < 0 ? map >> -by : map << by;
}

/* The packets of a gap. */
static inline bits
of_gap(const struct roce_qp *qp, struct roce_repair_gap gap)
{
	return below(roce_psn_diff(gap.until, qp->tx.una)) &
			~below(roce_psn_diff(gap.psn, qp->tx.una));
}

/* Where the repeat number of the packet at bit @p at is kept. */
static inline uint32_t
number_slot(const struct roce_qp *qp, int32_t at)
{
	return (qp->tx.una + (uint32_t)at) % BITS;
}

#endif
