/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <isa-l/crc.h>

#include "rx_world.h"
#include "engine/verbs.h"

struct rx_world rx_world;
uint8_t rx_pattern[RX_PATTERN];

/** The purpose of a region decides its size and its rights. */
static const struct {
	uint32_t length;
	unsigned int access;
	bool kept; /**< full of the pattern, and must stay so */
} regions[RX_BIG] = {
	/* clang-format off */
	[RX_RECV] =   { RX_SLOT * RX_SLOTS, IBV_ACCESS_LOCAL_WRITE, false },
	[RX_SEND] =   { RX_PATTERN, 0, true },
	[RX_LAND] =   { RX_TALKS * (RX_PATTERN + RX_WORDS), IBV_ACCESS_LOCAL_WRITE, false },
	[RX_WRITE] =  { RX_PATTERN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, false },
	[RX_READ] =   { RX_PATTERN, IBV_ACCESS_REMOTE_READ, true },
	[RX_ATOMIC] = { RX_WORDS, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, false },
	[RX_OTHER] =  { RX_PATTERN, 0xf, true },
	[RX_DEAD] =   { RX_PATTERN, 0xf, true },
	[RX_UNDER] =  { RX_PATTERN, IBV_ACCESS_LOCAL_WRITE | ROCE_ACCESS_LOCAL_READ, true },
	/* clang-format on */
};

static uint8_t *big;

/* Arenas as they are at first, and their length. */
static uint8_t *fresh;
static uint32_t arena_len;

static void
must(int rc, const char *what)
{
	if (rc != 0)
		BASE_VIOLATED("%s: %d", what, rc);
}

uint64_t
rx_region_len(enum rx_region region)
{
	return region == RX_BIG ? RX_BIG_LEN : regions[region].length;
}

static uint32_t
region_off(enum rx_region region)
{
	uint32_t at = RX_RED;

	for (unsigned int i = 0; i < region; i++)
		at += regions[i].length + RX_RED;
	return at;
}

uint8_t *
rx_region_at(const struct rx_side *side, enum rx_region region)
{
	return region == RX_BIG ? big : side->arena + region_off(region);
}

struct roce_ip
rx_address(uint8_t side, bool v6)
{
	struct roce_ip ip = { .b = { 0x20, 1, 0x0d, 0xb8 } };

	if (!v6)
		return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201u + side));
	ip.b[15] = (uint8_t)(1 + side);
	return ip;
}

/* ---- once ---- */

static void
make_pattern(void)
{
	uint64_t z = 1;

	for (uint32_t i = 0; i < RX_PATTERN; i++) {
		z = z * UINT64_C(6364136223846793005) + 1442695040888963407;
		/* Never zero: what was not written yet looks different. */
		rx_pattern[i] = (uint8_t)(z >> 56 | 1);
	}
}

static void
prepare(void)
{
	if (fresh != NULL)
		return;
	base_start();
	make_pattern();
	arena_len = region_off(RX_BIG);
	fresh = malloc(arena_len);
	rx_world.side[0].arena = aligned_alloc(64, RTE_ALIGN_CEIL(arena_len, 64));
	rx_world.side[1].arena = aligned_alloc(64, RTE_ALIGN_CEIL(arena_len, 64));
	big = mmap(NULL, RX_BIG_LEN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == NULL || rx_world.side[0].arena == NULL || rx_world.side[1].arena == NULL ||
			big == MAP_FAILED)
		BASE_VIOLATED("there is no memory for the world");
	memset(fresh, 0xa5, arena_len);
	for (unsigned int i = 0; i < RX_BIG; i++) {
		uint8_t *at = fresh + region_off(i);

		if (regions[i].kept)
			memcpy(at, rx_pattern, regions[i].length);
		else
			memset(at, 0, regions[i].length);
	}
}

/* ---- queue pairs ---- */

/* The script's peers have their own addresses. */
static struct roce_ip
peer_address(const struct rx_end *end, bool v6)
{
	return end->peer != NULL ? rx_address(1 - end->side->index, v6)
				 : rx_address((uint8_t)(90 + end->talk), v6);
}

