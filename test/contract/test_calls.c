/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call refuses bad handles and bad arguments as calls.def says, and does nothing else.
 *
 * For DAT 2.0 this is compiled twice. libdat2 follows the handle that it is given, wherever that leads, and calls the
 * table of the provider that it finds there; so what is no address of an object is not tried through it. With DIRECT the
 * calls under test (those that prepare are not) go to the table at once, with everything that could be wrong.
 */

#include "child.h"
#include "objects.h"

#if DAT_ABI == 12
#include <dat/dat_registry.h>
#endif
#ifdef DIRECT
#include "direct.h"
#else
#define DIRECT 0
#endif

#define ARGS_MAX 12
#define BAD_MAX  48
#define OUT_LEN  2048
#define SUBTYPES 0xffffu /**< the bits of a subtype */

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

/* Targets of pointer arguments. */
static char name[] = "loop0";
#if DAT_ABI == 12 || DIRECT
static DAT_EVD_HANDLE async;
#endif
static uint8_t memory[64];
static DAT_LMR_TRIPLET segments[1];
static DAT_RMR_TRIPLET remote;
#if DAT_ABI == 20
static DAT_LMR_TRIPLET other_segments[1], word;
static DAT_RMR_TRIPLET odd_remote = { .virtual_address = 1, .segment_length = 8 };
#endif
static DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
static DAT_EVENT other_event = { .event_number = DAT_DTO_COMPLETION_EVENT };
static DAT_EP_ATTR ep_attr;
static DAT_EP_PARAM ep_values = { .ep_attr.max_message_size = 77 };
static DAT_SRQ_ATTR srq_attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
static struct sockaddr_storage address;
#if DAT_ABI == 12
static DAT_PROVIDER_INFO info = { .ia_name = "nobody" };
#endif

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
#define P(i)      (v[i].p)
#define N(i)      (v[i].n)
#define BEHIND(i) (v[(i) + BY_ABI(0, 1)].p)
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
#define NO(subtype)             { .sort = SORT_OF, .kind = KINDS, .handle = DAT_INVALID_##subtype }
#define STORE                   { .sort = SORT_STORE }
#define MAY_STORE               { .sort = SORT_MAY_STORE }
#define MAY                     { .sort = SORT_FREE }
#define FREE(value)             { .sort = SORT_FREE, .good.n = value }
#define AT(to)                  { .sort = SORT_NOT, .good.p = &to }
#define AT_NOT(to, wrong)       { .sort = SORT_NOT, .good.p = &to, .bad[1].p = &wrong }
#define NOT(value, b, c)        { .sort = SORT_NOT, .good.n = value, .bad[0].n = (uint64_t)(b), .bad[1].n = (uint64_t)(c) }
#define ELSE(value, b, type)    { .sort = SORT_NOT, .good.n = value, .bad[0].n = b, .bad[1].n = b, .as = type }
#define CALL(title, what, ...)  { #title, call_##title, { __VA_ARGS__ } },
#define PRIVILEGES \
	NOT(DAT_MEM_PRIV_ALL_FLAG, BY_ABI(0x40, 0x80), -1) NEW_ARGS(, NOT(DAT_VA_TYPE_VA, 2, -1))
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct call calls[] = {
#include "calls.def"
};

#define CALLS (COUNT_OF(calls))

/* Something wrong to say, and the answer. */
struct wrong {
	union value value;
	DAT_RETURN answer;
};

/** libdat2 has an array of so many adapters. */
#define NUMBERS 511

/** A handle of an adapter of DAT 2.0, were so many open; aligned as objects are. */
#define SMALL ((DAT_HANDLE)8)

static struct objects objects;
static uint8_t out[ARGS_MAX][OUT_LEN] __attribute__((aligned(64)));

static bool
is_evd(enum kind kind)
{
	return kind >= IN_EVD;
}

/* A handle as the callee knows it: the registry of 2.0 has numbers for adapters, and the provider does not. */
static DAT_HANDLE
known(const DAT_HANDLE *handles, DAT_HANDLE instance, enum kind kind)
{
	return DIRECT && kind == IN_IA ? instance : handles[kind];
}

static DAT_HANDLE
good_handle(enum kind kind)
{
	return kind < KINDS ? known(objects.good, objects.provider.good, kind) : DAT_HANDLE_NULL;
}

