/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call in every state of an endpoint: ep_states.def says what it returns and what becomes of the state. */

#include <netinet/in.h>

#include "stage.h"

#define COOKIE   77
#define MESSAGE  64
#define NEW_QUAL 5000

/** What a cell of the table says. */
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
	cell_arg6 = ARG(6);
/* clang-format on */

static DAT_RETURN
call_query(struct stage *s)
{
	DAT_EP_PARAM param;

	return dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL, &param);
}

static DAT_RETURN
call_query_bad_mask(struct stage *s)
{
	DAT_EP_PARAM param;

	return dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL + 1, &param);
}

static DAT_RETURN
call_get_status(struct stage *s)
{
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_EP_STATE state;

	return dat_ep_get_status(s->pair.b.ep, &state, &recv_idle, &request_idle);
}

static DAT_RETURN
call_recv_query(struct stage *s)
{
	DAT_COUNT number, span;

	return dat_ep_recv_query(s->pair.b.ep, &number, &span);
}

static DAT_RETURN
call_set_watermark(struct stage *s)
{
	return dat_ep_set_watermark(s->pair.b.ep, 4, 5);
}

static DAT_RETURN
call_set_bad_watermark(struct stage *s)
{
	return dat_ep_set_watermark(s->pair.b.ep, 4, -2);
}

static DAT_EP_PARAM
param_of(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param;

	memset(&param, 0, sizeof(param));
	ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	return param;
}

/* What it is, but for one value. */
#define MODIFY(name, field, member, value)                         \
	static DAT_RETURN call_modify_##name(struct stage *s)      \
	{                                                          \
		DAT_EP_PARAM param = param_of(s->pair.b.ep);       \
                                                                   \
		param.member = value;                              \
		return dat_ep_modify(s->pair.b.ep, field, &param); \
	}

MODIFY(nothing, 0, ep_attr.max_message_size, 100000)
MODIFY(zone, DAT_EP_FIELD_PZ_HANDLE, pz_handle, s->other_zone)
MODIFY(recv_evd, DAT_EP_FIELD_RECV_EVD_HANDLE, recv_evd_handle, s->other_evd)
MODIFY(connect_evd, DAT_EP_FIELD_CONNECT_EVD_HANDLE, connect_evd_handle,
		make_evd(&s->pair.b, DAT_EVD_CONNECTION_FLAG))
MODIFY(message_size, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, ep_attr.max_message_size, 100000)
MODIFY(request_dtos, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, ep_attr.max_request_dtos, 5)
MODIFY(recv_dtos, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, ep_attr.max_recv_dtos, 6)
MODIFY(state, DAT_EP_FIELD_EP_STATE, ep_state, DAT_EP_STATE_CONNECTED)
MODIFY(bad_value, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, ep_attr.max_request_iov, -1)

static DAT_RETURN
call_connect(struct stage *s)
{
	return end_connect(&s->pair.b, &s->pair.a, NEW_QUAL);
}

