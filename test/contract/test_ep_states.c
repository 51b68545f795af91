/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call in every state of an endpoint: ep_states.def says what it returns and what becomes of the state. */

#include <netinet/in.h>

#include "answers.h"
#include "ep_calls.h"

/** A cell of the table. */
struct cell {
	DAT_RETURN_TYPE type;
	DAT_RETURN_SUBTYPE subtype;
	bool none;        /**< there is nothing to call */
	bool names_state; /**< the subtype is that of the state */
	bool moves;       /**< to the state @c to */
	bool ends;        /**< the handle is good no more */
	bool flushes;
	enum column to;
};

/* clang-format off */
#define STATE(of) { .type = DAT_INVALID_STATE, .subtype = DAT_INVALID_STATE_##of }
#define ARG(n)    { .type = DAT_INVALID_PARAMETER, .subtype = DAT_INVALID_ARG##n }
#define GOES(where) { .moves = true, .to = (where) }

static const struct cell
	cell_none = { .none = true },
	cell_ok = { .type = DAT_SUCCESS },
	cell_flush = { .flushes = true },
	cell_gone = { .ends = true },
	cell_goes_unc = GOES(UNCONNECTED),
	cell_goes_res = GOES(RESERVED),
	cell_goes_act = GOES(ACTIVE),
	cell_goes_com = GOES(COMPLETION),
	cell_goes_pen = GOES(PENDING),
	cell_goes_dis = GOES(DISCONNECTED),
	cell_wrong = { .type = DAT_INVALID_STATE, .names_state = true },
	cell_used_srq = STATE(SRQ_IN_USE),
	cell_used_evd = STATE(EVD_IN_USE),
	cell_used_pz = STATE(PZ_IN_USE),
	cell_used_ia = STATE(IA_IN_USE),
	cell_arg2 = ARG(2),
	cell_arg3 = ARG(3),
	cell_arg4 = ARG(4),
	cell_arg5 = ARG(5),
	cell_argflag = BY_ABI(ARG(6), ARG(8));

#if DAT_ABI == 20
static const struct cell
	cell_model = { .type = DAT_MODEL_NOT_SUPPORTED },
	cell_missing = { .type = DAT_NOT_IMPLEMENTED },
	cell_no_lmr = { .type = DAT_INVALID_HANDLE, .subtype = DAT_INVALID_HANDLE_LMR };
#endif
/* clang-format on */

#define ON_own  1u
#define ON_srq  2u
#define ON_both 3u

/* A row of the table. */
struct row {
	const char *name;
	DAT_RETURN (*call)(void);
	unsigned int on; /**< ON_own, ON_srq */
	const struct cell *cells[COLUMNS];
};