/* libdat2 takes numbers for adapters where it wants one, and follows them where it does not. */
static bool
can_be_asked(const struct call *call, unsigned int i, DAT_HANDLE handle)
{
	const struct argument *arg = &call->arg[i];

	if (DAT_ABI == 12 || DIRECT || i > 0 || handle == DAT_HANDLE_NULL ||
			(uintptr_t)handle > NUMBERS)
		return true;
	return arg->kind == IN_IA && handle != objects.good[IN_IA] &&
			handle != objects.other[IN_IA];
}

/* @return how many: one, or none because the registry would not live through it. */
static unsigned int
add_wrong(const struct call *call, unsigned int i, DAT_HANDLE handle, struct wrong *wrong)
{
	if (!can_be_asked(call, i, handle))
		return 0;
	*wrong = (struct wrong){
		.value.p = handle,
		.answer = DAT_CLASS_ERROR | DAT_INVALID_HANDLE | call->arg[i].handle,
	};
	return 1;
}

/* Everything that is no handle of this argument. @return how many. */
static unsigned int
wrong_handles(const struct call *call, unsigned int i, struct wrong *wrong)
{
	const struct argument *arg = &call->arg[i];
	/* Calls on a dispatcher take any; they name the first kind. */
	bool any_evd = i == 0 && arg->kind == IN_EVD;
	unsigned int n = 0;

#define WRONG(handle) n += add_wrong(call, i, handle, &wrong[n])
	if (arg->sort != SORT_OF_OR_NULL)
		WRONG(DAT_HANDLE_NULL);
	/* These stand for dispatchers that are not there. */
	WRONG(DAT_EVD_ASYNC_EXISTS);
	WRONG(DAT_EVD_OUT_OF_SCOPE);
	if (DAT_ABI == 20)
		WRONG(SMALL);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		WRONG(known(objects.freed, objects.provider.freed, kind));
		if (arg->sort == SORT_ANY || kind == arg->kind || (any_evd && is_evd(kind)))
			continue;
		WRONG(good_handle(kind));
	}
	/* The first says which instance it is about. */
	if (i > 0)
		WRONG(known(objects.other, objects.provider.other, arg->kind));
#undef WRONG
	return n;
}

/* The values that argument @p i must not have. @return how many. */
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
			v[n].p = good_handle(arg->kind);
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

/* libdat2 answers some first handles itself, and has names of its own for them: there the type counts. */
static DAT_RETURN
judged_bits(const struct call *call, const union value *v)
{
	enum sort sort = call->arg[0].sort;
	bool number = (sort == SORT_OF || sort == SORT_ANY) && v[0].n <= NUMBERS;

	return DAT_ABI == 20 && !DIRECT && number && v[0].p != objects.good[IN_IA] ? ~SUBTYPES
										   : ~0u;
}

/* Make the call: the answer is that one, nothing is stored. */
static void
want_answer(const struct call *call, const union value *v, DAT_RETURN answer)
{
	static uint8_t poison[ARGS_MAX][OUT_LEN];
	DAT_RETURN bits = judged_bits(call, v), rc;

	memset(out, POISON, sizeof(out));
	memset(poison, POISON, sizeof(poison));
	rc = call->call(v) & bits;
	if (rc != (answer & bits)) {
		print_message("%s(", call->title);
		for (unsigned int i = 0; call->arg[i].sort != NO_ARGUMENT; i++)
			print_message(" 0x%llx", (unsigned long long)v[i].n);
		print_message(" )\n");
	}
	want(rc, answer & bits);
	assert_memory_equal(out, poison, sizeof(out));
}

static void
setup(void)
{
	objects_open(&objects);
	segments[0] = segment(a, 0, sizeof(memory));
	remote = (DAT_RMR_TRIPLET){ .segment_length = sizeof(memory) };
#if DAT_ABI == 20
	other_segments[0] = segments[0];
	other_segments[0].lmr_context++;
	word = segment(a, 0, sizeof(uint64_t));
#endif
#if DIRECT
	table = provider_table(objects.good[IN_PZ]);
#endif
	address = b->address;
}

/* All that can be seen of the objects is as before. */
static void
want_view(const struct view *before, const struct call *call)
{
	static struct view now;
	const char *changed;

	objects_look(&objects, &now);
	changed = view_difference(&now, before);
	if (changed != NULL)
		print_message("%s has changed %s\n", call->title, changed);
	assert_null(changed);
}

/* A member that no table names would never be compared. */
static void
answers__are_compared_whole(void **state)
{
	want_whole_answers();
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
}

