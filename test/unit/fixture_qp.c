/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture_qp.h"
#include "queue/qp.h"

struct roce_qp_attr
fx_attr(const struct fx_end *end)
{
	return (struct roce_qp_attr){
		.pd = end->pd,
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.srq = end->srq,
		.max_send_wr = 256,
		.max_recv_wr = 16,
		.max_send_sge = 4,
		.max_recv_sge = 4,
	};
}

struct roce_qp *
fx_qp(struct fx_end *end, const struct roce_qp_attr *attr)
{
	const struct roce_qp_attr ordinary = fx_attr(end);
	struct roce_qp *qp = NULL;

	assert_int_equal(roce_qp_create(attr != NULL ? attr : &ordinary, &qp), 0);
	return qp;
}

struct roce_qp_connect
fx_connect(const struct fx_end *end, struct roce_ip ip, uint32_t dest_qp)
{
	return (struct roce_qp_connect){
		.path = {
			.src_mac = { { 2, 0, 0, 0, 0, 1 } },
			.dst_mac = { { 2, 0, 0, 0, 0, 2 } },
			.src_ip = end->ip,
			.dst_ip = ip,
			.udp_sport = 50001,
			.ttl = 64,
			.mtu_code = roce_mtu_code(FX_MTU),
		},
		.dest_qp = dest_qp,
		.rq_psn = FX_RQ_PSN,
		.sq_psn = FX_SQ_PSN,
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		.ack_timeout = 14,
	};
}

void
fx_up(struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	struct roce_engine *e = roce_qp_engine(qp);

	roce_engine_lock(e);
	assert_int_equal(roce_qp_to_rtr(qp, connect), 0);
	assert_int_equal(roce_qp_to_rts(qp), 0);
	roce_engine_unlock(e);
}

static void
change(struct roce_qp *qp, void (*state)(struct roce_qp *qp))
{
	roce_engine_lock(roce_qp_engine(qp));
	state(qp);
	roce_engine_unlock(roce_qp_engine(qp));
}

void
fx_to_error(struct roce_qp *qp)
{
	change(qp, roce_qp_to_error);
}

void
fx_to_reset(struct roce_qp *qp)
{
	change(qp, roce_qp_to_reset);
}

void
fx_drain(struct roce_qp *qp)
{
	change(qp, roce_qp_drain);
}

struct fx_peer
fx_peer_of(const struct roce_qp *qp, const struct roce_qp_connect *connect)
{
	struct roce_path path = connect->path;
	struct fx_peer peer = { 0 };

	path.src_ip = connect->path.dst_ip;
	path.dst_ip = connect->path.src_ip;
	roce_template_init(&peer.template, &path, roce_qp_number(qp), false);
	return peer;
}

struct roce_qp *
fx_play(struct fx_end *end, const struct roce_qp_attr *attr, const struct roce_qp_connect *connect,
		struct fx_peer *peer)
{
	struct roce_qp *qp = fx_qp(end, attr);

	fx_up(qp, connect);
	*peer = fx_peer_of(qp, connect);
	return qp;
}

struct roce_qp *
fx_played_qp(struct fx_end *end, struct fx_peer *peer)
{
	const struct roce_qp_connect connect = fx_connect(end, fx_ip(99), 0x777);

	return fx_play(end, NULL, &connect, peer);
}

void
fx_join_reading(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb,
		uint8_t depth)
{
	struct roce_qp_connect ca = fx_connect(a, b->ip, roce_qp_number(qb));
	struct roce_qp_connect cb = fx_connect(b, a->ip, roce_qp_number(qa));

	cb.sq_psn = ca.rq_psn;
	cb.rq_psn = ca.sq_psn;
	ca.max_rd_atomic = ca.max_dest_rd_atomic = depth;
	cb.max_rd_atomic = cb.max_dest_rd_atomic = depth;
	fx_up(qa, &ca);
	fx_up(qb, &cb);
}

void
fx_join(struct fx_end *a, struct roce_qp *qa, struct fx_end *b, struct roce_qp *qb)
{
	fx_join_reading(a, qa, b, qb, 0);
}
