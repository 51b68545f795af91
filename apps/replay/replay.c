/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "cli/cli.h"
#include "cm/cm.h"
#include "cm/cm_stats.h"
#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "queue/stats.h"
#include "wire/frame.h"

#define RECEIVES    256
#define MESSAGE_MAX (16u << 20)
#define CONNECTIONS 64
/* Empty polls of the device after which the file is at its end. */
#define EMPTY_POLLS 16

/** A connection request, and what came of it. */
struct link {
	struct roce_cm_conn *conn;
	struct roce_cm_param peer;
	struct roce_path path;
	struct roce_qp *qp;
	bool accepted;
};

static struct {
	struct roce_device *device;
	struct roce_engine *engine;
	struct roce_cm *cm;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *cq;
	uint8_t *memory; /**< every message goes there */
	struct link link[CONNECTIONS];
	unsigned int links;
	uint64_t messages, bytes;
} side;

/** Every counter that a verdict may come from. */
struct counters {
	struct roce_stats engine;
	struct roce_cm_stats cm;
};

/* The first of these that has moved is the verdict. */
static const struct {
	size_t at; /**< in struct counters */
	const char *verdict, *counter;
} rule[] = {
/* clang-format off */
#define ENGINE(name, verdict) { offsetof(struct counters, engine.name), verdict, #name }
#define CM(name, verdict) { offsetof(struct counters, cm.name), verdict, "cm " #name }
	ENGINE(rx_foreign, "foreign"),
	ENGINE(rx_malformed_length, "malformed"),
	ENGINE(rx_malformed_fragment, "malformed"),
	ENGINE(rx_malformed_opcode, "malformed"),
	ENGINE(rx_malformed_version, "malformed"),
	ENGINE(rx_malformed_pkey, "malformed"),
	ENGINE(rx_icrc_encapsulated, "malformed"),
	ENGINE(rx_unknown_qp, "stray"),
	ENGINE(rx_wrong_source, "stray"),
	ENGINE(rx_wrong_state, "stray"),
	CM(rx_malformed, "malformed"),
	CM(rx_wrong_source, "stray"),
	CM(rx_wrong_ids, "stray"),
	CM(rx_unknown, "stray"),
	CM(rx_duplicate_req, "duplicate"),
	CM(rx_unexpected, "duplicate"),
	CM(refused_no_listener, "refused"),
	CM(refused_backlog, "refused"),
	CM(refused_unsupported, "refused"),
	CM(refused_mtu, "refused"),
	CM(refused_stale, "refused"),
	ENGINE(rx_gsi, "connection"),
	ENGINE(duplicate_request, "duplicate"),
	ENGINE(out_of_sequence, "out-of-sequence"),
	ENGINE(resp_answers_limited, "out-of-sequence"),
	ENGINE(out_of_buffer, "refused"),
	ENGINE(resp_local_length_error, "refused"),
	ENGINE(resp_local_protection_error, "refused"),
	ENGINE(resp_remote_access_errors, "refused"),
	ENGINE(resp_invalid_request, "refused"),
	ENGINE(rx_ghost_acks, "stray"),
	ENGINE(rx_acks, "answer"),
	ENGINE(rx_read_responses, "answer"),
	ENGINE(rp_cnp_handled, "answer"),
	ENGINE(rp_cnp_ignored, "answer"),
	ENGINE(rx_frames, "accepted"),
#undef ENGINE
#undef CM
	/* clang-format on */
};

static uint64_t seen[RTE_DIM(rule)];

/* For what it cannot go on without. */
static void __attribute__((noreturn)) fail(const char *text)
{
	cli_say("%s", text);
	exit(CLI_EXIT_FAILED);
}

/* The meaning of a counter, in the words of the tables of counters. */
static const char *
meaning_of(const char *counter)
{
	static const struct {
		const char *name, *meaning;
	} word[] = {
#define STAT(name, unit, meaning) { #name, meaning },
#include "queue/stats.def"
#undef STAT
#define STAT(name, unit, meaning) { "cm " #name, meaning },
#include "cm/cm_stats.def"
#undef STAT
	};

	if (strcmp(counter, "rx_frames") == 0)
		return "as it should be";
	for (size_t i = 0; i < RTE_DIM(word); i++) {
		if (strcmp(word[i].name, counter) == 0)
			return word[i].meaning;
	}
	return "";
}

