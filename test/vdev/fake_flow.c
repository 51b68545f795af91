/* SPDX-License-Identifier: BSD-3-Clause */

#include "fake_flow.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#define RULES     16u
#define BYTES     16u
#define ROCE_PORT 4791

#define UDP_HASHES (RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP)

/* A rule in place. */
struct rte_flow {
	bool used;
	bool v6;
	uint16_t bytes; /* 0: it spreads */
	int32_t at;
	uint8_t want[BYTES], look[BYTES];
	uint16_t queue;
	unsigned int queues;
};

struct fake_device fake;

static struct rte_flow rules[RULES];

/* Bytes at a fixed place behind the UDP header, a whole number of 16-bit words. */
static bool
read_raw(const struct rte_flow_item *item, struct rte_flow *rule)
{
	const struct rte_flow_item_raw *spec = item->spec, *mask = item->mask;

	if (!spec->relative || spec->search || spec->limit != 0 || spec->offset < 0 ||
			spec->offset % 2 != 0 || spec->length % 2 != 0 || spec->length > BYTES ||
			mask->pattern == NULL || mask->length < spec->length)
		return false;
	rule->bytes = spec->length;
	rule->at = spec->offset;
	memcpy(rule->want, spec->pattern, spec->length);
	memcpy(rule->look, mask->pattern, spec->length);
	return true;
}

static bool
read_pattern(const struct rte_flow_item *item, struct rte_flow *rule)
{
	const struct rte_flow_item_udp *spec, *mask;

	if (item->type != RTE_FLOW_ITEM_TYPE_ETH || item->spec != NULL)
		return false;
	item++;
	if ((item->type == RTE_FLOW_ITEM_TYPE_VLAN) != fake.wants_tag || item->spec != NULL)
		return false;
	item += fake.wants_tag;
	if (item->type != RTE_FLOW_ITEM_TYPE_IPV4 && item->type != RTE_FLOW_ITEM_TYPE_IPV6)
		return false;
	rule->v6 = item->type == RTE_FLOW_ITEM_TYPE_IPV6;
	item++;
	if (item->type != RTE_FLOW_ITEM_TYPE_UDP)
		return false;
	spec = item->spec;
	mask = item->mask;
	if (spec->hdr.dst_port != RTE_BE16(ROCE_PORT) || mask->hdr.dst_port != RTE_BE16(0xffff) ||
			mask->hdr.src_port != 0)
		return false;
	item++;
	if (item->type == RTE_FLOW_ITEM_TYPE_RAW && !read_raw(item++, rule))
		return false;
	return item->type == RTE_FLOW_ITEM_TYPE_END;
}

static bool
read_action(const struct rte_flow_action *action, struct rte_flow *rule)
{
	if (rule->bytes != 0) {
		const struct rte_flow_action_queue *queue = action->conf;

		if (action->type != RTE_FLOW_ACTION_TYPE_QUEUE)
			return false;
		rule->queue = queue->index;
	} else {
		const struct rte_flow_action_rss *rss = action->conf;

		if (action->type != RTE_FLOW_ACTION_TYPE_RSS || (rss->types & ~UDP_HASHES) != 0)
			return false;
		rule->queues = rss->queue_num;
		for (unsigned int q = 0; q < rss->queue_num; q++) {
			if (rss->queue[q] != q)
				return false;
		}
	}
	return action[1].type == RTE_FLOW_ACTION_TYPE_END;
}

static bool
takes(const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
		struct rte_flow *rule)
{
	*rule = (struct rte_flow){ .used = true };
	if (!read_pattern(pattern, rule) || !read_action(actions, rule))
		return false;
	if (rule->v6 && fake.refuses_v6)
		return false;
	return rule->bytes != 0 ? fake.takes_raw : fake.takes_hash;
}

int
rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
		const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		struct rte_flow_error *error)
{
	struct rte_flow rule;

	RTE_SET_USED(port_id);
	RTE_SET_USED(error);
	fake.asked++;
	return attr->ingress && attr->group == 0 && takes(pattern, actions, &rule) ? 0 : -ENOTSUP;
}

struct rte_flow *
rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
		const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		struct rte_flow_error *error)
{
	struct rte_flow *place = NULL, rule;

	RTE_SET_USED(port_id);
	RTE_SET_USED(attr);
	RTE_SET_USED(error);
	fake.asked++;
	for (unsigned int i = 0; i < RULES && place == NULL; i++)
		place = rules[i].used ? NULL : &rules[i];
	if (place == NULL || !takes(pattern, actions, &rule))
		return NULL;
	if (rule.bytes != 0 && fake.raw_room != 0 && fake.raw == fake.raw_room)
		return NULL;
	*place = rule;
	fake.raw += rule.bytes != 0;
	fake.hash += rule.bytes == 0;
	return place;
}

int
rte_flow_destroy(uint16_t port_id, struct rte_flow *flow, struct rte_flow_error *error)
{
	RTE_SET_USED(port_id);
	RTE_SET_USED(error);
	fake.asked++;
	/* Once, and one of ours. */
	if (flow < rules || flow >= rules + RULES || !flow->used)
		abort();
	flow->used = false;
	fake.raw -= flow->bytes != 0;
	fake.hash -= flow->bytes == 0;
	return 0;
}

int
rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int (*next)(uint16_t, struct rte_eth_dev_info *) = NULL;
	int rc;

	*(void **)&next = dlsym(RTLD_NEXT, "rte_eth_dev_info_get");
	rc = next(port_id, info);
	if (rc == 0 && fake.offers_rss)
		info->flow_type_rss_offloads = UDP_HASHES;
	return rc;
}

int
rte_eth_dev_configure(uint16_t port_id, uint16_t nb_rx_queue, uint16_t nb_tx_queue,
		const struct rte_eth_conf *eth_conf)
{
	int (*next)(uint16_t, uint16_t, uint16_t, const struct rte_eth_conf *) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "rte_eth_dev_configure");
	fake.configured_rss = eth_conf->rx_adv_conf.rss_conf.rss_hf != 0;
	if (fake.configured_rss != (eth_conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS) ||
			(fake.configured_rss && fake.refuses_rss))
		return -EINVAL;
	return next(port_id, nb_rx_queue, nb_tx_queue, eth_conf);
}

int
rte_eth_dev_stop(uint16_t port_id)
{
	int (*next)(uint16_t) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "rte_eth_dev_stop");
	fake.stopped_with_rules = fake.stopped_with_rules || fake.raw + fake.hash > 0;
	return next(port_id);
}

int
fake_queue(bool v6, uint32_t dest_qp)
{
	/* The BTH as far as the number. */
	const uint8_t bth[BYTES] = { [5] = (uint8_t)(dest_qp >> 16),
		[6] = (uint8_t)(dest_qp >> 8),
		[7] = (uint8_t)dest_qp };

	for (unsigned int i = 0; i < RULES; i++) {
		const struct rte_flow *rule = &rules[i];
		bool hit = rule->used && rule->v6 == v6;

		for (unsigned int b = 0; hit && b < rule->bytes; b++)
			hit = ((bth[(unsigned int)rule->at + b] ^ rule->want[b]) & rule->look[b]) ==
					0;
		if (hit)
			return rule->bytes != 0 ? rule->queue : FAKE_HASHED;
	}
	return FAKE_NO_RULE;
}

unsigned int
fake_spread(bool v6)
{
	for (unsigned int i = 0; i < RULES; i++) {
		if (rules[i].used && rules[i].v6 == v6 && rules[i].bytes == 0)
			return rules[i].queues;
	}
	return 0;
}
