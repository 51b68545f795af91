/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "../embed/embed.h"
#include "../embed/rings.h"
#include "../vdev/port_events.h"
#include "ways.h"

#define FRAMES  1023
#define FILLERS 4095

struct fate fate;

static struct {
	struct way way;
	struct rings rings;
	struct rte_mempool *pool, *fillers;
	unsigned int dropped;
	struct holdings before;
} now;

static struct port_watch watch[2];

#define PARAMS  "UDAPL_ROCE_PARAMS"
#define SEVERAL "queues=4"

/* The test runs twice, the second time with several engines: as many as a device of our own is told, or as there are. */
static unsigned int
engines(void)
{
	const char *params = getenv(PARAMS);

	if (params == NULL || strcmp(params, SEVERAL) != 0)
		return 1;
	return now.way.kind == WAY_OWN ? 4 : RINGS_QUEUES;
}

static const char *
port_name(unsigned int i)
{
	static const char *const names[][2] = {
		[WAY_OWN] = { "net_ring_loop0", "net_ring_loop1" },
		[WAY_QUEUES] = { RINGS_NAME "0", RINGS_NAME "1" },
	};

	return names[now.way.kind][i];
}

static struct roce_device *
open_own(unsigned int i)
{
	char params[128];

	snprintf(params, sizeof(params), "port=loop%u ip=192.0.2.%u/24 %s", i, i + 1,
			now.way.params);
	return open_device(params);
}

static struct roce_device *
attach(unsigned int i)
{
	struct roce_attach_config config = embed_handover((uint8_t)(i + 1));
	char params[256];

	snprintf(params, sizeof(params), "%s %s", config.params, now.way.params);
	config.params = params;
	config.engines = engines();
	if (now.way.kind == WAY_QUEUES) {
		config.mode = ROCE_ATTACH_QUEUES;
		config.port_id = now.rings.port[i];
	}
	for (unsigned int e = 0; e < config.engines; e++) {
		config.rx_queue[e] = (uint16_t)e;
		config.tx_queue[e] = (uint16_t)e;
		config.pool[e] = now.pool;
	}
	return embed_attach(&config);
}

static struct roce_device *
open_way(unsigned int i)
{
	return now.way.kind == WAY_OWN ? open_own(i) : attach(i);
}

/* The program's hands. */
static unsigned int
carry(struct roce_device *from, struct roce_device *to)
{
	unsigned int moved = 0;

	for (unsigned int e = 0; e < engines(); e++) {
		struct rte_mbuf *pkts[32];
		uint16_t n = roce_device_tx(from, e, pkts, RTE_DIM(pkts));

		moved += n;
		if (fate.cut) {
			now.dropped += n;
			rte_pktmbuf_free_bulk(pkts, n);
			n = 0;
		}
		n = roce_device_rx(to, e, pkts, n);
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return moved;
}

static unsigned int
poll_handover(struct pair *pair)
{
	/* There is no room for what a sends: time passes. */
	if (fate.b_still) {
		for (unsigned int e = 0; e < engines(); e++)
			roce_device_tx(pair->a.device, e, NULL, 0);
		return 0;
	}
	return carry(pair->a.device, pair->b.device) + carry(pair->b.device, pair->a.device);
}

static unsigned int
poll_ports(struct pair *pair)
{
	watch[0].cut = fate.cut;
	watch[1].cut = fate.cut;
	return roce_device_poll(pair->a.device) +
			(fate.b_still ? 0 : roce_device_poll(pair->b.device));
}

static unsigned int
poll_way(struct pair *pair)
{
	if (fate.hog)
		hog_frames();
	return now.way.kind == WAY_HANDOVER ? poll_handover(pair) : poll_ports(pair);
}

static void
watch_ports(void)
{
	for (unsigned int i = 0; i < 2 && way_has_port(); i++)
		port_watch(port_name(i), (uint16_t)engines(), &watch[i]);
}

int
way_open(void **state)
{
	struct roce_device *a;
	struct pair *pair;

	now.way = *(const struct way *)*state;
	if (now.way.params == NULL)
		now.way.params = "";
	fate = (struct fate){ 0 };
	now.dropped = 0;
	if (now.way.kind == WAY_QUEUES)
		rings_open(&now.rings, true);
	if (now.way.given)
		now.pool = embed_pool("given", FRAMES, 2048);
	now.fillers = embed_pool("fillers", FILLERS, 128);
	a = open_way(0);
	pair = pair_of(a, open_way(1));
	pair->poll_once = poll_way;
	watch_ports();
	*state = pair;
	return 0;
}

/* Each pair ends with what it began with, but for what the test watches. */
static void
close_all(struct pair *pair)
{
	struct roce_device *device;
	void *state = pair;

	fate = (struct fate){ 0 };
	free_hogged();
	port_watches_end();
	pair_close(&state);
	if (now.way.kind == WAY_QUEUES) {
		rings_stop(&now.rings);
		rings_close(&now.rings);
	}
	/* The frames in the program's rings are home since: who closes next finds them. So with watches of a lost port. */
	device = open_own(0);
	port_watches_end();
	roce_device_close(device);
	embed_pool_end(now.fillers);
	if (now.pool != NULL)
		embed_pool_end(now.pool);
	now.pool = NULL;
}

int
way_close(void **state)
{
	close_all(*state);
	holdings_same(&now.before);
	return 0;
}

int
way_prepare(void **state)
{
	struct way ways[] = { { .kind = WAY_OWN }, { .kind = WAY_QUEUES },
		{ .kind = WAY_HANDOVER } };

	/* The first device starts the EAL. */
	now.way = (struct way){ .kind = WAY_OWN, .params = "" };
	roce_device_close(open_own(0));
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		void *one = &ways[i];

		way_open(&one);
		pair_connect(one);
		close_all(one);
	}
	holdings_take(&now.before);
	return 0;
}

