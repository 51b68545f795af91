/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process with the uplink (local/uplink.c): which frames of processes reach the wire, and which process a frame of the
 * wire reaches. The host is 02:00:00:00:00:07 with 10.0.0.1 and fd00::1, and has the processes 2 and 3; the other host is
 * 10.0.0.2 and fd00::2.
 */

#include "local/uplink.h"
#include "local_rig.h"
#include "roced/frames.h"

#define PEER  2u
#define OTHER 3u

/* Offsets behind an Ethernet header of 14 bytes. */
#define V4_SRC  26u
#define V4_DST  30u
#define V4_PORT 36u
#define V6_SRC  22u
#define V6_DST  38u

static const uint8_t host4[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1 };
static const uint8_t remote4[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };
static const uint8_t host6[16] = { [0] = 0xfd, [15] = 1 };
static const uint8_t remote6[16] = { [0] = 0xfd, [15] = 2 };

static struct roce_local *local;
static struct roce_channel *peer, *other;

static int
setup(void **state)
{
	local = rig_open(ROCE_PROCESS_UPLINK);
	local->uplink = true;
	local->identity = (struct roce_proto_identity){
		.mac = { 2, 0, 0, 0, 0, 7 },
		.addrs = 2,
	};
	memcpy(local->identity.addr[0].ip, host4, sizeof(host4));
	memcpy(local->identity.addr[1].ip, host6, sizeof(host6));
	peer = rig_play(local, PEER);
	other = rig_play(local, OTHER);
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

/* ---- to the wire ---- */

/* From the host, for any queue pair of the other one. */
static uint32_t
outgoing(uint8_t *bytes, bool v6)
{
	const struct rig_frame frame = {
		.qpn = RIG_QPN(OTHER, 9), .v6 = v6, .foreign = true, .len = 100
	};
	uint32_t len = rig_bytes(bytes, &frame);

	memcpy(bytes + 6, local->identity.mac, sizeof(local->identity.mac));
	return len;
}

/* Process PEER writes the bytes. Do they leave? Else they were counted. */
static bool
leaves(const uint8_t *bytes, uint32_t len)
{
	uint64_t wrong = local->stats.rx_wrong_source;
	struct rte_mbuf *pkts[4];
	uint16_t n;

	rig_put(peer, bytes, len);
	(void)roce_bell_ring(local->bell, PEER);
	n = roce_uplink_rx(local, pkts, RTE_DIM(pkts));
	assert_int_equal(local->stats.rx_wrong_source, wrong + (n == 0));
	if (n == 1)
		assert_memory_equal(rte_pktmbuf_mtod(pkts[0], const void *), bytes, len);
	rte_pktmbuf_free_bulk(pkts, n);
	return n == 1;
}

UNIT_RULE(leaves__what_is_from_the_host_for_another_one)
{
	uint8_t bytes[128];

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		uint32_t len = outgoing(bytes, v6 != 0);

		assert_true(leaves(bytes, len));
	}
}

/* One byte of each is another one. */
UNIT_RULE(stays__what_is_from_or_for_others_or_none_of_rocev2)
{
	static const struct {
		bool v6;
		uint8_t at;
	} rule[] = {
		{ false, 6 },          /* MAC address */
		{ true, 11 },          /* of the source */
		{ false, V4_SRC + 3 }, /* IP address */
		{ true, V6_SRC + 15 }, /* of the source */
		{ false, V4_PORT },    /* UDP port */
		{ false, 23 },         /* protocol of IPv4 */
		{ true, 20 },          /* next header of IPv6 */
		{ false, 14 },         /* version and length */
		{ false, 12 },         /* EtherType */
	};
	uint8_t bytes[128];

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint32_t len = outgoing(bytes, rule[i].v6);

		bytes[rule[i].at] ^= 8;
		assert_false(leaves(bytes, len));
	}
}

/* It would come back as a frame of another host. */
UNIT_RULE(stays__what_is_for_the_host_itself)
{
	uint8_t bytes[128];
	uint32_t len = outgoing(bytes, false);

	memcpy(bytes + V4_DST, host4 + 12, 4);
	assert_false(leaves(bytes, len));
	len = outgoing(bytes, true);
	memcpy(bytes + V6_DST, host6, 16);
	assert_false(leaves(bytes, len));
}

