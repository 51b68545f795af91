/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_ASYNC_H
#define DAPL_ASYNC_H

/**
 * @file
 * Events of the asynchronous dispatcher of an adapter.
 */

#include "dapl/event.h"

struct dapl_evd;

/** Tell the asynchronous dispatcher of the object's adapter, if it has one. Locked: any engine of the device. */
void dapl_evd_push_async(void *object, enum dapl_async_event what);
/** The ring is full: tell the asynchronous dispatcher. Upcall of the engine, locked. */
void dapl_evd_overflow(struct dapl_evd *evd);

#endif
