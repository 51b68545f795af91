/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "frames.h"
#include "unit.h"
#include "wire/icrc.h"

static bool
icrc_ok(struct rte_mbuf *m)
{
	struct roce_pkt pkt;

	assert_int_equal(roce_frame_parse(m, &pkt), ROCE_FRAME_OK);
	return roce_icrc_ok(&pkt);
}

static bool
icrc_ok_of(const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = unit_mbuf_exact(bytes, len);
	bool ok = icrc_ok(m);

	unit_mbuf_exact_free(m);
	return ok;
}

UNIT_RULE_IN(ok__accepts_the_golden_frames, NULL, NULL)
{
	assert_true(icrc_ok_of(frame_v4, V4_LEN));
	assert_true(icrc_ok_of(frame_v6, V6_LEN));
}

UNIT_RULE_IN(ok__ignores_bytes_behind_the_datagram, NULL, NULL)
{
	uint8_t bytes[V4_LEN + 9];

	memset(bytes, 0xee, sizeof(bytes));
	memcpy(bytes, frame_v4, V4_LEN);
	assert_true(icrc_ok_of(bytes, sizeof(bytes)));
}

/* Which bits a router may change (IBTA annex A17): masks over the IP header, UDP and BTH. */
static uint8_t
variant_bits(bool v6, uint32_t l3_at)
{
	const uint32_t udp = v6 ? 40 : 20;

	if (!v6 && (l3_at == 1 || l3_at == 8 || l3_at == 10 || l3_at == 11))
		return 0xff;
	if (v6 && l3_at == 0)
		return 0x0f;
	if (v6 && ((l3_at >= 1 && l3_at <= 3) || l3_at == 7))
		return 0xff;
	if (l3_at == udp + 6 || l3_at == udp + 7)
		return 0xff;
	return l3_at == udp + 8 + 4 ? 0xff : 0;
}

/* Law: a flipped bit is seen exactly when it is no router's business. */
UNIT_RULE_IN(ok__sees_every_bit_but_the_variant_ones, NULL, NULL)
{
	const uint8_t *const frame[] = { frame_v4, frame_v6 };
	const uint32_t len[] = { V4_LEN, V6_LEN };
	uint32_t judged = 0;

	for (int v6 = 0; v6 <= 1; v6++) {
		for (uint32_t bit = 14 * 8; bit < len[v6] * 8; bit++) {
			uint8_t mask = (uint8_t)(1u << (bit & 7));
			bool variant = (variant_bits(v6, bit / 8 - 14) & mask) != 0;
			uint8_t bytes[V6_LEN];
			struct rte_mbuf *m;
			struct roce_pkt pkt;

			memcpy(bytes, frame[v6], len[v6]);
			bytes[bit / 8] ^= mask;
			m = unit_mbuf_exact(bytes, len[v6]);
			if (roce_frame_parse(m, &pkt) == ROCE_FRAME_OK) {
				judged++;
				if (roce_icrc_ok(&pkt) != variant)
					fail_msg("IPv%d byte %u mask 0x%02x", v6 ? 6 : 4, bit / 8,
							mask);
			} else {
				assert_false(variant);
			}
			unit_mbuf_exact_free(m);
		}
	}
	assert_in_range(judged, 700, 1000);
}

UNIT_RULE_IN(ok__follows_segments, NULL, NULL)
{
	const uint8_t *const frame[] = { frame_v4, frame_v6 };
	const uint32_t len[] = { V4_LEN, V6_LEN };
	const uint32_t payload[] = { V4_PAYLOAD, V6_PAYLOAD };

	for (int v6 = 0; v6 <= 1; v6++) {
		for (uint32_t split = payload[v6]; split < len[v6]; split++) {
			uint8_t bytes[V6_LEN];
			struct rte_mbuf *m = unit_mbuf_exact_chain(frame[v6], len[v6], split);

			assert_true(icrc_ok(m));
			unit_mbuf_exact_free(m);

			memcpy(bytes, frame[v6], len[v6]);
			bytes[len[v6] - 1] ^= 1;
			m = unit_mbuf_exact_chain(bytes, len[v6], split);
			assert_false(icrc_ok(m));
			unit_mbuf_exact_free(m);
		}
	}
}

UNIT_RULE_IN(ok__follows_many_segments, NULL, NULL)
{
	struct rte_mbuf *m = unit_mbuf(frame_v4, V4_PAYLOAD);

	for (uint32_t at = V4_PAYLOAD; at < V4_LEN; at++) {
		assert_int_equal(rte_pktmbuf_chain(m, unit_mbuf(frame_v4 + at, 1)), 0);
		if (at % 3 == 0)
			assert_int_equal(rte_pktmbuf_chain(m, unit_mbuf(NULL, 0)), 0);
	}
	assert_true(icrc_ok(m));
	rte_pktmbuf_free(m);
	assert_true(unit_pool_is_full());
}

/* A device that promises more than it chained must not send us beyond the last segment. */
UNIT_RULE_IN(ok__refuses_a_chain_that_ends_early, NULL, NULL)
{
	struct rte_mbuf *m = unit_mbuf_exact_chain(frame_v4, V4_LEN, V4_ICRC - 2);

	m->next->data_len -= 1;
	assert_false(icrc_ok(m));
	m->next->data_len = 0;
	assert_false(icrc_ok(m));
	unit_mbuf_exact_free(m);
}

UNIT_RULE_IN(put__is_least_significant_byte_first, NULL, NULL)
{
	struct rte_mbuf *m = unit_mbuf(frame_v4, V4_LEN);
	const struct roce_template t = { .l3_off = V4_L3, .udp_off = V4_UDP, .bth_off = V4_BTH };
	uint8_t *icrc = rte_pktmbuf_mtod_offset(m, uint8_t *, V4_ICRC);

	memset(icrc, 0xee, 4);
	roce_icrc_put(m, &t);
	assert_memory_equal(icrc, frame_v4 + V4_ICRC, 4);
	rte_pktmbuf_free(m);
}
