/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of local/transmit.c: where a frame goes, and a peer that does not read. Process 5 is under test, with
 * channels to the processes 2 and 3 and to the uplink, all of them played. An entry of the ring has one line here.
 */

#include "local_rig.h"

#define SELF  5u
#define PEER  2u
#define OTHER 3u

#define LINES 65536u       /**< of a ring */
#define FULL  (LINES - 1)  /**< frames of one line that fit */
#define SHARE (LINES / 64) /**< frames that a peer has to read in its time */
#define RECOVER \
	(LINES / 2 - 1) /**< frames that may be left when a peer that was given up gets some again */

static struct roce_local *local;
static struct roce_channel *peer, *other, *uplink;
static const struct rig_frame to_peer = { .qpn = RIG_QPN(PEER, 7) };
static const struct rig_frame to_other = { .qpn = RIG_QPN(OTHER, 7) };

static int
setup(void **state)
{
	local = rig_open(SELF);
	peer = rig_play(local, PEER);
	other = rig_play(local, OTHER);
	uplink = rig_play(local, ROCE_PROCESS_UPLINK);
	return 0;
}

static int
teardown(void **state)
{
	rig_close(local);
	assert_true(unit_pool_is_full());
	return 0;
}

/* ---- where a frame goes ---- */

static void
send(const struct rig_frame *frame)
{
	rig_send(local, frame, 1);
}

UNIT_RULE(tx__goes_to_the_process_of_the_queue_pair)
{
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		const struct rig_frame frames[] = {
			{ .qpn = RIG_QPN(PEER, 0), .v6 = v6 },
			{ .qpn = RIG_QPN(PEER, 16383), .v6 = v6 },
			{ .qpn = RIG_QPN(OTHER, 5), .v6 = v6 },
		};

		rig_send(local, frames, RTE_DIM(frames));
		assert_int_equal(rig_drain(peer), 2);
		assert_int_equal(rig_drain(other), 1);
		assert_int_equal(rig_drain(uplink), 0);
	}
}

/* Other addresses, and whatever is not RoCEv2 over UDP, are for the host that has the uplink. */
UNIT_RULE(tx__goes_to_the_uplink_otherwise)
{
	const struct rig_frame frames[] = {
		{ .qpn = RIG_QPN(PEER, 7), .foreign = true },
		{ .qpn = RIG_QPN(PEER, 7), .foreign = true, .v6 = true },
		{ .qpn = 1, .foreign = true },
		{ .qpn = RIG_QPN(PEER, 7), .len = RIG_V4_LEN - 1 },
	};
	const uint8_t arp[42] = { [12] = 0x08, [13] = 0x06 };
	struct rte_mbuf *m = unit_mbuf(arp, sizeof(arp));

	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(roce_local_tx(local, &m, 1), 1);
	assert_int_equal(rig_drain(uplink), 5);
	assert_int_equal(rig_drain(peer), 0);
	assert_int_equal(rig_drain(other), 0);
}

/* However many segments it has: its bytes. The headers are in the first one. */
UNIT_RULE(tx__sends_all_segments)
{
	for (uint32_t split = RIG_V4_LEN; split < 300; split++) {
		const struct rig_frame frame = { .qpn = RIG_QPN(PEER, 7), .len = 300 };
		uint8_t bytes[300];
		struct rte_mbuf *m;
		const uint8_t *there;
		bool broken = false;
		uint32_t len;

		rig_bytes(bytes, &frame);
		for (uint32_t i = RIG_V4_LEN; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)i;
		m = unit_mbuf_chain(bytes, sizeof(bytes), split);
		assert_int_equal(roce_local_tx(local, &m, 1), 1);
		there = roce_ring_next(&peer->rx, &len, &broken);
		assert_non_null(there);
		assert_int_equal(len, sizeof(bytes));
		assert_memory_equal(there, bytes, sizeof(bytes));
		roce_ring_release(&peer->rx);
	}
}

UNIT_RULE(tx__sends_the_largest_frame_and_none_larger)
{
	const struct rig_frame frames[] = {
		{ .qpn = RIG_QPN(PEER, 7), .len = 4352 },
		{ .qpn = RIG_QPN(PEER, 7), .len = 4353 },
		{ .qpn = RIG_QPN(PEER, 7) },
	};
	bool broken = false;
	uint32_t len;

	rig_send(local, frames, RTE_DIM(frames));
	assert_non_null(roce_ring_next(&peer->rx, &len, &broken));
	assert_int_equal(len, 4352);
	assert_non_null(roce_ring_next(&peer->rx, &len, &broken));
	assert_int_equal(len, RIG_V4_LEN);
}