/* ARP (RFC 826): 14 bytes of Ethernet, the operation at 20. */
static uint32_t
arp(uint8_t *bytes, uint8_t operation)
{
	memset(bytes, 0, 60);
	memset(bytes, 0xff, 6);
	memcpy(bytes + 6, local->identity.mac, 6);
	memcpy(bytes + 12, (const uint8_t[]){ 8, 6, 0, 1, 8, 0, 6, 4 }, 8);
	bytes[21] = operation;
	return 60;
}

/* Neighbour discovery (RFC 4861 4.3, 4.4): the type of ICMPv6 at 54. */
static uint32_t
discovery(uint8_t *bytes, uint8_t type)
{
	memset(bytes, 0, 86);
	memcpy(bytes + 6, local->identity.mac, 6);
	bytes[12] = 0x86;
	bytes[13] = 0xdd;
	bytes[14] = 0x60;
	bytes[20] = 58;
	bytes[54] = type;
	return 86;
}

UNIT_RULE(leaves__a_question_for_neighbours_and_no_answer)
{
	uint8_t bytes[128];

	assert_true(leaves(bytes, arp(bytes, 1)));
	assert_false(leaves(bytes, arp(bytes, 2)));
	assert_false(leaves(bytes, arp(bytes, 3)));
	assert_true(leaves(bytes, discovery(bytes, 135)));
	assert_false(leaves(bytes, discovery(bytes, 136)));
	assert_false(leaves(bytes, discovery(bytes, 134)));
}

/* Process PEER sends a message of the connection manager to the other host. */
static bool
manages(const struct frame_spec *spec)
{
	struct roce_msg msg = frame_message(spec);

	memcpy(msg.frame.data + 6, local->identity.mac, sizeof(local->identity.mac));
	return leaves(msg.frame.data, msg.frame.len);
}

UNIT_RULE(leaves__a_connection_message_with_ids_and_queue_pairs_of_its_sender)
{
	static const struct {
		uint16_t attr;
		uint32_t id_of, qpn_of; /* processes */
		bool leaves;
	} rule[] = {
		{ ROCE_CM_ATTR_REQ, PEER, PEER, true },
		{ ROCE_CM_ATTR_REQ, OTHER, PEER, false },
		{ ROCE_CM_ATTR_REQ, PEER, OTHER, false },
		{ ROCE_CM_ATTR_REP, PEER, PEER, true },
		{ ROCE_CM_ATTR_REP, OTHER, PEER, false },
		{ ROCE_CM_ATTR_REP, PEER, OTHER, false },
		{ ROCE_CM_ATTR_RTU, PEER, 0, true },
		{ ROCE_CM_ATTR_RTU, OTHER, 0, false },
		{ ROCE_CM_ATTR_DREQ, PEER, 0, true },
		{ ROCE_CM_ATTR_DREQ, OTHER, 0, false },
		{ ROCE_CM_ATTR_DREP, OTHER, 0, false },
		{ ROCE_CM_ATTR_REJ, PEER, 0, true },
		{ ROCE_CM_ATTR_REJ, OTHER, 0, false },
		{ ROCE_CM_ATTR_MRA, OTHER, 0, false },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		struct frame_spec spec = {
			.src = host4,
			.dst = remote4,
			.attr = rule[i].attr,
			.local_id = frame_id(rule[i].id_of, 5),
			.remote_id = 0x12345678,
			.qpn = frame_qpn(rule[i].qpn_of, 9),
		};

		assert_int_equal(manages(&spec), rule[i].leaves);
		spec.src = host6;
		spec.dst = remote6;
		assert_int_equal(manages(&spec), rule[i].leaves);
	}
}

UNIT_RULE(stays__a_message_to_general_services_that_is_none_of_the_connection_manager)
{
	struct frame_spec spec = {
		.src = host4,
		.dst = remote4,
		.attr = ROCE_CM_ATTR_REQ,
		.local_id = frame_id(PEER, 5),
		.qpn = frame_qpn(PEER, 9),
	};
	struct roce_msg msg = frame_message(&spec);

	assert_true(manages(&spec));
	spec.attr = 0x17; /* of SIDR */
	assert_false(manages(&spec));
	memcpy(msg.frame.data + 6, local->identity.mac, sizeof(local->identity.mac));
	msg.frame.data[RIG_V4_LEN - 1 - 4]--; /* to queue pair 0 */
	assert_false(leaves(msg.frame.data, msg.frame.len));
}

/* ---- from the wire ---- */

