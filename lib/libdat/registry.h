/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBDAT_REGISTRY_H
#define LIBDAT_REGISTRY_H

/**
 * @file
 * The dynamic registry: the Providers that are in the process, by name.
 *
 * Two locks, always taken in this order. The load lock serialises reading dat.conf, init and fini
 * of libraries, and opens up to the moment when the Provider is chosen; the Provider may add and
 * remove itself meanwhile. The list lock guards the list and is never held across a call of a
 * Provider. No lock is held while a Provider opens or closes an adapter, which may take long.
 */

#include <stddef.h>

#include "export.h"
#include "match.h"

/** One registration. */
struct libdat_provider {
	struct libdat_provider *next;
	const DAT_PROVIDER *table; /**< the Provider's */
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER_FINI_FUNC fini; /**< null unless a library of dat.conf registered this */
	unsigned int users;          /**< adapters open, or being opened */
};

void libdat_load_lock(void);
void libdat_load_unlock(void);

/**
 * The best registered Provider for a wish, with one more user.
 *
 * Threads: any.
 * @param[in,out] best raised to the furthest agreement seen.
 * @return null when none matches; else to be given back with libdat_provider_release().
 */
struct libdat_provider *
libdat_provider_acquire(const struct libdat_wish *wish, enum libdat_match *best);

/**
 * Give back what libdat_provider_acquire() returned. The last user of a Provider that came from a
 * library of dat.conf makes its fini be called, which removes it.
 *
 * Threads: any; the caller holds the load lock.
 */
void libdat_provider_release(struct libdat_provider *p);

/**
 * Tell that the library behind @p fini registered @p info.
 *
 * Threads: any; the caller holds the load lock.
 * @return false: nothing of the kind is registered.
 */
bool libdat_provider_loaded(const DAT_PROVIDER_INFO *info, DAT_PROVIDER_FINI_FUNC fini);

/**
 * Copy what is registered and is not among the @p have entries of @p list behind them.
 *
 * Threads: any.
 * @param list room for @p max entries.
 * @return the number of entries there are then, which may be more than @p max; those are left out.
 */
size_t libdat_provider_list(DAT_PROVIDER_INFO *list, size_t have, size_t max);

/**
 * The process forks: the list of providers is whole in the child, and nobody there has a lock. Called by
 * pthread_atfork(3), inside any lock of open.c.
 */
void libdat_registry_before_fork(void);
void libdat_registry_after_fork(void);
void libdat_registry_in_child(void);

#endif /* LIBDAT_REGISTRY_H */
