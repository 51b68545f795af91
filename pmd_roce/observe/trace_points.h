/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_OBSERVE_TRACE_POINTS_H
#define ROCE_OBSERVE_TRACE_POINTS_H

/**
 * @file
 * The trace points: names and types of what each records. For trace.c and trace_points.c, which have DPDK's experimental
 * interfaces; a string holds 31 bytes.
 */

#include <rte_trace_point.h>

/* clang-format off */
RTE_TRACE_POINT(
	roce_trace_point_open,
	RTE_TRACE_POINT_ARGS(const char *device, const char *driver, uint32_t mtu, uint32_t engines),
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_string(driver);
	rte_trace_point_emit_u32(mtu);
	rte_trace_point_emit_u32(engines);
)

RTE_TRACE_POINT(
	roce_trace_point_close,
	RTE_TRACE_POINT_ARGS(const char *device),
	rte_trace_point_emit_string(device);
)

RTE_TRACE_POINT(
	roce_trace_point_port,
	RTE_TRACE_POINT_ARGS(const char *device, const char *what),
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_string(what);
)

RTE_TRACE_POINT(
	roce_trace_point_notice,
	RTE_TRACE_POINT_ARGS(const char *device, const char *kind, const void *owner, int32_t status),
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_string(kind);
	rte_trace_point_emit_ptr(owner);
	rte_trace_point_emit_i32(status);
)

RTE_TRACE_POINT(
	roce_trace_point_cm,
	RTE_TRACE_POINT_ARGS(const char *device, const char *kind, const void *owner,
			const char *peer, uint32_t peer_qpn, uint32_t reason),
	rte_trace_point_emit_string(device);
	rte_trace_point_emit_string(kind);
	rte_trace_point_emit_ptr(owner);
	rte_trace_point_emit_string(peer);
	rte_trace_point_emit_u32(peer_qpn);
	rte_trace_point_emit_u32(reason);
)
/* clang-format on */

#endif
