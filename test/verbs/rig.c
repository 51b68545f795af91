/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../limit.h"
#include "rig.h"

#define CALM_POLLS 64 /**< without a frame, after which nothing is on the way */

const uint8_t ip_a[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 };
const uint8_t ip_b[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2 };

struct roce_qp *
end_qp(struct end *end, struct roce_srq *srq)
{
	struct roce_qp_attr attr = {
		.pd = end->pd,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.srq = srq,
		.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.max_inline = 64,
		.max_dest_rd_atomic = 4,
		.atomics = true,
	};
	struct roce_qp *qp = NULL;

	attr.owner = end;
	ok(roce_qp_create(&attr, &qp));
	return qp;
}

void
end_join(struct end *end, struct roce_device *device)
{
	const unsigned int access = ROCE_ACCESS_LOCAL_READ | ROCE_ACCESS_LOCAL_WRITE |
			ROCE_ACCESS_REMOTE_READ | ROCE_ACCESS_REMOTE_WRITE |
			ROCE_ACCESS_REMOTE_ATOMIC;

	*end = (struct end){ .device = device };
	end->memory = calloc(1, BYTES);
	assert_non_null(end->memory);
	ok(roce_context_create(device, &end->context));
	assert_ptr_equal(roce_context_device(end->context), device);
	ok(roce_pd_create(end->context, &end->pd));
	ok(roce_cq_create(end->context, 4 * DEPTH, end, &end->cq));
	ok(roce_mr_create(end->pd, (uintptr_t)end->memory, BYTES, access, &end->mr));
}

static void
end_connection(struct end *end)
{
	roce_cm_id_destroy(end->id);
	end->id = NULL;
	if (end->qp != NULL)
		roce_qp_destroy(end->qp);
	end->qp = NULL;
}

void
end_leave(struct end *end)
{
	end_connection(end);
	if (end->mr != NULL)
		ok(roce_mr_destroy(end->mr));
	if (end->cq != NULL)
		ok(roce_cq_destroy(end->cq));
	if (end->pd != NULL)
		ok(roce_pd_destroy(end->pd));
	ok(roce_context_destroy(end->context));
	free(end->memory);
	*end = (struct end){ 0 };
}

void
pair_ready(struct pair *pair)
{
	pair->a.qp = end_qp(&pair->a, NULL);
	pair->b.qp = end_qp(&pair->b, NULL);
	ok(roce_cm_id_create(pair->a.context, &pair->a, &pair->a.id));
}

struct pair *
pair_of(struct roce_device *a, struct roce_device *b)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	end_join(&pair->a, a);
	end_join(&pair->b, b);
	pair_ready(pair);
	ok(roce_cm_id_create(pair->b.context, pair, &pair->listener));
	ok(roce_cm_id_listen(pair->listener, PORT, 4));
	return pair;
}

int
pair_open(void **state)
{
	struct roce_device *a = open_device("port=loop0 ip=192.0.2.1/24");

	*state = pair_of(a, open_device("port=loop1 ip=192.0.2.2/24"));
	return 0;
}

unsigned int
poll_once(struct pair *pair)
{
	if (pair->poll_once != NULL)
		return pair->poll_once(pair);
	return roce_device_poll(pair->a.device) + roce_device_poll(pair->b.device);
}

/* When a test that goes on polling has to give up. */
static uint64_t
patience(const struct pair *pair)
{
	return roce_device_now(pair->a.device) + test_limit_s() * roce_device_hz(pair->a.device);
}

static void
poll_before(struct pair *pair, uint64_t end, const char *what)
{
	if (roce_device_now(pair->a.device) > end)
		fail_msg("in vain: %s", what);
	poll_once(pair);
}

/* With zero_copy= the region outlives its queue pair: the other end has frames that refer to it. */
static void
end_region(struct pair *pair, struct end *end)
{
	uint64_t until = patience(pair);
	int rc;

	end_connection(end);
	if (end->mr == NULL)
		return;
	while ((rc = roce_mr_destroy(end->mr)) == -EBUSY)
		poll_before(pair, until, "the end of a region");
	ok(rc);
	end->mr = NULL;
}

