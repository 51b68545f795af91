/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>

#include "rig.h"

#define PARAMS        "UDAPL_ROCE_PARAMS"
#define POLLS_TO_HOLD 1000
/* Of every adapter here: it stands still between the calls of its consumer. For DAT 2.0 held.c sees to that. */
#define ALWAYS BY_ABI("progress=manual", "")

/* One lcore, on the CPU this runs on. */
#define NO_HUGEPAGES                                                                           \
	"--no-huge -m 512 --no-pci --no-shconf --log-level=*:error --log-level=roce.*:notice " \
	"--file-prefix=roce --lcores 0@%d"

DAT_EVD_HANDLE
make_evd(const struct end *end, unsigned int flags)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, EVD_LEN, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd));
	return evd;
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

static void
huge(const struct end *end, DAT_LMR_TRIPLET *iov)
{
	for (unsigned int i = 0; i < HUGE_PIECES; i++)
		iov[i] = segment(end, 0, BUFFER_LEN);
}

DAT_RETURN
post_huge_send(const struct pair *pair, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(&pair->a, iov);
	return dat_ep_post_send(
			pair->a.ep, HUGE_PIECES, iov, cookie(value), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
post_huge_srq(const struct end *end, uint64_t value)
{
	DAT_LMR_TRIPLET iov[HUGE_PIECES];

	huge(end, iov);
	return dat_srq_post_recv(end->srq, HUGE_PIECES, iov, cookie(value));
}

void
use_huge_ep(struct end *end)
{
	const DAT_EP_ATTR attr = { .max_request_iov = HUGE_PIECES };

	ok(dat_ep_free(end->ep));
	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, &attr, &end->ep));
}

void
begin_huge(struct pair *pair, uint64_t value)
{
	ok(post_huge_send(pair, value));
	for (int i = 0; i < POLLS_TO_HOLD && held(pair->b.ep) == 0; i++) {
		poll_once(&pair->a);
		poll_once(&pair->b);
	}
	want_held(pair->b.ep, 1);
}

void
connect_again(struct pair *pair)
{
	ok(dat_ep_reset(pair->a.ep));
	ok(dat_ep_reset(pair->b.ep));
	pair_connect(pair);
}

void
want_held(DAT_EP_HANDLE ep, DAT_COUNT n)
{
	DAT_COUNT number = -1, span = -1;

	ok(dat_ep_recv_query(ep, &number, &span));
	assert_int_equal(number, n);
	assert_int_equal(span, n);
}

DAT_EVENT
poll_until(struct pair *pair, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event = { .event_number = 0 };
	DAT_RETURN rc = DAT_QUEUE_EMPTY;

	while (rc == DAT_QUEUE_EMPTY) {
		poll_once(&pair->a);
		poll_once(&pair->b);
		rc = dat_evd_dequeue(evd, &event);
	}
	ok(rc);
	assert_int_equal(event.event_number, number);
	return event;
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

void
want_peer_broken(struct pair *pair, uint64_t value, DAT_DTO_COMPLETION_STATUS status)
{
	DAT_EVENT event = want_event(pair->a.request, DAT_DTO_COMPLETION_EVENT);
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;

	assert_int_equal(data->user_cookie.as_64, value);
	assert_int_equal(data->status, status);
	want_event(pair->a.connect, DAT_CONNECTION_EVENT_BROKEN);
	assert_int_equal(end_state(&pair->a), DAT_EP_STATE_DISCONNECTED);
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

int
rig_sweep(void **state)
{
	set_params(NULL);
	return ends_sweep(state);
}

void
crowd_pick(struct crowd *crowd, unsigned int i)
{
	crowd->pair.a.ep = crowd->client[i];
	crowd->pair.b.ep = crowd->server[i];
	crowd->pair.b.recv = crowd->evd[i % crowd->evds];
}

void
crowd_open(struct crowd *crowd, unsigned int n, DAT_COUNT depth, DAT_COUNT evd_len,
		unsigned int evds)
{
	const struct end_options options = { .evd_len = evd_len };
	const DAT_EP_ATTR attr = {
		.max_request_dtos = 8, .max_recv_dtos = 8, .max_request_iov = HUGE_PIECES
	};
	struct pair *pair = &crowd->pair;

	assert_true(n <= CROWD_MAX && evds <= EVDS_MAX);
	*crowd = (struct crowd){ .n = n, .evds = evds };
	pair_open(pair, &options, &options);
	ok(dat_ep_free(pair->a.ep));
	ok(dat_ep_free(pair->b.ep));
	pair->b.srq = make_srq(&pair->b, depth, HUGE_PIECES);
	crowd->evd[0] = pair->b.recv;
	for (unsigned int i = 1; i < evds; i++)
		crowd->evd[i] = make_dto_evd(&pair->b, evd_len);
	for (unsigned int i = 0; i < n; i++) {
		ok(dat_ep_create(pair->a.ia, pair->a.pz, pair->a.recv, pair->a.request,
				pair->a.connect, &attr, &crowd->client[i]));
		pair->b.recv = crowd->evd[i % evds];
		crowd->server[i] = srq_ep(&pair->b, &attr);
		crowd_pick(crowd, i);
		pair_connect(pair);
	}
}

unsigned int
crowd_index(const struct crowd *crowd, DAT_EP_HANDLE ep)
{
	unsigned int i;

	for (i = 0; i < crowd->n && crowd->server[i] != ep; i++)
		;
	assert_true(i < crowd->n);
	return i;
}
