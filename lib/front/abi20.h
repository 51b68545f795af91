/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_ABI20_H
#define FRONT_ABI20_H

/**
 * @file
 * DAT 2.0, as libdat2 of Debian and OFED speaks it: what the sources of the front cannot say by name alone. abi12.h
 * defines the same names for DAT 1.2.
 */

#include <stdbool.h>

/* Theirs do not include what they use. */
#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#include "dapl/event.h"

struct dapl_ia;

/** One thing in 1.2, another in 2.0. */
#define BY_ABI(in_12, ...) __VA_ARGS__

/** Arguments that came with 2.0, with the comma before them. */
#define NEW_ARGS(...) __VA_ARGS__

/** The address of remote memory, by its name in 1.2. */
#define target_address virtual_address

/* Events that neither version has a number for: those of dat/dat_vendor_specific.h. */
#define DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK      ((DAT_EVENT_NUMBER)0x08011)
#define DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK ((DAT_EVENT_NUMBER)0x08012)

/* Flags that 1.2 does not have. */
#define EVD_EXTENSION_FLAG     ((DAT_EVD_FLAGS)DAT_IB_EVD_EXTENSION_FLAG)
#define MEM_PRIV_REMOTE_ATOMIC ((unsigned int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)

static inline bool
is_multipath(DAT_CONNECT_FLAGS flags)
{
	return flags == DAT_CONNECT_MULTIPATH_FLAG || flags == DAT_CONNECT_MULTIPATH_REQUIRED_FLAG;
}

/** libdat2's: the small number by which a consumer knows an adapter. An older registry may lack it. */
extern DAT_RETURN
dats_get_ia_handle(DAT_IA_HANDLE provider_handle, DAT_IA_HANDLE *consumer) __attribute__((weak));

/** The handle of an adapter as its consumer knows it. */
static inline DAT_IA_HANDLE
consumer_handle(struct dapl_ia *ia)
{
	DAT_IA_HANDLE handle;

	if (dats_get_ia_handle == NULL || dats_get_ia_handle(ia, &handle) != DAT_SUCCESS)
		return ia;
	return handle;
}

/* Fields that came with 2.0. */

static inline void
new_ia_attr(DAT_IA_ATTR *attr)
{
	attr->extension_supported = DAT_EXTENSION_IB;
	attr->extension_version = DAT_IB_EXTENSION_VERSION;
}

static inline void
new_provider_attr(DAT_PROVIDER_ATTR *attr)
{
	attr->rmr_scope_supported = DAT_RMR_SCOPE_PZ;
}

static inline void
new_rmr_param(DAT_RMR_PARAM *param)
{
	param->rmr_scope = DAT_RMR_SCOPE_PZ;
	param->va_type = DAT_VA_TYPE_VA;
}

static inline void
new_cr_arrival(DAT_CR_ARRIVAL_EVENT_DATA *data)
{
	data->truncate_flag = DAT_FALSE;
}

/** Which operation ended, and what an extended one has to tell. */
void front_new_completion(const struct roce_event *in, DAT_EVENT *out);

static inline void
new_completion(const struct roce_event *in, DAT_EVENT *out)
{
	front_new_completion(in, out);
}

#endif
