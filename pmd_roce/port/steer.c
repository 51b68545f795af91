/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/steer.h"

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_flow.h>

#define ROCE_UDP_PORT 4791

uint64_t
roce_steer_rss(const struct rte_eth_dev_info *info, unsigned int queues)
{
	if (queues < 2)
		return 0;
	return info->flow_type_rss_offloads &
			(RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

static bool
create_flow(uint16_t port_id, enum rte_flow_item_type l3, const struct rte_flow_action_rss *rss)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_udp spec = { .hdr.dst_port = RTE_BE16(ROCE_UDP_PORT) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = l3 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &spec, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error;

	if (rte_flow_validate(port_id, &attr, pattern, actions, &error) != 0)
		return false;
	return rte_flow_create(port_id, &attr, pattern, actions, &error) != NULL;
}

unsigned int
roce_steer_flows(uint16_t port_id, unsigned int queues, uint64_t rss)
{
	static const struct {
		enum rte_flow_item_type l3;
		uint64_t type;
	} kinds[] = {
		{ RTE_FLOW_ITEM_TYPE_IPV4, RTE_ETH_RSS_NONFRAG_IPV4_UDP },
		{ RTE_FLOW_ITEM_TYPE_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_UDP },
	};
	uint16_t all[RTE_MAX_QUEUES_PER_PORT];
	unsigned int taken = 0;

	/* One queue gets everything anyway. */
	if (queues < 2)
		return 0;
	for (unsigned int q = 0; q < queues; q++)
		all[q] = (uint16_t)q;
	for (size_t i = 0; i < RTE_DIM(kinds); i++) {
		const struct rte_flow_action_rss action = {
			.types = kinds[i].type,
			.queue_num = queues,
			.queue = all,
		};

		if ((rss & kinds[i].type) != 0 && create_flow(port_id, kinds[i].l3, &action))
			taken++;
	}
	return taken;
}
