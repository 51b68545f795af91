/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_VENDOR_SPECIFIC_H
#define DAT_VENDOR_SPECIFIC_H

/**
 * @file
 * Additions of this implementation to DAT 1.2: two event numbers.
 *
 * The standard describes an event for the low watermark of a shared receive queue and one for the
 * soft high watermark of an endpoint. It gives their reasons, DAT_SRQ_LOW_WATERMARK_EVENT and
 * DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT, and no numbers. Ours lie in the range of the asynchronous
 * stream. asynch_error_event_data names the object and the reason, and a portable program looks at
 * those.
 *
 * They are true enumerators of DAT_EVENT_NUMBER, so a switch may name them, and macros of the same
 * name, so `#ifdef DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK` tells whether they exist.
 */

/** The last enumerators of enum dat_event_number; only dat.h uses this. */
#define DAT_VENDOR_EVENT_NUMBERS                     \
	DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK = 0x08011, \
	DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK = 0x08012

/** Fewer buffers are on the queue than its low watermark; dat_handle is the SRQ. */
#define DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK DAT_ASYNC_EVENT_SRQ_LOW_WATERMARK

/** The endpoint holds more buffers than its soft high watermark; dat_handle is the endpoint. */
#define DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK DAT_ASYNC_EVENT_EP_SOFT_HIGH_WATERMARK

/* After the macros: dat.h needs the first of them, whichever of the two headers comes first. */
#include <dat/dat.h>

#endif /* DAT_VENDOR_SPECIFIC_H */