static struct roce_qp_connect
connect_of(const struct rx_end *end)
{
	const uint8_t *c = rx_world.config;
	bool v6 = end->talk == 3 || end->talk == 6;
	/* Near the places where a PSN wraps, as an unsigned number and as a signed one. */
	static const uint32_t psn[4] = { 0x000100, 0xfffff0, 0x7ffff0, 0xfffffe };
	uint32_t first = psn[c[2] & 3];

	return (struct roce_qp_connect){
		.path = {
			.src_mac = { { 2, 0, 0, 0, 0, (uint8_t)(1 + end->side->index) } },
			.dst_mac = { { 2, 0, 0, 0, 0, 0x10 } },
			.src_ip = rx_address(end->side->index, v6),
			.dst_ip = peer_address(end, v6),
			.ttl = 64,
			.vlan_tci = end->talk == 4 ? 5 << 13 : 0,
			.mtu_code = (uint8_t)(1 + c[1] % 3),
		},
		.dest_qp = end->peer != NULL ? roce_qp_number(end->peer->qp) : 0x700u + end->talk,
		.rq_psn = end->side->index == 0 ? first : first ^ 0x800000,
		.sq_psn = end->side->index == 0 ? first ^ 0x800000 : first,
		/* Real peers are patient, and quick, so that the end of a script can wait for them. */
		.retry = end->peer != NULL ? 7 : c[6] & 7,
		.rnr_retry = end->peer != NULL ? 7 : c[7] & 7,
		.rnr_timer = end->peer != NULL ? 9 + (c[9] & 7) : c[9] & 31,
		.ack_timeout = end->peer != NULL ? 12 : c[8] & 31,
		.extensions = c[10] >> 4 & 1,
		.max_rd_atomic = (uint8_t)(1 + (c[5] & 7)),
		.max_dest_rd_atomic = (uint8_t)(1 + (c[5] & 7)),
	};
}

void
rx_end_connect(struct rx_end *end, bool ready)
{
	struct roce_engine *e = roce_qp_engine(end->qp);
	struct roce_path back;

	end->connect = connect_of(end);
	back = end->connect.path;
	back.src_ip = end->connect.path.dst_ip;
	back.dst_ip = end->connect.path.src_ip;
	back.udp_sport = 50000;
	roce_template_init(&end->template, &back, roce_qp_number(end->qp), false);
	roce_engine_lock(e);
	must(roce_qp_to_rtr(end->qp, &end->connect), "to RTR");
	if (ready)
		must(roce_qp_to_rts(end->qp), "to RTS");
	roce_engine_unlock(e);
}

static void
create(struct rx_end *end)
{
	static const uint16_t inline_bytes[4] = { 0, 64, 200, RX_SLOT };
	struct rx_side *side = end->side;
	const struct roce_qp_attr attr = {
		.pd = side->pd,
		/* Talk 6 has no completion queues. */
		.send_cq = end->talk == 6 ? NULL : side->send_cq,
		.recv_cq = end->talk == 6 ? NULL : side->recv_cq,
		.srq = end->shared ? side->srq : NULL,
		.max_send_wr = 16,
		.max_recv_wr = 8,
		.max_send_sge = 3,
		.max_recv_sge = 2,
		.max_inline = inline_bytes[rx_world.config[10] >> 2 & 3],
		.max_dest_rd_atomic = (uint8_t)(1 + (rx_world.config[5] & 7)),
		.atomics = true,
		.owner = end,
	};

	must(roce_qp_create(&attr, &end->qp), "make a queue pair");
	if (end->talk & 1)
		roce_qp_set_conn(end->qp, end);
}

void
rx_end_open(struct rx_end *end)
{
	create(end);
	/* Talk 5 never hears that its peer is ready, talk 7 was not connected. */
	if (end->talk != 7)
		rx_end_connect(end, end->talk != 5);
}

void
rx_end_close(struct rx_end *end)
{
	if (end->qp != NULL)
		roce_qp_destroy(end->qp);
	end->qp = NULL;
}

void
rx_end_harm(struct rx_end *end)
{
	end->harmed = true;
	end->epoch++;
	if (end->peer != NULL)
		end->peer->harmed = true;
}

/* ---- sides ---- */

static void
notify(void *arg, enum roce_engine_async kind, void *owner, int status)
{
	struct rx_side *side = arg;
	struct rx_end *end = owner;

	RTE_SET_USED(status);
	switch (kind) {
	case ROCE_ENGINE_ASYNC_QP_ESTABLISHED:
		BASE_MUST(roce_qp_state(end->qp) == ROCE_QP_RTR, "established in RTR");
		if (rx_world.config[10] & 1)
			must(roce_qp_to_rts(end->qp), "to RTS from the async event");
		break;
	case ROCE_ENGINE_ASYNC_QP_BROKEN:
		BASE_MUST(roce_qp_state(end->qp) == ROCE_QP_ERR, "broken is ERR");
		BASE_MUST(!end->healthy || !rx_is_sound(end) || end->dares || end->peer->dares,
				"a connection broke, and nobody had done anything");
		rx_end_harm(end);
		break;
	case ROCE_ENGINE_ASYNC_CQ_OVERFLOW:
		side->overflows++;
		break;
	default:
		break;
	}
}

