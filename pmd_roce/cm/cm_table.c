/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The two tables that find a connection.
 *
 * By our own communication id: a place in a dense table and how often it was
 * used, behind a secret mask. Free places wait in a queue, so that an id comes
 * back as late as possible. By the peer: rte_hash over address and number.
 */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "cm/cm_table.h"

#define NO_SLOT UINT32_MAX

/* The bits of an id that are not the process's. */
#define PROCESS_MASK ((UINT32_C(1) << ROCE_CM_PROCESS_SHIFT) - 1)

struct peer_key {
	uint8_t ip[16];
	uint32_t number;
	uint32_t kind;
};

static_assert(sizeof(struct peer_key) == 24, "the hash key has no holes");

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
		if (cm->config.process != 0)
			id = (id & PROCESS_MASK) |
					(uint32_t)cm->config.process << ROCE_CM_PROCESS_SHIFT;
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

int
roce_cm_table_init(struct roce_cm *cm)
{
	const struct roce_memory *memory = &cm->config.memory;

	cm->slots = rte_align32pow2(cm->config.connections_max);
	cm->slot = memory->alloc(memory->arg, cm->slots * sizeof(cm->slot[0]));
	if (cm->slot == NULL)
		return -ENOMEM;
	slots_init(cm);
	cm->index = index_create(cm, (uint32_t)roce_cm_random(cm));
	if (cm->index == NULL) {
		memory->free(memory->arg, cm->slot);
		return -ENOMEM;
	}
	return 0;
}

void
roce_cm_table_fini(struct roce_cm *cm)
{
	const struct roce_memory *memory = &cm->config.memory;

	for (uint32_t i = 0; i < cm->slots; i++)
		memory->free(memory->arg, cm->slot[i].conn);
	rte_hash_free(cm->index);
	memory->free(memory->arg, cm->slot);
}
