/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of local/receive.c: which process may send what to this one. Process 5 is under test, with queue
 * pair 7 that is connected to process 2, queue pair 8 to process 3, and queue pair 9 to another host.
 */

#include "local_rig.h"

#define SELF  5u
#define PEER  2u
#define OTHER 3u

#define LINE 64u

static struct roce_local *local;
static struct roce_channel *peer, *other, *uplink;

static int
setup(void **state)
{
	local = rig_open(SELF);
	peer = rig_play(local, PEER);
	other = rig_play(local, OTHER);
	uplink = rig_play(local, ROCE_PROCESS_UPLINK);
	rig_set_peer(local, 7, PEER);
	rig_set_peer(local, 8, OTHER);
	rig_set_peer(local, 9, ROCE_PROCESS_UPLINK);
	/* Channels that are new are looked into once. */
	rig_poll_none(local, 1);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	assert_true(unit_pool_is_full());
	return 0;
}

/* The bytes come from @p from. Was it received? Else it was counted. */
static bool
is_received(struct roce_channel *from, const uint8_t *bytes, uint32_t len)
{
	uint64_t wrong = local->stats.rx_wrong_source;

	rig_put(from, bytes, len);
	(void)roce_bell_ring(local->bell, from == peer ? PEER : from == other ? OTHER : 0);
	if (rig_poll(local, NULL) == 1) {
		assert_int_equal(local->stats.rx_wrong_source, wrong);
		return true;
	}
	assert_int_equal(local->stats.rx_wrong_source, wrong + 1);
	return false;
}

static bool
is_received_for(struct roce_channel *from, uint32_t qpn)
{
	uint8_t v4[RIG_V4_LEN], v6[RIG_V6_LEN];
	const struct rig_frame frame = { .qpn = qpn };
	const struct rig_frame frame6 = { .qpn = qpn, .v6 = true };
	bool is = is_received(from, v4, rig_bytes(v4, &frame));

	assert_int_equal(is_received(from, v6, rig_bytes(v6, &frame6)), is);
	return is;
}

/* ---- frames that are ours ---- */

UNIT_RULE(rx__gives_the_bytes_that_were_sent)
{
	static const uint32_t len[] = { 54, 55, 60, 61, 1500, 4170, 4351, 4352 };

	for (size_t i = 0; i < RTE_DIM(len); i++) {
		const struct rig_frame frame = {
			.qpn = RIG_QPN(SELF, 7), .len = len[i], .mark = 0xa5
		};
		struct rte_mbuf *pkts[RIG_BURST];
		uint8_t bytes[4352];

		assert_int_equal(rig_bytes(bytes, &frame), len[i]);
		rig_put(peer, bytes, len[i]);
		(void)roce_bell_ring(local->bell, PEER);
		assert_int_equal(roce_local_rx(local, pkts, RIG_BURST), 1);
		assert_int_equal(pkts[0]->pkt_len, len[i]);
		assert_int_equal(pkts[0]->data_len, len[i]);
		assert_int_equal(pkts[0]->nb_segs, 1);
		assert_int_equal(pkts[0]->ol_flags, 0);
		assert_memory_equal(rte_pktmbuf_mtod(pkts[0], void *), bytes, len[i]);
		rte_pktmbuf_free(pkts[0]);
	}
}

/* Bytes that the peer writes later are not in the frame. */
UNIT_RULE(rx__gives_a_copy)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7), .len = 200, .mark = 0xa5 };
	struct rte_mbuf *pkts[RIG_BURST];
	uint8_t bytes[200];

	rig_put(peer, bytes, rig_bytes(bytes, &frame));
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(roce_local_rx(local, pkts, RIG_BURST), 1);
	memset(peer->tx.ring->data, 0xff, sizeof(peer->tx.ring->data));
	assert_memory_equal(rte_pktmbuf_mtod(pkts[0], void *), bytes, 200);
	rte_pktmbuf_free(pkts[0]);
}

/* The consumer may put headers in front, and trim. */
UNIT_RULE(rx__leaves_headroom)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7), .len = 4352 };
	struct rte_mbuf *pkts[RIG_BURST];

	rig_put_frame(peer, &frame);
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(roce_local_rx(local, pkts, RIG_BURST), 1);
	assert_true(rte_pktmbuf_headroom(pkts[0]) >= RTE_PKTMBUF_HEADROOM);
	rte_pktmbuf_free(pkts[0]);
}

