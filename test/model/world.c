/* SPDX-License-Identifier: BSD-3-Clause */

#include "world.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "scheduler.h"

#define KEY 0x100u /**< index 1, tag 0 */

struct world world;

static struct roce_mr keys[ROCE_KEY_CHUNK];

void
roce_engine_lock(struct roce_engine *e)
{
	if (model_self() >= 0)
		world.locked[model_self()] = true;
	model_lock(&e->lock.spin, "the engine", __func__);
}

/* As pmd_roce/engine/domain.c does it; a world without armed queues has no pending ones. */
void
roce_engine_unlock_inner(struct roce_engine *e)
{
	static const struct model_access pending = { sizeof(void *), __ATOMIC_RELAXED,
		"pending_cqs", "unlock" };

	if (world.armed && model_load(&e->domain->pending_cqs, &pending) != 0)
		roce_cq_deliver(e->domain);
	model_unlock(&e->lock.spin, "the engine", __func__);
}

void
roce_engine_wake(struct roce_engine *e)
{
	static const struct model_access pending = { sizeof(bool), __ATOMIC_ACQ_REL, "wake_pending",
		"wake" };
	struct roce_domain *d = e->domain;

	if (world.armed && model_load(&d->wake_pending, &pending) != 0 &&
			model_exchange(&d->wake_pending, false, &pending) != 0)
		world.wake(NULL);
}

void
roce_engine_unlock(struct roce_engine *e)
{
	roce_engine_unlock_inner(e);
	roce_engine_wake(e);
}

void
roce_domain_grace(struct roce_domain *domain)
{
	for (unsigned int i = 0; i < domain->config.engines; i++) {
		roce_engine_lock(domain->engine[i]);
		roce_engine_unlock(domain->engine[i]);
	}
}

static void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	if (kind == ROCE_ENGINE_ASYNC_CQ_EVENTS && world.delivered != NULL)
		world.delivered(owner, status);
	if (kind != ROCE_ENGINE_ASYNC_SRQ_LOW)
		return;
	model_mark(0, WORLD_DELIVERED, "async event: low watermark");
	/* While the world is made no step ends in between. */
	world_observe(model_self() < 0 ? 0 : (unsigned int)model_self());
	if (owner != &world)
		model_fail("an async event with another queue's owner");
	if (world.async_events == WORLD_ASYNC_EVENTS)
		model_fail("async events without end");
	world.async_event[world.async_events++] = (struct world_async_event){
		.moment = world.moments - 1,
		.tick = world.ticks++,
	};
}

/* A member reaches from its offset to that of the next one. */
struct member {
	size_t offset;
	const char *name;
};

/* clang-format off */
static const struct member srq_members[] = {
	{ offsetof(struct roce_srq, ring), "ring" },
	{ offsetof(struct roce_srq, mask), "mask" },
	{ offsetof(struct roce_srq, stride), "stride" },
	{ offsetof(struct roce_srq, max), "max" },
	{ offsetof(struct roce_srq, low), "low" },
	{ offsetof(struct roce_srq, id), "id" },
	{ offsetof(struct roce_srq, users), "users" },
	{ offsetof(struct roce_srq, owner), "owner" },
	{ offsetof(struct roce_srq, link), "link" },
	{ offsetof(struct roce_srq, post_lock), "post_lock" },
	{ offsetof(struct roce_srq, posted), "posted" },
	{ offsetof(struct roce_srq, reaped_seen), "reaped_seen" },
	{ offsetof(struct roce_srq, reaped_silent), "reaped_silent" },
	{ offsetof(struct roce_srq, reap_counters), "reap_counters" },
	{ offsetof(struct roce_srq, take_lock), "take_lock" },
	{ offsetof(struct roce_srq, taken), "taken" },
	{ offsetof(struct roce_srq, limit), "limit" },
	{ offsetof(struct roce_srq, fired), "fired or behind" },
	{ sizeof(struct roce_srq), NULL },
};

static const struct member cq_members[] = {
	{ offsetof(struct roce_cq, ring), "ring" },
	{ offsetof(struct roce_cq, users), "users" },
	{ offsetof(struct roce_cq, reap_table), "reap_table" },
	{ offsetof(struct roce_cq, reap_lock), "reap_lock" },
	{ offsetof(struct roce_cq, push_lock), "push_lock" },
	{ offsetof(struct roce_cq, head), "head" },
	{ offsetof(struct roce_cq, tail_seen), "tail_seen" },
	{ offsetof(struct roce_cq, waiters), "waiters, pending events" },
	{ offsetof(struct roce_cq, tail), "tail" },
	{ offsetof(struct roce_cq, head_seen), "head_seen" },
	{ sizeof(struct roce_cq), NULL },
};
/* clang-format on */

static bool
name_member(const struct member *m, size_t at, const char *object, char *text, size_t size)
{
	for (; m->name != NULL; m++) {
		if (at >= m[0].offset && at < m[1].offset) {
			snprintf(text, size, "%s->%s", object, m->name);
			return true;
		}
	}
	return false;
}

static void
describe(const volatile void *address, char *text, size_t size)
{
	uintptr_t at = (uintptr_t)address;

	snprintf(text, size, "memory");
	if (name_member(srq_members, at - (uintptr_t)world.srq, "srq", text, size))
		return;
	for (unsigned int i = 0; i < world.cqs; i++) {
		if (name_member(cq_members, at - (uintptr_t)world.cq[i], "cq", text, size))
			return;
		if (world.counter[i] != NULL &&
				at - (uintptr_t)world.counter[i] < sizeof(*world.counter[i]))
			snprintf(text, size, "the reap counter of completion queue %u", i);
	}
	if (at - (uintptr_t)world.srq->ring < (world.srq->mask + 1) * world.srq->stride)
		snprintf(text, size, "a slot of the receive ring");
}

