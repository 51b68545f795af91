/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of the connection manager: may the sender send it, and where does it go?
 *
 * All processes have one address, so a receiver cannot tell by the source of a frame which process has sent it. The
 * broker can. Ids and queue pair numbers in a message must be those of its sender. An answer to a connection request
 * must come from the process that the request went to.
 */

#include <stdlib.h>
#include <string.h>

#include "broker_pvt.h"
#include "local/cm_frame.h"

/* Of one process; a newer request may take the place of an older one. The connection manager sends again. */
#define ASKED 16384u

static bool
is_uplink(const struct broker_client *client)
{
	return client->number == ROCE_PROCESS_UPLINK;
}

/* ---- requests and their answers ---- */

/* @return NULL: no memory, or no request yet. */
static struct asked *
asked_at(struct broker_client *client, uint32_t comm_id, bool make)
{
	if (client->asked == NULL && make)
		client->asked = calloc(ASKED, sizeof(*client->asked));
	return client->asked == NULL ? NULL : &client->asked[comm_id % ASKED];
}

static void
note_request(struct broker_client *from, const struct roce_cm_frame *frame,
		const struct broker_client *to)
{
	struct asked *asked = asked_at(from, frame->local_id, true);

	if (asked != NULL)
		*asked = (struct asked){
			.comm_id = frame->local_id,
			.tid = frame->tid,
			.serial = to->serial,
		};
}

/* The serial of the client that the request of that id went to; 0: there was none. */
static uint64_t
asked_whom(struct broker_client *client, uint32_t comm_id)
{
	const struct asked *asked = asked_at(client, comm_id, false);

	return asked == NULL || asked->comm_id != comm_id ? 0 : asked->serial;
}

/*
 * Until the first answer to a request has come, its sender takes one from any process. So none but the process that was
 * asked may answer. Messages about anything else name both ids of their connection, which the receiver compares.
 */
static bool
may_answer(const struct broker_client *from, struct broker_client *to,
		const struct roce_cm_frame *frame)
{
	uint64_t asked;

	if (is_uplink(from) || from == to)
		return true;
	asked = asked_whom(to, frame->remote_id);
	switch (frame->attr) {
	case ROCE_CM_ATTR_REP:
		return asked == from->serial;
	case ROCE_CM_ATTR_MRA:
	case ROCE_CM_ATTR_REJ:
		return asked == from->serial || (asked == 0 && frame->local_id != 0);
	default:
		return true;
	}
}

/* ---- addresses, ids and numbers ---- */

static bool
addresses_ok(const struct broker_client *from, const struct roce_cm_frame *frame)
{
	const struct roce_proto_identity *identity = &from->broker->identity;

	if (!is_uplink(from))
		return memcmp(frame->src, frame->dst, sizeof(frame->src)) == 0 &&
				broker_identity_has(identity, frame->src);
	return broker_identity_has(identity, frame->dst) && !broker_is_loopback(frame->dst) &&
			!broker_identity_has(identity, frame->src) &&
			!broker_is_loopback(frame->src);
}

/* The message names ids and queue pairs of its sender alone. A host beyond the uplink may say what it likes. */
static bool
numbers_ok(const struct broker_client *from, const struct roce_cm_frame *frame)
{
	return is_uplink(from) || roce_cm_frame_is_of(frame, from->number);
}

/* ---- the way ---- */

static struct broker_client *
by_serial(const struct broker *broker, uint64_t serial)
{
	struct broker_client *client;

	if (serial == 0)
		return NULL;
	TAILQ_FOREACH(client, &broker->all, all) {
		if (client->serial == serial)
			return client;
	}
	return NULL;
}

/* A process to say that no process listens: it does not listen either. */
static struct broker_client *
any_process(const struct broker *broker)
{
	for (uint32_t i = 1; i < ROCE_PROCESSES; i++) {
		if (broker->process[i] != NULL)
			return broker->process[i];
	}
	return NULL;
}

/* A request that is sent again goes where it went before, also when that process has stopped listening since. */
static struct broker_client *
asked_before(struct broker_client *from, const struct roce_cm_frame *frame)
{
	const struct asked *asked = asked_at(from, frame->local_id, false);

	if (asked == NULL || asked->comm_id != frame->local_id || asked->tid != frame->tid)
		return NULL;
	return by_serial(from->broker, asked->serial);
}

