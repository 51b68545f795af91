/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "queue/domain.h"
#include "queue/qp.h"
#include "queue/srq.h"
#include "fixture.h"
#include "wire/icrc.h"

/* ---- memory ---- */

static unsigned int live; /* atomic: objects may end on any thread */
static unsigned int until_failure;
static bool failed;

static void *
counted_alloc(void *arg, size_t size)
{
	size_t rounded = RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE);
	void *p;

	if (until_failure > 0 && --until_failure == 0) {
		failed = true;
		return NULL;
	}
	if (posix_memalign(&p, RTE_CACHE_LINE_SIZE, rounded) != 0)
		abort();
	memset(p, 0, rounded);
	__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return p;
}

static void
counted_free(void *arg, void *p)
{
	if (p != NULL)
		__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	free(p);
}

const struct roce_memory fx_memory = { .alloc = counted_alloc, .free = counted_free };

unsigned int
fx_live(void)
{
	return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

void
fx_fail(unsigned int nth)
{
	until_failure = nth;
	failed = false;
}

bool
fx_failed(void)
{
	return failed;
}

/* ---- ends and queue pairs ---- */

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

struct roce_qp_attr
fx_attr(const struct fx_end *end)
{
	return (struct roce_qp_attr){
		.pd = end->pd,
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.max_send_wr = 256,
		.max_recv_wr = 16,
		.max_send_sge = 4,
		.max_recv_sge = 4,
	};
}

struct roce_qp *
fx_qp(struct fx_end *end, const struct roce_qp_attr *attr)
{
	const struct roce_qp_attr ordinary = fx_attr(end);
	struct roce_qp *qp = NULL;

	assert_int_equal(roce_qp_create(attr != NULL ? attr : &ordinary, &qp), 0);
	return qp;
}

struct roce_qp_connect
fx_connect(const struct fx_end *end, struct roce_ip ip, uint32_t dest_qp)
{
	return (struct roce_qp_connect){
		.path = {
			.src_mac = { { 2, 0, 0, 0, 0, 1 } },
			.dst_mac = { { 2, 0, 0, 0, 0, 2 } },
			.src_ip = end->ip,
			.dst_ip = ip,
			.udp_sport = 50001,
			.ttl = 64,
			.mtu_code = roce_mtu_code(FX_MTU),
		},
		.dest_qp = dest_qp,
		.rq_psn = FX_RQ_PSN,
		.sq_psn = FX_SQ_PSN,
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = 14,
	};
}

void
fx_up(struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	struct roce_engine *e = roce_qp_engine(qp);

	roce_engine_lock(e);
	assert_int_equal(roce_qp_to_rtr(qp, connect), 0);
	assert_int_equal(roce_qp_to_rts(qp), 0);
	roce_engine_unlock(e);
}

static void
change(struct roce_qp *qp, void (*state)(struct roce_qp *qp))
{
	roce_engine_lock(roce_qp_engine(qp));
	state(qp);
	roce_engine_unlock(roce_qp_engine(qp));
}

void
fx_to_error(struct roce_qp *qp)
{
	change(qp, roce_qp_to_error);
}

void
fx_to_reset(struct roce_qp *qp)
{
	change(qp, roce_qp_to_reset);
}

void
fx_drain(struct roce_qp *qp)
{
	change(qp, roce_qp_drain);
}

struct fx_peer
fx_peer_of(const struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	struct roce_path path = connect->path;
	struct fx_peer peer;

	path.src_ip = connect->path.dst_ip;
	path.dst_ip = connect->path.src_ip;
	roce_template_init(&peer.template, &path, roce_qp_number(qp), false);
	return peer;
}

struct roce_qp *
fx_play(struct fx_end *end, const struct roce_qp_attr *attr, const struct roce_qp_connect *connect,
		struct fx_peer *peer)
{
	struct roce_qp *qp = fx_qp(end, attr);

	fx_up(qp, connect);
	*peer = fx_peer_of(qp, connect);
	return qp;
}

struct roce_qp *
fx_played_qp(struct fx_end *end, struct fx_peer *peer)
{
	const struct roce_qp_connect connect = fx_connect(end, fx_ip(99), 0x777);

	return fx_play(end, NULL, &connect, peer);
}

void
fx_join_reading(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb,
		uint8_t depth)
{
	struct roce_qp_connect ca = fx_connect(a, b->ip, roce_qp_number(qb));
	struct roce_qp_connect cb = fx_connect(b, a->ip, roce_qp_number(qa));

	cb.sq_psn = ca.rq_psn;
	cb.rq_psn = ca.sq_psn;
	ca.max_rd_atomic = ca.max_dest_rd_atomic = depth;
	cb.max_rd_atomic = cb.max_dest_rd_atomic = depth;
	fx_up(qa, &ca);
	fx_up(qb, &cb);
}

void
fx_join(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb)
{
	fx_join_reading(a, qa, b, qb, 0);
}

/* ---- work ---- */

int
fx_send(struct fx_end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len,
		uint8_t flags)
{
	const struct roce_sge sge = { (uintptr_t)end->memory + offset, len, end->key };
	const struct roce_wr wr = {
		.wr_id = wr_id,
		.sg = &sge,
		.num_sge = len > 0,
		.opcode = IBV_WR_SEND,
		.flags = flags,
	};

	return roce_qp_post_send(qp, &wr);
}

void
fx_send_many(struct fx_end *end, struct roce_qp *qp, uint32_t n, uint32_t len, uint8_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fx_send(end, qp, i, 0, len, flags), 0);
}

