/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/neigh.h"

#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "neighbour/neigh_msg.h"

#define BUCKETS 1024u
#define ANSWERS 32u /* questions that wait for our answer; more are asked again by who asks */
#define NONE    UINT16_MAX

/*
 * Questions about one address: four a second for five seconds, since a peer may be stopped for four. Three in all, as most stacks ask, would leave one
 * address of five unknown where a frame of five is lost at either end.
 */
#define ASK_TRIES      20
#define ASK_PER_SECOND 4
#define UNREACHABLE_S  3
#define FRESH_S        30

enum state {
	FREE = 0,
	ASKED,       /* no address yet */
	FRESH,       /* confirmed less than FRESH_S ago */
	CHECKED,     /* being asked again; the old address still serves */
	UNREACHABLE, /* did not answer */
	PERMANENT,   /* from roce_neigh_add(), never forgotten */
};

struct entry {
	struct roce_ip ip;
	struct rte_ether_addr mac;
	uint8_t state;
	uint8_t tries; /* questions sent since it was ASKED or CHECKED */
	bool wanted;   /* resolved since it was last confirmed */
	uint16_t next; /* in its bucket, or in the list of free ones */
	uint64_t at;   /* when the timer acts */
};

struct roce_neigh {
	struct roce_neigh_config config;
	uint64_t deadline; /* not later than the earliest of all timers */
	bool changed;
	uint16_t free;
	uint16_t used; /* entries from here on were never used */
	uint32_t answers_n;
	uint16_t bucket[BUCKETS];
	struct entry entry[ROCE_NEIGH_MAX];
	struct roce_neigh_msg answer[ANSWERS];
};

static uint64_t
seconds(const struct roce_neigh *n, unsigned int s)
{
	return n->config.hz * s;
}

static uint16_t *
bucket_of(struct roce_neigh *n, const struct roce_ip *ip)
{
	uint64_t x = (ip->q[0] ^ rte_be_to_cpu_64(ip->q[1])) * UINT64_C(0x9e3779b97f4a7c15);

	return &n->bucket[x >> 54];
}

static_assert(BUCKETS == 1u << 10, "bucket_of() takes ten bits");

static struct entry *
find(struct roce_neigh *n, const struct roce_ip *ip)
{
	for (uint16_t i = *bucket_of(n, ip); i != NONE; i = n->entry[i].next) {
		if (roce_ip_equal(&n->entry[i].ip, ip))
			return &n->entry[i];
	}
	return NULL;
}

static void
remove_entry(struct roce_neigh *n, struct entry *e)
{
	uint16_t index = (uint16_t)(e - n->entry);
	uint16_t *link = bucket_of(n, &e->ip);

	while (*link != index)
		link = &n->entry[*link].next;
	*link = e->next;
	e->state = FREE;
	e->next = n->free;
	n->free = index;
}

/* The one that is missed least: unreachable, else confirmed longest ago. NULL: all are permanent or being asked. */
static struct entry *
find_victim(struct roce_neigh *n)
{
	struct entry *victim = NULL;

	for (uint16_t i = 0; i < n->used; i++) {
		struct entry *e = &n->entry[i];

		if (e->state == UNREACHABLE)
			return e;
		if (e->state == FRESH && (victim == NULL || e->at < victim->at))
			victim = e;
	}
	return victim;
}

/* @return NULL: full. */
static struct entry *
insert(struct roce_neigh *n, const struct roce_ip *ip)
{
	uint16_t *head = bucket_of(n, ip);
	uint16_t index;

	if (n->free != NONE) {
		index = n->free;
		n->free = n->entry[index].next;
	} else if (n->used < ROCE_NEIGH_MAX) {
		index = n->used++;
	} else {
		return NULL;
	}
	n->entry[index] = (struct entry){ .ip = *ip, .next = *head };
	*head = index;
	return &n->entry[index];
}

static void
set_timer(struct roce_neigh *n, struct entry *e, uint64_t at)
{
	e->at = at;
	n->deadline = RTE_MIN(n->deadline, at);
}

