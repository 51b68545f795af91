/* SPDX-License-Identifier: BSD-3-Clause */

/* Frames that a program injects in several segments, and those that are longer than ours can be. */

#include <rte_cycles.h>

#include "../limit.h"
#include "node.h"

#define MESSAGES 16u
#define PIECE    256u /**< room of a segment */

static struct rte_mempool *pieces;

/* The same frame as a chain: @p first bytes, then pieces of @p rest. */
static struct rte_mbuf *
cut(struct rte_mbuf *m, uint32_t first, uint32_t rest)
{
	struct rte_mbuf *head = NULL, **link = &head;
	uint32_t len = m->pkt_len, at = 0;
	uint16_t segments = 0;

	do {
		struct rte_mbuf *piece = rte_pktmbuf_alloc(pieces);
		uint32_t here = RTE_MIN(len - at, at == 0 ? first : rest);

		assert_non_null(piece);
		assert_true(here <= PIECE);
		memcpy(rte_pktmbuf_mtod(piece, uint8_t *),
				rte_pktmbuf_mtod_offset(m, const uint8_t *, at), here);
		piece->data_len = (uint16_t)here;
		*link = piece;
		link = &piece->next;
		segments++;
		at += here;
	} while (at < len);
	head->pkt_len = len;
	head->nb_segs = segments;
	rte_pktmbuf_free(m);
	return head;
}

/* Carry what one has to say; @p first: as chains of so many bytes and of others, 0: as it is. */
static void
carry(struct node *from, struct node *to, uint32_t first)
{
	struct rte_mbuf *pkts[16];
	uint16_t n = roce_device_tx(from->device, 0, pkts, RTE_DIM(pkts));

	for (uint16_t i = 0; i < n && first > 0; i++)
		pkts[i] = cut(pkts[i], first, 64 + embed_dice(PIECE - 64));
	assert_int_equal(roce_device_rx(to->device, 0, pkts, n), 0);
}

static void
talk(struct node *a, struct node *b, uint32_t first)
{
	uint64_t end = rte_get_tsc_cycles() + test_limit_s() * rte_get_tsc_hz();
	uint32_t done = 0;

	nodes_post(a, b, MESSAGES);
	while (done < 2 * NODE_QPS * MESSAGES && rte_get_tsc_cycles() < end) {
		carry(a, b, first);
		carry(b, a, first);
		done = nodes_reap(a, b, done);
	}
	assert_int_equal(done, 2 * NODE_QPS * MESSAGES);
	nodes_judge(a, b, MESSAGES);
}

static void
pair_open(struct node *a, struct node *b, uint32_t frame_room)
{
	struct roce_attach_config one = embed_handover(1), two = embed_handover(2);

	one.frame_room = frame_room;
	two.frame_room = frame_room;
	nodes_open(a, b, &one, &two);
}

static void
pair_close(struct node *a, struct node *b)
{
	nodes_close(a, b);
	assert_int_equal(rte_mempool_in_use_count(pieces), 0);
}

/* A device that scatters: nobody sees it, if only the headers stand together; an acknowledgement has 58 bytes of them. */
static void
rx__takes_frames_in_several_segments(void **state)
{
	static const uint32_t first[] = { 58, 59, 64, 255, 256 };
	struct node a, b;

	for (size_t i = 0; i < RTE_DIM(first); i++) {
		pair_open(&a, &b, 0);
		talk(&a, &b, first[i]);
		assert_int_equal(embed_counter(a.device, "rx_malformed_length"), 0);
		assert_int_equal(embed_counter(b.device, "rx_malformed_length"), 0);
		assert_int_equal(embed_counter(b.device, "rx_icrc_encapsulated"), 0);
		pair_close(&a, &b);
	}
}

/* Cut before the end of its headers a frame to us is counted and dropped, wherever it is cut. It is sent again. */
static void
rx__counts_headers_in_several_segments(void **state)
{
	enum {
		HEADERS = 54
	}; /* of a message of no byte */
	struct rte_mbuf *m;
	uint32_t done = 0;
	struct node a, b;

	pair_open(&a, &b, 0);
	for (uint32_t first = 1; first < HEADERS; first++) {
		nodes_post_one(&a, &b, 0, 0);
		while (roce_device_tx(a.device, 0, &m, 1) == 0)
			continue;
		m = cut(m, first, 16);
		assert_int_equal(roce_device_rx(b.device, 0, &m, 1), 0);
		assert_int_equal(embed_counter(b.device, "rx_malformed_length"), first);
		while (done < 2 * first) {
			carry(&a, &b, 0);
			carry(&b, &a, 0);
			done = nodes_reap(&a, &b, done);
		}
	}
	pair_close(&a, &b);
}

/* The owner of a frame does not depend on its segments: a frame of others comes back as the chain that it was. */
static void
rx__leaves_chains_of_others(void **state)
{
	struct rte_mbuf *m, *was;
	struct node a, b;

	pair_open(&a, &b, 0);
	for (int kind = 0; kind < EMBED_KINDS; kind++) {
		for (uint32_t first = 1; first < 60 && kind != EMBED_SHORT; first++) {
			m = was = cut(embed_frame(pieces, (enum embed_kind)kind, first), first, 16);
			assert_int_equal(roce_device_rx(b.device, 0, &m, 1), 1);
			assert_ptr_equal(m, was);
			assert_int_equal(m->data_len, first);
			assert_int_equal(m->pkt_len, rte_pktmbuf_pkt_len(was));
			rte_pktmbuf_free(m);
		}
	}
	assert_int_equal(embed_counter(b.device, "rx_malformed_length"), 0);
	pair_close(&a, &b);
}

/* A way of jumbo frames: ours grow to the largest path MTU and no further, others may be longer, and in pieces. */
static void
rx__leaves_jumbo_frames_of_others(void **state)
{
	struct roce_device_attr attr;
	struct rte_mbuf *m, *was;
	struct node a, b;

	pair_open(&a, &b, 9000);
	roce_device_query(a.device, &attr);
	assert_int_equal(attr.mtu, 4096);
	talk(&a, &b, 0);
	talk(&a, &b, 200);
	for (int kind = 0; kind < EMBED_KINDS; kind++) {
		if (kind == EMBED_SHORT)
			continue;
		m = was = embed_frame(pieces, (enum embed_kind)kind, 1);
		for (int i = 0; i < 40; i++) {
			struct rte_mbuf *more = rte_pktmbuf_alloc(pieces);

			assert_non_null(more);
			assert_non_null(rte_pktmbuf_append(more, 225));
			assert_int_equal(rte_pktmbuf_chain(m, more), 0);
		}
		assert_int_equal(roce_device_rx(b.device, 0, &m, 1), 1);
		assert_ptr_equal(m, was);
		assert_int_equal(m->nb_segs, 41);
		assert_true(m->pkt_len > 9000);
		rte_pktmbuf_free(m);
	}
	pair_close(&a, &b);
}

static int
start(void **state)
{
	embed_start(state);
	pieces = embed_pool("pieces", 4095, PIECE);
	return 0;
}

static int
end(void **state)
{
	embed_pool_end(pieces);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rx__takes_frames_in_several_segments),
		cmocka_unit_test(rx__counts_headers_in_several_segments),
		cmocka_unit_test(rx__leaves_chains_of_others),
		cmocka_unit_test(rx__leaves_jumbo_frames_of_others),
	};

	return cmocka_run_group_tests(tests, start, end);
}
