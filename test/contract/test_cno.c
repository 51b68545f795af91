/* SPDX-License-Identifier: BSD-3-Clause */
/* Notification objects without threads: their calls, which events notify, whom, and how often. */

#include "cnos.h"

#define CALLS_MAX 64
#define TAKES     400

/** Events of an agent. Static, as it hears of the close, too. */
struct heard {
	unsigned int calls;
	DAT_EVD_HANDLE evd[CALLS_MAX];
};

static void
hear(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	struct heard *heard = data;

	if (heard->calls < CALLS_MAX)
		heard->evd[heard->calls] = evd;
	heard->calls++;
}

static void
post_n(DAT_EVD_HANDLE evd, unsigned int n)
{
	while (n-- > 0)
		ok(post_software(evd, 0));
}

static void
take_n(DAT_EVD_HANDLE evd, unsigned int n)
{
	while (n-- > 0)
		want_now(evd, DAT_SOFTWARE_EVENT);
}

static void
want_notified_n(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd, unsigned int n)
{
	while (n-- > 0)
		want_notified(cno, evd);
	want_not_notified(cno);
}

static DAT_OS_WAIT_PROXY_AGENT
agent_of(struct heard *heard)
{
	return (DAT_OS_WAIT_PROXY_AGENT){ heard, hear };
}

static void
cno__handles_and_arguments(void **state)
{
	const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
	const DAT_OS_WAIT_PROXY_AGENT half = { .instance_data = (DAT_PVOID)1 };
	DAT_CNO_HANDLE cno, dead;
	DAT_CNO_PARAM param;
	DAT_EVD_HANDLE evd;

	want_bad_handle(dat_cno_create(a->ep, half, NULL), IA);
	want_bad_arg(dat_cno_create(a->ia, half, NULL), 2);
	want_bad_arg(dat_cno_create(a->ia, none, NULL), 3);
	dead = make_cno(a);
	ok(dat_cno_free(dead));
	cno = make_cno(a);
	for (int i = 0; i < 3; i++) {
		DAT_CNO_HANDLE bad = i == 0 ? DAT_HANDLE_NULL : i == 1 ? a->recv : dead;

		want_type(dat_cno_free(bad), DAT_INVALID_HANDLE);
		want_type(dat_cno_modify_agent(bad, half), DAT_INVALID_HANDLE);
		want_type(dat_cno_query(bad, (DAT_CNO_PARAM_MASK)4, NULL), DAT_INVALID_HANDLE);
		want_type(dat_cno_wait(bad, 0, NULL), DAT_INVALID_HANDLE);
	}
	want_bad_handle(dat_cno_free(a->recv), CNO);
	want_bad_arg(dat_cno_modify_agent(cno, half), 2);
	want_bad_arg(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)4, NULL), 2);
	want_bad_arg(dat_cno_query(cno, DAT_CNO_FIELD_ALL, NULL), 3);
	want_bad_arg(dat_cno_wait(cno, 0, NULL), 3);
	memset(&param, POISON, sizeof(param));
	ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, a->ia);
	assert_null(param.agent.instance_data);
	assert_null(param.agent.proxy_agent_func);
	want_error(dat_evd_modify_cno(a->ep, cno), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_bad_handle(dat_evd_modify_cno(a->recv, dead), CNO);
	want_bad_handle(dat_evd_create(a->ia, 4, dead, DAT_EVD_DTO_FLAG, &evd), CNO);
}

static void
cno__is_an_object_like_others(void **state)
{
	const DAT_CONTEXT in = { .as_64 = 4711 };
	DAT_HANDLE_TYPE type;
	DAT_CONTEXT out;
	DAT_CNO_HANDLE cno = make_cno(a);

	want_type_of(cno, DAT_HANDLE_TYPE_CNO);
	ok(dat_set_consumer_context(cno, in));
	ok(dat_get_consumer_context(cno, &out));
	assert_int_equal(out.as_64, in.as_64);
	want_bad_state(dat_ia_close(a->ia, DAT_CLOSE_GRACEFUL_FLAG), IA_IN_USE);
	ok(dat_cno_free(cno));
	want_type(dat_get_handle_type(cno, &type), DAT_INVALID_HANDLE);
}

