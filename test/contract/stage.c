/* SPDX-License-Identifier: BSD-3-Clause */

#include "stage.h"

#define RSP_QUAL    4712
#define A_QUAL      4713 /**< where a listens */
#define NOBODY_QUAL 4714 /**< where nobody does */

const struct column_names columns[COLUMNS] = {
	[UNCONNECTED] = { "UNCONNECTED", DAT_EP_STATE_UNCONNECTED,
			DAT_INVALID_STATE_EP_UNCONNECTED },
	[RESERVED] = { "RESERVED", DAT_EP_STATE_RESERVED, DAT_INVALID_STATE_EP_RESERVED },
	[PASSIVE] = { "PASSIVE_CONNECTION_PENDING", DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
			DAT_INVALID_STATE_EP_PASSCONNPENDING },
	[ACTIVE] = { "ACTIVE_CONNECTION_PENDING", DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
			DAT_INVALID_STATE_EP_ACTCONNPENDING },
	[COMPLETION] = { "COMPLETION_PENDING", DAT_EP_STATE_COMPLETION_PENDING,
			DAT_INVALID_STATE_EP_COMPLPENDING },
	[CONNECTED] = { "CONNECTED", DAT_EP_STATE_CONNECTED, DAT_INVALID_STATE_EP_CONNECTED },
	[PENDING] = { "DISCONNECT_PENDING", DAT_EP_STATE_DISCONNECT_PENDING,
			DAT_INVALID_STATE_EP_DISCPENDING },
	[DISCONNECTED] = { "DISCONNECTED", DAT_EP_STATE_DISCONNECTED,
			DAT_INVALID_STATE_EP_DISCONNECTED },
};

static void
create(struct stage *s)
{
}

static void
reserve(struct stage *s)
{
	struct end *b = &s->pair.b;

	ok(dat_rsp_create(b->ia, RSP_QUAL, b->ep, b->cr, &s->rsp));
}

static void
reserve_and_let_go(struct stage *s)
{
	reserve(s);
	ok(dat_rsp_free(s->rsp));
	s->rsp = DAT_HANDLE_NULL;
}

static void
be_asked(struct stage *s)
{
	reserve(s);
	ok(end_connect(&s->pair.a, &s->pair.b, RSP_QUAL));
	s->own = end_request(&s->pair.b);
}

static void
refuse(struct stage *s)
{
	be_asked(s);
	ok(dat_cr_reject(s->own NEW_ARGS(, 0, NULL)));
	s->own = DAT_HANDLE_NULL;
}

/* The request has not left yet. */
static void
ask(struct stage *s)
{
	ok(end_connect(&s->pair.b, &s->pair.a, A_QUAL));
}

/* It has arrived, and is not answered. */
static DAT_CR_HANDLE
ask_and_arrive(struct stage *s)
{
	ask(s);
	return end_request(&s->pair.a);
}

static void
wait_for_an_answer(struct stage *s)
{
	(void)ask_and_arrive(s);
}

static void
accept_reserved(struct stage *s)
{
	be_asked(s);
	ok(dat_cr_accept(s->own, DAT_HANDLE_NULL, 0, NULL));
	s->own = DAT_HANDLE_NULL;
}

static void
accept_public(struct stage *s)
{
	ok(end_connect(&s->pair.a, &s->pair.b, CONN_QUAL));
	ok(dat_cr_accept(end_request(&s->pair.b), s->pair.b.ep, 0, NULL));
}

