/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of verbs: which order they end in, events that nobody has acknowledged, and children of fork(2). */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

/* An object that another one uses does not end, and can be used as before. */
static void
ends__wait_for_users(void **state)
{
	struct rig *rig = *state;
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(rig->pd, &init);
	struct ibv_qp *qp = make_qp(rig, srq);
	struct ibv_parent_domain_init_attr parent = { .pd = rig->pd };
	struct ibv_pd *domain = ibv_alloc_parent_domain(rig->context, &parent);

	assert_non_null(domain);
	assert_int_equal(ibv_destroy_cq(rig->cq), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	assert_int_equal(ibv_dealloc_pd(rig->pd), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(rig->channel), EBUSY);
	ok(ibv_dealloc_pd(domain));
	ok(ibv_destroy_qp(qp));
	ok(ibv_destroy_srq(srq));
	connect_qps(rig, rig->a, rig->b);
	ok(post_recv(rig, rig->b, 1));
	ok(post_send(rig, rig->a, 2));
	want_wc(rig->cq);
	want_wc(rig->cq);
}

static void
close__ends_what_is_left(void **state)
{
	struct rig *rig = *state;
	struct ibv_context *context = ibv_open_device(rig->context->device);
	struct rig other = { .context = context };

	assert_non_null(context);
	other.pd = ibv_alloc_pd(context);
	other.channel = ibv_create_comp_channel(context);
	other.cq = ibv_create_cq(context, 64, NULL, other.channel, 0);
	other.mr = ibv_reg_mr(other.pd, other.memory, 64, IBV_ACCESS_LOCAL_WRITE);
	other.a = make_qp(&other, NULL);
	other.b = make_qp(&other, NULL);
	connect_qps(&other, other.a, other.b);
	ok(ibv_req_notify_cq(other.cq, 0));
	ok(post_recv(&other, other.a, 1));
	assert_non_null(ibv_alloc_mw(other.pd, IBV_MW_TYPE_1));
	ok(ibv_close_device(context));
}

/* Completions of a queue pair that has ended vanish with it; those of others stay, in order. */
static void
destroy_qp__takes_its_completions_along(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp *c = make_qp(rig, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;

	to_init(rig->a);
	to_init(c);
	ok(post_recv(rig, rig->a, 1));
	ok(post_recv(rig, c, 2));
	ok(post_recv(rig, rig->a, 3));
	ok(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE));
	ok(ibv_modify_qp(c, &attr, IBV_QP_STATE));
	ok(ibv_destroy_qp(c));
	wc = want_wc(rig->cq);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.qp_num, rig->a->qp_num);
	assert_int_equal(want_wc(rig->cq).wr_id, 3);
	assert_int_equal(ibv_poll_cq(rig->cq, 1, &wc), 0);
}

/* A parent domain does not end while an object was made with it. */
static void
parent_domain__waits_for_objects(void **state)
{
	struct rig *rig = *state;
	struct ibv_parent_domain_init_attr parent = { .pd = rig->pd };
	struct ibv_pd *domain = ibv_alloc_parent_domain(rig->context, &parent);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = rig->pd
	};
	struct ibv_qp_init_attr init = qp_init(rig);
	struct ibv_cq_ex *cq;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_qp *qp;

	refused(ibv_create_cq_ex(rig->context, &attr), EINVAL);
	attr.parent_domain = domain;
	cq = ibv_create_cq_ex(rig->context, &attr);
	mr = ibv_reg_mr(domain, rig->memory, 64, IBV_ACCESS_LOCAL_WRITE);
	mw = ibv_alloc_mw(domain, IBV_MW_TYPE_1);
	qp = ibv_create_qp(domain, &init);
	assert_int_equal(ibv_dealloc_pd(domain), EBUSY);
	ok(ibv_destroy_qp(qp));
	assert_int_equal(ibv_dealloc_pd(domain), EBUSY);
	ok(ibv_dealloc_mw(mw));
	assert_int_equal(ibv_dealloc_pd(domain), EBUSY);
	ok(ibv_dereg_mr(mr));
	assert_int_equal(ibv_dealloc_pd(domain), EBUSY);
	ok(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	ok(ibv_dealloc_pd(domain));
}

static struct ibv_cq *
want_event(struct ibv_comp_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	ok(ibv_get_cq_event(channel, &cq, &context));
	assert_ptr_equal(cq->cq_context, context);
	return cq;
}

