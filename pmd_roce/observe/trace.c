/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's tracing is marked as experimental in every release so far. */
#define ALLOW_EXPERIMENTAL_API
#include "observe/trace.h"

#include <arpa/inet.h>

#include <rte_common.h>
#include <rte_trace.h>

#include "observe/log.h"
#include "observe/trace_points.h"

void
roce_trace_open(const char *port, const char *driver, uint32_t mtu, uint16_t engines)
{
	roce_trace_point_open(port, driver, mtu, engines);
}

void
roce_trace_close(const char *port)
{
	roce_trace_point_close(port);
}

void
roce_trace_port(const char *port, enum roce_trace_port_event what)
{
	static const char *const names[] = {
		[ROCE_TRACE_LINK_UP] = "link_up",
		[ROCE_TRACE_LINK_DOWN] = "link_down",
		[ROCE_TRACE_RESET] = "reset",
		[ROCE_TRACE_RESET_FAILED] = "reset_failed",
		[ROCE_TRACE_GONE] = "gone",
	};
	static_assert(RTE_DIM(names) == ROCE_TRACE_GONE + 1, "everything has a name");

	roce_trace_point_port(port, names[what]);
}

void
roce_trace_async_event(const char *port, enum roce_engine_async kind, const void *owner, int status)
{
	static const char *const names[] = {
		[ROCE_ENGINE_ASYNC_QP_ESTABLISHED] = "qp_established",
		[ROCE_ENGINE_ASYNC_QP_BROKEN] = "qp_broken",
		[ROCE_ENGINE_ASYNC_QP_DRAINED] = "qp_drained",
		[ROCE_ENGINE_ASYNC_CQ_OVERFLOW] = "cq_overflow",
		[ROCE_ENGINE_ASYNC_SRQ_LOW] = "srq_low",
		[ROCE_ENGINE_ASYNC_QP_SOFT_HIGH] = "qp_soft_high",
		[ROCE_ENGINE_ASYNC_QP_COMM_EST] = "qp_comm_est",
		[ROCE_ENGINE_ASYNC_QP_LAST_WQE] = "qp_last_wqe",
		[ROCE_ENGINE_ASYNC_SQ_DRAINED] = "sq_drained",
	};

	/* Others are not rare: an armed completion queue has events all the time. */
	if ((size_t)kind >= RTE_DIM(names) || names[kind] == NULL)
		return;
	roce_trace_point_notice(port, names[kind], owner, status);
	if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN)
		ROCE_LOG_OF(qp, INFO, "%s: %s, status %d", port, names[kind], status);
	else
		ROCE_LOG_OF(qp, DEBUG, "%s: %s", port, names[kind]);
}

static const char *
peer_of(const struct roce_cm_event *event, char *text, size_t len)
{
	const struct roce_ip *ip;
	bool v4;

	if (event->path == NULL)
		return "";
	ip = &event->path->dst_ip;
	v4 = roce_ip_is_v4(ip);
	if (inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? ip->b + 12 : ip->b, text, (socklen_t)len) ==
			NULL)
		return "";
	return text;
}

void
roce_trace_cm(const char *port, const struct roce_cm_event *event)
{
	static const char *const names[] = {
		[ROCE_CM_REQUEST] = "request",
		[ROCE_CM_REPLY] = "reply",
		[ROCE_CM_ESTABLISHED] = "established",
		[ROCE_CM_REJECTED] = "rejected",
		[ROCE_CM_TIMED_OUT] = "timed_out",
		[ROCE_CM_UNREACHABLE] = "unreachable",
		[ROCE_CM_DISCONNECTED] = "disconnected",
		[ROCE_CM_PATH] = "path",
		[ROCE_CM_BROKEN] = "broken",
	};
	static_assert(RTE_DIM(names) == ROCE_CM_BROKEN + 1, "every kind has a name");
	char text[INET6_ADDRSTRLEN];
	const char *peer;

	if (!rte_trace_is_enabled() && !rte_log_can_log((uint32_t)roce_log_cm, RTE_LOG_DEBUG))
		return;
	peer = peer_of(event, text, sizeof(text));
	roce_trace_point_cm(port, names[event->kind], event->owner, peer,
			event->peer != NULL ? event->peer->qpn : 0, event->reason);
	ROCE_LOG_OF(cm, DEBUG, "%s: connection %s%s%s, reason %u", port, names[event->kind],
			*peer != '\0' ? ", peer " : "", peer, event->reason);
}

void
roce_trace_save(void)
{
	int rc = rte_trace_is_enabled() ? rte_trace_save() : 0;

	if (rc != 0)
		ROCE_LOG(WARNING, "what was traced cannot be saved");
}