static void
gsi_rx(void *arg, const struct roce_pkt *pkt, uint64_t now)
{
	struct rx_side *side = arg;

	RTE_SET_USED(now);
	BASE_MUST(pkt->op->flags & ROCE_OP_DETH, "only datagrams reach queue pair 1");
	BASE_MUST(pkt->dest_qp == ROCE_QPN_GSI, "a datagram for another queue pair");
	side->datagrams++;
}

static uint16_t
gsi_tx(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(pkts);
	RTE_SET_USED(max);
	RTE_SET_USED(now);
	return 0;
}

static void
gsi_async_event(void *arg, void *conn, enum roce_engine_async kind, uint64_t now)
{
	const struct rx_end *end = conn;

	RTE_SET_USED(now);
	RTE_SET_USED(kind);
	BASE_MUST(end->side == arg && end->qp != NULL,
			"an async event is of a queue pair that is there");
}

static uint64_t
gsi_deadline(void *arg)
{
	RTE_SET_USED(arg);
	return ROCE_NEVER;
}

static unsigned int
access_of(enum rx_region region)
{
	return region == RX_BIG ? 0xf : regions[region].access;
}

void
rx_region_make(struct rx_side *side, enum rx_region region)
{
	must(roce_mr_create(region == RX_OTHER ? side->other_pd : side->pd,
			     (uintptr_t)rx_region_at(side, region), rx_region_len(region),
			     access_of(region), &side->mr[region]),
			"make a region");
	side->key[region] = roce_mr_key(side->mr[region]);
	if (region == RX_UNDER)
		must(roce_mw_create(side->pd, side, &side->window), "make a window");
}

uint32_t
rx_region_sum(const struct rx_side *side, enum rx_region region)
{
	if (region == RX_BIG)
		return 0;
	return crc32_gzip_refl(0, rx_region_at(side, region), rx_region_len(region));
}

void
rx_region_end(struct rx_side *side, enum rx_region region)
{
	struct roce_mw_binding binding;

	if (region == RX_UNDER) {
		if (roce_mw_query(side->window, &binding))
			BASE_MUST(roce_mr_destroy(side->mr[region]) == -EBUSY,
					"a region under a window does not end");
		roce_mw_destroy(side->window);
		side->window = NULL;
	}
	must(roce_mr_destroy(side->mr[region]), "end a region");
	side->mr[region] = NULL;
	side->dead_sum[region] = rx_region_sum(side, region);
}

bool
rx_key_reads(const struct rx_side *side, uint32_t key)
{
	for (unsigned int i = 0; i < RX_REGIONS; i++) {
		if (side->mr[i] != NULL && side->key[i] == key)
			return access_of(i) & IBV_ACCESS_REMOTE_READ;
	}
	/* The binding may have changed since, so any of the window's recent keys will do. */
	for (unsigned int i = 0; i < RX_WINDOW_KEYS; i++) {
		if (side->window_key[i] == key)
			return true;
	}
	return false;
}

static void
make_regions(struct rx_side *side)
{
	memcpy(side->arena, fresh, arena_len);
	for (unsigned int i = 0; i < RX_REGIONS; i++)
		rx_region_make(side, i);
	rx_region_end(side, RX_DEAD);
}