/* No bytes are no region, wherever they are: the length is told before the address, and before the name. */
static bool
second_first(const struct call *call, const union value *v, unsigned int i, unsigned int j)
{
	return i == 2 && j == 3 && v[j].n == 0 &&
			strncmp(call->title, "lmr_create", strlen("lmr_create")) == 0;
}

/* Arguments @p i and @p j > i wrong, in all ways. @return how many. */
static unsigned int
refuse_two(const struct call *call, union value *v, unsigned int i, unsigned int j)
{
	const union value good_i = v[i], good_j = v[j];
	struct wrong first[BAD_MAX], second[BAD_MAX];
	unsigned int n = wrong_values(call, i, first), m = wrong_values(call, j, second);

	for (unsigned int k = 0; k < n; k++)
		for (unsigned int l = 0; l < m; l++) {
			v[i] = first[k].value;
			v[j] = second[l].value;
			want_answer(call, v,
					second_first(call, v, i, j) ? second[l].answer
								    : first[k].answer);
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
}

/*
 * Every call says that its first handle is bad. In a child all of them are, and nothing of the parent is touched
 * (udapl-roce(7), FORK).
 */
static void
refuse_all(void **state)
{
	union value v[ARGS_MAX];

	for (unsigned int c = 0; c < CALLS; c++) {
		const struct argument *arg = &calls[c].arg[0];

		good_values(&calls[c], v);
		if (arg->sort != SORT_OF && arg->sort != SORT_ANY)
			continue;
		want_answer(&calls[c], v, DAT_CLASS_ERROR | DAT_INVALID_HANDLE | arg->handle);
	}
}

/* When the last instance is closed nothing is left of its provider but its answers. */
static void
calls__after_everything_was_closed(void **state)
{
	setup();
	pair_close(&pair);
	refuse_all(state);
}

static void
calls__on_handles_of_a_parent(void **state)
{
	struct view before, now;

	setup();
	objects_look(&objects, &before);
	want_child(begin_child(refuse_all));
	objects_look(&objects, &now);
	assert_null(view_difference(&now, &before));
}

#if DAT_ABI == 12

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

#endif

#if DIRECT

/* Calls that this provider does not implement, with a handle that is good. */
static void
calls__that_are_missing_say_so(void **state)
{
	const DAT_RETURN missing = DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED;
	static const DAT_EXTENDED_OP operations[] = { DAT_IB_UD_SEND_OP, DAT_IB_QUERY_COUNTERS_OP,
		DAT_IB_PRINT_COUNTERS_OP, DAT_IB_COLLECTIVE_BARRIER_OP, DAT_IB_START_COUNTERS_OP,
		DAT_IB_STOP_COUNTERS_OP, DAT_IB_UD_CM_FREE_OP, DAT_IB_UD_AH_FREE_OP,
		DAT_IB_OPEN_QUERY_OP, DAT_IB_CLOSE_QUERY_OP, 0x7fff };
	const DAT_HANDLE *good = objects.good;
	DAT_BOOLEAN related = DAT_TRUE;
	DAT_EVD_HANDLE trigger;
	DAT_HANDLE made;
	DAT_FD fd;

	setup();
	want(dat_csp_create(good_handle(IN_IA), NULL, NULL, good[IN_EVD_CR], &made), missing);
	want(dat_ep_common_connect(good[IN_EP], NULL, 1, 0, NULL), missing);
	want(dat_rmr_create_for_ep(good[IN_PZ], &made), missing);
	want(dat_ep_post_rdma_read_to_rmr(
			     good[IN_EP], &remote, cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
			missing);
	want(dat_cno_fd_create(good_handle(IN_IA), &fd, &made), missing);
	want(dat_cno_trigger(good[IN_CNO], &trigger), missing);
	for (unsigned int i = 0; i < COUNT_OF(operations); i++)
		want(dat_extension_op(good[IN_EP], operations[i]), missing);
	/* Of adapters that are not open. */
	want(dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP), missing);
	/* No adapter stands in for another one, and that is an answer. */
	ok(dat_ia_ha_related(good_handle(IN_IA), name, &related));
	assert_int_equal(related, DAT_FALSE);
}

#endif

const struct CMUnitTest tests[] = {
	rig_test(answers__are_compared_whole),
	rig_test(calls__refuse_one_wrong_argument),
	rig_test(calls__name_the_first_wrong_argument),
	rig_test(calls__on_handles_of_a_parent),
	rig_test(calls__after_everything_was_closed),
#if DAT_ABI == 12
	rig_test(list_providers__arguments),
#endif
#if DIRECT
	rig_test(calls__that_are_missing_say_so),
#endif
	tests_end,
};
