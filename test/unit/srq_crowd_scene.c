/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame stays on the thread that made it, is an engine's and moves under its lock, or is used once: the way of a
 * frame back through its pool is invisible to the thread sanitizer.
 */

#include "srq_crowd.h"

/* Frames that the pollers send to the crowd. */
static struct rte_mempool *pools[ENGINES_MAX];
/* Answers of the engines, made under their locks: a queue pair may end on any thread. */
static struct rte_mempool *answers[ENGINES_MAX];
static struct rte_mempool *once_pool;

/* ---- pollers ---- */

struct rte_mbuf *
build(struct endpoint *ep, struct rte_mbuf *m, bool last)
{
	const struct stamp stamp = { ep->index, ep->sent };
	const struct roce_frame_spec spec = {
		.psn = ep->psn,
		.opcode = roce_opcode_request(ROCE_VERB_SEND, ROCE_SUFFIX_NONE, !ep->begun, last),
		.payload_len = last ? sizeof(stamp) : MTU,
		.ack_req = last,
	};
	uint8_t *payload = roce_frame_build(m, &ep->template, &spec);

	memset(payload, 0, spec.payload_len);
	memcpy(payload, &stamp, sizeof(stamp));
	roce_icrc_put(m, &ep->template);
	return m;
}

static void
poll_once(struct roce_engine *e)
{
	struct rte_mbuf *m[32];
	uint16_t n;

	roce_engine_lock(e);
	(void)roce_engine_rx(e, NULL, 0, FX_HZ);
	n = roce_engine_tx(e, m, RTE_DIM(m), FX_HZ);
	rte_pktmbuf_free_bulk(m, n);
	roce_engine_unlock(e);
}

bool
deliver(struct scene *s, struct roce_engine *e, struct rte_mbuf *m)
{
	const struct roce_stats *stats = roce_engine_stats(e);
	uint64_t before, after;

	roce_engine_lock(e);
	before = stats->out_of_buffer;
	if (roce_engine_rx(e, &m, 1, FX_HZ) != 0)
		complain(s, "a frame is foreign");
	after = stats->out_of_buffer;
	roce_engine_unlock(e);
	return before == after;
}

/* Another engine receives it, and hands it over; then this one takes it in. */
static void
deliver_astray(struct scene *s, const struct actor *a, struct rte_mbuf *m)
{
	(void)deliver(s, roce_domain_engine(s->domain, (a->index + 1) % s->engines), m);
	poll_once(roce_domain_engine(s->domain, a->index));
}

