/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_world.h"

struct world *world;
struct end *active, *passive;

static void *
world_alloc(void *arg, size_t size)
{
	size_t whole = RTE_ALIGN_CEIL(size, RTE_CACHE_LINE_SIZE);
	void *p;

	if (world->alloc_fails_at == 0)
		return NULL;
	if (world->alloc_fails_at > 0)
		world->alloc_fails_at--;
	p = aligned_alloc(RTE_CACHE_LINE_SIZE, whole);
	assert_non_null(p);
	world->allocated++;
	return memset(p, 0, whole);
}

static void
world_free(void *arg, void *p)
{
	if (p != NULL)
		world->allocated--;
	free(p);
}

struct end *
other(struct end *end)
{
	return end == active ? passive : active;
}

static int
world_resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now)
{
	static const struct roce_ip any;
	struct end *end = arg;

	end->resolves++;
	*path = (struct roce_path){
		.src_mac = end->mac,
		.dst_mac = other(end)->mac,
		.src_ip = roce_ip_equal(src, &any) ? end->ip : *src,
		.dst_ip = *dst,
		.vlan_tci = end->vlan_tci,
		.tos = end->tos,
		.ttl = 64,
		.mtu_code = end->mtu_code,
	};
	return end->resolve_rc;
}

struct roce_cm_param
offer(struct end *end, const char *text)
{
	return (struct roce_cm_param){
		.qpn = end->next_qpn++,
		.psn = 0x123456,
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry = 7,
		.rnr_retry = 7,
		.ack_timeout = 14,
		.private_data = text,
		.private_len = text != NULL ? (uint16_t)strlen(text) + 1 : 0,
	};
}

static int
answer_request(struct end *end, const struct roce_cm_event *event)
{
	struct roce_cm_param param;

	switch (end->policy) {
	case POLICY_ACCEPT:
		param = offer(end, "world");
		assert_int_equal(roce_cm_accept(event->conn, &param, event->conn, world->now), 0);
		return 0;
	case POLICY_REJECT:
		assert_int_equal(roce_cm_reject(event->conn, ROCE_CM_REJ_CONSUMER, "no", 3,
						 world->now),
				0);
		return 0;
	case POLICY_REFUSE:
		return -ENOBUFS;
	default:
		return 0;
	}
}

bool
is_down(enum roce_cm_event_kind kind)
{
	return kind >= ROCE_CM_REJECTED;
}

static int
world_notify(void *arg, const struct roce_cm_event *event)
{
	struct end *end = arg;
	struct told *told = &end->told[end->events];
	int rc = 0;

	assert_true(end->events++ < EVENTS_MAX);
	*told = (struct told){
		.kind = event->kind,
		.conn = event->conn,
		.owner = event->owner,
		.reason = event->reason,
		.path = *event->path,
		.at = world->now,
	};
	if (event->peer != NULL) {
		told->peer = *event->peer;
		told->private_len = event->peer->private_len;
		if (told->private_len != 0)
			memcpy(told->private_data, event->peer->private_data, told->private_len);
	}
	if (event->kind == ROCE_CM_REQUEST)
		rc = answer_request(end, event);
	else if (event->kind == ROCE_CM_REPLY)
		rc = end->reply_rc;
	if (end->also != NULL)
		end->also(end, event);
	if (event->kind == ROCE_CM_ESTABLISHED && end->end_on_up)
		assert_true(roce_cm_disconnect(event->conn, world->now));
	if (is_down(event->kind) && end->release_on_down)
		roce_cm_release(event->conn, world->now);
	return rc;
}

struct roce_cm_config
world_config(struct end *end)
{
	return (struct roce_cm_config){
		.hz = SECOND,
		.seed = 1 + (uint64_t)(end - world->end),
		.ca_guid = UINT64_C(0x020000fffe00000b),
		.pool = unit_pool(),
		.memory = { world_alloc, world_free, NULL },
		.connections_max = 1100,
		.resolve = world_resolve,
		.resolve_arg = end,
		.notify = world_notify,
		.notify_arg = end,
	};
}

void
world_reset(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct end *end = &world->end[i];

		end->events = 0;
		end->policy = POLICY_ACCEPT;
		end->resolve_rc = 0;
		end->resolves = 0;
		end->reply_rc = 0;
		end->mtu_code = 3;
		end->end_on_up = false;
		end->release_on_down = false;
		end->also = NULL;
	}
	world->sent = 0;
	world->lose = 0;
	world->twice = 0;
	world->lose_all = false;
	world->burst = 32;
}

int
setup(void **state)
{
	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	active = &world->end[0];
	passive = &world->end[1];
	world->alloc_fails_at = -1;
	world->now = 5 * SECOND;
	for (unsigned int i = 0; i < 2; i++) {
		struct end *end = &world->end[i];
		struct roce_cm_config config;

		end->ip = roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201 + i));
		end->mac = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, (uint8_t)(i + 1) } };
		end->next_qpn = 0x100 + (i << 16);
		config = world_config(end);
		assert_int_equal(roce_cm_create(&config, &end->cm), 0);
		roce_cm_gsi(end->cm, &end->gsi);
	}
	world_reset();
	return 0;
}

