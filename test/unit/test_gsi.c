/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pair 1 is the connection manager's: what it hears, when it may speak, what it is told of its queue pairs. */

#include <string.h>

#include "engine_scene.h"

static int
setup(void **state)
{
	open_ordinary_scene();
	fx_fill_srq(&end, 200, 64);
	return 0;
}

static struct {
	unsigned int rx;
	struct roce_pkt pkt;
	unsigned int to_send;
	unsigned int async_events;
	void *conn;
	enum roce_engine_async kind;
	uint64_t deadline;
	uint64_t at;
} gsi;

static void
gsi_rx(void *arg, const struct roce_pkt *pkt, uint64_t now)
{
	gsi.rx++;
	gsi.pkt = *pkt;
}

static uint16_t
gsi_tx(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint16_t n = 0;

	while (n < max && gsi.to_send > 0) {
		pkts[n++] = fx_request(&peer, IBV_OPCODE_UD_SEND_ONLY, 0, 256, 0);
		gsi.to_send--;
	}
	return n;
}

static uint64_t
gsi_deadline(void *arg)
{
	return gsi.deadline;
}

static void
gsi_async_event(void *arg, void *conn, enum roce_engine_async kind, uint64_t now)
{
	gsi.async_events++;
	gsi.conn = conn;
	gsi.kind = kind;
}

static void
use_gsi(void)
{
	static const struct roce_gsi hook = { gsi_rx, gsi_tx, gsi_deadline, gsi_async_event, NULL,
		NULL };

	memset(&gsi, 0, sizeof(gsi));
	gsi.deadline = ROCE_NEVER;
	roce_domain_set_gsi(end.domain, &hook);
}

static struct rte_mbuf *
datagram(uint8_t opcode)
{
	struct roce_qp_connect connect = fx_connect(&end, fx_ip(50), 0x777);
	struct fx_peer unknown = fx_peer_of(qp, &connect);

	((struct roce_bth *)(unknown.template.bytes + BTH))->dest_qp = RTE_BE32(ROCE_QPN_GSI);
	return fx_request(&unknown, opcode, 77, 256, 0);
}

/* A datagram to queue pair 1 from anybody goes to the connection manager, when its ICRC is right. */
UNIT_RULE(gsi__hears_datagrams)
{
	struct rte_mbuf *m;

	fx_rx(&end, datagram(IBV_OPCODE_UD_SEND_ONLY)); /* nobody there yet */
	use_gsi();
	fx_rx(&end, datagram(IBV_OPCODE_UD_SEND_ONLY));
	assert_fields(gsi, (rx, 1), (pkt.psn, 77), (pkt.payload_len, 256));
	m = datagram(IBV_OPCODE_UD_SEND_ONLY);
	patch(m, 100, 0xee);
	fx_rx(&end, m);
	fx_rx(&end, datagram(ONLY));
	assert_int_equal(gsi.rx, 1);
	assert_fields(*fx_stats(&end), (rx_icrc_encapsulated, 1), (rx_unknown_qp, 2));
}

/* It speaks in every poll, also when data would fill the room, and its deadline is the engine's. */
UNIT_RULE(gsi__speaks_beside_data)
{
	struct rte_mbuf *pkts[32];
	unsigned int ud = 0;
	uint16_t n;

	use_gsi();
	fx_send_many(&end, qp, 200, 8, 0);
	gsi.to_send = 2;
	n = fx_take(&end, pkts, 32);
	for (uint16_t i = 0; i < n; i++)
		ud += *rte_pktmbuf_mtod_offset(pkts[i], uint8_t *, BTH) == IBV_OPCODE_UD_SEND_ONLY;
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(ud, 2);
	(void)fx_tx(&end, (struct fx_sent[FX_SENT]){ 0 }, FX_SENT);
	gsi.deadline = end.now + 5;
	assert_int_equal(roce_engine_deadline(end.engine), end.now + 5);
}

/* Before the time that it says it is not asked, but for news of a queue pair. */
UNIT_RULE(gsi__is_left_alone_until_its_time)
{
	struct roce_gsi hook = { .tx = gsi_tx, .qp_async_event = gsi_async_event, .at = &gsi.at };
	int conn;

	memset(&gsi, 0, sizeof(gsi));
	roce_domain_set_gsi(end.domain, &hook);
	roce_qp_set_conn(qp, &conn);
	gsi.to_send = 1;
	gsi.at = end.now + 1;
	fx_tx_none(&end);
	end.now++;
	assert_int_equal(fx_tx_drop(&end), 1);

	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	gsi.at = ROCE_NEVER;
	fx_tx_none(&end);
	assert_int_equal(gsi.async_events, 1);
}

/* An event of a connection's queue pair reaches the connection manager in the next poll of engine 0. */
UNIT_RULE(gsi__hears_of_its_queue_pairs)
{
	int conn;

	use_gsi();
	roce_qp_set_conn(qp, &conn);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	assert_int_equal(gsi.async_events, 0);
	assert_int_equal(roce_engine_deadline(end.engine), 0);
	fx_tx_none(&end);
	assert_fields(gsi, (async_events, 1), (conn, &conn), (kind, ROCE_ENGINE_ASYNC_QP_BROKEN));
	fx_tx_none(&end);
	assert_int_equal(gsi.async_events, 1);
}

/* A queue pair that is destroyed, or belongs to no connection any more, has no news. */
UNIT_RULE(gsi__hears_nothing_of_the_dead)
{
	int conn;

	for (unsigned int how = 0; how < 2; how++) {
		use_gsi();
		roce_qp_set_conn(qp, &conn);
		assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
		fx_tx_drop(&end);
		fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
		if (how == 0)
			roce_qp_set_conn(qp, NULL);
		roce_qp_destroy(qp);
		qp = fx_played_qp(&end, &peer);
		fx_tx_none(&end);
		assert_int_equal(gsi.async_events, 0);
	}
}

/* An async event of a queue pair's last connection is not delivered to the next one. */
UNIT_RULE(gsi__hears_nothing_of_the_last_connection)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
	int old, new;

	use_gsi();
	roce_qp_set_conn(qp, &old);
	assert_int_equal(fx_send(&end, qp, 1, 0, 8, 0), 0);
	fx_tx_drop(&end);
	fx_rx_answer(&end, &peer, FX_NAK(ROCE_NAK_REMOTE_ACCESS), FX_SQ_PSN);
	roce_engine_lock(end.engine);
	roce_qp_to_reset(qp);
	roce_qp_set_conn(qp, &new);
	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	roce_engine_unlock(end.engine);
	fx_tx_none(&end);
	assert_int_equal(gsi.async_events, 0);
}

/* Datagrams for queue pair 1 go to engine 0, wherever they arrive. */
UNIT_RULE(forward__brings_datagrams_to_engine_0)
{
	const struct fx_options two = { .engines = 2 };
	struct rte_mbuf *m;

	teardown(state);
	fx_end_open(&end, 1, &two);
	qp = fx_played_qp(&end, &peer);
	use_gsi();
	m = datagram(IBV_OPCODE_UD_SEND_ONLY);
	assert_int_equal(feed(roce_domain_engine(end.domain, 1), &m, 1), 0);
	assert_int_equal(gsi.rx, 0);
	assert_int_equal(feed(end.engine, NULL, 0), 0);
	assert_int_equal(gsi.rx, 1);
}
