/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_IA_H
#define DAPL_IA_H

/**
 * @file
 * Interface Adapters: what all of their objects share, and how they are opened and closed.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_spinlock.h>

#include "cm/cm.h"
#include "dapl/address.h"
#include "dapl/obj.h"
#include "dapl/progress_thread.h"
#include "dapl/status.h"
#include "engine/verbs.h"
#include "device/user.h"
#include "roce/device.h"

struct dapl_evd;

/** A string about an adapter; laid out like DAT_NAMED_ATTR. */
struct dapl_named_attr {
	const char *name;
	const char *value;
};

#define DAPL_IA_ATTRS     15 /**< that never change, but for the link's value */
#define DAPL_IA_LINK      13 /**< of them the link */
#define DAPL_COUNTERS_MAX 96 /**< counters behind them */
#define DAPL_COUNT_LEN    21 /**< a 64-bit number and its end */
#define DAPL_NAME_LEN     256

/** An open Interface Adapter: one instance; several may share a device. */
struct dapl_ia {
	struct dapl_obj head;
	struct roce_device *device;
	struct roce_device_user user; /**< the adapter as a user of it */
	struct roce_domain *domain;
	struct roce_cm *cm;
	struct roce_engine *engine0;
	struct dapl_evd *async_evd; /**< NULL: nobody listens; atomic */
	bool async_own;             /**< the provider made it */
	bool progress_thread;       /**< uses the thread of progress_thread.c */
	bool begun; /**< has listened or connected: from then on a peer waits for its answers; atomic */
	bool last_wqe; /**< an endpoint on a shared queue says so when it will take no more from it */
	rte_spinlock_t notify_lock;   /**< of all notifications; inside an engine's lock */
	struct dapl_obj_list objects; /**< all but the adapter itself; lock of engine 0 */
	TAILQ_ENTRY(dapl_ia) link;    /**< all open adapters of the process */
	const void *front;            /**< what the front keeps per name */
	struct roce_device_attr attr;
	union dapl_sockaddr address; /**< given out by dat_ia_query(); consumers write to it */
	unsigned int counters;
	struct dapl_named_attr named[DAPL_IA_ATTRS + DAPL_COUNTERS_MAX];
	char count[DAPL_COUNTERS_MAX][DAPL_COUNT_LEN];
	char mtu[12];
	char engines[12];
	char name[DAPL_NAME_LEN];
	TAILQ_ENTRY(dapl_ia) alive; /**< the open, opening and closing; lock of forks */
	/* Behind all that is read with every call: two threads write here, now and then. */
	uintptr_t poller; /**< the last thread that polled the device by a dequeue; 0: none has; atomic */
	uint32_t polls_by_others; /**< of threads that wait on another adapter, since then, and DAPL_VISITED; atomic */
	bool unpolled; /**< nobody did between the last two visits of the progress thread, which alone uses this */
};

struct dapl_ia_open {
	const char *name;
	const char *params; /**< instance data of dat.conf */
	const void *provider;
	const void *front;
	struct dapl_evd *async_evd; /**< of another open instance; NULL: see @c async_make */
	bool async_make;            /**< make one for at least @c async_len events */
	bool last_wqe;              /**< tell of DAPL_ASYNC_EP_LAST_WQE */
	bool poll_always;           /**< the progress thread polls even while the consumer does */
	int32_t async_len;
};

/**
 * Open an instance of an adapter. Any thread.
 * @return DAPL_OK; DAPL_BAD_CONFIG (one sentence on stderr says why); DAPL_NO_DEVICE;
 *   DAPL_NO_MEMORY; DAPL_BAD_HANDLE_ASYNC: that dispatcher belongs to another device.
 */
enum dapl_status dapl_ia_open(const struct dapl_ia_open *open, struct dapl_ia **ia);

/**
 * Close an instance; abruptly with everything the consumer left, waking its waiters.
 * @return DAPL_OK; DAPL_IA_IN_USE: @p graceful and objects are left.
 */
enum dapl_status dapl_ia_close(struct dapl_ia *ia, bool graceful);

/** Refresh the counters among the adapter's named attributes. */
void dapl_ia_count(struct dapl_ia *ia);

/** It listens, or connects: the progress thread may poll it. Frames that a device has before that wait for the consumer. */
static inline void
dapl_ia_begin(struct dapl_ia *ia)
{
	if (!__atomic_exchange_n(&ia->begun, true, __ATOMIC_SEQ_CST))
		dapl_progress_thread_wake();
}

#endif