uint32_t
fx_requests(const struct roce_qp *qp)
{
	uint32_t requests, receives;

	roce_qp_depth(qp, &requests, &receives);
	return requests;
}

uint32_t
fx_receives(const struct roce_qp *qp)
{
	uint32_t requests, receives;

	roce_qp_depth(qp, &requests, &receives);
	return receives;
}

struct roce_recv_wr
fx_recv(const struct fx_end *end, struct roce_sge *sge, uint64_t wr_id, uint32_t offset,
		uint32_t len)
{
	*sge = (struct roce_sge){ (uintptr_t)end->memory + offset, len, end->key };
	return (struct roce_recv_wr){ .wr_id = wr_id, .sg = sge, .num_sge = 1 };
}

void
fx_fill_srq(struct fx_end *end, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++) {
		struct roce_sge sge;
		struct roce_recv_wr wr = fx_recv(end, &sge, i, 0, len);

		assert_int_equal(roce_srq_post(end->srq, &wr), 0);
	}
}

/* ---- frames ---- */

struct rte_mbuf *
fx_request(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, unsigned flags)
{
	const struct roce_frame_spec spec = {
		.psn = psn,
		.opcode = opcode,
		.ack_req = flags & FX_ACKREQ,
		.solicited = flags & FX_SOLICITED,
		.payload_len = len,
	};
	const struct roce_opcode_info *op = &roce_opcode[opcode];
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	const uint32_t imm = FX_IMM;
	uint8_t *ext = roce_frame_build(m, &peer->template, &spec);
	uint8_t *payload = ext + op->header_len - sizeof(struct roce_bth);

	memset(ext, 0, op->header_len - sizeof(struct roce_bth));
	if (op->flags & ROCE_OP_IMM)
		memcpy(ext - sizeof(struct roce_bth) + op->imm_off, &imm, sizeof(imm));
	for (uint32_t i = 0; i < len; i++)
		payload[i] = (uint8_t)(psn + i);
	roce_icrc_put(m, &peer->template);
	return m;
}

struct rte_mbuf *
fx_answer(struct fx_peer *peer, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
	const struct roce_frame_spec spec = { .psn = psn, .opcode = IBV_OPCODE_RC_ACKNOWLEDGE };
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	const rte_be32_t word = roce_aeth_pack(syndrome, msn);

	memcpy(roce_frame_build(m, &peer->template, &spec), &word, sizeof(word));
	roce_icrc_put(m, &peer->template);
	return m;
}

static void
give(struct fx_end *end, struct rte_mbuf **pkts, uint16_t n)
{
	roce_engine_lock(end->engine);
	assert_int_equal(roce_engine_rx(end->engine, pkts, n, end->now), 0);
	roce_engine_unlock(end->engine);
}

void
fx_rx(struct fx_end *end, struct rte_mbuf *m)
{
	give(end, &m, 1);
}

void
fx_rx_request(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len,
		unsigned flags)
{
	fx_rx(end, fx_request(peer, opcode, psn, len, flags));
}

void
fx_rx_answer(struct fx_end *end, struct fx_peer *peer, uint8_t syndrome, uint32_t psn)
{
	fx_rx(end, fx_answer(peer, syndrome, psn, 0));
}