/* A dispatcher knows its notification object, which lives as long as one does; that of another instance is none. */
static void
cno__of_a_dispatcher(void **state)
{
	DAT_EVD_PARAM param;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_CNO_HANDLE other = make_cno(b);

	want_bad_handle(dat_evd_create(a->ia, 4, other, DAT_EVD_DTO_FLAG, &evd), CNO);
	want_bad_handle(dat_evd_modify_cno(a->recv, other), CNO);
	evd = make_fed(a, cno);
	param = evd_param(evd);
	assert_ptr_equal(param.cno_handle, cno);
	want_bad_state(dat_cno_free(cno), CNO_IN_USE);
	ok(dat_evd_modify_cno(a->recv, cno));
	ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	param = evd_param(evd);
	assert_null(param.cno_handle);
	want_bad_state(dat_cno_free(cno), CNO_IN_USE);
	ok(dat_evd_modify_cno(a->recv, DAT_HANDLE_NULL));
	ok(dat_evd_modify_cno(a->recv, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
	ok(dat_evd_free(evd));
}

/* Each event makes one notification; how they are collected does not matter. */
static void
notify__once_for_each_event(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno = make_cno(a);

	want_not_notified(cno);
	evd = make_fed(a, cno);
	want_not_notified(cno);
	for (unsigned int n = 1; n <= 16; n++) {
		post_n(evd, n);
		want_notified_n(cno, evd, n);
		take_n(evd, n);
		want_not_notified(cno);
	}
	for (unsigned int i = 0; i < 40; i++) {
		post_n(evd, 1);
		want_notified(cno, evd);
		take_n(evd, 1);
	}
	want_not_notified(cno);
}

/* A consumer that takes all events at once is not called back for each of them. */
static void
notify__not_for_what_was_taken(void **state)
{
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	post_n(evd, 5);
	want_notified(cno, evd);
	take_n(evd, 5);
	want_not_notified(cno);
	/* But for each that comes then. */
	post_n(evd, 2);
	want_notified_n(cno, evd, 2);
	take_n(evd, 1);
	post_n(evd, 1);
	want_notified_n(cno, evd, 1);
}

/* Dispatchers have their turns: none waits for another to run dry. */
static void
notify__dispatchers_in_turn(void **state)
{
	DAT_EVD_HANDLE evd[3];
	DAT_CNO_HANDLE cno = make_cno(a);

	for (int i = 0; i < 3; i++)
		evd[i] = make_fed(a, cno);
	post_n(evd[1], 3);
	post_n(evd[2], 1);
	post_n(evd[0], 2);
	for (int i = 0; i < 6; i++)
		want_notified(cno, evd[(const int[]){ 1, 2, 0, 1, 0, 1 }[i]]);
	want_not_notified(cno);
	/* One that goes takes its notifications along. */
	post_n(evd[0], 1);
	post_n(evd[2], 1);
	ok(dat_evd_free(evd[0]));
	want_notified_n(cno, evd[2], 1);
}

/* While it is disabled a dispatcher notifies of nothing; of what is there then, when it is enabled again. */
static void
disabled__holds_notifications_back(void **state)
{
	static struct heard heard;
	DAT_CNO_HANDLE cno = make_cno_with(a, hear, &heard);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	post_n(evd, 1);
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_disable(evd));
	want_not_notified(cno);
	post_n(evd, 2);
	want_not_notified(cno);
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_enable(evd));
	assert_int_equal(heard.calls, 3);
	want_notified_n(cno, evd, 3);
	ok(dat_evd_enable(evd));
	want_not_notified(cno);
	assert_int_equal(heard.calls, 3);
	/* It does not notify of events that were taken meanwhile. */
	ok(dat_evd_disable(evd));
	post_n(evd, 2);
	take_n(evd, 5);
	ok(dat_evd_enable(evd));
	want_not_notified(cno);
}

/* An unwaitable dispatcher notifies as ever. */
static void
unwaitable__notifies(void **state)
{
	DAT_CNO_HANDLE cno = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, cno);

	ok(dat_evd_set_unwaitable(evd));
	post_n(evd, 1);
	want_notified(cno, evd);
}

