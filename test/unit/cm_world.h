/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CM_WORLD_H
#define ROCE_TEST_CM_WORLD_H

/**
 * @file
 * Two connection managers, a wire between them and a clock that only moves when nothing else does.
 *
 * The wire can lose and double chosen frames, counted from the first one sent since world_reset(). One tick
 * is a nanosecond. Each end writes down what it was told and behaves as its `policy` says.
 */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm/cm_action.h"
#include "cm/cm_fsm.h"
#include "cm/cm_pvt.h"
#include "cm/cm_table.h"
#include "wire/icrc.h"

#define MS         UINT64_C(1000000)
#define SECOND     UINT64_C(1000000000)
#define LATENCY    UINT64_C(10000)
#define SERVICE    (ROCE_CM_SERVICE_TCP + 7471)
#define EVENTS_MAX 8192
#define FLIGHT_MAX 4096

enum policy {
	POLICY_ACCEPT, /**< from inside the notify */
	POLICY_HOLD,   /**< accept or reject comes later, or never */
	POLICY_REJECT, /**< from inside the notify, with private data */
	POLICY_REFUSE, /**< the notify returns an error */
};

struct told {
	enum roce_cm_event_kind kind;
	struct roce_cm_conn *conn;
	void *owner;
	uint16_t reason;
	uint16_t private_len;
	char private_data[ROCE_CM_PRIVATE_MAX_REP];
	struct roce_cm_param peer;
	struct roce_path path;
	uint64_t at;
};

struct world;

struct end {
	struct world *world;
	struct roce_cm *cm;
	struct roce_gsi gsi;
	struct roce_ip ip;
	struct rte_ether_addr mac;
	uint8_t mtu_code;
	uint8_t tos; /**< of its own ways, as is the tag */
	uint16_t vlan_tci;
	enum policy policy;
	int resolve_rc;
	unsigned int resolves;
	int reply_rc;
	uint32_t next_qpn;
	bool end_on_up;       /**< disconnect from inside ESTABLISHED */
	bool release_on_down; /**< release from inside DISCONNECTED, REJECTED, TIMED_OUT, UNREACHABLE */
	/** More to do inside a notify; may be NULL. */
	void (*also)(struct end *end, const struct roce_cm_event *event);
	unsigned int events;
	struct told told[EVENTS_MAX];
};

struct flight {
	struct rte_mbuf *m;
	struct end *to;
	uint64_t at;
};

struct world {
	struct end end[2];
	uint64_t now;
	uint64_t sent;  /**< frames since the reset */
	uint64_t lose;  /**< bit n: frame n is lost */
	uint64_t twice; /**< bit n: frame n comes twice */
	bool lose_all;
	uint16_t burst;
	unsigned int flying;
	struct flight flight[FLIGHT_MAX];
	uint8_t last[512]; /**< the last frame sent, lost or not */
	uint32_t last_len;
	long allocated;
	long alloc_fails_at; /**< this many allocations from now succeed; negative: all */
};

static inline void *
world_alloc(void *arg, size_t size)
{
	struct world *world = arg;
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

static inline void
world_free(void *arg, void *p)
{
	struct world *world = arg;

	if (p != NULL)
		world->allocated--;
	free(p);
}

static inline struct end *
other(struct end *end)
{
	return &end->world->end[end == &end->world->end[0]];
}

static inline int
world_resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		struct roce_path *path, uint64_t now)
{
	struct end *end = arg;

	end->resolves++;
	*path = (struct roce_path){
		.src_mac = end->mac,
		.dst_mac = other(end)->mac,
		.src_ip = end->ip,
		.dst_ip = *dst,
		.vlan_tci = end->vlan_tci,
		.tos = end->tos,
		.ttl = 64,
		.mtu_code = end->mtu_code,
	};
	return end->resolve_rc;
}

/** What an end offers: a queue pair number of its own each time. */
static inline struct roce_cm_param
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

static inline int
answer_request(struct end *end, const struct roce_cm_event *event)
{
	struct roce_cm_param param;

	switch (end->policy) {
	case POLICY_ACCEPT:
		param = offer(end, "world");
		assert_int_equal(roce_cm_accept(event->conn, &param, event->conn, end->world->now),
				0);
		return 0;
	case POLICY_REJECT:
		assert_int_equal(roce_cm_reject(event->conn, ROCE_CM_REJ_CONSUMER, "no", 3,
						 end->world->now),
				0);
		return 0;
	case POLICY_REFUSE:
		return -ENOBUFS;
	default:
		return 0;
	}
}

static inline bool
is_down(enum roce_cm_event_kind kind)
{
	return kind >= ROCE_CM_REJECTED;
}

static inline int
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
		.at = end->world->now,
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
		assert_true(roce_cm_disconnect(event->conn, end->world->now));
	if (is_down(event->kind) && end->release_on_down)
		roce_cm_release(event->conn, end->world->now);
	return rc;
}

