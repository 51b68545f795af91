/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UDAT_CONFIG_H
#define UDAT_CONFIG_H

/**
 * @file
 * The version that dat_ia_open() asks the registry for, when a program is compiled with this set.
 *
 * A program may define DAT_THREADSAFE as DAT_TRUE before the first DAT header, and then only opens
 * a Provider that calls itself thread safe. The default asks for less and opens either kind.
 */

#define DAT_VERSION_MAJOR 1
#define DAT_VERSION_MINOR 2

#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#endif /* UDAT_CONFIG_H */
