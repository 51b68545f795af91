/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/steer.h"

#include <rte_byteorder.h>
#include <rte_common.h>

#include "wire/bth.h"

/* The low 16 bits of the queue pair number in the BTH: an even offset and length, as flexible matchers want them. */
#define BTH_QPN_LOW 6
#define QPN_LOW_LEN 2

/* Ethernet, perhaps a tag, IP, UDP, perhaps one behind that, and the end. */
#define ITEMS 6

static_assert(ROCE_ENGINES_MAX <= 256, "the last byte of a queue pair number names its engine");

uint64_t
roce_steer_rss(const struct rte_eth_dev_info *info, unsigned int queues)
{
	if (queues < 2)
		return 0;
	return info->flow_type_rss_offloads &
			(RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

/* RoCEv2 over @p l3, and what else @p more says; NULL: nothing. @return false: refused, and no rule was made. */
static bool
add_rule(struct roce_steer *steer, enum rte_flow_item_type l3, const struct rte_flow_item *more,
		const struct rte_flow_action *action)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_udp spec = { .hdr.dst_port = RTE_BE16(ROCE_UDP_PORT) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_action actions[] = {
		*action,
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_item pattern[ITEMS];
	struct rte_flow_error error;
	struct rte_flow *rule;
	unsigned int n = 0;

	pattern[n++] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_ETH };
	if (steer->tagged)
		pattern[n++] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_VLAN };
	pattern[n++] = (struct rte_flow_item){ .type = l3 };
	pattern[n++] = (struct rte_flow_item){
		.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &spec, .mask = &mask
	};
	if (more != NULL)
		pattern[n++] = *more;
	pattern[n] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_END };
	if (rte_flow_validate(steer->port_id, &attr, pattern, actions, &error) != 0)
		return false;
	rule = rte_flow_create(steer->port_id, &attr, pattern, actions, &error);
	if (rule == NULL)
		return false;
	steer->rule[steer->rules++] = rule;
	return true;
}

/* The newest rules go, down to the first @p keep. */
static void
drop_rules(struct roce_steer *steer, unsigned int keep)
{
	struct rte_flow_error error;

	while (steer->rules > keep)
		(void)rte_flow_destroy(steer->port_id, steer->rule[--steer->rules], &error);
}

/* Frames for the queue pairs of one engine: RTE_FLOW_ITEM_TYPE_RAW, which every release of DPDK has. */
static bool
add_engine(struct roce_steer *steer, enum rte_flow_item_type l3, unsigned int engine,
		unsigned int engines)
{
	const uint8_t want[QPN_LOW_LEN] = { 0, (uint8_t)engine };
	const uint8_t look[QPN_LOW_LEN] = { 0, (uint8_t)roce_engine_mask(engines) };
	const struct rte_flow_item_raw spec = {
		.relative = 1,
		.offset = BTH_QPN_LOW,
		.length = QPN_LOW_LEN,
		.pattern = want,
	};
	const struct rte_flow_item_raw mask = {
		.relative = 1,
		.search = 1,
		.offset = -1,
		.limit = UINT16_MAX,
		.length = UINT16_MAX,
		.pattern = look,
	};
	const struct rte_flow_item item = {
		.type = RTE_FLOW_ITEM_TYPE_RAW, .spec = &spec, .mask = &mask
	};
	const struct rte_flow_action_queue queue = { .index = (uint16_t)engine };
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_QUEUE,
		.conf = &queue };

	return add_rule(steer, l3, &item, &action);
}

/* A rule for each engine, or none: half of them would not spare the others anything. */
static bool
steer_by_qp(struct roce_steer *steer, enum rte_flow_item_type l3, unsigned int engines)
{
	unsigned int before = steer->rules;

	for (unsigned int e = 0; e < engines; e++) {
		if (!add_engine(steer, l3, e, engines)) {
			drop_rules(steer, before);
			return false;
		}
	}
	return true;
}

static bool
steer_by_hash(struct roce_steer *steer, enum rte_flow_item_type l3, unsigned int queues,
		uint64_t type)
{
	uint16_t all[ROCE_ENGINES_MAX];
	const struct rte_flow_action_rss rss = {
		.types = type,
		.queue_num = queues,
		.queue = all,
	};
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss };

	for (unsigned int q = 0; q < queues; q++)
		all[q] = (uint16_t)q;
	return add_rule(steer, l3, NULL, &action);
}

static enum roce_steer_by
steer_family(struct roce_steer *steer, enum rte_flow_item_type l3, unsigned int queues,
		uint64_t type)
{
	if (steer_by_qp(steer, l3, queues))
		return ROCE_STEER_BY_QP;
	if (type == 0)
		return ROCE_STEER_BY_NOTHING;
	/* Refused, the hash that the port was configured with does the same, for all of its traffic. */
	(void)steer_by_hash(steer, l3, queues, type);
	return ROCE_STEER_BY_HASH;
}

void
roce_steer_begin(struct roce_steer *steer, uint16_t port_id, unsigned int queues, bool tagged,
		uint64_t rss)
{
	*steer = (struct roce_steer){ .port_id = port_id, .tagged = tagged };
	/* One queue gets everything anyway. */
	if (queues < 2)
		return;
	steer->v4 = steer_family(
			steer, RTE_FLOW_ITEM_TYPE_IPV4, queues, rss & RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	steer->v6 = steer_family(
			steer, RTE_FLOW_ITEM_TYPE_IPV6, queues, rss & RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

void
roce_steer_end(struct roce_steer *steer)
{
	drop_rules(steer, 0);
}

const char *
roce_steer_name(enum roce_steer_by by)
{
	static const char *const name[] = {
		[ROCE_STEER_BY_NOTHING] = "nothing",
		[ROCE_STEER_BY_HASH] = "hash",
		[ROCE_STEER_BY_QP] = "queue pair",
	};

	return name[by];
}
