/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * net_null: it takes frames as fast as they come, and hands out frames that hold whatever its buffers held. Two
 * seconds of garbage, or as many as ROCE_NULL_SECONDS says.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mempool.h>
#include <rte_udp.h>

#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "queue/stats.h"
#include "wire/bth.h"

#define QPS            64
#define WINDOW         128 /**< frames that a queue pair sends without an acknowledgement */
#define MTU            4096u
#define SECONDS_UNSAID 2

static const struct roce_ip our_ip = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000201) } };
static const struct roce_ip peer_ip = { .w = { 0, 0, RTE_BE32(0xffff), RTE_BE32(0xc0000202) } };

/* A device with queue pairs that believe in a peer. */
struct bed {
	struct roce_device *device;
	struct roce_port_queue *queue;
	struct roce_engine *engine;
	const struct roce_stats *stats;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_qp *qp[QPS];
	uint8_t *memory;
};

static void
connect_qp(struct bed *bed, struct roce_qp *qp)
{
	const struct roce_qp_connect connect = {
		.path = {
			.src_mac = bed->device->port->mac,
			.dst_mac = { { 2, 0, 0, 0, 0, 9 } },
			.src_ip = our_ip,
			.dst_ip = peer_ip,
			.ttl = 64,
			.mtu_code = 5,
		},
		.dest_qp = 0x99,
		.retry = 7,
		.rnr_retry = 7,
		.ack_timeout = 0, /* whoever says nothing is waited for */
	};

	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	assert_int_equal(roce_qp_to_rts(qp), 0);
}

static void
open_bed(struct bed *bed, const char *params)
{
	struct roce_domain *domain;
	char errmsg[256];
	int rc;

	memset(bed, 0, sizeof(*bed));
	rc = roce_device_open(params, &bed->device, errmsg, sizeof(errmsg));
	if (rc != 0)
		fail_msg("%s: %d %s", params, rc, errmsg);
	bed->queue = &bed->device->port->queue[0];
	bed->engine = bed->queue->engine;
	bed->stats = roce_engine_stats(bed->engine);
	domain = roce_device_domain(bed->device);
	assert_int_equal(roce_pd_create(roce_domain_context(domain), &bed->pd), 0);
	bed->memory = calloc(WINDOW, MTU);
	assert_non_null(bed->memory);
	assert_int_equal(roce_mr_create(bed->pd, (uintptr_t)bed->memory, WINDOW * MTU, 0, &bed->mr),
			0);
	for (int i = 0; i < QPS; i++) {
		const struct roce_qp_attr attr = {
			.pd = bed->pd,
			.max_send_wr = WINDOW,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		};

		assert_int_equal(roce_qp_create(&attr, &bed->qp[i]), 0);
		roce_engine_lock(bed->engine);
		connect_qp(bed, bed->qp[i]);
		roce_engine_unlock(bed->engine);
	}
}

static void
count_pool(struct rte_mempool *pool, void *arg)
{
	++*(unsigned int *)arg;
}

/* A pool is freed when its last frame is home, so none left means none lost. */
static void
close_bed(struct bed *bed)
{
	unsigned int pools = 0;

	for (int i = 0; i < QPS; i++)
		roce_qp_destroy(bed->qp[i]);
	roce_mr_destroy(bed->mr);
	assert_int_equal(roce_pd_destroy(bed->pd), 0);
	roce_device_close(bed->device);
	free(bed->memory);
	rte_mempool_walk(count_pool, &pools);
	assert_int_equal(pools, 0);
}

static double
seconds(void)
{
	const char *said = getenv("ROCE_NULL_SECONDS");

	unsigned long n = said != NULL ? strtoul(said, NULL, 10) : 0;

	return n > 0 ? (double)n : SECONDS_UNSAID;
}

/* ---- what it takes ---- */

/* As many messages as fit the window of each queue pair, which then begins anew. @return frames. */
static uint64_t
send_windows(struct bed *bed, uint32_t message)
{
	const uint32_t packets = message <= MTU ? 1 : message / MTU;
	const struct roce_sge sge = {
		.addr = (uintptr_t)bed->memory,
		.length = message,
		.lkey = roce_mr_key(bed->mr),
	};
	const struct roce_wr wr = { .sg = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };

	for (int i = 0; i < QPS; i++) {
		roce_engine_lock(bed->engine);
		roce_qp_to_reset(bed->qp[i]);
		connect_qp(bed, bed->qp[i]);
		roce_engine_unlock(bed->engine);
		for (uint32_t n = 0; n < WINDOW; n += packets)
			assert_int_equal(roce_qp_post_send(bed->qp[i], &wr), 0);
	}
	while (roce_device_poll(bed->device) > 0)
		continue;
	return (uint64_t)QPS * WINDOW;
}

static void
send_for(struct bed *bed, uint32_t message, double limit)
{
	uint64_t hz = roce_device_hz(bed->device), begin = roce_device_now(bed->device), end;
	uint64_t before = bed->stats->tx_frames, frames = 0;
	double rate;

	do {
		frames += send_windows(bed, message);
		end = roce_device_now(bed->device);
	} while ((double)(end - begin) < limit * (double)hz);
	assert_int_equal(bed->stats->tx_frames - before, frames);
	assert_int_equal(bed->queue->stats.tx_frames, bed->stats->tx_frames);
	assert_int_equal(bed->stats->retransmits, 0);
	assert_int_equal(bed->stats->tx_no_mbuf, 0);
	rate = (double)frames * (double)hz / (double)(end - begin);
	print_message("net_null took %.2f million frames a second with %u bytes of payload, %.1f Gbit/s\n",
			rate / 1e6, RTE_MIN(message, MTU), rate * RTE_MIN(message, MTU) * 8 / 1e9);
}