static bool
take_permit(struct scene *s)
{
	int64_t permits = __atomic_load_n(&s->permits, __ATOMIC_ACQUIRE);

	while (permits > 0) {
		if (__atomic_compare_exchange_n(&s->permits, &permits, permits - 1, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

void
connect_ep(struct scene *s, struct endpoint *ep)
{
	ep->connect.rq_psn = ep->psn;
	if (roce_qp_to_rtr(ep->qp, &ep->connect) != 0 || roce_qp_to_rts(ep->qp) != 0)
		complain(s, "a queue pair does not connect");
}

/* In the middle of a message: the receive it has is flushed, and the next message begins on a new connection. */
static void
break_ep(struct scene *s, struct roce_engine *e, struct endpoint *ep)
{
	roce_engine_lock(e);
	roce_qp_to_error(ep->qp);
	roce_qp_to_reset(ep->qp);
	ep->psn = roce_psn_add(ep->psn, 1000);
	connect_ep(s, ep);
	roce_engine_unlock(e);
	ep->begun = false;
	ep->sent++;
}

/* One packet of one queue pair. @return false: it could not be sent now. */
static bool
send_packet(struct actor *a, struct endpoint *ep)
{
	struct scene *s = a->s;
	struct roce_engine *e = roce_domain_engine(s->domain, a->index);
	bool last = ep->begun || rand_r(&a->seed) % 4 != 0;
	struct rte_mbuf *m;

	if (!ep->begun && s->fed && !take_permit(s))
		return false;
	if (s->fed && s->astray[a->index] < ASTRAY_MAX && rand_r(&a->seed) % 16 == 0) {
		m = s->once[a->index][s->astray[a->index]++];
		deliver_astray(s, a, build(ep, m, last));
	} else {
		m = rte_pktmbuf_alloc(pools[a->index]);
		if (m == NULL) {
			complain(s, "frames are missing");
			return false;
		}
		if (!deliver(s, e, build(ep, m, last))) {
			__atomic_fetch_add(&s->rejected, 1, __ATOMIC_RELEASE);
			return false;
		}
	}
	ep->psn = roce_psn_add(ep->psn, 1);
	ep->begun = !last;
	ep->sent += last;
	ep->finished += last;
	return true;
}

/* However the threads are scheduled, the controller has come twice. */
static bool
is_controlled(const struct scene *s)
{
	return __atomic_load_n(&s->armings, __ATOMIC_ACQUIRE) > 1 &&
			__atomic_load_n(&s->resizes, __ATOMIC_ACQUIRE) > 1;
}

void *
poll_engine(void *arg)
{
	struct actor *a = arg;
	struct scene *s = a->s;
	struct roce_engine *e = roce_domain_engine(s->domain, a->index);
	uint32_t sent = 0;

	while ((sent < s->messages || !is_controlled(s)) &&
			__atomic_load_n(&s->wrong, __ATOMIC_ACQUIRE) == NULL) {
		unsigned int which = (unsigned int)rand_r(&a->seed) % EPS_EACH;
		struct endpoint *ep = &s->ep[which * s->engines + a->index];
		uint32_t before = ep->finished;

		if (s->breaks && ep->begun && rand_r(&a->seed) % 4 == 0)
			break_ep(s, e, ep);
		else if (!send_packet(a, ep))
			sched_yield();
		sent += ep->finished - before;
		if (rand_r(&a->seed) % 8 == 0)
			poll_once(e);
	}
	poll_once(e);
	return NULL;
}

/* ---- the scene ---- */

struct rte_mempool *
make_pool(const char *kind, unsigned int index)
{
	char name[] = "crowd-....-0";
	struct rte_mempool *pool;

	memcpy(name + 6, kind, 4);
	name[11] = (char)('0' + index);
	pool = rte_pktmbuf_pool_create(name, 255, 0, 0, RTE_PKTMBUF_HEADROOM + 512, 0);
	assert_non_null(pool);
	return pool;
}

void
make_pools(void)
{
	unit_eal();
	for (unsigned int i = 0; i < ENGINES_MAX; i++) {
		pools[i] = make_pool("turn", i);
		answers[i] = make_pool("acks", i);
	}
	once_pool = rte_pktmbuf_pool_create("crowd-once", ENGINES_MAX * ASTRAY_MAX, 0, 0,
			RTE_PKTMBUF_HEADROOM + 512, 0);
	assert_non_null(once_pool);
}

void
introduce(struct endpoint *ep)
{
	struct roce_path back;

	ep->connect = (struct roce_qp_connect){
		.path = {
			.src_ip = fx_ip(1),
			.dst_ip = fx_ip(99),
			.udp_sport = 50001,
			.ttl = 64,
			.mtu_code = roce_mtu_code(MTU),
		},
		.dest_qp = 0x777,
		.rnr_timer = 12,
	};
	back = ep->connect.path;
	back.src_ip = fx_ip(99);
	back.dst_ip = fx_ip(1);
	roce_template_init(&ep->template, &back, roce_qp_number(ep->qp), false);
	ep->psn = 0xfffffe;
}

/* Queue pair numbers go round the engines: queue pair i lives on engine i modulo engines. */
static void
make_ep(struct scene *s, unsigned int index)
{
	struct endpoint *ep = &s->ep[index];
	const struct roce_qp_attr attr = {
		.pd = s->pd,
		.recv_cq = s->cq[index % CQS],
		.srq = s->srq,
		.owner = ep,
	};

	assert_int_equal(roce_qp_create(&attr, &ep->qp), 0);
	assert_int_equal(roce_qp_engine(ep->qp)->index, index % s->engines);
	ep->index = index;
	introduce(ep);
	roce_engine_lock(roce_qp_engine(ep->qp));
	connect_ep(s, ep);
	roce_engine_unlock(roce_qp_engine(ep->qp));
}

void
open_scene(struct scene *s)
{
	struct roce_domain_config config = fx_config(1);

	config.engines = s->engines;
	config.notify = notify;
	config.notify_arg = s;
	memcpy(config.pool, answers, sizeof(answers));
	assert_int_equal(roce_domain_create(&config, &s->domain), 0);
	assert_int_equal(roce_pd_create(roce_domain_context(s->domain), &s->pd), 0);
	s->memory = calloc(RECEIVES, ROOM);
	assert_int_equal(roce_mr_create(s->pd, (uintptr_t)s->memory, RECEIVES * ROOM,
					 IBV_ACCESS_LOCAL_WRITE, &s->mr),
			0);
	s->key = roce_mr_key(s->mr);
	s->max = RECEIVES;
	assert_int_equal(roce_srq_create(s->pd, s->max, 1, &s->low_events, &s->srq), 0);
	for (unsigned int i = 0; i < CQS; i++)
		assert_int_equal(roce_cq_create(roce_domain_context(s->domain), RECEIVES, NULL,
						 &s->cq[i]),
				0);
	s->eps = s->engines * EPS_EACH;
	for (unsigned int i = 0; i < s->eps; i++)
		make_ep(s, i);
	for (unsigned int i = 0; i < s->engines; i++)
		assert_int_equal(rte_pktmbuf_alloc_bulk(once_pool, s->once[i], ASTRAY_MAX), 0);
	assert_int_equal(pthread_mutex_init(&s->idle_lock, NULL), 0);
	while (s->idles < RECEIVES) {
		s->idle[s->idles] = s->idles;
		s->idles++;
	}
}

void
close_scene(struct scene *s)
{
	for (unsigned int i = 0; i < s->eps; i++)
		roce_qp_destroy(s->ep[i].qp);
	for (unsigned int i = 0; i < CQS; i++)
		assert_int_equal(roce_cq_destroy(s->cq[i]), 0);
	assert_int_equal(roce_srq_destroy(s->srq), 0);
	roce_mr_destroy(s->mr);
	assert_int_equal(roce_pd_destroy(s->pd), 0);
	roce_domain_destroy(s->domain);
	free(s->memory);
	assert_int_equal(fx_live(), 0);
	assert_int_equal(pthread_mutex_destroy(&s->idle_lock), 0);
	for (unsigned int i = 0; i < s->engines; i++) {
		for (uint32_t k = s->astray[i]; k < ASTRAY_MAX; k++)
			rte_pktmbuf_free(s->once[i][k]);
	}
	assert_true(rte_mempool_full(once_pool));
	for (unsigned int i = 0; i < ENGINES_MAX; i++)
		assert_true(rte_mempool_full(pools[i]) && rte_mempool_full(answers[i]));
}