UNIT_RULE(tx__drops_what_is_no_ethernet_frame)
{
	const uint8_t bytes[13] = { 0 };

	for (uint32_t len = 1; len <= sizeof(bytes); len++) {
		struct rte_mbuf *m = unit_mbuf(bytes, len);

		assert_int_equal(roce_local_tx(local, &m, 1), 1);
	}
	assert_int_equal(rig_drain(uplink), 0);
}

/* ---- by way of roced ---- */

UNIT_RULE(tx__of_the_connection_manager_goes_to_roced)
{
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		const struct rig_frame frame = { .qpn = qpn, .len = 322, .mark = 0x5a };
		uint8_t bytes[322];
		struct roce_msg msg;

		rig_bytes(bytes, &frame);
		send(&frame);
		msg = rig_told(local);
		assert_fields(msg, (type, ROCE_MSG_FRAME), (frame.len, sizeof(bytes)));
		assert_memory_equal(msg.frame.data, bytes, sizeof(bytes));
	}
	rig_told_nothing(local);
}

/* No datagram of the connection manager is that long. */
UNIT_RULE(tx__of_the_connection_manager_fits_a_message)
{
	const struct rig_frame frames[] = { { .qpn = 1, .len = 513 }, { .qpn = 1, .len = 512 } };

	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(rig_told(local).frame.len, 512);
	rig_told_nothing(local);
}

/* A DREQ arrives behind the acknowledgement that was sent before it, though that goes another way. */
UNIT_RULE(tx__of_the_connection_manager_goes_behind_what_was_sent_before)
{
	const struct rig_frame frames[] = { to_other, to_peer, { .qpn = 1, .len = 322 } };

	rig_watch_roced(local, peer);
	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(rig_was_ready(), 1);
	assert_int_equal(rig_drain(peer), 1);
	assert_int_equal(rig_drain(other), 1);
}

/* It is away, or does not read: the datagram is lost, and its sender repeats it. */
UNIT_RULE(tx__of_the_connection_manager_does_not_wait)
{
	const struct rig_frame frame = { .qpn = 1, .len = 322 };
	unsigned int told = 0;

	for (unsigned int i = 0; i < 2000; i++)
		send(&frame);
	for (; told < 2000; told++) {
		struct roce_msg msg;
		int fds[ROCE_PROTO_FDS];
		unsigned int n;

		if (roce_msg_recv(rig_roced(local), &msg, fds, &n) != 0)
			break;
	}
	assert_in_range(told, 1, 1999);
}

/* ---- to itself ---- */

UNIT_RULE(tx__to_itself_comes_back)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 9), .len = 100 };
	struct rte_mbuf *sent = rig_mbuf(&frame), *m = sent;
	struct rte_mbuf *pkts[RIG_BURST];

	assert_int_equal(roce_local_tx(local, &m, 1), 1);
	assert_int_equal(roce_local_rx(local, pkts, RIG_BURST), 1);
	/* The frame itself, in any number of segments. */
	assert_ptr_equal(pkts[0], sent);
	rte_pktmbuf_free(pkts[0]);
	rig_told_nothing(local);
}

/* Frames to itself and to others, in one burst: each is where it belongs. */
UNIT_RULE(tx__to_itself_and_others_at_once)
{
	const struct rig_frame own = { .qpn = RIG_QPN(SELF, 9) };
	const struct rig_frame frames[] = { own, to_peer, own, to_other, to_peer, own };
	unsigned int got = 0;

	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(rig_drain(peer), 2);
	assert_int_equal(rig_drain(other), 1);
	for (unsigned int polls = 0; polls < 3; polls++)
		got += rig_poll(local, NULL);
	assert_int_equal(got, 3);
}

/* More than the inbox holds is dropped. */
UNIT_RULE(tx__to_itself_has_bounds)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(SELF, 9) };
	unsigned int sent = 0, got = 0, n;
	struct rte_mbuf *m[2];

	/* All but a few buffers of the pool: the inbox has more room than that. */
	while (rte_mempool_avail_count(unit_pool()) > 40) {
		m[0] = rig_mbuf(&frame);
		assert_int_equal(roce_local_tx(local, m, 1), 1);
		sent++;
	}
	while ((n = rig_poll(local, NULL)) > 0)
		got += n;
	assert_int_equal(got, sent);
}

/* ---- no channel ---- */

UNIT_RULE(tx__without_a_channel_asks_for_one)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(77, 3) };
	struct roce_msg msg;

	for (unsigned int i = 0; i < 5; i++)
		send(&frame);
	msg = rig_told(local);
	assert_fields(msg, (type, ROCE_MSG_OPEN), (peer.number, 77));
	/* Once, until there is an answer. */
	rig_told_nothing(local);
	assert_int_equal(local->stats.tx_no_channel, 5);
}

