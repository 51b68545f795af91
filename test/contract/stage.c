/* SPDX-License-Identifier: BSD-3-Clause */

#include "stage.h"

#define RSP_QUAL    4712
#define A_QUAL      4713 /**< where a listens */
#define NOBODY_QUAL 4714 /**< where nobody does */

struct stage stage;

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
create(void)
{
}

static void
reserve(void)
{
	ok(dat_rsp_create(b->ia, RSP_QUAL, b->ep, b->cr, &stage.rsp));
}

static void
reserve_and_let_go(void)
{
	reserve();
	ok(dat_rsp_free(stage.rsp));
	stage.rsp = DAT_HANDLE_NULL;
}

static void
be_asked(void)
{
	reserve();
	ok(end_connect(a, b, RSP_QUAL));
	stage.own = end_request(b);
}

static void
refuse(void)
{
	be_asked();
	ok(dat_cr_reject(stage.own NEW_ARGS(, 0, NULL)));
	stage.own = DAT_HANDLE_NULL;
}

/* The request has not left yet. */
static void
ask(void)
{
	ok(end_connect(b, a, A_QUAL));
}

/* It has arrived, and is not answered. */
static DAT_CR_HANDLE
ask_and_arrive(void)
{
	ask();
	return end_request(a);
}

static void
wait_for_an_answer(void)
{
	(void)ask_and_arrive();
}

static void
accept_reserved(void)
{
	be_asked();
	ok(dat_cr_accept(stage.own, DAT_HANDLE_NULL, 0, NULL));
	stage.own = DAT_HANDLE_NULL;
}

static void
accept_public(void)
{
	begin_connection();
}

static void
connect_passively(void)
{
	accept_public();
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
connect_actively(void)
{
	ok(dat_cr_accept(ask_and_arrive(), a->ep, 0, NULL));
	want_both(DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void
leave_slowly(void)
{
	connect_passively();
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
}

/* The DREQ is on its way, and the peer sleeps. */
static void
leave_unanswered(void)
{
	leave_slowly();
	poll_once(b);
	poll_once(b);
}

static void
leave_at_once(void)
{
	connect_actively();
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_now(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
leave_in_order(void)
{
	leave_slowly();
	want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
be_left(void)
{
	connect_passively();
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_event(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* A message that is longer than the buffer. */
static void
break_down(void)
{
	connect_passively();
	ok(feed(0, 1, 0));
	ok(post_send(a, 0, 2, 0));
	want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(b->recv, DAT_DTO_COMPLETION_EVENT);
}

static void
be_refused(void)
{
	ok(dat_cr_reject(ask_and_arrive() NEW_ARGS(, 0, NULL)));
	want_event(b->connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

static void
find_nobody(void)
{
	ok(end_connect(b, a, NOBODY_QUAL));
	want_event(b->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

static void
give_up_asking(void)
{
	ask();
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_now(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void
give_up_accepting(void)
{
	accept_public();
	ok(dat_ep_disconnect(b->ep, DAT_CLOSE_ABRUPT_FLAG));
	want_now(b->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* Accepted when the peer has gone already. */
static void
accept_in_vain(void)
{
	DAT_CR_HANDLE cr;

	ok(end_connect(a, b, CONN_QUAL));
	cr = end_request(b);
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	ok(dat_cr_accept(cr, b->ep, 0, NULL));
	want_event(b->connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
}

static void
start_afresh(void)
{
	leave_in_order();
	ok(dat_ep_reset(b->ep));
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

/* Connect two more endpoints, and let a third of a's ask for a connection. */
static void
open_others(void)
{
	DAT_EP_HANDLE mine = a->ep, subject = b->ep;

	a->ep = another_ep(a);
	b->ep = stage.connected = another_ep(b);
	pair_connect(&pair);
	a->ep = another_ep(a);
	ok(end_connect(a, b, CONN_QUAL));
	stage.request = end_request(b);
	stage.unused = another_ep(b);
	a->ep = mine;
	b->ep = subject;
}

void
stage_open(const struct way *way, bool on_srq)
{
	const struct end_options shared = { .srq_depth = 8 };

	stage = (struct stage){ .on_srq = on_srq };
	pair_open(&pair, NULL, on_srq ? &shared : NULL);
	make_psp(a, A_QUAL, a->cr);
	ok(dat_rmr_create(b->pz, &stage.rmr));
	stage.other_zone = make_pz(b);
	stage.other_evd = make_dto_evd(b, 8);
	open_others();
	way->go();
	assert_int_equal(end_state(b), columns[way->column].state);
}