uint16_t
fx_take(struct fx_end *end, struct rte_mbuf **pkts, uint16_t max)
{
	uint16_t n;

	roce_engine_lock(end->engine);
	n = roce_engine_tx(end->engine, pkts, max, end->now);
	roce_engine_unlock(end->engine);
	return n;
}

/* Every frame that leaves is well formed and has a good ICRC, whatever the test is about. */
static struct fx_sent
dissect(const struct fx_end *end, struct rte_mbuf *m)
{
	struct roce_pkt pkt;
	struct fx_sent sent;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	sent = (struct fx_sent){
		.at = end->now,
		.dest_qp = pkt.dest_qp,
		.psn = pkt.psn,
		.payload_len = pkt.payload_len,
		.opcode = pkt.opcode,
		.ack_req = pkt.ack_req,
		.solicited = pkt.solicited,
	};
	if (pkt.op->flags & ROCE_OP_IMM)
		sent.imm = roce_pkt_imm(&pkt);
	if (pkt.op->flags & ROCE_OP_AETH) {
		sent.syndrome = roce_aeth_syndrome(roce_pkt_aeth(&pkt));
		sent.msn = roce_aeth_msn(roce_pkt_aeth(&pkt));
	}
	if (pkt.op->flags & ROCE_OP_RETH) {
		sent.va = rte_be_to_cpu_64(roce_pkt_reth(&pkt)->va);
		sent.length = rte_be_to_cpu_32(roce_pkt_reth(&pkt)->length);
	}
	if (pkt.payload_len > 0)
		sent.first = *rte_pktmbuf_mtod_offset(m, uint8_t *, pkt.payload_off);
	rte_pktmbuf_free(m);
	return sent;
}

unsigned int
fx_tx(struct fx_end *end, struct fx_sent *sent, unsigned int max)
{
	struct rte_mbuf *pkts[32];
	unsigned int total = 0;
	uint16_t n;

	while (total < max && (n = fx_take(end, pkts, (uint16_t)RTE_MIN(32u, max - total))) > 0) {
		for (uint16_t i = 0; i < n; i++)
			sent[total++] = dissect(end, pkts[i]);
	}
	return total;
}

static struct fx_sent log_of_sent[FX_SENT];

const struct fx_sent *
fx_tx_all(struct fx_end *end, unsigned int *n)
{
	*n = fx_tx(end, log_of_sent, FX_SENT);
	return log_of_sent;
}

const struct fx_sent *
fx_tx_exactly(struct fx_end *end, unsigned int n)
{
	assert_int_equal(fx_tx_drop(end), n);
	return log_of_sent;
}

unsigned int
fx_tx_drop(struct fx_end *end)
{
	return fx_tx(end, log_of_sent, FX_SENT);
}

struct fx_sent
fx_tx_one(struct fx_end *end)
{
	return fx_tx_exactly(end, 1)[0];
}

void
fx_tx_none(struct fx_end *end)
{
	assert_int_equal(fx_tx_drop(end), 0);
}

static unsigned int
carry(struct fx_end *from, struct fx_end *to)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = fx_take(from, pkts, 32);

	give(to, pkts, n);
	return n;
}

void
fx_exchange(struct fx_end *a, struct fx_end *b)
{
	while (carry(a, b) + carry(b, a) > 0)
		;
}

const struct fx_sent *
fx_run(struct fx_end *end, uint64_t until, unsigned int *n)
{
	unsigned int total = 0;

	for (;;) {
		uint64_t deadline;

		total += fx_tx(end, log_of_sent + total, FX_SENT - total);
		assert_true(total < FX_SENT);
		roce_engine_lock(end->engine);
		deadline = roce_engine_deadline(end->engine);
		roce_engine_unlock(end->engine);
		if (deadline > until)
			break;
		end->now = RTE_MAX(deadline, end->now + 1);
	}
	end->now = until;
	*n = total;
	return log_of_sent;
}

/* ---- what came of it ---- */

struct roce_event
fx_event(struct roce_cq *cq)
{
	struct roce_event event[2];

	memset(event, 0, sizeof(event));
	assert_int_equal(roce_cq_count(cq), 1);
	assert_int_equal(roce_cq_poll(cq, event, 2), 1);
	return event[0];
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
