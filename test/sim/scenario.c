/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "scenario.h"

#define PERCENT 10000u /**< parts per million */

static uint32_t
draw(uint64_t *r, uint32_t n)
{
	return (uint32_t)((sim_random(r) >> 33) % n);
}

static uint64_t
start(uint64_t seed)
{
	uint64_t r = seed * 0x9e3779b97f4a7c15ull | 1;

	for (int i = 0; i < 4; i++)
		sim_random(&r);
	return r;
}

/* What every scenario varies. */
static struct world_params
anyhow(uint64_t seed, uint64_t *r)
{
	static const uint32_t rooms[] = { 1, 2, 3, 8, 32, 64 };
	static const uint32_t psns[] = { 0, 1, 0xffffff, 0xfffffe, 0xfffff0, 0x7fffff, 0x800000 };

	*r = start(seed);
	return (struct world_params){
		.seed = sim_random(r),
		.talks = 1 + draw(r, 3),
		.engines = 1 + draw(r, 2),
		.messages = 1 + draw(r, 6),
		.depth = 32,
		.send_depth = 1 + draw(r, 8),
		.first_psn = draw(r, 2) ? psns[draw(r, RTE_DIM(psns))] : UINT32_MAX,
		.room = rooms[draw(r, RTE_DIM(rooms))],
		.mtu_code = (uint8_t)(1 + (draw(r, 8) == 0 ? draw(r, 5) : 0)),
		.shared = draw(r, 4) != 0,
		.verbs = draw(r, 3) != 0,
		.reads = (uint8_t)(1 + draw(r, 4)),
		.end = WORLD_WHOLE,
	};
}

/* A short talk, and every subset of the first frames of both directions lost. */
static struct world_params
make_masks(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed >> 12, &r);

	p.talks = 1;
	p.messages = 3;
	p.trouble.drop[0] = seed & 0x3f;
	p.trouble.drop[1] = seed >> 6 & 0x3f;
	p.trouble.drop_len = 6;
	return p;
}

static struct world_params
make_loss(uint64_t seed)
{
	static const uint32_t rates[] = { 0, 1, 2, 5, 10, 20, 40 };
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.trouble.loss = PERCENT * rates[draw(&r, RTE_DIM(rates))];
	return p;
}

static struct world_params
make_chaos(uint64_t seed)
{
	uint64_t r;
	struct world_params p = anyhow(seed, &r);

	p.trouble = (struct wire_trouble){
		.loss = PERCENT * draw(&r, 15),
		.duplicate = PERCENT * draw(&r, 30),
		.late = PERCENT * draw(&r, 40),
		.corrupt = PERCENT * draw(&r, 20),
		/* From a little out of order to, seldom, far beyond the local ACK timeout of 67 ms. */
		.late_ns = 1000ull << (draw(&r, 16) == 0 ? 18 : 2 * draw(&r, 7)),
	};
	return p;
}

static struct world_params
make_long(uint64_t seed)
{
	struct world_params p = make_chaos(seed);
	uint64_t r = p.seed;

	p.messages = 50 + draw(&r, 100);
	p.talks = 1 + draw(&r, WORLD_TALKS_MAX);
	p.send_depth = 1 + draw(&r, 96);
	p.mtu_code = 1;
	p.trouble.late_ns = RTE_MIN(p.trouble.late_ns, UINT64_C(1000000));
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
	return p;
}

const struct scenario scenarios[] = {
	{ "masks", "every subset of the first 6 frames each way lost", 15, make_masks },
	{ "loss", "0 to 40 % lost", 20, make_loss },
	{ "chaos", "lost, repeated, late, out of order, damaged", 38, make_chaos },
	{ "rnr", "receive queues run empty", 14, make_rnr },
	{ "kill", "one end fails on the way", 8, make_kill },
	{ "dead", "the wire dies on the way", 4, make_dead },
	{ "long", "hundreds of messages on up to 8 queue pairs in chaos", 1, make_long },
	{ NULL, NULL, 0, NULL },
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
