/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "fixture_end.h"
#include "queue/domain.h"
#include "queue/srq.h"

static void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct fx_end *end = arg;

	if (end->async_events < FX_ASYNC_EVENTS)
		end->async_event[end->async_events] =
				(struct fx_async_event){ kind, owner, status };
	end->async_events++;
	if (end->on_async_event != NULL)
		end->on_async_event(end);
}

struct roce_ip
fx_ip(uint8_t last)
{
	return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000200u | last));
}

static void
ignore(void *arg, enum roce_engine_async kind, void *owner, int status)
{
}

struct roce_domain_config
fx_config(uint8_t last)
{
	return (struct roce_domain_config){
		.engines = 1,
		.hz = FX_HZ,
		.seed = last,
		.first_qpn = 0x100,
		.first_psn = UINT32_MAX,
		.pool = { unit_pool() },
		.addr = { fx_ip(last) },
		.addrs = 1,
		.memory = fx_memory,
		.notify = ignore,
	};
}

void
fx_end_open(struct fx_end *end, uint8_t last, const struct fx_options *options)
{
	const struct fx_options o = options != NULL ? *options : (struct fx_options){ 0 };
	struct roce_domain_config config = fx_config(last);
	const uint32_t depth = o.cq_depth != 0 ? o.cq_depth : 1024;

	if (o.engines != 0)
		config.engines = o.engines;
	if (o.first_qpn != 0)
		config.first_qpn = o.first_qpn;
	config.extbuf = o.extbuf;
	config.zcrx = o.zcrx;
	config.faults = o.faults;
	config.process = o.process;
	config.peer_process = o.peer_process;
	config.notify = notify;
	config.notify_arg = end;
	*end = (struct fx_end){ .ip = fx_ip(last), .now = FX_HZ };
	for (unsigned int i = 0; i < config.engines; i++)
		config.pool[i] = unit_pool();
	assert_int_equal(roce_domain_create(&config, &end->domain), 0);
	end->engine = roce_domain_engine(end->domain, 0);
	end->pd = fx_pd(end);
	end->send_cq = fx_cq(end, depth, end);
	end->recv_cq = fx_cq(end, depth, end);
	assert_int_equal(roce_srq_create(end->pd, o.srq_size != 0 ? o.srq_size : 256, 4, end,
					 &end->srq),
			0);
	end->memory = malloc(FX_MEMORY);
	for (uint32_t i = 0; i < FX_MEMORY; i++)
		end->memory[i] = (uint8_t)(i ^ i >> 8);
	end->mr = fx_mr(end->pd, (uintptr_t)end->memory, FX_MEMORY, IBV_ACCESS_LOCAL_WRITE);
	end->key = roce_mr_key(end->mr);
}

/* Queue pairs first: they hold everything else. A window ends by the hand of its test. */
static void
end_what_is_left(struct roce_domain *domain)
{
	struct roce_srq *srq;

	for (uint32_t i = 0; i < ROCE_QPS_MAX; i++) {
		if (domain->qp[i] != NULL)
			roce_qp_destroy(domain->qp[i]);
	}
	while ((srq = TAILQ_FIRST(&domain->srqs)) != NULL)
		assert_int_equal(roce_srq_destroy(srq), 0);
	for (uint32_t i = 0; i < ROCE_KEY_PLACES; i++) {
		struct roce_mr *chunk = domain->keys.chunk[i / ROCE_KEY_CHUNK];

		if (chunk != NULL && chunk[i % ROCE_KEY_CHUNK].key != 0 &&
				chunk[i % ROCE_KEY_CHUNK].pd != NULL)
			assert_int_equal(roce_mr_destroy(&chunk[i % ROCE_KEY_CHUNK]), 0);
	}
}

void
fx_end_close(struct fx_end *end)
{
	end_what_is_left(end->domain);
	/* NULL: the test ended it itself. */
	if (end->recv_cq != NULL)
		assert_int_equal(roce_cq_destroy(end->recv_cq), 0);
	if (end->send_cq != NULL)
		assert_int_equal(roce_cq_destroy(end->send_cq), 0);
	assert_int_equal(roce_pd_destroy(end->pd), 0);
	roce_domain_destroy(end->domain);
	free(end->memory);
	*end = (struct fx_end){ 0 };
}

struct roce_pd *
fx_pd(const struct fx_end *end)
{
	struct roce_pd *pd = NULL;

	assert_int_equal(roce_pd_create(roce_domain_context(end->domain), &pd), 0);
	return pd;
}

struct roce_cq *
fx_cq(const struct fx_end *end, uint32_t depth, void *owner)
{
	struct roce_cq *cq = NULL;

	assert_int_equal(roce_cq_create(roce_domain_context(end->domain), depth, owner, &cq), 0);
	return cq;
}

struct roce_mr *
fx_mr(struct roce_pd *pd, uint64_t addr, uint64_t len, unsigned int access)
{
	struct roce_mr *mr = NULL;

	assert_int_equal(roce_mr_create(pd, addr, len, access, &mr), 0);
	return mr;
}

int
fx_left(void)
{
	return fx_live() != 0 || !unit_pool_is_full();
}

void
fx_expect_counts(struct roce_srq *srq, uint32_t max, uint32_t available, uint32_t outstanding)
{
	struct roce_srq_counts counts;

	roce_srq_query(srq, &counts);
	assert_int_equal(counts.max, max);
	assert_int_equal(counts.available, available);
	assert_int_equal(counts.outstanding, outstanding);
}

void
fx_expect_async(const struct fx_end *end, unsigned int n, enum roce_engine_async kind)
{
	assert_int_equal(end->async_events, n);
	assert_int_equal(end->async_event[n - 1].kind, kind);
}

const struct roce_stats *
fx_stats(const struct fx_end *end)
{
	return roce_engine_stats(end->engine);
}
