/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A Provider in a shared library, for load.py: it can be opened and closed, nothing more.
 */

#include <stdlib.h>

#include <dat/dat_registry.h>

void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data);
void dat_provider_fini(const DAT_PROVIDER_INFO *info);

struct fake_ia {
	const DAT_PROVIDER *table;
};

static DAT_RETURN open_ia(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
		DAT_IA_HANDLE *ia_handle);

static DAT_RETURN
close_ia(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags)
{
	free(ia_handle);
	return DAT_SUCCESS;
}

static const DAT_PROVIDER table = {
	.device_name = "fake",
	.ia_open_func = open_ia,
	.ia_close_func = close_ia,
};

static DAT_RETURN
open_ia(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
		DAT_IA_HANDLE *ia_handle)
{
	struct fake_ia *ia = malloc(sizeof(*ia));

	if (ia == NULL)
		return DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES | DAT_RESOURCE_MEMORY;
	ia->table = &table;
	*ia_handle = ia;
	return DAT_SUCCESS;
}

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
	dat_registry_add_provider(&table, info);
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	dat_registry_remove_provider(&table, info);
}
