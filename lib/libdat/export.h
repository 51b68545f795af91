/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_EXPORT_H
#define LIBDAT_EXPORT_H

/**
 * @file
 * The public headers, as the files of libdat include them.
 *
 * The library is compiled with hidden symbols. The declarations of these headers are the interface, so it
 * is marked visible here, once, and libdat.map gives it a version. Include this before anything
 * else that includes a DAT header.
 */

#pragma GCC visibility push(default)
#include <dat/udat.h>
#include <dat/dat_registry.h>
#pragma GCC visibility pop

/** A failed call: class bit, type and subtype together. */
#define LIBDAT_ERROR(type, subtype) (DAT_CLASS_ERROR | (DAT_RETURN)(type) | (DAT_RETURN)(subtype))

/**
 * All that a call to the Provider is. A null handle has no table, nor have the two words by which dat_ia_openv() speaks
 * of a dispatcher that is not there, and which programs keep as a handle; everything else is the Provider's to validate.
 */
#define DISPATCH(handle, subtype, call)                                             \
	((uintptr_t)(handle) <= (uintptr_t)DAT_EVD_OUT_OF_SCOPE                     \
					? LIBDAT_ERROR(DAT_INVALID_HANDLE, subtype) \
					: (call))

#endif /* LIBDAT_EXPORT_H */
