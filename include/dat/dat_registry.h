/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_REGISTRY_H
#define DAT_REGISTRY_H

/**
 * @file
 * The calls between the registry and a Provider. Programs do not include this.
 *
 * A Provider's library exports dat_provider_init() and dat_provider_fini(). The registry loads the
 * library named in dat.conf(5) when the first instance of an Interface Adapter is opened, and calls
 * init; init calls dat_registry_add_provider() with the same information. When the last instance is
 * closed the registry calls fini, which calls dat_registry_remove_provider(). The library stays
 * loaded, and the next open calls init again. Calls of init and fini are never concurrent.
 */

#include <dat/udat.h>
#include <dat/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Add a Provider under the name in @p provider_info. A name can be added once.
 *
 * The table stays the Provider's and must not move or change while it is registered; the
 * information is copied.
 *
 * Threads: any. uDAPL 1.2 dat_registry_add_provider(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER: a null pointer, or a name that is empty or not
 *   terminated; DAT_PROVIDER_ALREADY_REGISTERED: the name is taken; DAT_INSUFFICIENT_RESOURCES.
 */
DAT_RETURN dat_registry_add_provider(
		IN const DAT_PROVIDER *provider, IN const DAT_PROVIDER_INFO *provider_info);

/**
 * Remove a Provider; name and table must be those that were added.
 *
 * Threads: any. uDAPL 1.2 dat_registry_remove_provider(3DAT).
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER: a null pointer, or not registered;
 *   DAT_PROVIDER_IN_USE: an instance is open or being opened.
 */
DAT_RETURN dat_registry_remove_provider(
		IN const DAT_PROVIDER *provider, IN const DAT_PROVIDER_INFO *provider_info);

/**
 * Translate between the handle of an Interface Adapter that the Provider knows and the one that the
 * consumer knows. Here they are the same; Providers written for other registries call this.
 *
 * Threads: any.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE: null; DAT_INVALID_PARAMETER: nowhere to put the answer.
 */
DAT_RETURN dats_get_ia_handle(IN DAT_IA_HANDLE handle, OUT DAT_IA_HANDLE *ia_handle_p);

/** See the head of this file. @p instance_data is the seventh field of the line in dat.conf(5). */
typedef void (*DAT_PROVIDER_INIT_FUNC)(
		IN const DAT_PROVIDER_INFO *provider_info, IN const char *instance_data);

typedef void (*DAT_PROVIDER_FINI_FUNC)(IN const DAT_PROVIDER_INFO *provider_info);

#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_INIT_FUNC_STR  "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_FINI_FUNC_STR  "dat_provider_fini"

#ifdef __cplusplus
}
#endif

#endif /* DAT_REGISTRY_H */