/* The answer was that the process has ended: another one may have the number by now. */
UNIT_RULE(tx__asks_again_after_an_answer)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(77, 3) };

	send(&frame);
	(void)rig_told(local);
	assert_null(roce_local_remove(local, 77));
	send(&frame);
	assert_int_equal(rig_told(local).peer.number, 77);
	(void)rig_play(local, 77);
	roce_channel_close(roce_local_remove(local, 77));
	send(&frame);
	assert_int_equal(rig_told(local).peer.number, 77);
}

/* Number 1023 is nobody's. */
UNIT_RULE(tx__to_a_process_that_cannot_be_asks_for_nothing)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(1023, 3) };

	send(&frame);
	rig_told_nothing(local);
	assert_int_equal(local->stats.tx_no_channel, 1);
}

UNIT_RULE(tx__without_an_uplink_asks_for_it)
{
	const struct rig_frame frame = { .qpn = RIG_QPN(PEER, 3), .foreign = true };

	roce_channel_close(roce_local_remove(local, ROCE_PROCESS_UPLINK));
	send(&frame);
	assert_int_equal(rig_told(local).peer.number, 0);
	assert_int_equal(rig_drain(peer), 0);
}

/* ---- bursts ---- */

/* A burst for more processes than are remembered in one go: none is forgotten. */
UNIT_RULE(tx__publishes_every_channel_of_a_burst)
{
	struct roce_channel *many[50];
	struct rig_frame frames[2 * RTE_DIM(many)];

	for (uint32_t i = 0; i < RTE_DIM(many); i++) {
		many[i] = rig_play(local, 100 + i);
		frames[i].qpn = frames[RTE_DIM(frames) - 1 - i].qpn = RIG_QPN(100 + i, 1);
	}
	for (size_t i = 0; i < RTE_DIM(frames); i++)
		frames[i] = (struct rig_frame){ .qpn = frames[i].qpn };
	rig_send(local, frames, RTE_DIM(frames));
	for (uint32_t i = 0; i < RTE_DIM(many); i++)
		assert_int_equal(rig_drain(many[i]), 2);
}

/* ---- a peer that does not read ---- */

static void
fill(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		send(&to_peer);
}