/*
 * Has a process that lives not come back to this roced, which was started anew? It may be the one that listens: the
 * request comes again. One that is stopped does not keep others from their rejections for long.
 */
static bool
awaits_listeners(struct broker *broker)
{
	if (broker->patience == 0)
		return false;
	broker->patience--;
	for (uint32_t number = 1; number < ROCE_PROCESSES; number++) {
		if (broker->process[number] == NULL && !set_has(&broker->used, number) &&
				broker->host.is_locked(broker->host.arg, number))
			return true;
	}
	broker->patience = 0;
	return false;
}

/* The sender answers itself: it has a connection manager, and the process that is missing has none any more. */
static struct broker_client *
give_back(struct broker_client *from)
{
	from->broker->counters.frames_returned++;
	return from;
}

/* @return NULL: nowhere. */
static struct broker_client *
way_of_request(struct broker_client *from, const struct roce_cm_frame *frame)
{
	struct broker_client *to = asked_before(from, frame);

	if (to == NULL)
		to = broker_listener(from->broker, frame->service_id);
	if (to != NULL)
		return to;
	if (awaits_listeners(from->broker))
		return NULL;
	if (is_uplink(from))
		to = any_process(from->broker);
	return to != NULL ? to : give_back(from);
}

/*
 * Another host waits for an answer of a process that has ended, which had connections to it. One that lives and has not come
 * back to this roced yet answers the repeat by itself.
 */
static bool
is_for_ended_process(const struct broker_client *from, const struct roce_cm_frame *frame)
{
	const struct broker *broker = from->broker;
	uint32_t number = frame->remote_id >> ROCE_COMM_ID_SHIFT;

	if (!is_uplink(from) ||
			(frame->attr != ROCE_CM_ATTR_REP && frame->attr != ROCE_CM_ATTR_DREQ))
		return false;
	return number == ROCE_PROCESS_UPLINK || number >= ROCE_PROCESSES ||
			set_has(&broker->used, number) ||
			!broker->host.is_locked(broker->host.arg, number);
}

static struct broker_client *
way_of(struct broker_client *from, const struct roce_cm_frame *frame)
{
	uint32_t number = frame->remote_id >> ROCE_COMM_ID_SHIFT;

	if (frame->attr == ROCE_CM_ATTR_REQ)
		return way_of_request(from, frame);
	if (number != ROCE_PROCESS_UPLINK && number < ROCE_PROCESSES &&
			from->broker->process[number] != NULL)
		return from->broker->process[number];
	if (is_for_ended_process(from, frame))
		return give_back(from);
	if (number != ROCE_PROCESS_UPLINK)
		return NULL;
	/* A sender that gives up before the answer to its request does not know the other id. */
	if (frame->attr == ROCE_CM_ATTR_REJ && frame->remote_id == 0)
		return by_serial(from->broker, asked_whom(from, frame->local_id));
	return NULL;
}

static void
forward(struct broker_client *from, struct broker_client *to, const struct roce_msg *msg,
		const struct roce_cm_frame *frame)
{
	if (frame->attr == ROCE_CM_ATTR_REQ && to != from) {
		if (broker_pair(from, to) != 0) {
			from->broker->counters.frames_unroutable++;
			return;
		}
		note_request(from, frame, to);
	}
	broker_say_frame(to, from, msg);
}

void
broker_frame(struct broker_client *from, const struct roce_msg *msg)
{
	struct broker_counters *counters = &from->broker->counters;
	struct broker_client *to;
	struct roce_cm_frame frame;

	if (!roce_cm_frame_parse(msg->frame.data, msg->frame.len, &frame)) {
		counters->frames_malformed++;
		return;
	}
	if (!addresses_ok(from, &frame) || !numbers_ok(from, &frame)) {
		counters->frames_forged++;
		return;
	}
	to = way_of(from, &frame);
	if (to == NULL)
		counters->frames_unroutable++;
	else if (!may_answer(from, to, &frame))
		counters->frames_forged++;
	else
		forward(from, to, msg, &frame);
}
