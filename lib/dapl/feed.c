/* SPDX-License-Identifier: BSD-3-Clause */

/* Which streams of completions may share a dispatcher (uDAPL 1.2, dat_ep_create(3DAT), dat_ep_create_with_srq(3DAT)). */

#include "dapl/ep.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/eventcount.h"
#include "dapl/feed.h"
#include "engine/verbs.h"

#define COMPLETIONS (DAPL_STREAM_DTO | DAPL_STREAM_BIND | DAPL_STREAM_EXTENSION)

static uint32_t
sum(const uint32_t *by_mode)
{
	uint32_t n = 0;

	for (unsigned int mode = 0; mode < DAPL_NOTIFY_MODES; mode++)
		n += by_mode[mode];
	return n;
}

/* The rules, a sentence each. Streams that merely might feed the dispatcher count as if they did. */
static bool
agree(const struct dapl_evd *evd)
{
	const struct dapl_feeds *f = &evd->feeds;
	uint32_t unsignalled =
			f->recv[DAPL_NOTIFY_UNSIGNALLED] + f->request[DAPL_NOTIFY_UNSIGNALLED];
	uint32_t threshold = f->recv[DAPL_NOTIFY_THRESHOLD] + f->request[DAPL_NOTIFY_THRESHOLD];
	uint32_t solicited = f->recv[DAPL_NOTIFY_SOLICITED];
	uint32_t all = sum(f->recv) + sum(f->request);

	/* One that is unsignalled wants all others to be, and none but completions. */
	if (unsignalled != 0 && (unsignalled != all || (evd->streams & ~COMPLETIONS) != 0))
		return false;
	/* Solicited receives want to be among themselves. */
	if (solicited != 0 &&
			(solicited != all ||
					(evd->streams & ~DAPL_STREAM_EXTENSION) != DAPL_STREAM_DTO))
		return false;
	/* The threshold of receives from a shared queue is that of all completions; other streams do not matter. */
	return f->shared_threshold == 0 || threshold == all;
}

static void
count(const struct dapl_ep *ep, uint32_t by)
{
	if (ep->recv_evd != NULL) {
		ep->recv_evd->feeds.recv[ep->attr.recv_notify] += by;
		if (ep->srq != NULL && ep->attr.recv_notify == DAPL_NOTIFY_THRESHOLD)
			ep->recv_evd->feeds.shared_threshold += by;
	}
	if (ep->request_evd != NULL)
		ep->request_evd->feeds.request[ep->attr.request_notify] += by;
}

/* Sum up the streams of a dispatcher, as a waiter must know them. */
static void
sum_up(struct dapl_evd *evd)
{
	const struct dapl_feeds *f = &evd->feeds;
	enum dapl_notify notify = DAPL_NOTIFY_ALL;

	if (f->recv[DAPL_NOTIFY_SOLICITED] != 0)
		notify = DAPL_NOTIFY_SOLICITED;
	if (f->recv[DAPL_NOTIFY_UNSIGNALLED] + f->request[DAPL_NOTIFY_UNSIGNALLED] != 0)
		notify = DAPL_NOTIFY_UNSIGNALLED;
	if (evd->notify == notify)
		return;
	__atomic_store_n(&evd->notify, (uint8_t)notify, __ATOMIC_RELAXED);
	roce_cq_set_solicited(evd->cq, notify == DAPL_NOTIFY_SOLICITED);
	/* An event that was to wake no thread may have to wake one now. It is rare: a sleeper is woken under the lock for it. */
	if (dapl_eventcount_advance(&evd->waiters.count))
		dapl_eventcount_wake(&evd->waiters.count);
}

static void
sum_both_up(const struct dapl_ep *ep)
{
	if (ep->recv_evd != NULL)
		sum_up(ep->recv_evd);
	if (ep->request_evd != NULL)
		sum_up(ep->request_evd);
}

bool
dapl_feed(const struct dapl_ep *ep)
{
	count(ep, 1);
	if ((ep->recv_evd == NULL || agree(ep->recv_evd)) &&
			(ep->request_evd == NULL || agree(ep->request_evd))) {
		sum_both_up(ep);
		return true;
	}
	count(ep, (uint32_t)-1);
	return false;
}

void
dapl_unfeed(const struct dapl_ep *ep)
{
	count(ep, (uint32_t)-1);
	sum_both_up(ep);
}
