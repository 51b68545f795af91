/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERBS_PATHS_MAP_H
#define VERBS_PATHS_MAP_H

/**
 * @file
 * Where the files lie that programs of verbs look for in places of the kernel.
 */

#include <stdbool.h>

/**
 * Bytes of a mapped path: little enough for the stack of a signal handler. A longer one is left alone.
 */
#define PATHS_ROOM 512

/**
 * The folder that has the tree of files. Called once, before paths_map().
 *
 * @return false: its name is too long, and nothing is mapped.
 */
__attribute__((visibility("hidden"))) bool paths_set_root(const char *folder);

/**
 * The place of a path, if it is one of those: /sys/class/infiniband, /sys/class/infiniband_verbs, /dev/infiniband and what is below.
 * A character device of /dev/infiniband is /dev/null, which takes whatever is asked of it. Slashes may be doubled.
 *
 * @param path may be NULL or relative; errno is left alone.
 * @param room is used for the answer.
 * @return @p path, or @p room.
 */
__attribute__((visibility("hidden"))) const char *
paths_map(const char *path, char room[PATHS_ROOM]);

#endif
