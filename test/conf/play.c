/* SPDX-License-Identifier: BSD-3-Clause */
/* The statements of rules, one by one. */

#include <stdlib.h>
#include <string.h>

#include "play_pvt.h"

static unsigned int heard[256];
static unsigned int said[256];

unsigned int
play_heard(uint8_t opcode)
{
	return heard[opcode];
}

unsigned int
play_said(uint8_t opcode)
{
	return said[opcode];
}

void
play_fail(const struct play *p, const char *what)
{
	/* The next rule begins on an empty stage, whatever became of this one. */
	if (p->stage->qp != NULL)
		stage_close(p->stage);
	fail_msg("\n  rule %s: %s\n  %s:%u: %s\n  but: %s", p->rule->name, p->rule->says,
			p->rule->file, p->line->number, p->line->text, what);
	abort();
}

uint64_t
play_number(const struct play *p, const char *token)
{
	uint64_t value = 0;

	if (token == NULL || !rules_number(token, &value))
		play_fail(p, "this is not a number");
	return value;
}

void
play_range(const struct play *p, const char *token, int32_t *first, int32_t *last)
{
	const char *dots = token != NULL ? strstr(token, "..") : NULL;
	char text[32] = "";

	if (dots == NULL) {
		*first = (int32_t)play_number(p, token);
		*last = *first;
		return;
	}
	if (dots - token < (int)sizeof(text))
		memcpy(text, token, (size_t)(dots - token));
	*first = (int32_t)play_number(p, text);
	*last = (int32_t)play_number(p, dots + 2);
}

const char *
play_next(struct play *p)
{
	return p->at < p->line->tokens ? p->line->token[p->at++] : NULL;
}

bool
play_is(const char *token, const char *name)
{
	return token != NULL && strcmp(token, name) == 0;
}

uint32_t
play_key(const struct play *p, const char *name)
{
	static const char *const names[KEYS] = { [KEY_ALL] = "all",
		[KEY_ZERO] = "zero",
		[KEY_TAG] = "tag",
		[KEY_DEAD] = "dead",
		[KEY_LOCAL] = "local",
		[KEY_NOREAD] = "noread",
		[KEY_NOWRITE] = "nowrite",
		[KEY_NOATOMIC] = "noatomic",
		[KEY_IOVA] = "iova",
		[KEY_OTHER] = "other",
		[KEY_WINDOW] = "window",
		[KEY_FOREIGN] = "foreign" };

	for (unsigned int i = 0; i < KEYS; i++) {
		if (play_is(name, names[i]))
			return p->stage->key[i];
	}
	play_fail(p, "there is no such key");
	return 0;
}

/* "with depth 3 own 1" */
static void
do_with(struct play *p)
{
	struct stage_options *o = &p->stage->options;
	const struct {
		const char *name;
		uint64_t *value;
	} option[] = { { "depth", &o->depth }, { "rd", &o->rd }, { "retry", &o->retry },
		{ "rnr_retry", &o->rnr_retry }, { "rnr_timer", &o->rnr_timer },
		{ "timeout", &o->timeout }, { "receives", &o->receives }, { "size", &o->size },
		{ "psn", &o->psn }, { "hard", &o->hard }, { "own", &o->own },
		{ "extensions", &o->extensions } };
	const char *name;

	while ((name = play_next(p)) != NULL) {
		size_t i = 0;

		while (i < RTE_DIM(option) && !play_is(name, option[i].name))
			i++;
		if (i == RTE_DIM(option))
			play_fail(p, "there is no such option");
		*option[i].value = play_number(p, play_next(p));
	}
}

static void
do_hear(struct play *p)
{
	struct stage_frame f = play_frame(p);

	heard[f.opcode]++;
	stage_hear(p->stage, &f);
}

static void
do_say(struct play *p)
{
	struct stage *s = p->stage;
	struct stage_frame f;

	/* The clock of "wait" has had its turns, and what came then is to be told too. */
	if (!p->turned)
		stage_poll(s);
	p->turned = true;
	if (play_is(p->line->token[1], "nothing")) {
		if (s->looked < s->frames)
			play_fail(p, stage_tell(s, s->frame[s->looked]));
		return;
	}
	f = play_frame(p);
	said[f.opcode]++;
	for (int32_t psn = f.psn; psn <= f.last; psn++) {
		const char *differs = stage_differs(s, &f, psn);
		char text[256];

		if (differs == NULL)
			continue;
		(void)snprintf(text, sizeof(text), "%s%s%s", differs,
				s->looked < s->frames ? ": it was " : "",
				s->looked < s->frames ? stage_tell(s, s->frame[s->looked]) : "");
		play_fail(p, text);
	}
}

static void
do_wait(struct play *p)
{
	stage_wait(p->stage, play_number(p, play_next(p)));
	p->turned = true;
}

static void
do_broken(struct play *p)
{
	struct fx_end *end = &p->stage->end;
	enum ibv_wc_status status = play_status(p, play_next(p));

	if (roce_qp_state(p->stage->qp) != ROCE_QP_ERR)
		play_fail(p, "it lives");
	if (end->async_events != 1 || end->async_event[0].kind != ROCE_ENGINE_ASYNC_QP_BROKEN)
		play_fail(p, "another async event");
	if (end->async_event[0].status != (int)status)
		play_fail(p, "another reason");
	p->broken = true;
}

