/* SPDX-License-Identifier: BSD-3-Clause */
#include "apart.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

#include "ethdev/port_setup.h"
#include "wire/icrc.h"

#define HEADERS  (14u + 20u + 8u + 12u)
#define TEMPLATE 64u  /* the provider writes the headers by one store of a cache line */
#define ONE_PASS 512u /* as the engine does from this size on */
#define WINDOW   128u
#define ACK      (HEADERS + 4u + ROCE_ICRC_LEN)
#define TARGETS  (1u << 20) /* bytes to receive into; what is sent lies behind them */

#define ROUNDS_MAX  401u
#define ROUND_BYTES (4u << 20) /* of frames: half a millisecond or less */
#define WARM_ROUNDS 4u
#define RUN_MS      300u
#define YIELD_AFTER 20000u /* empty looks before the processor is given to somebody else */

const struct apart_way apart_way[APART_WAYS] = {
	{ .name = "pointers" },
	{ .name = "copied", .copied = true },
	{ .name = "icrc", .copied = true, .icrc = true },
	{ .name = "icrc, ack 32", .copied = true, .icrc = true, .ack_every = 32 },
	{ .name = "icrc, ack 16", .copied = true, .icrc = true, .ack_every = 16 },
};

bool
apart_pin(unsigned int n)
{
	cpu_set_t may, one;

	if (sched_getaffinity(0, sizeof(may), &may) != 0)
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &may) || n-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	return false;
}

static struct roce_ip
address(uint8_t last)
{
	return (struct roce_ip){ .b = { [10] = 0xff, [11] = 0xff, 192, 0, 2, last } };
}

/* Headers that an ICRC can be made over: nobody looks at anything else in them. */
static void
make_header(struct apart_end *end)
{
	const struct roce_path path = {
		.src_ip = address(1),
		.dst_ip = address(2),
		.udp_sport = 50001,
		.ttl = 64,
		.mtu_code = roce_mtu_code(BENCH_MTU),
	};

	roce_template_init(&end->template, &path, 1, false);
	memcpy(end->header, end->template.bytes,
			RTE_MIN(sizeof(end->header), sizeof(end->template.bytes)));
}

int
apart_open(struct apart_end *end, const char *devargs)
{
	int rc = bench_try_port(devargs, &end->port);

	if (rc != 0)
		return rc;
	end->memory = bench_memory();
	make_header(end);
	return 0;
}

void
apart_close(struct apart_end *end)
{
	roce_port_close(end->port);
}

static inline uint32_t
frame_len(const struct apart_end *end)
{
	return HEADERS + end->size + ROCE_ICRC_LEN;
}

/* Somebody else may want this processor, the other end for one. */
static void
rest(unsigned int *looks)
{
	if (++*looks % YIELD_AFTER == 0)
		sched_yield();
	rte_pause();
}

static void
wait_until(const uint32_t *what, uint32_t run)
{
	unsigned int looks = 0;

	while (__atomic_load_n(what, __ATOMIC_ACQUIRE) != run)
		rest(&looks);
}

static bool
is_at(const uint32_t *what, uint32_t run)
{
	return __atomic_load_n(what, __ATOMIC_ACQUIRE) == run;
}

static inline uint8_t *
next_buffer(struct apart_end *end, uint8_t *first, uint32_t buffers)
{
	uint8_t *at = first + (size_t)end->buffer * bench_stride(end->size);

	if (++end->buffer == buffers)
		end->buffer = 0;
	return at;
}

static void
write_frame(struct apart_end *end, struct rte_mbuf *m)
{
	const uint8_t *from = next_buffer(end, end->memory + TARGETS, BENCH_SENDS);
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	memcpy(frame, end->header, TEMPLATE);
	if (end->way->icrc && end->size >= ONE_PASS)
		roce_icrc_put_copy(m, &end->template, frame + HEADERS, from, end->size);
	else
		memcpy(frame + HEADERS, from, end->size);
}

