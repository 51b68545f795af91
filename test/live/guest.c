/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side in the guest, on Linux's verbs and rdma_cm: many connections, one after the other without a pause or
 * several at once, and every message judged.
 *
 * live_guest server [-a ADDRESS] [-p PORT] [-c CONNECTIONS] [-s SIZE] [-w MS before an answer]
 *     offers memory as rdmaprobe does, judges what comes and sends it back; ends when so many connections are over
 * live_guest client -a ADDRESS [-p PORT] [-c CONNECTIONS] [-j AT ONCE] [-s SIZE] [-y TRIES]
 *     connects, sends one message, disconnects, and begins anew at once; -y: so many refused connections are no failure
 * live_guest window -a ADDRESS [-p PORT]
 *     connects, is told of a memory window by a message, writes through it, invalidates it by its last message, and
 *     must not write any more
 * live_guest again -a ADDRESS [-p PORT] [-c CONNECTIONS]
 *     connects the same queue pair so often, each time at once behind the end of the one before
 * live_guest grant [-p PORT] [-r] [-S]
 *     tells one peer of a window of type 2 by a message, says what comes and what was written; -r: of a whole region;
 *     -S: takes from a shared queue
 *
 * The last line counts. Anything unexpected is a line that begins with FAILED, and the exit status is 1.
 */

#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECEIVES 8u
#define SENT     0x100u /* of the number of a request: it is no receive */
#define REGION   (2u << 20)
#define PATIENCE 60000 /* ms without any event */
#define RESOLVE  5000  /* ms */

/* Bytes that a client sends and a server receives lie in memory of the connection's own. */
struct connection {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct guest_offer window;
	unsigned int said; /* requests about it */
};

static struct {
	const char *address, *port;
	unsigned int connections, at_once, size, tries, wait_ms;
	bool window;
} option = { .port = "7471", .connections = 1, .at_once = 1, .size = 64 };

static struct rdma_event_channel *events;
static struct rdma_addrinfo *peer;
static struct ibv_comp_channel *completions;
static struct ibv_pd *pd;
static struct ibv_mr *region;
static unsigned int begun, over, refused, messages, bad;

void
guest_fail(const char *what)
{
	printf("FAILED %s: %s\n", what, strerror(errno));
	exit(1);
}

uint8_t
guest_pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

struct rdma_cm_id *
guest_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event) != 0)
		guest_fail("rdma_get_cm_event");
	if (event->event != type) {
		printf("FAILED event %s, status %d\n", rdma_event_str(event->event), event->status);
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

/* Once, on the device that the first connection came by. */
static void
make_common(struct ibv_context *verbs)
{
	const unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	uint8_t *memory;

	if (pd != NULL)
		return;
	memory = malloc(REGION);
	pd = ibv_alloc_pd(verbs);
	completions = ibv_create_comp_channel(verbs);
	if (pd == NULL || completions == NULL || memory == NULL)
		guest_fail("resources");
	region = ibv_reg_mr(pd, memory, REGION, (int)all);
	if (region == NULL)
		guest_fail("resources");
	fcntl(completions->fd, F_SETFL, fcntl(completions->fd, F_GETFL) | O_NONBLOCK);
	for (uint32_t i = 0; i < REGION; i++)
		memory[i] = (uint8_t)i;
}

static void
post_receive(struct connection *c, uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)c->memory + slot * option.size, option.size,
		c->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *wrong;

	if (ibv_post_recv(c->id->qp, &wr, &wrong) != 0)
		guest_fail("ibv_post_recv");
}

static void
post_send(struct connection *c, uint64_t slot, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)c->memory + slot * option.size, length, c->mr->lkey };
	struct ibv_send_wr *wrong,
			wr = {
				.wr_id = SENT | slot,
				.sg_list = &sge,
				.num_sge = length > 0,
				.opcode = IBV_WR_SEND,
				.send_flags = IBV_SEND_SIGNALED,
			};

	if (ibv_post_send(c->id->qp, &wr, &wrong) != 0)
		guest_fail("ibv_post_send");
}

/* The steps that are said about a window, one behind the other. */
static void
post_about_window(struct connection *c)
{
	const bool invalidates = c->said == 1;
	struct ibv_sge sge = { (uintptr_t)c->memory, option.size, c->mr->lkey };
	struct ibv_send_wr *wrong,
			wr = {
				.wr_id = SENT,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = invalidates ? IBV_WR_SEND_WITH_INV : IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED,
			};

	if (invalidates) {
		wr.invalidate_rkey = c->window.key;
	} else {
		wr.wr.rdma.remote_addr = c->window.address;
		wr.wr.rdma.rkey = c->window.key;
	}
	c->said++;
	if (ibv_post_send(c->id->qp, &wr, &wrong) != 0)
		guest_fail("ibv_post_send");
}

