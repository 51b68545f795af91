/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <infiniband/verbs.h>

#include "frames.h"
#include "unit.h"
#include "wire/frame.h"
#include "wire/icrc.h"

static const uint8_t payload[5] = { 0x05, 0x0c, 0x13, 0x1a, 0x21 };

static struct roce_path
path_of(bool v6)
{
	struct roce_path path = {
		.src_mac = { { 0x02, 0, 0, 0, 0, 0x0b } },
		.dst_mac = { { 0x02, 0, 0, 0, 0, 0x0a } },
		.src_ip = roce_ip_from_v4(RTE_BE32(0xc0000201)),
		.dst_ip = roce_ip_from_v4(RTE_BE32(0xc0000202)),
		.udp_sport = 50001,
		.tos = 0x68,
		.ttl = 64,
		.mtu_code = 5,
	};

	if (v6) {
		memcpy(&path.src_ip, frame_v6 + V6_L3 + 8, 16);
		memcpy(&path.dst_ip, frame_v6 + V6_L3 + 24, 16);
	}
	return path;
}

static struct roce_frame_spec
spec_of(uint32_t payload_len)
{
	return (struct roce_frame_spec){ .psn = 0xabcdef,
		.opcode = IBV_OPCODE_RC_SEND_ONLY,
		.ack_req = true,
		.solicited = true,
		.payload_len = payload_len };
}

/* A buffer full of old bytes, as a pool hands it out. */
static struct rte_mbuf *
dirty_mbuf(void)
{
	struct rte_mbuf *m = unit_mbuf(NULL, 0);

	memset(rte_pktmbuf_mtod(m, void *), 0xee, rte_pktmbuf_tailroom(m));
	return m;
}

UNIT_RULE_IN(build__makes_the_golden_frames, NULL, NULL)
{
	const uint8_t *const frame[] = { frame_v4, frame_v6 };
	const uint32_t len[] = { V4_LEN, V6_LEN };
	const struct roce_frame_spec spec = spec_of(sizeof(payload));

	for (int v6 = 0; v6 <= 1; v6++) {
		const struct roce_path path = path_of(v6);
		struct rte_mbuf *m = dirty_mbuf();
		struct roce_template t;

		roce_template_init(&t, &path, 0x123456, false);
		memcpy(roce_frame_build(m, &t, &spec), payload, sizeof(payload));
		roce_icrc_put(m, &t);
		assert_fields(*m, (data_len, len[v6]), (pkt_len, len[v6]));
		assert_true(m->ol_flags == 0);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), frame[v6], len[v6]);
		rte_pktmbuf_free(m);
	}
}

/* Proves: rc.R14 */
UNIT_RULE_IN(template__masks_the_destination_qp, NULL, NULL)
{
	const struct roce_path path = path_of(false);
	struct roce_template t;

	roce_template_init(&t, &path, 0xff123456, false);
	assert_memory_equal(t.bytes + t.bth_off + 4, frame_v4 + V4_BTH + 4, 4);
}

/* rdma-core's own mapping must lead from our flow label back to our port. */
UNIT_RULE_IN(template__flow_label_names_the_port, NULL, NULL)
{
	for (uint32_t sport = 0xc000; sport <= 0xffff; sport++) {
		struct roce_path path = path_of(true);
		struct roce_template t;
		uint32_t label;

		path.udp_sport = (uint16_t)sport;
		roce_template_init(&t, &path, 1, false);
		label = (t.bytes[t.l3_off + 1] & 0x0fu) << 16 |
				(uint32_t)t.bytes[t.l3_off + 2] << 8 | t.bytes[t.l3_off + 3];
		assert_int_not_equal(label, 0);
		assert_int_equal(ibv_flow_label_to_udp_sport(label), sport);
	}
}

/* One's complement sum over the header with its checksum: all ones when right (RFC 1071). */
static uint32_t
header_sum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 20; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Every low word of an address: for some of them the first fold carries again. */
UNIT_RULE_IN(build__ipv4_checksum_is_right_for_every_sum, NULL, NULL)
{
	static const uint32_t payload_len[] = { 0, 1, 64, 1024, 4096 };
	struct roce_path path = path_of(false);
	struct rte_mbuf *m = unit_mbuf(NULL, 0);
	struct roce_template t;

	path.src_ip = roce_ip_from_v4(UINT32_MAX);
	for (uint32_t word = 0; word <= 0xffff; word++) {
		path.dst_ip = roce_ip_from_v4(rte_cpu_to_be_32(0xffff0000 | word));
		roce_template_init(&t, &path, 1, false);
		for (size_t i = 0; i < RTE_DIM(payload_len); i++) {
			const struct roce_frame_spec spec = spec_of(payload_len[i]);
			const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

			roce_frame_build(m, &t, &spec);
			assert_int_equal(header_sum(frame + V4_L3), 0xffff);
		}
	}
	rte_pktmbuf_free(m);
}

