/* SPDX-License-Identifier: BSD-3-Clause */
/* Time and the two adapters; the consumers on them are in talk.c. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "queue/domain.h"
#include "queue/held.h"
#include "responder/final_ack.h"
#include "judge.h"
#include "talk.h"
#include "trace.h"
#include "unit.h"
#include "world.h"

#define FRAMES    4095u
#define STEPS_MAX 4000000u
#define IN_BURST  16u
#define RING      512u
#define ENGINES   4u              /**< the most a world uses */
#define PHASE     (7629u * 1024u) /**< a turn of the timer wheel: hz / 131072 ticks a slot */
#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + 4352)

struct world_totals world_totals;

static struct rte_mempool *pool;
static struct wire wire;
static struct judge judge;
static int64_t allocations;
static uint64_t now = WORLD_HZ;
static uint64_t moods;
static uint64_t stop_from, stop_until; /* one side is not polled; never: UINT64_MAX */
static bool stop_is_over;
static struct rte_mbuf *ring[RING]; /* of the stopped side's device: what came meanwhile */
static uint32_t ring_n, ring_next;
static struct rte_mbuf *hoard[FRAMES];
static uint32_t hoarded;

/* Adapters are kept from world to world, one pair for each number of engines: queue pairs come and go on them. */
static struct roce_domain
		*domains[ENGINES + 1][2][2]; /* by engines, by whether payload is copied, by side */

static void *
count_alloc(void *arg, size_t size)
{
	void *p = aligned_alloc(
			RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE));

	if (p != NULL) {
		memset(p, 0, size);
		allocations++;
	}
	return p;
}

static void
count_free(void *arg, void *p)
{
	if (p != NULL)
		allocations--;
	free(p);
}

/* The wire holds frames for long and reads any memory: whose it is only tells the completion. */
static bool
read_region(void *arg, uint64_t addr, uint64_t len)
{
	return true;
}

static rte_iova_t
name_memory(void *arg, const void *addr, uint32_t len)
{
	return (uintptr_t)addr;
}

static struct roce_domain *
make_adapter(uint32_t engines, bool copies, uint32_t side)
{
	struct roce_domain_config config = {
		.engines = engines,
		.hz = WORLD_HZ,
		.seed = 1 + side,
		.first_qpn = 0x100 + 0x1000 * side,
		.first_psn = UINT32_MAX,
		.addr = { talk_address(side) },
		.addrs = 1,
		.memory = { count_alloc, count_free, NULL },
		.notify = talk_notify,
		.ecn = true,
		.extbuf = { .least = copies ? 0 : 1, .readable = read_region, .iova = name_memory },
	};
	struct roce_domain *domain;

	for (uint32_t i = 0; i < engines; i++)
		config.pool[i] = pool;
	if (roce_domain_create(&config, &domain) != 0) {
		fprintf(stderr, "sim: no adapter\n");
		exit(2);
	}
	return domain;
}

void
world_start(void)
{
	unit_eal();
	pool = rte_pktmbuf_pool_create("sim", FRAMES, 250, 0, DATA_ROOM, 0);
	if (pool == NULL) {
		fprintf(stderr, "sim: no frame pool\n");
		exit(2);
	}
	for (uint32_t engines = 1; engines <= ENGINES; engines++) {
		for (uint32_t i = 0; i < 4; i++)
			domains[engines][i / 2][i % 2] = make_adapter(engines, i / 2 != 0, i % 2);
	}
}

bool
world_stop(void)
{
	for (uint32_t engines = 1; engines <= ENGINES; engines++) {
		for (uint32_t i = 0; i < 4; i++)
			roce_domain_destroy(domains[engines][i / 2][i % 2]);
	}
	if (rte_mempool_avail_count(pool) != FRAMES)
		fprintf(stderr, "sim: %u frames are missing\n",
				FRAMES - rte_mempool_avail_count(pool));
	if (allocations != 0)
		fprintf(stderr, "sim: %lld allocations are missing\n", (long long)allocations);
	return rte_mempool_avail_count(pool) == FRAMES && allocations == 0;
}

