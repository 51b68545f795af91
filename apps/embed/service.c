/* SPDX-License-Identifier: BSD-3-Clause */
#include "service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/liveness.h"

#define BURST   32u
#define BACKLOG 64u
/* So often clients are looked after: seconds. */
#define LOOK_S 0.1
/* Identifies a request for a sign of life; no buffer has the number. */
#define ASKED UINT64_MAX

/** One client: it lives from its request until both ends have left. */
struct client {
	struct service *service;
	struct roce_cm_id *id;
	struct roce_qp *qp;
	struct client *next;
	struct client **link;

	bool ending; /**< it was disconnected */
	struct cli_liveness life;
};

struct service {
	struct roce_context *context;
	struct roce_cm_id *listener;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *cq;
	struct roce_srq *srq;
	struct client *clients;
	uint8_t *memory;
	struct service_counts counts;
	struct cli_runtime runtime;
	double looked_at;
	struct cli_scarcity scarcity;
};

static int
failed(const char *what, int rc)
{
	cli_say("%s: %s", what, strerror(-rc));
	return rc;
}

static struct roce_sge
segment(const struct service *s, uint64_t buffer, uint32_t length)
{
	return (struct roce_sge){
		.addr = (uint64_t)(uintptr_t)s->memory + buffer * SERVICE_BUFFER_SIZE,
		.length = length,
		.lkey = roce_mr_key(s->mr),
	};
}

static int
lend_buffer(struct service *s, uint64_t buffer)
{
	struct roce_sge sge = segment(s, buffer, SERVICE_BUFFER_SIZE);
	struct roce_recv_wr wr = { .wr_id = buffer, .sg = &sge, .num_sge = 1 };

	return roce_srq_post(s->srq, &wr);
}

/* An answer, or a request for a sign of life, has completed. */
static void
note_sent(struct client *client, const struct roce_event *event)
{
	double now = client->service->runtime.now;
	bool acknowledged = event->status == ROCE_WC_SUCCESS;

	if (event->wr_id == ASKED) {
		cli_liveness_answered(&client->life, now, acknowledged);
		return;
	}
	cli_liveness_let_go(&client->life, now);
	if (acknowledged)
		cli_liveness_moved(&client->life, now);
}

static void
note_message(struct client *client)
{
	struct service *s = client->service;

	cli_liveness_message(&client->life, s->runtime.now);
	cli_liveness_hold(&client->life, s->runtime.now);
}

/* A buffer goes back where it came from: from the shared queue into a request, and from there to the shared queue. */
static void
take_event(struct service *s, const struct roce_event *event)
{
	struct client *client = event->owner;
	struct roce_sge sge = segment(s, event->wr_id, event->byte_len);
	struct roce_wr wr = {
		.wr_id = event->wr_id,
		.sg = &sge,
		.num_sge = event->byte_len > 0,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED | ROCE_WR_SOLICITED,
	};

	if (event->kind != ROCE_EVENT_RECV)
		note_sent(client, event);
	if (event->wr_id == ASKED)
		return;
	/* One that has ended flushes when it is polled, and may be gone before that. */
	if (event->kind == ROCE_EVENT_RECV && event->status == ROCE_WC_SUCCESS &&
			roce_qp_state(client->qp) != ROCE_QP_ERR &&
			roce_qp_post_send(client->qp, &wr) == 0) {
		s->counts.messages++;
		s->counts.bytes += event->byte_len;
		note_message(client);
		return;
	}
	(void)lend_buffer(s, event->wr_id);
}

static unsigned int
take_events(struct service *s)
{
	struct roce_event events[BURST];
	unsigned int n = roce_cq_poll(s->cq, events, BURST);

	for (unsigned int i = 0; i < n; i++)
		take_event(s, &events[i]);
	return n;
}

static void
free_client(struct client *client)
{
	struct service *s = client->service;

	roce_cm_id_destroy(client->id);
	/* Flushed completions bring buffers back, and name the client: before that is gone. */
	while (take_events(s) > 0)
		continue;
	roce_qp_destroy(client->qp);
	*client->link = client->next;
	if (client->next != NULL)
		client->next->link = client->link;
	s->counts.clients--;
	free(client);
}

