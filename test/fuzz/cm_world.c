/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "cm_world.h"
#include "oracle.h"

struct cm_world cm_world;

struct roce_ip
cm_address(uint8_t index)
{
	return roce_ip_from_v4(rte_cpu_to_be_32(0xc0000201u + index));
}

static int
resolve(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now)
{
	struct cm_end *end = arg;

	RTE_SET_USED(now);
	RTE_SET_USED(src);
	*path = (struct roce_path){
		.src_mac = { { 2, 0, 0, 0, 0, (uint8_t)(1 + end->index) } },
		.dst_mac = { { 2, 0, 0, 0, 0, (uint8_t)(2 - end->index) } },
		.src_ip = cm_address(end->index),
		.dst_ip = *dst,
		.ttl = 64,
		.mtu_code = 3,
	};
	return end->resolve_rc;
}

static void
end_open(uint8_t index, const uint8_t *config)
{
	struct cm_end *end = &cm_world.end[index];
	const struct roce_cm_config c = {
		.hz = CM_HZ,
		.seed = 1u + index + config[1],
		.ca_guid = UINT64_C(0x020000fffe000000) + index,
		.pool = base_pool(),
		.memory = base_memory,
		.connections_max = CM_TABLE,
		.resolve = resolve,
		.resolve_arg = end,
		.notify = cm_notify,
		.notify_arg = end,
	};

	*end = (struct cm_end){ .index = index, .next_qpn = 0x100u + (index << 16) };
	BASE_MUST(roce_cm_create(&c, &end->cm) == 0, "make a connection manager");
	roce_cm_gsi(end->cm, &end->gsi);
}

void
cm_open(const uint8_t *config)
{
	base_start();
	cm_world.now = CM_HZ;
	cm_world.flights = 0;
	base_fail(0);
	end_open(0, config);
	end_open(1, config);
	cm_world.live = base_live();
	/* Some listen from the beginning. */
	for (uint8_t i = 0; i < 2; i++) {
		struct cm_end *end = &cm_world.end[i];

		if (config[2] >> i & 1)
			(void)roce_cm_listen(end->cm, NULL, CM_SERVICE, 1u + (config[3] & 7), end,
					&end->listener[0]);
		end->policy = (struct cm_policy){ config[4] & 3, 0, 0, config[4] >> 2 & 3 };
	}
}

void
cm_close(void)
{
	base_dry(false);
	roce_cm_destroy(cm_world.end[0].cm);
	roce_cm_destroy(cm_world.end[1].cm);
	if (base_live() != 0)
		BASE_VIOLATED("%u allocations are left", base_live());
	if (base_frames() != 0)
		BASE_VIOLATED("%u frames are left", base_frames());
}

/* Every message is one whole datagram of general services, from us to somebody. */
static void
judge_spoken(const struct cm_end *end, const struct rte_mbuf *m)
{
	struct roce_ip ours = cm_address(end->index);
	struct oracle_frame frame;

	BASE_MUST(m->nb_segs == 1, "a frame is one segment");
	oracle_look(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, m->data_len, false, &frame);
	BASE_MUST(frame.faults == 0 && frame.icrc_ok, "a frame that was sent is malformed");
	BASE_MUST(frame.datagram && frame.dest_qp == ROCE_QPN_GSI &&
					frame.payload_len == ROCE_MAD_LEN,
			"a message is one datagram to general services");
	BASE_MUST(roce_ip_equal(&frame.src, &ours), "a message comes from our address");
}

uint32_t
cm_speak(struct cm_end *end, uint16_t room)
{
	struct rte_mbuf *pkts[32];
	uint16_t n = end->gsi.tx(
			end->gsi.arg, pkts, RTE_MIN(room, (uint16_t)RTE_DIM(pkts)), cm_world.now);

	BASE_MUST(n <= room, "more frames than there was room for");
	for (uint16_t i = 0; i < n; i++) {
		struct cm_flat *flat = &cm_world.flight[cm_world.flights];

		judge_spoken(end, pkts[i]);
		if (cm_world.flights < CM_FLIGHTS && pkts[i]->data_len <= CM_FRAME) {
			*flat = (struct cm_flat){ .len = pkts[i]->data_len, .to = 1 - end->index };
			memcpy(flat->bytes, rte_pktmbuf_mtod(pkts[i], void *), flat->len);
			cm_world.flights++;
		}
	}
	if (n > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	end->sent += n;
	return n;
}

/* A datagram that is no message only moves a counter; a message of another sender changes no connection. */
static void
give(struct cm_end *end, const struct roce_pkt *pkt, const struct cm_flat *flat,
		const struct oracle_frame *frame)
{
	static struct cm_expect expect;
	uint64_t malformed = roce_cm_stats(end->cm)->rx_malformed;
	uint32_t told = end->told;

	cm_expect(end, flat->bytes, frame, &expect);
	end->gsi.rx(end->gsi.arg, pkt, cm_world.now);
	BASE_MUST(roce_cm_stats(end->cm)->rx_malformed == malformed + expect.malformed,
			"what is no message is counted as malformed, and nothing else is");
	if (expect.malformed || expect.ignored != NULL)
		BASE_MUST(end->told == told, "an owner was told of a message of nobody");
	if (expect.ignored != NULL)
		BASE_MUST(base_same_bytes(expect.ignored, &expect.before, sizeof(expect.before)),
				"a connection was changed by a message of nobody");
}

void
cm_give(const struct cm_flat *flat)
{
	struct cm_end *end = &cm_world.end[flat->to];
	struct roce_ip ours = cm_address(end->index);
	struct rte_mbuf *m = base_frame(flat->bytes, flat->len, &flat->cut);
	uint32_t first = flat->cut.first != 0 ? RTE_MIN(flat->cut.first, flat->len) : flat->len;
	struct oracle_frame frame;
	struct roce_pkt pkt;

	/* The engine passes on only whole datagrams with a right ICRC that are for general services and this host. */
	oracle_look(flat->bytes, flat->len, first, false, &frame);
	if (frame.faults == 0 && frame.icrc_ok && frame.dest_qp == ROCE_QPN_GSI && frame.datagram &&
			roce_ip_equal(&frame.dst, &ours)) {
		BASE_MUST(roce_frame_parse(m, &pkt) == ROCE_FRAME_OK, "a good frame is one");
		give(end, &pkt, flat, &frame);
	}
	rte_pktmbuf_free(m);
}

void
cm_deliver(uint32_t index, bool keep)
{
	static struct cm_flat copy;

	copy = cm_world.flight[index];
	if (!keep) {
		cm_world.flights--;
		memmove(&cm_world.flight[index], &cm_world.flight[index + 1],
				(cm_world.flights - index) * sizeof(copy));
	}
	cm_give(&copy);
}
