/* SPDX-License-Identifier: BSD-3-Clause */

#include "cm_talk.h"

unsigned int
told_times(const struct end *end, enum roce_cm_event_kind kind)
{
	unsigned int times = 0;

	for (unsigned int i = 0; i < end->events; i++)
		times += end->told[i].kind == kind;
	return times;
}

const char *
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

uint32_t
in_state(const struct end *end, enum roce_cm_state state)
{
	uint32_t counts[ROCE_CM_STATES] = { 0 };

	assert_int_equal(roce_cm_count_by_state(end->cm, counts, ROCE_CM_STATES), ROCE_CM_STATES);
	return counts[state];
}

uint32_t
connections(const struct end *end)
{
	uint32_t sum = 0;

	for (unsigned int i = 1; i < ROCE_CM_STATES; i++)
		sum += in_state(end, i);
	return sum;
}

void
expect_told(const char *by_active, const char *by_passive)
{
	assert_string_equal(told_all(active), by_active);
	assert_string_equal(told_all(passive), by_passive);
}

void
world_connected(struct roce_cm_conn **a, struct roce_cm_conn **b)
{
	world_listen(passive, 4);
	*a = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	expect_told("P", "QE");
	*b = passive->told[1].conn;
}

void
world_all_over(void)
{
	world_settle();
	assert_int_equal(connections(active), 0);
	assert_int_equal(connections(passive), 0);
	world_again();
}

void
world_over(struct roce_cm_conn *a, struct roce_cm_conn *b)
{
	roce_cm_release(a, world->now);
	if (b != NULL)
		roce_cm_release(b, world->now);
	world_all_over();
}

/* The MAD of the last frame sent. */
static struct roce_cm_mad
last_mad(void)
{
	struct roce_cm_mad mad;

	memcpy(&mad, world->last + world->last_len - ROCE_ICRC_LEN - sizeof(mad), sizeof(mad));
	return mad;
}

struct rte_mbuf *
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

void
hear(struct end *to, const struct roce_cm_msg *msg)
{
	struct roce_cm_mad mad;

	roce_cm_msg_encode(msg, &mad);
	world_deliver(to, forge(to, &mad));
}

unsigned int
speak(struct end *end)
{
	struct rte_mbuf *pkts[32];
	unsigned int total = 0;
	uint16_t n;

	while ((n = end->gsi.tx(end->gsi.arg, pkts, 32, world->now)) != 0) {
		for (uint16_t k = 0; k < n; k++) {
			world->last_len = rte_pktmbuf_pkt_len(pkts[k]);
			memcpy(world->last, rte_pktmbuf_mtod(pkts[k], void *), world->last_len);
			rte_pktmbuf_free(pkts[k]);
		}
		total += n;
	}
	return total;
}

struct roce_cm_msg
last_msg(void)
{
	static struct roce_cm_mad mad;
	struct roce_cm_msg msg;

	mad = last_mad();
	assert_true(roce_cm_msg_decode(&mad, &msg));
	return msg;
}

struct roce_cm_msg
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

struct roce_cm_msg
said_to(struct end *end, const struct roce_cm_msg *req)
{
	hear(end, req);
	assert_int_equal(speak(end), 1);
	return last_msg();
}
