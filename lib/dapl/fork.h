/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_FORK_H
#define DAPL_FORK_H

/**
 * @file
 * A child of fork(2) has no adapter: the handles of its parent are bad there.
 */

struct dapl_ia;

/** From now on the handles of an adapter, which may still be opened, and of its objects are bad in children of fork(2). */
void dapl_fork_watch(struct dapl_ia *ia);

/** Undo dapl_fork_watch(): none of its handles is good any more. */
void dapl_fork_unwatch(struct dapl_ia *ia);

#endif
