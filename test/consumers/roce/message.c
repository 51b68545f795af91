/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of an appliance that wants messages and no DAT: two ends on the built-in wire in one process, connected
 * by their ids, and one message from one to the other.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roce/roce.h>

#define PORT  7000
#define BYTES 4096

/* A condition that does not hold ends the program, which prints its line. */
#define TRUE_THAT(condition)                                               \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%d: " #condition "\n", __LINE__); \
			exit(1);                                           \
		}                                                          \
	} while (0)

struct side {
	struct roce_device *device;
	struct roce_context *context;
	struct roce_pd *pd;
	struct roce_cq *cq;
	struct roce_mr *mr;
	struct roce_qp *qp;
	char *memory;
};

static void
open_side(struct side *side, const char *params)
{
	struct roce_qp_attr attr;
	char errmsg[256];

	if (roce_device_open(params, &side->device, errmsg, sizeof(errmsg)) != 0) {
		fprintf(stderr, "%s\n", errmsg);
		exit(1);
	}
	side->memory = (char *)calloc(1, BYTES);
	TRUE_THAT(side->memory != NULL);
	TRUE_THAT(roce_context_create(side->device, &side->context) == 0);
	TRUE_THAT(roce_pd_create(side->context, &side->pd) == 0);
	TRUE_THAT(roce_cq_create(side->context, 16, NULL, &side->cq) == 0);
	TRUE_THAT(roce_mr_create(side->pd, (uint64_t)(size_t)side->memory, BYTES,
				  ROCE_ACCESS_LOCAL_WRITE, &side->mr) == 0);
	memset(&attr, 0, sizeof(attr));
	attr.pd = side->pd;
	attr.send_cq = side->cq;
	attr.recv_cq = side->cq;
	attr.max_send_wr = 4;
	attr.max_recv_wr = 4;
	TRUE_THAT(roce_qp_create(&attr, &side->qp) == 0);
}

static void
close_side(struct side *side)
{
	roce_qp_destroy(side->qp);
	TRUE_THAT(roce_mr_destroy(side->mr) == 0);
	TRUE_THAT(roce_cq_destroy(side->cq) == 0);
	TRUE_THAT(roce_pd_destroy(side->pd) == 0);
	TRUE_THAT(roce_context_destroy(side->context) == 0);
	roce_device_close(side->device);
	free(side->memory);
}

static struct roce_sge
all_of(const struct side *side)
{
	struct roce_sge sge;

	sge.addr = (uint64_t)(size_t)side->memory;
	sge.length = BYTES;
	sge.lkey = roce_mr_key(side->mr);
	return sge;
}

static void
poll_once(struct side *a, struct side *b)
{
	roce_device_poll(a->device);
	roce_device_poll(b->device);
}

static struct roce_cm_id *
wait_for(struct side *a, struct side *b, struct side *who, enum roce_cm_event_type type)
{
	struct roce_cm_event_info event;

	while (roce_cm_poll(who->context, &event) == 0)
		poll_once(a, b);
	TRUE_THAT(event.type == type);
	return event.id;
}

static void
wait_completion(struct side *a, struct side *b, struct side *who)
{
	struct roce_event event;

	while (roce_cq_poll(who->cq, &event, 1) == 0)
		poll_once(a, b);
	TRUE_THAT(event.status == ROCE_WC_SUCCESS);
}

static void
move_message(struct side *a, struct side *b)
{
	struct roce_sge from = all_of(a), to = all_of(b);
	struct roce_recv_wr recv;
	struct roce_wr send;

	memset(&recv, 0, sizeof(recv));
	recv.sg = &to;
	recv.num_sge = 1;
	TRUE_THAT(roce_qp_post_recv(b->qp, &recv) == 0);
	strcpy(a->memory, "a message without DAT");
	memset(&send, 0, sizeof(send));
	send.sg = &from;
	send.num_sge = 1;
	send.opcode = ROCE_WR_SEND;
	send.flags = ROCE_WR_SIGNALED;
	TRUE_THAT(roce_qp_post_send(a->qp, &send) == 0);
	wait_completion(a, b, b);
	wait_completion(a, b, a);
	TRUE_THAT(strcmp(b->memory, "a message without DAT") == 0);
}

int
main(void)
{
	static const uint8_t there[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2 };
	struct roce_cm_id *listener, *id, *request;
	struct roce_cm_conn_param param;
	struct side a, b;

	open_side(&a, "port=loop0 ip=192.0.2.1/24");
	open_side(&b, "port=loop1 ip=192.0.2.2/24");
	TRUE_THAT(roce_cm_id_create(b.context, NULL, &listener) == 0);
	TRUE_THAT(roce_cm_id_listen(listener, PORT, 4) == 0);
	memset(&param, 0, sizeof(param));
	param.qp = a.qp;
	TRUE_THAT(roce_cm_id_create(a.context, NULL, &id) == 0);
	TRUE_THAT(roce_cm_id_connect(id, there, PORT, &param, UINT64_MAX) == 0);
	request = wait_for(&a, &b, &b, ROCE_CM_EVENT_CONNECT_REQUEST);
	param.qp = b.qp;
	TRUE_THAT(roce_cm_id_accept(request, &param) == 0);
	wait_for(&a, &b, &a, ROCE_CM_EVENT_ESTABLISHED);
	wait_for(&a, &b, &b, ROCE_CM_EVENT_ESTABLISHED);
	move_message(&a, &b);
	TRUE_THAT(roce_cm_id_disconnect(id) == 0);
	wait_for(&a, &b, &a, ROCE_CM_EVENT_DISCONNECTED);
	wait_for(&a, &b, &b, ROCE_CM_EVENT_DISCONNECTED);
	roce_cm_id_destroy(id);
	roce_cm_id_destroy(request);
	roce_cm_id_destroy(listener);
	close_side(&a);
	close_side(&b);
	return 0;
}