enum way_kind
way_kind(void)
{
	return now.way.kind;
}

bool
way_has_port(void)
{
	return now.way.kind != WAY_HANDOVER;
}

unsigned int
way_lost(void)
{
	return way_has_port() ? watch[0].lost + watch[1].lost : now.dropped;
}

unsigned int
way_bursts(void)
{
	return watch[0].bursts;
}

void
way_say(enum rte_eth_event_type event)
{
	port_say(port_name(0), event);
}

void
way_link(bool up)
{
	fate.cut = !up;
	for (unsigned int i = 0; i < 2 && way_has_port(); i++)
		port_link(port_name(i), up);
}

void
way_start(bool start)
{
	uint16_t port;

	if (!way_has_port()) {
		fate.cut = !start;
		return;
	}
	port = port_number(port_name(0));
	assert_int_equal(start ? rte_eth_dev_start(port) : rte_eth_dev_stop(port), 0);
}

void
way_destroy(void)
{
	uint16_t port = port_number(port_name(0));

	if (now.way.kind == WAY_QUEUES) {
		rings_lose(&now.rings, 0);
		return;
	}
	ok(rte_eth_dev_stop(port));
	ok(rte_eth_dev_close(port));
}

/* Frames that b receives on one queue. */
static struct rte_ring *
ring_to_b(unsigned int q)
{
	char name[32];

	if (now.way.kind == WAY_QUEUES)
		return q < RINGS_QUEUES ? now.rings.to[1][q] : NULL;
	snprintf(name, sizeof(name), "roce_loop1_%u", q);
	return rte_ring_lookup(name);
}

void
way_fill(void)
{
	struct rte_ring *ring;
	uint32_t serial = 0;

	fate.b_still = true;
	for (unsigned int q = 0; way_has_port() && (ring = ring_to_b(q)) != NULL; q++) {
		while (rte_ring_free_count(ring) > 0)
			ok(rte_ring_enqueue(ring, embed_frame(now.fillers, EMBED_UDP, serial++)));
	}
}

int
way_reopen(struct roce_device **device)
{
	static const char *const params[] = {
		[WAY_OWN] = "port=loop0 ip=192.0.2.1/24",
		[WAY_QUEUES] = "port=hands1",
		[WAY_HANDOVER] = "port=hands1",
	};
	bool several = engines() > 1;
	char text[128];
	int rc;

	snprintf(text, sizeof(text), "%s %s", params[now.way.kind], now.way.params);
	/* A user that joins a device of the program's has nothing to say of its queues. */
	if (now.way.kind != WAY_OWN)
		unsetenv(PARAMS);
	rc = roce_device_open(text, device, NULL, 0);
	if (several)
		setenv(PARAMS, SEVERAL, 1);
	return rc;
}

void
way_renew(struct pair *pair)
{
	struct roce_device *old = pair->a.device;

	end_leave(&pair->a);
	roce_device_close(old);
	end_join(&pair->a, open_way(0));
	/* The other end of the wire stays; of its connection nothing does. */
	roce_cm_id_destroy(pair->b.id);
	roce_qp_destroy(pair->b.qp);
	pair->b.id = NULL;
	pair_ready(pair);
	if (way_has_port())
		port_watch(port_name(0), (uint16_t)engines(), &watch[0]);
}

void
way_release(void)
{
	fate.hog = false;
	free_hogged();
}
