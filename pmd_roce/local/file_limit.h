/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_FILE_LIMIT_H
#define ROCE_LOCAL_FILE_LIMIT_H

/**
 * @file
 * A limit of the size of files (setrlimit(2), ulimit -f). It counts for memory that is a file, too: one that becomes
 * larger than the limit has SIGXFSZ sent to the thread that makes it so, which ends a program that knows of no file.
 */

#include <stdbool.h>
#include <signal.h>
#include <stdint.h>

/** The thread's signals as they were. */
struct roce_file_limit {
	sigset_t before;
};

/** May no file become as large as @p size bytes? */
bool roce_file_limit_is_below(uint64_t size);

/** From now on such a call of this thread fails with EFBIG, and no signal comes; threads that it makes are alike. */
void roce_file_limit_begin(struct roce_file_limit *limit);

/** Signals are as before roce_file_limit_begin(). Keeps errno. */
void roce_file_limit_end(const struct roce_file_limit *limit);

#endif
