/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows. Each end has two. Its own one is bound now and then, to nobody's use: a look at it tells whether
 * binds are executed once, and before what was posted behind them. The other one is granted: when its bind is done the
 * peer uses the key for RDMA, and gives it back with a SEND that invalidates it; then it is bound anew.
 */

#include "talk_pvt.h"

void
window_open(struct end *end)
{
	struct roce_pd *pd = talk.side[end->side].pd;

	if (!talk.world->binds)
		return;
	talk_must(roce_mw_create(pd, end, &end->own.mw), "window");
	talk_must(roce_mw_create(pd, end, &end->granted.mw), "window to grant");
}

void
window_close(struct end *end)
{
	if (!talk.world->binds)
		return;
	roce_mw_destroy(end->own.mw);
	roce_mw_destroy(end->granted.mw);
}

static void
post_bind(struct end *end, struct window *window, struct roce_mw_bind *bind, enum item_kind kind)
{
	bool signaled = kind == ITEM_GRANT || talk_dice(2) != 0;
	struct roce_wr wr = {
		.wr_id = talk_wr_id(kind, window->binds),
		.bind = bind,
		.opcode = IBV_WR_BIND_MW,
		.flags = (uint8_t)((signaled ? ROCE_WR_SIGNALED : 0) |
				(talk_dice(4) == 0 ? ROCE_WR_FENCE : 0)),
	};

	bind->mw = window->mw;
	talk_must(roce_qp_post_send(end->qp, &wr), "post a bind");
	say_item(end, kind, window->binds, signaled);
	window->key[window->binds++] = bind->key;
	world_totals.binds++;
}

static void
bind_own(struct end *end)
{
	const struct side *side = &talk.side[end->side];
	struct roce_mw_bind bind = {
		.mr_key = roce_mr_key(side->mr),
		.access = IBV_ACCESS_REMOTE_READ,
		.addr = (uintptr_t)side->arena + end->own.binds,
		.length = 64,
	};

	post_bind(end, &end->own, &bind, ITEM_BIND);
}

static void
grant(struct end *end)
{
	static const uint32_t accesses[] = { IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_REMOTE_ATOMIC };
	uint32_t access = accesses[talk_dice(RTE_DIM(accesses))];
	struct deed_site site = talk_site(end->peer, 0);
	struct deed_part part = deed_part(&site, access, talk.world->send_depth);
	struct roce_mw_bind bind = {
		.mr_key = roce_mr_key(part.mr),
		.access = part.access,
		.addr = part.addr,
		.length = part.len,
	};

	post_bind(end, &end->granted, &bind, ITEM_GRANT);
	end->granted_access = access;
	end->grant_state = GRANT_BINDING;
}

/* Room for a bind, so that messages never find the queue full: each has its share of it. */
static bool
has_room(const struct end *end)
{
	return end->own.binds + end->granted.binds - end->binds_ended + talk.world->send_depth <
			talk.send_max;
}

void
window_post(struct end *end)
{
	if (!talk.world->binds)
		return;
	if (end->grant_state == GRANT_KEPT && end->granted.binds < TALK_BINDS && has_room(end) &&
			(talk.world->full || talk_dice(2) == 0))
		grant(end);
	while (end->own.binds < TALK_BINDS && has_room(end) && talk_dice(4) == 0)
		bind_own(end);
}

/* Which of the binds of the own window is in force; never goes back. */
static uint32_t
look(struct end *end)
{
	struct window *own = &end->own;
	struct roce_mw_binding binding;
	uint32_t number = own->binds;

	if (!roce_mw_query(own->mw, &binding))
		return 0;
	while (number > 0 && own->key[number - 1] != binding.key)
		number--;
	if (number == 0)
		talk_violate("a window is bound by a key that was never posted");
	else if (number < own->bound)
		talk_violate("a bind was executed twice");
	else if (binding.addr != (uintptr_t)talk.side[end->side].arena + number - 1)
		talk_violate("a window is not bound to what the bind said");
	own->bound = number;
	return number;
}

static bool
is_in_force(const struct window *window, uint32_t number)
{
	struct roce_mw_binding binding;

	return roce_mw_query(window->mw, &binding) && binding.key == window->key[number];
}

void
window_bound(struct end *end, const struct item *item, enum ibv_wc_status status)
{
	const struct window *window = item->kind == ITEM_BIND ? &end->own : &end->granted;

	if (status != IBV_WC_SUCCESS) {
		if (status != IBV_WC_WR_FLUSH_ERR || talk.world->end == WORLD_WHOLE)
			talk_violate("a bind failed");
		if (is_in_force(window, item->id))
			talk_violate("a bind that was flushed is in force");
		return;
	}
	if (item->kind == ITEM_GRANT) {
		end->grant_state = GRANT_GIVEN;
		if (!is_in_force(window, item->id))
			talk_violate("a bind completed and is not in force");
	} else if (!end->broken && look(end) < item->id + 1) {
		talk_violate("a bind completed and was not executed");
	}
}

void
window_order(struct end *end, uint32_t binds)
{
	if (talk.world->binds && !end->peer->broken && look(end->peer) < binds)
		talk_violate("a message overtook a bind");
}

uint32_t
window_key(const struct end *end, uint32_t access)
{
	const struct end *peer = end->peer;

	if (peer->grant_state != GRANT_GIVEN || access == 0 || peer->granted_access != access)
		return 0;
	return peer->granted.key[peer->granted.binds - 1];
}

uint32_t
window_give_back(struct end *end)
{
	struct end *peer = end->peer;

	if (peer->grant_state != GRANT_GIVEN || peer->broken)
		return 0;
	peer->grant_state = GRANT_ENDING;
	return peer->granted.key[peer->granted.binds - 1];
}

void
window_ended(struct end *end, uint32_t key)
{
	struct roce_mw_binding binding;

	if (end->grant_state != GRANT_ENDING || key != end->granted.key[end->granted.binds - 1])
		talk_violate("a message invalidated a key that it did not name");
	else if (roce_mw_query(end->granted.mw, &binding))
		talk_violate("a window is bound whose key was invalidated");
	end->grant_state = GRANT_KEPT;
	world_totals.invalidated++;
}
