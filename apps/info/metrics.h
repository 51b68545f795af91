/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_METRICS_H
#define INFO_METRICS_H

/**
 * @file
 * The counters of a process, as metrics.
 *
 * A counter that means the same as one of mlx5's has the name that exporters of RDMA adapters give to that,
 * rdma_<counter>_total with the labels device and port; all others begin with roce_. The device is the DPDK port, and
 * the port always 1: a DPDK port has one. Help texts are those of the process.
 */

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

/** How metrics are written. */
struct info_format {
	bool openmetrics;
	bool queue_pairs;
};

/** Ask the process and write its metrics. @return 0; -1: @p errmsg says what went wrong, and part may be written. */
int info_metrics_write(struct info_link *link, const struct info_format *format, FILE *out,
		struct info_errmsg *errmsg);

/** Find the process, and print its metrics. @return 0; -1: the reason was printed. */
int info_metrics_print(const struct info_options *options);

#endif /* INFO_METRICS_H */
