/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Goodput over loss and over reordering on a wire of known speed: what the protocol reaches on any machine.
 *
 *   sim_goodput            fails where a share is below its floor
 *   sim_goodput --seed N   with other losses, as a table without floors
 *
 * Two ends of the engine, whose processors cost no time. A slot is the time that a packet of data takes in one direction. Frames
 * without data, as acknowledgements and requests of READs, take a sixteenth, as they do beside packets of 4 KiB (those here have
 * 1 KiB), and at most four leave in a slot. A round trip takes 36 slots, and the window has 128 packets. Every frame may be lost
 * or come late, acknowledgements too. A share is the time without faults, divided by that with them; the best is 1 - loss.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/qp.h"
#include "dice.h"
#include "fixture.h"

#define SLOT_NS   330u /**< a frame of 4 KiB at 100 Gbit/s */
#define PARTS     16   /**< of a slot: one is the time of a frame without data, 250 bytes */
#define WAY       16u  /**< slots from end to end */
#define LATE_MAX  64u  /**< further ones of a frame that is late */
#define TURN      128u /**< places of slots that are to come: more than WAY + LATE_MAX */
#define RING      4u   /**< frames that wait for the line, as in a device */
#define PLACE     128u /**< frames that may arrive at once */
#define FRAMES    40000u
#define FAULTS    5u
#define DEPTH     256u /**< receives of the queue, and requests of an end */
#define BURST     16u
#define READS     ROCE_RD_ATOMIC_MAX
#define MILLION   1000000u
#define SLOTS_MAX 20000000u

enum test {
	SEND,
	WRITE,
	READ,
	TESTS,
};

static const char *const names[TESTS] = { "SEND", "WRITE", "READ" };

struct link {
	struct rte_mbuf *ring[RING];
	uint32_t from, n;
	int parts; /**< of this slot that are left; below zero: of the next one that are taken */
	struct rte_mbuf *to_come[TURN][PLACE];
	uint32_t arrivals[TURN];
};

/** Faults of the wire, in parts per million of the frames. */
struct trouble {
	uint32_t loss;
	uint32_t late;
};

static const struct {
	const char *name;
	struct trouble trouble;
} faults[FAULTS] = {
	{ "0.1 %", { .loss = 1000 } },
	{ "1 %", { .loss = 10000 } },
	{ "5 %", { .loss = 50000 } },
	{ "20 %", { .loss = 200000 } },
	{ "1 % late", { .late = 10000 } },
};

/* Shares in per cent: a few less than what was reached when they were written. */
static const struct row {
	enum test test;
	uint32_t packets; /**< of a message */
	bool agreed;      /**< the ends have agreed on selective repeat */
	unsigned int floor[FAULTS];
} rows[] = {
	{ SEND, 16, true, { 99, 98, 93, 64, 98 } },
	{ SEND, 1, true, { 99, 98, 93, 62, 98 } },
	{ WRITE, 16, true, { 99, 98, 93, 64, 98 } },
	{ READ, 16, true, { 99, 98, 92, 68, 98 } },
	{ READ, 1, true, { 99, 97, 92, 65, 97 } },
	{ SEND, 16, false, { 93, 73, 46, 17, 76 } },
	{ READ, 16, false, { 93, 65, 29, 6, 66 } },
};

static struct fx_end end[2];
static struct roce_qp *qp[2];
static struct roce_mr *target;
static struct link line[2]; /* by the end that sends */
static uint64_t dice, seed = 1;

static uint32_t
roll(uint32_t n)
{
	return sim_roll(&dice, n);
}

static void
begin(bool agreed)
{
	struct roce_qp_connect connect[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct roce_qp_attr attr;

		fx_end_open(&end[i], (uint8_t)(i + 1),
				&(struct fx_options){ .cq_depth = 4 * DEPTH, .srq_size = DEPTH });
		attr = fx_attr(&end[i]);
		attr.max_send_wr = DEPTH;
		attr.max_dest_rd_atomic = READS;
		qp[i] = fx_qp(&end[i], &attr);
	}
	for (unsigned int i = 0; i < 2; i++) {
		connect[i] = fx_connect(&end[i], end[1 - i].ip, roce_qp_number(qp[1 - i]));
		connect[i].max_rd_atomic = connect[i].max_dest_rd_atomic = READS;
		connect[i].extensions = agreed;
	}
	connect[1].sq_psn = connect[0].rq_psn;
	connect[1].rq_psn = connect[0].sq_psn;
	for (unsigned int i = 0; i < 2; i++)
		fx_up(qp[i], &connect[i]);
	target = fx_mr(end[1].pd, (uintptr_t)end[1].memory, FX_MEMORY, FX_ALL);
	fx_fill_srq(&end[1], DEPTH, FX_MEMORY);
	memset(line, 0, sizeof(line));
}

static void
finish(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (; line[i].n > 0; line[i].n--)
			rte_pktmbuf_free(line[i].ring[line[i].from++ % RING]);
		for (unsigned int t = 0; t < TURN; t++)
			rte_pktmbuf_free_bulk(line[i].to_come[t], line[i].arrivals[t]);
	}
	for (unsigned int i = 0; i < 2; i++)
		fx_end_close(&end[i]);
}

