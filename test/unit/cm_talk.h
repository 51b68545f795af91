/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_CM_TALK_H
#define ROCE_TEST_CM_TALK_H

/**
 * @file
 * What was said in a world of connection managers, and saying things by hand.
 */

#include "cm_world.h"

/** How often an end was told something. */
static inline unsigned int
told_times(const struct end *end, enum roce_cm_event_kind kind)
{
	unsigned int i, times = 0;

	for (i = 0; i < end->events; i++)
		times += end->told[i].kind == kind;
	return times;
}

/** The kinds an end was told, in order, as letters: Q request, P reply, E established, R rejected, T timed out,
 * U unreachable, D disconnected, W the way, B broken. */
static inline const char *
told_all(const struct end *end)
{
	static char text[2][EVENTS_MAX + 1];
	static unsigned int turn;
	char *to = text[turn++ % 2];
	unsigned int i;

	for (i = 0; i < end->events; i++)
		to[i] = " QPERTUDWB"[end->told[i].kind];
	to[i] = '\0';
	return to;
}

static inline uint32_t
in_state(const struct end *end, enum roce_cm_state state)
{
	uint32_t counts[ROCE_CM_STATES] = { 0 };

	assert_int_equal(roce_cm_count_by_state(end->cm, counts, ROCE_CM_STATES), ROCE_CM_STATES);
	return counts[state];
}

static inline uint32_t
connections(const struct end *end)
{
	uint32_t sum = 0;
	unsigned int i;

	for (i = 1; i < ROCE_CM_STATES; i++)
		sum += in_state(end, i);
	return sum;
}

/** A pair that is connected; the active end's connection in @p a, the passive one's in @p b. */
static inline struct world *
world_connected(struct roce_cm_conn **a, struct roce_cm_conn **b)
{
	struct world *world = world_create();

	world_listen(&world->end[1], 4);
	*a = world_connect(&world->end[0], UINT64_MAX);
	world_run_ms(world, 1);
	assert_string_equal(told_all(&world->end[0]), "P");
	assert_string_equal(told_all(&world->end[1]), "QE");
	*b = world->end[1].told[1].conn;
	return world;
}

/** Everybody let go of everything: nothing is left. Ends the world. */
static inline void
world_all_over(struct world *world)
{
	world_settle(world);
	assert_int_equal(connections(&world->end[0]), 0);
	assert_int_equal(connections(&world->end[1]), 0);
	world_destroy(world);
}

/** The MAD of the last frame sent. */
static inline struct roce_cm_mad
last_mad(const struct world *world)
{
	struct roce_cm_mad mad;

	memcpy(&mad, world->last + world->last_len - ROCE_ICRC_LEN - sizeof(mad), sizeof(mad));
	return mad;
}

/** A frame with this MAD, from the other end to @p to, as the other end would send it. */
static inline struct rte_mbuf *
forge(struct end *to, const struct roce_cm_mad *mad)
{
	struct roce_path path = {
		.src_mac = other(to)->mac,
		.dst_mac = to->mac,
		.src_ip = other(to)->ip,
		.dst_ip = to->ip,
		.udp_sport = 55410,
		.vlan_tci = other(to)->vlan_tci,
		.tos = other(to)->tos,
		.ttl = 64,
	};
	struct roce_frame_spec spec = {
		.opcode = IBV_OPCODE_UD_SEND_ONLY,
		.ack_req = true,
		.payload_len = sizeof(*mad),
	};
	struct roce_deth deth = { RTE_BE32(ROCE_GSI_QKEY), RTE_BE32(ROCE_QPN_GSI) };
	struct rte_mbuf *m = rte_pktmbuf_alloc(unit_pool());
	struct roce_template template;
	uint8_t *at;

	assert_non_null(m);
	roce_template_init(&template, &path, ROCE_QPN_GSI, false);
	at = roce_frame_build(m, &template, &spec);
	memcpy(at, &deth, sizeof(deth));
	memcpy(at + sizeof(deth), mad, sizeof(*mad));
	roce_icrc_put(m, &template);
	return m;
}

/** Let an end hear a message of the other. */
static inline void
hear(struct end *to, const struct roce_cm_msg *msg)
{
	struct roce_cm_mad mad;

	roce_cm_msg_encode(msg, &mad);
	world_deliver(to, forge(to, &mad));
}

/** Frames that an end sends now; they are lost, but for world->last. */
static inline unsigned int
speak(struct end *end)
{
	struct rte_mbuf *pkts[32];
	unsigned int total = 0;
	uint16_t n, k;

	while ((n = end->gsi.tx(end->gsi.arg, pkts, 32, end->world->now)) != 0) {
		for (k = 0; k < n; k++) {
			end->world->last_len = rte_pktmbuf_pkt_len(pkts[k]);
			memcpy(end->world->last, rte_pktmbuf_mtod(pkts[k], void *),
					end->world->last_len);
			rte_pktmbuf_free(pkts[k]);
		}
		total += n;
	}
	return total;
}

/** The last frame that an end sent, as a message. */
static inline struct roce_cm_msg
last_msg(const struct world *world)
{
	static struct roce_cm_mad mad;
	struct roce_cm_msg msg;

	mad = last_mad(world);
	assert_true(roce_cm_msg_decode(&mad, &msg));
	return msg;
}

/** A REQ as the other end would send it, that nothing is wrong with. */
static inline struct roce_cm_msg
good_request(struct end *to)
{
	return (struct roce_cm_msg){
		.tid = 0x1111,
		.local_id = 0x2222,
		.attr = ROCE_CM_ATTR_REQ,
		.param = {
			.qpn = 0x333,
			.psn = 0x444,
			.retry = 7,
			.rnr_retry = 7,
			.ack_timeout = 14,
			.mtu_code = 3,
		},
		.req = {
			.service_id = SERVICE,
			.local_gid = other(to)->ip,
			.remote_gid = to->ip,
			.flow_label = 0x4aab5,
			.pkey = 0xffff,
			.src_port = 0x8765,
		},
	};
}

/** What an end says to this request: one message, as that is the rule. */
static inline struct roce_cm_msg
said_to(struct end *end, const struct roce_cm_msg *req)
{
	hear(end, req);
	assert_int_equal(speak(end), 1);
	return last_msg(end->world);
}

#endif
