/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Answers to other hosts for processes that are not there. A program may end without waiting for the other side, and adapters
 * answer for it then: a connection manager without connections says that none is left.
 */

#include <errno.h>

#include <rte_byteorder.h>

#include "ethdev/pool.h"
#include "uplink.h"
#include "wire/icrc.h"

/* It asks for no path: an answer goes back where its question came from. */
static int
find_no_path(void *arg, const struct roce_context *context, const struct roce_ip *dst,
		const struct roce_ip *src, struct roce_path *path, uint64_t now)
{
	return -ENETUNREACH;
}

static int
tell_none(void *arg, const struct roce_cm_event *event)
{
	return 0;
}

int
uplink_open_cm(struct uplink *uplink, struct roce_errmsg *errmsg)
{
	const struct roce_cm_config config = {
		.hz = roce_port_hz(),
		.seed = 1,
		.pool = uplink->port->tx_pool[0],
		.memory = roce_pool_memory,
		.connections_max = 1,
		.ip_cksum_offload = uplink->port->ip_cksum_offload,
		.resolve = find_no_path,
		.notify = tell_none,
	};
	int rc = roce_cm_create(&config, &uplink->cm);

	if (rc != 0)
		return roce_errmsg_set(errmsg, rc, "no memory for a connection manager");
	roce_cm_gsi(uplink->cm, &uplink->gsi);
	return 0;
}

void
uplink_answer(struct uplink *uplink, struct rte_mbuf *m, uint64_t now)
{
	struct roce_pkt pkt;

	/* roced has seen that it is a message to queue pair 1. */
	if (roce_frame_parse(m, &pkt) == ROCE_FRAME_OK && roce_icrc_ok(&pkt))
		uplink->gsi.rx(uplink->gsi.arg, &pkt, now);
}