/* Of the other host for the host. */
static uint32_t
incoming(uint8_t *bytes, bool v6, uint32_t qpn)
{
	const struct rig_frame frame = { .qpn = qpn, .v6 = v6, .len = 100 };
	uint32_t len = rig_bytes(bytes, &frame);

	bytes[v6 ? V6_SRC + 15 : V4_SRC + 3] = 2;
	return len;
}

static void
arrive(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf(bytes, len);

	roce_uplink_tx(local, &m, 1);
}

UNIT_RULE(arrives__at_the_process_of_the_queue_pair)
{
	uint8_t bytes[128];

	for (unsigned int v6 = 0; v6 < 2; v6++) {
		arrive(bytes, incoming(bytes, v6 != 0, RIG_QPN(PEER, 9)));
		assert_int_equal(rig_drain(peer), 1);
		assert_int_equal(rig_drain(other), 0);
		arrive(bytes, incoming(bytes, v6 != 0, RIG_QPN(OTHER, 9)));
		assert_int_equal(rig_drain(peer), 0);
		assert_int_equal(rig_drain(other), 1);
	}
}

UNIT_RULE(arrives__in_a_burst_at_both)
{
	struct rte_mbuf *pkts[32];
	uint8_t bytes[128];

	for (unsigned int i = 0; i < RTE_DIM(pkts); i++) {
		uint32_t len = incoming(bytes, false, RIG_QPN(i % 3 == 0 ? PEER : OTHER, i));

		pkts[i] = unit_mbuf(bytes, len);
	}
	roce_uplink_tx(local, pkts, RTE_DIM(pkts));
	assert_int_equal(rig_drain(peer), 11);
	assert_int_equal(rig_drain(other), 21);
}

UNIT_RULE(arrives__nowhere_for_a_number_that_no_process_has)
{
	static const uint32_t number[] = { 0, 1, 4, 1022, 1023 };
	uint8_t bytes[128];

	for (size_t i = 0; i < RTE_DIM(number); i++)
		arrive(bytes, incoming(bytes, false, RIG_QPN(number[i], 9)));
	assert_int_equal(local->stats.tx_no_channel, RTE_DIM(number));
	assert_int_equal(rig_drain(peer) + rig_drain(other), 0);
}

/* A frame of the wire that says it is from the host would be taken for one of another process. */
UNIT_RULE(arrives__nowhere_when_it_is_not_from_another_host_for_this_one)
{
	static const uint8_t at[] = { V4_SRC + 3, V4_DST + 3, V4_PORT };
	uint8_t bytes[128];

	for (size_t i = 0; i < RTE_DIM(at); i++) {
		uint32_t len = incoming(bytes, false, RIG_QPN(PEER, 9));

		bytes[at[i]] ^= 3; /* 2 becomes 1 */
		arrive(bytes, len);
	}
	assert_int_equal(local->stats.rx_wrong_source, RTE_DIM(at));
	assert_int_equal(rig_drain(peer) + rig_drain(other), 0);
}

UNIT_RULE(arrives__at_roced_when_it_is_a_connection_message)
{
	const struct frame_spec spec = { .src = remote4, .dst = host4, .attr = ROCE_CM_ATTR_REQ };
	const struct roce_msg sent = frame_message(&spec);
	struct roce_msg told;

	arrive(sent.frame.data, sent.frame.len);
	told = rig_told(local);
	assert_int_equal(told.type, ROCE_MSG_FRAME);
	assert_int_equal(told.frame.len, sent.frame.len);
	assert_memory_equal(told.frame.data, sent.frame.data, sent.frame.len);
	assert_int_equal(rig_drain(peer) + rig_drain(other), 0);
}

/* A DREQ behind the acknowledgement that came before it. */
UNIT_RULE(arrives__at_roced_behind_what_came_before)
{
	const struct frame_spec spec = { .src = remote4, .dst = host4, .attr = ROCE_CM_ATTR_DREQ };
	const struct roce_msg sent = frame_message(&spec);
	uint8_t bytes[128];
	uint32_t len = incoming(bytes, false, RIG_QPN(PEER, 9));
	struct rte_mbuf *pkts[] = { unit_mbuf(bytes, len),
		unit_mbuf(sent.frame.data, sent.frame.len) };

	rig_watch_roced(local, peer);
	roce_uplink_tx(local, pkts, RTE_DIM(pkts));
	assert_int_equal(rig_was_ready(), 1);
	assert_int_equal(rig_drain(peer), 1);
}