/* Called inside the engine, which must come to an end before the request is answered. */
static int
on_cm(void *arg, const struct roce_cm_event *event)
{
	if (event->kind != ROCE_CM_REQUEST)
		return 0;
	if (side.links == CONNECTIONS)
		return -ENOMEM;
	side.link[side.links++] = (struct link){
		.conn = event->conn,
		.peer = *event->peer,
		.path = *event->path,
	};
	return 0;
}

/* The counters tell. */
static void
on_async_event(void *arg, enum roce_engine_async kind, void *owner, int status)
{
}

static struct roce_device_user user = { .notify = on_async_event, .cm_notify = on_cm };

static void
post_receive(struct roce_qp *qp)
{
	struct roce_sge sge = {
		.addr = (uintptr_t)side.memory,
		.length = MESSAGE_MAX,
		.lkey = roce_mr_key(side.mr),
	};
	struct roce_recv_wr wr = { .sg = &sge, .num_sge = 1 };

	if (roce_qp_post_recv(qp, &wr) != 0)
		fail("a receive cannot be posted");
}

static void
make_qp(struct link *link)
{
	const struct roce_qp_attr attr = {
		.pd = side.pd,
		.recv_cq = side.cq,
		.max_send_wr = 1,
		.max_recv_wr = RECEIVES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_dest_rd_atomic = 16,
		.owner = link,
	};

	if (roce_qp_create(&attr, &link->qp) != 0)
		fail("no queue pair");
	for (int i = 0; i < RECEIVES; i++)
		post_receive(link->qp);
}

/* Locked. */
static void
accept_link(struct link *link)
{
	const struct roce_qp_connect connect = {
		.path = link->path,
		.dest_qp = link->peer.qpn,
		.rq_psn = roce_qp_first_psn(link->qp),
		.sq_psn = link->peer.psn,
		.rnr_retry = 7,
		.max_dest_rd_atomic = 16,
	};
	const struct roce_cm_param local = {
		.qpn = roce_qp_number(link->qp),
		.psn = connect.rq_psn,
		.responder_resources = RTE_MIN(link->peer.initiator_depth, (uint8_t)16),
		.rnr_retry = 7,
	};

	link->accepted = true;
	if (roce_qp_to_rtr(link->qp, &connect) != 0)
		fail("the connection is nothing for a queue pair");
	roce_qp_set_conn(link->qp, link->conn);
	if (roce_cm_accept(link->conn, &local, link, roce_device_now(side.device)) != 0)
		fail("the connection cannot be accepted");
}

/* Answer, reap, and post again. */
static void
follow_up(void)
{
	const struct roce_port *port = side.device->port;
	struct rte_mbuf *frames[32];
	struct roce_event event;
	uint16_t n;

	for (unsigned int i = 0; i < side.links; i++) {
		if (side.link[i].accepted)
			continue;
		make_qp(&side.link[i]);
		roce_engine_lock(side.engine);
		accept_link(&side.link[i]);
		roce_engine_unlock(side.engine);
	}
	while (roce_cq_poll(side.cq, &event, 1) == 1) {
		struct link *link = event.owner;

		if (event.status != IBV_WC_SUCCESS)
			continue;
		side.messages++;
		side.bytes += event.byte_len;
		post_receive(link->qp);
	}
	do {
		roce_engine_lock(side.engine);
		n = roce_engine_tx(
				side.engine, frames, RTE_DIM(frames), roce_device_now(side.device));
		roce_engine_unlock(side.engine);
		for (uint16_t sent = 0; sent < n;)
			sent += rte_eth_tx_burst(port->id, 0, frames + sent, (uint16_t)(n - sent));
	} while (n > 0);
}

static void
read_counters(struct counters *counters)
{
	counters->engine = *roce_engine_stats(side.engine);
	counters->cm = *roce_cm_stats(side.cm);
}

