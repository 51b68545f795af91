/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UDAT_VENDOR_SPECIFIC_H
#define UDAT_VENDOR_SPECIFIC_H

/**
 * @file
 * The standard's place for user-level extensions of a vendor. This Provider has none: its two
 * additions concern both levels and are in dat_vendor_specific.h.
 */

#include <dat/dat_vendor_specific.h>

#endif /* UDAT_VENDOR_SPECIFIC_H */