/* Each process has its own table of neighbours, and none answers for the host. */
UNIT_RULE(arrives__at_all_when_it_is_an_answer_of_a_neighbour)
{
	uint8_t bytes[128];

	arrive(bytes, arp(bytes, 2));
	arrive(bytes, discovery(bytes, 136));
	assert_int_equal(rig_drain(peer), 2);
	assert_int_equal(rig_drain(other), 2);
	arrive(bytes, arp(bytes, 1));
	arrive(bytes, discovery(bytes, 135));
	assert_int_equal(rig_drain(peer) + rig_drain(other), 0);
}

/* As on a switch. */
UNIT_RULE(arrives__beside_a_process_that_does_not_read)
{
	uint8_t bytes[128];

	while (local->stats.tx_stalled == 0)
		arrive(bytes, incoming(bytes, false, RIG_QPN(PEER, 9)));
	arrive(bytes, incoming(bytes, false, RIG_QPN(OTHER, 9)));
	assert_int_equal(rig_drain(other), 1);
	assert_true(rig_drain(peer) > 0);
	arrive(bytes, incoming(bytes, false, RIG_QPN(PEER, 9)));
	assert_int_equal(rig_drain(peer), 1);
}

/* The wire would bring it back. */
UNIT_RULE(returned__is_what_roced_says_and_does_not_leave)
{
	const struct frame_spec spec = { .src = remote4, .dst = host4, .attr = ROCE_CM_ATTR_DREQ };
	const struct roce_msg sent = frame_message(&spec);
	struct rte_mbuf *pkts[4];

	assert_int_equal(roce_uplink_returned(local, pkts, RTE_DIM(pkts)), 0);
	roce_local_deliver(local, sent.frame.data, sent.frame.len);
	assert_int_equal(roce_uplink_rx(local, pkts, RTE_DIM(pkts)), 0);
	assert_int_equal(roce_uplink_returned(local, pkts, RTE_DIM(pkts)), 1);
	assert_int_equal(pkts[0]->pkt_len, sent.frame.len);
	assert_memory_equal(
			rte_pktmbuf_mtod(pkts[0], const void *), sent.frame.data, sent.frame.len);
	rte_pktmbuf_free(pkts[0]);
}

/* ---- what roced is told ---- */

/* Two frames for a process; one each for no process, of a false source, and of another protocol. */
static void
arrive_all(void)
{
	uint8_t bytes[128];
	uint32_t len;

	arrive(bytes, incoming(bytes, false, RIG_QPN(PEER, 9)));
	arrive(bytes, incoming(bytes, true, RIG_QPN(PEER, 9)));
	arrive(bytes, incoming(bytes, false, RIG_QPN(4, 9)));
	len = incoming(bytes, false, RIG_QPN(PEER, 9));
	bytes[V4_SRC + 3] = 1;
	arrive(bytes, len);
	memset(bytes, 0, sizeof(bytes));
	arrive(bytes, sizeof(bytes));
}

/* A frame that may leave, and two that may not. */
static void
leave_all(void)
{
	uint8_t bytes[128];
	uint32_t len = outgoing(bytes, false);

	assert_true(leaves(bytes, len));
	bytes[6] ^= 8;
	assert_false(leaves(bytes, len));
	assert_false(leaves(bytes, len));
}

/* Each reason to drop a frame has a counter of its own; those of the port are passed on. */
UNIT_RULE(tells__roced_what_the_port_and_the_channels_count)
{
	const struct roce_msg_uplink port = { .rx_frames = 11,
		.tx_frames = 12,
		.rx_missed = 13,
		.rx_errors = 14,
		.tx_forged = 15,
		.tx_refused = 16 };
	const struct roce_msg_uplink want = { .rx_frames = 11,
		.tx_frames = 12,
		.rx_local = 2,
		.tx_local = 1,
		.rx_missed = 13,
		.rx_errors = 14,
		.rx_foreign = 1,
		.rx_wrong_address = 1,
		.rx_unroutable = 1,
		.tx_forged = 15 + 2,
		.tx_refused = 16 };
	struct roce_msg told;

	arrive_all();
	leave_all();
	assert_int_equal(roce_uplink_tell(local, &port), 0);
	told = rig_told(local);
	assert_int_equal(told.type, ROCE_MSG_UPLINK);
	assert_memory_equal(&told.uplink, &want, sizeof(want));
	assert_int_equal(rig_drain(peer), 2);
}
