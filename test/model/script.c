/* SPDX-License-Identifier: BSD-3-Clause */

#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "world.h"

#define NO_THREAD MODEL_THREADS /**< the words done before */
#define KEY       0x100u
#define LOWS      8u

struct script {
	unsigned int words;
	struct script_word word[SCRIPT_WORDS];
};

static const struct script_scene *scene;
static struct world_options options;
static struct script script[MODEL_THREADS + 1];
static struct script_call low[LOWS];
static unsigned int lows;

uint32_t script_saw;

static bool
read_word(const char *text, struct script_word *word)
{
	static const struct {
		const char *name;
		enum script_verb verb;
		bool may_fail;
	} known[] = {
		{ "post", SCRIPT_POST, false },
		{ "trypost", SCRIPT_POST, true },
		{ "take", SCRIPT_TAKE, false },
		{ "trytake", SCRIPT_TAKE, true },
		{ "reap", SCRIPT_REAP, false },
		{ "low", SCRIPT_LOW, true },
		{ "resize", SCRIPT_RESIZE, false },
		{ "tryresize", SCRIPT_RESIZE, true },
		{ "starve", SCRIPT_STARVE, false },
		{ "query", SCRIPT_QUERY, false },
		{ "detach", SCRIPT_DETACH, false },
		{ "free", SCRIPT_FREE, false },
		{ "tryfree", SCRIPT_FREE, true },
		{ "drop", SCRIPT_DROP, false },
		{ "guest", SCRIPT_GUEST, false },
	};
	size_t letters = strcspn(text, "0123456789");

	for (size_t i = 0; i < RTE_DIM(known); i++) {
		if (letters == strlen(known[i].name) &&
				strncmp(text, known[i].name, letters) == 0) {
			word->verb = known[i].verb;
			word->may_fail = known[i].may_fail;
			word->number = (uint32_t)strtoul(text + letters, NULL, 10);
			return true;
		}
	}
	return false;
}

