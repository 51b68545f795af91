/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's tracing is marked as experimental in every release so far. */
#define ALLOW_EXPERIMENTAL_API
#include <rte_trace_point_register.h>

#include "observe/trace_points.h"

RTE_TRACE_POINT_REGISTER(roce_trace_point_open, roce.device.open)
RTE_TRACE_POINT_REGISTER(roce_trace_point_close, roce.device.close)
RTE_TRACE_POINT_REGISTER(roce_trace_point_port, roce.port)
RTE_TRACE_POINT_REGISTER(roce_trace_point_notice, roce.notice)
RTE_TRACE_POINT_REGISTER(roce_trace_point_cm, roce.cm)