/* Steering that is stable for a flow and knows nothing of queue pairs, as RSS would be. */
static struct roce_engine *
steer(struct roce_domain *domain, const struct rte_mbuf *m)
{
	const uint8_t *sport = rte_pktmbuf_mtod_offset(m, const uint8_t *, 14 + 20);

	return roce_domain_engine(domain, (sport[0] ^ sport[1]) % roce_domain_engines(domain));
}

static void
receive(struct roce_domain **side_of, uint32_t side, struct rte_mbuf *m)
{
	struct roce_engine *e = steer(side_of[side], m);

	trace_frame("arrives", side, m, now);
	judge_arrived(&judge, m, now);
	roce_engine_lock(e);
	if (roce_engine_rx(e, &m, 1, now) != 0)
		rte_pktmbuf_free(m);
	roce_engine_unlock(e);
}

/* Does nobody poll that side now? */
static bool
is_stopped(const struct world_params *params, uint32_t side)
{
	return side == params->stop_side && now >= stop_from && now < stop_until;
}

/* A frame for a side that is stopped waits in the ring of its device, while there is room. */
static void
keep(struct rte_mbuf *m)
{
	if (ring_n < RING)
		ring[ring_n++] = m;
	else
		rte_pktmbuf_free(m);
}

/* Deliver what is due; what waited first. @return frames. */
static uint32_t
deliver(const struct world_params *params, struct roce_domain **side_of)
{
	uint32_t n = 0;
	uint32_t side;
	struct rte_mbuf *m;

	for (; n < IN_BURST && ring_next < ring_n && !is_stopped(params, params->stop_side); n++)
		receive(side_of, params->stop_side, ring[ring_next++]);
	for (; n < IN_BURST && (m = wire_receive(&wire, now, &side)) != NULL; n++) {
		if (is_stopped(params, side))
			keep(m);
		else
			receive(side_of, side, m);
	}
	return n;
}

/* Let one engine speak. @return frames. */
static uint32_t
speak(struct roce_engine *e, uint32_t side, uint32_t room)
{
	struct rte_mbuf *pkts[64];
	uint16_t n;

	roce_engine_lock(e);
	(void)roce_engine_rx(e, NULL, 0, now);
	n = roce_engine_tx(e, pkts, (uint16_t)RTE_MIN(room, (uint32_t)RTE_DIM(pkts)), now);
	roce_engine_unlock(e);
	for (uint16_t i = 0; i < n; i++) {
		trace_frame("sends", side, pkts[i], now);
		judge_sent(&judge, pkts[i], now);
		wire_send(&wire, 1 - side, pkts[i], now);
	}
	return n;
}

static uint64_t
next_time(const struct world_params *params, struct roce_domain **side_of, uint64_t consumers)
{
	uint64_t at = RTE_MIN(wire_due(&wire), consumers);

	for (uint32_t side = 0; side < 2; side++) {
		if (is_stopped(params, side)) {
			at = RTE_MIN(at, stop_until);
			continue;
		}
		for (uint32_t i = 0; i < roce_domain_engines(side_of[side]); i++)
			at = RTE_MIN(at,
					roce_engine_deadline(roce_domain_engine(side_of[side], i)));
	}
	return at;
}

/* Frames that the device takes this time. */
static uint32_t
room_of(const struct world_params *params)
{
	return params->moody ? sim_roll(&moods, params->room + 1) : params->room;
}

