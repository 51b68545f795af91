/* SPDX-License-Identifier: BSD-3-Clause */
/* An id is destroyed in every state of its life, and refuses what its state does not allow. */

#include <errno.h>
#include <string.h>

#include "rig.h"

/** How to bring an id into a state; an end whose id it is, a for who connects. */
enum stage {
	IDLE,
	LISTENING,
	CONNECTING,
	REFUSED,
	REQUESTED,
	ACCEPTING,
	CONNECTED,
	LEAVING,
	OVER
};

/** The answer of each call in a state. */
struct row {
	const char *name;
	enum stage stage;
	int listen, connect, accept, reject, disconnect;
};

/* -EINVAL everywhere but where the life of an id has a place for it. */
static const struct row rows[] = {
	/* clang-format off */
	{ "idle",       IDLE,             0,       0, -EINVAL, -EINVAL, -EINVAL },
	{ "listening",  LISTENING,  -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	{ "connecting", CONNECTING, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	{ "refused",    REFUSED,    -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	{ "requested",  REQUESTED,  -EINVAL, -EINVAL,       0,       0, -EINVAL },
	{ "accepting",  ACCEPTING,  -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	{ "connected",  CONNECTED,  -EINVAL, -EINVAL, -EINVAL, -EINVAL,       0 },
	{ "leaving",    LEAVING,    -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	{ "over",       OVER,       -EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL },
	/* clang-format on */
};

static void
ask(struct pair *pair, uint16_t port)
{
	struct roce_cm_conn_param param = param_of(pair->a.qp, NULL);

	ok(roce_cm_id_connect(pair->a.id, ip_b, port, &param, UINT64_MAX));
}

static void
answer(struct pair *pair)
{
	struct roce_cm_conn_param param = param_of(pair->b.qp, NULL);

	pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	ok(roce_cm_id_accept(pair->b.id, &param));
}

/* The end whose id is in the state then. */
static struct end *
bring_to(struct pair *pair, enum stage stage)
{
	switch (stage) {
	case IDLE:
		return &pair->a;
	case LISTENING:
		ok(roce_cm_id_listen(pair->a.id, PORT, 1));
		return &pair->a;
	case CONNECTING:
		ask(pair, PORT);
		return &pair->a;
	case REFUSED:
		ask(pair, PORT + 1);
		want_cm(pair, &pair->a, ROCE_CM_EVENT_REJECTED);
		return &pair->a;
	case REQUESTED:
		ask(pair, PORT);
		pair->b.id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
		return &pair->b;
	case ACCEPTING:
		ask(pair, PORT);
		answer(pair);
		return &pair->b;
	default:
		pair_connect(pair);
		if (stage != CONNECTED)
			ok(roce_cm_id_disconnect(pair->a.id));
		if (stage == OVER)
			want_cm(pair, &pair->a, ROCE_CM_EVENT_DISCONNECTED);
		return &pair->a;
	}
}

/* Each call on a fresh pair of its own, because some of them succeed. */
static int
call(struct pair *pair, struct end *end, unsigned int which)
{
	struct roce_qp *qp = end_qp(end, NULL);
	struct roce_cm_conn_param param = param_of(qp, NULL);
	int rc;

	switch (which) {
	case 0:
		rc = roce_cm_id_listen(end->id, PORT + 2, 1);
		break;
	case 1:
		rc = roce_cm_id_connect(end->id, ip_b, PORT, &param, UINT64_MAX);
		break;
	case 2:
		rc = roce_cm_id_accept(end->id, &param);
		break;
	case 3:
		rc = roce_cm_id_reject(end->id, NULL, 0);
		if (rc == 0)
			end->id = NULL;
		break;
	default:
		rc = roce_cm_id_disconnect(end->id);
		break;
	}
	settle(pair);
	roce_cm_id_destroy(end->id);
	end->id = NULL;
	settle(pair);
	roce_qp_destroy(qp);
	return rc;
}

/* In any state, whatever was asked of it there, the id goes, and nothing of it is left (end_leave() looks). */
static void
states__times_calls(void **state)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const int want[] = { row->listen, row->connect, row->accept, row->reject,
			row->disconnect };

		for (unsigned int which = 0; which < 5; which++) {
			struct pair *pair;
			void *opened;
			int rc;

			pair_open(&opened);
			pair = opened;
			rc = call(pair, bring_to(pair, row->stage), which);
			if (rc != want[which])
				fail_msg("%s, call %u: %d, not %d", row->name, which, rc,
						want[which]);
			pair_close(&opened);
		}
	}
}

/* In every state, at once and after everybody has heard of everything: the peer is told, events are gone. */
static void
destroy__in_every_state(void **state)
{
	for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i / 2];
		struct roce_cm_event_info event;
		enum roce_qp_state want;
		struct pair *pair;
		struct end *end;
		void *opened;

		pair_open(&opened);
		pair = opened;
		end = bring_to(pair, row->stage);
		if (i % 2 == 1)
			settle(pair);
		want = roce_qp_state(end->qp) == ROCE_QP_RESET ? ROCE_QP_RESET : ROCE_QP_ERR;
		roce_cm_id_destroy(end->id);
		assert_int_equal(roce_qp_state(end->qp), want);
		end->id = NULL;
		assert_int_equal(roce_cm_poll(end->context, &event), 0);
		settle(pair);
		while (roce_cm_poll(pair->b.context, &event) > 0) {
			assert_ptr_not_equal(event.id, NULL);
			if (event.type == ROCE_CM_EVENT_CONNECT_REQUEST)
				roce_cm_id_destroy(event.id);
		}
		if (row->stage == CONNECTED)
			assert_int_equal(roce_qp_state(pair->b.qp), ROCE_QP_ERR);
		pair_close(&opened);
	}
}

/*
 * All that a queue pair had is told of when its id has ended. A request that is posted after that is flushed by the next poll; of
 * what no poll has seen when the queue pair goes nobody hears.
 */
static void
destroy__takes_what_no_poll_has_flushed(void **state)
{
	struct roce_wr wr = { .opcode = ROCE_WR_SEND };
	struct pair *pair = *state;
	struct end *end = &pair->b;
	struct roce_event event;

	pair_connect(pair);
	settle(pair);
	wr.wr_id = 1;
	ok(post_send(end, wr, 0, 64));
	roce_cm_id_destroy(end->id);
	end->id = NULL;
	assert_int_equal(roce_cq_poll(end->cq, &event, 1), 1);
	assert_int_equal(event.wr_id, 1);
	assert_int_equal(event.status, ROCE_WC_WR_FLUSH_ERR);
	wr.wr_id = 2;
	ok(post_send(end, wr, 0, 64));
	assert_int_equal(roce_cq_poll(end->cq, &event, 1), 0);
	assert_int_equal(want_completion(pair, end->cq, ROCE_WC_WR_FLUSH_ERR).wr_id, 2);
	wr.wr_id = 3;
	ok(post_send(end, wr, 0, 64));
	roce_qp_destroy(end->qp);
	end->qp = NULL;
	settle(pair);
	assert_int_equal(roce_cq_poll(end->cq, &event, 1), 0);
}

/* A context stays while anything of it is left. */
static void
context__destroy_counts(void **state)
{
	struct pair *pair = *state;
	struct roce_context *context;
	struct roce_cm_id *id;
	struct roce_cq *cq;
	struct roce_pd *pd;

	ok(roce_context_destroy(NULL));
	ok(roce_context_create(pair->a.device, &context));
	ok(roce_pd_create(context, &pd));
	assert_int_equal(roce_context_destroy(context), -EBUSY);
	ok(roce_pd_destroy(pd));
	ok(roce_cq_create(context, 1, NULL, &cq));
	assert_int_equal(roce_context_destroy(context), -EBUSY);
	ok(roce_cq_destroy(cq));
	ok(roce_cm_id_create(context, NULL, &id));
	assert_int_equal(roce_context_destroy(context), -EBUSY);
	roce_cm_id_destroy(id);
	roce_cm_id_destroy(NULL);
	ok(roce_context_destroy(context));
}

/* A queue pair that is none, another's, in use or not in RESET; numbers out of range. */
static void
param__is_judged(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_conn_param good = param_of(pair->a.qp, NULL), bad[8];
	struct roce_cm_peer peer = { .qpn = 1 };
	struct roce_cm_id *other;
	static const uint8_t data[200];

	for (unsigned int i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].qp = NULL;
	bad[1].qp = pair->b.qp;
	bad[2].private_data = data;
	bad[2].private_data_len = ROCE_CM_PRIVATE_REQUEST + 1;
	bad[3].private_data_len = 1;
	bad[4].initiator_depth = ROCE_RD_ATOMIC_MAX + 1;
	bad[5].responder_resources = ROCE_RD_ATOMIC_MAX + 1;
	bad[6].rnr_retry = 8;
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(roce_cm_id_connect(pair->a.id, ip_b, PORT, &bad[i], UINT64_MAX),
				-EINVAL);
	assert_int_equal(roce_cm_id_connect_peer(pair->a.id, pair->a.qp, &peer), -EINVAL);
	ok(roce_cm_id_connect(pair->a.id, ip_b, PORT, &good, UINT64_MAX));
	/* In use, though still in RESET. */
	ok(roce_cm_id_create(pair->a.context, NULL, &other));
	assert_int_equal(roce_cm_id_connect(other, ip_b, PORT, &good, UINT64_MAX), -EINVAL);
	ok(roce_cm_id_listen(other, PORT, 1));
	roce_cm_id_destroy(other);
	settle(pair);
}

static void
listen__one_a_port(void **state)
{
	struct pair *pair = *state;
	struct roce_cm_id *id;

	ok(roce_cm_id_create(pair->b.context, NULL, &id));
	assert_int_equal(roce_cm_id_listen(id, PORT, 1), -EADDRINUSE);
	ok(roce_cm_id_listen(id, PORT + 1, 1));
	/* Again is another backlog; at another port it is in use. */
	ok(roce_cm_id_listen(id, PORT + 1, 2));
	assert_int_equal(roce_cm_id_listen(id, PORT + 2, 2), -EINVAL);
	roce_cm_id_destroy(id);
	ok(roce_cm_id_create(pair->b.context, NULL, &id));
	ok(roce_cm_id_listen(id, PORT + 1, 1));
	roce_cm_id_destroy(id);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states__times_calls),
		cmocka_unit_test(destroy__in_every_state),
		pair_test(destroy__takes_what_no_poll_has_flushed),
		pair_test(context__destroy_counts),
		pair_test(param__is_judged),
		pair_test(listen__one_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