static int
make_queue_pair(struct client *client)
{
	struct service *s = client->service;
	struct roce_qp_attr attr = {
		.pd = s->pd,
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = s->srq,
		.max_send_wr = SERVICE_BUFFERS + 1,
		.max_send_sge = 1,
		.owner = client,
	};

	return roce_qp_create(&attr, &client->qp);
}

static int
accept_client(struct service *s, struct roce_cm_id *id)
{
	struct client *client = calloc(1, sizeof(*client));
	struct roce_cm_conn_param param = { .rnr_retry = 7 };
	int rc;

	if (client == NULL)
		return -ENOMEM;
	client->service = s;
	client->id = id;
	cli_liveness_message(&client->life, s->runtime.now);
	rc = make_queue_pair(client);
	if (rc != 0)
		goto free_client;
	param.qp = client->qp;
	roce_cm_id_set_user(id, client);
	rc = roce_cm_id_accept(id, &param);
	if (rc != 0)
		goto destroy_qp;
	client->next = s->clients;
	client->link = &s->clients;
	if (s->clients != NULL)
		s->clients->link = &client->next;
	s->clients = client;
	s->counts.clients++;
	return 0;

destroy_qp:
	roce_qp_destroy(client->qp);
free_client:
	free(client);
	return rc;
}

static void
let_go(struct client *client)
{
	client->ending = true;
	(void)roce_cm_id_disconnect(client->id);
}

/* All places are taken, and one is asked for: the next to ask has that of who has sent nothing for longest, if that is long. */
static void
make_room(const struct service *s)
{
	struct client *idlest = NULL;

	for (struct client *client = s->clients; client != NULL; client = client->next)
		if (client->life.held == 0 && !client->ending &&
				(idlest == NULL ||
						client->life.message_at < idlest->life.message_at))
			idlest = client;
	if (idlest != NULL && s->runtime.now - idlest->life.message_at >= CLI_IDLE_S)
		let_go(idlest);
}

static void
take_request(struct service *s, struct roce_cm_id *id)
{
	if (s->counts.clients >= SERVICE_CLIENTS_MAX)
		make_room(s);
	else if (accept_client(s, id) == 0)
		return;
	s->counts.refused++;
	roce_cm_id_destroy(id);
}

static unsigned int
take_connections(struct service *s)
{
	struct roce_cm_event_info event;
	unsigned int n = 0;

	while (roce_cm_poll(s->context, &event) == 1) {
		n++;
		switch (event.type) {
		case ROCE_CM_EVENT_CONNECT_REQUEST:
			take_request(s, event.id);
			break;
		case ROCE_CM_EVENT_CONNECT_ERROR:
		case ROCE_CM_EVENT_DISCONNECTED:
			free_client(event.user);
			break;
		default:
			break;
		}
	}
	return n;
}

/* An adapter acknowledges it without its consumer (cli/liveness.h). */
static void
ask(struct client *client)
{
	const struct roce_wr wr = {
		.wr_id = ASKED, .opcode = ROCE_WR_RDMA_WRITE, .flags = ROCE_WR_SIGNALED
	};

	if (roce_qp_post_send(client->qp, &wr) != 0)
		return;
	cli_liveness_asked(&client->life, client->service->runtime.now);
}

/* A buffer that a message has taken and not filled is in no completion: the queue pair tells of it. */
static bool
has_begun(const struct client *client)
{
	uint32_t requests, receives;

	roce_qp_depth(client->qp, &requests, &receives);
	return receives > 0;
}

static bool
stalls(const struct client *client, double stall_s)
{
	return !client->ending &&
			cli_liveness_stall(&client->life, client->service->runtime.now, stall_s,
					CLI_STALL_S) != CLI_STALLS_NOT;
}