static void
make_burst(struct apart_end *end, struct rte_mbuf **pkts)
{
	if (rte_pktmbuf_alloc_bulk(end->port->tx_pool[0], pkts, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	for (unsigned int i = 0; i < BENCH_BURST; i++) {
		pkts[i]->data_len = (uint16_t)frame_len(end);
		pkts[i]->pkt_len = frame_len(end);
		if (end->way->copied)
			write_frame(end, pkts[i]);
	}
	for (unsigned int i = 0; i < BENCH_BURST && end->way->icrc && end->size < ONE_PASS; i++)
		roce_icrc_put(pkts[i], &end->template);
}

static bool
icrc_is_right(struct rte_mbuf *m, uint32_t payload_len)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct roce_pkt pkt = {
		.m = m,
		.l3 = frame + 14,
		.bth = frame + HEADERS - 12,
		.payload_off = HEADERS,
		.payload_len = payload_len,
	};

	return roce_icrc_ok(&pkt);
}

/* @return acknowledgements that came. */
static unsigned int
hear_acks(const struct apart_end *end)
{
	struct rte_mbuf *pkts[BENCH_BURST];
	uint16_t n = rte_eth_rx_burst(end->port->id, 0, pkts, BENCH_BURST);

	for (uint16_t i = 0; i < n; i++) {
		if (!icrc_is_right(pkts[i], 4))
			bench_fail("the wire changed an acknowledgement");
	}
	if (n > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static void
push(const struct apart_end *end, struct rte_mbuf **pkts, uint16_t n)
{
	unsigned int looks = 0;
	uint16_t sent = 0;

	while (sent < n) {
		uint16_t more = rte_eth_tx_burst(
				end->port->id, 0, pkts + sent, (uint16_t)(n - sent));

		sent += more;
		if (more == 0)
			rest(&looks);
	}
}

void
apart_send(struct apart_end *end, uint32_t run)
{
	struct apart_shared *shared = end->shared;
	struct rte_mbuf *pkts[BENCH_BURST];
	uint64_t sent = 0, acked = 0;
	unsigned int looks = 0;

	/* Those of the run before. */
	while (hear_acks(end) > 0)
		;
	end->buffer = 0;
	__atomic_store_n(&shared->run, run, __ATOMIC_RELEASE);
	while (!is_at(&shared->enough, run)) {
		if (end->way->ack_every != 0) {
			acked += (uint64_t)hear_acks(end) * end->way->ack_every;
			if (sent + BENCH_BURST - acked > WINDOW) {
				rest(&looks);
				continue;
			}
		}
		make_burst(end, pkts);
		push(end, pkts, BENCH_BURST);
		sent += BENCH_BURST;
	}
	__atomic_store_n(&shared->sent, sent, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->sent_run, run, __ATOMIC_RELEASE);
	wait_until(&shared->done, run);
}

/* Counters of the receiver's loop. */
struct count {
	uint64_t frames, bursts;
	uint32_t unanswered;
};

static void
answer(const struct apart_end *end)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(end->port->tx_pool[0]);

	if (m == NULL)
		bench_fail("the pool is dry");
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), end->header, TEMPLATE);
	m->data_len = ACK;
	m->pkt_len = ACK;
	roce_icrc_put(m, &end->template);
	push(end, &m, 1);
}

static void
take_frame(struct apart_end *end, struct rte_mbuf *m)
{
	if (m->pkt_len != frame_len(end))
		bench_fail("the wire changed the length of a frame");
	if (!end->way->copied)
		return;
	if (end->way->icrc && !icrc_is_right(m, end->size))
		bench_fail("the wire changed a frame");
	memcpy(next_buffer(end, end->memory, bench_recvs(end->size)),
			rte_pktmbuf_mtod_offset(m, const uint8_t *, HEADERS), end->size);
}

static void
receive(struct apart_end *end, struct count *count, unsigned int *looks)
{
	struct rte_mbuf *pkts[BENCH_BURST];
	uint16_t n = rte_eth_rx_burst(end->port->id, 0, pkts, BENCH_BURST);

	if (n == 0) {
		rest(looks);
		return;
	}
	for (uint16_t i = 0; i < n && end->way->copied; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	for (uint16_t i = 0; i < n; i++)
		take_frame(end, pkts[i]);
	rte_pktmbuf_free_bulk(pkts, n);
	count->frames += n;
	count->bursts++;
	count->unanswered += n;
	while (end->way->ack_every != 0 && count->unanswered >= end->way->ack_every) {
		count->unanswered -= end->way->ack_every;
		answer(end);
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Rounds until there are enough of them, or as many as the time allows. @return how many. */
static unsigned int
measure(struct apart_end *end, struct count *count, double *ns)
{
	uint32_t frames = RTE_MAX(ROUND_BYTES / (frame_len(end) + 1024), 4 * BENCH_BURST);
	uint64_t hz = rte_get_tsc_hz(), begin = 0, start, now = rte_rdtsc();
	unsigned int looks = 0, rounds = 0;

	for (unsigned int i = 0; rounds < ROUNDS_MAX; i++) {
		uint64_t until = count->frames + frames, from = count->frames;

		if (i == WARM_ROUNDS)
			begin = now;
		start = now;
		while (count->frames < until)
			receive(end, count, &looks);
		now = rte_rdtsc();
		if (i < WARM_ROUNDS)
			continue;
		ns[rounds++] = (double)(now - start) * 1e9 / (double)hz /
				(double)(count->frames - from);
		if (now - begin > hz * RUN_MS / 1000)
			break;
	}
	return rounds;
}

void
apart_receive(struct apart_end *end, uint32_t run)
{
	struct apart_shared *shared = end->shared;
	struct count count = { 0 };
	double ns[ROUNDS_MAX];
	unsigned int rounds, looks = 0;

	end->buffer = 0;
	wait_until(&shared->run, run);
	rounds = measure(end, &count, ns);
	shared->result.burst = (double)count.frames / (double)count.bursts;
	__atomic_store_n(&shared->enough, run, __ATOMIC_RELEASE);
	while (!is_at(&shared->sent_run, run) ||
			count.frames < __atomic_load_n(&shared->sent, __ATOMIC_RELAXED))
		receive(end, &count, &looks);
	qsort(ns, rounds, sizeof(ns[0]), compare);
	shared->result.median = ns[rounds / 2];
	shared->result.best = ns[rounds / 10];
	if (end->way->copied && memcmp(end->memory, end->memory + TARGETS, end->size) != 0)
		bench_fail("the wire changed the payload");
	__atomic_store_n(&shared->done, run, __ATOMIC_RELEASE);
}
