/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The manager: its life, and the two tables that find a connection.
 *
 * By our own communication id: a place in a dense table and how often it was
 * used, behind a secret mask. Free places wait in a queue, so that an id comes
 * back as late as possible. By the peer: rte_hash over address and number.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cm/cm_pvt.h"
#include "wire/psn.h"

#define NO_SLOT         UINT32_MAX
#define CONNECTIONS_MAX (1u << 20)
#define US_PER_SECOND   UINT64_C(1000000)

struct peer_key {
	uint8_t ip[16];
	uint32_t number;
	uint32_t kind;
};

static_assert(sizeof(struct peer_key) == 24, "the hash key has no holes");

uint64_t
roce_cm_random(struct roce_cm *cm)
{
	return roce_random_at(cm->config.seed, ROCE_RANDOM_CM, ++cm->random);
}

uint64_t
roce_cm_ticks(const struct roce_cm *cm, uint64_t us)
{
	uint64_t seconds = us / US_PER_SECOND;

	if (seconds >= ROCE_NEVER / cm->config.hz / 2)
		return ROCE_NEVER;
	return seconds * cm->config.hz + us % US_PER_SECOND * cm->config.hz / US_PER_SECOND;
}

/* ---- by our id ---- */

static void
slots_init(struct roce_cm *cm)
{
	uint32_t i;

	for (i = 0; i < cm->slots; i++) {
		cm->slot[i].use = (uint32_t)roce_cm_random(cm);
		cm->slot[i].next = i + 1;
	}
	cm->slot[cm->slots - 1].next = NO_SLOT;
	cm->free_head = 0;
	cm->free_tail = cm->slots - 1;
	cm->id_mask = (uint32_t)roce_cm_random(cm);
}

/* 0 means "no id" in a REJ, so it is never given. */
static uint32_t
next_id(struct roce_cm *cm, uint32_t index)
{
	uint32_t id;

	do {
		cm->slot[index].use++;
		id = (cm->slot[index].use * cm->slots | index) ^ cm->id_mask;
	} while (id == 0);
	return id;
}

struct roce_cm_conn *
roce_cm_conn_new(struct roce_cm *cm)
{
	uint32_t index = cm->free_head;
	struct roce_cm_conn *conn;

	if (cm->used >= cm->config.connections_max || index == NO_SLOT)
		return NULL;
	conn = cm->config.memory.alloc(cm->config.memory.arg, sizeof(*conn));
	if (conn == NULL)
		return NULL;
	cm->free_head = cm->slot[index].next;
	if (cm->free_head == NO_SLOT)
		cm->free_tail = NO_SLOT;
	cm->slot[index].conn = conn;
	cm->used++;
	/* Perhaps somebody has to make room. */
	cm->at = 0;
	conn->cm = cm;
	conn->local_id = next_id(cm, index);
	conn->give_up = ROCE_NEVER;
	return conn;
}

void
roce_cm_conn_free(struct roce_cm_conn *conn)
{
	struct roce_cm *cm = conn->cm;
	uint32_t index = (conn->local_id ^ cm->id_mask) & (cm->slots - 1);

	if (conn->owes != 0)
		TAILQ_REMOVE(&cm->talking, conn, talking);
	roce_timer_cancel(cm->wheel, &conn->timer);
	if (conn->state != 0)
		cm->in_state[conn->state]--;
	cm->slot[index].conn = NULL;
	cm->slot[index].next = NO_SLOT;
	if (cm->free_tail == NO_SLOT)
		cm->free_head = index;
	else
		cm->slot[cm->free_tail].next = index;
	cm->free_tail = index;
	cm->used--;
	cm->config.memory.free(cm->config.memory.arg, conn);
}

struct roce_cm_conn *
roce_cm_find_local(const struct roce_cm *cm, uint32_t local_id)
{
	struct roce_cm_conn *conn = cm->slot[(local_id ^ cm->id_mask) & (cm->slots - 1)].conn;

	return conn != NULL && conn->local_id == local_id ? conn : NULL;
}

/* ---- by the peer ---- */

static struct peer_key
key_of(enum roce_cm_key_kind kind, const struct roce_ip *ip, uint32_t number)
{
	struct peer_key key = { .number = number, .kind = kind };

	memcpy(key.ip, ip->b, sizeof(key.ip));
	return key;
}