static void
read_script(const char *text, struct script *s)
{
	char line[256];
	char *save = NULL;

	s->words = 0;
	snprintf(line, sizeof(line), "%s", text != NULL ? text : "");
	for (char *w = strtok_r(line, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		if (s->words == SCRIPT_WORDS || !read_word(w, &s->word[s->words])) {
			fprintf(stderr, "model: %s: '%s'\n", scene->name, w);
			exit(2);
		}
		s->words++;
	}
}

/* Does a verdict look at more than what is available? */
static bool
looks_at_all(const struct script *s)
{
	for (unsigned int i = 0; i < s->words; i++) {
		if (s->word[i].verb == SCRIPT_QUERY || s->word[i].verb == SCRIPT_STARVE ||
				(s->word[i].verb == SCRIPT_RESIZE && s->word[i].may_fail) ||
				(s->word[i].verb == SCRIPT_POST && s->word[i].may_fail))
			return true;
	}
	return false;
}

/* Where the verdict depends on when the call began and ended, others must be able to come in between. */
static void
mark(const struct script_word *word, const char *what)
{
	if (word->verb == SCRIPT_LOW)
		model_mark(WORLD_HISTORY | WORLD_DELIVERED, 0, what);
	else if (word->may_fail || word->verb == SCRIPT_QUERY)
		model_mark(WORLD_HISTORY, 0, what);
}

static int
post(unsigned int self, uint64_t wr_id)
{
	struct roce_sge segment = { .addr = wr_id << 32, .length = WORLD_SEGMENT, .lkey = KEY };
	struct roce_recv_wr wr = { .wr_id = wr_id, .sg = &segment, .num_sge = 1 };

	world.posting[self % MODEL_THREADS] = wr_id;
	return roce_srq_post(world.srq, &wr);
}

/* Was the receive that this thread took last posted as such, whole? */
static void
check_receive(unsigned int self, const struct roce_recv *recv)
{
	uint32_t number = world.took[self % MODEL_THREADS];
	uint64_t want = world.post_order[number];

	if (recv->wr_id != want || recv->length != WORLD_SEGMENT || recv->num_sge != 1 ||
			recv->sge[0].addr != want << 32 || recv->sge[0].length != WORLD_SEGMENT ||
			recv->sge[0].lkey != KEY)
		model_fail("receive %u was posted as %u, taken as %u", number, (unsigned int)want,
				(unsigned int)recv->wr_id);
}

/* As a queue pair does it: all under the lock of its engine. */
static int
take(unsigned int self, uint32_t number)
{
	uint64_t room[(sizeof(struct roce_recv) + sizeof(struct roce_sge)) / sizeof(uint64_t)];
	struct roce_recv *recv = (struct roce_recv *)room;
	unsigned int cq = number % world.cqs;
	struct roce_engine *e = world.domain->engine[number];
	struct roce_event event = {
		.kind = ROCE_EVENT_RECV,
		.srq_tag = world.counter[cq]->tag,
	};
	bool taken;

	roce_engine_lock(e);
	taken = model_take(world.srq, recv);
	if (taken) {
		/* The step that took is not over yet. */
		world_observe(self % MODEL_THREADS);
		check_receive(self, recv);
		event.wr_id = recv->wr_id;
		if (roce_cq_push(world.cq[cq], &event))
			world.pushed[cq]++;
		else if (scene->lossless)
			model_fail("completion queue %u overflowed", cq);
	}
	roce_engine_unlock(e);
	return taken ? 0 : -EAGAIN;
}

static int
resize(uint32_t number)
{
	const struct roce_srq before = *world.srq;
	int rc = roce_srq_resize(world.srq, number);

	if (rc != 0 &&
			(world.srq->max != before.max || world.srq->mask != before.mask ||
					world.srq->ring != before.ring))
		model_fail("a resize was refused and changed something");
	return rc;
}

static int
starve(uint32_t number)
{
	int rc;

	memory_fail_for(model_self());
	rc = resize(number);
	memory_fail_for(-1);
	return rc;
}

static int
end_queue(void)
{
	int rc = 0;

	if (!world.srq_ended)
		rc = roce_srq_destroy(world.srq);
	world.srq_ended = rc == 0;
	return rc;
}

static int
end_cq(uint32_t number)
{
	world.cq_ended[number] = true;
	return roce_cq_destroy(world.cq[number]);
}

/* Its one receive is completed by nobody. */
static int
be_guest(struct roce_cq *cq)
{
	struct roce_srq *guest;
	struct roce_srq_reap_counter *counter;
	int rc = roce_srq_create(world.pd, 1, 1, NULL, &guest);

	if (rc != 0)
		return rc;
	rc = roce_srq_attach(guest, cq, &counter);
	if (rc != 0)
		return rc;
	roce_srq_detach(guest, counter, 0);
	return roce_srq_destroy(guest);
}

/* The calls on the queue at work. */
static int
call_queue(unsigned int self, const struct script_word *word, uint64_t wr_id)
{
	struct roce_event event;

	switch (word->verb) {
	case SCRIPT_POST:
		return post(self, wr_id);
	case SCRIPT_TAKE:
		return take(self, word->number);
	case SCRIPT_REAP:
		(void)roce_cq_poll(world.cq[word->number], &event, 1);
		return 0;
	case SCRIPT_LOW:
		return roce_srq_set_low(world.srq, word->number);
	case SCRIPT_RESIZE:
		return resize(word->number);
	default:
		return starve(word->number);
	}
}

/* The calls by which things end; others may not come after those of this thread. */
static int
call_end(const struct script_word *word)
{
	if (word->verb == SCRIPT_GUEST)
		return be_guest(world.cq[word->number]);
	world.ending = true;
	if (word->verb == SCRIPT_FREE)
		return end_queue();
	if (word->verb == SCRIPT_DROP)
		return end_cq(word->number);
	world.detached[word->number] = true;
	roce_srq_detach(world.srq, world.counter[word->number], world.pushed[word->number]);
	return 0;
}

/* Of a call that is over: what happened that need not have. */
static uint32_t
sights(const struct script_call *call, bool locked)
{
	if (call->word.verb == SCRIPT_QUERY)
		return locked ? SCRIPT_SAW_FROZEN : SCRIPT_SAW_GLANCED;
	if (!call->word.may_fail)
		return 0;
	if (call->word.verb == SCRIPT_POST)
		return call->rc != 0 ? SCRIPT_SAW_FULL : SCRIPT_SAW_ROOM;
	if (call->word.verb == SCRIPT_TAKE)
		return call->rc != 0 ? SCRIPT_SAW_EMPTY : SCRIPT_SAW_TAKEN;
	return call->rc != 0 ? SCRIPT_SAW_REFUSED : SCRIPT_SAW_GRANTED;
}

static void
do_word(unsigned int self, const struct script_word *word, uint64_t wr_id)
{
	struct script_call call = { .word = *word };

	mark(word, "calls");
	call.begin = world.moments - 1;
	call.begin_tick = world.ticks++;
	world.locked[self % MODEL_THREADS] = false;
	if (word->verb == SCRIPT_QUERY)
		roce_srq_query(world.srq, &call.counts);
	else if (word->verb >= SCRIPT_DETACH)
		call.rc = call_end(word);
	else
		call.rc = call_queue(self, word, wr_id);
	script_saw |= sights(&call, world.locked[self % MODEL_THREADS]);
	if (model_self() < 0)
		world_observe(0);
	mark(word, "returns");
	call.end = world.moments - 1;
	call.end_tick = world.ticks++;
	judge_call(&call);
	if (word->verb == SCRIPT_LOW && call.rc == 0)
		low[lows++ % LOWS] = call;
}

static void
do_script(unsigned int self)
{
	const struct script *s = &script[self];

	for (unsigned int i = 0; i < s->words; i++)
		do_word(self, &s->word[i], 100 * (uint64_t)self + i);
}

static void
prepare(void)
{
	lows = 0;
	world_make(&options);
	if (model_failure() == NULL)
		do_script(NO_THREAD);
}

/* The receives that are left come out in order, and then there is room for exactly as many as the queue says. */
static void
empty_and_fill(void)
{
	static const struct script_word must_take = { .verb = SCRIPT_TAKE };
	static const struct script_word must_post = { .verb = SCRIPT_POST };
	struct roce_event event;
	struct roce_srq_counts counts;

	roce_srq_query(world.srq, &counts);
	for (uint32_t i = counts.available; i > 0 && model_failure() == NULL; i--)
		do_word(NO_THREAD, &must_take, 0);
	for (unsigned int i = 0; i < world.cqs; i++) {
		while (roce_cq_poll(world.cq[i], &event, 1) == 1)
			;
	}
	world_observe(0);
	if (world_outstanding(world_now()) != 0)
		model_fail("%u receives are lost", world_outstanding(world_now()));
	for (uint32_t i = world.srq->max; i > 0 && model_failure() == NULL; i--)
		do_word(NO_THREAD, &must_post, 900 + i);
	if (post(NO_THREAD, 999) != -ENOSPC)
		model_fail("the queue holds more than it should");
}

static void
finish(void)
{
	script_saw |= world.async_events == 0     ? SCRIPT_SAW_SILENCE
			: world.async_events == 1 ? SCRIPT_SAW_EVENT
						  : SCRIPT_SAW_EVENTS;
	judge_async_events(low, lows);
	if (world.srq->fired != world.async_events)
		model_fail("%u async events, but %u were counted", world.async_events,
				world.srq->fired);
	if (model_failure() == NULL && !world.ending)
		empty_and_fill();
	if (model_failure() == NULL)
		world_end();
}

const struct model_program *
script_program(const struct script_scene *s)
{
	static struct model_program program;

	scene = s;
	script_saw = 0;
	program = (struct model_program){
		.name = s->name,
		.prepare = prepare,
		.script = do_script,
		.observe = world_observe,
		.finish = finish,
	};
	options = (struct world_options){
		.engines = s->engines != 0 ? s->engines : 1,
		.cqs = s->cqs != 0 ? s->cqs : 1,
		.cq_depth = s->cq_depth != 0 ? s->cq_depth : 16,
		.max = s->max,
	};
	read_script(s->before, &script[NO_THREAD]);
	for (unsigned int t = 0; t < MODEL_THREADS; t++) {
		read_script(s->thread[t], &script[t]);
		if (s->thread[t] != NULL)
			program.threads = t + 1;
		options.whole = options.whole || looks_at_all(&script[t]);
	}
	return &program;
}