static struct connection *
make_connection(struct rdma_cm_id *id)
{
	struct connection *c = calloc(1, sizeof(*c));
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = RECEIVES,
				.max_recv_wr = RECEIVES,
				.max_send_sge = 1,
				.max_recv_sge = 1 },
	};

	make_common(id->verbs);
	if (c == NULL || (c->memory = calloc(RECEIVES, option.size + 1)) == NULL)
		guest_fail("memory");
	c->id = id;
	c->mr = ibv_reg_mr(pd, c->memory, RECEIVES * (option.size + 1), IBV_ACCESS_LOCAL_WRITE);
	/* A completion names its queue pair only, an event its queue: one for each connection. */
	c->cq = ibv_create_cq(id->verbs, 3 * RECEIVES, c, completions, 0);
	if (c->mr == NULL || c->cq == NULL || ibv_req_notify_cq(c->cq, 0) != 0)
		guest_fail("resources");
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (rdma_create_qp(id, pd, &attr) != 0)
		guest_fail("rdma_create_qp");
	id->context = c;
	return c;
}

static void
free_connection(struct rdma_cm_id *id)
{
	struct connection *c = id->context;

	if (c != NULL) {
		rdma_destroy_qp(id);
		ibv_destroy_cq(c->cq);
		ibv_dereg_mr(c->mr);
		free(c->memory);
		free(c);
	}
	rdma_destroy_id(id);
}

/* ---- what comes ---- */

static void
judge(const struct connection *c, const struct ibv_wc *wc)
{
	const uint8_t *at = c->memory + wc->wr_id * option.size;
	bool wrong = false;

	for (uint32_t i = 0; i < wc->byte_len; i++)
		wrong |= at[i] != guest_pattern(i);
	messages++;
	bad += wrong;
}

/* Written, invalidated, and then refused. */
static void
window_completed(struct connection *c, const struct ibv_wc *wc)
{
	const enum ibv_wc_status want = c->said == 3 ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS;

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (wc->status != want) {
		printf("FAILED request %u about the window: %s\n", c->said,
				ibv_wc_status_str(wc->status));
		exit(1);
	}
	if ((wc->wr_id & SENT) == 0)
		memcpy(&c->window, c->memory + wc->wr_id * option.size, sizeof(c->window));
	if (c->said < 3)
		post_about_window(c);
	else if (rdma_disconnect(c->id) != 0)
		guest_fail("rdma_disconnect");
}

static void
completed(struct connection *c, const struct ibv_wc *wc)
{
	/* Requests that were posted come back when the connection ends. */
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		printf("FAILED a completion: %s\n", ibv_wc_status_str(wc->status));
		bad++;
	} else if ((wc->wr_id & SENT) == 0) {
		judge(c, wc);
		post_send(c, wc->wr_id, wc->byte_len);
	} else if (option.address == NULL) {
		post_receive(c, wc->wr_id ^ SENT);
	} else if (rdma_disconnect(c->id) != 0) {
		guest_fail("rdma_disconnect");
	}
}

static void
take_completions(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	while (ibv_get_cq_event(completions, &cq, &context) == 0) {
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0) != 0)
			guest_fail("ibv_req_notify_cq");
		while (ibv_poll_cq(cq, 1, &wc) > 0)
			(option.window ? window_completed : completed)(context, &wc);
	}
}

/* ---- connections ---- */

static void
begin(void)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP) != 0 ||
			rdma_resolve_addr(id, NULL, peer->ai_dst_addr, RESOLVE) != 0)
		guest_fail("resolving the address");
	begun++;
}

static void
ask(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry_count = 7 };
	struct connection *c = make_connection(id);

	for (uint32_t i = 0; i < option.size; i++)
		c->memory[i] = guest_pattern(i);
	if (option.window)
		post_receive(c, 1);
	if (rdma_connect(id, &param) != 0)
		guest_fail("rdma_connect");
}

