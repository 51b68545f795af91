/* SPDX-License-Identifier: BSD-3-Clause */

#include "waiting.h"

static void *
wait_for_ever(void *arg)
{
	struct waiter *w = arg;
	DAT_COUNT threshold = w->threshold != 0 ? w->threshold : 1;

	w->rc = dat_evd_wait(w->evd, DAT_TIMEOUT_INFINITE, threshold, &w->event, &w->more);
	return NULL;
}

void
begin_to_wait(struct waiter *w)
{
	DAT_RETURN rc = DAT_QUEUE_EMPTY;
	DAT_EVENT event;

	w->thread = start(wait_for_ever, w);
	while (rc == DAT_QUEUE_EMPTY)
		rc = dat_evd_dequeue(w->evd, &event);
	want_bad_state(rc, EVD_WAITER);
}

void
join_waiter(struct waiter *w)
{
	join(w->thread);
}

/* No assertions here: they belong to the main thread. */
static void *
poll_for_ever(void *arg)
{
	struct poller *p = arg;
	DAT_EVENT event;

	while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
		(void)dat_evd_dequeue(p->evd[0], &event);
		if (p->evd[1] != DAT_HANDLE_NULL)
			(void)dat_evd_dequeue(p->evd[1], &event);
	}
	return NULL;
}

void
begin_to_poll(struct poller *p, DAT_EVD_HANDLE first, DAT_EVD_HANDLE second)
{
	*p = (struct poller){ .evd = { first, second } };
	p->thread = start(poll_for_ever, p);
}

void
end_polling(struct poller *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
	join(p->thread);
}