/* ---- the source ---- */

UNIT_RULE(rx__takes_what_the_peer_of_the_queue_pair_sends)
{
	assert_true(is_received_for(peer, RIG_QPN(SELF, 7)));
	assert_true(is_received_for(other, RIG_QPN(SELF, 8)));
	assert_true(is_received_for(uplink, RIG_QPN(SELF, 9)));
}

UNIT_RULE(rx__drops_what_another_process_sends)
{
	assert_false(is_received_for(other, RIG_QPN(SELF, 7)));
	assert_false(is_received_for(uplink, RIG_QPN(SELF, 7)));
	assert_false(is_received_for(peer, RIG_QPN(SELF, 8)));
	assert_false(is_received_for(peer, RIG_QPN(SELF, 9)));
}

UNIT_RULE(rx__drops_what_is_for_an_unconnected_queue_pair)
{
	for (uint32_t place = 0; place < ROCE_LOCAL_QPS; place += 1021) {
		assert_false(is_received_for(peer, RIG_QPN(SELF, place)));
		assert_false(is_received_for(uplink, RIG_QPN(SELF, place)));
	}
	rig_set_peer(local, 7, ROCE_LOCAL_NO_PEER);
	assert_false(is_received_for(peer, RIG_QPN(SELF, 7)));
}

/* Place 7 of every other number, the uplink's included. */
UNIT_RULE(rx__drops_what_is_for_another_process)
{
	for (uint32_t number = 0; number < 1024; number++)
		assert_int_equal(is_received_for(peer, RIG_QPN(number, 7)), number == SELF);
}

/* Every bit of a queue pair number counts. */
UNIT_RULE(rx__reads_the_whole_number)
{
	for (uint32_t bit = 0; bit < 24; bit++)
		assert_false(is_received_for(peer, RIG_QPN(SELF, 7) ^ 1u << bit));
}

/* Datagrams of the connection manager come by way of roced, which knows who listens. */
UNIT_RULE(rx__drops_what_is_for_the_connection_manager)
{
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		assert_false(is_received_for(peer, qpn));
		assert_false(is_received_for(uplink, qpn));
	}
}

/* Not even where a queue pair has place 0 or 1. */
UNIT_RULE(rx__drops_what_is_for_the_connection_manager_beside_low_places)
{
	rig_set_peer(local, 0, PEER);
	rig_set_peer(local, 1, PEER);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		assert_false(is_received_for(peer, qpn));
		assert_true(is_received_for(peer, RIG_QPN(SELF, qpn)));
	}
}

/* ---- what is no plain frame of RoCEv2 ---- */

struct spoil {
	uint32_t at; /* of a byte */
	uint8_t byte;
	bool v6;
};

static const struct spoil spoils[] = {
	{ .at = 12, .byte = 0x81 },             /* a tag, or another type */
	{ .at = 13, .byte = 0x06 },             /* ARP */
	{ .at = 14, .byte = 0x46 },             /* a header with options */
	{ .at = 14, .byte = 0x44 },             /* one too short */
	{ .at = 14, .byte = 0x65 },             /* another version */
	{ .at = 23, .byte = 6 },                /* TCP */
	{ .at = 23, .byte = 1 },                /* ICMP */
	{ .at = 20, .byte = 0, .v6 = true },    /* hop-by-hop options */
	{ .at = 20, .byte = 44, .v6 = true },   /* a fragment */
	{ .at = 20, .byte = 58, .v6 = true },   /* ICMPv6 */
	{ .at = 13, .byte = 0x00, .v6 = true }, /* neither */
};

/* @return bytes of a frame with one byte changed. */
static uint32_t
spoil(uint8_t *bytes, const struct spoil *s, uint32_t qpn)
{
	const struct rig_frame frame = { .qpn = qpn, .v6 = s->v6, .len = 100 };
	uint32_t len = rig_bytes(bytes, &frame);

	bytes[s->at] = s->byte;
	return len;
}

