/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_spinlock.h>

#include "dapl/address.h"
#include "dapl/cno.h"
#include "dapl/cr.h"
#include "dapl/ep.h"
#include "dapl/evd.h"
#include "dapl/event.h"
#include "dapl/fork.h"
#include "dapl/ia.h"
#include "dapl/ia_drain.h"
#include "dapl/ia_list.h"
#include "dapl/lmr.h"
#include "dapl/notify.h"
#include "dapl/obj.h"
#include "dapl/progress_thread.h"
#include "dapl/pz.h"
#include "dapl/rmr.h"
#include "dapl/sp.h"
#include "dapl/srq.h"
#include "dapl/status.h"
#include "dapl/upcall.h"
#include "dapl/wait.h"
#include "engine/engine.h"
#include "device/user.h"
#include "roce/device.h"

static rte_spinlock_t count_lock = RTE_SPINLOCK_INITIALIZER;

void
dapl_ia_count(struct dapl_ia *ia)
{
	struct dapl_named_attr *named = ia->named + DAPL_IA_ATTRS;
	uint64_t value;
	unsigned int i;

	/* Queries may come from several threads; their number of counters is always the same. */
	rte_spinlock_lock(&count_lock);
	ia->named[DAPL_IA_LINK].value = roce_device_has_link(ia->device) ? "up" : "down";
	for (i = 0; i < DAPL_COUNTERS_MAX; i++) {
		if (!roce_device_counter(ia->device, i, &named[i].name, &value))
			break;
		snprintf(ia->count[i], sizeof(ia->count[i]), "%" PRIu64, value);
		named[i].value = ia->count[i];
	}
	ia->counters = i;
	rte_spinlock_unlock(&count_lock);
}

static void
describe(struct dapl_ia *ia)
{
	const struct roce_device_attr *attr = &ia->attr;
	struct roce_ip ip;

	snprintf(ia->mtu, sizeof(ia->mtu), "%u", attr->mtu);
	snprintf(ia->engines, sizeof(ia->engines), "%u", attr->engines);
	memcpy(ia->named,
			(struct dapl_named_attr[DAPL_IA_ATTRS]){
					{ "DAT_IB_RDMA_READ", "TRUE" },
					{ "DAT_IB_IMMED_DATA", "TRUE" },
					{ "DAT_IB_CMP_AND_SWAP", "TRUE" },
					{ "DAT_IB_FETCH_AND_ADD", "TRUE" },
					{ "DAT_IB_UD", "FALSE" },
					{ "DAT_IB_TRANSPORT_MTU", ia->mtu },
					{ "DAT_IB_EXTENSION", "2" },
					{ "ROCE_PORT", attr->port },
					{ "ROCE_DRIVER", attr->driver },
					{ "ROCE_MTU", ia->mtu },
					{ "ROCE_ENGINES", ia->engines },
					{ "ROCE_ICRC",
							attr->icrc_path != NULL ? attr->icrc_path
										: "" },
					{ "ROCE_DPDK", attr->dpdk != NULL ? attr->dpdk : "" },
					[DAPL_IA_LINK] = { "ROCE_LINK", "" },
					{ "ROCE_HUGEPAGES",
							roce_device_has_hugepages(ia->device)
									? "yes"
									: "no" },
			},
			DAPL_IA_ATTRS * sizeof(ia->named[0]));
	dapl_ia_count(ia);
	memcpy(ip.b, attr->ip, sizeof(ip.b));
	dapl_ip_to_sockaddr(&ip, &ia->address);
}

static enum dapl_status
open_device(struct dapl_ia *ia, const char *params)
{
	char errmsg[256] = "";
	int rc = roce_device_open(params, &ia->device, errmsg, sizeof(errmsg));

	if (rc == 0) {
		ia->user.notify = dapl_device_notify;
		ia->user.cm_notify = dapl_device_cm_notify;
		ia->user.wake = dapl_wake;
		ia->user.arg = ia;
		ia->user.name = ia->name;
		ia->user.port_notify = dapl_device_port_notify;
		roce_device_join(ia->device, &ia->user);
		roce_device_query(ia->device, &ia->attr);
		ia->domain = roce_device_domain(ia->device);
		ia->cm = roce_device_cm(ia->device);
		ia->engine0 = roce_domain_engine(ia->domain, 0);
		describe(ia);
		return DAPL_OK;
	}
	fprintf(stderr, "udapl-roce: %s: %s\n", ia->name,
			errmsg[0] != '\0' ? errmsg : strerror(-rc));
	switch (rc) {
	case -EINVAL:
		return DAPL_BAD_CONFIG;
	/* The adapter's name is known; what it stands for is not to be had. */
	case -ENODEV:
	case -EBUSY:
	case -ETIMEDOUT:
		return DAPL_NO_DEVICE;
	default:
		return DAPL_NO_MEMORY;
	}
}

