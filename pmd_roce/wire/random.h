/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_WIRE_RANDOM_H
#define ROCE_WIRE_RANDOM_H

/**
 * @file
 * Numbers for the wire that tell nothing of those to come: SipHash-2-4 (Aumasson, Bernstein 2012) of a counter.
 *
 * First PSNs, transaction ids and ports are seen by every peer. Had they been made by a generator that can be run
 * backwards, one connection request would tell its state, and with it every number and key to come. The key has
 * the 64 bits of a seed; nothing faster than trying them all is known.
 */

#include <stdint.h>

/** The user of the numbers: two users of one seed draw different numbers. */
enum roce_random_stream {
	ROCE_RANDOM_ENGINE = 1,
	ROCE_RANDOM_CM,
	ROCE_RANDOM_QPN,
	ROCE_RANDOM_RNR,
	ROCE_RANDOM_WC_ERROR,
};

#define ROCE_ROTATE(x, n) ((x) << (n) | (x) >> (64 - (n)))

static inline void
roce_random_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = ROCE_ROTATE(v[1], 13) ^ v[0];
	v[0] = ROCE_ROTATE(v[0], 32);
	v[2] += v[3];
	v[3] = ROCE_ROTATE(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = ROCE_ROTATE(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = ROCE_ROTATE(v[1], 17) ^ v[2];
	v[2] = ROCE_ROTATE(v[2], 32);
}

/** SipHash-2-4 of the 8 bytes of @p word, the least significant first, under the key @p k0, @p k1. */
static inline uint64_t
roce_random_hash(uint64_t k0, uint64_t k1, uint64_t word)
{
	const uint64_t block[2] = { word, UINT64_C(8) << 56 };
	uint64_t v[4] = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };

	for (unsigned int i = 0; i < 2; i++) {
		v[3] ^= block[i];
		roce_random_round(v);
		roce_random_round(v);
		v[0] ^= block[i];
	}
	v[2] ^= 0xff;
	for (unsigned int i = 0; i < 4; i++)
		roce_random_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/** Number @p n of a stream of a seed. */
static inline uint64_t
roce_random_at(uint64_t seed, enum roce_random_stream stream, uint64_t n)
{
	return roce_random_hash(seed, (uint64_t)stream, n);
}

#endif
