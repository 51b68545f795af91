/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames wait in a binary heap, ordered by due time and then by the order in which they were sent. */

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "flip.h"
#include "wire.h"

#define LATENCY_NS 1000u
#define MILLION    1000000u

#define CONGESTION_EXPERIENCED 3u

void
wire_init(struct wire *wire, uint64_t seed, const struct wire_trouble *trouble)
{
	wire->trouble = *trouble;
	wire->random = seed | 1;
	wire->order = 0;
	wire->sent[0] = 0;
	wire->sent[1] = 0;
	wire->burst_left[0] = 0;
	wire->burst_left[1] = 0;
	wire->carried = 0;
	wire->lost = 0;
	wire->damaged = 0;
	wire->repeated = 0;
	wire->marked = 0;
	memset(wire->seen, 0, sizeof(wire->seen));
	wire->n = 0;
}

static bool
before(const struct wire_frame *a, const struct wire_frame *b)
{
	return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void
push(struct wire *wire, struct wire_frame frame)
{
	uint32_t i = wire->n++;

	while (i > 0 && before(&frame, &wire->heap[(i - 1) / 2])) {
		wire->heap[i] = wire->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	wire->heap[i] = frame;
}

static struct wire_frame
pop(struct wire *wire)
{
	struct wire_frame top = wire->heap[0];
	struct wire_frame last = wire->heap[--wire->n];
	uint32_t i = 0;

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= wire->n)
			break;
		if (child + 1 < wire->n && before(&wire->heap[child + 1], &wire->heap[child]))
			child++;
		if (!before(&wire->heap[child], &last))
			break;
		wire->heap[i] = wire->heap[child];
		i = child;
	}
	wire->heap[i] = last;
	return top;
}

static bool
happens(struct wire *wire, uint32_t ppm)
{
	return ppm != 0 && (sim_random(&wire->random) >> 32) % MILLION < ppm;
}

static void
enqueue(struct wire *wire, uint32_t side, struct rte_mbuf *m, uint64_t now)
{
	struct wire_frame frame = {
		.due = now + LATENCY_NS, .order = wire->order++, .m = m, .side = side
	};

	if (happens(wire, wire->trouble.late))
		frame.due += sim_random(&wire->random) % (wire->trouble.late_ns + 1);
	if (wire->n == WIRE_FRAMES) {
		rte_pktmbuf_free(m);
		return;
	}
	push(wire, frame);
	wire->carried++;
}

/* A sweep flips a few certain bits of each kind of frame: of every second one, so that the others get through. */
static bool
sweep(struct wire *wire, struct rte_mbuf *m)
{
	uint8_t *seen = &wire->seen[flip_kind(m)];
	uint32_t before = *seen;

	if (before >= 2 * FLIP_EVERY)
		return false;
	if ((before & 1) == 0) {
		*seen += 1;
		return false;
	}
	if (!flip_at(m, (wire->trouble.sweep - 1) * FLIP_EVERY + before / 2, wire->trouble.mtu))
		return false;
	*seen += 1;
	return true;
}

static void
damage(struct wire *wire, struct rte_mbuf *m)
{
	if (wire->trouble.sweep != 0) {
		wire->damaged += sweep(wire, m);
		return;
	}
	if (!happens(wire, wire->trouble.corrupt))
		return;
	flip_any(m, sim_random(&wire->random));
	wire->damaged++;
}

/* A switch whose queue grows long sets congestion experienced, and corrects the header checksum. */
static void
mark(struct wire *wire, struct rte_mbuf *m)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, 14);

	if (!(ip->type_of_service & CONGESTION_EXPERIENCED) || !happens(wire, wire->trouble.mark))
		return;
	ip->type_of_service |= CONGESTION_EXPERIENCED;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	wire->marked++;
}

static bool
is_lost(struct wire *wire, uint32_t side)
{
	uint32_t n = wire->sent[side]++;

	if (wire->trouble.dead)
		return true;
	if (n < wire->trouble.drop_len && (wire->trouble.drop[side] >> n & 1))
		return true;
	if (wire->burst_left[side] > 0) {
		wire->burst_left[side]--;
		return true;
	}
	if (!happens(wire, wire->trouble.loss))
		return false;
	wire->burst_left[side] = wire->trouble.burst;
	return true;
}

void
wire_send(struct wire *wire, uint32_t side, struct rte_mbuf *m, uint64_t now)
{
	if (is_lost(wire, side)) {
		wire->lost++;
		rte_pktmbuf_free(m);
		return;
	}
	mark(wire, m);
	if (happens(wire, wire->trouble.duplicate)) {
		struct rte_mbuf *copy = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);

		if (copy != NULL) {
			wire->repeated++;
			enqueue(wire, side, copy, now);
		}
	}
	damage(wire, m);
	enqueue(wire, side, m, now);
}

struct rte_mbuf *
wire_receive(struct wire *wire, uint64_t now, uint32_t *side)
{
	struct wire_frame frame;

	if (wire->n == 0 || wire->heap[0].due > now)
		return NULL;
	frame = pop(wire);
	*side = frame.side;
	return frame.m;
}

uint64_t
wire_due(const struct wire *wire)
{
	return wire->n > 0 ? wire->heap[0].due : UINT64_MAX;
}

void
wire_clear(struct wire *wire)
{
	while (wire->n > 0)
		rte_pktmbuf_free(wire->heap[--wire->n].m);
}
