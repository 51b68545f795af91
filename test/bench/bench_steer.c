/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The cost of frames that come on the wrong queue: a receiver of one, two and four engines on one shared receive queue,
 * and 64 B SENDs that a switch brings to the engine of their queue pair, to one that the hash of an RSS chose,
 * or all to the first. Messages by elapsed time, processor time of a message at both ends together, and the share of the
 * receiver's frames that one engine forwarded to another. One thread polls everything; with --threads each engine of the
 * receiver has one of its own and the sender another, which wants as many processors.
 */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ring.h>
#include <rte_thash.h>

#include "bench.h"
#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "queue/stats.h"

#define ENGINES    4u
#define QPS        64u
#define DEPTH      16u /**< requests of one queue pair under way */
#define SIGNAL     8u  /**< one of so many makes an event */
#define SIZE       64u
#define RECVS      (QPS * DEPTH)
#define FRAMES     8191u
#define RING       8192u
#define WARM_MS    50u
#define MEASURE_MS 300u

/* Offsets in an untagged frame over IPv4. */
#define ADDRESSES 26u /**< and behind them the ports */
#define QPN_LAST  49u

enum way {
	STEERED,
	UNSTEERED,
	ALL_ON_ONE,
	WAYS,
};

static const char *const way_name[] = { "steered", "unsteered", "all on one" };

struct end {
	struct roce_device *device;
	struct roce_device_user user;
	struct rte_mempool *pool;
	uint8_t *memory;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq;
	struct roce_cq *recv_cq[ENGINES]; /**< receiver: of the queue pairs of each engine */
	struct roce_qp *qp[QPS];
};

struct scene {
	enum way way;
	unsigned int engines;
	bool threads;
	bool stop; /**< atomic */
	struct end sender, receiver;
	struct roce_srq *srq;
	struct rte_ring *there[ENGINES], *back[ENGINES];
	uint32_t under_way[QPS];
	uint32_t posted[QPS];
	struct worker {
		struct scene *scene;
		unsigned int engine;
		pthread_t thread;
		uint64_t messages __rte_cache_aligned; /**< atomic */
	} worker[ENGINES];
};

static void
must(bool good, const char *what)
{
	if (!good)
		bench_fail("%s went wrong", what);
}

/* ---- the receiver ---- */

static void
post_recv(const struct scene *s, uint64_t slot)
{
	const struct roce_sge piece = { (uintptr_t)s->receiver.memory + slot * SIZE, SIZE,
		roce_mr_key(s->receiver.mr) };
	const struct roce_recv_wr wr = { .wr_id = slot, .sg = &piece, .num_sge = 1 };

	must(roce_srq_post(s->srq, &wr) == 0, "posting a receive");
}

static void
reap(const struct scene *s, struct worker *worker)
{
	struct roce_event event[BENCH_BURST];
	unsigned int n = roce_cq_poll(s->receiver.recv_cq[worker->engine], event, RTE_DIM(event));

	for (unsigned int i = 0; i < n; i++) {
		must(event[i].status == ROCE_WC_SUCCESS, "a message");
		post_recv(s, event[i].wr_id);
	}
	if (n > 0)
		__atomic_store_n(&worker->messages, worker->messages + n, __ATOMIC_RELAXED);
}

/* @return frames. */
static unsigned int
poll_receiver(struct scene *s, unsigned int engine)
{
	struct rte_mbuf *pkts[2 * BENCH_BURST];
	unsigned int received =
			rte_ring_dequeue_burst(s->there[engine], (void **)pkts, BENCH_BURST, NULL);
	unsigned int sent;

	must(roce_device_rx(s->receiver.device, engine, pkts, (uint16_t)received) == 0, "a frame");
	sent = roce_device_tx(s->receiver.device, engine, pkts, RTE_DIM(pkts));
	must(rte_ring_enqueue_bulk(s->back[engine], (void **)pkts, sent, NULL) == sent, "a ring");
	reap(s, &s->worker[engine]);
	return received + sent;
}

static void *
work(void *arg)
{
	struct worker *worker = arg;
	struct scene *s = worker->scene;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		if (poll_receiver(s, worker->engine) == 0)
			sched_yield();
	}
	return NULL;
}

