/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_PORT_TELEMETRY_H
#define ROCE_PORT_TELEMETRY_H

/**
 * @file
 * What the files with telemetry commands share.
 */

#include <stddef.h>

#include "port/compat.h"
#include "port/device.h"

/** A name that telemetry takes: letters, digits and underlines; a PCI address has more. */
void roce_telemetry_key(char *key, size_t len, const char *name);

/** Register /roce/srq and /roce/qp, once in a process. */
void roce_telemetry_queues_setup(void);

#endif
