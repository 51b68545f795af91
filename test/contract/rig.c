/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

#include <dirent.h>
#include <sched.h>

#define PARAMS        "UDAPL_ROCE_PARAMS"
#define POLLS_TO_HOLD 1000
/* Of every adapter here: it stands still between the calls of its consumer. For DAT 2.0 held.c sees to that. */
#define ALWAYS BY_ABI("progress=manual", "")

/* One lcore, on the CPU this runs on. */
#define NO_HUGEPAGES                                                                           \
	"--no-huge -m 512 --no-pci --no-shconf --log-level=*:error --log-level=roce.*:notice " \
	"--file-prefix=roce --lcores 0@%d"

struct pair pair;
struct end *const a = &pair.a, *const b = &pair.b;

int
rig_run(void)
{
	size_t n = 0;

	while (tests[n].name != NULL)
		n++;
	return _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
}

int
rig_begin(void **state)
{
	pair = (struct pair){ .psp = DAT_HANDLE_NULL };
	return ends_sweep(state);
}

int
rig_begin_end(void **state)
{
	rig_begin(state);
	end_open(a, "loop0", NULL);
	return 0;
}

int
rig_begin_pair(void **state)
{
	rig_begin(state);
	pair_open(&pair, NULL, NULL);
	return 0;
}

int
rig_begin_up(void **state)
{
	rig_begin(state);
	pair_up(&pair);
	return 0;
}

int
rig_begin_srq(void **state)
{
	const struct srq_size *size = *state;

	rig_begin(state);
	srq_pair_open(&pair, size->depth, size->iov);
	return 0;
}

int
rig_begin_srq_up(void **state)
{
	rig_begin_srq(state);
	pair_connect(&pair);
	return 0;
}

int
rig_sweep(void **state)
{
	set_params(NULL);
	pair_close(&pair);
	return ends_sweep(state);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types, and of functions */
#define QUERY(kind, name)                                                     \
	DAT_##kind##_PARAM name##_param(DAT_##kind##_HANDLE name)             \
	{                                                                     \
		DAT_##kind##_PARAM param;                                     \
                                                                              \
		memset((void *)&param, POISON, sizeof(param));                \
		ok(dat_##name##_query(name, DAT_##kind##_FIELD_ALL, &param)); \
		return param;                                                 \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

QUERY(EP, ep)
QUERY(EVD, evd)
QUERY(LMR, lmr)
QUERY(RMR, rmr)

DAT_IA_ATTR
ia_attr(const struct end *end, DAT_IA_ATTR_MASK mask)
{
	DAT_IA_ATTR attr;

	memset((void *)&attr, POISON, sizeof(attr));
	ok(dat_ia_query(end->ia, NULL, mask, &attr, 0, NULL));
	return attr;
}

DAT_PROVIDER_ATTR
provider_attr(const struct end *end, DAT_PROVIDER_ATTR_MASK mask)
{
	DAT_PROVIDER_ATTR attr;

	memset((void *)&attr, POISON, sizeof(attr));
	ok(dat_ia_query(end->ia, NULL, 0, NULL, mask, &attr));
	return attr;
}

DAT_EVD_HANDLE
make_evd_of(const struct end *end, DAT_COUNT len, unsigned int flags)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, len, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd));
	return evd;
}

DAT_EVD_HANDLE
make_evd(const struct end *end, unsigned int flags)
{
	return make_evd_of(end, EVD_LEN, flags);
}

DAT_PZ_HANDLE
make_pz(const struct end *end)
{
	DAT_PZ_HANDLE pz;

	ok(dat_pz_create(end->ia, &pz));
	return pz;
}

DAT_RMR_HANDLE
make_rmr(const struct end *end)
{
	DAT_RMR_HANDLE rmr;

	ok(dat_rmr_create(end->pz, &rmr));
	return rmr;
}

DAT_PSP_HANDLE
make_psp(const struct end *end, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd)
{
	DAT_PSP_HANDLE psp;

	ok(dat_psp_create(end->ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	return psp;
}

DAT_LMR_HANDLE
register_bytes(const struct end *end, DAT_VLEN length, DAT_PZ_HANDLE pz, unsigned int priv,
		DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = end->buffer };
	DAT_LMR_CONTEXT unwanted;
	DAT_LMR_HANDLE lmr;

	ok(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, length, pz,
			(DAT_MEM_PRIV_FLAGS)priv NEW_ARGS(, DAT_VA_TYPE_VA), &lmr,
			key != NULL ? key : &unwanted, peer_key, NULL, NULL));
	return lmr;
}

