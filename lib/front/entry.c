/* SPDX-License-Identifier: BSD-3-Clause */

/* Only in the shared library: a statically linked program may hold several providers. */

#include "front/provider.h"

void
dat_provider_init(const DAT_PROVIDER_INFO *provider_info, const char *instance_data)
{
	roce_dat_provider_init(provider_info, instance_data);
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *provider_info)
{
	roce_dat_provider_fini(provider_info);
}
