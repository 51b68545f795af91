/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/fault.h"

/* splitmix64: neighbouring seeds and streams become unlike states. */
static uint64_t
mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void
roce_fault_init(struct roce_fault *fault, uint32_t loss, uint64_t seed, uint32_t stream)
{
	uint64_t state = mix(mix(seed) + stream);

	*fault = (struct roce_fault){
		.state = state != 0 ? state : 1,
		.threshold = ((uint64_t)loss << 32) / 1000000,
	};
}

static uint32_t
roll(struct roce_fault *fault)
{
	fault->state ^= fault->state >> 12;
	fault->state ^= fault->state << 25;
	fault->state ^= fault->state >> 27;
	return (uint32_t)((fault->state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

uint16_t
roce_fault_throw(struct roce_fault *fault, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (roll(fault) < fault->threshold) {
			fault->lost++;
			rte_pktmbuf_free(pkts[i]);
		} else {
			pkts[kept++] = pkts[i];
		}
	}
	return kept;
}
