/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The end of a process with which this one shares its addresses. Another host that is silent may be slow; a process that has
 * ended is known to say nothing more. Its communication ids have its number.
 */

#include "cm/cm_fsm.h"

/* Is the connection, or the request that it answers, one with this process? */
static bool
is_with(const struct roce_cm_conn *conn, uint16_t process)
{
	uint32_t id = conn->state == ROCE_CM_STATE_REQ_SENT ? conn->patient_id : conn->remote_id;

	return id != 0 && id >> ROCE_CM_PROCESS_SHIFT == process &&
			roce_ip_equal(&conn->path.src_ip, &conn->path.dst_ip);
}

/*
 * A request that it has asked patience for is sent again, for another process may listen by now. Else the connection hears the
 * REJ that the kernel of a host would have sent for it. The end of one that is up is known by its queue pair, unless that does not
 * name it.
 */
static void
end_with(struct roce_cm_conn *conn, uint64_t now)
{
	const struct roce_cm_msg msg = {
		.attr = ROCE_CM_ATTR_REJ,
		.reason = ROCE_CM_REJ_TIMEOUT,
		.local_id = conn->remote_id,
		.remote_id = conn->local_id,
	};
	const struct roce_cm_input gone = { .kind = ROCE_CM_IN_REJ, .msg = &msg, .now = now };

	switch (conn->state) {
	case ROCE_CM_STATE_REQ_SENT:
		roce_cm_step_kind(conn, ROCE_CM_IN_TIMER, now);
		break;
	case ROCE_CM_STATE_REP_RCVD:
	case ROCE_CM_STATE_REQ_RCVD:
	case ROCE_CM_STATE_REP_SENT:
	case ROCE_CM_STATE_DREQ_SENT:
		roce_cm_step(conn, &gone);
		break;
	case ROCE_CM_STATE_ESTABLISHED:
		if (conn->local.by_number)
			roce_cm_step(conn, &gone);
		break;
	default:
		break;
	}
}

void
roce_cm_lose_process(struct roce_cm *cm, uint16_t process, uint64_t now)
{
	uint32_t left = cm->used;

	for (uint32_t i = 0; i < cm->slots && left > 0; i++) {
		struct roce_cm_conn *conn = cm->slot[i].conn;

		if (conn == NULL)
			continue;
		left--;
		if (is_with(conn, process))
			end_with(conn, now);
	}
}