/* While buffers are scarce, those that stall go, the one with most of them first. */
static void
free_buffers(struct service *s, uint32_t taken)
{
	const uint32_t enough = SERVICE_BUFFERS / 2;

	if (!cli_scarcity_lasts(&s->scarcity, s->runtime.now, taken > enough))
		return;
	while (taken > enough) {
		struct client *largest = NULL;

		for (struct client *client = s->clients; client != NULL; client = client->next)
			if (stalls(client, CLI_SCARCE_STALL_S) &&
					(largest == NULL ||
							cli_liveness_buffers(&client->life) >
									cli_liveness_buffers(
											&largest->life)))
				largest = client;
		if (largest == NULL)
			return;
		taken -= cli_liveness_buffers(&largest->life);
		let_go(largest);
	}
}

/* Places and buffers come back in a limited time from clients that died, take no answers or end no message. */
static void
look_after(struct service *s)
{
	double now = s->runtime.now;
	uint32_t taken = 0;

	for (struct client *client = s->clients; client != NULL; client = client->next) {
		cli_liveness_begun(&client->life, now, has_begun(client));
		taken += client->ending ? 0 : cli_liveness_buffers(&client->life);
	}
	free_buffers(s, taken);
	for (struct client *client = s->clients; client != NULL; client = client->next) {
		if (client->ending)
			continue;
		if (stalls(client, CLI_STALL_S))
			let_go(client);
		else if (cli_liveness_is_silent(&client->life, now, CLI_KEEPALIVE_S))
			ask(client);
	}
}

unsigned int
service_poll(struct service *service)
{
	double now = cli_runtime_step(&service->runtime);

	if (now - service->looked_at >= LOOK_S) {
		service->looked_at = now;
		look_after(service);
	}
	return take_events(service) + take_connections(service);
}

void
service_counts(const struct service *service, struct service_counts *counts)
{
	*counts = service->counts;
}

/* Objects first, then the receives, then the door. */
static int
make_objects(struct service *s, uint16_t port)
{
	size_t bytes = (size_t)SERVICE_BUFFERS * SERVICE_BUFFER_SIZE;
	int rc;

	s->memory = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	if (s->memory == NULL)
		return failed("no memory for messages", -ENOMEM);
	rc = roce_pd_create(s->context, &s->pd);
	if (rc == 0)
		rc = roce_mr_create(s->pd, (uint64_t)(uintptr_t)s->memory, bytes,
				ROCE_ACCESS_LOCAL_WRITE, &s->mr);
	/* Every buffer is in one request or receive at a time, and a client is asked once at a time. */
	if (rc == 0)
		rc = roce_cq_create(
				s->context, 2 * SERVICE_BUFFERS + SERVICE_CLIENTS_MAX, s, &s->cq);
	if (rc == 0)
		rc = roce_srq_create(s->pd, SERVICE_BUFFERS, 1, s, &s->srq);
	for (uint64_t buffer = 0; rc == 0 && buffer < SERVICE_BUFFERS; buffer++)
		rc = lend_buffer(s, buffer);
	if (rc != 0)
		return failed("objects of the service", rc);
	rc = roce_cm_id_create(s->context, s, &s->listener);
	if (rc == 0)
		rc = roce_cm_id_listen(s->listener, port, BACKLOG);
	return rc == 0 ? 0 : failed("listening", rc);
}

int
service_start(struct roce_device *device, uint16_t port, struct service **out)
{
	struct service *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return failed("a service", -ENOMEM);
	rc = roce_context_create(device, &s->context);
	if (rc == 0)
		rc = make_objects(s, port);
	if (rc != 0) {
		service_stop(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
service_stop(struct service *service)
{
	struct client *client;

	if (service == NULL)
		return;
	if (service->listener != NULL)
		roce_cm_id_destroy(service->listener);
	while ((client = service->clients) != NULL) {
		/* free_client() does it, too, by a pointer that clang's analyzer does not follow. */
		service->clients = client->next;
		free_client(client);
	}
	if (service->srq != NULL)
		roce_srq_destroy(service->srq);
	if (service->cq != NULL)
		roce_cq_destroy(service->cq);
	if (service->mr != NULL)
		roce_mr_destroy(service->mr);
	if (service->pd != NULL)
		roce_pd_destroy(service->pd);
	roce_context_destroy(service->context);
	free(service->memory);
	free(service);
}
