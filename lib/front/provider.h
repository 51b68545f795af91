/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_PROVIDER_H
#define FRONT_PROVIDER_H

/**
 * @file
 * How a registry gets hold of this provider: by the names of DAT when it loads the shared library, and by
 * names of our own when it is linked statically, where DAT's would collide with another provider's.
 */

#include "front/abi.h"

/**
 * Register the provider under the name in @p provider_info; the registry calls it (dat_registry.h).
 * @param instance_data  key=value pairs of dat.conf(5), copied; NULL: none.
 */
void roce_dat_provider_init(const DAT_PROVIDER_INFO *provider_info, const char *instance_data);

/** Undo roce_dat_provider_init(); nothing happens while an instance is open. */
void roce_dat_provider_fini(const DAT_PROVIDER_INFO *provider_info);

/** The same, by the names that the registry looks up in a shared library. */
void dat_provider_init(const DAT_PROVIDER_INFO *provider_info, const char *instance_data);
void dat_provider_fini(const DAT_PROVIDER_INFO *provider_info);

#endif
