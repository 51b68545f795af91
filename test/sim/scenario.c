/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "flip.h"
#include "scenario.h"

#define PERCENT 10000u /**< parts per million */

static uint32_t
draw(uint64_t *r, uint32_t n)
{
	return sim_roll(r, n);
}

static uint64_t
start(uint64_t seed)
{
	uint64_t r = seed * 0x9e3779b97f4a7c15ull | 1;

	for (int i = 0; i < 4; i++)
		sim_random(&r);
	return r;
}

/* The parameters that every scenario varies. */
static struct world_params
anyhow(uint64_t seed, uint64_t *r)
{
	static const uint32_t rooms[] = { 1, 2, 3, 8, 32, 64 };
	static const uint32_t psns[] = { 0, 1, 0xffffff, 0xfffffe, 0xfffff0, 0x7fffff, 0x800000 };
	static const uint64_t lines[] = { 12500000, 125000000, 1250000000, 12500000000 };
	static const uint16_t inlines[] = { 0, 0, 7, 64, 257, ROCE_INLINE_MAX };
	struct world_params p = { .depth = 32, .end = WORLD_WHOLE };

	/* One after the other: in what order an initializer draws is the compiler's affair. */
	*r = start(seed);
	p.seed = sim_random(r);
	p.talks = 2 + draw(r, draw(r, 4) == 0 ? 7 : 2);
	p.engines = 1 + draw(r, 4);
	p.messages = 1 + draw(r, 24);
	p.send_depth = 1 + draw(r, 8);
	p.first_psn = draw(r, 2) ? psns[draw(r, RTE_DIM(psns))] : UINT32_MAX;
	p.room = rooms[draw(r, RTE_DIM(rooms))];
	p.moody = draw(r, 4) == 0;
	p.line = lines[draw(r, RTE_DIM(lines))];
	p.mtu_code = (uint8_t)(1 + (draw(r, 8) == 0 ? draw(r, 5) : 0));
	p.max_inline = inlines[draw(r, RTE_DIM(inlines))];
	p.shared = draw(r, 2) != 0;
	p.verbs = draw(r, 8) != 0;
	p.binds = draw(r, 2) != 0;
	p.reads = (uint8_t)(1 + draw(r, 4));
	p.trouble.mark = draw(r, 4) == 0 ? PERCENT * draw(r, 30) : 0;
	p.ack_timeout = 14;
	p.extensions = draw(r, 4) != 0;
	p.answers = draw(r, 4) == 0;
	p.held = draw(r, 4) == 0 ? draw(r, 8) : UINT32_MAX;
	return p;
}

/* A short talk, and every subset of the first frames of both directions lost. */
static struct world_params
make_masks(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed >> 12, &r);

	p.talks = 1;
	p.messages = 4;
	p.trouble.drop[0] = seed & 0x3f;
	p.trouble.drop[1] = seed >> 6 & 0x3f;
	p.trouble.drop_len = 6;
	return p;
}

static struct world_params
make_loss(uint64_t seed)
{
	static const uint32_t rates[] = { 0, 0, 1, 2, 5, 10, 20 };
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.trouble.loss = PERCENT * rates[draw(&r, RTE_DIM(rates))];
	/* Switches lose many in a row. */
	if (draw(&r, 4) == 0) {
		p.trouble.burst = 1 + draw(&r, 16);
		p.trouble.loss /= 1 + p.trouble.burst;
	}
	/* Now and then as much at once as no window holds. */
	if (draw(&r, 16) == 0) {
		p.talks = 1 + draw(&r, 2);
		p.messages = 96;
		p.send_depth = 96;
		p.depth = 128;
		p.mtu_code = 1;
	}
	return p;
}

/* Frames overtake each other by one place to a thousand, in windows that are full, and some of them are lost. */
static struct world_params
make_order(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.talks = 1 + draw(&r, 2);
	p.messages = 32 + draw(&r, WORLD_MESSAGES_MAX - 32);
	p.send_depth = 96;
	p.depth = 128;
	p.mtu_code = 1;
	p.room = 64;
	/* A step of 10 ns brings as many frames as there is room for. */
	p.trouble.late_ns = 10u << draw(&r, 11);
	p.trouble.late = PERCENT * (draw(&r, 2) ? 1 : 1 + draw(&r, 50));
	p.trouble.duplicate = draw(&r, 2) ? 0 : PERCENT * draw(&r, 10);
	p.trouble.loss = draw(&r, 2) ? 0 : PERCENT * draw(&r, 20);
	return p;
}

static struct wire_trouble
some_trouble(uint64_t *r)
{
	struct wire_trouble t = { .loss = PERCENT * draw(r, 21) };

	t.duplicate = PERCENT * draw(r, 30);
	t.late = PERCENT * draw(r, 40);
	t.corrupt = PERCENT * draw(r, 20);
	t.mark = draw(r, 4) == 0 ? PERCENT * draw(r, 50) : 0;
	/* From a little out of order to, seldom, far beyond the local ACK timeout of 67 ms. */
	t.late_ns = 1000ull << (draw(r, 16) == 0 ? 18 : 2 * draw(r, 7));
	return t;
}

static struct world_params
make_chaos(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.trouble = some_trouble(&r);
	return p;
}

/* Both sides live on a few frames, most of which are on the wire. */
static struct world_params
make_dry(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.frames = 1 + draw(&r, draw(&r, 2) == 0 ? 8 : 63);
	p.trouble.loss = PERCENT * draw(&r, 10);
	p.trouble.late = PERCENT * draw(&r, 30);
	p.trouble.late_ns = 1000ull << draw(&r, 8);
	return p;
}

