/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBED_GAUGE_H
#define EMBED_GAUGE_H

/**
 * @file
 * Costs of RDMA for the appliance, measured without a network: its two ports are rings in memory,
 * and frames go round through it as fast as it forwards. A client in this process talks RDMA to it
 * through the same port.
 */

#include "options.h"

/** Measure and print the table. @return exit status. */
int gauge_run(const struct embed_options *options);

#endif
