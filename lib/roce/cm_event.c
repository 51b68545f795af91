/* SPDX-License-Identifier: BSD-3-Clause */

/* The events of ids, from the moment they happen until they are polled. */

#include <string.h>

#include "user.h"

static void
set_count(struct roce_user *user, uint32_t count)
{
	__atomic_store_n(&user->cm_pending_count, count, __ATOMIC_RELEASE);
}

static void
remove_pending(struct roce_user *user, struct roce_cm_pending_event *pending)
{
	if (pending->type == 0)
		return;
	TAILQ_REMOVE(&user->cm_pending, pending, link);
	set_count(user, user->cm_pending_count - 1);
	pending->type = 0;
}

void
roce_cm_id_deliver(struct roce_cm_id *id, enum roce_cm_event_type type, int status)
{
	struct roce_user *user = id->user;
	struct roce_cm_pending_event *pending =
			type == ROCE_CM_EVENT_DISCONNECTED ? &id->last : &id->first;

	/* The end of what was not polled takes its place. */
	if (pending->type == 0) {
		TAILQ_INSERT_TAIL(&user->cm_pending, pending, link);
		set_count(user, user->cm_pending_count + 1);
	}
	pending->id = id;
	pending->type = type;
	pending->status = status;
	roce_user_signal(user);
}

void
roce_cm_id_cancel_events(struct roce_cm_id *id)
{
	remove_pending(id->user, &id->first);
	remove_pending(id->user, &id->last);
}

struct roce_cm_id *
roce_cm_id_unseen(const struct roce_cm_id *listen_id)
{
	const struct roce_cm_pending_event *pending;

	TAILQ_FOREACH(pending, &listen_id->user->cm_pending, link)
		if (pending->type == ROCE_CM_EVENT_CONNECT_REQUEST &&
				pending->id->listen_id == listen_id)
			return pending->id;
	return NULL;
}

/* The content of the message that brought the event. */
static void
fill_first(struct roce_user *user, struct roce_cm_id *id, struct roce_cm_event_info *event)
{
	event->private_data_len = id->private_len;
	if (id->private_len > 0) {
		memcpy(user->private_data, id->private_data, id->private_len);
		event->private_data = user->private_data;
	}
	if (event->type == ROCE_CM_EVENT_CONNECT_REQUEST ||
			event->type == ROCE_CM_EVENT_CONNECT_RESPONSE) {
		event->responder_resources = id->peer.responder_resources;
		event->initiator_depth = id->peer.initiator_depth;
	}
	if (event->type != ROCE_CM_EVENT_CONNECT_REQUEST)
		return;
	event->listen_id = id->listen_id;
	event->remote_port = id->remote_port;
	/* As it is by now; and from here on the request is the listener's no more. */
	id->owner = id->listen_id->owner;
	id->listen_id = NULL;
}

static void
fill(struct roce_user *user, const struct roce_cm_pending_event *pending,
		struct roce_cm_event_info *event)
{
	struct roce_cm_id *id = pending->id;

	*event = (struct roce_cm_event_info){
		.type = pending->type,
		.status = pending->status,
		.id = id,
	};
	memcpy(event->remote_ip, id->path.dst_ip.b, sizeof(event->remote_ip));
	memcpy(event->local_ip, id->path.src_ip.b, sizeof(event->local_ip));
	if (pending == &id->first)
		fill_first(user, id, event);
	event->user = id->owner;
}

int
roce_cm_poll(struct roce_context *context, struct roce_cm_event_info *event)
{
	struct roce_user *user = roce_user_of(context);
	struct roce_cm_pending_event *pending = NULL;

	if (__atomic_load_n(&user->cm_pending_count, __ATOMIC_ACQUIRE) != 0) {
		roce_engine_lock(user->engine0);
		pending = TAILQ_FIRST(&user->cm_pending);
		if (pending != NULL) {
			fill(user, pending, event);
			remove_pending(user, pending);
		}
		roce_engine_unlock(user->engine0);
	}
	if (pending != NULL)
		return 1;
	roce_user_calm(user);
	return 0;
}

void
roce_cm_id_set_user(struct roce_cm_id *id, void *user)
{
	roce_engine_lock(id->user->engine0);
	id->owner = user;
	roce_engine_unlock(id->user->engine0);
}

void *
roce_cm_id_user(const struct roce_cm_id *id)
{
	return id->owner;
}
