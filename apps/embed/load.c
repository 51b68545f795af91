/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "cli/cli.h"

#define DEPTH      32u
#define TIMEOUT_US 5000000u
/* The cookies of sends lie behind those of receives. */
#define SENT DEPTH

struct load {
	struct roce_context *context;
	struct roce_cm_id *id;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *cq;
	struct roce_qp *qp;
	uint8_t *memory; /* DEPTH buffers to receive into, DEPTH to send from */
	uint32_t size;
	uint64_t sent, back, wrong;
	int state; /* as load_poll() says it */
};

static uint8_t *
buffer(const struct load *l, uint64_t number)
{
	return l->memory + number * l->size;
}

static struct roce_sge
segment(const struct load *l, uint64_t number)
{
	return (struct roce_sge){
		.addr = (uint64_t)(uintptr_t)buffer(l, number),
		.length = l->size,
		.lkey = roce_mr_key(l->mr),
	};
}

static int
post_receive(struct load *l, uint64_t number)
{
	struct roce_sge sge = segment(l, number);
	struct roce_recv_wr wr = { .wr_id = number, .sg = &sge, .num_sge = 1 };

	return roce_qp_post_recv(l->qp, &wr);
}

/* Messages come back in order, so a number in front and one behind tell a message. */
static void
post_send(struct load *l)
{
	uint64_t number = SENT + l->sent % DEPTH;
	struct roce_sge sge = segment(l, number);
	struct roce_wr wr = { .wr_id = number,
		.sg = &sge,
		.num_sge = 1,
		.opcode = ROCE_WR_SEND,
		.flags = ROCE_WR_SIGNALED };

	memcpy(buffer(l, number), &l->sent, sizeof(l->sent));
	memcpy(buffer(l, number) + l->size - sizeof(l->sent), &l->sent, sizeof(l->sent));
	if (roce_qp_post_send(l->qp, &wr) == 0)
		l->sent++;
}

static void
look(struct load *l, const uint8_t *message, uint32_t length)
{
	if (length != l->size || memcmp(message, &l->back, sizeof(l->back)) != 0 ||
			memcmp(message + l->size - sizeof(l->back), &l->back, sizeof(l->back)) != 0)
		l->wrong++;
	l->back++;
}

static void
take_events(struct load *l)
{
	struct roce_event events[DEPTH];
	unsigned int n = roce_cq_poll(l->cq, events, DEPTH);

	for (unsigned int i = 0; i < n; i++) {
		if (events[i].status != ROCE_WC_SUCCESS) {
			l->state = -1;
		} else if (events[i].kind == ROCE_EVENT_RECV) {
			look(l, buffer(l, events[i].wr_id), events[i].byte_len);
			(void)post_receive(l, events[i].wr_id);
		}
	}
}

int
load_poll(struct load *load)
{
	struct roce_cm_event_info event;

	while (roce_cm_poll(load->context, &event) == 1) {
		if (event.type == ROCE_CM_EVENT_ESTABLISHED)
			load->state = 1;
		else
			load->state = -1;
	}
	take_events(load);
	while (load->state == 1 && load->sent - load->back < DEPTH / 2)
		post_send(load);
	return load->state;
}

uint64_t
load_count(const struct load *load, uint64_t *wrong)
{
	*wrong = load->wrong;
	return load->back;
}

static int
make_objects(struct load *l)
{
	struct roce_qp_attr attr = {
		.max_send_wr = 2 * DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1
	};
	size_t bytes = (size_t)2 * DEPTH * l->size;
	int rc;

	l->memory = calloc(1, bytes);
	if (l->memory == NULL)
		return -ENOMEM;
	rc = roce_pd_create(l->context, &l->pd);
	if (rc == 0)
		rc = roce_mr_create(l->pd, (uint64_t)(uintptr_t)l->memory, bytes,
				ROCE_ACCESS_LOCAL_WRITE, &l->mr);
	if (rc == 0)
		rc = roce_cq_create(l->context, 4 * DEPTH, l, &l->cq);
	attr.pd = l->pd;
	attr.send_cq = l->cq;
	attr.recv_cq = l->cq;
	if (rc == 0)
		rc = roce_qp_create(&attr, &l->qp);
	for (uint64_t i = 0; rc == 0 && i < DEPTH; i++)
		rc = post_receive(l, i);
	return rc;
}

int
load_start(struct roce_device *device, const uint8_t ip[16], uint16_t port, uint32_t size,
		struct load **out)
{
	struct load *l = calloc(1, sizeof(*l));
	struct roce_cm_conn_param param = { .rnr_retry = 7 };
	int rc = -ENOMEM;

	if (l != NULL) {
		l->size = RTE_MAX(size, (uint32_t)sizeof(l->sent));
		rc = roce_context_create(device, &l->context);
		if (rc == 0)
			rc = make_objects(l);
		param.qp = l->qp;
		if (rc == 0)
			rc = roce_cm_id_create(l->context, l, &l->id);
		if (rc == 0)
			rc = roce_cm_id_connect(l->id, ip, port, &param, TIMEOUT_US);
	}
	if (rc != 0) {
		cli_say("a client for the measurement: %s", strerror(-rc));
		load_stop(l);
		return rc;
	}
	*out = l;
	return 0;
}

void
load_stop(struct load *load)
{
	if (load == NULL)
		return;
	if (load->id != NULL)
		roce_cm_id_destroy(load->id);
	if (load->qp != NULL)
		roce_qp_destroy(load->qp);
	if (load->cq != NULL)
		roce_cq_destroy(load->cq);
	if (load->mr != NULL)
		roce_mr_destroy(load->mr);
	if (load->pd != NULL)
		roce_pd_destroy(load->pd);
	roce_context_destroy(load->context);
	free(load->memory);
	free(load);
}
