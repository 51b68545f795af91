/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_WAITING_H
#define TEST_CONTRACT_WAITING_H

/** @file Threads beside the test: one that waits on a dispatcher until somebody ends that, one that polls adapters. */

#include "rig.h"

struct waiter {
	pthread_t thread;
	DAT_EVD_HANDLE evd;
	DAT_COUNT threshold; /**< 0: 1 */
	DAT_RETURN rc;
	DAT_EVENT event;
	DAT_COUNT more;
};

/** It is in the call when this returns: nobody else may take from the dispatcher any more. */
void begin_to_wait(struct waiter *w);
/** Its call has returned. */
void join_waiter(struct waiter *w);

/** Static: a test that fails leaves its thread behind. */
struct poller {
	pthread_t thread;
	DAT_EVD_HANDLE evd[2]; /**< of the adapters; they stay empty. Null: there is one */
	bool stop;             /**< atomic */
};

/** Poll adapters as fast as can be. */
void begin_to_poll(struct poller *p, DAT_EVD_HANDLE first, DAT_EVD_HANDLE second);
void end_polling(struct poller *p);

#endif
