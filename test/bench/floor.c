/* SPDX-License-Identifier: BSD-3-Clause */
#include "floor.h"

#include <string.h>

#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "bench.h"
#include "ethdev/port_setup.h"
#include "wire/aeth.h"
#include "wire/frame_plain.h"
#include "wire/icrc.h"
#include "wire/psn.h"

#define ONE_PASS     512u /* bytes from which the copy is made in the pass of the ICRC */
#define SIGNAL_EVERY 16u

static inline void
list_add(struct floor_list *list, uint32_t qp)
{
	list->qp[list->head++ % FLOOR_QPS] = (uint8_t)qp;
}

static inline void
complete(struct floor_cq *cq, uint64_t id, uint32_t len, uint32_t qp)
{
	cq->event[cq->head++ % FLOOR_EVENTS] = (struct floor_event){ id, len, qp };
}

bool
floor_post_send(struct floor_end *e, uint32_t qp, const uint8_t *from, uint32_t len, uint64_t id)
{
	struct floor_qp *q = &e->qp[qp];

	if (q->head - q->tail == FLOOR_DEPTH)
		return false;
	q->send[q->head++ % FLOOR_DEPTH] = (struct floor_send){ from, len, 0, id };
	if (!q->ready) {
		q->ready = true;
		list_add(&e->ready, qp);
	}
	return true;
}

void
floor_post_recv(struct floor_end *e, uint8_t *to, uint32_t room, uint64_t id)
{
	struct floor_recv *recv = &e->recv[e->recv_head++ % FLOOR_RECVS];

	recv->to = to;
	recv->room = room;
	recv->id = id;
}

static inline struct rte_mbuf *
take_frame(struct floor_end *e)
{
	if (unlikely(e->frames == 0)) {
		if (rte_pktmbuf_alloc_bulk(e->port->tx_pool[0], e->frame, BENCH_BURST) != 0)
			bench_fail("the pool is dry");
		e->frames = BENCH_BURST;
	}
	return e->frame[--e->frames];
}

static inline uint8_t
opcode_of(bool first, bool last)
{
	if (first)
		return last ? IBV_OPCODE_RC_SEND_ONLY : IBV_OPCODE_RC_SEND_FIRST;
	return last ? IBV_OPCODE_RC_SEND_LAST : IBV_OPCODE_RC_SEND_MIDDLE;
}

/* The next frame of the SEND at next. */
static inline struct rte_mbuf *
build_send(struct floor_end *e, struct floor_qp *q)
{
	struct floor_send *send = &q->send[q->next % FLOOR_DEPTH];
	const uint32_t left = send->len - q->offset;
	const bool last = left <= e->mtu;
	const struct roce_frame_spec spec = {
		.psn = q->psn,
		.opcode = opcode_of(q->offset == 0, last),
		.ack_req = ++q->silent == e->ack_every,
		.payload_len = last ? left : e->mtu,
	};
	const uint8_t *from = send->from + q->offset;
	struct rte_mbuf *m = take_frame(e);
	uint8_t *to = roce_frame_build(m, &q->request, &spec);

	if (spec.payload_len >= ONE_PASS) {
		roce_icrc_put_copy(m, &q->request, to, from, spec.payload_len);
	} else {
		memcpy(to, from, spec.payload_len);
		roce_icrc_put(m, &q->request);
	}
	if (spec.ack_req)
		q->silent = 0;
	send->psn = q->psn;
	q->psn = roce_psn_add(q->psn, 1);
	q->offset = last ? 0 : q->offset + spec.payload_len;
	q->next += last;
	return m;
}

static inline struct rte_mbuf *
build_ack(struct floor_end *e, struct floor_qp *q)
{
	const struct roce_frame_spec spec = {
		.psn = roce_psn_add(q->expected, ROCE_PSN_MASK),
		.opcode = IBV_OPCODE_RC_ACKNOWLEDGE,
	};
	struct rte_mbuf *m = take_frame(e);
	struct roce_aeth *aeth = (struct roce_aeth *)roce_frame_build(m, &q->ack, &spec);

	aeth->syndrome_msn = rte_cpu_to_be_32(q->messages & ROCE_PSN_MASK);
	roce_icrc_put(m, &q->ack);
	q->owes = false;
	return m;
}

static inline uint16_t
speak(struct floor_end *e, struct rte_mbuf **pkts)
{
	uint16_t n = 0;

	while (n < BENCH_BURST && e->owing.tail != e->owing.head)
		pkts[n++] = build_ack(e, &e->qp[e->owing.qp[e->owing.tail++ % FLOOR_QPS]]);
	while (n < BENCH_BURST && e->ready.tail != e->ready.head) {
		struct floor_qp *q = &e->qp[e->ready.qp[e->ready.tail % FLOOR_QPS]];

		while (n < BENCH_BURST && q->next != q->head)
			pkts[n++] = build_send(e, q);
		if (q->next != q->head)
			break;
		q->ready = false;
		e->ready.tail++;
	}
	return n;
}

/* All SENDs up to this PSN were received. */
static inline void
acknowledged(struct floor_end *e, uint32_t qp, uint32_t psn)
{
	struct floor_qp *q = &e->qp[qp];

	while (q->tail != q->next) {
		const struct floor_send *send = &q->send[q->tail % FLOOR_DEPTH];

		if (roce_psn_diff(send->psn, psn) > 0)
			break;
		q->tail++;
		if (q->tail % SIGNAL_EVERY == 0)
			complete(&e->sent, send->id, send->len, qp);
	}
}

struct incoming {
	const struct roce_bth *bth;
	const uint8_t *stream, *payload, *icrc;
	uint32_t len; /* of the payload */
};

