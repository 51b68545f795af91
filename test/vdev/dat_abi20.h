/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DAT_ABI20_H
#define TEST_DAT_ABI20_H

/**
 * @file
 * DAT 2.0, through libdat2 of Debian: what a test cannot say by name alone. dat_abi12.h defines the same names for DAT
 * 1.2.
 */

#include <stdbool.h>

/* Theirs do not include what they use. */
#include <netinet/in.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

/** One thing in 1.2, another in 2.0. */
#define BY_ABI(in_12, ...) __VA_ARGS__

/** Arguments that came with 2.0, with the comma before them. */
#define NEW_ARGS(...) __VA_ARGS__

/** The name that 1.2 has for the address of remote memory. */
#define target_address virtual_address

/* Events that neither version has a number for: those of dat/dat_vendor_specific.h. */
#define DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK      ((DAT_EVENT_NUMBER)0x08011)
#define DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK ((DAT_EVENT_NUMBER)0x08012)

/** The longest that a segment can be said to be. */
#define SEGMENT_MAX UINT32_MAX

/** The event that completes an extension. */
#define EXTENSION_EVENT ((DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT)

/**
 * From here to the close of the last adapter they work only while their consumer calls something, as those of DAT 1.2
 * do. One that has no engines on lcores must be open.
 */
void hold_progress(void);

/** There are no more threads to be had. */
void refuse_progress(bool on);

/** libdat2's: the small number by which a consumer knows an adapter, and back. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE one, DAT_IA_HANDLE *other);

/** An adapter as its provider knows it: the object behind the number. Null: there is none. */
static inline DAT_HANDLE
provider_handle(DAT_IA_HANDLE ia)
{
	DAT_IA_HANDLE object;

	return dats_get_ia_handle(ia, &object) == DAT_SUCCESS ? object : DAT_HANDLE_NULL;
}

/** The table of the provider whose object this is: libdat2 has no entry for some of its calls. */
static inline const DAT_PROVIDER *
provider_table(DAT_HANDLE handle)
{
	return *(const DAT_PROVIDER *const *)handle;
}

/** A call of 2.0 under the name that it has as an extension of 1.2. */
static inline DAT_RETURN
dat_ib_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
		DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS flags,
		DAT_BOOLEAN invalidate_flag, DAT_RMR_CONTEXT rmr_context)
{
	return provider_table(ep_handle)->ep_post_send_with_invalidate_func(ep_handle, num_segments,
			local_iov, user_cookie, flags, invalidate_flag, rmr_context);
}

#endif
