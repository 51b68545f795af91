/* SPDX-License-Identifier: BSD-3-Clause */
#include "uplink.h"

#include "neighbour/neigh_msg.h"

bool
uplink_may_ask(const uint8_t *frame, uint32_t len, const struct rte_ether_addr *mac,
		const struct roce_subnet *own, unsigned int n)
{
	const struct roce_neigh_tags untagged = { .own_tci = 0 };
	struct roce_neigh_msg msg;

	if (!roce_neigh_msg_read(frame, len, &untagged, &msg) || msg.answer)
		return false;
	if (!rte_is_same_ether_addr(&msg.src_mac, mac) ||
			(msg.has_mac && !rte_is_same_ether_addr(&msg.mac, mac)))
		return false;
	return roce_ip_is_zero(&msg.sender) || roce_subnet_owns(own, n, &msg.sender);
}