int
pair_close(void **state)
{
	struct pair *pair = *state;
	struct roce_device *device[2] = { pair->a.device, pair->b.device };

	roce_cm_id_destroy(pair->listener);
	end_region(pair, &pair->a);
	end_region(pair, &pair->b);
	end_leave(&pair->a);
	end_leave(&pair->b);
	roce_device_close(device[0]);
	roce_device_close(device[1]);
	free(pair);
	return 0;
}

void
settle(struct pair *pair)
{
	for (unsigned int calm = 0; calm < CALM_POLLS; calm++)
		if (poll_once(pair) > 0)
			calm = 0;
}

struct roce_cm_event_info
want_cm(struct pair *pair, struct end *end, enum roce_cm_event_type type)
{
	uint64_t until = patience(pair);
	struct roce_cm_event_info event;

	while (roce_cm_poll(end->context, &event) == 0)
		poll_before(pair, until, "an event of a connection");
	assert_int_equal(event.type, type);
	return event;
}

struct roce_event
want_completion(struct pair *pair, struct roce_cq *cq, enum roce_wc_status status)
{
	uint64_t until = patience(pair);
	struct roce_event event;

	while (roce_cq_poll(cq, &event, 1) == 0)
		poll_before(pair, until, "a completion");
	assert_int_equal(event.status, status);
	return event;
}

struct roce_async_event
want_async(struct pair *pair, struct roce_context *context, enum roce_async_event_type type,
		void *element)
{
	uint64_t until = patience(pair);
	struct roce_async_event event;

	while (roce_context_poll(context, &event) == 0)
		poll_before(pair, until, "an event of an object");
	assert_int_equal(event.type, type);
	assert_ptr_equal(event.element, element);
	return event;
}

void
want_quiet(struct pair *pair, struct end *end)
{
	struct roce_cm_event_info event;
	struct roce_async_event async;

	settle(pair);
	assert_int_equal(roce_cm_poll(end->context, &event), 0);
	assert_int_equal(roce_context_poll(end->context, &async), 0);
}

struct roce_cm_conn_param
param_of(struct roce_qp *qp, const char *text)
{
	return (struct roce_cm_conn_param){
		.qp = qp,
		.private_data = text,
		.private_data_len = text != NULL ? (uint16_t)(strlen(text) + 1) : 0,
	};
}

struct roce_cm_id *
connect_qps(struct pair *pair, struct roce_cm_id *id, struct roce_qp *a, struct roce_qp *b)
{
	struct roce_cm_conn_param ask = param_of(a, NULL), answer = param_of(b, NULL);
	struct roce_cm_id *accepted;

	ok(roce_cm_id_connect(id, ip_b, PORT, &ask, UINT64_MAX));
	accepted = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	ok(roce_cm_id_accept(accepted, &answer));
	return accepted;
}

void
pair_connect(struct pair *pair)
{
	pair->b.id = connect_qps(pair, pair->a.id, pair->a.qp, pair->b.qp);
	roce_cm_id_set_user(pair->b.id, &pair->b);
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
}

static struct roce_sge
segment(const struct end *end, uint32_t offset, uint32_t len)
{
	return (struct roce_sge){
		.addr = (uintptr_t)end->memory + offset,
		.length = len,
		.lkey = roce_mr_key(end->mr),
	};
}

int
post_recv(struct end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len)
{
	struct roce_sge sge = segment(end, offset, len);
	struct roce_recv_wr wr = { .wr_id = wr_id, .sg = &sge, .num_sge = 1 };

	return roce_qp_post_recv(qp, &wr);
}

int
post_send_on(struct end *end, struct roce_qp *qp, struct roce_wr wr, uint32_t offset, uint32_t len)
{
	struct roce_sge sge = segment(end, offset, len);

	wr.sg = &sge;
	wr.num_sge = 1;
	return roce_qp_post_send(qp, &wr);
}

int
post_send(struct end *end, struct roce_wr wr, uint32_t offset, uint32_t len)
{
	return post_send_on(end, end->qp, wr, offset, len);
}

uint64_t
counter_of(const struct roce_device *device, const char *wanted)
{
	const char *name;
	uint64_t value;

	for (unsigned int i = 0; roce_device_counter(device, i, &name, &value); i++)
		if (strcmp(name, wanted) == 0)
			return value;
	fail_msg("there is no counter %s", wanted);
	return 0;
}