static void
make_engine(struct roce_domain *d, unsigned int i)
{
	d->engine[i] = memory_alloc(NULL, sizeof(struct roce_engine));
	d->engine[i]->domain = d;
}

static void
make_domain(unsigned int engines)
{
	struct roce_domain *d = memory_alloc(NULL, sizeof(*d));

	d->config = (struct roce_domain_config){
		.engines = engines,
		.memory = { .alloc = memory_alloc, .free = memory_free },
	};
	d->multi_engine = engines > 1;
	TAILQ_INIT(&d->srqs);
	world.pd = memory_alloc(NULL, sizeof(*world.pd));
	d->context = (struct roce_context){ .domain = d, .notify = notify };
	world.pd->domain = d;
	world.pd->context = &d->context;
	for (unsigned int i = 0; i < engines; i++)
		make_engine(d, i);
	keys[KEY >> 8] = (struct roce_mr){
		.key = KEY,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.length = UINT64_MAX,
		.pd = world.pd,
	};
	d->keys.chunk[0] = keys;
	memory_make_constant(&d->keys, sizeof(d->keys));
	memory_make_constant(&d->config, sizeof(d->config));
	memory_make_constant(&d->context, offsetof(struct roce_context, users));
	world.domain = d;
}

/* Watch the words that the verdicts of the program depend on. */
static void
watch(bool whole)
{
	struct roce_srq *s = world.srq;

	model_watch(&s->posted, sizeof(s->posted), WORLD_HISTORY);
	model_watch(&s->taken, sizeof(s->taken), WORLD_HISTORY);
	if (!whole)
		return;
	model_watch(&s->max, sizeof(s->max), WORLD_HISTORY);
	model_watch(&s->low, sizeof(s->low), WORLD_HISTORY);
	model_watch(&s->limit, sizeof(s->limit), WORLD_HISTORY);
	model_watch(&s->reaped_silent, sizeof(s->reaped_silent), WORLD_HISTORY);
	for (unsigned int i = 0; i < world.cqs; i++)
		model_watch(&world.counter[i]->reaped, sizeof(world.counter[i]->reaped),
				WORLD_HISTORY);
}

void
world_make(const struct world_options *options)
{
	bool made;

	memory_describe = describe;
	world = (struct world){ .cqs = options->cqs };
	make_domain(options->engines);
	world.blocks = memory_live();
	made = roce_srq_create(world.pd, options->max, 1, &world, &world.srq) == 0;
	for (unsigned int i = 0; i < world.cqs; i++)
		made = made &&
				roce_cq_create(&world.domain->context, options->cq_depth, NULL,
						&world.cq[i]) == 0 &&
				roce_srq_attach(world.srq, world.cq[i], &world.counter[i]) == 0;
	if (!made) {
		model_fail("the world cannot be made");
		return;
	}
	watch(options->whole);
	world_observe(0);
}

static struct world_state
look(void)
{
	const struct roce_srq *s = world.srq;
	struct world_state now = {
		.posted = s->posted,
		.taken = s->taken,
		.reaped = s->reaped_silent,
		.max = s->max,
		.low = s->low,
		.armed = s->limit != 0 ? 1 : 0,
	};

	for (unsigned int i = 0; i < world.cqs; i++)
		now.reaped += world.counter[i]->reaped;
	return now;
}

static void
check_state(const struct world_state *s)
{
	if (world_available(s) > world_outstanding(s) || world_outstanding(s) > s->max)
		model_fail("max %u available %d outstanding %d", s->max, (int)world_available(s),
				(int)world_outstanding(s));
}

void
world_observe(unsigned int self)
{
	struct world_state now;
	const struct world_state *before = world_now();

	/* A world that a script has begun to take apart is not looked at. */
	if (world.ending)
		return;
	now = look();
	if (world.moments > 0 && memcmp(&now, before, sizeof(now)) == 0)
		return;
	if (world.moments == WORLD_MOMENTS || now.posted > WORLD_POSTS) {
		model_fail("a history too long for the model");
		return;
	}
	if (world.moments > 0 && now.posted == before->posted + 1)
		world.post_order[before->posted] = world.posting[self];
	if (world.moments > 0 && now.taken == before->taken + 1)
		world.took[self] = before->taken;
	world.states[world.moments++] = now;
	check_state(&now);
}

static bool
all_unlocked(void)
{
	bool locked = world.domain->srqs_lock.locked || world.srq->post_lock.spin.locked ||
			world.srq->take_lock.locked;

	for (unsigned int i = 0; i < world.domain->config.engines; i++)
		locked = locked || world.domain->engine[i]->lock.spin.locked;
	for (unsigned int i = 0; i < world.cqs; i++)
		locked = locked || world.cq[i]->push_lock.locked || world.cq[i]->reap_lock.locked;
	return !locked;
}

void
world_end(void)
{
	if (!all_unlocked()) {
		model_fail("a lock is held at the end");
		return;
	}
	for (unsigned int i = 0; i < world.cqs; i++) {
		if (!world.detached[i])
			roce_srq_detach(world.srq, world.counter[i], world.pushed[i]);
	}
	if (!world.srq_ended && roce_srq_destroy(world.srq) != 0)
		model_fail("the queue cannot be destroyed");
	for (unsigned int i = 0; i < world.cqs; i++) {
		if (!world.cq_ended[i] && roce_cq_destroy(world.cq[i]) != 0)
			model_fail("a completion queue cannot be destroyed");
	}
	if (memory_live() != world.blocks)
		model_fail("%u blocks of memory are left", memory_live() - world.blocks);
}