/* A dispatcher that gets a notification object notifies of its queued events; uncollected notifications go along. */
static void
modify_cno__loses_nothing(void **state)
{
	DAT_CNO_HANDLE first = make_cno(a);
	DAT_CNO_HANDLE second = make_cno(a);
	DAT_EVD_HANDLE evd = make_fed(a, DAT_HANDLE_NULL);

	post_n(evd, 3);
	ok(dat_evd_modify_cno(evd, first));
	want_notified(first, evd);
	ok(dat_evd_modify_cno(evd, first));
	ok(dat_evd_modify_cno(evd, second));
	want_not_notified(first);
	want_notified_n(second, evd, 2);
	post_n(evd, 1);
	want_not_notified(first);
	want_notified(second, evd);
	ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	post_n(evd, 1);
	want_not_notified(second);
	/* Disabled it moves, too, and holds back. */
	ok(dat_evd_disable(evd));
	ok(dat_evd_modify_cno(evd, first));
	want_not_notified(first);
	ok(dat_evd_modify_cno(evd, second));
	ok(dat_evd_enable(evd));
	want_not_notified(first);
	want_notified_n(second, evd, 5);
}

/* An agent hears of each notification, beside those who wait, and with its own data. */
static void
agent__hears_of_each(void **state)
{
	static struct heard heard, other;
	DAT_EVD_HANDLE evd[2];
	DAT_CNO_PARAM param;
	DAT_CNO_HANDLE cno = make_cno_with(a, hear, &heard);

	ok(dat_cno_query(cno, DAT_CNO_FIELD_AGENT, &param));
	assert_ptr_equal(param.agent.instance_data, &heard);
	assert_ptr_equal(param.agent.proxy_agent_func, hear);
	for (int i = 0; i < 2; i++)
		evd[i] = make_fed(a, cno);
	post_n(evd[0], 2);
	post_n(evd[1], 1);
	assert_int_equal(heard.calls, 3);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(heard.evd[i], evd[i / 2]);
	for (int i = 0; i < 3; i++)
		want_notified(cno, evd[i % 2]);
	want_not_notified(cno);
	ok(dat_cno_modify_agent(cno, agent_of(&other)));
	post_n(evd[0], 1);
	assert_int_equal(heard.calls, 3);
	assert_int_equal(other.calls, 1);
	ok(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
	post_n(evd[0], 1);
	assert_int_equal(other.calls, 1);
	/* A new one hears of what comes, not of what came. */
	ok(dat_cno_modify_agent(cno, agent_of(&other)));
	assert_int_equal(other.calls, 1);
	post_n(evd[1], 1);
	assert_int_equal(other.calls, 2);
}

/* With the last dispatcher that is freed, and with the instance, the agent hears of no dispatcher. */
static void
agent__hears_of_the_end(void **state)
{
	static struct heard heard;
	DAT_EVD_HANDLE evd[2];
	DAT_CNO_HANDLE cno = make_cno_with(a, hear, &heard);

	for (int i = 0; i < 2; i++)
		evd[i] = make_fed(a, cno);
	ok(dat_evd_free(evd[0]));
	assert_int_equal(heard.calls, 0);
	ok(dat_evd_free(evd[1]));
	assert_int_equal(heard.calls, 1);
	assert_null(heard.evd[0]);
	/* To be taken away is not to be freed. */
	evd[0] = make_fed(a, cno);
	ok(dat_evd_modify_cno(evd[0], DAT_HANDLE_NULL));
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_modify_cno(evd[0], cno));
	end_close(a);
	assert_int_equal(heard.calls, 2);
	assert_null(heard.evd[1]);
}

/** An agent that makes calls. Static, too. */
struct busy {
	unsigned int calls;
	unsigned int inside;
	DAT_CNO_HANDLE cno;
	DAT_RETURN freed;
	unsigned int echo; /**< events to post from inside */
};