/* @return is a frame for the peer taken? It is freed then, else it stays the test's and goes as well. */
static bool
is_taken(void)
{
	struct rte_mbuf *m = rig_mbuf(&to_peer);

	if (roce_local_tx(local, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

/* The played peer takes so many frames, and releases them. */
static void
read_frames(uint32_t n)
{
	bool broken = false;
	uint32_t len;

	while (n-- > 0)
		assert_non_null(roce_ring_next(&peer->rx, &len, &broken));
	roce_ring_release(&peer->rx);
}

/* Frames that were not taken are the caller's, in order, and go first next time. */
UNIT_RULE(tx__waits_for_a_peer_whose_ring_is_full)
{
	struct rte_mbuf *pkts[6], *left[3];
	bool broken = false;
	uint32_t mark = 0, len;

	fill(FULL - 3);
	for (uint32_t i = 0; i < RTE_DIM(pkts); i++) {
		const struct rig_frame frame = {
			.qpn = RIG_QPN(PEER, 7), .len = 60, .mark = (uint8_t)i
		};

		pkts[i] = rig_mbuf(&frame);
	}
	memcpy(left, pkts + 3, sizeof(left));
	assert_int_equal(roce_local_tx(local, pkts, 6), 3);
	assert_memory_equal(pkts + 3, left, sizeof(left));
	assert_int_equal(roce_local_tx(local, pkts + 3, 3), 0);
	read_frames(FULL - 3);
	assert_int_equal(roce_local_tx(local, pkts + 3, 3), 3);
	for (; mark < RTE_DIM(pkts); mark++) {
		const uint8_t *frame = roce_ring_next(&peer->rx, &len, &broken);

		assert_non_null(frame);
		assert_int_equal(frame[59], mark);
	}
	assert_int_equal(local->stats.tx_stalled, 0);
}

/* Frames ahead of the one that waits are seen by their receivers. */
UNIT_RULE(tx__publishes_what_is_ahead_of_a_wait)
{
	struct rte_mbuf *pkts[3];

	fill(FULL);
	pkts[0] = rig_mbuf(&to_other);
	pkts[1] = rig_mbuf(&to_peer);
	pkts[2] = rig_mbuf(&to_other);
	assert_int_equal(roce_local_tx(local, pkts, 3), 1);
	assert_int_equal(rig_drain(other), 1);
	rte_pktmbuf_free_bulk(pkts + 1, 2);
}

/* From now on no peer has any time to read. */
static void
let_time_pass(void)
{
	local->stall_ticks = 0;
}

/* The peer's ring is full, and its time is over. */
static void
stall(void)
{
	let_time_pass();
	fill(FULL);
	assert_false(is_taken());
	assert_true(is_taken());
	assert_int_equal(local->stats.tx_stalled, 1);
}

UNIT_RULE(tx__gives_up_a_peer_that_does_not_read)
{
	stall();
	for (unsigned int i = 0; i < 100; i++)
		assert_true(is_taken());
	assert_int_equal(local->stats.tx_stalled, 101);
	assert_int_equal(rig_drain(peer), FULL);
}

/* As long as it has time. */
UNIT_RULE(tx__gives_up_no_peer_that_has_time)
{
	fill(FULL);
	for (unsigned int i = 0; i < 1000; i++)
		assert_false(is_taken());
	assert_int_equal(local->stats.tx_stalled, 0);
}

UNIT_RULE(tx__to_others_goes_on_beside_a_peer_that_was_given_up)
{
	const struct rig_frame frames[] = { to_peer, to_other, to_peer, to_other };

	stall();
	rig_send(local, frames, RTE_DIM(frames));
	assert_int_equal(rig_drain(other), 2);
}

/* Half of its ring has to be free, not less. */
UNIT_RULE(tx__to_a_peer_that_reads_again_goes_on)
{
	stall();
	read_frames(FULL - RECOVER - 2);
	assert_true(is_taken());
	assert_int_equal(local->stats.tx_stalled, 2);
	read_frames(1);
	assert_true(is_taken());
	assert_int_equal(local->stats.tx_stalled, 2);
	assert_int_equal(rig_drain(peer), RECOVER + 2);
}

/* A share of the ring in its time is enough, however full the ring is then. */
UNIT_RULE(tx__waits_for_a_peer_that_reads_its_share)
{
	fill(FULL);
	let_time_pass();
	for (unsigned int i = 0; i < 20; i++) {
		assert_false(is_taken());
		read_frames(SHARE);
		fill(SHARE);
	}
	assert_int_equal(local->stats.tx_stalled, 0);
}

/* One frame now and then would hold up all others for as long as the peer likes. */
UNIT_RULE(tx__gives_up_a_peer_that_reads_too_little)
{
	unsigned int frames = 0;

	fill(FULL);
	let_time_pass();
	while (local->stats.tx_stalled == 0 && frames < SHARE) {
		while (is_taken() && local->stats.tx_stalled == 0)
			continue;
		read_frames(1);
		frames++;
	}
	assert_int_equal(local->stats.tx_stalled, 1);
}

/* It was full long ago, and has read since. */
UNIT_RULE(tx__forgets_that_a_ring_was_full)
{
	let_time_pass();
	fill(FULL);
	assert_false(is_taken());
	for (unsigned int i = 0; i < 3; i++) {
		read_frames(FULL - 1);
		fill(FULL - 1);
		assert_false(is_taken());
	}
	assert_int_equal(local->stats.tx_stalled, 0);
}

/* ---- a peer that lies ---- */

UNIT_RULE(tx__breaks_a_channel_whose_head_is_impossible)
{
	fill(FULL);
	peer->rx.ring->head = 63;
	for (unsigned int i = 0; i < 10; i++)
		assert_true(is_taken());
	assert_int_equal(local->stats.broken, 1);
	assert_int_equal(local->stats.tx_stalled, 10);
	send(&to_other);
	assert_int_equal(rig_drain(other), 1);
}

/* Its words are not believed any more. */
UNIT_RULE(tx__writes_no_broken_channel)
{
	static struct roce_ring was;

	fill(FULL);
	peer->rx.ring->head = 63;
	assert_true(is_taken());
	memcpy(&was, peer->rx.ring, sizeof(was));
	was.head = peer->rx.ring->head = local->channel[PEER]->tx.tail;
	assert_true(is_taken());
	assert_memory_equal(peer->rx.ring, &was, sizeof(was));
}

/* One that was given up says that it has read what was never sent. */
UNIT_RULE(tx__believes_no_impossible_recovery)
{
	static const uint32_t ahead[] = { 64, LINES * 64, UINT32_MAX / 2 };

	stall();
	for (size_t i = 0; i < RTE_DIM(ahead); i++) {
		peer->rx.ring->head = local->channel[PEER]->tx.tail + ahead[i];
		assert_true(is_taken());
	}
	assert_int_equal(local->stats.tx_stalled, 1 + RTE_DIM(ahead));
}
