/* SPDX-License-Identifier: BSD-3-Clause */

/* Rare events have names, which logs and traces take from the same tables. trace.sh checks the contents of a trace. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>

#include "observe/log.h"
#include "observe/trace.h"

/* The lines that are logged from here on. */
static char *text;
static size_t length;
static FILE *stream;

static int
hear_logs(void **state)
{
	stream = open_memstream(&text, &length);
	assert_non_null(stream);
	assert_int_equal(rte_openlog_stream(stream), 0);
	rte_log_set_level_pattern("roce.*", RTE_LOG_DEBUG);
	return 0;
}

static int
hear_no_more(void **state)
{
	rte_openlog_stream(NULL);
	fclose(stream);
	free(text);
	return 0;
}

/* Exactly this was logged since the last look. */
static void
want_line(const char *line)
{
	fflush(stream);
	assert_string_equal(text, line);
	rewind(stream);
	memset(text, 0, length);
}

static void
cm__every_kind_has_its_name(void **state)
{
	static const struct {
		enum roce_cm_event_kind kind;
		const char *line;
	} rule[] = {
		{ ROCE_CM_REQUEST, "roce: p: connection request, reason 7\n" },
		{ ROCE_CM_REPLY, "roce: p: connection reply, reason 7\n" },
		{ ROCE_CM_ESTABLISHED, "roce: p: connection established, reason 7\n" },
		{ ROCE_CM_REJECTED, "roce: p: connection rejected, reason 7\n" },
		{ ROCE_CM_TIMED_OUT, "roce: p: connection timed_out, reason 7\n" },
		{ ROCE_CM_UNREACHABLE, "roce: p: connection unreachable, reason 7\n" },
		{ ROCE_CM_DISCONNECTED, "roce: p: connection disconnected, reason 7\n" },
		{ ROCE_CM_PATH, "roce: p: connection path, reason 7\n" },
		{ ROCE_CM_BROKEN, "roce: p: connection broken, reason 7\n" },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		const struct roce_cm_event event = { .kind = rule[i].kind, .reason = 7 };

		assert_int_equal(rule[i].kind, i + 1);
		roce_trace_cm("p", &event);
		want_line(rule[i].line);
	}
}

static void
cm__names_the_peer(void **state)
{
	const struct roce_path path = { .dst_ip = roce_ip_from_v4(RTE_BE32(0xc0000207)) };
	const struct roce_path path6 = {
		.dst_ip = { .w = { RTE_BE32(0x20010db8), 0, 0, RTE_BE32(7) } }
	};
	struct roce_cm_event event = { .kind = ROCE_CM_REQUEST, .path = &path };

	roce_trace_cm("p", &event);
	want_line("roce: p: connection request, peer 192.0.2.7, reason 0\n");
	event.path = &path6;
	roce_trace_cm("p", &event);
	want_line("roce: p: connection request, peer 2001:db8::7, reason 0\n");
}

/* All but the events of completion queues, which are not rare. */
static void
async_event__every_kind_has_its_name(void **state)
{
	static const struct {
		enum roce_engine_async kind;
		const char *line;
	} rule[] = {
		{ ROCE_ENGINE_ASYNC_QP_ESTABLISHED, "roce: p: qp_established\n" },
		{ ROCE_ENGINE_ASYNC_QP_BROKEN, "roce: p: qp_broken, status 12\n" },
		{ ROCE_ENGINE_ASYNC_QP_DRAINED, "roce: p: qp_drained\n" },
		{ ROCE_ENGINE_ASYNC_CQ_OVERFLOW, "roce: p: cq_overflow\n" },
		{ ROCE_ENGINE_ASYNC_SRQ_LOW, "roce: p: srq_low\n" },
		{ ROCE_ENGINE_ASYNC_QP_SOFT_HIGH, "roce: p: qp_soft_high\n" },
		{ ROCE_ENGINE_ASYNC_CQ_EVENTS, "" },
	};

	for (size_t i = 0; i < RTE_DIM(rule); i++) {
		assert_int_equal(rule[i].kind, i + 1);
		roce_trace_async_event("p", rule[i].kind, NULL, 12);
		want_line(rule[i].line);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cm__every_kind_has_its_name),
		cmocka_unit_test(cm__names_the_peer),
		cmocka_unit_test(async_event__every_kind_has_its_name),
	};

	return cmocka_run_group_tests(tests, hear_logs, hear_no_more);
}
