/* SPDX-License-Identifier: BSD-3-Clause */
/* What every call says to bad handles and bad arguments (calls.def), and that it does nothing else. */

#include <dat/dat_registry.h>

#include "objects.h"

#define ARGS_MAX 11
#define BAD_MAX  48
#define OUT_LEN  2048

union value {
	void *p;
	uint64_t n;
};

enum sort {
	NO_ARGUMENT,
	SORT_FREE,
	SORT_OF,
	SORT_OF_OR_NULL,
	SORT_ANY,
	SORT_STORE,
	SORT_MAY_STORE,
	SORT_NOT,
};

/** One argument of a call. */
struct argument {
	enum sort sort;
	enum kind kind;            /**< of a handle */
	DAT_RETURN_SUBTYPE handle; /**< what a bad one is called */
	union value good, bad[2];
	DAT_RETURN as; /**< what a bad value is called; 0: DAT_INVALID_PARAMETER */
};

/* What pointers point to. */
static char name[] = "loop0";
static DAT_EVD_HANDLE async;
static uint8_t memory[64];
static DAT_LMR_TRIPLET segments[1];
static DAT_RMR_TRIPLET remote;
static DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
static DAT_EVENT other_event = { .event_number = DAT_DTO_COMPLETION_EVENT };
static DAT_EP_ATTR ep_attr;
static DAT_EP_PARAM ep_param = { .ep_attr.max_message_size = 77 };
static DAT_SRQ_ATTR srq_attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
static struct sockaddr_storage address;
static DAT_PROVIDER_INFO info = { .ia_name = "nobody" };

static DAT_REGION_DESCRIPTION
for_va(void *p)
{
	return (DAT_REGION_DESCRIPTION){ .for_va = p };
}

static DAT_REGION_DESCRIPTION
for_lmr(void *p)
{
	return (DAT_REGION_DESCRIPTION){ .for_lmr_handle = p };
}

static DAT_REGION_DESCRIPTION
shared(void *p)
{
	return (DAT_REGION_DESCRIPTION){
		.for_shared_memory = { .virtual_address = memory, .shared_memory_id = p },
	};
}

/* An agent that cannot be called: good without data, which is none at all. */
static DAT_OS_WAIT_PROXY_AGENT
no_function(void *data)
{
	return (DAT_OS_WAIT_PROXY_AGENT){ .instance_data = data };
}

/* One function a call, with its arguments in an array. */
#define P(i) (v[i].p)
#define N(i) (v[i].n)
#define CALL(title, what, ...)                               \
	static DAT_RETURN call_##title(const union value *v) \
	{                                                    \
		return what;                                 \
	}
#include "calls.def"
#undef CALL

struct call {
	const char *title;
	DAT_RETURN (*call)(const union value *v);
	struct argument arg[ARGS_MAX + 1];
};

/* NOLINTBEGIN(bugprone-macro-parentheses): names of members, and of objects */
/* clang-format off */
#define OF(of, subtype)         { .sort = SORT_OF, .kind = IN_##of, .handle = DAT_INVALID_##subtype }
#define OF_OR_NULL(of, subtype) { .sort = SORT_OF_OR_NULL, .kind = IN_##of, .handle = DAT_INVALID_##subtype }
#define ANY(subtype)            { .sort = SORT_ANY, .kind = IN_EP, .handle = DAT_INVALID_##subtype }
#define STORE                   { .sort = SORT_STORE }
#define MAY_STORE               { .sort = SORT_MAY_STORE }
#define MAY                     { .sort = SORT_FREE }
#define FREE(value)             { .sort = SORT_FREE, .good.n = value }
#define AT(to)                  { .sort = SORT_NOT, .good.p = &to }
#define AT_NOT(to, wrong)       { .sort = SORT_NOT, .good.p = &to, .bad[1].p = &wrong }
#define NOT(value, b, c)        { .sort = SORT_NOT, .good.n = value, .bad[0].n = (uint64_t)(b), .bad[1].n = (uint64_t)(c) }
#define ELSE(value, b, type)    { .sort = SORT_NOT, .good.n = value, .bad[0].n = b, .bad[1].n = b, .as = type }
#define CALL(title, what, ...)  { #title, call_##title, { __VA_ARGS__ } },
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct call calls[] = {
#include "calls.def"
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Something wrong to say, and the answer. */
struct wrong {
	union value value;
	DAT_RETURN answer;
};

static struct objects objects;
static uint8_t out[ARGS_MAX][OUT_LEN] __attribute__((aligned(64)));

static bool
is_evd(enum kind kind)
{
	return kind >= IN_EVD;
}

/* Everything that is no handle of this argument. @return how many. */
static unsigned int
wrong_handles(const struct call *call, unsigned int i, struct wrong *wrong)
{
	const struct argument *arg = &call->arg[i];
	/* Calls on a dispatcher take any; they name the first kind. */
	bool any_evd = i == 0 && arg->kind == IN_EVD;
	unsigned int n = 0;

#define WRONG(handle) wrong[n++].value.p = (handle)
	if (arg->sort != SORT_OF_OR_NULL)
		WRONG(DAT_HANDLE_NULL);
	/* These stand for dispatchers that are not there. */
	WRONG(DAT_EVD_ASYNC_EXISTS);
	WRONG(DAT_EVD_OUT_OF_SCOPE);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		WRONG(objects.freed[kind]);
		if (arg->sort == SORT_ANY || kind == arg->kind || (any_evd && is_evd(kind)))
			continue;
		WRONG(objects.good[kind]);
	}
	/* The first says which instance it is about. */
	if (i > 0)
		WRONG(objects.other[arg->kind]);
#undef WRONG
	for (unsigned int w = 0; w < n; w++)
		wrong[w].answer = DAT_CLASS_ERROR | DAT_INVALID_HANDLE | arg->handle;
	return n;
}

