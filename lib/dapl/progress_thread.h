/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_PROGRESS_THREAD_H
#define DAPL_PROGRESS_THREAD_H

/**
 * @file
 * The one thread of the process that polls what no other thread polls.
 */

#include <stdbool.h>

/** Wake the progress thread: an adapter has begun. Any thread. */
void dapl_progress_thread_wake(void);

/**
 * Let one thread of the process poll the open adapters that no other thread polls, or @p always all of them. Any thread.
 * @return false: none starts.
 */
bool dapl_progress_thread_use(bool always);
/** Undo it; with the last user the thread is gone when the call returns. Holds no lock of another. */
void dapl_progress_thread_drop(void);

/** In a child of fork(2): there is no such thread, and nobody uses it. */
void dapl_progress_thread_forget_parent(void);

#endif