UNIT_RULE(rx__drops_what_is_not_plain_rocev2)
{
	uint8_t bytes[100];

	for (size_t i = 0; i < RTE_DIM(spoils); i++) {
		uint32_t len = spoil(bytes, &spoils[i], RIG_QPN(SELF, 7));

		assert_false(is_received(peer, bytes, len));
	}
}

/* ARP and neighbour discovery among it; the engine looks at it as at what a device brings. */
UNIT_RULE(rx__takes_what_is_not_rocev2_from_the_uplink)
{
	uint8_t bytes[100];

	for (size_t i = 0; i < RTE_DIM(spoils); i++) {
		uint32_t len = spoil(bytes, &spoils[i], RIG_QPN(SELF, 7));

		assert_true(is_received(uplink, bytes, len));
	}
}

UNIT_RULE(rx__drops_a_tag)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7), .len = 96 };
	uint8_t bytes[100] = { 0 };

	assert_int_equal(rig_bytes(bytes, &frame), 96);
	memmove(bytes + 16, bytes + 12, 84);
	memcpy(bytes + 12, (const uint8_t[]){ 0x81, 0, 0, 1 }, 4);
	assert_false(is_received(peer, bytes, 100));
	assert_true(is_received(uplink, bytes, 100));
}

/* Each shorter than an Ethernet, IP, UDP header and a BTH, down to the shortest entry. */
UNIT_RULE(rx__drops_what_is_too_short)
{
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		const uint32_t whole = v6 ? RIG_V6_LEN : RIG_V4_LEN;

		for (uint32_t len = 14; len <= whole; len++) {
			const struct rig_frame frame = {
				.qpn = RIG_QPN(SELF, 7), .v6 = v6, .len = len
			};
			uint8_t bytes[RIG_V6_LEN];

			assert_int_equal(rig_bytes(bytes, &frame), len);
			assert_int_equal(is_received(peer, bytes, len), len == whole);
		}
	}
}

/* ---- no memory ---- */

/* Frames that find no mbuf are dropped, as a device drops them; later ones are received. */
UNIT_RULE(rx__drops_without_memory)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7) };
	static struct rte_mbuf *taken[1024];
	unsigned int n = 0, received = 0;

	while (n < RTE_DIM(taken) && (taken[n] = rte_pktmbuf_alloc(unit_pool())) != NULL)
		n++;
	for (unsigned int i = 0; i < 10; i++)
		rig_put_frame(peer, &frame);
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 20);
	assert_int_equal(local->stats.rx_no_memory, 10);
	assert_int_equal(local->stats.rx_wrong_source, 0);
	rte_pktmbuf_free_bulk(taken, n);
	for (unsigned int i = 0; i < 10; i++)
		rig_put_frame(peer, &frame);
	(void)roce_bell_ring(local->bell, PEER);
	for (unsigned int i = 0; i < 3; i++)
		received += rig_poll(local, NULL);
	assert_int_equal(received, 10);
}

/* ---- memory that makes no sense ---- */

static void
break_ring(struct roce_channel *from)
{
	const uint32_t word = 5000;

	memcpy(&from->tx.ring->data[from->tx.tail % ROCE_RING_BYTES], &word, sizeof(word));
}

UNIT_RULE(rx__counts_a_broken_channel_once)
{
	break_ring(peer);
	for (unsigned int i = 0; i < 10; i++) {
		(void)roce_bell_ring(local->bell, PEER);
		rig_poll_none(local, 200);
	}
	assert_int_equal(local->stats.broken, 1);
	assert_false(roce_local_is_pending(local, PEER));
}

/* Frames ahead of the word that makes no sense are received. */
UNIT_RULE(rx__takes_what_is_ahead_of_the_break)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7) };

	rig_put_frame(peer, &frame);
	break_ring(peer);
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_int_equal(local->stats.broken, 1);
}

/* Good frames do not heal it, and nothing is sent by it. */
UNIT_RULE(rx__neither_reads_nor_writes_a_broken_channel)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7) };
	const struct rig_frame answer = { .qpn = RIG_QPN(PEER, 1) };

	break_ring(peer);
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 1);
	rig_put_frame(peer, &frame);
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 200);
	rig_send(local, &answer, 1);
	assert_int_equal(local->stats.tx_stalled, 1);
	assert_int_equal(rig_drain(peer), 0);
}