/* What argument @p i must not be. @return how many. */
static unsigned int
wrong_values(const struct call *call, unsigned int i, struct wrong *wrong)
{
	const struct argument *arg = &call->arg[i];
	DAT_RETURN answer = DAT_CLASS_ERROR |
			(arg->as != 0 ? arg->as : DAT_INVALID_PARAMETER | (DAT_INVALID_ARG1 + i));

	switch (arg->sort) {
	case SORT_OF:
	case SORT_OF_OR_NULL:
	case SORT_ANY:
		return wrong_handles(call, i, wrong);
	case SORT_STORE:
		wrong[0] = (struct wrong){ .answer = answer };
		return 1;
	case SORT_NOT:
		wrong[0] = (struct wrong){ arg->bad[0], answer };
		wrong[1] = (struct wrong){ arg->bad[1], answer };
		return 2;
	default:
		return 0;
	}
}

static unsigned int
good_values(const struct call *call, union value *v)
{
	unsigned int n;

	for (n = 0; call->arg[n].sort != NO_ARGUMENT; n++) {
		const struct argument *arg = &call->arg[n];

		switch (arg->sort) {
		case SORT_OF:
		case SORT_OF_OR_NULL:
		case SORT_ANY:
			v[n].p = objects.good[arg->kind];
			break;
		case SORT_STORE:
		case SORT_MAY_STORE:
			v[n].p = out[n];
			break;
		default:
			v[n] = arg->good;
			break;
		}
	}
	return n;
}

/* Make the call: the answer is that one, nothing is stored. */
static void
want_answer(const struct call *call, const union value *v, DAT_RETURN answer)
{
	static uint8_t poison[ARGS_MAX][OUT_LEN];
	DAT_RETURN rc;

	memset(out, POISON, sizeof(out));
	memset(poison, POISON, sizeof(poison));
	rc = call->call(v);
	if (rc != answer) {
		print_message("%s(", call->title);
		for (unsigned int i = 0; call->arg[i].sort != NO_ARGUMENT; i++)
			print_message(" 0x%llx", (unsigned long long)v[i].n);
		print_message(" )\n");
	}
	want(rc, answer);
	assert_memory_equal(out, poison, sizeof(out));
}

static void
setup(void)
{
	objects_open(&objects);
	segments[0] = segment(&objects.pair.a, 0, sizeof(memory));
	remote = (DAT_RMR_TRIPLET){ .segment_length = sizeof(memory) };
	address = objects.pair.b.address;
}