static void
do_count(struct play *p)
{
	static const struct {
		const char *name;
		size_t offset;
	} counter[] = {
#define STAT(name, unit, meaning) { #name, offsetof(struct roce_stats, name) },
#include "queue/stats.def"
#undef STAT
	};
	const char *name = play_next(p);
	const uint64_t want = play_number(p, play_next(p));

	for (size_t i = 0; i < RTE_DIM(counter); i++) {
		uint64_t value;
		char text[40];

		if (!play_is(name, counter[i].name))
			continue;
		memcpy(&value, (const uint8_t *)fx_stats(&p->stage->end) + counter[i].offset,
				sizeof(value));
		(void)snprintf(text, sizeof(text), "it is %llu", (unsigned long long)value);
		if (value != want)
			play_fail(p, text);
		return;
	}
	play_fail(p, "there is no such counter");
}

static void
do_memory(struct play *p)
{
	const uint64_t at = play_number(p, play_next(p));
	const char *what = play_next(p);
	const uint64_t len = play_number(p, play_next(p));
	uint32_t psn = 0;

	if (at + len > FX_MEMORY)
		play_fail(p, "this is outside of the memory");
	if (!play_is(what, "same"))
		psn = roce_psn_add((uint32_t)p->stage->options.psn, (uint32_t)play_number(p, what));
	for (uint32_t i = 0; i < len; i++) {
		uint8_t want = play_is(what, "same") ? stage_byte((uint32_t)at + i)
						     : (uint8_t)(psn + i);

		if (p->stage->end.memory[at + i] != want)
			play_fail(p, "something else is there");
	}
}

static void
do_word(struct play *p)
{
	const uint64_t at = play_number(p, play_next(p));
	const uint64_t want = play_number(p, play_next(p));
	uint64_t value = 0;

	if (at <= FX_MEMORY - sizeof(value))
		memcpy(&value, p->stage->end.memory + at, sizeof(value));
	if (value != want)
		play_fail(p, "another word is there");
}

static void
do_window(struct play *p)
{
	struct roce_mw_binding binding;
	bool bound = roce_mw_query(p->stage->mw[0], &binding);

	if (bound != play_is(play_next(p), "bound"))
		play_fail(p, bound ? "it is bound" : "it is gone");
}

static void
do_gone(struct play *p)
{
	struct stage *s = p->stage;
	struct roce_mr **mr = play_is(play_next(p), "own") ? &s->end.mr : &s->mr[KEY_ALL];

	assert_int_equal(roce_mr_destroy(*mr), 0);
	*mr = NULL;
}

static void
do_line(struct play *p)
{
	static const struct {
		const char *name;
		void (*play)(struct play *p);
	} statement[] = { { ">", do_hear }, { "<", do_say }, { "post", play_post },
		{ "receive", play_receive }, { "wait", do_wait }, { "event", play_event },
		{ "broken", do_broken }, { "count", do_count }, { "memory", do_memory },
		{ "word", do_word }, { "window", do_window }, { "gone", do_gone } };
	const char *name = play_next(p);

	/* The engine is polled before a statement looks at its results. */
	if (!play_is(name, "<") && !play_is(name, ">") && !play_is(name, "gone") &&
			!play_is(name, "post"))
		stage_poll(p->stage);
	if (!play_is(name, "<"))
		p->turned = false;
	for (size_t i = 0; i < RTE_DIM(statement); i++) {
		if (play_is(name, statement[i].name)) {
			statement[i].play(p);
			return;
		}
	}
	play_fail(p, "there is no such statement");
}

/* Fail if a frame, a completion or a break is left that the rule does not tell. */
static void
finish(struct play *p)
{
	struct stage *s = p->stage;

	stage_poll(s);
	if (s->looked < s->frames)
		play_fail(p, stage_tell(s, s->frame[s->looked]));
	if (roce_cq_count(s->end.recv_cq) != 0)
		play_fail(p, "a receive completed that the rule does not tell");
	if (roce_cq_count(s->end.send_cq) != 0)
		play_fail(p, "a request completed that the rule does not tell");
	if (!p->broken && (roce_qp_state(s->qp) != ROCE_QP_RTS || s->end.async_events != 0))
		play_fail(p, "the queue pair broke");
}

void
play_rule(const struct rule *rule)
{
	static struct stage stage;
	struct stage_options options = { .depth = 4,
		.rd = 4,
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.timeout = 14,
		.receives = 4,
		.size = 4 * FX_MTU,
		.psn = 0x800200 };
	struct play p = { .rule = rule, .stage = &stage };
	unsigned int first = 0;

	stage = (struct stage){ .options = options };
	p.line = &rule->line[0];
	if (rule->lines > 0 && play_is(play_next(&p), "with")) {
		do_with(&p);
		first = 1;
	}
	options = stage.options;
	stage_open(&stage, &options);
	for (unsigned int i = first; i < rule->lines; i++) {
		p.line = &rule->line[i];
		p.at = 0;
		do_line(&p);
	}
	finish(&p);
	stage_close(&stage);
}