static const struct roce_subnet *
find_subnet(const struct roce_neigh *n, const struct roce_ip *ip)
{
	return roce_subnet_find(n->config.addr, n->config.addrs, ip);
}

static bool
ip_is_ours(const struct roce_neigh *n, const struct roce_ip *ip)
{
	return roce_subnet_owns(n->config.addr, n->config.addrs, ip);
}

int
roce_neigh_create(const struct roce_neigh_config *config, struct roce_neigh **out)
{
	struct roce_neigh *n = config->memory.alloc(config->memory.arg, sizeof(*n));

	if (n == NULL)
		return -ENOMEM;
	n->config = *config;
	n->deadline = ROCE_NEVER;
	n->free = NONE;
	for (uint32_t i = 0; i < BUCKETS; i++)
		n->bucket[i] = NONE;
	if (!roce_subnet_gw_ok(config->addr, config->addrs, &config->gw)) {
		roce_neigh_destroy(n);
		return -EINVAL;
	}
	*out = n;
	return 0;
}

void
roce_neigh_destroy(struct roce_neigh *n)
{
	if (n != NULL)
		n->config.memory.free(n->config.memory.arg, n);
}

int
roce_neigh_add(struct roce_neigh *n, const struct roce_ip *ip, const struct rte_ether_addr *mac)
{
	struct entry *e = find(n, ip);

	if (e == NULL)
		e = insert(n, ip);
	if (e == NULL)
		return -ENOSPC;
	e->mac = *mac;
	e->state = PERMANENT;
	return 0;
}

/* Begin to ask for an address. @return -EAGAIN; -EHOSTUNREACH: no room. */
static int
ask(struct roce_neigh *n, const struct roce_ip *ip, uint64_t now)
{
	struct entry *e = insert(n, ip);

	if (e == NULL) {
		e = find_victim(n);
		if (e == NULL)
			return -EHOSTUNREACH;
		remove_entry(n, e);
		e = insert(n, ip);
	}
	e->state = ASKED;
	set_timer(n, e, now);
	return -EAGAIN;
}

void
roce_neigh_set_addrs(struct roce_neigh *n, const struct roce_subnet *addr, unsigned int addrs)
{
	memcpy(n->config.addr, addr, addrs * sizeof(addr[0]));
	n->config.addrs = addrs;
	for (uint16_t i = 0; i < n->used; i++) {
		struct entry *e = &n->entry[i];

		/* They could not be asked for again. */
		if (e->state != FREE && e->state != PERMANENT && find_subnet(n, &e->ip) == NULL)
			remove_entry(n, e);
	}
}

int
roce_neigh_resolve(struct roce_neigh *n, const struct roce_subnet *from, unsigned int n_from,
		const struct roce_ip *dst, struct roce_neigh_hop *hop, uint64_t now)
{
	struct roce_route route;
	struct entry *e;
	int rc = roce_subnet_route(from, n_from, &n->config.gw, dst, &route);

	if (rc != 0)
		return rc;
	if (ip_is_ours(n, &route.via)) {
		*hop = (struct roce_neigh_hop){ .src = route.src, .mac = n->config.mac };
		return 0;
	}
	e = find(n, &route.via);
	if (e == NULL)
		return ask(n, &route.via, now);
	if (e->state == ASKED)
		return -EAGAIN;
	if (e->state == UNREACHABLE)
		return -EHOSTUNREACH;
	e->wanted = true;
	*hop = (struct roce_neigh_hop){ .src = route.src, .mac = e->mac };
	return 0;
}

/* The neighbour spoke for itself. */
static void
confirm(struct roce_neigh *n, struct entry *e, const struct rte_ether_addr *mac, uint64_t now)
{
	bool had = e->state == FRESH || e->state == CHECKED;

	if (e->state == PERMANENT)
		return;
	if (!had || !rte_is_same_ether_addr(&e->mac, mac))
		n->changed = true;
	e->mac = *mac;
	e->state = FRESH;
	e->wanted = false;
	set_timer(n, e, now + seconds(n, FRESH_S));
}

