/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_RUN_DIR_H
#define ROCE_LOCAL_RUN_DIR_H

/**
 * @file
 * The run-time folder: where the processes of one user find each other.
 */

#include <stdbool.h>
#include <stddef.h>

#include "observe/errmsg.h"

/** Bytes of its path with the zero, so that a name of ours fits behind it in the address of a socket. */
#define ROCE_RUN_DIR_LEN 64

/**
 * The folder of mode 0700 that only this user may enter: udapl-roce in XDG_RUNTIME_DIR or, for root, in /run; else
 * one of roce_run_dir_spare(). The first that exists or can be made. Any thread.
 * @return 0; -EACCES none of them.
 */
int roce_run_dir(char *path, size_t len, struct roce_errmsg *errmsg);

/**
 * The folders that need no environment: udapl-roce-UID in /tmp and in /dev/shm, udapl-roce in /run/user/UID. Strangers can
 * take the names of the first two, so a caller looks at the owner. Any thread.
 * @param i  0 is the first. @return false: there are no more.
 */
bool roce_run_dir_spare(unsigned int i, char *path, size_t len);

#endif
