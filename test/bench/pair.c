/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <stdlib.h>

#include <rte_lcore.h>

#include "bench.h"
#include "ethdev/pool.h"

#define HZ           UINT64_C(1000000000)
#define ROOM         (RTE_PKTMBUF_HEADROOM + ROCE_FRAME_LEN_MAX(BENCH_MTU))
#define FRAMES       (256u + 2 * (32 + 64)) /* as the provider's pool of one queue */
#define FIRST_ANSWER 0x800200u

/* No async event may come here; a connection that is established by hand causes none. */
static void
async_event(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	bench_fail("the engine gave up: async event %d, status %d", (int)kind, status);
}

static void
must(int rc, const char *what)
{
	if (rc != 0)
		bench_fail("%s: error %d", what, rc);
}

static struct roce_ip
address(unsigned int index)
{
	return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201u + index));
}

struct roce_path
bench_pair_path(void)
{
	return (struct roce_path){
		.src_mac = { { 2, 0, 192, 0, 2, 1 } },
		.dst_mac = { { 2, 0, 192, 0, 2, 2 } },
		.src_ip = address(0),
		.dst_ip = address(1),
		.udp_sport = 50001,
		.ttl = 64,
		.mtu_code = roce_mtu_code(BENCH_MTU),
	};
}

struct rte_mempool *
bench_pair_pool(void)
{
	struct rte_mempool *pool = roce_pool_create("bench", FRAMES, ROOM, (int)rte_socket_id());

	if (pool == NULL)
		bench_fail("no memory for frames");
	return pool;
}

struct roce_domain *
bench_pair_domain(struct rte_mempool *pool, unsigned int index)
{
	struct roce_domain *domain;
	struct roce_domain_config config = {
		.engines = 1,
		.hz = HZ,
		.seed = index,
		.first_qpn = 0x100,
		.first_psn = UINT32_MAX,
		.addr = { address(index) },
		.addrs = 1,
		.pool = { pool },
		.memory = roce_pool_memory,
		.notify = async_event,
	};

	must(roce_domain_create(&config, &domain), "domain");
	return domain;
}

static void
open_end(struct bench_pair *pair, unsigned int index)
{
	struct bench_end *end = &pair->end[index];
	struct roce_qp_attr attr = {
		.max_send_wr = BENCH_DEPTH,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	};

	end->domain = bench_pair_domain(pair->pool, index);
	end->engine = roce_domain_engine(end->domain, 0);
	must(roce_pd_create(roce_domain_context(end->domain), &end->pd), "pd");
	must(roce_cq_create(roce_domain_context(end->domain), BENCH_DEPTH, end, &end->send_cq),
			"send cq");
	must(roce_cq_create(roce_domain_context(end->domain), BENCH_DEPTH, end, &end->recv_cq),
			"receive cq");
	must(roce_srq_create(end->pd, BENCH_DEPTH, 1, NULL, &end->srq), "srq");
	must(roce_mr_create(end->pd, (uintptr_t)pair->memory, BENCH_MEMORY, IBV_ACCESS_LOCAL_WRITE,
			     &end->mr),
			"mr");
	end->key = roce_mr_key(end->mr);
	attr.pd = end->pd;
	attr.send_cq = end->send_cq;
	attr.recv_cq = end->recv_cq;
	attr.srq = end->srq;
	attr.owner = end;
	must(roce_qp_create(&attr, &end->qp), "qp");
}

void
bench_pair_connect(struct roce_qp *qp, unsigned int index, uint32_t dest_qp)
{
	struct roce_engine *engine = roce_qp_engine(qp);
	struct roce_qp_connect connect = {
		.path = bench_pair_path(),
		.dest_qp = dest_qp,
		.sq_psn = index == 0 ? BENCH_FIRST_PSN : FIRST_ANSWER,
		.rq_psn = index == 0 ? FIRST_ANSWER : BENCH_FIRST_PSN,
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = 14,
	};

	connect.path.src_ip = address(index);
	connect.path.dst_ip = address(!index);
	roce_engine_lock(engine);
	must(roce_qp_to_rtr(qp, &connect), "to RTR");
	must(roce_qp_to_rts(qp), "to RTS");
	roce_engine_unlock(engine);
}

void
bench_pair_open(struct bench_pair *pair, uint32_t size)
{
	*pair = (struct bench_pair){ .now = HZ, .size = size, .memory = bench_memory() };
	pair->pool = bench_pair_pool();
	for (unsigned int i = 0; i < 2; i++)
		open_end(pair, i);
	for (unsigned int i = 0; i < 2; i++)
		bench_pair_connect(pair->end[i].qp, i, roce_qp_number(pair->end[!i].qp));
}

static void
close_end(struct bench_end *end)
{
	roce_qp_destroy(end->qp);
	roce_mr_destroy(end->mr);
	must(roce_srq_destroy(end->srq), "end of the srq");
	must(roce_cq_destroy(end->recv_cq), "end of the receive cq");
	must(roce_cq_destroy(end->send_cq), "end of the send cq");
	must(roce_pd_destroy(end->pd), "end of the pd");
	roce_domain_destroy(end->domain);
}

void
bench_pair_close(struct bench_pair *pair)
{
	for (unsigned int i = 0; i < 2; i++)
		close_end(&pair->end[i]);
	if (!rte_mempool_full(pair->pool))
		bench_fail("%u frames are missing", rte_mempool_in_use_count(pair->pool));
	rte_mempool_free(pair->pool);
	free(pair->memory);
}

static struct roce_sge
piece(const struct bench_pair *pair, const struct bench_end *end, uint32_t offset, uint32_t slot)
{
	return (struct roce_sge){
		.addr = (uintptr_t)pair->memory + offset +
				(uint64_t)slot * bench_stride(pair->size),
		.length = pair->size,
		.lkey = end->key,
	};
}

struct roce_sge
bench_pair_source(struct bench_pair *pair, struct bench_end *end)
{
	end->slot = (end->slot + 1) % BENCH_SENDS;
	return piece(pair, end, BENCH_MEMORY / 2, end->slot);
}

struct roce_sge
bench_pair_target(struct bench_pair *pair, struct bench_end *end)
{
	end->slot = end->slot + 1 < bench_recvs(pair->size) ? end->slot + 1 : 0;
	return piece(pair, end, 0, end->slot);
}

void
bench_pair_post_recv(struct bench_pair *pair, struct bench_end *end)
{
	struct roce_sge sge = bench_pair_target(pair, end);
	struct roce_recv_wr wr = { .wr_id = end->slot, .sg = &sge, .num_sge = pair->size > 0 };

	must(roce_srq_post(end->srq, &wr), "posting a receive");
}

void
bench_pair_post_send(struct bench_pair *pair, struct bench_end *end, uint8_t flags)
{
	struct roce_sge sge = bench_pair_source(pair, end);
	struct roce_wr wr = {
		.wr_id = end->slot,
		.sg = &sge,
		.num_sge = pair->size > 0,
		.opcode = IBV_WR_SEND,
		.flags = flags,
	};

	must(roce_qp_post_send(end->qp, &wr), "posting a send");
}