static enum dapl_status
open_async_evd(struct dapl_ia *ia, const struct dapl_ia_open *open)
{
	if (open->async_make) {
		ia->async_own = true;
		return dapl_evd_create(ia, (uint32_t)open->async_len, DAPL_STREAM_ASYNC, NULL,
				&ia->async_evd);
	}
	if (open->async_evd == NULL)
		return DAPL_OK;
	/* Its events are pushed under this device's locks. */
	if (open->async_evd->head.ia->domain != ia->domain)
		return DAPL_BAD_HANDLE_ASYNC;
	ia->async_evd = open->async_evd;
	dapl_obj_use(ia->async_evd);
	return DAPL_OK;
}

enum dapl_status
dapl_ia_open(const struct dapl_ia_open *open, struct dapl_ia **ia)
{
	struct dapl_ia *i = dapl_obj_alloc(sizeof(*i), NULL);
	enum dapl_status status;

	if (i == NULL)
		return DAPL_NO_MEMORY;
	i->head.ia = i;
	i->head.provider = open->provider;
	i->front = open->front;
	i->last_wqe = open->last_wqe;
	TAILQ_INIT(&i->objects);
	snprintf(i->name, sizeof(i->name), "%s", open->name);
	status = open_device(i, open->params);
	if (status != DAPL_OK)
		goto free_ia;
	dapl_fork_watch(i);
	status = open_async_evd(i, open);
	if (status != DAPL_OK)
		goto leave_device;
	if (!i->attr.serviced && !roce_device_is_manual(i->device)) {
		i->progress_thread = dapl_progress_thread_use(open->poll_always);
		if (!i->progress_thread) {
			status = DAPL_NO_MEMORY;
			goto close_async;
		}
	}
	dapl_ia_enlist(i);
	__atomic_store_n(&i->head.tag, DAPL_MAGIC | DAPL_IA, __ATOMIC_RELEASE);
	*ia = i;
	return DAPL_OK;

close_async:
	/* No event comes for it any more: its dispatcher goes. */
	roce_device_leave(i->device, &i->user);
	if (i->async_own)
		dapl_evd_destroy(i->async_evd);
	else
		dapl_obj_drop(i->async_evd);
	goto close_device;
leave_device:
	roce_device_leave(i->device, &i->user);
close_device:
	dapl_fork_unwatch(i);
	roce_device_close(i->device);
free_ia:
	dapl_obj_free(i);
	return status;
}

/* The oldest object of a kind that is left, NULL when there is none. Requests may still arrive meanwhile. */
static void *
first_of(struct dapl_ia *ia, enum dapl_type type)
{
	struct dapl_obj *obj;

	roce_engine_lock(ia->engine0);
	TAILQ_FOREACH(obj, &ia->objects, link)
		if (obj->tag == (DAPL_MAGIC | type))
			break;
	roce_engine_unlock(ia->engine0);
	return obj;
}

/* Does anything stand in the way of a graceful close? Requests nobody answered do not, nor does our own dispatcher. */
static bool
has_consumer_objects(struct dapl_ia *ia)
{
	const struct dapl_obj *own = ia->async_own ? &ia->async_evd->head : NULL;
	const struct dapl_obj *obj;

	roce_engine_lock(ia->engine0);
	TAILQ_FOREACH(obj, &ia->objects, link) {
		if (obj->tag == (DAPL_MAGIC | DAPL_CR))
			continue;
		if (obj != own || dapl_obj_in_use(obj))
			break;
	}
	roce_engine_unlock(ia->engine0);
	return obj != NULL;
}