#define EP_CALL(name, on, unc, res, pas, act, com, con, pen, dis)                               \
	{ #name, call_##name, ON_##on,                                                          \
		{ &cell_##unc, &cell_##res, &cell_##pas, &cell_##act, &cell_##com, &cell_##con, \
				&cell_##pen, &cell_##dis } },

static const struct row rows[] = {
#include "ep_states.def"
};

#define ROWS (COUNT_OF(rows))

/* All that can be seen of an endpoint and its queue. */
struct sight {
	DAT_EP_PARAM param;
	DAT_EP_STATE state;
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_COUNT number, span;
	DAT_SRQ_PARAM srq;
};

static struct sight
look(void)
{
	DAT_EP_HANDLE ep = b->ep;
	struct sight sight;

	memset(&sight, 0, sizeof(sight));
	sight.param = ep_param(ep);
	ok(dat_ep_get_status(ep, &sight.state, &sight.recv_idle, &sight.request_idle));
	ok(dat_ep_recv_query(ep, &sight.number, &sight.span));
	if (stage.on_srq)
		sight.srq = srq_param(b->srq);
	return sight;
}

static void
want_same_sight(const struct sight *now, const struct sight *before)
{
	want_same_answer(ANSWER_EP, &now->param, &before->param);
	assert_int_equal(now->state, before->state);
	assert_int_equal(now->recv_idle, before->recv_idle);
	assert_int_equal(now->request_idle, before->request_idle);
	assert_int_equal(now->number, before->number);
	assert_int_equal(now->span, before->span);
	want_same_answer(ANSWER_SRQ, &now->srq, &before->srq);
}

static bool
is_bind(const struct row *row)
{
	return strncmp(row->name, "rmr_bind", strlen("rmr_bind")) == 0;
}

/* DAT 2.0 has an event of its own for what is an extension there. */
static bool
is_extended(const struct row *row)
{
	return DAT_ABI == 20 &&
			(row->call == call_write_immed || row->call == call_cmp_and_swap ||
					row->call == call_fetch_and_add);
}

/* The request came back at once. */
static void
want_flushed(const struct row *row)
{
	DAT_EVENT event;

	if (is_extended(row)) {
		const DAT_DTO_COMPLETION_EVENT_DATA *data;

		event = want_now(b->request, EXTENSION_EVENT);
		data = &event.event_data.dto_completion_event_data;
		assert_int_equal(data->status, DAT_DTO_ERR_FLUSHED);
		assert_int_equal(data->user_cookie.as_64, COOKIE);
		return;
	}
	if (!is_bind(row)) {
		want_dto_now(b, row->call == call_post_recv ? b->recv : b->request, COOKIE,
				DAT_DTO_ERR_FLUSHED);
		return;
	}
	event = want_now(b->request, DAT_RMR_BIND_COMPLETION_EVENT);
	assert_int_equal(event.event_data.rmr_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
	assert_int_equal(event.event_data.rmr_completion_event_data.user_cookie.as_64, COOKIE);
	assert_ptr_equal(event.event_data.rmr_completion_event_data.rmr_handle, stage.rmr);
}

static void
judge(const struct row *row, enum column column, const struct sight *before)
{
	const struct cell *cell = row->cells[column];
	enum column now = cell->moves ? cell->to : column;
	DAT_EP_PARAM param;

	if (cell->ends) {
		want_bad_handle(dat_ep_query(b->ep, DAT_EP_FIELD_ALL, &param), EP);
		return;
	}
	if (cell->type != DAT_SUCCESS) {
		struct sight after = look();

		want_same_sight(&after, before);
		return;
	}
	assert_int_equal(end_state(b), columns[now].state);
	assert_int_equal(ep_param(b->ep).ep_state, columns[now].state);
	if (cell->flushes)
		want_flushed(row);
}

/* Make one call in the state that the stage is in. */
static void
check(const struct row *row, const struct way *way)
{
	const struct cell *cell = row->cells[way->column];
	DAT_RETURN_SUBTYPE subtype =
			cell->names_state ? columns[way->column].subtype : cell->subtype;
	DAT_RETURN wanted = DAT_SUCCESS, rc;
	struct sight before = look();

	if (cell->type != DAT_SUCCESS)
		wanted = DAT_CLASS_ERROR | cell->type | subtype;
	rc = row->call();
	if (rc != wanted)
		print_message("%s, %s (%s), %s queue: 0x%08x\n", row->name,
				columns[way->column].name, way->name,
				stage.on_srq ? "shared" : "own", (unsigned int)rc);
	want(rc, wanted);
	judge(row, way->column, &before);
}

static bool
can_be_called(const struct row *row, const struct way *way, bool on_srq)
{
	return (row->on & (on_srq ? ON_srq : ON_own)) != 0 && !row->cells[way->column]->none;
}

/* Calls that fail change nothing: they have one stage, one after the other. Each of the others has one of its own. */
static void
check_way(const struct way *way, bool on_srq)
{
	stage_open(way, on_srq);
	for (unsigned int r = 0; r < ROWS; r++)
		if (can_be_called(&rows[r], way, on_srq) &&
				rows[r].cells[way->column]->type != DAT_SUCCESS)
			check(&rows[r], way);
	pair_close(&pair);
	for (unsigned int r = 0; r < ROWS; r++) {
		if (!can_be_called(&rows[r], way, on_srq) ||
				rows[r].cells[way->column]->type != DAT_SUCCESS)
			continue;
		stage_open(way, on_srq);
		check(&rows[r], way);
		pair_close(&pair);
	}
}

/* All calls, all ways into the column's state. */
static void
check_column(enum column column, bool on_srq)
{
	for (unsigned int w = 0; w < ways_count; w++)
		if (ways[w].column == column)
			check_way(&ways[w], on_srq);
}

/* A test for each column, so that one state that is wrong does not hide the others. */
#define COLUMN_TEST(name, column)                \
	static void states__##name(void **state) \
	{                                        \
		check_column(column, false);     \
		check_column(column, true);      \
	}

COLUMN_TEST(unconnected, UNCONNECTED)
COLUMN_TEST(reserved, RESERVED)
COLUMN_TEST(passive_connection_pending, PASSIVE)
COLUMN_TEST(active_connection_pending, ACTIVE)
COLUMN_TEST(completion_pending, COMPLETION)
COLUMN_TEST(connected, CONNECTED)
COLUMN_TEST(disconnect_pending, PENDING)
COLUMN_TEST(disconnected, DISCONNECTED)

/* From the request, or the wish to connect, to the end of the connection an endpoint knows its peer. */
static void
query__tells_the_peer(void **state)
{
	for (unsigned int w = 0; w < ways_count; w++) {
		const struct sockaddr_in *remote, *local;

		if (ways[w].column < PASSIVE || ways[w].column > PENDING)
			continue;
		print_message("%s\n", ways[w].name);
		stage_open(&ways[w], false);
		remote = (const struct sockaddr_in *)(const void *)ep_param(b->ep)
					 .remote_ia_address_ptr;
		local = (const struct sockaddr_in *)(const void *)&a->address;
		assert_int_equal(remote->sin_family, AF_INET);
		assert_int_equal(remote->sin_addr.s_addr, local->sin_addr.s_addr);
		pair_close(&pair);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(states__unconnected),
	rig_test(states__reserved),
	rig_test(states__passive_connection_pending),
	rig_test(states__active_connection_pending),
	rig_test(states__completion_pending),
	rig_test(states__connected),
	rig_test(states__disconnect_pending),
	rig_test(states__disconnected),
	rig_test(query__tells_the_peer),
	tests_end,
};