static DAT_RETURN
call_connect_no_time(struct stage *s)
{
	return dat_ep_connect(s->pair.b.ep, (DAT_IA_ADDRESS_PTR)&s->pair.a.address, NEW_QUAL, 0, 0,
			NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN
call_dup_connect(struct stage *s)
{
	return dat_ep_dup_connect(
			s->pair.b.ep, s->connected, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static DAT_RETURN
call_dup_connect_like_it(struct stage *s)
{
	return dat_ep_dup_connect(
			s->unused, s->pair.b.ep, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT);
}

static DAT_RETURN
call_disconnect_gracefully(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_GRACEFUL_FLAG);
}

static DAT_RETURN
call_disconnect_abruptly(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, DAT_CLOSE_ABRUPT_FLAG);
}

static DAT_RETURN
call_disconnect_somehow(struct stage *s)
{
	return dat_ep_disconnect(s->pair.b.ep, (DAT_CLOSE_FLAGS)2);
}

static DAT_RETURN
call_reset(struct stage *s)
{
	return dat_ep_reset(s->pair.b.ep);
}

static DAT_RETURN
call_free(struct stage *s)
{
	return dat_ep_free(s->pair.b.ep);
}

static DAT_RETURN
call_post_send(struct stage *s)
{
	return post_send(&s->pair.b, 0, MESSAGE, COOKIE);
}

static DAT_RETURN
call_post_send_empty(struct stage *s)
{
	return dat_ep_post_send(s->pair.b.ep, 0, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_post_send_bad_count(struct stage *s)
{
	return dat_ep_post_send(
			s->pair.b.ep, -1, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RMR_TRIPLET
there(const struct stage *s)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = s->pair.a.key,
		.target_address = (uintptr_t)s->pair.a.buffer,
		.segment_length = MESSAGE,
	};
}

static DAT_RETURN
call_post_rdma_write(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_TRIPLET remote = there(s);

	return dat_ep_post_rdma_write(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_post_rdma_read(struct stage *s)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, MESSAGE);
	DAT_RMR_TRIPLET remote = there(s);

	return dat_ep_post_rdma_read(s->pair.b.ep, 1, &here, cookie(COOKIE), &remote,
			DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_post_rdma_nowhere(struct stage *s)
{
	return dat_ep_post_rdma_write(
			s->pair.b.ep, 0, NULL, cookie(COOKIE), NULL, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
bind_window(struct stage *s, DAT_VLEN length, DAT_COMPLETION_FLAGS flags)
{
	DAT_LMR_TRIPLET here = segment(&s->pair.b, 0, length);
	DAT_RMR_CONTEXT context;

	return dat_rmr_bind(s->rmr, &here, DAT_MEM_PRIV_REMOTE_READ_FLAG, s->pair.b.ep,
			cookie(COOKIE), flags, &context);
}

static DAT_RETURN
call_rmr_bind(struct stage *s)
{
	return bind_window(s, MESSAGE, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_rmr_bind_to_nothing(struct stage *s)
{
	return bind_window(s, 0, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_rmr_bind_bad_flags(struct stage *s)
{
	return bind_window(s, MESSAGE, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
}

static DAT_RETURN
call_post_recv(struct stage *s)
{
	return post_recv(&s->pair.b, 0, MESSAGE, COOKIE);
}

static DAT_RETURN
call_post_recv_bad_count(struct stage *s)
{
	return dat_ep_post_recv(
			s->pair.b.ep, -1, NULL, cookie(COOKIE), DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
call_srq_post_recv(struct stage *s)
{
	return post_srq(&s->pair.b, 0, MESSAGE, COOKIE);
}

static DAT_RETURN
call_accept_with_it(struct stage *s)
{
	return dat_cr_accept(s->request, s->pair.b.ep, 0, NULL);
}

static DAT_RETURN
call_accept_its_request(struct stage *s)
{
	return dat_cr_accept(s->own, DAT_HANDLE_NULL, 0, NULL);
}

static DAT_RETURN
call_reject_its_request(struct stage *s)
{
	return dat_cr_reject(s->own);
}

static DAT_RETURN
call_rsp_create_with_it(struct stage *s)
{
	DAT_RSP_HANDLE rsp;

	return dat_rsp_create(s->pair.b.ia, NEW_QUAL, s->pair.b.ep, s->pair.b.cr, &rsp);
}

static DAT_RETURN
call_rsp_free(struct stage *s)
{
	return dat_rsp_free(s->rsp);
}

static DAT_RETURN
call_free_its_queue(struct stage *s)
{
	return dat_srq_free(s->pair.b.srq);
}

static DAT_RETURN
call_free_its_evd(struct stage *s)
{
	return dat_evd_free(s->pair.b.connect);
}

static DAT_RETURN
call_free_its_zone(struct stage *s)
{
	return dat_pz_free(s->pair.b.pz);
}

static DAT_RETURN
call_close_its_adapter(struct stage *s)
{
	return dat_ia_close(s->pair.b.ia, DAT_CLOSE_GRACEFUL_FLAG);
}

#define ON_own  1u
#define ON_srq  2u
#define ON_both 3u

/* A row of the table. */
struct row {
	const char *name;
	DAT_RETURN (*call)(struct stage *s);
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

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* All that can be seen of an endpoint and its queue. */
struct sight {
	DAT_EP_PARAM param;
	DAT_EP_STATE state;
	DAT_BOOLEAN recv_idle, request_idle;
	DAT_COUNT number, span;
	DAT_SRQ_PARAM srq;
};

static struct sight
look(const struct stage *s)
{
	DAT_EP_HANDLE ep = s->pair.b.ep;
	struct sight sight;

	memset(&sight, 0, sizeof(sight));
	sight.param = param_of(ep);
	ok(dat_ep_get_status(ep, &sight.state, &sight.recv_idle, &sight.request_idle));
	ok(dat_ep_recv_query(ep, &sight.number, &sight.span));
	if (s->on_srq)
		sight.srq = srq_param(s->pair.b.srq);
	return sight;
}

static bool
is_bind(const struct row *row)
{
	return strncmp(row->name, "rmr_bind", strlen("rmr_bind")) == 0;
}

/* The request came back at once. */
static void
want_flushed(const struct stage *s, const struct row *row)
{
	const struct end *b = &s->pair.b;
	DAT_EVENT event;

	if (!is_bind(row)) {
		want_dto_now(b, row->call == call_post_recv ? b->recv : b->request, COOKIE,
				DAT_DTO_ERR_FLUSHED);
		return;
	}
	event = want_now(b->request, DAT_RMR_BIND_COMPLETION_EVENT);
	assert_int_equal(event.event_data.rmr_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
	assert_int_equal(event.event_data.rmr_completion_event_data.user_cookie.as_64, COOKIE);
	assert_ptr_equal(event.event_data.rmr_completion_event_data.rmr_handle, s->rmr);
}

static void
judge(const struct stage *s, const struct row *row, enum column column, const struct sight *before)
{
	const struct cell *cell = row->cells[column];
	enum column now = cell->moves ? cell->to : column;
	DAT_EP_PARAM param;

	if (cell->ends) {
		want_error(dat_ep_query(s->pair.b.ep, DAT_EP_FIELD_ALL, &param), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_EP);
		return;
	}
	if (cell->type != DAT_SUCCESS) {
		struct sight after = look(s);

		assert_memory_equal(&after, before, sizeof(after));
		return;
	}
	assert_int_equal(end_state(&s->pair.b), columns[now].state);
	assert_int_equal(param_of(s->pair.b.ep).ep_state, columns[now].state);
	if (cell->flushes)
		want_flushed(s, row);
}

/* Make one call in the state that the stage is in. */
static void
check(struct stage *s, const struct row *row, const struct way *way)
{
	const struct cell *cell = row->cells[way->column];
	DAT_RETURN_SUBTYPE subtype =
			cell->names_state ? columns[way->column].subtype : cell->subtype;
	DAT_RETURN wanted = DAT_SUCCESS, rc;
	struct sight before = look(s);

	if (cell->type != DAT_SUCCESS)
		wanted = DAT_CLASS_ERROR | cell->type | subtype;
	rc = row->call(s);
	if (rc != wanted)
		print_message("%s, %s (%s), %s queue: 0x%08x\n", row->name,
				columns[way->column].name, way->name, s->on_srq ? "shared" : "own",
				(unsigned int)rc);
	want(rc, wanted);
	judge(s, row, way->column, &before);
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
	struct stage s;

	stage_open(&s, way, on_srq);
	for (unsigned int r = 0; r < ROWS; r++)
		if (can_be_called(&rows[r], way, on_srq) &&
				rows[r].cells[way->column]->type != DAT_SUCCESS)
			check(&s, &rows[r], way);
	stage_close(&s);
	for (unsigned int r = 0; r < ROWS; r++) {
		if (!can_be_called(&rows[r], way, on_srq) ||
				rows[r].cells[way->column]->type != DAT_SUCCESS)
			continue;
		stage_open(&s, way, on_srq);
		check(&s, &rows[r], way);
		stage_close(&s);
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
		DAT_EP_PARAM param;
		struct stage s;

		if (ways[w].column < PASSIVE || ways[w].column > PENDING)
			continue;
		print_message("%s\n", ways[w].name);
		stage_open(&s, &ways[w], false);
		param = param_of(s.pair.b.ep);
		remote = (const struct sockaddr_in *)(const void *)param.remote_ia_address_ptr;
		local = (const struct sockaddr_in *)(const void *)&s.pair.a.address;
		assert_int_equal(remote->sin_family, AF_INET);
		assert_int_equal(remote->sin_addr.s_addr, local->sin_addr.s_addr);
		stage_close(&s);
	}
}

int
main(void)
{
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