UNIT_RULE(rx__goes_on_with_others_beside_a_broken_channel)
{
	break_ring(peer);
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 1);
	assert_true(is_received_for(other, RIG_QPN(SELF, 8)));
}

/* It was polled when it broke: its place is for others. */
UNIT_RULE(rx__polls_no_broken_channel)
{
	assert_true(is_received_for(peer, RIG_QPN(SELF, 7)));
	assert_int_equal(local->hots, 1);
	break_ring(peer);
	rig_poll_none(local, 3);
	assert_int_equal(local->stats.broken, 1);
	assert_int_equal(local->hots, 0);
}

/* Its ring has a word that stays: a bell that rang for it would cost each poll a look. */
UNIT_RULE(rx__rings_no_bell_for_a_broken_channel)
{
	break_ring(peer);
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 1);
	assert_int_equal(local->stats.broken, 1);
	assert_false(roce_bell_has_rung(local->bell));
}

/* ---- a peer that sends without end ---- */

/* Every line of the ring is the header word of a frame: no entry is the last one. */
static void
fill_endlessly(struct roce_channel *from, uint32_t qpn)
{
	const struct rig_frame frame = { .qpn = qpn };
	uint8_t bytes[RIG_V4_LEN];
	const uint32_t word = rig_bytes(bytes, &frame);

	for (uint32_t at = 0; at < ROCE_RING_BYTES; at += LINE) {
		memcpy(&from->tx.ring->data[at], &word, sizeof(word));
		memcpy(&from->tx.ring->data[at + sizeof(word)], bytes, word);
	}
}

/* Frames that are dropped count as well: a poll ends. */
UNIT_RULE(rx__ends_when_a_peer_sends_wrong_frames_without_end)
{
	fill_endlessly(peer, RIG_QPN(SELF, 8));
	(void)roce_bell_ring(local->bell, PEER);
	rig_poll_none(local, 1);
	assert_in_range(local->stats.rx_wrong_source, 1, RIG_BURST);
}

/* Frames of 100 bytes are the other's. @return is one seen within some polls? */
static bool
is_other_served(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct rte_mbuf *pkts[RIG_BURST];
		uint16_t n = roce_local_rx(local, pkts, RIG_BURST);
		bool seen = false;

		for (uint16_t p = 0; p < n; p++)
			seen = seen || pkts[p]->pkt_len == 100;
		rte_pktmbuf_free_bulk(pkts, n);
		if (seen)
			return true;
	}
	return false;
}

/* At least once in four polls. */
UNIT_RULE(rx__serves_who_is_polled_beside_a_peer_that_sends_without_end)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 8), .len = 100 };

	assert_true(is_received_for(peer, RIG_QPN(SELF, 7)));
	assert_true(is_received_for(other, RIG_QPN(SELF, 8)));
	assert_int_equal(local->hots, 2);
	fill_endlessly(peer, RIG_QPN(SELF, 7));
	for (unsigned int i = 0; i < 20; i++) {
		rig_put_frame(other, &frame);
		assert_true(is_other_served());
	}
}

UNIT_RULE(rx__serves_who_rings_beside_a_peer_that_sends_without_end)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 8), .len = 100 };

	fill_endlessly(peer, RIG_QPN(SELF, 7));
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(rig_poll(local, NULL), RIG_BURST);
	rig_put_frame(other, &frame);
	(void)roce_bell_ring(local->bell, OTHER);
	assert_true(is_other_served());
}

/* Of many that ring, all have turns, whatever their numbers: 8 are polled and 4 ring, all of them without end. */
UNIT_RULE(rx__serves_who_rings_beside_many_that_send_without_end)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 8), .len = 100 };

	for (uint32_t number = 20; number < 32; number++) {
		rig_set_peer(local, number, number);
		fill_endlessly(rig_play(local, number), RIG_QPN(SELF, number));
		assert_true(rig_poll(local, NULL) > 0);
	}
	assert_int_equal(local->hots, 8);
	for (unsigned int i = 0; i < 20; i++) {
		bool served = false;

		rig_put_frame(other, &frame);
		(void)roce_bell_ring(local->bell, OTHER);
		for (unsigned int polls = 0; polls < 5 && !served; polls++)
			served = is_other_served();
		assert_true(served);
	}
}

