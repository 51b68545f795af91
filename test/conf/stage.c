/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage: an engine, a queue pair, keys; opening and closing, and the clock. */

#include <string.h>

#include "stage.h"
#include "wire/icrc.h"

#define RIGHTS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC | ROCE_ACCESS_LOCAL_READ)

uint8_t
stage_byte(uint32_t offset)
{
	return (uint8_t)(offset * 7 + offset / 256 + 1);
}

static void
make_region(struct stage *s, enum stage_key key, struct roce_pd *pd, unsigned int access)
{
	assert_int_equal(roce_mr_create(pd, (uintptr_t)s->end.memory, FX_MEMORY, access,
					 &s->mr[key]),
			0);
	s->key[key] = roce_mr_key(s->mr[key]);
}

static void
make_iova(struct stage *s)
{
	assert_int_equal(roce_mr_create_iova(s->end.pd, (uintptr_t)s->end.memory, FX_MEMORY,
					 STAGE_IOVA, RIGHTS, &s->mr[KEY_IOVA]),
			0);
	s->key[KEY_IOVA] = roce_mr_key(s->mr[KEY_IOVA]);
}

static void
make_keys(struct stage *s)
{
	assert_int_equal(roce_pd_create(roce_domain_context(s->end.domain), &s->other_pd), 0);
	make_region(s, KEY_ALL, s->end.pd, RIGHTS);
	make_region(s, KEY_DEAD, s->end.pd, RIGHTS);
	make_region(s, KEY_LOCAL, s->end.pd, IBV_ACCESS_LOCAL_WRITE);
	make_region(s, KEY_NOREAD, s->end.pd, RIGHTS & ~(unsigned int)IBV_ACCESS_REMOTE_READ);
	make_region(s, KEY_NOWRITE, s->end.pd, RIGHTS & ~(unsigned int)IBV_ACCESS_REMOTE_WRITE);
	make_region(s, KEY_NOATOMIC, s->end.pd, RIGHTS & ~(unsigned int)IBV_ACCESS_REMOTE_ATOMIC);
	make_iova(s);
	make_region(s, KEY_OTHER, s->other_pd, RIGHTS);
	assert_int_equal(roce_mr_destroy(s->mr[KEY_DEAD]), 0);
	s->mr[KEY_DEAD] = NULL;
	s->key[KEY_ZERO] = 0;
	s->key[KEY_TAG] = s->key[KEY_ALL] ^ 1;
}

/* By a bind on the queue pair; the window of the other domain by one on a queue pair that is there for it. */
static uint32_t
bind_window(struct stage *s, struct roce_qp *qp, struct roce_mw *mw, uint32_t mr_key)
{
	struct roce_mw_bind bind = {
		.mw = mw,
		.mr_key = mr_key,
		.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.addr = (uintptr_t)s->end.memory,
		.length = 2 * FX_MTU,
	};
	const struct roce_wr wr = { .bind = &bind, .opcode = IBV_WR_BIND_MW };

	assert_int_equal(roce_qp_post_send(qp, &wr), 0);
	fx_tx_none(&s->end);
	return bind.key;
}

static void
make_windows(struct stage *s)
{
	const struct roce_qp_connect connect = fx_connect(&s->end, fx_ip(98), 0x778);
	struct roce_qp_attr attr = fx_attr(&s->end);
	struct roce_qp *qp;

	attr.pd = s->other_pd;
	qp = fx_qp(&s->end, &attr);
	fx_up(qp, &connect);
	assert_int_equal(roce_mw_create(s->end.pd, s, &s->mw[0]), 0);
	assert_int_equal(roce_mw_create(s->other_pd, s, &s->mw[1]), 0);
	s->key[KEY_WINDOW] = bind_window(s, s->qp, s->mw[0], s->key[KEY_NOATOMIC]);
	s->key[KEY_FOREIGN] = bind_window(s, qp, s->mw[1], s->key[KEY_OTHER]);
	roce_qp_destroy(qp);
}

