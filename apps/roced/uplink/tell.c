/* SPDX-License-Identifier: BSD-3-Clause */

/* The counters of the uplink, for the status of roced. */

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "uplink.h"

/** A status is at most so old; an idle uplink wakes as often for its port. */
#define TELL_MS 1000u

/* A driver without statistics leaves zeros. */
static void
read_port(const struct uplink *uplink, struct roce_msg_uplink *port)
{
	struct rte_eth_stats stats = { 0 };

	(void)rte_eth_stats_get(uplink->port->id, &stats);
	*port = (struct roce_msg_uplink){
		.rx_frames = uplink->counters.from_wire,
		.tx_frames = uplink->counters.to_wire,
		.rx_missed = stats.imissed + stats.rx_nombuf,
		.rx_errors = stats.ierrors,
		.tx_forged = uplink->counters.false_words,
		.tx_refused = uplink->counters.refused,
	};
}

void
uplink_tell(struct uplink *uplink)
{
	struct roce_msg_uplink port;

	uplink->tell_at = uplink->polled_at + rte_get_tsc_hz() / 1000 * TELL_MS;
	read_port(uplink, &port);
	(void)roce_uplink_tell(uplink->local, &port);
}
