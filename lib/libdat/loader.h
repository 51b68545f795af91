/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_LOADER_H
#define LIBDAT_LOADER_H

/**
 * @file
 * From the name of a Provider's library to its two entry points.
 */

#include "export.h"

/** The entry points of a library that is in the process. */
struct libdat_library {
	DAT_PROVIDER_INIT_FUNC init;
	DAT_PROVIDER_FINI_FUNC fini;
};

/**
 * Find a library and load it if it is not in the process yet. It is never unloaded: a Provider may
 * have threads, and DPDK cannot be loaded twice.
 *
 * A name without a slash is looked for where the dynamic loader looks, then in the folder from
 * which libdat itself came, so that a build tree works without installation. A program that is
 * linked with libdaplroce.a needs no library: see roce_dat_provider_init() below. Why a library
 * does not load is said if DAT_DBG_TYPE asks.
 *
 * Threads: any.
 * @param[out] out written on success only.
 * @return 0; -ENOENT: no such library, or not a Provider.
 */
int libdat_library_load(const char *name, struct libdat_library *out);

/**
 * The entry points of our Provider, as libdaplroce.a has them. A program that links the archive and
 * keeps this symbol (-Wl,-u,roce_dat_provider_init, which pkg-config --static gives) has the
 * Provider built in, and the library name libdaplroce.so.1 then means that one.
 */
extern void roce_dat_provider_init(IN const DAT_PROVIDER_INFO *provider_info,
		IN const char *instance_data) __attribute__((weak));
extern void roce_dat_provider_fini(IN const DAT_PROVIDER_INFO *provider_info) __attribute__((weak));

#endif /* LIBDAT_LOADER_H */
