/* SPDX-License-Identifier: BSD-3-Clause */

/* The manager: its life, and what the engine calls for queue pair 1. */

#include <errno.h>

#include <rte_common.h>

#include "cm/cm_dispatch.h"
#include "cm/cm_fsm.h"
#include "cm/cm_table.h"
#include "cm/cm_wire.h"
#include "wire/psn.h"

#define CONNECTIONS_MAX (1u << 20)

static bool
config_ok(const struct roce_cm_config *config)
{
	return config->hz != 0 && config->pool != NULL && config->memory.alloc != NULL &&
			config->memory.free != NULL && config->resolve != NULL &&
			config->notify != NULL && config->connections_max != 0 &&
			config->connections_max <= CONNECTIONS_MAX;
}

int
roce_cm_create(const struct roce_cm_config *config, struct roce_cm **out)
{
	const struct roce_memory *memory = &config->memory;
	struct roce_cm *cm;
	int rc;

	if (!config_ok(config))
		return -EINVAL;
	cm = memory->alloc(memory->arg, sizeof(*cm));
	if (cm == NULL)
		return -ENOMEM;
	cm->config = *config;
	cm->psn = (uint32_t)roce_cm_random(cm) & ROCE_PSN_MASK;
	TAILQ_INIT(&cm->talking);
	TAILQ_INIT(&cm->lingering);
	rc = roce_cm_table_init(cm);
	if (rc != 0)
		goto free_cm;
	rc = roce_wheel_create(memory, RTE_MAX(config->hz / 1000, 1u), 0, &cm->wheel);
	if (rc != 0)
		goto free_table;
	*out = cm;
	return 0;

free_table:
	roce_cm_table_fini(cm);
free_cm:
	memory->free(memory->arg, cm);
	return rc;
}

void
roce_cm_destroy(struct roce_cm *cm)
{
	struct roce_memory memory;
	uint32_t i;

	if (cm == NULL)
		return;
	memory = cm->config.memory;
	for (i = 0; i < ROCE_CM_LISTEN_BUCKETS; i++) {
		struct roce_cm_listener *listener;

		while ((listener = LIST_FIRST(&cm->listeners[i])) != NULL) {
			LIST_REMOVE(listener, next);
			memory.free(memory.arg, listener);
		}
	}
	roce_cm_table_fini(cm);
	roce_wheel_destroy(cm->wheel);
	memory.free(memory.arg, cm);
}

/*
 * Living connections need the places: those that are over and wait for nothing but time give theirs up, the oldest
 * first, once all is said. Here, where the wheel runs: nobody works on a connection now.
 */
static void
make_room(struct roce_cm *cm, uint64_t now)
{
	struct roce_cm_conn *conn;

	while (roce_cm_is_crowded(cm) && (conn = TAILQ_FIRST(&cm->lingering)) != NULL &&
			conn->owes == 0) {
		cm->stats.timewait_cut++;
		roce_cm_step_kind(conn, ROCE_CM_IN_TIMER, now);
	}
}

/* Run the timers, then fetch what is to be sent. @return how many frames, at most @p max. */
static uint16_t
tx(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	struct roce_cm *cm = arg;
	uint16_t n;

	roce_wheel_advance(cm->wheel, now);
	make_room(cm, now);
	n = roce_cm_wire_talk(cm, pkts, max);
	/* Where places are few connections may have to leave at any time. */
	cm->at = roce_cm_has_to_say(cm) || roce_cm_is_crowded(cm) ? 0
								  : roce_wheel_deadline(cm->wheel);
	return n;
}

/* When tx() has something to do. 0: now; ROCE_NEVER: nothing. */
static uint64_t
deadline(void *arg)
{
	const struct roce_cm *cm = arg;

	if (roce_cm_has_to_say(cm))
		return 0;
	return roce_wheel_deadline(cm->wheel);
}

static void
qp_async_event(void *arg, void *conn, enum roce_engine_async kind, uint64_t now)
{
	RTE_SET_USED(arg);
	if (kind == ROCE_ENGINE_ASYNC_QP_ESTABLISHED)
		roce_cm_step_kind(conn, ROCE_CM_IN_QP_UP, now);
	else if (kind == ROCE_ENGINE_ASYNC_QP_BROKEN)
		roce_cm_step_kind(conn, ROCE_CM_IN_QP_DOWN, now);
	else if (kind == ROCE_ENGINE_ASYNC_QP_DRAINED)
		roce_cm_step_kind(conn, ROCE_CM_IN_END, now);
}

void
roce_cm_gsi(struct roce_cm *cm, struct roce_gsi *gsi)
{
	*gsi = (struct roce_gsi){
		.rx = roce_cm_rx,
		.tx = tx,
		.at = &cm->at,
		.deadline = deadline,
		.qp_async_event = qp_async_event,
		.arg = cm,
	};
}

const struct roce_cm_stats *
roce_cm_stats(const struct roce_cm *cm)
{
	return &cm->stats;
}

unsigned int
roce_cm_count_by_state(const struct roce_cm *cm, uint32_t *counts, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && i < ROCE_CM_STATES; i++)
		counts[i] = cm->in_state[i];
	return ROCE_CM_STATES;
}

uint32_t
roce_cm_leaving(const struct roce_cm *cm)
{
	return __atomic_load_n(&cm->in_state[ROCE_CM_STATE_DREQ_SENT], __ATOMIC_RELAXED);
}

const char *
roce_cm_state_name(unsigned int state)
{
	static const char *const name[ROCE_CM_STATES] = {
		[0] = "none",
		[ROCE_CM_STATE_RESOLVING] = "resolving",
		[ROCE_CM_STATE_REQ_SENT] = "req_sent",
		[ROCE_CM_STATE_REP_RCVD] = "rep_rcvd",
		[ROCE_CM_STATE_REQ_RCVD] = "req_rcvd",
		[ROCE_CM_STATE_REP_SENT] = "rep_sent",
		[ROCE_CM_STATE_ESTABLISHED] = "established",
		[ROCE_CM_STATE_DREQ_SENT] = "dreq_sent",
		[ROCE_CM_STATE_TIMEWAIT] = "timewait",
		[ROCE_CM_STATE_CLOSED] = "closed",
	};

	return state < ROCE_CM_STATES ? name[state] : "none";
}