static void
transmit__is_as_fast_as_the_engine(void **state)
{
	struct bed bed;

	open_bed(&bed, "port=net_null0,no-rx=1 ip=192.0.2.1/24");
	send_for(&bed, 64, seconds() / 4);
	send_for(&bed, WINDOW * MTU, seconds() / 4);
	close_bed(&bed);
}

/* ---- what it hands out ---- */

static uint64_t dice;

static uint8_t
random_byte(void)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint8_t)(dice >> 33);
}

/* Ethernet, IPv4 and UDP as they should be for a frame of @p size bytes; behind them whatever is there. */
static void
dress(uint8_t *at, uint32_t size)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)at;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	ether->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(size - sizeof(*ether))),
		.fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = peer_ip.w[3],
		.dst_addr = our_ip.w[3],
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->dst_port = RTE_BE16(4791);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(size - sizeof(*ether) - sizeof(*ip)));
	udp->dgram_cksum = 0;
}

/* An acknowledgement, or a SEND, for a queue pair that exists, but for its CRC. */
static void
address(uint8_t *at, const struct roce_qp *qp, uint8_t opcode)
{
	struct roce_bth *bth = (struct roce_bth *)(at + sizeof(struct rte_ether_hdr) +
			sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr));

	*bth = (struct roce_bth){
		.opcode = opcode,
		.pkey = RTE_BE16(0xffff),
		.dest_qp = rte_cpu_to_be_32(roce_qp_number(qp)),
		.psn = rte_cpu_to_be_32(random_byte()),
	};
}

/* Leave something in every receive buffer: nothing, noise, noise in good clothes, and all but a good frame. */
static void
soil(struct bed *bed, uint32_t size)
{
	struct rte_mempool *pool = bed->device->port->rx_pool[0];
	struct rte_mbuf **pkts = calloc(pool->size, sizeof(struct rte_mbuf *));
	unsigned int n = 0;

	assert_non_null(pkts);
	while (n < pool->size && (pkts[n] = rte_pktmbuf_alloc(pool)) != NULL) {
		uint8_t *at = rte_pktmbuf_mtod(pkts[n], uint8_t *);

		memset(at, 0, size);
		for (uint32_t i = 0; n % 5 != 0 && i < size; i++)
			at[i] = random_byte();
		if (n % 5 >= 2)
			dress(at, size);
		if (n % 5 >= 3)
			address(at, bed->qp[n % QPS],
					n % 5 == 3 ? IBV_OPCODE_RC_ACKNOWLEDGE
						   : IBV_OPCODE_RC_SEND_ONLY);
		n++;
	}
	assert_true(n > pool->size / 2);
	rte_pktmbuf_free_bulk(pkts, n);
	free(pkts);
}

static uint64_t
sum_of_dropped(const struct roce_stats *s)
{
	return s->rx_foreign + s->rx_malformed_length + s->rx_malformed_fragment +
			s->rx_malformed_opcode + s->rx_malformed_version + s->rx_malformed_pkey +
			s->rx_icrc_encapsulated + s->rx_unknown_qp + s->rx_wrong_source +
			s->rx_wrong_state;
}

static void
hear_garbage(const char *device, uint32_t size, bool soiled, double limit)
{
	char params[128];
	struct bed bed;
	uint64_t end;

	snprintf(params, sizeof(params), "port=%s,size=%u ip=192.0.2.1/24", device, size);
	open_bed(&bed, params);
	if (soiled)
		soil(&bed, size);
	end = roce_device_now(bed.device) + (uint64_t)(limit * (double)roce_device_hz(bed.device));
	do {
		for (int i = 0; i < 1000; i++)
			roce_device_poll_engine(bed.device, 0);
	} while (roce_device_now(bed.device) < end);
	print_message("%s: %" PRIu64 " frames: foreign %" PRIu64 ", ICRC wrong %" PRIu64
		      ", malformed otherwise %" PRIu64 "\n",
			params, bed.stats->rx_frames, bed.stats->rx_foreign,
			bed.stats->rx_icrc_encapsulated,
			sum_of_dropped(bed.stats) - bed.stats->rx_foreign -
					bed.stats->rx_icrc_encapsulated);
	assert_true(bed.stats->rx_frames >= 1000 * ROCE_PORT_RX_BURST);
	assert_int_equal(bed.stats->rx_frames, bed.queue->stats.rx_frames);
	assert_int_equal(bed.stats->rx_frames, sum_of_dropped(bed.stats));
	assert_int_equal(bed.stats->rx_foreign,
			bed.queue->stats.foreign + bed.queue->stats.neighbour);
	if (soiled)
		assert_true(bed.stats->rx_frames > bed.stats->rx_foreign);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(roce_qp_state(bed.qp[i]), ROCE_QP_RTS);
	close_bed(&bed);
}

static void
receive__counts_garbage_and_loses_no_buffer(void **state)
{
	/* An acknowledgement has 62 bytes. */
	static const uint32_t sizes[] = { 62, 60, 130, 1502 };
	const double limit = seconds() / (2 * RTE_DIM(sizes) + 1);

	hear_garbage("net_null0,copy=1", 64, false, limit);
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		hear_garbage("net_null0", sizes[i], false, limit);
		hear_garbage("net_null0", sizes[i], true, limit);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transmit__is_as_fast_as_the_engine),
		cmocka_unit_test(receive__counts_garbage_and_loses_no_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