/* Frames of this process to itself leave room as well. */
UNIT_RULE(rx__serves_others_beside_frames_to_itself)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 8), .len = 100 };
	const struct rig_frame own = { .qpn = RIG_QPN(SELF, 10) };

	for (unsigned int i = 0; i < 4 * RIG_BURST; i++)
		rig_send(local, &own, 1);
	rig_put_frame(other, &frame);
	(void)roce_bell_ring(local->bell, OTHER);
	assert_true(is_other_served());
	while (rig_poll(local, NULL) > 0)
		continue;
}

/* ---- what roced passes ---- */

#define PASSED_LEN 200u /**< of frames that roced passed */

static void
pass(void)
{
	const struct rig_frame frame = { .qpn = 1, .len = PASSED_LEN };
	uint8_t bytes[PASSED_LEN];

	roce_local_deliver(local, bytes, rig_bytes(bytes, &frame));
}

/* Poll until a frame comes that roced passed. @return frames before it; UINT_MAX: none came in so many polls. */
static unsigned int
count_before_passed(unsigned int polls)
{
	unsigned int before = 0;
	bool seen = false;

	while (!seen && polls-- > 0) {
		struct rte_mbuf *pkts[RIG_BURST];
		uint16_t n = roce_local_rx(local, pkts, RIG_BURST);

		for (uint16_t i = 0; i < n && !seen; i++) {
			seen = pkts[i]->pkt_len == PASSED_LEN;
			before += !seen;
		}
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return seen ? before : UINT_MAX;
}

static void
send_and_pass(unsigned int n)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7) };

	for (unsigned int i = 0; i < n; i++)
		rig_put_frame(peer, &frame);
	(void)roce_bell_ring(local->bell, PEER);
	pass();
}

/* A DREQ must not overtake the acknowledgement that its sender sent before: from an armed channel, and a polled one. */
UNIT_RULE(rx__gives_what_roced_passed_behind_what_was_sent_before)
{
	send_and_pass(1);
	assert_int_equal(count_before_passed(1), 1);
	assert_int_equal(local->hots, 1);
	send_and_pass(1);
	assert_int_equal(count_before_passed(1), 1);
}

/* A process sends to itself by its inbox. */
UNIT_RULE(rx__gives_what_roced_passed_behind_frames_to_itself)
{
	const struct rig_frame own = { .qpn = RIG_QPN(SELF, 10) };

	for (unsigned int i = 0; i < 2 * RIG_BURST; i++)
		rig_send(local, &own, 1);
	pass();
	assert_int_equal(count_before_passed(8), 2 * RIG_BURST);
}

UNIT_RULE(rx__gives_what_roced_passed_behind_more_than_a_burst)
{
	for (unsigned int n = RIG_BURST - 2; n < 5 * RIG_BURST; n++) {
		send_and_pass(n);
		assert_int_equal(count_before_passed(64), n);
	}
}

UNIT_RULE(rx__gives_what_roced_passed_beside_a_peer_that_sends_without_end)
{
	fill_endlessly(peer, RIG_QPN(SELF, 7));
	(void)roce_bell_ring(local->bell, PEER);
	for (unsigned int i = 0; i < 3; i++) {
		pass();
		assert_int_not_equal(count_before_passed(300), UINT_MAX);
	}
}

/* ---- what is left when a peer ends ---- */

UNIT_RULE(pending__is_what_was_not_received)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 7) };

	assert_false(roce_local_is_pending(local, PEER));
	rig_put_frame(peer, &frame);
	assert_true(roce_local_is_pending(local, PEER));
	assert_false(roce_local_is_pending(local, OTHER));
	assert_false(roce_local_is_pending(local, 77));
	(void)roce_bell_ring(local->bell, PEER);
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_false(roce_local_is_pending(local, PEER));
}

/* Messages of the connection manager come by way of roced: the end of a peer waits for those, too. */
UNIT_RULE(pending__is_what_roced_has_passed)
{
	pass();
	assert_true(roce_local_is_pending(local, PEER));
	assert_int_equal(rig_poll(local, NULL), 1);
	assert_false(roce_local_is_pending(local, PEER));
}
