/* SPDX-License-Identifier: BSD-3-Clause */

/* The context that all ids share, opened with the first that needs one and kept until the process ends. */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "roce/context.h"
#include "roce/device.h"
#include "verbs/rdmacm/cma.h"
#include "verbs/verbs_front.h"

#define SEND_PER_S 10u /**< a tenth of a second until what there is to send is sent, at the most */
#define SEND_NS    50000L /**< between two polls, while another thread has the engine */

/* Apart from cma_lock, which the thread of libibverbs takes while it has one that opening takes, too. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *context;
static struct ibv_pd *pd;

static void
forget_parent(void)
{
	pthread_mutex_init(&open_lock, NULL);
	if (context != NULL)
		cma_set_forked();
}

static void
watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

static struct ibv_context *
open_context(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *opened;

	if (list == NULL)
		return NULL;
	pthread_once(&once, watch_forks);
	opened = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (opened == NULL)
		return NULL;
	__atomic_store_n(&verbs_ctx_of(opened)->cm_dispatch, cma_dispatch, __ATOMIC_RELEASE);
	return opened;
}

struct ibv_context *
cma_context(void)
{
	struct ibv_context *found;

	pthread_mutex_lock(&open_lock);
	if (context == NULL)
		context = open_context();
	found = context;
	if (cma_is_forked()) {
		errno = ENODEV;
		found = NULL;
	}
	pthread_mutex_unlock(&open_lock);
	return found;
}

void
cma_send(const struct ibv_context *of)
{
	struct roce_device *device = roce_context_device(verbs_ctx_of(of)->roce);
	const struct timespec pause = { .tv_nsec = SEND_NS };
	const uint64_t end = roce_device_now(device) + roce_device_hz(device) / SEND_PER_S;
	uint64_t now;

	/* A poll of engine 0 sends what the connection manager has, however much else there is to send. */
	while ((now = roce_device_now(device)) < end && roce_device_deadline(device) <= now &&
			roce_device_poll_engine(device, 0) == 0)
		nanosleep(&pause, NULL);
}

struct ibv_pd *
cma_pd(void)
{
	struct ibv_context *of = cma_context();
	struct ibv_pd *found = NULL;

	if (of == NULL)
		return NULL;
	pthread_mutex_lock(&open_lock);
	if (pd == NULL)
		pd = ibv_alloc_pd(of);
	found = pd;
	pthread_mutex_unlock(&open_lock);
	return found;
}

int
cma_id_attach(struct cma_id *id)
{
	struct ibv_context *of = cma_context();
	struct ibv_pd *shared = cma_pd();
	int rc = 0;

	if (shared == NULL)
		return -1;
	pthread_mutex_lock(&cma_lock);
	if (id->roce == NULL)
		rc = roce_cm_id_create(verbs_ctx_of(of)->roce, id, &id->roce);
	if (rc == 0) {
		id->rdma.verbs = of;
		if (id->rdma.pd == NULL)
			id->rdma.pd = shared;
		id->rdma.port_num = 1;
	}
	pthread_mutex_unlock(&cma_lock);
	return cma_result(rc);
}

struct ibv_context **
rdma_get_devices(int *num)
{
	struct ibv_context **list = calloc(2, sizeof(struct ibv_context *));

	if (num != NULL)
		*num = 0;
	if (list == NULL)
		return NULL;
	list[0] = cma_context();
	if (list[0] == NULL) {
		free(list);
		return NULL;
	}
	if (num != NULL)
		*num = 1;
	return list;
}

void
rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