static struct world_params
make_long(uint64_t seed)
{
	struct world_params p = make_chaos(seed);
	uint64_t r = p.seed;

	p.messages = 50 + draw(&r, WORLD_MESSAGES_MAX - 50);
	p.talks = 2 + draw(&r, WORLD_TALKS_MAX - 1);
	p.send_depth = 1 + draw(&r, p.mtu_code == 1 ? 96 : 16);
	p.trouble.late_ns = RTE_MIN(p.trouble.late_ns, UINT64_C(1000000));
	if (draw(&r, 4) == 0)
		p.trouble = (struct wire_trouble){ .mark = p.trouble.mark };
	return p;
}

/* Fewer receives than messages in flight, and slow consumers. */
static struct world_params
make_rnr(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.depth = 1 + draw(&r, 4);
	p.talks = 1 + draw(&r, WORLD_TALKS_MAX);
	p.repost_ns = 1000u << draw(&r, 12);
	if (draw(&r, 2))
		p.trouble.loss = PERCENT * draw(&r, 20);
	return p;
}

static struct world_params
make_kill(uint64_t seed)
{
	struct world_params p = make_chaos(seed);
	uint64_t r = p.seed;

	p.end = WORLD_KILLED;
	p.end_at = draw(&r, 2) ? draw(&r, 20000) : draw(&r, 5000000);
	p.messages += draw(&r, 20);
	p.depth = draw(&r, 2) ? p.depth : 1 + draw(&r, 4);
	return p;
}

static struct world_params
make_dead(uint64_t seed)
{
	struct world_params p = make_kill(seed);

	p.end = WORLD_DEAD;
	/* A side that waits for the other one has nothing in flight, and hears of no end. */
	p.answers = false;
	return p;
}

/* One request of the first queue pair asks for what it may not have. */
static struct world_params
make_denied(uint64_t seed)
{
	struct world_params p = make_chaos(seed);
	uint64_t r = p.seed;

	p.end = WORLD_DENIED;
	p.end_at = draw(&r, p.messages);
	if (draw(&r, 2))
		p.trouble = (struct wire_trouble){ .loss = PERCENT * draw(&r, 10) };
	return p;
}

/*
 * A peer that is stopped: nobody polls its adapter, whose ring fills. With the default timeout four seconds break nothing;
 * in one world of four it is stopped for longer than all retries take.
 */
static struct world_params
make_stop(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	/* A side that waits for the other one has nothing in flight, and hears of no end. */
	p.answers = false;
	bool long_stop = draw(&r, 4) == 0;

	p.ack_timeout = 17;
	p.messages += draw(&r, 20);
	p.trouble.loss = draw(&r, 2) ? PERCENT * draw(&r, 10) : 0;
	p.stop_side = (uint8_t)draw(&r, 2);
	p.stop_at = draw(&r, 2) ? draw(&r, 20000) : draw(&r, 2000000);
	p.stop_ns = 1000000ull * (long_stop ? 4500 + draw(&r, 3500) : 1 + draw(&r, 4000));
	p.end = long_stop ? WORLD_STOPPED : WORLD_WHOLE;
	return p;
}

/*
 * World after world flips the next bits of every kind of frame. Keys to invalidate are rare among everything else:
 * every second world has nothing but SENDs, one at a time. In every second pair of worlds requests carry acknowledgements;
 * in the other pair frames are marked, and a rate limiter has acknowledgements go alone.
 */
static struct world_params
make_flips(uint64_t seed, uint8_t mtu_code)
{
	const uint32_t world = (uint32_t)(seed % FLIP_WORLDS);
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.talks = 2;
	p.messages = world >= 2 ? 100 : 40;
	p.send_depth = world % 2 != 0 ? 1 : 4;
	p.line = 12500000000;
	p.room = 64;
	p.moody = false;
	p.mtu_code = mtu_code;
	p.verbs = world % 2 == 0;
	p.binds = true;
	p.full = true;
	p.answers = world >= 2;
	p.extensions = p.extensions || p.answers;
	p.trouble = (struct wire_trouble){
		.sweep = 1 + (uint32_t)(seed / FLIP_WORLDS),
		.mtu = roce_mtu_bytes(mtu_code),
		.mark = p.answers ? 0 : PERCENT * 20,
	};
	return p;
}

static struct world_params
make_flips256(uint64_t seed)
{
	return make_flips(seed, 1);
}

static struct world_params
make_flips4096(uint64_t seed)
{
	return make_flips(seed, 5);
}

const struct scenario scenarios[] = {
	{ "masks", "every subset of the first 6 frames each way lost", 10, 0, make_masks },
	{ "loss", "0 to 20 % lost, also in bursts", 17, 0, make_loss },
	{ "order", "windows of frames out of order, by up to a thousand places", 5, 0, make_order },
	{ "chaos", "lost, repeated, late, out of order, damaged, marked", 30, 0, make_chaos },
	{ "dry", "the pool of frames to send runs dry", 6, 0, make_dry },
	{ "rnr", "receive queues run empty", 12, 0, make_rnr },
	{ "kill", "one end fails on the way", 4, 0, make_kill },
	{ "dead", "the wire dies on the way", 3, 0, make_dead },
	{ "denied", "a request is refused", 6, 0, make_denied },
	{ "stop", "one side is not polled for up to 4 s, or for longer than all retries", 6, 0,
			make_stop },
	{ "long", "hundreds of messages on up to 8 queue pairs in chaos", 1, 0, make_long },
	{ "flips", "every bit of every kind of frame flipped once", 0, 256, make_flips256 },
	{ "flips4096", "the same with an MTU of 4096", 0, 4096, make_flips4096 },
	{ NULL, NULL, 0, 0, NULL },
};

const struct scenario *
scenario_find(const char *name)
{
	for (const struct scenario *s = scenarios; s->name != NULL; s++) {
		if (strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}