static void
hear_answer(struct roce_neigh *n, const struct roce_neigh_msg *msg, uint64_t now)
{
	struct entry *e = find(n, &msg->target);
	bool had;

	if (e == NULL)
		return;
	had = e->state == FRESH || e->state == CHECKED;
	/* RFC 4861 7.2.5: without an address it serves only to confirm one, without override not to change it. */
	if (!msg->has_mac) {
		if (had && msg->solicited)
			confirm(n, e, &e->mac, now);
		return;
	}
	if (had && !msg->override && !rte_is_same_ether_addr(&e->mac, &msg->mac))
		return;
	confirm(n, e, &msg->mac, now);
}

/* Answer to a question about one of our addresses. */
static void
answer(struct roce_neigh *n, const struct roce_neigh_msg *question)
{
	struct roce_neigh_msg *a;
	bool nobody = roce_ip_is_zero(&question->sender);

	if (n->answers_n == ANSWERS)
		return;
	a = &n->answer[n->answers_n++];
	*a = (struct roce_neigh_msg){
		.target = question->target,
		.sender = question->target,
		.l3_dst = question->sender,
		.src_mac = n->config.mac,
		.dst_mac = question->src_mac,
		.mac = n->config.mac,
		.has_mac = true,
		.answer = true,
		.solicited = !nobody,
		.override = true,
	};
	/* RFC 4861 7.2.4: who has no address yet hears it with everybody else. */
	if (nobody && !roce_ip_is_v4(&question->target)) {
		a->l3_dst = (struct roce_ip){ .w = { RTE_BE32(0xff020000), 0, 0, RTE_BE32(1) } };
		a->dst_mac = roce_neigh_multicast_mac(&a->l3_dst);
	}
}

static void
hear_question(struct roce_neigh *n, const struct roce_neigh_msg *msg, uint64_t now)
{
	struct entry *e = find(n, &msg->sender);
	bool known_host = msg->has_mac && roce_ip_is_host(&msg->sender) &&
			find_subnet(n, &msg->sender) != NULL;

	answer(n, msg);
	if (!known_host)
		return;
	if (e == NULL) {
		/* A host that asks for us will be talked to; but it displaces no entry. */
		e = insert(n, &msg->sender);
		if (e == NULL)
			return;
	}
	confirm(n, e, &msg->mac, now);
}

static bool
mac_is_for_us(const struct roce_neigh *n, const struct rte_ether_addr *mac)
{
	return rte_is_multicast_ether_addr(mac) || rte_is_same_ether_addr(mac, &n->config.mac);
}

bool
roce_neigh_rx(struct roce_neigh *n, const struct rte_mbuf *m, uint64_t now)
{
	union {
		uint8_t bytes[ROCE_NEIGH_FRAME_MAX];
		uint64_t aligned;
	} copy;
	size_t len = RTE_MIN(m->pkt_len, sizeof(copy));
	struct roce_neigh_msg msg;
	const uint8_t *frame = rte_pktmbuf_read(m, 0, (uint32_t)len, &copy);
	const struct roce_neigh_tags tags = {
		.own_tci = n->config.vlan_tci,
		.stripped = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0,
		.stripped_tci = m->vlan_tci,
	};

	if (frame == NULL || !roce_neigh_msg_read(frame, len, &tags, &msg))
		return false;
	if (!mac_is_for_us(n, &msg.dst_mac) || !rte_is_unicast_ether_addr(&msg.src_mac))
		return false;
	if (msg.has_mac &&
			(!rte_is_unicast_ether_addr(&msg.mac) || rte_is_zero_ether_addr(&msg.mac)))
		return false;
	/* Our own words, heard again, or somebody with our address: nothing to learn either way. */
	if (ip_is_ours(n, &msg.sender))
		return false;
	if (msg.answer)
		hear_answer(n, &msg, now);
	else if (ip_is_ours(n, &msg.target))
		hear_question(n, &msg, now);
	else
		return false;
	return true;
}

