/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The bare wire: what the device alone can do, one core polling both ends.
 *
 * Two ports as the provider opens them for loop0 and loop1 (the same rings, pools and descriptors), the same
 * frame lengths and bursts, and nothing above ethdev. Two ways: pointers only, where pre-built frames go round
 * untouched, and copied, where the sender writes headers and payload into a fresh frame and the receiver copies
 * the payload out. The second is what a transport that costs nothing would reach, and what dat-perf is held
 * against.
 */

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "bench.h"
#include "ethdev/port.h"
#include "ethdev/port_setup.h"
#include "wire/bth.h"

/* Untagged Ethernet, IPv4, UDP, BTH in front of the payload, the ICRC behind it. */
#define HEADERS  (14u + 20u + 8u + 12u)
#define FRAME(n) (HEADERS + (n) + ROCE_ICRC_LEN)
#define TEMPLATE 64u /* the provider writes the headers by one store of a cache line */
#define FIRST    1u  /* index into bench_size: an empty frame is no message */

struct wire {
	struct roce_port *port[2];
	uint8_t *memory;
	uint8_t header[TEMPLATE];
	struct rte_mbuf *going[BENCH_BURST];
	uint32_t size;
	uint32_t send, recv; /* next buffers */
};

/* Everything that left comes in at once: the ring holds several bursts. */
static void
carry(struct rte_mbuf **pkts, uint16_t from, uint16_t to)
{
	uint16_t sent = rte_eth_tx_burst(from, 0, pkts, BENCH_BURST);
	uint16_t received = rte_eth_rx_burst(to, 0, pkts, BENCH_BURST);

	if (sent != BENCH_BURST || received != BENCH_BURST)
		bench_fail("the wire lost frames: %u sent, %u received", sent, received);
}

static void
pass_pointers(void *arg)
{
	struct wire *w = arg;

	carry(w->going, w->port[0]->id, w->port[1]->id);
}

static inline const uint8_t *
next_source(struct wire *w)
{
	const uint8_t *at = w->memory + (1u << 20) + (size_t)w->send * bench_stride(w->size);

	w->send = (w->send + 1) % BENCH_SENDS;
	return at;
}

static inline uint8_t *
next_target(struct wire *w)
{
	uint8_t *at = w->memory + (size_t)w->recv * bench_stride(w->size);

	if (++w->recv == bench_recvs(w->size))
		w->recv = 0;
	return at;
}

static void
pass_copies(void *arg)
{
	struct wire *w = arg;
	struct rte_mbuf *pkts[BENCH_BURST];

	if (rte_pktmbuf_alloc_bulk(w->port[0]->tx_pool[0], pkts, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	for (unsigned int i = 0; i < BENCH_BURST; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(pkts[i], uint8_t *);

		memcpy(frame, w->header, sizeof(w->header));
		memcpy(frame + HEADERS, next_source(w), w->size);
		pkts[i]->data_len = (uint16_t)FRAME(w->size);
		pkts[i]->pkt_len = FRAME(w->size);
	}
	carry(pkts, w->port[0]->id, w->port[1]->id);
	for (unsigned int i = 0; i < BENCH_BURST; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	for (unsigned int i = 0; i < BENCH_BURST; i++)
		memcpy(next_target(w), rte_pktmbuf_mtod_offset(pkts[i], uint8_t *, HEADERS),
				pkts[i]->data_len - HEADERS - ROCE_ICRC_LEN);
	rte_pktmbuf_free_bulk(pkts, BENCH_BURST);
}

static void
report(const struct wire *w, const char *way, double ns, bool json)
{
	double rate = 1e9 / ns;

	if (json)
		printf("{\"size\": %u, \"frame\": %u, \"way\": \"%s\", \"ns\": %.3f}\n", w->size,
				FRAME(w->size), way, ns);
	else
		printf(" %-8u %-8u %-14s %12.2f %12.2f %12.2f\n", w->size, FRAME(w->size), way, ns,
				rate / 1e6, rate * FRAME(w->size) * 8 / 1e9);
}

/* A round in which nothing may fail, so that a wire that does not work is not measured. */
static void
prove(struct wire *w)
{
	const uint8_t *sent = w->memory + (1u << 20);

	w->send = w->recv = 0;
	memset(w->memory, 0, w->size);
	pass_copies(w);
	if (memcmp(w->memory, sent, w->size) != 0)
		bench_fail("the wire changed a frame");
}

int
main(int argc, char **argv)
{
	bool json = bench_wants(argc, argv, "--json");
	static struct wire w;

	bench_start();
	w.memory = bench_memory();
	w.port[0] = bench_port("port=loop0 ip=192.0.2.1/24");
	w.port[1] = bench_port("port=loop1 ip=192.0.2.2/24");
	if (rte_pktmbuf_alloc_bulk(w.port[0]->tx_pool[0], w.going, BENCH_BURST) != 0)
		bench_fail("the pool is dry");
	if (!json)
		printf(" %-8s %-8s %-14s %12s %12s %12s\n", "payload", "frame", "way", "ns/frame",
				"Mframes/s", "Gbit/s");
	for (unsigned int i = FIRST; i < BENCH_SIZES; i++) {
		w.size = bench_size[i];
		for (unsigned int j = 0; j < BENCH_BURST; j++) {
			w.going[j]->data_len = (uint16_t)FRAME(w.size);
			w.going[j]->pkt_len = FRAME(w.size);
		}
		prove(&w);
		report(&w, "pointers", bench_measure(pass_pointers, &w), json);
		report(&w, "copied", bench_measure(pass_copies, &w), json);
	}
	rte_pktmbuf_free_bulk(w.going, BENCH_BURST);
	roce_port_close(w.port[0]);
	roce_port_close(w.port[1]);
	return 0;
}