static uint32_t
number_of(const struct roce_cm_conn *conn, enum roce_cm_key_kind kind)
{
	return kind == ROCE_CM_KEY_ID ? conn->remote_id : conn->remote_qpn;
}

struct roce_cm_conn *
roce_cm_find_peer(const struct roce_cm *cm, enum roce_cm_key_kind kind, const struct roce_ip *ip,
		uint32_t number)
{
	struct peer_key key = key_of(kind, ip, number);
	void *conn = NULL;

	return rte_hash_lookup_data(cm->index, &key, &conn) >= 0 ? conn : NULL;
}

int
roce_cm_index_add(struct roce_cm_conn *conn, enum roce_cm_key_kind kind)
{
	struct peer_key key = key_of(kind, &conn->path.dst_ip, number_of(conn, kind));

	return rte_hash_add_key_data(conn->cm->index, &key, conn) == 0 ? 0 : -ENOMEM;
}

void
roce_cm_index_del(struct roce_cm_conn *conn, enum roce_cm_key_kind kind)
{
	struct peer_key key = key_of(kind, &conn->path.dst_ip, number_of(conn, kind));
	void *found = NULL;

	if (rte_hash_lookup_data(conn->cm->index, &key, &found) >= 0 && found == conn)
		rte_hash_del_key(conn->cm->index, &key);
}

/* A hash needs a name that no other hash of the process has: the address of its manager. */
static struct rte_hash *
index_create(const struct roce_cm *cm, uint32_t seed)
{
	static const char digits[] = "0123456789abcdef";
	char name[RTE_HASH_NAMESIZE] = "roce_cm_";
	uintptr_t address = (uintptr_t)cm;
	size_t at = strlen(name);
	struct rte_hash_parameters params = {
		.name = name,
		.entries = RTE_MAX(2 * cm->config.connections_max, 16u),
		.key_len = sizeof(struct peer_key),
		.hash_func_init_val = seed,
		.socket_id = -1,
		/* Without it a peer could fill two buckets and shut others out. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	for (; address != 0; address >>= 4)
		name[at++] = digits[address & 0xf];
	name[at] = '\0';
	return rte_hash_create(&params);
}

/* ---- the manager ---- */

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
	int rc = -ENOMEM;

	if (!config_ok(config))
		return -EINVAL;
	cm = memory->alloc(memory->arg, sizeof(*cm));
	if (cm == NULL)
		return -ENOMEM;
	cm->config = *config;
	cm->psn = (uint32_t)roce_cm_random(cm) & ROCE_PSN_MASK;
	cm->slots = rte_align32pow2(config->connections_max);
	TAILQ_INIT(&cm->talking);
	TAILQ_INIT(&cm->lingering);
	cm->slot = memory->alloc(memory->arg, cm->slots * sizeof(cm->slot[0]));
	if (cm->slot == NULL)
		goto free_cm;
	slots_init(cm);
	rc = roce_wheel_create(memory, RTE_MAX(config->hz / 1000, 1u), 0, &cm->wheel);
	if (rc != 0)
		goto free_slots;
	cm->index = index_create(cm, (uint32_t)roce_cm_random(cm));
	if (cm->index == NULL) {
		rc = -ENOMEM;
		goto free_wheel;
	}
	*out = cm;
	return 0;

free_wheel:
	roce_wheel_destroy(cm->wheel);
free_slots:
	memory->free(memory->arg, cm->slot);
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
	for (i = 0; i < cm->slots; i++)
		memory.free(memory.arg, cm->slot[i].conn);
	for (i = 0; i < ROCE_CM_LISTEN_BUCKETS; i++) {
		struct roce_cm_listener *listener;

		while ((listener = LIST_FIRST(&cm->listeners[i])) != NULL) {
			LIST_REMOVE(listener, next);
			memory.free(memory.arg, listener);
		}
	}
	rte_hash_free(cm->index);
	roce_wheel_destroy(cm->wheel);
	memory.free(memory.arg, cm->slot);
	memory.free(memory.arg, cm);
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
		.tx = roce_cm_tx,
		.at = &cm->at,
		.deadline = roce_cm_deadline,
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
