/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory runs out at each allocation of each call once: -ENOMEM, nothing changed, nothing lost; then the call works. */

#include <errno.h>
#include <string.h>

#include "rig.h"

/* ../contract/failing.c: the allocation of this thread with this number fails. */
void begin_failing(unsigned int fail);
bool end_failing(void);

/* Objects that calls make, so that they can be destroyed again. */
struct made {
	struct pair *pair;
	struct roce_context *context;
	struct roce_pd *pd;
	struct roce_cq *cq;
	struct roce_srq *srq;
	struct roce_qp *qp;
	struct roce_cm_id *id;
};

static int
make_context(struct made *m)
{
	return roce_context_create(m->pair->a.device, &m->context);
}

static int
make_pd(struct made *m)
{
	return roce_pd_create(m->pair->a.context, &m->pd);
}

static int
make_cq(struct made *m)
{
	return roce_cq_create(m->pair->a.context, 16, NULL, &m->cq);
}

static int
make_srq(struct made *m)
{
	return roce_srq_create(m->pair->a.pd, 16, 1, NULL, &m->srq);
}

static int
make_qp(struct made *m)
{
	struct roce_qp_attr attr = { .pd = m->pair->a.pd,
		.send_cq = m->pair->a.cq,
		.recv_cq = m->pair->a.cq,
		.max_send_wr = 8,
		.max_recv_wr = 8,
		.max_dest_rd_atomic = 2 };

	return roce_qp_create(&attr, &m->qp);
}

static int
make_id(struct made *m)
{
	return roce_cm_id_create(m->pair->a.context, NULL, &m->id);
}

static int
make_listener(struct made *m)
{
	int rc = m->id != NULL ? 0 : roce_cm_id_create(m->pair->a.context, NULL, &m->id);

	return rc != 0 ? rc : roce_cm_id_listen(m->id, PORT, 1);
}

static int
make_connection(struct made *m)
{
	struct roce_cm_conn_param param = param_of(m->pair->a.qp, NULL);
	int rc = m->id != NULL ? 0 : roce_cm_id_create(m->pair->a.context, NULL, &m->id);

	return rc != 0 ? rc : roce_cm_id_connect(m->id, ip_b, PORT, &param, UINT64_MAX);
}

static const struct {
	const char *name;
	int (*make)(struct made *m);
	unsigned int least; /**< allocations, or the allocator is not in place */
} calls[] = {
	{ "context", make_context, 1 },
	{ "pd", make_pd, 1 },
	{ "cq", make_cq, 2 },
	{ "srq", make_srq, 2 },
	{ "qp", make_qp, 4 },
	{ "id", make_id, 1 },
	{ "listener", make_listener, 2 },
	{ "connection", make_connection, 2 },
};

static void
unmake(struct made *m)
{
	roce_cm_id_destroy(m->id);
	if (m->qp != NULL)
		roce_qp_destroy(m->qp);
	if (m->srq != NULL)
		ok(roce_srq_destroy(m->srq));
	if (m->cq != NULL)
		ok(roce_cq_destroy(m->cq));
	if (m->pd != NULL)
		ok(roce_pd_destroy(m->pd));
	ok(roce_context_destroy(m->context));
}

static void
calls__fail_at_each_allocation(void **state)
{
	struct pair *pair = *state;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (unsigned int fail = 0;; fail++) {
			struct made made = { .pair = pair };
			bool failed;
			int rc;

			begin_failing(fail);
			rc = calls[i].make(&made);
			failed = end_failing();
			if (rc != (failed ? -ENOMEM : 0))
				fail_msg("%s, allocation %u: %d", calls[i].name, fail, rc);
			/* Where it failed it can be said again. */
			if (failed && calls[i].make(&made) != 0)
				fail_msg("%s, after allocation %u", calls[i].name, fail);
			unmake(&made);
			if (failed)
				continue;
			if (fail < calls[i].least)
				fail_msg("%s: %u allocations", calls[i].name, fail);
			break;
		}
	}
}

/* A request that finds no memory is refused as one too many; the listener lives on. */
static void
request__without_memory_is_refused(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param param = param_of(pair->a.qp, NULL);
	unsigned int refused = 0;

	for (unsigned int fail = 0;; fail++) {
		struct roce_cm_event_info event;
		bool failed;

		ok(roce_cm_id_connect(pair->a.id, ip_b, PORT, &param, UINT64_MAX));
		begin_failing(fail);
		settle(pair);
		failed = end_failing();
		if (!failed)
			break;
		event = want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED);
		assert_int_equal(event.status, 3);
		refused++;
		want_quiet(pair, &pair->b);
		roce_cm_id_destroy(pair->a.id);
		ok(roce_cm_id_create(pair->a.context, NULL, &pair->a.id));
	}
	assert_true(refused >= 2);
	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
}

/* From the answer to the last event nothing is allocated: no event can be lost. */
static void
events__need_no_memory(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param ask = param_of(pair->a.qp, "ask");
	struct roce_cm_conn_param answer = param_of(pair->b.qp, "answer");
	struct roce_srq *srq;

	ok(roce_srq_create(pair->a.pd, 16, 1, &srq, &srq));
	ok(roce_cm_id_connect(pair->a.id, ip_b, PORT, &ask, UINT64_MAX));
	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	begin_failing(0);
	ok(roce_cm_id_accept(pair->b.id, &answer));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	ok(roce_srq_set_low(srq, 1));
	want_async(pair, pair->a.context, ROCE_ASYNC_SRQ_LIMIT, &srq);
	ok(roce_cm_id_disconnect(pair->a.id));
	want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED);
	assert_false(end_failing());
	ok(roce_srq_destroy(srq));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		pair_test(calls__fail_at_each_allocation),
		pair_test(request__without_memory_is_refused),
		pair_test(events__need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
