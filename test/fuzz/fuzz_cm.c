/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzer of the connection manager: handshakes of real ends whose messages are lost, late, repeated and changed,
 * messages that no end sent, and between them every action of an owner.
 */

#include <errno.h>
#include <string.h>

#include "cm_world.h"
#include "oracle.h"

#define SETTLE_MAX 4000u

static struct cm_end *
end_of(const uint8_t *r)
{
	return &cm_world.end[r[1] & 1];
}

/* The next owner from a place on whose connection is there; NULL. */
static struct cm_owner *
owner_of(const uint8_t *r)
{
	struct cm_end *end = end_of(r);

	for (unsigned int i = 0; i < CM_OWNERS; i++) {
		struct cm_owner *owner = &end->owner[(r[2] + i) % CM_OWNERS];

		if (owner->phase != CM_NOBODY && owner->phase != CM_RELEASED)
			return owner;
	}
	return NULL;
}

static void
inject(const uint8_t *r)
{
	static struct cm_flat flat;

	cm_forge(r, &flat);
	cm_give(&flat);
}

static void
start(const uint8_t *r)
{
	cm_connect(end_of(r), r);
}

static void
listen_or_not(const uint8_t *r)
{
	struct cm_end *end = end_of(r);
	unsigned int i = r[2] % CM_LISTENERS;

	if (end->listener[i] != NULL) {
		roce_cm_unlisten(end->listener[i]);
		end->listener[i] = NULL;
	} else {
		(void)roce_cm_listen(
				end->cm, NULL, CM_SERVICE + i, r[3] & 7, end, &end->listener[i]);
	}
}

static void
answer(const uint8_t *r)
{
	struct cm_owner *owner = owner_of(r);

	if (owner == NULL)
		return;
	if (owner->phase == CM_ACCEPTED && r[3] & 2)
		cm_ready(owner);
	if (owner->phase != CM_REQUESTED && owner->phase != CM_REPLIED)
		return;
	if (r[3] & 1)
		cm_reject(owner);
	else if (owner->phase == CM_REPLIED)
		cm_ready(owner);
	else
		cm_accept(owner);
}

static void
leave(const uint8_t *r)
{
	struct cm_owner *owner = owner_of(r);

	if (owner == NULL || (owner->phase == CM_REQUESTED && !(r[3] & 1)))
		return;
	if (r[3] & 1)
		cm_release(owner);
	else
		cm_disconnect(owner);
}

static void
async_event(const uint8_t *r)
{
	static const enum roce_engine_async kinds[4] = { ROCE_ENGINE_ASYNC_QP_ESTABLISHED,
		ROCE_ENGINE_ASYNC_QP_BROKEN, ROCE_ENGINE_ASYNC_QP_DRAINED,
		ROCE_ENGINE_ASYNC_QP_SOFT_HIGH };
	struct cm_owner *owner = owner_of(r);

	/* A request has no queue pair yet. */
	if (owner != NULL && owner->phase != CM_REQUESTED)
		cm_qp_async_event(owner, kinds[r[3] & 3]);
}

static void
resolve(const uint8_t *r)
{
	static const int rc[4] = { 0, -EAGAIN, -ENETUNREACH, -EHOSTUNREACH };
	struct cm_end *end = end_of(r);

	end->resolve_rc = rc[r[2] & 3];
	if (r[3] & 1)
		roce_cm_resolved(end->cm, cm_world.now);
}

static void
behave(const uint8_t *r)
{
	end_of(r)->policy = (struct cm_policy){ r[2] & 3, r[3] & 7, r[4] & 3, r[5] & 3 };
}

static void
fail(const uint8_t *r)
{
	base_fail(r[2] & 7);
}

/* ---- the wire ---- */

static void
speak(const uint8_t *r)
{
	(void)cm_speak(&cm_world.end[0], 1u + (r[2] & 31));
	(void)cm_speak(&cm_world.end[1], 1u + (r[3] & 31));
}

