/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_WAITING_H
#define TEST_CONTRACT_WAITING_H

/** @file A thread that waits on a dispatcher until somebody ends that. */

#include <pthread.h>

#include "rig.h"

struct waiter {
	DAT_EVD_HANDLE evd;
	DAT_COUNT threshold;
	DAT_RETURN rc;
	DAT_EVENT event;
	DAT_COUNT more;
};

static inline void *
wait_for_ever(void *arg)
{
	struct waiter *w = arg;

	w->rc = dat_evd_wait(w->evd, DAT_TIMEOUT_INFINITE, w->threshold, &w->event, &w->more);
	return NULL;
}

/** It is in the call when this returns: nobody else may take from the dispatcher any more. */
static inline pthread_t
begin_to_wait(struct waiter *w)
{
	DAT_RETURN rc = DAT_QUEUE_EMPTY;
	pthread_t thread;
	DAT_EVENT event;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, w), 0);
	while (rc == DAT_QUEUE_EMPTY)
		rc = dat_evd_dequeue(w->evd, &event);
	want_error(rc, DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
	return thread;
}

#endif