static bool
send_msg(struct roce_neigh *n, const struct roce_neigh_msg *msg, struct rte_mbuf **out)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(n->config.pool);
	size_t len;

	if (m == NULL)
		return false;
	len = roce_neigh_msg_write(rte_pktmbuf_mtod(m, uint8_t *), n->config.vlan_tci, msg);
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	*out = m;
	return true;
}

/* Ask for an address: everybody, or the one who had it last. */
static bool
send_question(struct roce_neigh *n, const struct entry *e, struct rte_mbuf **out)
{
	const struct roce_subnet *subnet = find_subnet(n, &e->ip);
	struct roce_neigh_msg msg = {
		.target = e->ip,
		.sender = subnet->addr,
		.src_mac = n->config.mac,
		.mac = n->config.mac,
		.has_mac = true,
	};

	if (e->state == CHECKED) {
		msg.l3_dst = e->ip;
		msg.dst_mac = e->mac;
	} else if (roce_ip_is_v4(&e->ip)) {
		memset(&msg.dst_mac, 0xff, sizeof(msg.dst_mac));
	} else {
		msg.l3_dst = roce_neigh_solicited_node(&e->ip);
		msg.dst_mac = roce_neigh_multicast_mac(&msg.l3_dst);
	}
	return send_msg(n, &msg, out);
}

/* The timer of an entry. @return true: a question went to @p out. */
static bool
run_timer(struct roce_neigh *n, struct entry *e, struct rte_mbuf **out, uint64_t now)
{
	switch (e->state) {
	case FRESH:
		if (!e->wanted) {
			remove_entry(n, e);
			return false;
		}
		e->state = CHECKED;
		e->tries = 0;
		break;
	case UNREACHABLE:
		remove_entry(n, e);
		return false;
	default:
		break;
	}
	if (e->tries == ASK_TRIES && e->state == ASKED) {
		e->state = UNREACHABLE;
		n->changed = true;
		set_timer(n, e, now + seconds(n, UNREACHABLE_S));
		return false;
	}
	if (e->tries == ASK_TRIES) {
		/* Perhaps it moved: everybody is asked, and nobody is sent to the old place any more. */
		e->state = ASKED;
		e->tries = 0;
	}
	/* No room: a little later, then. But a device that refuses for long is as good as a wire that loses. */
	if (out == NULL && now - e->at < n->config.hz / ASK_PER_SECOND)
		return false;
	e->tries++;
	set_timer(n, e, now + n->config.hz / ASK_PER_SECOND);
	return out != NULL && send_question(n, e, out);
}

uint16_t
roce_neigh_tx(struct roce_neigh *n, struct rte_mbuf **pkts, uint16_t max, uint64_t now)
{
	uint64_t deadline = ROCE_NEVER;
	uint16_t sent = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->answers_n; i++) {
		if (sent < max && send_msg(n, &n->answer[i], &pkts[sent]))
			sent++;
		else
			n->answer[kept++] = n->answer[i];
	}
	n->answers_n = kept;
	if (now < n->deadline)
		return sent;
	for (uint16_t i = 0; i < n->used; i++) {
		struct entry *e = &n->entry[i];

		if (e->state == FREE || e->state == PERMANENT)
			continue;
		if (e->at <= now && run_timer(n, e, sent < max ? &pkts[sent] : NULL, now))
			sent++;
		if (e->state != FREE)
			deadline = RTE_MIN(deadline, e->at);
	}
	n->deadline = deadline;
	return sent;
}

uint64_t
roce_neigh_deadline(const struct roce_neigh *n)
{
	return n->answers_n > 0 || n->changed ? 0 : n->deadline;
}

bool
roce_neigh_changed(struct roce_neigh *n)
{
	bool changed = n->changed;

	n->changed = false;
	return changed;
}