/* ---- the sender, and the switch ---- */

static void
post_sends(struct scene *s)
{
	struct roce_event event[BENCH_BURST];
	unsigned int n = roce_cq_poll(s->sender.send_cq, event, RTE_DIM(event));

	for (unsigned int i = 0; i < n; i++) {
		must(event[i].status == ROCE_WC_SUCCESS, "a request");
		s->under_way[event[i].wr_id] -= SIGNAL;
	}
	for (uint32_t q = 0; q < QPS; q++) {
		const struct roce_sge piece = { (uintptr_t)s->sender.memory + (uint64_t)q * SIZE,
			SIZE, roce_mr_key(s->sender.mr) };

		for (; s->under_way[q] < DEPTH; s->under_way[q]++) {
			const struct roce_wr wr = {
				.wr_id = q,
				.sg = &piece,
				.num_sge = 1,
				.opcode = ROCE_WR_SEND,
				.flags = ++s->posted[q] % SIGNAL == 0 ? ROCE_WR_SIGNALED : 0,
			};

			must(roce_qp_post_send(s->sender.qp[q], &wr) == 0, "posting");
		}
	}
}

/* As RSS over addresses and ports does it, with the key that most devices come with. */
static uint32_t
hash(const uint8_t *at)
{
	static const uint8_t key[] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
		0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
		0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
		0x01, 0xfa };
	uint32_t tuple[3];

	memcpy(tuple, at + ADDRESSES, sizeof(tuple));
	for (unsigned int i = 0; i < RTE_DIM(tuple); i++)
		tuple[i] = rte_be_to_cpu_32(tuple[i]);
	return rte_softrss(tuple, RTE_DIM(tuple), key);
}

static unsigned int
choose(const struct scene *s, const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);

	switch (s->way) {
	case STEERED:
		return at[QPN_LAST] & roce_engine_mask(s->engines);
	case UNSTEERED:
		return hash(at) & roce_engine_mask(s->engines);
	default:
		return 0;
	}
}

static unsigned int
poll_sender(struct scene *s)
{
	struct rte_mbuf *pkts[2 * BENCH_BURST];
	unsigned int sent, moved = 0;

	for (unsigned int e = 0; e < s->engines; e++) {
		unsigned int n = rte_ring_dequeue_burst(
				s->back[e], (void **)pkts, BENCH_BURST, NULL);

		must(roce_device_rx(s->sender.device, 0, pkts, (uint16_t)n) == 0, "an answer");
		moved += n;
	}
	post_sends(s);
	sent = roce_device_tx(s->sender.device, 0, pkts, RTE_DIM(pkts));
	for (unsigned int i = 0; i < sent; i++)
		must(rte_ring_enqueue(s->there[choose(s, pkts[i])], pkts[i]) == 0, "a ring");
	return moved + sent;
}

/* ---- what they are made of ---- */