/* One instant: consumers act, frames arrive, engines speak. @return false: nothing is left to happen. */
static bool
step(const struct world_params *params, struct roce_domain **side_of)
{
	uint64_t at;
	uint32_t moved = 0;

	if (!params->answers)
		moved += talk_act(now);
	moved += deliver(params, side_of);
	/* Consumers who answer may do so before their engine has acknowledged: they look at what came, and post. */
	if (params->answers) {
		moved += talk_act(now);
		moved += talk_act(now);
	}
	for (uint32_t side = 0; side < 2; side++) {
		if (is_stopped(params, side))
			continue;
		for (uint32_t i = 0; i < roce_domain_engines(side_of[side]); i++)
			moved += speak(roce_domain_engine(side_of[side], i), side, room_of(params));
	}
	if (moved > 0) {
		now += 10;
		return true;
	}
	at = next_time(params, side_of, talk_deadline());
	if (at == UINT64_MAX)
		return false;
	/* An engine that waits for a frame of the pool asks again and again: not too often. */
	now = RTE_MAX(at, now + (params->frames != 0 ? 200 : 10));
	return true;
}

/* The moment has come that is to end one of them, or all. */
static void
end_some(const struct world_params *params)
{
	if (params->end == WORLD_DEAD)
		wire.trouble.dead = true;
	else
		talk_kill(now);
}

/* Rules that do not hold at this moment. A side whose peer was stopped for too long has been told when that goes on. */
static const char *
look_for_violation(const struct world_params *params)
{
	if (judge.violation != NULL)
		return judge.violation;
	if (talk_violation() != NULL || now < stop_until || stop_is_over)
		return talk_violation();
	stop_is_over = true;
	if (params->end == WORLD_STOPPED && !talk_owes_nothing(1 - params->stop_side))
		return "a peer was stopped for longer than all retries, and its connection lives";
	return NULL;
}

static const char *
live(const struct world_params *params, struct roce_domain **side_of)
{
	uint64_t end_at = params->end == WORLD_KILLED || params->end == WORLD_DEAD
			? now + params->end_at
			: UINT64_MAX;

	for (uint32_t steps = 0; steps < STEPS_MAX; steps++) {
		const char *violation;
		bool more;

		if (now >= end_at) {
			end_some(params);
			end_at = UINT64_MAX;
		}
		more = step(params, side_of);
		violation = look_for_violation(params);
		if (violation != NULL)
			return violation;
		if (talk_done() &&
				((wire.n == 0 && ring_next == ring_n) ||
						params->end != WORLD_WHOLE))
			return NULL;
		if (!more && end_at != UINT64_MAX)
			now = end_at;
		else if (!more)
			return "nothing happens any more, and messages are missing";
	}
	return "it does not end";
}

/* Frames that engines and domains keep go back to the pool. */
static void
empty_spares(struct roce_domain **side_of)
{
	for (uint32_t side = 0; side < 2; side++) {
		roce_final_acks_drop(side_of[side]);
		for (uint32_t i = 0; i < roce_domain_engines(side_of[side]); i++) {
			struct roce_engine *e = side_of[side]->engine[i];

			if (e->spares > 0)
				rte_pktmbuf_free_bulk(e->spare, e->spares);
			e->spares = 0;
		}
	}
}

/* Check the conditions that hold when the queue pairs are gone. @return NULL, or the one that does not. */
static const char *
aftermath(struct roce_domain **side_of)
{
	if (rte_mempool_avail_count(pool) != FRAMES)
		return "a frame did not come home";
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < roce_domain_engines(side_of[side]); i++) {
			if (roce_wheel_count(side_of[side]->engine[i]->wheel) != 0)
				return "a timer is still armed";
			if (side_of[side]->engine[i]->held != 0)
				return "an engine counts held frames that are gone";
			if (!TAILQ_EMPTY(&side_of[side]->engine[i]->ready))
				return "a dead queue pair is still on a list";
		}
	}
	return NULL;
}

/*
 * A world must not depend on the worlds before it, or it could not be replayed: numbers, randomness and the phase
 * of the clock against the timer wheel begin anew.
 */