static void
wait_for_engines(const struct dapl_ia *ia)
{
	for (unsigned int i = 0; i < roce_domain_engines(ia->domain); i++) {
		struct roce_engine *engine = roce_domain_engine(ia->domain, i);

		roce_engine_lock(engine);
		roce_engine_unlock(engine);
	}
}

/* No engine pushes to a dispatcher of this instance any more, not even for another instance. */
static void
detach_async(struct dapl_ia *ia)
{
	struct dapl_evd *mine = ia->async_own ? NULL : ia->async_evd;

	dapl_obj_drop(mine);
	__atomic_store_n(&ia->async_evd, NULL, __ATOMIC_RELEASE);
	dapl_ia_drop_async_of(ia);
	wait_for_engines(ia);
}

/* A notification object that somebody may wait for, NULL when there is none. */
static struct dapl_cno *
first_awaited(struct dapl_ia *ia)
{
	struct dapl_obj *obj;

	roce_engine_lock(ia->engine0);
	TAILQ_FOREACH(obj, &ia->objects, link)
		if (obj->tag == (DAPL_MAGIC | DAPL_CNO) &&
				!((struct dapl_cno *)(void *)obj)->aborted)
			break;
	roce_engine_unlock(ia->engine0);
	return (struct dapl_cno *)(void *)obj;
}

/* An object with users that do not exist is lost with its memory: the close ends. */
static void
make_end(void *obj, enum dapl_status freed)
{
	if (freed != DAPL_OK)
		dapl_obj_retire(obj);
}

static bool
free_region(void *lmr)
{
	return dapl_lmr_free(lmr) == DAPL_OK;
}

/*
 * No window is left: what hangs on a region are frames that the device has not released (zero_copy=), or that a peer of
 * this process has not read. The consumer may give the memory away after the close, so they get some time.
 */
static void
free_regions(struct dapl_ia *ia)
{
	bool patient = true;
	void *obj;

	while ((obj = first_of(ia, DAPL_LMR)) != NULL) {
		if (patient && dapl_ia_await(ia, free_region, obj))
			continue;
		patient = false;
		make_end(obj, dapl_lmr_free(obj));
	}
}

/* An object goes before those that it needs. */
static void
destroy_objects(struct dapl_ia *ia)
{
	struct dapl_cno *cno;
	void *obj;

	while ((obj = first_of(ia, DAPL_PSP)) != NULL)
		dapl_psp_free(obj);
	while ((obj = first_of(ia, DAPL_RSP)) != NULL)
		dapl_rsp_free(obj);
	while ((obj = first_of(ia, DAPL_CR)) != NULL)
		dapl_cr_reject(obj, NULL, 0);
	while ((obj = first_of(ia, DAPL_EP)) != NULL)
		dapl_ep_destroy(obj);
	while ((cno = first_awaited(ia)) != NULL)
		dapl_cno_abort(cno);
	while ((obj = first_of(ia, DAPL_EVD)) != NULL) {
		dapl_evd_abort(obj);
		dapl_evd_destroy(obj);
	}
	while ((obj = first_of(ia, DAPL_CNO)) != NULL)
		dapl_cno_destroy(obj);
	while ((obj = first_of(ia, DAPL_SRQ)) != NULL)
		make_end(obj, dapl_srq_free(obj));
	while ((obj = first_of(ia, DAPL_RMR)) != NULL)
		dapl_rmr_free(obj);
	free_regions(ia);
	while ((obj = first_of(ia, DAPL_PZ)) != NULL)
		make_end(obj, dapl_pz_free(obj));
}

enum dapl_status
dapl_ia_close(struct dapl_ia *ia, bool graceful)
{
	if (graceful && has_consumer_objects(ia))
		return DAPL_IA_IN_USE;
	__atomic_store_n(&ia->head.tag, 0, __ATOMIC_RELEASE);
	dapl_ia_delist(ia);
	if (ia->progress_thread)
		dapl_progress_thread_drop();
	detach_async(ia);
	destroy_objects(ia);
	dapl_fork_unwatch(ia);
	dapl_ia_drain(ia);
	roce_device_leave(ia->device, &ia->user);
	roce_device_close(ia->device);
	dapl_obj_free(ia);
	return DAPL_OK;
}