static void
post(enum test test, uint32_t packets)
{
	const struct roce_sge sge = { (uintptr_t)end[0].memory, packets * FX_MTU, end[0].key };
	const struct roce_wr wr = {
		.opcode = test == SEND         ? IBV_WR_SEND
				: test == READ ? IBV_WR_RDMA_READ
					       : IBV_WR_RDMA_WRITE,
		.flags = ROCE_WR_SIGNALED,
		.num_sge = 1,
		.sg = &sge,
		.remote_addr = (uintptr_t)end[1].memory,
		.rkey = roce_mr_key(target),
	};

	assert_int_equal(roce_qp_post_send(qp[0], &wr), 0);
}

/* Reap the end that asks. @return messages that are done. */
static uint32_t
reap(void)
{
	struct roce_event event[BURST];
	uint32_t n, all = 0;

	while ((n = (uint32_t)roce_cq_poll(end[0].send_cq, event, BURST)) > 0) {
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(event[i].status, IBV_WC_SUCCESS);
		all += n;
	}
	return all;
}

/* The end that receives posts each receive again at once. */
static void
refill(void)
{
	struct roce_event event[BURST];
	uint32_t n;

	while ((n = (uint32_t)roce_cq_poll(end[1].recv_cq, event, BURST)) > 0)
		fx_fill_srq(&end[1], n, FX_MEMORY);
}

/* The frames that arrive in this slot, and what the engine has to say. */
static void
turn(unsigned int i, uint64_t slot)
{
	struct link *in = &line[1 - i], *out = &line[i];
	const unsigned int place = slot % TURN;
	struct rte_mbuf *pkts[RING];
	uint16_t n;

	roce_engine_lock(end[i].engine);
	assert_int_equal(roce_engine_rx(end[i].engine, in->to_come[place],
					 (uint16_t)in->arrivals[place], end[i].now),
			0);
	in->arrivals[place] = 0;
	n = roce_engine_tx(end[i].engine, pkts, (uint16_t)(RING - out->n), end[i].now);
	roce_engine_unlock(end[i].engine);
	for (uint16_t k = 0; k < n; k++)
		out->ring[(out->from + out->n++) % RING] = pkts[k];
}

/* A frame leaves: it is lost, or arrives, or arrives late. */
static void
carry(struct link *link, struct rte_mbuf *m, const struct trouble *trouble, uint64_t slot)
{
	unsigned int place;

	if (roll(MILLION) < trouble->loss) {
		rte_pktmbuf_free(m);
		return;
	}
	place = (unsigned int)((slot + WAY +
					       (roll(MILLION) < trouble->late ? 1 + roll(LATE_MAX)
									      : 0)) %
			TURN);
	assert_true(link->arrivals[place] < PLACE);
	link->to_come[place][link->arrivals[place]++] = m;
}

/* The frames that leave in this slot: one with data, or several without. */
static void
leave(struct link *link, const struct trouble *trouble, uint64_t slot)
{
	link->parts = RTE_MIN(link->parts + PARTS, PARTS);
	while (link->n > 0 && link->parts > 0) {
		struct rte_mbuf *m = link->ring[link->from++ % RING];

		link->n--;
		link->parts -= m->pkt_len > FX_MTU ? PARTS : 1;
		carry(link, m, trouble, slot);
	}
}

/** The slots that the messages of a row take. */
static uint64_t
run(const struct row *row, const struct trouble *trouble)
{
	const uint32_t messages = FRAMES / row->packets;
	uint32_t posted = 0, done = 0;
	uint64_t slot;

	dice = seed * 0x9e3779b97f4a7c15ull | 1;
	begin(row->agreed);
	for (slot = 0; done < messages; slot++) {
		assert_true(slot < SLOTS_MAX);
		for (; posted < messages && posted - done < DEPTH; posted++)
			post(row->test, row->packets);
		for (unsigned int i = 0; i < 2; i++)
			turn(i, slot);
		for (unsigned int i = 0; i < 2; i++)
			leave(&line[i], trouble, slot);
		done += reap();
		refill();
		for (unsigned int i = 0; i < 2; i++)
			end[i].now += SLOT_NS;
	}
	finish();
	return slot;
}

/* @return shares below their floor. */
static unsigned int
try(const struct row *row, bool floors)
{
	const uint64_t none = run(row, &(struct trouble){ 0 });
	unsigned int low = 0;

	printf("%-5s of %2u packets, %s:", names[row->test], row->packets,
			row->agreed ? "agreed  " : "standard");
	for (unsigned int i = 0; i < FAULTS; i++) {
		const double share = (double)none / (double)run(row, &faults[i].trouble);
		const bool is_low = floors && share * 100 < row->floor[i];

		printf("  %s %.3f%s", faults[i].name, share, is_low ? " TOO LOW" : "");
		low += is_low;
	}
	printf("\n");
	fflush(stdout);
	return low;
}

int
main(int argc, char **argv)
{
	const bool floors = argc == 1;
	unsigned int low = 0;

	if (!floors && (argc != 3 || strcmp(argv[1], "--seed") != 0)) {
		fprintf(stderr, "type: sim_goodput [--seed N]\n");
		return 2;
	}

	if (!floors)
		seed = strtoull(argv[2], NULL, 10);
	unit_eal();
	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		low += try(&rows[i], floors);
	return low != 0 || fx_left() != 0;
}
