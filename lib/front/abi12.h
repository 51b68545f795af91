/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FRONT_ABI12_H
#define FRONT_ABI12_H

/**
 * @file
 * DAT 1.2: what the sources of the front cannot say by name alone. abi20.h defines the same names for DAT 2.0.
 */

#include <stdbool.h>

#include <dat/udat.h>
#include <dat/dat_registry.h>

#include "dapl/event.h"

struct dapl_ia;

/** One thing in 1.2, another in 2.0. */
#define BY_ABI(in_12, ...) in_12

/** Arguments that came with 2.0, with the comma before them. */
#define NEW_ARGS(...)

/* Flags that came with 2.0. */
#define EVD_EXTENSION_FLAG     0
#define MEM_PRIV_REMOTE_ATOMIC 0u

static inline bool
is_multipath(DAT_CONNECT_FLAGS flags)
{
	return flags == DAT_CONNECT_MULTIPATH_FLAG;
}

/** The handle of an adapter as its consumer knows it. */
static inline DAT_IA_HANDLE
consumer_handle(struct dapl_ia *ia)
{
	return ia;
}

/* Fields that came with 2.0. */

static inline void
new_ia_attr(DAT_IA_ATTR *attr)
{
}

static inline void
new_provider_attr(DAT_PROVIDER_ATTR *attr)
{
}

static inline void
new_rmr_param(DAT_RMR_PARAM *param)
{
}

static inline void
new_cr_arrival(DAT_CR_ARRIVAL_EVENT_DATA *data)
{
}

/**
 * An RDMA WRITE with immediate data uses up a receive and brings no byte into its buffer. A program of DAT 1.2 cannot tell
 * it from a message: its length is the one of what lies in the buffer.
 */
static inline void
new_completion(const struct roce_event *in, DAT_EVENT *out)
{
	if (unlikely((in->flags & ROCE_EVENT_WRITE) != 0))
		out->event_data.dto_completion_event_data.transfered_length = 0;
}

#endif
