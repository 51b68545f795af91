/* SPDX-License-Identifier: BSD-3-Clause */

#include "spread.h"

#define FRAMES  4095u
#define SLOTS   (SPREAD_QPS * SPREAD_ASKED)
#define HEAD    (2 * sizeof(uint32_t))
#define FOREIGN 3u
#define MEMORY  ((size_t)SPREAD_MESSAGE * (SPREAD_RECVS + 2 * SLOTS))

enum ask {
	ASK_WRITE,
	ASK_SEND,
	ASK_READ,
};

void
spread_check(struct spread *s, bool good, int line)
{
	int none = 0;

	if (!good)
		__atomic_compare_exchange_n(
				&s->broken, &none, line, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool
spread_is_broken(const struct spread *s)
{
	return __atomic_load_n(&s->broken, __ATOMIC_RELAXED) != 0;
}

/* The client: what is written and sent, then what is read. The server: receives, then what is written and read. */
static uint8_t *
slot_at(const struct spread_end *end, uint32_t first, uint32_t q, uint32_t group)
{
	return end->memory +
			(first + (size_t)q * SPREAD_ASKED + group % SPREAD_ASKED) * SPREAD_MESSAGE;
}

static uint8_t *
source_of(const struct spread *s, uint32_t q, uint32_t group)
{
	return slot_at(&s->client, 0, q, group);
}

static uint8_t *
echo_of(const struct spread *s, uint32_t q, uint32_t group)
{
	return slot_at(&s->client, SLOTS, q, group);
}

static uint8_t *
target_of(const struct spread *s, uint32_t q, uint32_t group)
{
	return slot_at(&s->server, SPREAD_RECVS, q, group);
}

/* A head alone, one packet, several. */
static uint32_t
length_of(uint32_t q, uint32_t group)
{
	return (uint32_t)HEAD + (group * 977 + q * 331) % (SPREAD_MESSAGE - (uint32_t)HEAD);
}

static void
write_message(uint8_t *at, uint32_t q, uint32_t group)
{
	const uint32_t head[2] = { q, group };

	memset(at, (int)(1 + q * 29 + group * 7), SPREAD_MESSAGE);
	memcpy(at, head, HEAD);
}

/* ---- the client ---- */

static void
post(struct spread *s, uint32_t q, uint32_t group, enum ask ask)
{
	static const uint8_t opcode[] = { ROCE_WR_RDMA_WRITE, ROCE_WR_SEND, ROCE_WR_RDMA_READ };
	const struct roce_sge piece = {
		.addr = (uintptr_t)(ask == ASK_READ ? echo_of(s, q, group)
						    : source_of(s, q, group)),
		.length = length_of(q, group),
		.lkey = roce_mr_key(s->client.mr),
	};
	const struct roce_wr wr = {
		.wr_id = (uint64_t)q << 32 | group,
		.sg = &piece,
		.num_sge = 1,
		.opcode = opcode[ask],
		.flags = ask == ASK_READ ? ROCE_WR_SIGNALED : 0,
		/* A window that was bound on one engine, and a region that belongs to none. */
		.rkey = ask == ASK_WRITE ? s->window : roce_mr_key(s->server.mr),
		.remote_addr = (uintptr_t)target_of(s, q, group),
	};

	SPREAD_CHECK(s, roce_qp_post_send(s->client.qp[q], &wr) == 0);
}

static void
take_answer(struct spread *s, const struct roce_event *event)
{
	uint32_t q = (uint32_t)(event->wr_id >> 32), group = (uint32_t)event->wr_id;

	SPREAD_CHECK(s, event->status == ROCE_WC_SUCCESS && event->opcode == ROCE_WR_RDMA_READ);
	SPREAD_CHECK(s, q < SPREAD_QPS && group == s->answered[q % SPREAD_QPS]);
	SPREAD_CHECK(s,
			memcmp(echo_of(s, q, group), source_of(s, q, group), length_of(q, group)) ==
					0);
	s->answered[q % SPREAD_QPS]++;
}

bool
spread_ask(struct spread *s, uint32_t groups)
{
	struct roce_event event[16];
	unsigned int n;
	bool all = true;

	while ((n = roce_cq_poll(s->client.send_cq, event, RTE_DIM(event))) > 0) {
		for (unsigned int i = 0; i < n; i++)
			take_answer(s, &event[i]);
	}
	for (uint32_t q = 0; q < SPREAD_QPS; q++) {
		for (; s->asked[q] < groups && s->asked[q] - s->answered[q] < SPREAD_ASKED;
				s->asked[q]++) {
			write_message(source_of(s, q, s->asked[q]), q, s->asked[q]);
			for (enum ask ask = ASK_WRITE; ask <= ASK_READ; ask++)
				post(s, q, s->asked[q], ask);
		}
		all = all && s->answered[q] == groups;
	}
	return all;
}

/* ---- the server ---- */

/* Once for each time it was armed. */
static void
hear(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct spread *s = arg;

	SPREAD_CHECK(s, kind == ROCE_ENGINE_ASYNC_SRQ_LOW && owner == s && status == 0);
	SPREAD_CHECK(s,
			__atomic_add_fetch(&s->told, 1, __ATOMIC_RELEASE) <=
					__atomic_load_n(&s->armed, __ATOMIC_ACQUIRE));
}

static void
refill(struct spread *s)
{
	for (; s->idles > 0; s->idles--) {
		uint32_t slot = s->idle[s->idles - 1];
		const struct roce_sge piece = {
			.addr = (uintptr_t)s->server.memory + (size_t)slot * SPREAD_MESSAGE,
			.length = SPREAD_MESSAGE,
			.lkey = roce_mr_key(s->server.mr),
		};
		const struct roce_recv_wr wr = { .wr_id = slot, .sg = &piece, .num_sge = 1 };

		SPREAD_CHECK(s, roce_srq_post(s->srq, &wr) == 0);
		s->posted++;
	}
	/* It may be told inside. */
	__atomic_add_fetch(&s->armed, 1, __ATOMIC_RELEASE);
	SPREAD_CHECK(s, roce_srq_set_low(s->srq, SPREAD_LOW) == 0);
}

static void
take_message(struct spread *s, const struct roce_event *event)
{
	uint32_t q = (uint32_t)(uintptr_t)event->owner - 1;
	uint8_t *at = s->server.memory + event->wr_id * SPREAD_MESSAGE;
	uint8_t want[SPREAD_MESSAGE];

	SPREAD_CHECK(s, event->status == ROCE_WC_SUCCESS && event->kind == ROCE_EVENT_RECV);
	SPREAD_CHECK(s, q < SPREAD_QPS && event->wr_id < SPREAD_RECVS);
	if (spread_is_broken(s))
		return;
	/* Of each queue pair the next, whole, and nothing behind it. */
	write_message(want, q, s->next[q]);
	SPREAD_CHECK(s, event->byte_len == length_of(q, s->next[q]));
	memset(want + event->byte_len, 0, SPREAD_MESSAGE - event->byte_len);
	SPREAD_CHECK(s, memcmp(at, want, SPREAD_MESSAGE) == 0);
	memset(at, 0, SPREAD_MESSAGE);
	s->next[q]++;
	s->idle[s->idles++] = (uint32_t)event->wr_id;
}

unsigned int
spread_serve(struct spread *s)
{
	struct roce_event event[16];
	unsigned int reaped = 0;

	for (unsigned int c = 0; c < RTE_DIM(s->server.recv_cq); c++) {
		unsigned int n = roce_cq_poll(s->server.recv_cq[c], event, RTE_DIM(event));

		for (unsigned int i = 0; i < n; i++)
			take_message(s, &event[i]);
		reaped += n;
	}
	s->reaped += reaped;
	if (__atomic_load_n(&s->told, __ATOMIC_ACQUIRE) == s->armed)
		refill(s);
	return reaped;
}

/* ---- the ends ---- */

static const struct spread_end *
end_at(const struct spread *s, unsigned int i)
{
	return i == 0 ? &s->client : &s->server;
}

static void
open_end_device(struct spread *s, struct spread_end *end, unsigned int i)
{
	struct roce_attach_config config = embed_handover((uint8_t)(i + 1));
	char params[256], errmsg[256];

	/* Numbers, and so source ports and what is made of them, are those of every run. */
	snprintf(params, sizeof(params), "%s seed=%u %s", config.params, i + 1,
			s->params != NULL ? s->params : "");
	if (s->mode == SPREAD_OWN) {
		char text[512];

		snprintf(text, sizeof(text), "port=%s queues=%u mtu=1024 %s", spread_port_name(i),
				s->engines, params);
		if (roce_device_open(text, &end->device, errmsg, sizeof(errmsg)) != 0)
			fail_msg("%s: %s", text, errmsg);
		return;
	}
	end->pool = spread_pool(i == 0 ? "client" : "server", FRAMES);
	config.engines = s->engines;
	config.params = params;
	for (unsigned int e = 0; e < s->engines; e++) {
		config.pool[e] = end->pool;
		config.rx_queue[e] = (uint16_t)e;
		config.tx_queue[e] = (uint16_t)e;
	}
	if (s->mode == SPREAD_QUEUES) {
		config.mode = ROCE_ATTACH_QUEUES;
		config.port_id = s->port[i];
	}
	end->device = embed_attach(&config);
}

static void
make_objects(struct spread *s, struct spread_end *end)
{
	const unsigned int access =
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	struct roce_context *context = &end->user.context;

	end->memory = calloc(1, MEMORY);
	assert_non_null(end->memory);
	assert_int_equal(roce_pd_create(context, &end->pd), 0);
	assert_int_equal(roce_mr_create(end->pd, (uintptr_t)end->memory, MEMORY, access, &end->mr),
			0);
	assert_int_equal(roce_cq_create(context, 2 * SLOTS, NULL, &end->send_cq), 0);
	for (unsigned int c = 0; c < RTE_DIM(end->recv_cq); c++)
		assert_int_equal(roce_cq_create(context, SPREAD_RECVS, NULL, &end->recv_cq[c]), 0);
	if (end == &s->server)
		assert_int_equal(roce_srq_create(end->pd, SPREAD_RECVS, 1, s, &s->srq), 0);
}

static void
make_queue_pairs(struct spread *s, struct spread_end *end)
{
	for (uint32_t q = 0; q < SPREAD_QPS; q++) {
		const struct roce_qp_attr attr = {
			.pd = end->pd,
			.send_cq = end->send_cq,
			/* Each queue is fed by every engine. */
			.recv_cq = end->recv_cq[q / SPREAD_ENGINES % RTE_DIM(end->recv_cq)],
			.srq = end == &s->server ? s->srq : NULL,
			.max_send_wr = 3 * SPREAD_ASKED,
			.max_send_sge = 1,
			.max_dest_rd_atomic = SPREAD_ASKED,
			.owner = (void *)(uintptr_t)(q + 1),
		};

		assert_int_equal(roce_qp_create(&attr, &end->qp[q]), 0);
	}
}

static void
open_end(struct spread *s, struct spread_end *end)
{
	open_end_device(s, end, end == &s->server);
	end->user = (struct roce_device_user){ .notify = hear, .arg = s };
	roce_device_join(end->device, &end->user);
	make_objects(s, end);
	make_queue_pairs(s, end);
}

static void
connect_qp(const struct spread *s, const struct spread_end *from, const struct spread_end *to,
		uint32_t q)
{
	struct roce_engine *engine = roce_qp_engine(from->qp[q]);
	const struct roce_port *here = from->device->port, *there = to->device->port;
	const struct roce_qp_connect connect = {
		.path = {
			.src_mac = here->mac,
			.dst_mac = there->mac,
			.src_ip = from->device->args.ip.at[s->address].addr,
			.dst_ip = to->device->args.ip.at[s->address].addr,
			.vlan_tci = here->vlan_tci,
			.ttl = 64,
			.mtu_code = here->mtu_code,
		},
		.dest_qp = roce_qp_number(to->qp[q]),
		.rq_psn = roce_qp_first_psn(to->qp[q]),
		.sq_psn = roce_qp_first_psn(from->qp[q]),
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 1,
		/* A processor that stands still for a second breaks nothing. */
		.ack_timeout = 20,
		.max_rd_atomic = SPREAD_ASKED,
		.max_dest_rd_atomic = SPREAD_ASKED,
	};

	roce_engine_lock(engine);
	assert_int_equal(roce_qp_to_rtr(from->qp[q], &connect), 0);
	assert_int_equal(roce_qp_to_rts(from->qp[q]), 0);
	roce_engine_unlock(engine);
}

/* On the engine of one queue pair; those on the others will serve it. */
static void
bind_window(struct spread *s)
{
	struct roce_mw_bind bind = {
		.mr_key = roce_mr_key(s->server.mr),
		.access = IBV_ACCESS_REMOTE_WRITE,
		.addr = (uintptr_t)s->server.memory + (size_t)SPREAD_RECVS * SPREAD_MESSAGE,
		.length = (uint64_t)SLOTS * SPREAD_MESSAGE,
	};
	struct roce_wr wr = { .bind = &bind, .opcode = ROCE_WR_BIND_MW, .flags = ROCE_WR_SIGNALED };
	struct roce_event event;

	assert_int_equal(roce_mw_create(s->server.pd, s, &s->mw), 0);
	bind.mw = s->mw;
	assert_int_equal(roce_qp_post_send(s->server.qp[0], &wr), 0);
	while (roce_cq_poll(s->server.send_cq, &event, 1) == 0) {
		for (unsigned int e = 0; e < s->engines; e++)
			spread_poll(s, &s->server, e);
	}
	assert_int_equal(event.status, ROCE_WC_SUCCESS);
	s->window = bind.key;
}

void
spread_open(struct spread *s)
{
	spread_wire_open(s);
	open_end(s, &s->client);
	open_end(s, &s->server);
	for (uint32_t q = 0; q < SPREAD_QPS; q++) {
		connect_qp(s, &s->client, &s->server, q);
		connect_qp(s, &s->server, &s->client, q);
	}
	for (; s->idles < SPREAD_RECVS; s->idles++)
		s->idle[s->idles] = s->idles;
	refill(s);
	bind_window(s);
}

static void
close_end(struct spread *s, struct spread_end *end)
{
	for (uint32_t q = 0; q < SPREAD_QPS; q++)
		roce_qp_destroy(end->qp[q]);
	if (end == &s->server) {
		roce_mw_destroy(s->mw);
		assert_int_equal(roce_srq_destroy(s->srq), 0);
	}
	for (unsigned int c = 0; c < RTE_DIM(end->recv_cq); c++)
		assert_int_equal(roce_cq_destroy(end->recv_cq[c]), 0);
	assert_int_equal(roce_cq_destroy(end->send_cq), 0);
	assert_int_equal(roce_mr_destroy(end->mr), 0);
	assert_int_equal(roce_pd_destroy(end->pd), 0);
	roce_device_leave(end->device, &end->user);
	roce_device_close(end->device);
	free(end->memory);
}

/* Each message was taken once, and each receive is on the queue or in our hands. */
static void
judge_end(struct spread *s)
{
	struct roce_srq_counts counts;
	uint64_t messages = 0;

	if (spread_is_broken(s))
		fail_msg("line %d of spread.c or the test", s->broken);
	for (uint32_t q = 0; q < SPREAD_QPS; q++) {
		assert_int_equal(s->next[q], s->answered[q]);
		messages += s->answered[q];
	}
	assert_int_equal(s->reaped, messages);
	roce_srq_query(s->srq, &counts);
	assert_int_equal(counts.outstanding, s->posted - s->reaped);
	assert_int_equal(counts.available, counts.outstanding);
	assert_int_equal(counts.outstanding + s->idles, SPREAD_RECVS);
	assert_int_equal(counts.armed, s->told < s->armed);
}

void
spread_close(struct spread *s)
{
	judge_end(s);
	close_end(s, &s->client);
	close_end(s, &s->server);
	spread_wire_close(s);
	for (unsigned int i = 0; i < 2; i++) {
		if (end_at(s, i)->pool != NULL)
			embed_pool_end(end_at(s, i)->pool);
	}
}

/* ---- polls ---- */

/* A burst as the program received it: ours, and before each of them perhaps one of somebody else. */
static uint16_t
mingle(struct spread *s, struct rte_mbuf **burst, struct rte_mbuf **pkts, uint16_t n,
		struct embed_shadow *shadow)
{
	static const enum embed_kind kinds[FOREIGN] = { EMBED_VLAN, EMBED_ELSEWHERE, EMBED_BROKEN };
	uint16_t all = 0;

	for (uint16_t i = 0; i < FOREIGN; i++) {
		if (i < n)
			burst[all++] = pkts[i];
		burst[all] = embed_frame(s->foreign, kinds[i], i);
		embed_remember(&shadow[i], burst[all++]);
	}
	for (uint16_t i = FOREIGN; i < n; i++)
		burst[all++] = pkts[i];
	return all;
}

static void
take_among_foreign(struct spread *s, struct spread_end *end, unsigned int engine,
		struct rte_mbuf **pkts, uint16_t n)
{
	struct rte_mbuf *burst[EMBED_BURST + FOREIGN];
	struct embed_shadow shadow[FOREIGN];
	uint16_t left = roce_device_rx(
			end->device, engine, burst, mingle(s, burst, pkts, n, shadow));

	assert_int_equal(left, FOREIGN);
	for (uint16_t i = 0; i < left; i++)
		embed_compare(&shadow[i], burst[i]);
	rte_pktmbuf_free_bulk(burst, left);
}

/* One poll in SPREAD_HANDOVER: the program hands in received frames, and carries away those that the engine sends. */
static unsigned int
hand(struct spread *s, struct spread_end *end, unsigned int engine)
{
	unsigned int i = end == &s->server;
	struct rte_mbuf *pkts[EMBED_BURST];
	uint16_t n = (uint16_t)rte_ring_dequeue_burst(
			s->to[i][engine], (void **)pkts, EMBED_BURST / 2, NULL);
	uint16_t sent;

	if (s->foreign != NULL)
		take_among_foreign(s, end, engine, pkts, n);
	else
		SPREAD_CHECK(s, roce_device_rx(end->device, engine, pkts, n) == 0);
	sent = roce_device_tx(end->device, engine, pkts, EMBED_BURST);
	SPREAD_CHECK(s,
			rte_ring_enqueue_bulk(s->from[i][engine], (void **)pkts, sent, NULL) ==
					sent);
	return (unsigned int)n + sent;
}

unsigned int
spread_poll(struct spread *s, struct spread_end *end, unsigned int engine)
{
	return s->mode == SPREAD_HANDOVER ? hand(s, end, engine)
					  : roce_device_poll_engine(end->device, engine);
}