UNIT_RULE_IN(build__leaves_the_checksum_to_the_device, NULL, NULL)
{
	struct roce_path path = path_of(false);
	const struct roce_frame_spec spec = spec_of(4);
	struct rte_mbuf *m = dirty_mbuf();
	struct roce_template t;
	const uint8_t *ip;

	path.vlan_tci = 7;
	roce_template_init(&t, &path, 1, true);
	roce_frame_build(m, &t, &spec);
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, t.l3_off);
	assert_true(m->ol_flags == (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM));
	assert_fields(*m, (l2_len, 18), (l3_len, 20));
	assert_int_equal(ip[10] | ip[11], 0);
	rte_pktmbuf_free(m);

	path = path_of(true);
	roce_template_init(&t, &path, 1, true);
	assert_true(t.ol_flags == 0);
}

/* Law: for every opcode and length, the parser reads what the builder was told. */
UNIT_RULE_IN(build__is_what_parse_reads, NULL, NULL)
{
	static const uint16_t tci[] = { 0, 0xa064 };

	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		const struct roce_opcode_info *op = &roce_opcode[opcode];

		if (op->flags == 0)
			continue;
		for (uint32_t len = 0; len <= (op->flags & ROCE_OP_PAYLOAD ? 9u : 0u); len++) {
			for (int lower = 0; lower < 4; lower++) {
				const struct roce_frame_spec spec = { .opcode = (uint8_t)opcode,
					.psn = 0x1000000 + opcode,
					.payload_len = len,
					.ack_req = len & 1,
					.solicited = len & 2 };
				struct roce_path path = path_of(lower & 1);
				struct rte_mbuf *m = dirty_mbuf();
				struct roce_template t;
				struct roce_pkt pkt;
				uint8_t *ext;

				path.vlan_tci = tci[lower >> 1];
				roce_template_init(&t, &path, 0x654321, false);
				ext = roce_frame_build(m, &t, &spec);
				memset(ext, 0xa5, op->header_len - 12u + len);
				roce_icrc_put(m, &t);

				assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
				assert_true(roce_icrc_ok(&pkt));
				assert_ptr_equal(pkt.bth + 12, ext);
				assert_fields(pkt, (v6, lower & 1), (vlan_tci, path.vlan_tci),
						(opcode, opcode), (dest_qp, 0x654321),
						(psn, opcode), (ack_req, len & 1),
						(solicited, (len & 2) >> 1), (payload_len, len),
						(pad, -len & 3));
				assert_memory_equal(
						ext + op->header_len - 12 + len, "\0\0\0", pkt.pad);
				rte_pktmbuf_free(m);
			}
		}
	}
}

UNIT_RULE_IN(mtu_code__undoes_mtu_bytes, NULL, NULL)
{
	for (uint8_t code = 1; code <= 5; code++)
		assert_int_equal(roce_mtu_code(roce_mtu_bytes(code)), code);
	assert_int_equal(roce_mtu_bytes(1), 256);
	assert_int_equal(roce_mtu_bytes(5), 4096);
	assert_int_equal(roce_mtu_bytes(0), 0);
	assert_int_equal(roce_mtu_bytes(6), 0);
	assert_int_equal(roce_mtu_code(0), 0);
	assert_int_equal(roce_mtu_code(1500), 0);
	assert_int_equal(roce_mtu_code(8192), 0);
}

/* As Linux chooses: 1024 on a link of 1500 bytes, 4096 on one of 4200. */
UNIT_RULE_IN(mtu_fit__chooses_as_linux_does, NULL, NULL)
{
	static const struct {
		uint32_t device_mtu;
		uint8_t code;
	} row[] = { { 0, 0 }, { 351, 0 }, { 352, 1 }, { 607, 1 }, { 608, 2 }, { 1119, 2 },
		{ 1120, 3 }, { 1500, 3 }, { 2143, 3 }, { 2144, 4 }, { 4191, 4 }, { 4192, 5 },
		{ 4200, 5 }, { 9000, 5 }, { 65535, 5 } };

	for (size_t i = 0; i < RTE_DIM(row); i++)
		assert_int_equal(roce_mtu_fit(row[i].device_mtu), row[i].code);
}

UNIT_RULE_IN(every_buffer__is_home, NULL, NULL)
{
	assert_true(unit_pool_is_full());
}
