/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_VDEV_ARGS_H
#define ROCE_ETHDEV_VDEV_ARGS_H

/**
 * @file
 * The arguments of a virtual device, behind its name: `net_memif0,role=server,id=0`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The next value of @p key from the comma at or behind @p p, copied to @p value; NULL: no more, else where to go on. */
const char *roce_vdev_next_arg(const char *p, const char *key, char *value, size_t len);

/** The value of @p key, copied to @p value and cut to @p len; false: not there. */
bool roce_vdev_find_arg(const char *port, const char *key, char *value, size_t len);

/** The same of a number; 0 when it is not there. */
uint32_t roce_vdev_find_number(const char *port, const char *key);

/** Append an argument to a port of ROCE_DEVARGS_PORT_LEN bytes. @return 0; -EINVAL no room. */
int roce_vdev_append_arg(char *port, const char *key, const char *value);

/** The same with a number, unless the key is there. */
int roce_vdev_default_arg(char *port, const char *key, unsigned int number);

/** Take every argument of that key away. */
void roce_vdev_remove_arg(char *port, const char *key);

#endif