static void
carry(const uint8_t *r)
{
	speak(r);
	for (uint32_t n = 1 + (r[5] & 7); n > 0 && cm_world.flights > 0; n--)
		cm_deliver(r[4] % cm_world.flights, r[6] & 1);
}

static void
disturb(const uint8_t *r)
{
	struct cm_flat *flat;

	if (cm_world.flights == 0)
		return;
	flat = &cm_world.flight[r[2] % cm_world.flights];
	if (r[3] & 1) {
		memmove(flat, flat + 1,
				(size_t)(&cm_world.flight[--cm_world.flights] - flat) *
						sizeof(*flat));
		return;
	}
	flat->bytes[flat->len - 1 - base_u16(r + 4) % flat->len] ^= r[6];
	flat->bytes[flat->len - 1 - base_u16(r + 7) % flat->len] ^= r[9];
	if (r[3] & 2)
		(void)oracle_seal(flat->bytes, flat->len);
}

static uint64_t
next_deadline(void)
{
	const struct cm_end *e = cm_world.end;

	return RTE_MIN(e[0].gsi.deadline(e[0].gsi.arg), e[1].gsi.deadline(e[1].gsi.arg));
}

static void
wait(const uint8_t *r)
{
	cm_world.now = base_script_wait(r, cm_world.now, next_deadline());
}

static const base_step steps[BASE_STEPS] = { inject, inject, inject, inject, inject, inject, inject,
	inject, inject, inject, inject, start, start, start, listen_or_not, answer, answer, leave,
	leave, async_event, async_event, resolve, behave, behave, fail, speak, carry, carry, carry,
	disturb, wait, wait };

static void
step(const uint8_t *r)
{
	base_script_do(steps, r);
	cm_remember(&cm_world.end[0]);
	cm_remember(&cm_world.end[1]);
	cm_check(&cm_world.end[0]);
	cm_check(&cm_world.end[1]);
}

/* ---- the end ---- */

/* Until nothing happens any more. */
static void
settle(void)
{
	uint32_t n;

	for (n = 0; n < SETTLE_MAX; n++) {
		uint32_t said = cm_speak(&cm_world.end[0], 32) + cm_speak(&cm_world.end[1], 32);
		uint64_t at;

		while (cm_world.flights > 0)
			cm_deliver(0, false);
		at = next_deadline();
		if (said == 0 && at == ROCE_NEVER)
			break;
		if (said == 0)
			cm_world.now = RTE_MAX(cm_world.now + 1, at);
	}
	BASE_MUST(n < SETTLE_MAX, "there is no end of talking");
}

static void
release_all(struct cm_end *end)
{
	for (unsigned int i = 0; i < CM_OWNERS; i++) {
		struct cm_owner *owner = &end->owner[i];

		if (owner->phase == CM_REQUESTED)
			cm_reject(owner);
		else if (owner->phase != CM_NOBODY && owner->phase != CM_RELEASED)
			cm_release(owner);
	}
}

static void
finish(void)
{
	base_dry(false);
	base_fail(0);
	for (unsigned int i = 0; i < 2; i++) {
		cm_world.end[i].policy = (struct cm_policy){ 0 };
		cm_world.end[i].resolve_rc = 0;
	}
	settle();
	cm_check_idle(&cm_world.end[0]);
	cm_check_idle(&cm_world.end[1]);
	release_all(&cm_world.end[0]);
	release_all(&cm_world.end[1]);
	settle();
	/* Requests that came while everybody left. */
	release_all(&cm_world.end[0]);
	release_all(&cm_world.end[1]);
	settle();
	BASE_MUST(cm_world.end[0].cm->used == 0 && cm_world.end[1].cm->used == 0,
			"nothing is left of connections that were released");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_script script;

	if (!base_script_open(&script, data, size))
		return 0;
	cm_open(base_script_record(&script, 0));
	for (uint32_t i = 1; i < script.records; i++)
		step(base_script_record(&script, i));
	finish();
	cm_close();
	return 0;
}