DAT_LMR_TRIPLET
segment_of(const struct end *end, DAT_LMR_CONTEXT key, size_t offset, DAT_VLEN length)
{
	DAT_LMR_TRIPLET iov = segment(end, offset, length);

	iov.lmr_context = key;
	return iov;
}

DAT_RMR_TRIPLET
target(const struct end *end, size_t offset, DAT_VLEN length)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = end->key,
		.target_address = (uintptr_t)end->buffer + offset,
		.segment_length = BY_ABI(length, (DAT_SEG_LENGTH)length),
	};
}

void
open_beside(struct end *twin, const char *name, DAT_EVD_HANDLE async)
{
	char copy[32];

	*twin = (struct end){ .async = async };
	snprintf(copy, sizeof(copy), "%s", name);
	ok(dat_ia_open(copy, 8, &twin->async, &twin->ia));
	twin->pz = make_pz(twin);
	twin->srq = make_srq(twin, 4, 1);
}

DAT_EP_HANDLE
another_ep(const struct end *end)
{
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, NULL, &ep));
	return ep;
}

DAT_EP_HANDLE
srq_ep(const struct end *end, const DAT_EP_ATTR *attr)
{
	static const DAT_EP_ATTR standard;
	DAT_EP_HANDLE ep;

	ok(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request, end->connect, end->srq,
			attr != NULL ? attr : &standard, &ep));
	return ep;
}

void
use_ep(struct end *end, const DAT_EP_ATTR *attr)
{
	ok(dat_ep_free(end->ep));
	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, attr, &end->ep));
}

void
use_srq_ep(struct end *end, const DAT_EP_ATTR *attr)
{
	ok(dat_ep_free(end->ep));
	end->ep = srq_ep(end, attr);
}

