/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: one step after the other. */

#include "partner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat/dat_ib_extensions.h>

#define WRONG_KEY 0xffu
#define IMMEDIATE 0x1badcafeu
#define COMPARE   (0x0706050403020100u + 0x100u)
#define SWAP      0x1122334455667788u

static DAT_LMR_TRIPLET
here(const struct partner *p, uint32_t length)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)p->sending,
		.segment_length = length,
	};
}

static DAT_RMR_TRIPLET
there(const struct partner *p, uint64_t offset, uint32_t length)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = p->peer.key,
		.target_address = p->peer.address + offset,
		.segment_length = length,
	};
}

static const DAT_DTO_COOKIE cookie = { .as_64 = 1 };

static void
post_send(struct partner *p, uint32_t length, DAT_COMPLETION_FLAGS flags)
{
	DAT_LMR_TRIPLET from = here(p, length);

	partner_must(dat_ep_post_send(p->ep, length > 0, &from, cookie, flags), "dat_ep_post_send");
}

static void
post_write(struct partner *p, uint32_t length, const DAT_RMR_TRIPLET *to)
{
	DAT_LMR_TRIPLET from = here(p, length);

	partner_must(dat_ep_post_rdma_write(p->ep, length > 0, &from, cookie, to,
				     DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_write");
}

static void
post_read(struct partner *p, uint32_t length, const DAT_RMR_TRIPLET *from)
{
	DAT_LMR_TRIPLET to = here(p, length);

	partner_must(dat_ep_post_rdma_read(p->ep, length > 0, &to, cookie, from,
				     DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_read");
}

static bool
step_send(struct partner *p, uint32_t n)
{
	post_send(p, n, DAT_COMPLETION_DEFAULT_FLAG);
	return partner_complete(p, 1) == 0;
}

/* Wait until there are more messages than these. */
static void
wait_message(struct partner *p, uint64_t before)
{
	const double until = partner_now() + PARTNER_PATIENCE / 1e3;

	while (p->messages == before && partner_now() < until)
		if (partner_take(p) == 0)
			usleep(50);
}

/* The message comes back as it was sent. */
static bool
step_echo(struct partner *p, uint32_t n)
{
	const uint64_t before = p->messages, bad = p->bad;

	post_send(p, n, DAT_COMPLETION_DEFAULT_FLAG);
	if (partner_complete(p, 1) != 0)
		return false;
	wait_message(p, before);
	return p->messages == before + 1 && p->bad == bad && p->last_received == n;
}

static bool
step_solicited(struct partner *p, uint32_t n)
{
	post_send(p, n, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
	return partner_complete(p, 1) == 0;
}

static bool
step_send_immed(struct partner *p, uint32_t n)
{
	DAT_LMR_TRIPLET from = here(p, n);

	partner_must(dat_ib_post_send_immed(p->ep, n > 0, &from, cookie, IMMEDIATE,
				     DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ib_post_send_immed");
	return partner_complete(p, 1) == 0;
}

static bool
step_write_immed(struct partner *p, uint32_t n)
{
	DAT_LMR_TRIPLET from = here(p, n);
	DAT_RMR_TRIPLET to = there(p, 0, n);

	partner_must(dat_ib_post_rdma_write_immed(p->ep, n > 0, &from, cookie, &to, IMMEDIATE,
				     DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ib_post_rdma_write_immed");
	p->written = n > p->written ? n : p->written;
	return partner_complete(p, 1) == 0;
}

static bool
step_write(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET to = there(p, 0, n);

	post_write(p, n, &to);
	p->written = n > p->written ? n : p->written;
	return partner_complete(p, 1) == 0;
}

/* The bytes that come are those we wrote, and behind them those that the server made. */
static bool
step_read(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET from = there(p, 0, n);

	memset(p->sending, 0xdb, n);
	post_read(p, n, &from);
	if (partner_complete(p, 1) != 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (p->sending[i] != (i < p->written ? partner_pattern(i) : (uint8_t)i))
			return false;
	return true;
}

static bool
say_original(struct partner *p)
{
	bool ok = partner_complete(p, 1) == 0;
	uint64_t original;

	memcpy(&original, p->sending, sizeof(original));
	printf("original value 0x%016lx\n", (unsigned long)original);
	return ok;
}

static bool
step_add(struct partner *p, uint32_t n)
{
	DAT_LMR_TRIPLET to = here(p, 8);
	DAT_RMR_TRIPLET word = there(p, 0, 8);

	(void)n;
	partner_must(dat_ib_post_fetch_and_add(
				     p->ep, 0x100, &to, cookie, &word, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ib_post_fetch_and_add");
	return say_original(p);
}

static bool
step_swap(struct partner *p, uint32_t n)
{
	DAT_LMR_TRIPLET to = here(p, 8);
	DAT_RMR_TRIPLET word = there(p, 0, 8);

	(void)n;
	partner_must(dat_ib_post_cmp_and_swap(p->ep, COMPARE, SWAP, &to, cookie, &word,
				     DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ib_post_cmp_and_swap");
	return say_original(p);
}

/* The peer's first message says what it grants. */
static bool
step_borrow(struct partner *p, uint32_t n)
{
	(void)n;
	wait_message(p, 0);
	if (p->messages != 1 || p->last_received != sizeof(p->peer))
		return false;
	memcpy(&p->peer, p->last_message, sizeof(p->peer));
	return true;
}

/* Give back what was borrowed. */
static bool
step_send_invalidate(struct partner *p, uint32_t n)
{
	DAT_LMR_TRIPLET from = here(p, n);

	partner_must(dat_ib_post_send_with_invalidate(p->ep, n > 0, &from, cookie,
				     DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, p->peer.key),
			"dat_ib_post_send_with_invalidate");
	return partner_complete(p, 1) == 0;
}

/* These four must fail. */

static bool
step_refused(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET to = there(p, 0, n);

	post_write(p, n, &to);
	return partner_complete(p, 1) == 1;
}

static bool
step_bad_key(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET to = there(p, 0, n);

	to.rmr_context ^= WRONG_KEY;
	post_write(p, n, &to);
	return partner_complete(p, 1) == 1;
}

static bool
step_bad_key_read(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET from = there(p, 0, n);

	from.rmr_context ^= WRONG_KEY;
	post_read(p, n, &from);
	return partner_complete(p, 1) == 1;
}

static bool
step_out_of_bounds(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET to = there(p, p->peer.length - n / 2, n);

	post_write(p, n, &to);
	return partner_complete(p, 1) == 1;
}

static bool
step_fill(struct partner *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		post_send(p, 16, DAT_COMPLETION_DEFAULT_FLAG);
	return partner_complete(p, n) == 0;
}

static bool
step_reads(struct partner *p, uint32_t n)
{
	DAT_RMR_TRIPLET from = there(p, 0, 2048);

	for (uint32_t i = 0; i < n; i++)
		post_read(p, 2048, &from);
	return partner_complete(p, n) == 0;
}

static bool
step_sleep(struct partner *p, uint32_t n)
{
	partner_poll(p, n);
	return true;
}

static const struct {
	const char *name;
	bool (*go)(struct partner *p, uint32_t n);
} steps_known[] = {
	{ "send", step_send },
	{ "echo", step_echo },
	{ "sendsol", step_solicited },
	{ "sendimm", step_send_immed },
	{ "write", step_write },
	{ "writeimm", step_write_immed },
	{ "read", step_read },
	{ "fadd", step_add },
	{ "cswp", step_swap },
	{ "borrow", step_borrow },
	{ "sendinv", step_send_invalidate },
	{ "refused", step_refused },
	{ "badkey", step_bad_key },
	{ "badkeyr", step_bad_key_read },
	{ "oob", step_out_of_bounds },
	{ "fill", step_fill },
	{ "reads", step_reads },
	{ "sleep", step_sleep },
};

static bool
go(struct partner *p, const char *text)
{
	size_t length = strcspn(text, ":");
	uint32_t n = text[length] == ':' ? (uint32_t)strtoul(text + length + 1, NULL, 10) : 0;

	for (uint32_t i = 0; i < PARTNER_SENDING; i++)
		p->sending[i] = partner_pattern(i);
	for (size_t i = 0; i < sizeof(steps_known) / sizeof(steps_known[0]); i++)
		if (strlen(steps_known[i].name) == length &&
				strncmp(text, steps_known[i].name, length) == 0)
			return steps_known[i].go(p, n);
	return false;
}

int
partner_converse(struct partner *p, const char *host, char **steps)
{
	unsigned int failed = 0;

	partner_make_ep(p);
	if (!p->options.srq)
		partner_post_receives(p);
	p->written = 0;
	partner_connect(p, host);
	if (partner_connection_event(p) != DAT_CONNECTION_EVENT_ESTABLISHED) {
		partner_must(dat_ep_free(p->ep), "dat_ep_free");
		return 3;
	}
	for (; *steps != NULL; steps++) {
		bool ok = go(p, *steps);

		printf("step %s: %s\n", *steps, ok ? "ok" : "FAILED");
		fflush(stdout);
		failed += !ok;
	}
	if (p->options.leave)
		return failed != 0;
	/* A connection that a step broke is over already. */
	(void)dat_ep_disconnect(p->ep, DAT_CLOSE_GRACEFUL_FLAG);
	(void)partner_connection_event(p);
	(void)partner_take(p);
	partner_must(dat_ep_free(p->ep), "dat_ep_free");
	return failed != 0;
}
