/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_LIBRARIES_H
#define RUN_LIBRARIES_H

/**
 * @file
 * The folder of our libibverbs.so.1 and librdmacm.so.1, and the environment that leads programs there.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** Two variables and their values. */
struct libraries {
	char path[2 * PATH_MAX];    /**< of LD_LIBRARY_PATH: the folder, and what was there */
	char preload[2 * PATH_MAX]; /**< of LD_PRELOAD: the path shim, and what was there */
};

/** Find them: beside this program in a build tree, or where it was installed. @return false; the sentence was said. */
bool libraries_find(struct libraries *libraries);

/**
 * Is the port that UDAPL_ROCE_PARAMS names one of DPDK's own mlx4 or mlx5 driver? They call libibverbs.so.1 themselves, and would
 * find ours in the place of the kernel's.
 */
bool libraries_are_wanted_by_driver(void);

#endif