static inline struct incoming
parse(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct roce_bth *bth = (const struct roce_bth *)(frame + ROCE_PLAIN_BTH);
	const uint8_t *icrc = frame + m->data_len - ROCE_ICRC_LEN;
	const uint8_t *payload = frame + ROCE_PLAIN_END;
	const uint32_t pad = (bth->flags & ROCE_BTH_PAD_MASK) >> ROCE_BTH_PAD_SHIFT;

	return (struct incoming){ bth, frame + ROCE_PLAIN_IP - ROCE_ICRC_ONES, payload, icrc,
		(uint32_t)(icrc - payload) - pad };
}

static inline bool
has_icrc(const struct incoming *in, uint32_t crc)
{
	rte_le32_t stored;

	memcpy(&stored, in->icrc, sizeof(stored));
	return rte_le_to_cpu_32(stored) == crc;
}

/* @param to where the payload goes; NULL: nowhere. */
static inline bool
icrc_ok_copy(const struct incoming *in, uint8_t *to)
{
	const uint32_t len = (uint32_t)(in->icrc - in->stream);

	if (to != NULL && in->len >= ONE_PASS)
		return has_icrc(in,
				roce_crc_best->crc_copy_out(in->stream,
						(uint32_t)(in->payload - in->stream), len, to,
						in->len, roce_icrc_mask_v4));
	if (!has_icrc(in, roce_crc_best->crc(in->stream, len, roce_icrc_mask_v4)))
		return false;
	if (to != NULL)
		memcpy(to, in->payload, in->len);
	return true;
}

static inline void
receive_send(struct floor_end *e, uint32_t qp, const struct incoming *in, uint32_t psn)
{
	struct floor_qp *q = &e->qp[qp];
	const uint8_t opcode = in->bth->opcode;

	if (opcode == IBV_OPCODE_RC_SEND_FIRST || opcode == IBV_OPCODE_RC_SEND_ONLY) {
		if (unlikely(e->recv_tail == e->recv_head))
			bench_fail("no receive is there");
		q->recv = e->recv[e->recv_tail++ % FLOOR_RECVS];
		q->received = 0;
	}
	if (unlikely((psn & ROCE_PSN_MASK) != q->expected || in->len > q->recv.room - q->received ||
			    !icrc_ok_copy(in, q->recv.to + q->received)))
		bench_fail("the wire lost or changed a frame");
	q->expected = roce_psn_add(q->expected, 1);
	q->received += in->len;
	if (opcode == IBV_OPCODE_RC_SEND_LAST || opcode == IBV_OPCODE_RC_SEND_ONLY) {
		q->messages++;
		complete(&e->received, q->recv.id, q->received, qp);
	}
	if ((psn & ROCE_BTH_ACKREQ) != 0 && !q->owes) {
		q->owes = true;
		list_add(&e->owing, qp);
	}
}

static inline void
receive(struct floor_end *e, const struct rte_mbuf *m)
{
	const struct incoming in = parse(m);
	const uint32_t qp = rte_be_to_cpu_32(in.bth->dest_qp) % FLOOR_QPS;
	const uint32_t psn = rte_be_to_cpu_32(in.bth->psn);

	if (in.bth->opcode != IBV_OPCODE_RC_ACKNOWLEDGE)
		receive_send(e, qp, &in, psn);
	else if (likely(icrc_ok_copy(&in, NULL)))
		acknowledged(e, qp, psn & ROCE_PSN_MASK);
	else
		bench_fail("the wire changed an acknowledgement");
}

void
floor_poll(struct floor_end *e)
{
	struct rte_mbuf *pkts[BENCH_BURST];
	uint16_t n = rte_eth_rx_burst(e->port->id, 0, pkts, BENCH_BURST);

	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
		rte_prefetch0(rte_pktmbuf_mtod_offset(
				pkts[i], const uint8_t *, RTE_CACHE_LINE_SIZE));
	}
	for (uint16_t i = 0; i < n; i++)
		receive(e, pkts[i]);
	if (n > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	n = speak(e, pkts);
	if (n > 0 && rte_eth_tx_burst(e->port->id, 0, pkts, n) != n)
		bench_fail("the wire refused a frame");
}

static void
connect_end(struct floor_end *e, const struct floor_end *peer, uint8_t last)
{
	struct roce_path path = {
		.src_mac = e->port->mac,
		.dst_mac = peer->port->mac,
		.src_ip = roce_ip_from_v4(rte_cpu_to_be_32(RTE_IPV4(192, 0, 2, last))),
		.dst_ip = roce_ip_from_v4(rte_cpu_to_be_32(RTE_IPV4(192, 0, 2, 3 - last))),
		.ttl = 64,
		.mtu_code = e->port->mtu_code,
	};

	for (uint32_t i = 0; i < FLOOR_QPS; i++) {
		path.udp_sport = (uint16_t)(49152 + i);
		roce_template_init(&e->qp[i].request, &path, FLOOR_QPS + i, false);
		e->qp[i].ack = e->qp[i].request;
	}
}

void
floor_open(struct floor_end end[2], uint32_t mtu)
{
	end[0].port = bench_port("port=loop0 ip=192.0.2.1/24");
	end[1].port = bench_port("port=loop1 ip=192.0.2.2/24");
	for (unsigned int i = 0; i < 2; i++) {
		end[i].mtu = mtu;
		end[i].ack_every = SIGNAL_EVERY;
		connect_end(&end[i], &end[1 - i], (uint8_t)(i + 1));
	}
}

void
floor_close(struct floor_end end[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		rte_pktmbuf_free_bulk(end[i].frame, end[i].frames);
		roce_port_close(end[i].port);
	}
}
