/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INFO_METRICS_H
#define INFO_METRICS_H

/**
 * @file
 * The counters of processes, as metrics.
 *
 * A counter that means the same as one of mlx5's has the name that exporters of RDMA adapters give to that,
 * rdma_<counter>_total with the labels device and port; all others begin with roce_. The device is the DPDK port, and
 * the port always 1: a DPDK port has one. The labels pid and process say whose device it is. Help texts are those of the
 * first process. Those of roced, when one runs, begin with roced_.
 */

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

/** How metrics are written. */
struct info_format {
	bool openmetrics;
	bool queue_pairs;
};

/** Ask the processes and roced, and write their metrics. @return 0; -1: none answers, or there is no memory; @p errmsg says so. */
int info_metrics_write(const struct info_choice *choice, const struct info_format *format,
		FILE *out, struct info_errmsg *errmsg);

/** Find the processes, and print their metrics. @return 0; -1: the reason was printed. */
int info_metrics_print(const struct info_options *options);

#endif /* INFO_METRICS_H */