/* Nothing that can be seen of any object is another than before. */
static void
want_view(const struct view *before, const struct call *call)
{
	static struct view now;

	objects_look(&objects, &now);
	/* Both were zeros before they were filled. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (memcmp(&now, before, sizeof(now)) != 0)
		print_message("%s has changed something\n", call->title);
	assert_memory_equal(&now, before, sizeof(now));
}

/* One argument wrong, the others good. */
static void
calls__refuse_one_wrong_argument(void **state)
{
	struct wrong wrong[BAD_MAX];
	union value v[ARGS_MAX];
	struct view before;
	unsigned int checked = 0;

	setup();
	objects_look(&objects, &before);
	for (unsigned int c = 0; c < CALLS; c++) {
		unsigned int args = good_values(&calls[c], v);

		for (unsigned int i = 0; i < args; i++) {
			union value good = v[i];
			unsigned int n = wrong_values(&calls[c], i, wrong);

			for (unsigned int w = 0; w < n; w++) {
				v[i] = wrong[w].value;
				want_answer(&calls[c], v, wrong[w].answer);
				checked++;
			}
			v[i] = good;
		}
		want_view(&before, &calls[c]);
	}
	print_message("%zu calls, %u wrong arguments\n", CALLS, checked);
	objects_close(&objects);
}

/* Arguments @p i and @p j > i wrong, in all ways. @return how many. */
static unsigned int
refuse_two(const struct call *call, union value *v, unsigned int i, unsigned int j)
{
	const union value good_i = v[i], good_j = v[j];
	struct wrong first[BAD_MAX], second[BAD_MAX];
	unsigned int n = wrong_values(call, i, first), m = wrong_values(call, j, second);

	for (unsigned int a = 0; a < n; a++)
		for (unsigned int b = 0; b < m; b++) {
			v[i] = first[a].value;
			v[j] = second[b].value;
			want_answer(call, v, first[a].answer);
		}
	v[i] = good_i;
	v[j] = good_j;
	return n * m;
}

/* Two wrong: the first one is told. */
static void
calls__name_the_first_wrong_argument(void **state)
{
	union value v[ARGS_MAX];
	unsigned int checked = 0;
	struct view before;

	setup();
	objects_look(&objects, &before);
	for (unsigned int c = 0; c < CALLS; c++) {
		unsigned int args = good_values(&calls[c], v);

		for (unsigned int i = 0; i < args; i++)
			for (unsigned int j = i + 1; j < args; j++)
				checked += refuse_two(&calls[c], v, i, j);
		want_view(&before, &calls[c]);
	}
	print_message("%zu calls, %u pairs of wrong arguments\n", CALLS, checked);
	objects_close(&objects);
}

/* When the last instance is closed nothing is left of its provider but its answers. */
static void
calls__after_everything_was_closed(void **state)
{
	union value v[ARGS_MAX];

	setup();
	objects_close(&objects);
	for (unsigned int c = 0; c < CALLS; c++) {
		const struct argument *arg = &calls[c].arg[0];

		good_values(&calls[c], v);
		if (arg->sort != SORT_OF && arg->sort != SORT_ANY)
			continue;
		want_answer(&calls[c], v, DAT_CLASS_ERROR | DAT_INVALID_HANDLE | arg->handle);
	}
}

/* The number comes before its list: who asks with too little room learns how much there is. */
static void
list_providers__arguments(void **state)
{
	DAT_PROVIDER_INFO found, *list[1] = { &found };
	DAT_COUNT count = -1;

	want_error(dat_registry_list_providers(-1, NULL, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG2);
	want_error(dat_registry_list_providers(-1, &count, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG1);
	assert_true(count >= 2);
	want_error(dat_registry_list_providers(1, &count, list), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG1);
	want_error(dat_registry_list_providers(count, &count, NULL), DAT_INVALID_PARAMETER,
			DAT_INVALID_ARG3);
}

#define OTHERS 1024 /**< objects that are freed before the memory of one is used again */

/* A freed handle stays bad while others come and go. */
static void
handles__of_the_dead_are_not_soon_given_away(void **state)
{
	DAT_PZ_HANDLE dead, other;
	DAT_PZ_PARAM param;
	struct end end;

	end_open(&end, "loop0", NULL);
	ok(dat_pz_create(end.ia, &dead));
	ok(dat_pz_free(dead));
	for (unsigned int i = 0; i < OTHERS; i++) {
		ok(dat_pz_create(end.ia, &other));
		assert_ptr_not_equal(other, dead);
		want_error(dat_pz_query(dead, DAT_PZ_FIELD_ALL, &param), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_PZ);
		want_error(dat_pz_free(dead), DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
		ok(dat_pz_free(other));
	}
	end_close(&end);
}

/* What a close destroys are others, too: the first to go, and all behind it, stay bad when there are no more of them. */
static void
handles__of_a_closed_instance(void **state)
{
	static char loop0[] = "loop0";
	DAT_EVD_HANDLE first = DAT_HANDLE_NULL;
	DAT_PZ_HANDLE zone[OTHERS - 2];
	DAT_EVD_PARAM evd;
	DAT_PZ_PARAM pz;
	DAT_IA_HANDLE ia;

	ok(dat_ia_open(loop0, 8, &first, &ia));
	for (unsigned int i = 0; i < OTHERS - 2; i++)
		ok(dat_pz_create(ia, &zone[i]));
	ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	want_error(dat_evd_query(first, DAT_EVD_FIELD_ALL, &evd), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE1);
	for (unsigned int i = 0; i < OTHERS - 2; i++)
		want_error(dat_pz_query(zone[i], DAT_PZ_FIELD_ALL, &pz), DAT_INVALID_HANDLE,
				DAT_INVALID_HANDLE_PZ);
	want_error(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE,
			DAT_INVALID_HANDLE_IA);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(calls__refuse_one_wrong_argument),
		rig_test(calls__name_the_first_wrong_argument),
		rig_test(calls__after_everything_was_closed),
		rig_test(list_providers__arguments),
		rig_test(handles__of_the_dead_are_not_soon_given_away),
		rig_test(handles__of_a_closed_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