static inline struct roce_cm_config
world_config(struct end *end)
{
	return (struct roce_cm_config){
		.hz = SECOND,
		.seed = 1 + (uint64_t)(end - end->world->end),
		.ca_guid = UINT64_C(0x020000fffe00000b),
		.pool = unit_pool(),
		.memory = { world_alloc, world_free, end->world },
		.connections_max = 1100,
		.resolve = world_resolve,
		.resolve_arg = end,
		.notify = world_notify,
		.notify_arg = end,
	};
}

/** Forget what was told and how the wire behaves; connections stay. */
static inline void
world_reset(struct world *world)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
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

static inline struct world *
world_create(void)
{
	struct world *world = calloc(1, sizeof(*world));
	unsigned int i;

	assert_non_null(world);
	world->alloc_fails_at = -1;
	world->now = 5 * SECOND;
	for (i = 0; i < 2; i++) {
		struct end *end = &world->end[i];
		struct roce_cm_config config;

		end->world = world;
		end->ip = roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201 + i));
		end->mac = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, (uint8_t)(i + 1) } };
		end->next_qpn = 0x100 + (i << 16);
		config = world_config(end);
		assert_int_equal(roce_cm_create(&config, &end->cm), 0);
		roce_cm_gsi(end->cm, &end->gsi);
	}
	world_reset(world);
	return world;
}

/** End the world: every byte and every frame must be home. */
static inline void
world_destroy(struct world *world)
{
	while (world->flying > 0)
		rte_pktmbuf_free(world->flight[--world->flying].m);
	roce_cm_destroy(world->end[0].cm);
	roce_cm_destroy(world->end[1].cm);
	assert_int_equal(world->allocated, 0);
	assert_true(unit_pool_is_full());
	free(world);
}

static inline void
fly(struct world *world, struct end *to, struct rte_mbuf *m)
{
	assert_true(world->flying < FLIGHT_MAX);
	world->flight[world->flying++] = (struct flight){ m, to, world->now + LATENCY };
}

static inline void
send_one(struct world *world, struct end *from, struct rte_mbuf *m)
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
		fly(world, other(from), unit_mbuf(world->last, world->last_len));
	fly(world, other(from), m);
}

/** Give a frame to an end; the frame is freed. */
static inline void
world_deliver(struct end *to, struct rte_mbuf *m)
{
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	assert_true(roce_icrc_ok(&pkt));
	assert_int_equal(pkt.dest_qp, ROCE_QPN_GSI);
	to->gsi.rx(to->gsi.arg, &pkt, to->world->now);
	rte_pktmbuf_free(m);
}

/** Everything that can happen now: speak, deliver. @return true when something did. */
static inline bool
world_poll(struct world *world)
{
	struct rte_mbuf *pkts[32];
	bool busy = false;
	unsigned int i;
	uint16_t n, k;

	for (i = 0; i < 2; i++) {
		struct end *end = &world->end[i];

		/* As an engine does. */
		n = world->now >= *end->gsi.at
				? end->gsi.tx(end->gsi.arg, pkts, world->burst, world->now)
				: 0;
		assert_true(n <= world->burst);
		for (k = 0; k < n; k++)
			send_one(world, end, pkts[k]);
		busy |= n != 0;
	}
	for (i = 0; i < world->flying;) {
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

/** When the next frame arrives. */
static inline uint64_t
world_arrival(const struct world *world)
{
	uint64_t next = ROCE_NEVER;
	unsigned int i;

	for (i = 0; i < world->flying; i++)
		next = RTE_MIN(next, world->flight[i].at);
	return next;
}

/** When something will happen next. */
static inline uint64_t
world_next(const struct world *world)
{
	uint64_t next = world_arrival(world);
	unsigned int i;

	for (i = 0; i < 2; i++)
		next = RTE_MIN(next, world->end[i].gsi.deadline(world->end[i].gsi.arg));
	return next;
}

/** Let time pass until @p until, or until nothing will happen any more. */
static inline void
world_run(struct world *world, uint64_t until)
{
	unsigned int idle = 0;

	for (;;) {
		uint64_t next;

		if (world_poll(world)) {
			idle = 0;
			continue;
		}
		next = world_next(world);
		/* Who waits for a buffer waits for the frames in flight. */
		if (next <= world->now && world->flying > 0)
			next = world_arrival(world);
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

static inline void
world_run_ms(struct world *world, uint64_t ms)
{
	world_run(world, world->now + ms * MS);
}

/** Run until nothing will happen any more. */
static inline void
world_settle(struct world *world)
{
	world_run(world, ROCE_NEVER);
}

static inline struct roce_cm_listener *
world_listen(struct end *end, uint32_t backlog)
{
	struct roce_cm_listener *listener = NULL;

	assert_int_equal(roce_cm_listen(end->cm, NULL, SERVICE, backlog, end, &listener), 0);
	return listener;
}

/** Begin to connect to the other end. */
static inline struct roce_cm_conn *
world_connect(struct end *end, uint64_t timeout_us)
{
	struct roce_cm_conn *conn = NULL;
	struct roce_cm_connect connect = {
		.dst = other(end)->ip,
		.service_id = SERVICE,
		.local = offer(end, "hello"),
		.timeout_us = timeout_us,
	};

	assert_int_equal(roce_cm_connect(end->cm, NULL, &connect, end, end->world->now, &conn), 0);
	return conn;
}

#endif