static void
channel__tells_once_for_each_call_that_armed(void **state)
{
	struct rig *rig = *state;
	struct pollfd fd = { .fd = rig->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	connect_qps(rig, rig->a, rig->b);
	ok(fcntl(rig->channel->fd, F_SETFL, O_NONBLOCK));
	assert_int_equal(ibv_get_cq_event(rig->channel, &cq, &context), -1);
	assert_int_equal(errno, EAGAIN);
	ok(ibv_req_notify_cq(rig->cq, 0));
	for (int i = 0; i < 2; i++) {
		ok(post_recv(rig, rig->b, 1));
		ok(post_send(rig, rig->a, 2));
		want_wc(rig->cq);
		want_wc(rig->cq);
	}
	assert_ptr_equal(want_event(rig->channel), rig->cq);
	ibv_ack_cq_events(rig->cq, 1);
	assert_int_equal(poll(&fd, 1, 0), 0);
}

struct ender {
	struct ibv_cq *cq;
	bool ended; /* atomic */
};

static void *
end_cq(void *arg)
{
	struct ender *ender = arg;

	ok(ibv_destroy_cq(ender->cq));
	__atomic_store_n(&ender->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A queue does not end while an event of it that was fetched is not acknowledged. */
static void
destroy_cq__waits_for_acknowledgements(void **state)
{
	struct rig *rig = *state;
	struct ender ender = { .cq = ibv_create_cq(rig->context, 8, NULL, rig->channel, 0) };
	struct ibv_cq *was = rig->cq;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	pthread_t thread;
	struct ibv_qp *qp;

	rig->cq = ender.cq;
	qp = make_qp(rig, NULL);
	rig->cq = was;
	to_init(qp);
	ok(ibv_req_notify_cq(ender.cq, 0));
	ok(post_recv(rig, qp, 1));
	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	assert_ptr_equal(want_event(rig->channel), ender.cq);
	ok(ibv_destroy_qp(qp));
	ok(pthread_create(&thread, NULL, end_cq, &ender));
	usleep(50000);
	assert_false(__atomic_load_n(&ender.ended, __ATOMIC_ACQUIRE));
	ibv_ack_cq_events(ender.cq, 1);
	ok(pthread_join(thread, NULL));
	assert_true(ender.ended);
}

/* Events that nobody has fetched vanish, and with them what the descriptor counted. */
static void
destroy_cq__takes_its_events_along(void **state)
{
	struct rig *rig = *state;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig->context);
	struct ibv_cq *was = rig->cq, *cq = ibv_create_cq(rig->context, 8, NULL, channel, 0);
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *qp;

	rig->cq = cq;
	qp = make_qp(rig, NULL);
	rig->cq = was;
	to_init(qp);
	ok(ibv_req_notify_cq(cq, 0));
	ok(post_recv(rig, qp, 1));
	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	ok(ibv_destroy_qp(qp));
	ok(ibv_destroy_cq(cq));
	assert_int_equal(poll(&fd, 1, 0), 0);
	ok(ibv_destroy_comp_channel(channel));
}

static struct ibv_async_event
want_async(struct ibv_context *context, enum ibv_event_type type)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
	ok(ibv_get_async_event(context, &event));
	assert_int_equal(event.event_type, type);
	return event;
}

/* The first packet in RTR, the limit of a shared queue, and the last receive of a queue pair that takes from it. */
static void
async__events_of_objects(void **state)
{
	struct rig *rig = *state;
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(rig->pd, &init);
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_sge sge = {
		.addr = (uintptr_t)rig->memory, .length = 64, .lkey = rig->mr->lkey
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp *qp = make_qp(rig, srq);
	struct ibv_async_event event;

	ok(ibv_post_srq_recv(srq, &wr, &bad));
	ok(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	to_init(rig->a);
	to_init(qp);
	to_rtr(rig, qp, rig->a);
	to_rtr(rig, rig->a, qp);
	to_rts(rig->a);
	ok(post_send(rig, rig->a, 1));
	want_wc(rig->cq);
	want_wc(rig->cq);
	event = want_async(rig->context, IBV_EVENT_COMM_EST);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
	event = want_async(rig->context, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, srq);
	ibv_ack_async_event(&event);
	ok(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	event = want_async(rig->context, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
	ok(ibv_destroy_qp(qp));
	ok(ibv_destroy_srq(srq));
}

/* The send queue stops, tells when it has, and goes on. */
static void
async__event_of_a_drained_queue(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;
	struct ibv_wc wc;

	connect_qps(rig, rig->a, rig->b);
	ok(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	assert_int_equal(rig->a->state, IBV_QPS_SQD);
	event = want_async(rig->context, IBV_EVENT_SQ_DRAINED);
	assert_ptr_equal(event.element.qp, rig->a);
	ibv_ack_async_event(&event);
	ok(ibv_query_qp(rig->a, &attr, IBV_QP_STATE, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_SQD);
	assert_int_equal(attr.sq_draining, 0);
	ok(post_recv(rig, rig->b, 1));
	ok(post_send(rig, rig->a, 2));
	assert_int_equal(ibv_poll_cq(rig->cq, 1, &wc), 0);
	attr.qp_state = IBV_QPS_RTS;
	ok(ibv_modify_qp(rig->a, &attr, IBV_QP_STATE));
	for (int i = 0; i < 2; i++)
		assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
}

static int
child_of(struct rig *rig)
{
	struct ibv_wc wc;
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (post_recv(rig, rig->a, 1) != ENODEV || ibv_poll_cq(rig->cq, 1, &wc) >= 0)
		return 1;
	if (ibv_alloc_pd(rig->context) != NULL || ibv_open_device(list[0]) != NULL)
		return 2;
	if (ibv_resize_cq(rig->cq, DEPTH) != ENODEV || ibv_alloc_mw(rig->pd, IBV_MW_TYPE_1) != NULL)
		return 4;
	/* It may clean up as if the objects were its own. */
	if (ibv_destroy_qp(rig->a) != 0 || ibv_dereg_mr(rig->mr) != 0)
		return 3;
	return 0;
}

/* A child has nothing of its parent, which goes on. */
static void
fork__leaves_the_parent_alone(void **state)
{
	struct rig *rig = *state;
	int status;
	pid_t pid;

	connect_qps(rig, rig->a, rig->b);
	ok(post_recv(rig, rig->b, 1));
	pid = fork();
	if (pid == 0)
		_exit(child_of(rig));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ok(post_send(rig, rig->a, 2));
	assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
	assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(ends__wait_for_users),
		rig_test(close__ends_what_is_left),
		rig_test(destroy_qp__takes_its_completions_along),
		rig_test(parent_domain__waits_for_objects),
		rig_test(channel__tells_once_for_each_call_that_armed),
		rig_test(destroy_cq__waits_for_acknowledgements),
		rig_test(destroy_cq__takes_its_events_along),
		rig_test(async__events_of_objects),
		rig_test(async__event_of_a_drained_queue),
		rig_test(fork__leaves_the_parent_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
