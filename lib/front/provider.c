/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "front/provider.h"
#if DAT_ABI == 12
#include "front/extension12.h"
#endif

#define CALL(name, type) .name##_func = front_##name,

static const DAT_PROVIDER calls = {
	.extension = BY_ABI((DAT_PVOID)(uintptr_t)&front_ib_extension, NULL),
#include "front/calls.def"
};

#undef CALL

static pthread_mutex_t adapters_lock = PTHREAD_MUTEX_INITIALIZER;
static struct front_adapter *adapters;

static bool
same(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return strcmp(a->ia_name, b->ia_name) == 0 &&
			a->dapl_version_major == b->dapl_version_major &&
			a->dapl_version_minor == b->dapl_version_minor &&
			a->is_thread_safe == b->is_thread_safe;
}

/* Locked. NULL: never heard of. */
static struct front_adapter *
find(const DAT_PROVIDER_INFO *info)
{
	struct front_adapter *adapter = adapters;

	while (adapter != NULL && !same(&adapter->info, info))
		adapter = adapter->next;
	return adapter;
}

/* The record of an adapter is never freed: the first word of old handles still points to its table. Locked. */
static struct front_adapter *
find_or_make(const DAT_PROVIDER_INFO *info)
{
	struct front_adapter *adapter = find(info);

	if (adapter != NULL)
		return adapter;
	adapter = malloc(sizeof(*adapter));
	if (adapter == NULL)
		return NULL;
	*adapter = (struct front_adapter){ .next = adapters, .info = *info, .table = calls };
	adapter->table.device_name = adapter->info.ia_name;
	adapters = adapter;
	return adapter;
}

const struct front_adapter *
front_find_adapter(const char *name)
{
	const struct front_adapter *adapter;

	pthread_mutex_lock(&adapters_lock);
	adapter = adapters;
	while (adapter != NULL &&
			!(adapter->registered && strcmp(adapter->info.ia_name, name) == 0))
		adapter = adapter->next;
	pthread_mutex_unlock(&adapters_lock);
	return adapter;
}

static void
lock_adapters(void)
{
	pthread_mutex_lock(&adapters_lock);
}

static void
unlock_adapters(void)
{
	pthread_mutex_unlock(&adapters_lock);
}

/* In a child nobody else has the lock. Without memory for that there is soon none for an adapter, either. */
static void
watch_forks(void)
{
	(void)pthread_atfork(lock_adapters, unlock_adapters, unlock_adapters);
}

/* The adapter with its instance data, to be registered. NULL: it is already, or there is no memory. */
static struct front_adapter *
prepare(const DAT_PROVIDER_INFO *info, const char *params)
{
	struct front_adapter *adapter;
	char *copy = strdup(params);

	if (copy == NULL)
		return NULL;
	pthread_mutex_lock(&adapters_lock);
	adapter = find_or_make(info);
	if (adapter != NULL && adapter->registered)
		adapter = NULL;
	if (adapter != NULL) {
		free(adapter->params);
		adapter->params = copy;
		adapter->registered = true;
		copy = NULL;
	}
	pthread_mutex_unlock(&adapters_lock);
	free(copy);
	return adapter;
}

static void
set_registered(struct front_adapter *adapter, bool registered)
{
	pthread_mutex_lock(&adapters_lock);
	adapter->registered = registered;
	pthread_mutex_unlock(&adapters_lock);
}

void
roce_dat_provider_init(const DAT_PROVIDER_INFO *provider_info, const char *instance_data)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct front_adapter *adapter;

	pthread_once(&once, watch_forks);
	/* The call has no way to fail: an adapter that is not there is not found. */
	adapter = prepare(provider_info, instance_data != NULL ? instance_data : "");
	if (adapter != NULL &&
			dat_registry_add_provider(&adapter->table, provider_info) != DAT_SUCCESS)
		set_registered(adapter, false);
}

void
roce_dat_provider_fini(const DAT_PROVIDER_INFO *provider_info)
{
	struct front_adapter *adapter;

	pthread_mutex_lock(&adapters_lock);
	adapter = find(provider_info);
	pthread_mutex_unlock(&adapters_lock);
	if (adapter == NULL)
		return;
	/* In use: its open instances still look at the entry. */
	if (DAT_GET_TYPE(dat_registry_remove_provider(&adapter->table, provider_info)) !=
			DAT_PROVIDER_IN_USE)
		set_registered(adapter, false);
}
