/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_TELEMETRY_PVT_H
#define ROCE_OBSERVE_TELEMETRY_PVT_H

/**
 * @file
 * Shared by the files with telemetry commands.
 */

#include <stddef.h>

#include "engine/snapshot.h"
#include "observe/compat.h"
#include "observe/telemetry.h"

/** The devices, from roce_telemetry_setup() on. */
extern const struct roce_telemetry_source *roce_telemetry_source;

/** A name that telemetry takes: letters, digits and underlines; a PCI address has more. */
void roce_telemetry_key(char *key, size_t len, const char *name);

/** A dictionary to stand inside another. NULL: no memory. */
struct rte_tel_data *roce_telemetry_dict(void);

/** Put one into another; it belongs to that one, or is freed when there is no room. NULL is allowed. */
void roce_telemetry_put(struct rte_tel_data *outer, const char *key, struct rte_tel_data *dict);

/** The answers about a shared receive queue, and about a queue pair. */
void roce_telemetry_srq(struct rte_tel_data *dict, const struct roce_srq_snapshot *srq);
void roce_telemetry_qp(struct rte_tel_data *dict, const struct roce_qp_snapshot *qp);

/** The pages that an address lies on, and their NUMA node: hugepages, page_bytes, numa_node. It is not read. */
void roce_telemetry_memory(struct rte_tel_data *dict, const void *address);

/** Register /roce/srq and /roce/qp, once in a process. */
void roce_telemetry_queues_setup(void);

/** Register /roce/srqs, /roce/qps and /roce/channels, once in a process. */
void roce_telemetry_pages_setup(void);

/** Register /roce/help, once in a process. */
void roce_telemetry_help_setup(void);

#endif