int
teardown(void **state)
{
	while (world->flying > 0)
		rte_pktmbuf_free(world->flight[--world->flying].m);
	roce_cm_destroy(active->cm);
	roce_cm_destroy(passive->cm);
	assert_int_equal(world->allocated, 0);
	assert_true(unit_pool_is_full());
	free(world);
	return 0;
}

void
world_again(void)
{
	teardown(NULL);
	setup(NULL);
}

static void
fly(struct end *to, struct rte_mbuf *m)
{
	assert_true(world->flying < FLIGHT_MAX);
	world->flight[world->flying++] = (struct flight){ m, to, world->now + LATENCY };
}

static void
send_one(struct end *from, struct rte_mbuf *m)
{
	uint64_t bit = world->sent < 64 ? UINT64_C(1) << world->sent : 0;

	world->sent++;
	world->last_len = rte_pktmbuf_pkt_len(m);
	assert_true(world->last_len <= sizeof(world->last));
	memcpy(world->last, rte_pktmbuf_mtod(m, void *), world->last_len);
	if (world->lose_all || (world->lose & bit) != 0) {
		rte_pktmbuf_free(m);
		return;
	}
	if ((world->twice & bit) != 0)
		fly(other(from), unit_mbuf(world->last, world->last_len));
	fly(other(from), m);
}

void
world_deliver(struct end *to, struct rte_mbuf *m)
{
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	assert_int_equal(pkt.dest_qp, ROCE_QPN_GSI);
	to->gsi.rx(to->gsi.arg, &pkt, world->now);
	rte_pktmbuf_free(m);
}

bool
world_poll(void)
{
	struct rte_mbuf *pkts[32];
	bool busy = false;
	uint16_t n;

	for (unsigned int i = 0; i < 2; i++) {
		struct end *end = &world->end[i];

		/* As an engine does. */
		n = world->now >= *end->gsi.at
				? end->gsi.tx(end->gsi.arg, pkts, world->burst, world->now)
				: 0;
		assert_true(n <= world->burst);
		for (uint16_t k = 0; k < n; k++)
			send_one(end, pkts[k]);
		busy |= n != 0;
	}
	for (unsigned int i = 0; i < world->flying;) {
		struct flight flight = world->flight[i];

		if (flight.at > world->now) {
			i++;
			continue;
		}
		/* In the order of sending. */
		memmove(&world->flight[i], &world->flight[i + 1],
				(--world->flying - i) * sizeof(flight));
		world_deliver(flight.to, flight.m);
		busy = true;
	}
	return busy;
}

/* When the next frame arrives. */
static uint64_t
world_arrival(void)
{
	uint64_t next = ROCE_NEVER;

	for (unsigned int i = 0; i < world->flying; i++)
		next = RTE_MIN(next, world->flight[i].at);
	return next;
}

uint64_t
world_next(void)
{
	uint64_t next = world_arrival();

	for (unsigned int i = 0; i < 2; i++)
		next = RTE_MIN(next, world->end[i].gsi.deadline(world->end[i].gsi.arg));
	return next;
}

void
world_run(uint64_t until)
{
	unsigned int idle = 0;

	for (;;) {
		uint64_t next;

		if (world_poll()) {
			idle = 0;
			continue;
		}
		next = world_next();
		/* A wait for a buffer is a wait for the frames in flight. */
		if (next <= world->now && world->flying > 0)
			next = world_arrival();
		/* A deadline may be early, but not for ever. */
		assert_true(next > world->now || ++idle < 8);
		if (next > until || next == ROCE_NEVER)
			break;
		if (next > world->now) {
			world->now = next;
			idle = 0;
		}
	}
	if (until != ROCE_NEVER)
		world->now = RTE_MAX(world->now, until);
}

void
world_run_ms(uint64_t ms)
{
	world_run(world->now + ms * MS);
}

void
world_settle(void)
{
	world_run(ROCE_NEVER);
}

struct roce_cm_listener *
world_listen(struct end *end, uint32_t backlog)
{
	struct roce_cm_listener *listener = NULL;

	assert_int_equal(roce_cm_listen(end->cm, NULL, SERVICE, backlog, end, &listener), 0);
	return listener;
}

struct roce_cm_conn *
world_connect(struct end *end, uint64_t timeout_us)
{
	struct roce_cm_conn *conn = NULL;
	struct roce_cm_connect connect = {
		.dst = other(end)->ip,
		.service_id = SERVICE,
		.local = offer(end, "hello"),
		.timeout_us = timeout_us,
	};

	assert_int_equal(roce_cm_connect(end->cm, NULL, &connect, end, world->now, &conn), 0);
	return conn;
}