void
use_one_evd(struct end *end)
{
	end->recv = make_evd(end, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
	end->request = end->recv;
	end->connect = end->recv;
	use_srq_ep(end, NULL);
}

void
free_srq_ep(const struct end *end)
{
	ok(dat_ep_free(end->ep));
	ok(dat_srq_free(end->srq));
}

void
free_to_the_zone(const struct end *end)
{
	ok(dat_ep_free(end->ep));
	if (end->srq != DAT_HANDLE_NULL)
		ok(dat_srq_free(end->srq));
	ok(dat_lmr_free(end->lmr));
	ok(dat_pz_free(end->pz));
}

static void
huge(const struct end *end, DAT_LMR_TRIPLET *iov)
{
	for (unsigned int i = 0; i < HUGE_PIECES; i++)
		iov[i] = segment(end, 0, BUFFER_LEN);
}

DAT_RETURN
post_huge_send(const struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(end, iov);
	return dat_ep_post_send(
			end->ep, HUGE_PIECES, iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_huge_srq(const struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(end, iov);
	return dat_srq_post_recv(end->srq, HUGE_PIECES, iov, cookie(value));
}

void
begin_huge(uint64_t value)
{
	ok(post_huge_send(a, value));
	for (int i = 0; i < POLLS_TO_HOLD && held(b->ep) == 0; i++)
		poll_both(1);
	want_held(b->ep, 1);
}

DAT_RETURN
post_send_with(const struct end *end, DAT_VLEN length, uint64_t value, unsigned int flags)
{
	DAT_LMR_TRIPLET iov = segment(end, 0, length);

	return dat_ep_post_send(end->ep, 1, &iov, cookie(value), (DAT_COMPLETION_FLAGS)flags);
}

DAT_RETURN
post_write(const DAT_LMR_TRIPLET *from, DAT_RMR_TRIPLET to, uint64_t value)
{
	DAT_LMR_TRIPLET iov = *from;

	return dat_ep_post_rdma_write(
			a->ep, 1, &iov, cookie(value), &to, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_read(const DAT_LMR_TRIPLET *to, DAT_RMR_TRIPLET from, uint64_t value)
{
	DAT_LMR_TRIPLET iov = *to;

	return dat_ep_post_rdma_read(
			a->ep, 1, &iov, cookie(value), &from, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
feed(size_t offset, DAT_VLEN length, uint64_t value)
{
	return b->srq != DAT_HANDLE_NULL ? post_srq(b, offset, length, value)
					 : post_recv(b, offset, length, value);
}

void
post_long(unsigned int n, uint64_t first)
{
	for (uint64_t i = first; i < first + n; i++)
		ok(post_srq(b, 0, LONG_LEN, i));
}

void
deliver_as(uint64_t value, DAT_VLEN length)
{
	deliver(&pair, length);
	want_dto(b, b->recv, value, DAT_DTO_SUCCESS, length);
}

void
deliver_n(unsigned int n, DAT_VLEN length)
{
	while (n-- > 0)
		deliver(&pair, length);
}

void
use_n(unsigned int n)
{
	while (n-- > 0)
		use_one(&pair);
}

void
want_received(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		want_dto(b, b->recv, from, DAT_DTO_SUCCESS, length);
}

void
want_received_now(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		want_dto_now(b, b->recv, from, DAT_DTO_SUCCESS);
}

void
want_sent(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		want_dto(a, a->request, from, DAT_DTO_SUCCESS, length);
}

void
want_passed(uint64_t receive, uint64_t request, DAT_VLEN length)
{
	want_dto(b, b->recv, receive, DAT_DTO_SUCCESS, length);
	want_dto(a, a->request, request, DAT_DTO_SUCCESS, length);
}

void
post_recvs(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		ok(post_recv(b, 0, length, from));
}

void
post_sends(uint64_t from, uint64_t to, DAT_VLEN length)
{
	for (; from < to; from++)
		ok(post_send(a, 0, length, from));
}

void
pass(uint64_t value)
{
	post_many(b, 1, value);
	deliver_as(value, 64);
}

void
transfer(uint64_t value, DAT_VLEN length)
{
	ok(feed(0, length, value));
	ok(post_send(a, 0, length, value));
	want_passed(value, value, length);
}

void
exchange(struct end *from, struct end *to, DAT_VLEN length, uint64_t value)
{
	fill_bytes(from->buffer, length, (uint32_t)value);
	memset(to->buffer + HALF, POISON, length + 1);
	ok(post_recv(to, HALF, HALF, value));
	ok(post_send(from, 0, length, value));
	want_dto(from, from->request, value, DAT_DTO_SUCCESS, length);
	want_dto(to, to->recv, value, DAT_DTO_SUCCESS, length);
	assert_memory_equal(from->buffer, to->buffer + HALF, length);
	assert_int_equal(to->buffer[HALF + length], POISON);
}

DAT_RMR_CONTEXT
bind_rmr(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv)
{
	DAT_RMR_CONTEXT context = 0;
	DAT_EVENT event;

	ok(dat_rmr_bind(rmr NEW_ARGS(, end->lmr), &iov,
			(DAT_MEM_PRIV_FLAGS)priv NEW_ARGS(, DAT_VA_TYPE_VA), end->ep, cookie(1),
			DAT_COMPLETION_DEFAULT_FLAG, &context));
	event = want_event(end->request, DAT_RMR_BIND_COMPLETION_EVENT);
	assert_int_equal(event.event_data.rmr_completion_event_data.status, DAT_DTO_SUCCESS);
	assert_ptr_equal(event.event_data.rmr_completion_event_data.rmr_handle, rmr);
	return context;
}

void
begin_connection(void)
{
	ok(end_connect(a, b, CONN_QUAL));
	ok(dat_cr_accept(end_request(b), b->ep, 0, NULL));
}

void
end_by(enum ending how)
{
	const DAT_CLOSE_FLAGS flags = how == BY_A_GRACEFUL || how == BY_B_GRACEFUL
			? DAT_CLOSE_GRACEFUL_FLAG
			: DAT_CLOSE_ABRUPT_FLAG;

	if (how <= BY_A_GRACEFUL)
		ok(dat_ep_disconnect(how <= BY_B_GRACEFUL ? b->ep : a->ep, flags));
	else if (how == BY_A_FREE)
		ok(dat_ep_free(a->ep));
	else if (how == BY_HARD_MARK)
		ok(dat_ep_set_watermark(b->ep, DAT_WATERMARK_INFINITE, 0));
	else
		ok(dat_lmr_free(b->lmr));
}

void
reset_both(void)
{
	ok(dat_ep_reset(a->ep));
	ok(dat_ep_reset(b->ep));
}

void
connect_again(void)
{
	reset_both();
	pair_connect(&pair);
}

void
want_both(DAT_EVENT_NUMBER number)
{
	want_event(a->connect, number);
	want_event(b->connect, number);
}

void
want_held(DAT_EP_HANDLE ep, DAT_COUNT n)
{
	DAT_COUNT number = -1, span = -1;

	ok(dat_ep_recv_query(ep, &number, &span));
	assert_int_equal(number, n);
	assert_int_equal(span, n);
}

void
want_bytes(const void *p, uint8_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const uint8_t *)p)[i] != value)
			fail_msg("byte %zu is 0x%x, not 0x%x", i, ((const uint8_t *)p)[i], value);
}

void
poll_both(unsigned int n)
{
	while (n-- > 0) {
		poll_once(a);
		poll_once(b);
	}
}

DAT_EVENT
poll_until(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = { .event_number = 0 };
	DAT_RETURN rc = DAT_QUEUE_EMPTY;

	while (rc == DAT_QUEUE_EMPTY) {
		poll_both(1);
		rc = dat_evd_dequeue(evd, &event);
	}
	ok(rc);
	assert_int_equal(event.event_number, number);
	return event;
}

DAT_RETURN
wait_for(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
	DAT_EVENT event;
	DAT_COUNT more;

	return dat_evd_wait(evd, timeout, threshold, &event, &more);
}

void
want_event_before(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_COUNT more)
{
	DAT_EVENT event;
	DAT_COUNT left = -1;

	ok(dat_evd_wait(evd, PATIENCE_US, 1, &event, &left));
	assert_int_equal(event.event_number, number);
	assert_int_equal(left, more);
}

void
drain(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		;
}

DAT_EVENT
want_now(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	ok(dat_evd_dequeue(evd, &event));
	assert_int_equal(event.event_number, number);
	assert_ptr_equal(event.evd_handle, evd);
	return event;
}

void
want_dto_now(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status)
{
	DAT_EVENT event = want_now(evd, DAT_DTO_COMPLETION_EVENT);
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;

	assert_int_equal(data->status, status);
	assert_int_equal(data->user_cookie.as_64, value);
	assert_ptr_equal(data->ep_handle, end->ep);
}

void
want_soft(DAT_EVD_HANDLE async, DAT_EP_HANDLE ep)
{
	DAT_EVENT event = want_now(async, DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK);
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;

	assert_ptr_equal(data->dat_handle, ep);
	assert_int_equal(data->reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
}

DAT_DTO_COMPLETION_EVENT_DATA
next_dto(DAT_EVD_HANDLE evd)
{
	return want_event(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
}

DAT_RETURN
post_software(DAT_EVD_HANDLE evd, uintptr_t number)
{
	DAT_EVENT event;

	memset(&event, POISON, sizeof(event));
	event.event_number = DAT_SOFTWARE_EVENT;
	event.event_data.software_event_data.pointer = (DAT_PVOID)number;
	return dat_evd_post_se(evd, &event);
}

void
want_software(DAT_EVD_HANDLE evd, uintptr_t number)
{
	DAT_EVENT event = want_now(evd, DAT_SOFTWARE_EVENT);

	assert_ptr_equal(event.event_data.software_event_data.pointer, (DAT_PVOID)number);
}

void
want_peer_broken(uint64_t value, DAT_DTO_COMPLETION_STATUS status)
{
	want_dto(a, a->request, value, status, 0);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
}

void
set_params(const char *params)
{
	char all[128];

	snprintf(all, sizeof(all), "%s %s", params != NULL ? params : "", ALWAYS);
	assert_int_equal(setenv(PARAMS, all, 1), 0);
}

void
use_no_hugepages(void)
{
	char eal[160];

	snprintf(eal, sizeof(eal), NO_HUGEPAGES, sched_getcpu());
	setenv("UDAPL_ROCE_EAL", eal, 1);
}

unsigned int
entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int n = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

pthread_t
start(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	return thread;
}

void
join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}
