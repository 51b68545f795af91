/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "front/atomic.h"
#include "front/provider.h"

#define CALL(name, type) .name##_func = FRONT(name),

const DAT_PROVIDER FRONT(provider) = {
	.device_name = "udapl-roce",
	.extension = (DAT_PVOID)(uintptr_t)&FRONT(ib_extension),
#include "front/calls.def"
};

#undef CALL

static pthread_mutex_t adapters_lock = PTHREAD_MUTEX_INITIALIZER;
static struct front_adapter *adapters;

static struct front_adapter **
find_link(const char *name)
{
	struct front_adapter **link;

	for (link = &adapters; *link != NULL; link = &(*link)->next)
		if (strcmp((*link)->info.ia_name, name) == 0)
			break;
	return link;
}

const struct front_adapter *
FRONT(adapter)(const char *name)
{
	const struct front_adapter *adapter;

	pthread_mutex_lock(&adapters_lock);
	adapter = *find_link(name);
	pthread_mutex_unlock(&adapters_lock);
	return adapter;
}

void
roce_dat_provider_init(const DAT_PROVIDER_INFO *provider_info, const char *instance_data)
{
	const char *params = instance_data != NULL ? instance_data : "";
	struct front_adapter *adapter = malloc(sizeof(*adapter) + strlen(params) + 1);

	/* The call has no way to fail: an adapter that is not there is not found. */
	if (adapter == NULL)
		return;
	adapter->info = *provider_info;
	memcpy(adapter->params, params, strlen(params) + 1);
	pthread_mutex_lock(&adapters_lock);
	adapter->next = adapters;
	adapters = adapter;
	pthread_mutex_unlock(&adapters_lock);
	if (dat_registry_add_provider(&FRONT(provider), provider_info) != DAT_SUCCESS)
		roce_dat_provider_fini(provider_info);
}

void
roce_dat_provider_fini(const DAT_PROVIDER_INFO *provider_info)
{
	struct front_adapter **link, *adapter;

	/* In use: its open instances still look at the entry. */
	if (DAT_GET_TYPE(dat_registry_remove_provider(&FRONT(provider), provider_info)) ==
			DAT_PROVIDER_IN_USE)
		return;
	pthread_mutex_lock(&adapters_lock);
	link = find_link(provider_info->ia_name);
	adapter = *link;
	if (adapter != NULL)
		*link = adapter->next;
	pthread_mutex_unlock(&adapters_lock);
	free(adapter);
}
