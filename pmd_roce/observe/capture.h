/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_CAPTURE_H
#define ROCE_OBSERVE_CAPTURE_H

/**
 * @file
 * Captures by another process: dpdk-dumpcap, dpdk-pdump.
 */

#include <stdbool.h>

/**
 * Let such a process attach where it can: the EAL shares its configuration and its memory, which is hugepages. Our
 * defaults do not, for they leave nothing behind; UDAPL_ROCE_EAL can. Elsewhere nothing is done. Once, by whoever
 * started the EAL.
 */
void roce_capture_setup(void);

/**
 * True when such a process can come. The tools skip ports that have an owner, so ours take none then: the EAL is our
 * own, and nobody else in this process looks for ports.
 */
bool roce_capture_is_on(void);

#endif