static void
side_open(uint8_t index)
{
	const uint8_t *c = rx_world.config;
	struct rx_side *side = &rx_world.side[index];
	const struct roce_gsi gsi = { gsi_rx, gsi_tx, gsi_deadline, gsi_async_event, side, NULL };
	struct roce_domain_config config = {
		.engines = index == 0 ? 1u + (c[0 + 11] & 1) : 1,
		.hz = RX_HZ,
		.seed = 7u + index,
		.first_qpn = 0x100,
		.first_psn = UINT32_MAX,
		.addr = { rx_address(index, false), rx_address(index, true) },
		.addrs = 2,
		.ecn = c[10] & 2,
		.memory = base_memory,
		.notify = notify,
		.notify_arg = side,
	};
	uint32_t depth = c[4] & 0x80 ? 1u + (c[4] & 15) : 512;
	uint8_t *arena = side->arena;

	*side = (struct rx_side){ .index = index, .engines = config.engines, .arena = arena };
	side->free_slots = (UINT64_C(1) << RX_SLOTS) - 1;
	for (unsigned int i = 0; i < config.engines; i++)
		config.pool[i] = base_pool();
	must(roce_domain_create(&config, &side->domain), "make a domain");
	roce_domain_set_gsi(side->domain, &gsi);
	must(roce_pd_create(roce_domain_context(side->domain), &side->pd),
			"make a protection domain");
	must(roce_pd_create(roce_domain_context(side->domain), &side->other_pd),
			"make a protection domain");
	make_regions(side);
	must(roce_cq_create(roce_domain_context(side->domain), depth, side, &side->send_cq),
			"make a queue");
	must(roce_cq_create(roce_domain_context(side->domain), depth, side, &side->recv_cq),
			"make a queue");
	must(roce_srq_create(side->pd, 1u + (c[3] & 31), 2, side, &side->srq), "make a queue");
}

static void
ends_open(void)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		for (uint8_t i = 0; i < 2; i++) {
			struct rx_side *side = &rx_world.side[i];
			struct rx_end *end = &side->end[talk];

			*end = (struct rx_end){ .side = side, .talk = talk };
			end->shared = talk == 0 || talk == 1 || talk == 4 || talk == 6;
			if (talk < RX_REAL)
				end->peer = &rx_world.side[1 - i].end[talk];
			if (i == 0 || talk < RX_REAL)
				create(end);
		}
	}
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		struct rx_end *a = &rx_world.side[0].end[talk];

		if (talk != 7)
			rx_end_connect(a, talk != 5);
		if (a->peer != NULL)
			rx_end_connect(a->peer, true);
	}
}

void
rx_open(const uint8_t *config)
{
	prepare();
	rx_world.config = config;
	rx_world.now = RX_HZ;
	rx_world.mtu = 256u << config[1] % 3;
	rx_world.flights = 0;
	rx_world.burst_len = 0;
	base_fail(0);
	side_open(0);
	side_open(1);
	ends_open();
}

static void
judge_unwritten(const struct rx_side *side, enum rx_region region, uint32_t from, uint32_t to)
{
	uint32_t at = region_off(region);

	if (memcmp(side->arena + at + from, fresh + at + from, to - from) != 0)
		BASE_VIOLATED("a byte of region %u of side %u was written", region, side->index);
}

/* Memory that no peer may write, and the gaps between the regions, must be unchanged. */
static void
judge_memory(const struct rx_side *side)
{
	for (unsigned int i = 0; i < RX_BIG; i++) {
		uint32_t at = region_off(i);

		if (memcmp(side->arena + at - RX_RED, fresh + at - RX_RED, RX_RED) != 0)
			BASE_VIOLATED("a byte before region %u of side %u was written", i,
					side->index);
		if (regions[i].kept && i != RX_UNDER)
			judge_unwritten(side, i, 0, regions[i].length);
	}
	judge_unwritten(side, RX_UNDER, 0, RX_WINDOW_OFF);
	judge_unwritten(side, RX_UNDER, RX_WINDOW_OFF + RX_WINDOW_LEN, RX_PATTERN);
}

static void
side_close(struct rx_side *side)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++)
		rx_end_close(&side->end[talk]);
	judge_memory(side);
	for (unsigned int i = 0; i < RX_REGIONS; i++) {
		if (side->mr[i] != NULL)
			rx_region_end(side, i);
	}
	must(roce_srq_destroy(side->srq), "end the shared queue");
	must(roce_cq_destroy(side->recv_cq), "end a queue");
	must(roce_cq_destroy(side->send_cq), "end a queue");
	must(roce_pd_destroy(side->pd), "end a protection domain");
	must(roce_pd_destroy(side->other_pd), "end a protection domain");
	roce_domain_destroy(side->domain);
}

void
rx_close(void)
{
	base_dry(false);
	side_close(&rx_world.side[0]);
	side_close(&rx_world.side[1]);
	if (base_live() != 0)
		BASE_VIOLATED("%u allocations are left", base_live());
	if (base_frames() != 0)
		BASE_VIOLATED("%u frames are left", base_frames());
}
