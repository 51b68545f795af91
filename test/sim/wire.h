/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_SIM_WIRE_H
#define ROCE_SIM_WIRE_H

/**
 * @file
 * A simulated wire: frames lie on it until they are due, and it loses, repeats,
 * delays, marks and damages them as its seed or its masks say.
 *
 * One wire carries both directions; a frame is addressed by the side it goes to.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "dice.h"

/** Trouble, in parts per million of the frames. */
struct wire_trouble {
	uint32_t loss;
	uint32_t burst; /**< frames to the same side that are lost behind each one that is */
	uint32_t duplicate;
	uint32_t late; /**< by up to late_ns: overtaken by others, perhaps by its own repetition */
	uint32_t corrupt; /**< one bit flipped */
	uint32_t mark;    /**< congestion experienced */
	uint64_t late_ns;
	uint64_t drop[2]; /**< bit n: the n-th frame to that side is lost; drop_len frames, later ones pass */
	uint32_t drop_len;
	uint32_t sweep; /**< number of a world that flips certain bits of each kind of frame, from 1 on; 0: none */
	uint32_t mtu; /**< sweep: payload of a full frame */
	bool dead;    /**< everything is lost */
};

struct wire_frame {
	uint64_t due;
	uint64_t order;
	struct rte_mbuf *m;
	uint32_t side;
};

#define WIRE_FRAMES 8192u

struct wire {
	struct wire_trouble trouble;
	uint64_t random;
	uint64_t order;
	uint32_t sent[2];
	uint32_t burst_left[2]; /**< frames to that side that are lost next */
	uint64_t carried, lost, damaged, repeated, marked;
	uint8_t seen[256]; /**< sweep: frames of each kind */
	uint32_t n;
	struct wire_frame heap[WIRE_FRAMES];
};

/** A wire with nothing on it. */
void wire_init(struct wire *wire, uint64_t seed, const struct wire_trouble *trouble);

/** Put a frame on the wire towards @p side; ownership passes. */
void wire_send(struct wire *wire, uint32_t side, struct rte_mbuf *m, uint64_t now);

/** Take a frame that is due. @return NULL: nothing is. */
struct rte_mbuf *wire_receive(struct wire *wire, uint64_t now, uint32_t *side);

/** When the next frame is due; UINT64_MAX: the wire is empty. */
uint64_t wire_due(const struct wire *wire);

/** Throw away what lies on it. */
void wire_clear(struct wire *wire);

#endif