static void
open_end(struct end *end, unsigned int i, unsigned int engines)
{
	static const char *const names[] = { "sender", "receiver" };
	char params[64], errmsg[256];
	struct roce_attach_config config = {
		.name = names[i],
		.mode = ROCE_ATTACH_HANDOVER,
		.engines = engines,
		.mac = { 2, 0, 0, 0, 0, (uint8_t)(1 + i) },
		.params = params,
	};

	/*
	 * The receiver has numbers as they come: queue pair q lives on engine q modulo how many there are. The sender has
	 * others, always the same: source ports are made of both, and hashes differ.
	 */
	snprintf(params, sizeof(params), "ip=192.0.2.%u/24 %s", 1 + i,
			i == 0 ? "seed=1" : "qpn=64");
	end->pool = rte_pktmbuf_pool_create(
			names[i], FRAMES, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	must(end->pool != NULL, "a pool");
	for (unsigned int e = 0; e < engines; e++)
		config.pool[e] = end->pool;
	if (roce_device_attach(&config, &end->device, errmsg, sizeof(errmsg)) != 0)
		bench_fail("%s", errmsg);
	end->user = (struct roce_device_user){ 0 };
	roce_device_join(end->device, &end->user);
	end->memory = bench_memory();
	must(roce_pd_create(&end->user.context, &end->pd) == 0, "a protection domain");
	must(roce_mr_create(end->pd, (uintptr_t)end->memory, BENCH_MEMORY, IBV_ACCESS_LOCAL_WRITE,
			     &end->mr) == 0,
			"a region");
	must(roce_cq_create(&end->user.context, RECVS, NULL, &end->send_cq) == 0, "a queue");
	for (unsigned int e = 0; e < ENGINES; e++)
		must(roce_cq_create(&end->user.context, RECVS, NULL, &end->recv_cq[e]) == 0,
				"a queue");
}

static void
make_queue_pairs(struct end *end, struct roce_srq *srq, unsigned int engines)
{
	for (unsigned int q = 0; q < QPS; q++) {
		const struct roce_qp_attr attr = {
			.pd = end->pd,
			.send_cq = end->send_cq,
			.recv_cq = end->recv_cq[q % engines],
			.srq = srq,
			.max_send_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_wr = 1,
		};

		must(roce_qp_create(&attr, &end->qp[q]) == 0, "a queue pair");
		must(roce_qp_engine(end->qp[q]) == end->device->port->queue[q % engines].engine,
				"its number");
	}
}

static void
connect_qp(const struct end *from, const struct end *to, unsigned int q)
{
	struct roce_engine *engine = roce_qp_engine(from->qp[q]);
	const struct roce_qp_connect connect = {
		.path = {
			.src_mac = from->device->port->mac,
			.dst_mac = to->device->port->mac,
			.src_ip = from->device->args.ip.at[0].addr,
			.dst_ip = to->device->args.ip.at[0].addr,
			.ttl = 64,
			.mtu_code = from->device->port->mtu_code,
		},
		.dest_qp = roce_qp_number(to->qp[q]),
		.rq_psn = roce_qp_first_psn(to->qp[q]),
		.sq_psn = roce_qp_first_psn(from->qp[q]),
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 1,
		.ack_timeout = 14,
	};

	roce_engine_lock(engine);
	must(roce_qp_to_rtr(from->qp[q], &connect) == 0 && roce_qp_to_rts(from->qp[q]) == 0,
			"connecting");
	roce_engine_unlock(engine);
}

static struct rte_ring *
make_ring(const char *way, unsigned int e)
{
	struct rte_ring *ring;
	char name[16];

	snprintf(name, sizeof(name), "%s%u", way, e);
	ring = rte_ring_create(name, RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	must(ring != NULL, "a ring");
	return ring;
}

static void
open_scene(struct scene *s)
{
	open_end(&s->sender, 0, 1);
	open_end(&s->receiver, 1, s->engines);
	must(roce_srq_create(s->receiver.pd, RECVS, 1, NULL, &s->srq) == 0, "the shared queue");
	make_queue_pairs(&s->sender, NULL, 1);
	make_queue_pairs(&s->receiver, s->srq, s->engines);
	for (unsigned int q = 0; q < QPS; q++) {
		connect_qp(&s->sender, &s->receiver, q);
		connect_qp(&s->receiver, &s->sender, q);
	}
	for (uint64_t slot = 0; slot < RECVS; slot++)
		post_recv(s, slot);
	for (unsigned int e = 0; e < s->engines; e++) {
		s->there[e] = make_ring("there", e);
		s->back[e] = make_ring("back", e);
		s->worker[e] = (struct worker){ .scene = s, .engine = e };
	}
}

static void
close_ring(struct rte_ring *ring)
{
	struct rte_mbuf *m;

	while (rte_ring_dequeue(ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

static void
close_end(struct scene *s, struct end *end)
{
	for (unsigned int q = 0; q < QPS; q++)
		roce_qp_destroy(end->qp[q]);
	if (end == &s->receiver)
		must(roce_srq_destroy(s->srq) == 0, "the end of the shared queue");
	for (unsigned int e = 0; e < ENGINES; e++)
		must(roce_cq_destroy(end->recv_cq[e]) == 0, "the end of a queue");
	must(roce_cq_destroy(end->send_cq) == 0, "the end of a queue");
	must(roce_mr_destroy(end->mr) == 0, "the end of a region");
	must(roce_pd_destroy(end->pd) == 0, "the end of a protection domain");
	roce_device_leave(end->device, &end->user);
	roce_device_close(end->device);
	free(end->memory);
}

static void
close_scene(struct scene *s)
{
	for (unsigned int e = 0; e < s->engines; e++) {
		close_ring(s->there[e]);
		close_ring(s->back[e]);
	}
	close_end(s, &s->sender);
	close_end(s, &s->receiver);
	must(rte_mempool_full(s->sender.pool) && rte_mempool_full(s->receiver.pool), "a frame");
	rte_mempool_free(s->sender.pool);
	rte_mempool_free(s->receiver.pool);
}

/* ---- measuring ---- */

/* Counters and clocks at one moment. */
struct look {
	uint64_t ticks, cpu_ns, messages, frames, handed_over;
};

static struct look
look(const struct scene *s)
{
	struct look l = { .ticks = rte_rdtsc(), .cpu_ns = bench_cpu_ns() };

	for (unsigned int e = 0; e < s->engines; e++) {
		const struct roce_stats *stats =
				roce_engine_stats(s->receiver.device->port->queue[e].engine);

		l.messages += __atomic_load_n(&s->worker[e].messages, __ATOMIC_RELAXED);
		l.frames += __atomic_load_n(&stats->rx_frames, __ATOMIC_RELAXED);
		l.handed_over += __atomic_load_n(&stats->rx_handed_over, __ATOMIC_RELAXED);
	}
	return l;
}

static void
run(struct scene *s, unsigned int ms)
{
	uint64_t end = rte_rdtsc() + ms * rte_get_tsc_hz() / 1000;

	while (rte_rdtsc() < end) {
		unsigned int moved = poll_sender(s);

		for (unsigned int e = 0; e < s->engines && !s->threads; e++)
			poll_receiver(s, e);
		if (moved == 0 && s->threads)
			sched_yield();
	}
}

static void
print(const struct scene *s, const struct look *a, const struct look *b, bool json)
{
	double seconds = (double)(b->ticks - a->ticks) / (double)rte_get_tsc_hz();
	double messages = (double)(b->messages - a->messages);
	double frames = (double)(b->frames - a->frames);
	double share = frames > 0 ? (double)(b->handed_over - a->handed_over) / frames : 0;
	double ns = messages > 0 ? (double)(b->cpu_ns - a->cpu_ns) / messages : 0;

	if (json)
		printf("{\"kind\": \"steer\", \"name\": \"%u, %s\", \"rate\": %.0f, \"ns\": %.2f, "
		       "\"handed_over\": %.4f}\n",
				s->engines, way_name[s->way], messages / seconds, ns, share);
	else
		printf(" %-9u%-14s%14.3f%12.1f%13.1f%%\n", s->engines, way_name[s->way],
				messages / seconds / 1e6, ns, share * 100);
}

static void
measure(enum way way, unsigned int engines, bool threads, bool json)
{
	static struct scene scene;
	struct scene *s = &scene;
	struct look before, after;

	*s = (struct scene){ .way = way, .engines = engines, .threads = threads };
	open_scene(s);
	for (unsigned int e = 0; e < engines && threads; e++)
		must(pthread_create(&s->worker[e].thread, NULL, work, &s->worker[e]) == 0,
				"a thread");
	run(s, WARM_MS);
	before = look(s);
	run(s, MEASURE_MS);
	after = look(s);
	__atomic_store_n(&s->stop, true, __ATOMIC_RELAXED);
	for (unsigned int e = 0; e < engines && threads; e++)
		must(pthread_join(s->worker[e].thread, NULL) == 0, "a thread");
	print(s, &before, &after, json);
	close_scene(s);
}

int
main(int argc, char **argv)
{
	bool json = false, threads = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			json = true;
		else if (strcmp(argv[i], "--threads") == 0)
			threads = true;
		else
			bench_fail("usage: %s [--json] [--threads]", argv[0]);
	}
	bench_start();
	if (!json)
		printf("\n %-9s%-14s%14s%12s%14s\n", "engines", "frames", "Mmessages/s", "CPU ns",
				"forwarded");
	for (unsigned int engines = 1; engines <= ENGINES; engines *= 2) {
		for (enum way way = STEERED; way < (engines > 1 ? WAYS : UNSTEERED); way++)
			measure(way, engines, threads, json);
	}
	return 0;
}