static void
begin_anew(struct roce_domain **side_of, const struct world_params *params)
{
	now = (now / PHASE + 2) * PHASE;
	moods = (params->seed ^ 0x6d6f6f64) | 1;
	ring_n = ring_next = 0;
	stop_from = params->stop_ns > 0 ? now + params->stop_at : UINT64_MAX;
	stop_until = params->stop_ns > 0 ? stop_from + params->stop_ns : UINT64_MAX;
	stop_is_over = false;
	for (uint32_t side = 0; side < 2; side++) {
		struct roce_domain *domain = side_of[side];

		domain->next_qpn = 0x100 + 0x1000 * side;
		domain->random = params->seed + side;
		domain->config.line_rate = params->line;
		for (uint32_t i = 0; i < roce_domain_engines(domain); i++) {
			struct roce_engine *e = domain->engine[i];

			/* Of a small pool that most is taken of, see below. */
			e->held_max = RTE_MIN(params->held,
					params->frames != 0 ? params->frames / 4 / params->engines
							    : roce_held_limit(e));
			roce_engine_lock(e);
			roce_wheel_advance(e->wheel, now);
			roce_engine_unlock(e);
		}
	}
	/* A small pool is a large one of which most is taken. Engines fetch 64 at a time if they can: not here. */
	hoarded = params->frames != 0 ? FRAMES - params->frames : 0;
	if (hoarded > 0 && rte_pktmbuf_alloc_bulk(pool, hoard, hoarded) != 0)
		hoarded = 0;
}

/* Sums of what the engines of both sides counted. */
static struct roce_stats
stats_of(struct roce_domain **side_of)
{
	struct roce_stats sum = { 0 };

	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < roce_domain_engines(side_of[side]); i++) {
			const struct roce_stats *s =
					roce_engine_stats(roce_domain_engine(side_of[side], i));

			sum.retransmits += s->retransmits;
			sum.tx_no_mbuf += s->tx_no_mbuf;
			sum.rx_held += s->rx_held;
		}
	}
	return sum;
}

static bool
is_quiet(const struct world_params *params)
{
	const struct wire_trouble *t = &params->trouble;

	return params->end == WORLD_WHOLE && params->frames == 0 && t->sweep == 0 &&
			params->stop_ns == 0 &&
			t->loss + t->duplicate + t->late + t->corrupt + t->drop_len + t->mark == 0;
}

static const char *
account(const struct world_params *params, const struct roce_stats *before,
		const struct roce_stats *after)
{
	world_totals.worlds++;
	world_totals.frames += wire.carried;
	world_totals.lost += wire.lost;
	world_totals.damaged += wire.damaged;
	world_totals.repeated += wire.repeated;
	world_totals.marked += wire.marked;
	world_totals.retransmits += judge.again;
	world_totals.notified += judge.notifications;
	world_totals.held += after->rx_held - before->rx_held;
	world_totals.dry += after->tx_no_mbuf - before->tx_no_mbuf;
	/* The engine's own count is what users see: it must agree with the frames. */
	if (after->retransmits - before->retransmits != judge.again)
		return "the retransmission counter is wrong";
	if (is_quiet(params) && judge.not_ready == 0 && judge.again != 0)
		return "frames were sent again on a wire without faults";
	return NULL;
}

const char *
world_run(const struct world_params *params)
{
	/* A sweep turns bits over in frames, not in the memory that they refer to. */
	bool copies = params->trouble.sweep != 0 || params->seed % 3 != 0;
	struct roce_domain **side_of = domains[params->engines][copies];
	struct roce_stats before = stats_of(side_of);
	struct roce_stats after;
	const char *violation, *wrong;

	begin_anew(side_of, params);
	wire_init(&wire, params->seed ^ 0x57697265, &params->trouble);
	judge_init(&judge, params);
	talk_begin(params, side_of, &judge);
	violation = live(params, side_of);
	wire_clear(&wire);
	rte_pktmbuf_free_bulk(ring + ring_next, ring_n - ring_next);
	talk_end();
	if (violation == NULL)
		violation = talk_violation();
	empty_spares(side_of);
	rte_pktmbuf_free_bulk(hoard, hoarded);
	if (violation == NULL)
		violation = aftermath(side_of);
	after = stats_of(side_of);
	wrong = account(params, &before, &after);
	return violation != NULL ? violation : wrong;
}