static size_t
moved(const struct counters *before, const struct counters *after)
{
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		uint64_t was, is;

		memcpy(&was, (const char *)before + rule[i].at, sizeof(was));
		memcpy(&is, (const char *)after + rule[i].at, sizeof(is));
		if (was != is)
			return i;
	}
	fail("a frame moved no counter");
}

/* Describe a frame, which may be anything. */
static void
describe(struct rte_mbuf *frame, char *text, size_t len)
{
	struct roce_pkt pkt;

	if (roce_frame_parse(frame, &pkt) == ROCE_FRAME_OK)
		snprintf(text, len,
				"opcode 0x%02x qp 0x%06" PRIx32 " psn 0x%06" PRIx32
				" bytes %" PRIu32,
				pkt.opcode, pkt.dest_qp, pkt.psn, pkt.payload_len);
	else
		snprintf(text, len, "frame of %" PRIu32 " bytes", rte_pktmbuf_pkt_len(frame));
}

static void
judge(uint64_t number, struct rte_mbuf *frame)
{
	struct counters before, after;
	char text[96];
	size_t i;

	describe(frame, text, sizeof(text));
	read_counters(&before);
	roce_engine_lock(side.engine);
	if (roce_engine_rx(side.engine, &frame, 1, roce_device_now(side.device)) == 1)
		rte_pktmbuf_free(frame);
	roce_engine_unlock(side.engine);
	read_counters(&after);
	i = moved(&before, &after);
	seen[i]++;
	printf("%" PRIu64 "\t%s\t%s\t%s\t%s\n", number, rule[i].verdict, rule[i].counter, text,
			meaning_of(rule[i].counter));
}

static void
open_side(const char *params, uint16_t port)
{
	struct roce_cm_listener *listener;
	char errmsg[256];
	int rc;

	if (roce_device_open(params, &side.device, errmsg, sizeof(errmsg)) != 0)
		fail(errmsg);
	if (strcmp(side.device->port->driver, "net_pcap") != 0)
		fail("a recording is heard by net_pcap: port=net_pcap0,rx_pcap=FILE");
	roce_device_join(side.device, &user);
	side.engine = roce_domain_engine(roce_device_domain(side.device), 0);
	side.cm = roce_device_cm(side.device);
	side.memory = malloc(MESSAGE_MAX);
	if (side.memory == NULL || roce_pd_create(&user.context, &side.pd) != 0 ||
			roce_mr_create(side.pd, (uintptr_t)side.memory, MESSAGE_MAX,
					IBV_ACCESS_LOCAL_WRITE, &side.mr) != 0 ||
			roce_cq_create(&user.context, CONNECTIONS * RECEIVES, NULL, &side.cq) != 0)
		fail("no memory");
	roce_engine_lock(side.engine);
	rc = roce_cm_listen(side.cm, &user.context, ROCE_CM_SERVICE_TCP + port, CONNECTIONS, &side,
			&listener);
	roce_engine_unlock(side.engine);
	if (rc != 0)
		fail("nobody can listen at that port");
}

static void
close_side(void)
{
	for (unsigned int i = 0; i < side.links; i++) {
		roce_qp_destroy(side.link[i].qp);
		roce_engine_lock(side.engine);
		roce_cm_release(side.link[i].conn, roce_device_now(side.device));
		roce_engine_unlock(side.engine);
	}
	roce_cq_destroy(side.cq);
	roce_mr_destroy(side.mr);
	roce_pd_destroy(side.pd);
	roce_device_leave(side.device, &user);
	roce_device_close(side.device);
	free(side.memory);
}

void
replay_run(const char *params, uint16_t port)
{
	struct rte_mbuf *frame;
	uint64_t number = 0;

	open_side(params, port);
	for (unsigned int empty = 0; empty < EMPTY_POLLS; empty++) {
		while (rte_eth_rx_burst(side.device->port->id, 0, &frame, 1) == 1) {
			judge(++number, frame);
			follow_up();
			empty = 0;
		}
	}
	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		if (seen[i] > 0)
			printf("sum\t%s\t%s\t%" PRIu64 "\n", rule[i].verdict, rule[i].counter,
					seen[i]);
	}
	printf("delivered\t%" PRIu64 " messages\t%" PRIu64 " bytes\n", side.messages, side.bytes);
	close_side();
}