static void
be_busy(DAT_PVOID data, DAT_EVD_HANDLE evd)
{
	struct busy *busy = data;
	DAT_EVENT event;

	if (evd == DAT_HANDLE_NULL)
		return;
	assert_int_equal(busy->inside++, 0);
	busy->calls++;
	ok(dat_evd_dequeue(evd, &event));
	if (busy->echo > 0) {
		busy->echo--;
		ok(post_software(evd, 0));
	}
	busy->freed = dat_cno_free(busy->cno);
	busy->inside--;
}

/* It may take events and make others: it is called again for those, not inside itself. It cannot end its own object. */
static void
agent__may_make_calls(void **state)
{
	static struct busy busy = { .echo = 10 };
	DAT_EVD_HANDLE evd;

	busy.cno = make_cno_with(a, be_busy, &busy);
	evd = make_fed(a, busy.cno);
	post_n(evd, 1);
	assert_int_equal(busy.calls, 11);
	want_bad_state(busy.freed, CNO_IN_USE);
	want_none(evd);
	want_not_notified(busy.cno);
}

/*
 * It may also take from the dispatcher of which its own thread is just taking: the completion that the poll in there has
 * brought. Often enough for a dispatcher whose lock gets biased to its thread.
 */
static void
agent__may_take_where_its_thread_takes(void **state)
{
	static struct busy busy = { .echo = 0 };

	busy.cno = make_cno_with(b, be_busy, &busy);
	ok(dat_evd_modify_cno(b->recv, busy.cno));
	for (unsigned int n = 0; n < TAKES; n++) {
		DAT_EVENT event;

		ok(post_recv(b, 0, 64, n));
		ok(post_send(a, 0, 64, n));
		while (busy.calls == n) {
			poll_once(a);
			want(dat_evd_dequeue(b->recv, &event), DAT_QUEUE_EMPTY);
		}
		want_dto(a, a->request, n, DAT_DTO_SUCCESS, 64);
	}
	assert_int_equal(busy.calls, TAKES);
	want_none(b->recv);
}

/* Every kind of event notifies: completions, connections, requests, what is asynchronous. */
static void
notify__of_every_kind(void **state)
{
	DAT_CR_HANDLE cr;
	const DAT_EVD_HANDLE evd[] = { b->cr, b->connect, b->recv, b->request, b->async };
	DAT_CNO_HANDLE cno = make_cno(b);

	for (unsigned int i = 0; i < COUNT_OF(evd); i++)
		ok(dat_evd_modify_cno(evd[i], cno));
	ok(end_connect(a, b, CONN_QUAL));
	/* To wait polls both ends, as to wait for events does. */
	want_notification(cno, b->cr);
	cr = end_request(b);
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	want_event(a->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_notification(cno, b->connect);
	want_event(b->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_recv(b, 0, 64, 1));
	ok(post_send(a, 0, 64, 1));
	want_notification(cno, b->recv);
	want_dto_now(b, b->recv, 1, DAT_DTO_SUCCESS);
	ok(post_recv(a, 0, 64, 1));
	ok(post_send(b, 0, 64, 2));
	want_notification(cno, b->request);
	want_dto_now(b, b->request, 2, DAT_DTO_SUCCESS);
	ok(dat_evd_resize(b->request, 1));
	for (uint64_t n = 3; n < 5; n++) {
		ok(post_recv(a, 0, 64, n));
		ok(post_send(b, 0, 64, n));
	}
	want_notification(cno, b->request);
	want_notification(cno, b->async);
	want_now(b->async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	want_not_notified(cno);
}

const struct CMUnitTest tests[] = {
	end_test(cno__handles_and_arguments),
	end_test(cno__is_an_object_like_others),
	pair_test(cno__of_a_dispatcher),
	end_test(notify__once_for_each_event),
	end_test(notify__not_for_what_was_taken),
	end_test(notify__dispatchers_in_turn),
	pair_test(notify__of_every_kind),
	end_test(disabled__holds_notifications_back),
	end_test(unwaitable__notifies),
	end_test(modify_cno__loses_nothing),
	end_test(agent__hears_of_each),
	end_test(agent__hears_of_the_end),
	end_test(agent__may_make_calls),
	up_test(agent__may_take_where_its_thread_takes),
	tests_end,
};