static void
make_qp(struct stage *s)
{
	const struct stage_options *o = &s->options;
	struct roce_qp_connect connect = fx_connect(&s->end, fx_ip(99), 0x777);
	struct roce_qp_attr attr = fx_attr(&s->end);

	attr.max_dest_rd_atomic = (uint8_t)o->depth;
	attr.atomics = true;
	if (o->own)
		attr.srq = NULL;
	connect.max_dest_rd_atomic = (uint8_t)o->depth;
	connect.max_rd_atomic = (uint8_t)o->rd;
	connect.retry = (uint8_t)o->retry;
	connect.extensions = o->extensions != 0;
	connect.rnr_retry = (uint8_t)o->rnr_retry;
	connect.rnr_timer = (uint8_t)o->rnr_timer;
	connect.ack_timeout = (uint8_t)o->timeout;
	connect.rq_psn = (uint32_t)o->psn;
	connect.sq_psn = (uint32_t)o->psn;
	s->qp = fx_qp(&s->end, &attr);
	s->peer = fx_peer_of(s->qp, &connect);
	fx_up(s->qp, &connect);
	if (o->hard == 0)
		return;
	roce_engine_lock(s->end.engine);
	roce_qp_set_high(s->qp, ROCE_HIGH_NONE, (uint32_t)o->hard - 1);
	roce_engine_unlock(s->end.engine);
}

static void
post_receives(struct stage *s)
{
	for (uint32_t i = 0; i < s->options.receives; i++) {
		struct roce_sge sge;
		/* Behind the middle of the memory; the half before is for RDMA. */
		struct roce_recv_wr wr =
				fx_recv(&s->end, &sge, i, FX_MEMORY / 2, (uint32_t)s->options.size);

		if (s->options.own)
			assert_int_equal(roce_qp_post_recv(s->qp, &wr), 0);
		else
			assert_int_equal(roce_srq_post(s->end.srq, &wr), 0);
	}
}

void
stage_open(struct stage *s, const struct stage_options *options)
{
	*s = (struct stage){ .options = *options };
	fx_end_open(&s->end, 1, NULL);
	for (uint32_t i = 0; i < FX_MEMORY; i++)
		s->end.memory[i] = stage_byte(i);
	make_keys(s);
	make_qp(s);
	make_windows(s);
	post_receives(s);
	fx_tx_none(&s->end);
	assert_int_equal(s->end.async_events, 0);
}

void
stage_close(struct stage *s)
{
	while (s->looked < s->frames)
		rte_pktmbuf_free(s->frame[s->looked++]);
	roce_qp_destroy(s->qp);
	roce_mw_destroy(s->mw[0]);
	roce_mw_destroy(s->mw[1]);
	for (unsigned int i = 0; i < KEYS; i++) {
		if (s->mr[i] != NULL)
			assert_int_equal(roce_mr_destroy(s->mr[i]), 0);
	}
	assert_int_equal(roce_pd_destroy(s->other_pd), 0);
	fx_end_close(&s->end);
	assert_int_equal(fx_live(), 0);
	assert_true(unit_pool_is_full());
}

void
stage_poll(struct stage *s)
{
	uint16_t n;

	do {
		assert_true(s->frames + 32 <= STAGE_FRAMES);
		roce_engine_lock(s->end.engine);
		n = roce_engine_tx(s->end.engine, s->frame + s->frames, 32, s->end.now);
		roce_engine_unlock(s->end.engine);
		s->frames += n;
	} while (n > 0);
}

void
stage_wait(struct stage *s, uint64_t us)
{
	const uint64_t until = s->end.now + us * (FX_HZ / 1000000);

	for (;;) {
		uint64_t deadline;

		stage_poll(s);
		roce_engine_lock(s->end.engine);
		deadline = roce_engine_deadline(s->end.engine);
		roce_engine_unlock(s->end.engine);
		if (deadline > until)
			break;
		s->end.now = RTE_MAX(deadline, s->end.now + 1);
	}
	s->end.now = until;
	stage_poll(s);
}
