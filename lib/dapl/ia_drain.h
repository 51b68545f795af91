/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_IA_DRAIN_H
#define DAPL_IA_DRAIN_H

/**
 * @file
 * Polling until something has ended: the connections of an adapter that is closed, frames that hold memory.
 */

#include <stdbool.h>

struct dapl_ia;

/** Poll this instance and the others until something is done, for a quarter of a second. @return false: it is not. */
bool dapl_ia_await(const struct dapl_ia *ia, bool (*done)(void *arg), void *arg);

/**
 * Disconnect drain: poll until every DREQ is answered, for a quarter of a second. The device takes its frames along, and
 * a peer that got no DREQ waits for ever.
 */
void dapl_ia_drain(const struct dapl_ia *ia);

#endif