static void
answer(struct rdma_cm_id *id, const struct rdma_conn_param *request)
{
	struct connection *c = make_connection(id);
	struct guest_offer offer = { "RP1", region->rkey, (uintptr_t)region->addr, REGION };
	struct rdma_conn_param param = { .private_data = &offer,
		.private_data_len = sizeof(offer),
		.responder_resources = request->initiator_depth,
		.initiator_depth = request->responder_resources,
		.rnr_retry_count = 7 };

	for (uint64_t slot = 0; slot < RECEIVES; slot++)
		post_receive(c, slot);
	begun++;
	/* As long as the command line says: how late an answer is. */
	usleep(option.wait_ms * 1000);
	if (rdma_accept(id, &param) != 0)
		guest_fail("rdma_accept");
}

static void
end(struct rdma_cm_id *id)
{
	if (option.address == NULL)
		(void)rdma_disconnect(id);
	free_connection(id);
	over++;
	if (option.address != NULL && begun < option.connections + refused)
		begin();
}

static void
refuse(struct rdma_cm_id *id, int status)
{
	printf("refused: %d\n", status);
	free_connection(id);
	if (++refused > option.tries)
		guest_fail("a connection was refused");
	begin();
}

static void
act(enum rdma_cm_event_type type, struct rdma_cm_id *id, int status)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, RESOLVE) != 0)
			guest_fail("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ask(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (option.address != NULL && !option.window)
			post_send(id->context, 0, option.size);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		end(id);
		break;
	case RDMA_CM_EVENT_REJECTED:
		refuse(id, status);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		printf("FAILED event %s, status %d\n", rdma_event_str(type), status);
		exit(1);
	}
}

static void
take_event(void)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;
	int status;

	if (rdma_get_cm_event(events, &event) != 0)
		guest_fail("rdma_get_cm_event");
	type = event->event;
	id = event->id;
	status = event->status;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		answer(id, &event->param.conn);
	/* A connection waits for its events to be acknowledged before it can be freed. */
	rdma_ack_cm_event(event);
	if (type != RDMA_CM_EVENT_CONNECT_REQUEST)
		act(type, id, status);
}

static void
poll_once(void)
{
	struct pollfd wait[2] = { { events->fd, POLLIN, 0 }, { -1, POLLIN, 0 } };

	if (completions != NULL)
		wait[1].fd = completions->fd;
	if (poll(wait, 2, PATIENCE) <= 0) {
		errno = ETIMEDOUT;
		guest_fail("waiting for an event");
	}
	/* Messages first: an end behind them frees the connection. */
	if (wait[1].revents != 0)
		take_completions();
	if (wait[0].revents != 0)
		take_event();
}

static void
listen_there(void)
{
	struct rdma_cm_id *listener;
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };

	if (rdma_getaddrinfo(option.address, option.port, &hints, &peer) != 0 ||
			rdma_create_id(events, &listener, NULL, RDMA_PS_TCP) != 0 ||
			rdma_bind_addr(listener, peer->ai_src_addr) != 0 ||
			rdma_listen(listener, 128) != 0)
		guest_fail("listening");
	option.address = NULL;
	printf("listening on port %s\n", option.port);
}

static void
read_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "a:p:c:j:s:y:w:")) != -1) {
		unsigned int n = o == 'a' || o == 'p' ? 0 : (unsigned int)strtoul(optarg, NULL, 10);

		option.address = o == 'a' ? optarg : option.address;
		option.port = o == 'p' ? optarg : option.port;
		option.connections = o == 'c' ? n : option.connections;
		option.at_once = o == 'j' ? n : option.at_once;
		option.size = o == 's' ? n : option.size;
		option.wait_ms = o == 'w' ? n : option.wait_ms;
		option.tries = o == 'y' ? n : option.tries;
		if (o == '?')
			exit(2);
	}
}

int
main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[1], "again") == 0)
		return guest_again(argc - 1, argv + 1);
	if (strcmp(argv[1], "grant") == 0)
		return guest_zcrx(argc - 1, argv + 1);
	read_options(argc - 1, argv + 1);
	events = rdma_create_event_channel();
	if (events == NULL)
		guest_fail("rdma_create_event_channel");
	option.window = strcmp(argv[1], "window") == 0;
	if (strcmp(argv[1], "server") == 0) {
		listen_there();
	} else {
		if (rdma_getaddrinfo(option.address, option.port, &hints, &peer) != 0)
			guest_fail("the address");
		while (begun < option.at_once && begun < option.connections)
			begin();
	}
	while (over < option.connections)
		poll_once();
	printf("%u connections over, %u refused, %u messages, %u bad\n", over, refused, messages,
			bad);
	return bad != 0;
}