static void
connect_passively(struct stage *s)
{
	accept_public(s);
	want_event(s->pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
connect_actively(struct stage *s)
{
	ok(dat_cr_accept(ask_and_arrive(s), s->pair.a.ep, 0, NULL));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_event(s->pair.a.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
leave_slowly(struct stage *s)
{
	connect_passively(s);
	ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
}

/* The DREQ is on its way, and the peer sleeps. */
static void
leave_unanswered(struct stage *s)
{
	leave_slowly(s);
	poll_once(&s->pair.b);
	poll_once(&s->pair.b);
}

static void
leave_at_once(struct stage *s)
{
	connect_actively(s);
	ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_now(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
leave_in_order(struct stage *s)
{
	leave_slowly(s);
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
be_left(struct stage *s)
{
	connect_passively(s);
	ok(dat_ep_disconnect(s->pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* A message that is longer than the buffer. */
static void
break_down(struct stage *s)
{
	connect_passively(s);
	ok(s->on_srq ? post_srq(&s->pair.b, 0, 1, 0) : post_recv(&s->pair.b, 0, 1, 0));
	ok(post_send(&s->pair.a, 0, 2, 0));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(s->pair.b.recv, DAT_DTO_COMPLETION_EVENT);
}

static void
be_refused(struct stage *s)
{
	ok(dat_cr_reject(ask_and_arrive(s) NEW_ARGS(, 0, NULL)));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

static void
find_nobody(struct stage *s)
{
	ok(end_connect(&s->pair.b, &s->pair.a, NOBODY_QUAL));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

static void
give_up_asking(struct stage *s)
{
	ask(s);
	ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_now(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
give_up_accepting(struct stage *s)
{
	accept_public(s);
	ok(dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	want_now(s->pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* Accepted when the peer has gone already. */
static void
accept_in_vain(struct stage *s)
{
	DAT_CR_HANDLE cr;

	ok(end_connect(&s->pair.a, &s->pair.b, CONN_QUAL));
	cr = end_request(&s->pair.b);
	ok(dat_ep_disconnect(s->pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_cr_accept(cr, s->pair.b.ep, 0, NULL));
	want_event(s->pair.b.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
}

static void
start_afresh(struct stage *s)
{
	leave_in_order(s);
	ok(dat_ep_reset(s->pair.b.ep));
}

/* clang-format off */
const struct way ways[] = {
	{ UNCONNECTED,  "created",                          create },
	{ UNCONNECTED,  "its service point was freed",      reserve_and_let_go },
	{ UNCONNECTED,  "its request was rejected",         refuse },
	{ UNCONNECTED,  "reset after a connection",         start_afresh },
	{ RESERVED,     "reserved",                         reserve },
	{ PASSIVE,      "has the request",                  be_asked },
	{ ACTIVE,       "connecting",                       ask },
	{ ACTIVE,       "connecting, asked",                wait_for_an_answer },
	{ COMPLETION,   "accepted a request",               accept_public },
	{ COMPLETION,   "accepted the one it was for",      accept_reserved },
	{ CONNECTED,    "accepted",                         connect_passively },
	{ CONNECTED,    "connected",                        connect_actively },
	{ PENDING,      "leaves",                           leave_slowly },
	{ PENDING,      "leaves, said so",                  leave_unanswered },
	{ DISCONNECTED, "left at once",                     leave_at_once },
	{ DISCONNECTED, "left in order",                    leave_in_order },
	{ DISCONNECTED, "the peer left",                    be_left },
	{ DISCONNECTED, "broken",                           break_down },
	{ DISCONNECTED, "rejected",                         be_refused },
	{ DISCONNECTED, "nobody listened",                  find_nobody },
	{ DISCONNECTED, "gave up connecting",               give_up_asking },
	{ DISCONNECTED, "gave up accepting",                give_up_accepting },
	{ DISCONNECTED, "accepted a request that was gone", accept_in_vain },
};
/* clang-format on */

const unsigned int ways_count = sizeof(ways) / sizeof(ways[0]);

/* An endpoint of @p end beside the one on the stage. */
static DAT_EP_HANDLE
another(const struct end *end)
{
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, NULL, &ep));
	return ep;
}

/* Connect two more endpoints, and let a third of a's ask for a connection. */
static void
open_others(struct stage *s)
{
	DAT_EP_HANDLE mine = s->pair.a.ep, subject = s->pair.b.ep;

	s->pair.a.ep = another(&s->pair.a);
	s->pair.b.ep = s->connected = another(&s->pair.b);
	pair_connect(&s->pair);
	s->pair.a.ep = another(&s->pair.a);
	ok(end_connect(&s->pair.a, &s->pair.b, CONN_QUAL));
	s->request = end_request(&s->pair.b);
	s->unused = another(&s->pair.b);
	s->pair.a.ep = mine;
	s->pair.b.ep = subject;
}

void
stage_open(struct stage *s, const struct way *way, bool on_srq)
{
	const struct end_options shared = { .srq_depth = 8 };
	struct end *a = &s->pair.a, *b = &s->pair.b;
	DAT_PSP_HANDLE psp;

	*s = (struct stage){ .on_srq = on_srq };
	pair_open(&s->pair, NULL, on_srq ? &shared : NULL);
	ok(dat_psp_create(a->ia, A_QUAL, a->cr, DAT_PSP_CONSUMER_FLAG, &psp));
	ok(dat_rmr_create(b->pz, &s->rmr));
	ok(dat_pz_create(b->ia, &s->other_zone));
	s->other_evd = make_dto_evd(b, 8);
	open_others(s);
	way->go(s);
	assert_int_equal(end_state(b), columns[way->column].state);
}

void
stage_close(struct stage *s)
{
	pair_close(&s->pair);
}
