/* SPDX-License-Identifier: BSD-3-Clause */
/* Notification objects without threads: their calls, which events notify, whom, and how often. */

#include "cnos.h"

#define CALLS_MAX 64
#define TAKES     400

/** What an agent has heard. */
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

static DAT_OS_WAIT_PROXY_AGENT
agent_of(struct heard *heard)
{
	return (DAT_OS_WAIT_PROXY_AGENT){ heard, hear };
}

static void
post_n(DAT_EVD_HANDLE evd, unsigned int n)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	while (n-- > 0)
		ok(dat_evd_post_se(evd, &event));
}

static void
take_n(DAT_EVD_HANDLE evd, unsigned int n)
{
	while (n-- > 0)
		want_now(evd, DAT_SOFTWARE_EVENT);
}

static void
want_notified(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE fired = cno;

	ok(dat_cno_wait(cno, 0, &fired));
	assert_ptr_equal(fired, evd);
}

static void
want_not_notified(DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE fired = cno;

	want_error(dat_cno_wait(cno, 0, &fired), DAT_QUEUE_EMPTY, 0);
	assert_null(fired);
}

static void
cno__handles_and_arguments(void **state)
{
	const DAT_OS_WAIT_PROXY_AGENT none = DAT_OS_WAIT_PROXY_AGENT_NULL;
	const DAT_OS_WAIT_PROXY_AGENT half = { .instance_data = (DAT_PVOID)1 };
	DAT_CNO_HANDLE cno, dead;
	DAT_CNO_PARAM param;
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	want_error(dat_cno_create(end.ep, half, NULL), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	want_error(dat_cno_create(end.ia, half, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_cno_create(end.ia, none, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	dead = make_cno(&end);
	ok(dat_cno_free(dead));
	cno = make_cno(&end);
	for (int i = 0; i < 3; i++) {
		DAT_CNO_HANDLE bad = i == 0 ? DAT_HANDLE_NULL : i == 1 ? end.recv : dead;

		want_type(dat_cno_free(bad), DAT_INVALID_HANDLE);
		want_type(dat_cno_modify_agent(bad, half), DAT_INVALID_HANDLE);
		want_type(dat_cno_query(bad, (DAT_CNO_PARAM_MASK)4, NULL), DAT_INVALID_HANDLE);
		want_type(dat_cno_wait(bad, 0, NULL), DAT_INVALID_HANDLE);
	}
	want_error(dat_cno_free(end.recv), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	want_error(dat_cno_modify_agent(cno, half), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	want_error(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)4, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_cno_query(cno, DAT_CNO_FIELD_ALL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
	want_error(dat_cno_wait(cno, 0, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	memset(&param, POISON, sizeof(param));
	ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
	assert_ptr_equal(param.ia_handle, end.ia);
	assert_null(param.agent.instance_data);
	assert_null(param.agent.proxy_agent_func);
	want_error(dat_evd_modify_cno(end.ep, cno), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	want_error(dat_evd_modify_cno(end.recv, dead), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	want_error(dat_evd_create(end.ia, 4, dead, DAT_EVD_DTO_FLAG, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CNO);
	end_close(&end);
}

static void
cno__is_an_object_like_others(void **state)
{
	const DAT_CONTEXT in = { .as_64 = 4711 };
	DAT_HANDLE_TYPE type;
	DAT_CONTEXT out;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	ok(dat_get_handle_type(cno, &type));
	assert_int_equal(type, DAT_HANDLE_TYPE_CNO);
	ok(dat_set_consumer_context(cno, in));
	ok(dat_get_consumer_context(cno, &out));
	assert_int_equal(out.as_64, in.as_64);
	want_error(dat_ia_close(end.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE,
			DAT_INVALID_STATE_IA_IN_USE);
	ok(dat_cno_free(cno));
	want_type(dat_get_handle_type(cno, &type), DAT_INVALID_HANDLE);
	end_close(&end);
}

/* A dispatcher knows its notification object, which lives as long as one does; that of another instance is none. */
static void
cno__of_a_dispatcher(void **state)
{
	DAT_CNO_HANDLE cno, other;
	DAT_EVD_PARAM param;
	DAT_EVD_HANDLE evd;
	struct pair pair;

	pair_open(&pair, NULL, NULL);
	cno = make_cno(&pair.a);
	other = make_cno(&pair.b);
	want_error(dat_evd_create(pair.a.ia, 4, other, DAT_EVD_DTO_FLAG, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CNO);
	want_error(dat_evd_modify_cno(pair.a.recv, other), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_CNO);
	evd = make_fed(&pair.a, cno);
	ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	assert_ptr_equal(param.cno_handle, cno);
	want_error(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
	ok(dat_evd_modify_cno(pair.a.recv, cno));
	ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	assert_null(param.cno_handle);
	want_error(dat_cno_free(cno), DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
	ok(dat_evd_modify_cno(pair.a.recv, DAT_HANDLE_NULL));
	ok(dat_evd_modify_cno(pair.a.recv, DAT_HANDLE_NULL));
	ok(dat_cno_free(cno));
	ok(dat_evd_free(evd));
	pair_close(&pair);
}

/* Each event makes one notification; how they are collected does not matter. */
static void
notify__once_for_each_event(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	want_not_notified(cno);
	evd = make_fed(&end, cno);
	want_not_notified(cno);
	for (unsigned int n = 1; n <= 16; n++) {
		post_n(evd, n);
		for (unsigned int i = 0; i < n; i++)
			want_notified(cno, evd);
		want_not_notified(cno);
		take_n(evd, n);
		want_not_notified(cno);
	}
	for (unsigned int i = 0; i < 40; i++) {
		post_n(evd, 1);
		want_notified(cno, evd);
		take_n(evd, 1);
	}
	want_not_notified(cno);
	end_close(&end);
}

/* Who takes all events at once is not called back for each of them. */
static void
notify__not_for_what_was_taken(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	evd = make_fed(&end, cno);
	post_n(evd, 5);
	want_notified(cno, evd);
	take_n(evd, 5);
	want_not_notified(cno);
	/* But for each that comes then. */
	post_n(evd, 2);
	want_notified(cno, evd);
	want_notified(cno, evd);
	want_not_notified(cno);
	take_n(evd, 1);
	post_n(evd, 1);
	want_notified(cno, evd);
	want_not_notified(cno);
	end_close(&end);
}

/* Dispatchers have their turns: none waits for another to run dry. */
static void
notify__dispatchers_in_turn(void **state)
{
	DAT_EVD_HANDLE evd[3];
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	for (int i = 0; i < 3; i++)
		evd[i] = make_fed(&end, cno);
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
	want_notified(cno, evd[2]);
	want_not_notified(cno);
	end_close(&end);
}

/* While it is disabled a dispatcher notifies of nothing; of what is there then, when it is enabled again. */
static void
disabled__holds_notifications_back(void **state)
{
	struct heard heard = { 0 };
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, agent_of(&heard), &cno));
	evd = make_fed(&end, cno);
	post_n(evd, 1);
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_disable(evd));
	want_not_notified(cno);
	post_n(evd, 2);
	want_not_notified(cno);
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_enable(evd));
	assert_int_equal(heard.calls, 3);
	for (int i = 0; i < 3; i++)
		want_notified(cno, evd);
	want_not_notified(cno);
	ok(dat_evd_enable(evd));
	want_not_notified(cno);
	assert_int_equal(heard.calls, 3);
	/* What was taken meanwhile is none of its business. */
	ok(dat_evd_disable(evd));
	post_n(evd, 2);
	take_n(evd, 5);
	ok(dat_evd_enable(evd));
	want_not_notified(cno);
	end_close(&end);
}

/* An unwaitable dispatcher notifies as ever. */
static void
unwaitable__notifies(void **state)
{
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	cno = make_cno(&end);
	evd = make_fed(&end, cno);
	ok(dat_evd_set_unwaitable(evd));
	post_n(evd, 1);
	want_notified(cno, evd);
	end_close(&end);
}

/* What is queued when a dispatcher gets a notification object is notified; what was not collected goes along. */
static void
modify_cno__loses_nothing(void **state)
{
	DAT_CNO_HANDLE first, second;
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	first = make_cno(&end);
	second = make_cno(&end);
	evd = make_fed(&end, DAT_HANDLE_NULL);
	post_n(evd, 3);
	ok(dat_evd_modify_cno(evd, first));
	want_notified(first, evd);
	ok(dat_evd_modify_cno(evd, first));
	ok(dat_evd_modify_cno(evd, second));
	want_not_notified(first);
	want_notified(second, evd);
	want_notified(second, evd);
	want_not_notified(second);
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
	for (int i = 0; i < 5; i++)
		want_notified(second, evd);
	want_not_notified(second);
	end_close(&end);
}

/* An agent hears of each notification, beside those who wait, and with its own data. */
static void
agent__hears_of_each(void **state)
{
	struct heard heard = { 0 }, other = { 0 };
	DAT_EVD_HANDLE evd[2];
	DAT_CNO_PARAM param;
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, agent_of(&heard), &cno));
	ok(dat_cno_query(cno, DAT_CNO_FIELD_AGENT, &param));
	assert_ptr_equal(param.agent.instance_data, &heard);
	assert_ptr_equal(param.agent.proxy_agent_func, hear);
	for (int i = 0; i < 2; i++)
		evd[i] = make_fed(&end, cno);
	post_n(evd[0], 2);
	post_n(evd[1], 1);
	assert_int_equal(heard.calls, 3);
	assert_ptr_equal(heard.evd[0], evd[0]);
	assert_ptr_equal(heard.evd[1], evd[0]);
	assert_ptr_equal(heard.evd[2], evd[1]);
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
	end_close(&end);
}

/* With the last dispatcher that is freed, and with the instance, the agent hears of no dispatcher. */
static void
agent__hears_of_the_end(void **state)
{
	struct heard heard = { 0 };
	DAT_EVD_HANDLE evd[2];
	DAT_CNO_HANDLE cno;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, agent_of(&heard), &cno));
	for (int i = 0; i < 2; i++)
		evd[i] = make_fed(&end, cno);
	ok(dat_evd_free(evd[0]));
	assert_int_equal(heard.calls, 0);
	ok(dat_evd_free(evd[1]));
	assert_int_equal(heard.calls, 1);
	assert_null(heard.evd[0]);
	/* To be taken away is not to be freed. */
	evd[0] = make_fed(&end, cno);
	ok(dat_evd_modify_cno(evd[0], DAT_HANDLE_NULL));
	assert_int_equal(heard.calls, 1);
	ok(dat_evd_modify_cno(evd[0], cno));
	end_close(&end);
	assert_int_equal(heard.calls, 2);
	assert_null(heard.evd[1]);
}

/** An agent that makes calls. */
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
	const DAT_EVENT echo = { .event_number = DAT_SOFTWARE_EVENT };
	struct busy *busy = data;
	DAT_EVENT event;

	if (evd == DAT_HANDLE_NULL)
		return;
	assert_int_equal(busy->inside++, 0);
	busy->calls++;
	ok(dat_evd_dequeue(evd, &event));
	if (busy->echo > 0) {
		busy->echo--;
		ok(dat_evd_post_se(evd, &echo));
	}
	busy->freed = dat_cno_free(busy->cno);
	busy->inside--;
}

/* It may take events and make others: it is called again for those, not inside itself. It cannot end its own object. */
static void
agent__may_make_calls(void **state)
{
	struct busy busy = { .echo = 10 };
	DAT_EVD_HANDLE evd;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_cno_create(end.ia, (DAT_OS_WAIT_PROXY_AGENT){ &busy, be_busy }, &busy.cno));
	evd = make_fed(&end, busy.cno);
	post_n(evd, 1);
	assert_int_equal(busy.calls, 11);
	want_error(busy.freed, DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE);
	want_none(evd);
	want_not_notified(busy.cno);
	end_close(&end);
}

/*
 * It may also take from the dispatcher of which its own thread is just taking: the completion that the poll in there has
 * brought. Often enough for a dispatcher whose lock gets biased to its thread.
 */
static void
agent__may_take_where_its_thread_takes(void **state)
{
	struct busy busy = { .echo = 0 };
	struct pair pair;

	pair_up(&pair);
	ok(dat_cno_create(pair.b.ia, (DAT_OS_WAIT_PROXY_AGENT){ &busy, be_busy }, &busy.cno));
	ok(dat_evd_modify_cno(pair.b.recv, busy.cno));
	for (unsigned int n = 0; n < TAKES; n++) {
		DAT_EVENT event;

		ok(post_recv(&pair.b, 0, 64, n));
		ok(post_send(&pair.a, 0, 64, n));
		while (busy.calls == n) {
			poll_once(&pair.a);
			want(dat_evd_dequeue(pair.b.recv, &event), DAT_QUEUE_EMPTY);
		}
		want_dto(&pair.a, pair.a.request, n, DAT_DTO_SUCCESS, 64);
	}
	assert_int_equal(busy.calls, TAKES);
	want_none(pair.b.recv);
	pair_close(&pair);
}

/* Every kind of event notifies: completions, connections, requests, what is asynchronous. */
static void
notify__of_every_kind(void **state)
{
	DAT_EVD_HANDLE fired;
	DAT_CNO_HANDLE cno;
	DAT_CR_HANDLE cr;
	struct pair pair;
	struct end *b = &pair.b;

	pair_open(&pair, NULL, NULL);
	cno = make_cno(b);
	ok(dat_evd_modify_cno(b->cr, cno));
	ok(dat_evd_modify_cno(b->connect, cno));
	ok(dat_evd_modify_cno(b->recv, cno));
	ok(dat_evd_modify_cno(b->request, cno));
	ok(dat_evd_modify_cno(b->async, cno));
	ok(end_connect(&pair.a, b, CONN_QUAL));
	/* To wait polls both ends, as to wait for events does. */
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->cr);
	cr = end_request(b);
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	want_event(pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->connect);
	want_event(b->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ok(post_recv(b, 0, 64, 1));
	ok(post_send(&pair.a, 0, 64, 1));
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->recv);
	want_dto_now(b, b->recv, 1, DAT_DTO_SUCCESS);
	ok(post_recv(&pair.a, 0, 64, 1));
	ok(post_send(b, 0, 64, 2));
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->request);
	want_dto_now(b, b->request, 2, DAT_DTO_SUCCESS);
	ok(dat_evd_resize(b->request, 1));
	for (uint64_t n = 3; n < 5; n++) {
		ok(post_recv(&pair.a, 0, 64, n));
		ok(post_send(b, 0, 64, n));
	}
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->request);
	ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &fired));
	assert_ptr_equal(fired, b->async);
	want_now(b->async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
	want_not_notified(cno);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(cno__handles_and_arguments),
		rig_test(cno__is_an_object_like_others),
		rig_test(cno__of_a_dispatcher),
		rig_test(notify__once_for_each_event),
		rig_test(notify__not_for_what_was_taken),
		rig_test(notify__dispatchers_in_turn),
		rig_test(notify__of_every_kind),
		rig_test(disabled__holds_notifications_back),
		rig_test(unwaitable__notifies),
		rig_test(modify_cno__loses_nothing),
		rig_test(agent__hears_of_each),
		rig_test(agent__hears_of_the_end),
		rig_test(agent__may_make_calls),
		rig_test(agent__may_take_where_its_thread_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
