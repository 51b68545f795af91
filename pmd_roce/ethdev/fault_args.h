/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_FAULT_ARGS_H
#define ROCE_ETHDEV_FAULT_ARGS_H

/**
 * @file
 * Faults in words: shares of keys of an instance string, and the environment variable ROCE_FAULTS, which has some of
 * these keys for all devices of a process.
 */

#include <stdint.h>

#include "engine/engine.h"
#include "ethdev/devargs.h"

/** The seed of faults of ROCE_FAULTS that names none. */
#define ROCE_FAULT_SEED 1u

/**
 * Read a share in percent, such as `1%` or `0.01%`.
 *
 * @param ppm of a million; written only on success.
 * @return 0; -EINVAL: no such share, more than 100 %, or finer than one of a million.
 */
int roce_fault_percent_read(const char *text, uint32_t *ppm);

/**
 * Add the faults of ROCE_FAULTS to those that an instance string asks for. Keys that @p args gave win.
 *
 * @param text value of the variable: pairs `key=value` with commas or blanks between; NULL: it is not set.
 * @return 0; -EINVAL: @p errmsg names the variable and the word, and @p args is as it was.
 */
int roce_fault_args_add(const char *text, struct roce_devargs *args, struct roce_errmsg *errmsg);

/** The faults of queue pairs among those that @p args ask for. */
struct roce_fault_config roce_fault_config(const struct roce_devargs *args, uint64_t seed);

#endif
