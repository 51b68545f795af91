/* SPDX-License-Identifier: BSD-3-Clause */
/* What may differ from the recording, and where; the rest is counted as a failure. */

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "replay.h"
#include "unit.h"

#define RECV_LEN 65536u

static const struct {
	const char *name;
	const char *where; /* patterns of capture names, a blank between two */
	const char *reason;
} rule[] = {
#define RULE(name, where, reason) { name, where, reason },
#define SETTING(where, recv_len, ack_timeout)
#include "replay_rules.def"
#undef RULE
#undef SETTING
};

static const struct {
	const char *where;
	uint32_t recv_len;
	uint8_t ack_timeout;
} setting[] = {
#define RULE(name, where, reason)
#define SETTING(where, recv_len, ack_timeout) { where, recv_len, ack_timeout },
#include "replay_rules.def"
#undef RULE
#undef SETTING
};

static uint32_t failures;

uint32_t
rp_rules(void)
{
	return RTE_DIM(rule);
}

const char *
rp_rule_name(uint32_t index)
{
	return rule[index].name;
}

const char *
rp_rule_reason(uint32_t index)
{
	return rule[index].reason;
}

uint32_t
rp_failures(void)
{
	return failures;
}

static bool
applies(const char *where, const char *name)
{
	char patterns[1024], path[128];
	char *rest = patterns;
	char *pattern;

	/* Of a folder alone: its files are in some folder all the same. */
	(void)snprintf(path, sizeof(path), "%s%s", strchr(name, '/') == NULL ? "./" : "", name);
	(void)snprintf(patterns, sizeof(patterns), "%s", where);
	while ((pattern = strsep(&rest, " ")) != NULL) {
		if (fnmatch(pattern, path, 0) == 0)
			return true;
	}
	return false;
}

void
rp_differ(struct rp_world *world, const char *name, uint32_t frame, uint64_t ours,
		uint64_t recorded)
{
	for (uint32_t i = 0; i < RTE_DIM(rule); i++) {
		if (strcmp(rule[i].name, name) == 0 &&
				applies(rule[i].where, world->capture->name)) {
			world->result->count[i]++;
			return;
		}
	}
	failures++;
	print_error("%s %s frame %u at %.6f: %s: ours %#llx, recorded %#llx\n",
			world->capture->name, world->me == RP_SERVER ? "server" : "client", frame,
			(double)world->now / RP_HZ - 5, name, (unsigned long long)ours,
			(unsigned long long)recorded);
}

uint32_t
rp_recv_len(const struct rp_capture *capture)
{
	for (uint32_t i = 0; i < RTE_DIM(setting); i++) {
		if (setting[i].recv_len != 0 && applies(setting[i].where, capture->name))
			return setting[i].recv_len;
	}
	return RECV_LEN;
}

uint8_t
rp_ack_timeout(const struct rp_capture *capture, const struct rp_flow *flow)
{
	for (uint32_t i = 0; i < RTE_DIM(setting); i++) {
		if (setting[i].ack_timeout != 0 && applies(setting[i].where, capture->name))
			return setting[i].ack_timeout;
	}
	return flow->ack_timeout;
}
