/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include "cli/cli.h"
#include "cli/words.h"
#include "guests.h"
#include "liveness.h"

/* A cookie is the number of a buffer; this bit tells its sending from its receiving. */
#define SENT (1ull << 32)

/* The message is dealt with. */
static int
let_go(struct server *server, struct guest *guest, uint32_t buffer)
{
	cli_liveness_let_go(&guest->life, server->now);
	return refill_put(&server->refill, buffer);
}

/* No answer to this message will be acknowledged any more: its client has gone. */
static int
drop(struct server *server, struct guest *guest, uint32_t buffer)
{
	server->totals.unanswered++;
	return let_go(server, guest, buffer);
}

static void
append(struct server *server, struct guest *guest, uint32_t buffer)
{
	server->messages[buffer].next = GUEST_NO_BUFFER;
	if (guest->waiting++ == 0)
		guest->first_waiting = buffer;
	else
		server->messages[guest->last_waiting].next = buffer;
	guest->last_waiting = buffer;
}

/* @return 0: posted, or dropped; 1: the send queue is full; -1 on error; the error was printed. */
static int
send_back(struct server *server, struct guest *guest, uint32_t buffer)
{
	uint32_t length = server->messages[buffer].length;
	DAT_LMR_TRIPLET segment = buffers_segment(&server->refill.buffers, buffer, length);
	DAT_DTO_COOKIE cookie = { .as_64 = SENT | buffer };
	DAT_RETURN ret;

	ret = dat_ep_post_send(
			guest->ep, length > 0, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG);
	if (ret == DAT_SUCCESS)
		return 0;
	if (DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES)
		return 1;
	/* Its connection is ending, and the event that says so is on its way. */
	if (DAT_GET_TYPE(ret) == DAT_INVALID_STATE)
		return drop(server, guest, buffer);
	cli_say_dat(ret, "dat_ep_post_send to client %u", guest->number);
	return -1;
}

/* Room in the send queue, or no connection any more: go on with those that wait. */
static int
send_waiting(struct server *server, struct guest *guest)
{
	while (guest->waiting > 0) {
		uint32_t buffer = guest->first_waiting;
		uint32_t next = server->messages[buffer].next;
		int rc = send_back(server, guest, buffer);

		if (rc != 0)
			return rc < 0 ? -1 : 0;
		guest->first_waiting = next;
		guest->waiting--;
	}
	return 0;
}

static int
answer(struct server *server, struct guest *guest, uint32_t buffer)
{
	int rc = 1;

	cli_liveness_hold(&guest->life, server->now);
	if (guest->life.held > guest->most_held)
		guest->most_held = guest->life.held;
	if (guest->waiting == 0)
		rc = send_back(server, guest, buffer);
	if (rc <= 0)
		return rc;
	append(server, guest, buffer);
	/*
	 * The credit. A client that keeps to its window sends the next message when it has an answer, so at most a
	 * window of messages can wait here. More would take the others' buffers: one slow or greedy client must
	 * not be able to do that.
	 */
	if (guest->waiting > guest->window)
		guests_throw_out(server, guest, "it sent more than its window");
	return 0;
}

static int
take_receive(struct server *server, struct guest *guest, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	uint32_t buffer = (uint32_t)dto->user_cookie.as_64;

	if (dto->status != DAT_DTO_SUCCESS) {
		if (dto->status != DAT_DTO_ERR_FLUSHED)
			cli_say("receiving from client %u at %s failed with %s", guest->number,
					guest->address, cli_dto_status(dto->status));
		return refill_put(&server->refill, buffer);
	}
	cli_liveness_message(&guest->life, server->now);
	guest->messages++;
	guest->bytes += dto->transfered_length;
	server->totals.messages++;
	server->totals.bytes += dto->transfered_length;
	if (server->options->sink)
		return refill_put(&server->refill, buffer);
	server->messages[buffer].length = (uint32_t)dto->transfered_length;
	return answer(server, guest, buffer);
}

static int
take_send(struct server *server, struct guest *guest, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	uint32_t buffer = (uint32_t)dto->user_cookie.as_64;

	if (dto->status != DAT_DTO_SUCCESS) {
		if (drop(server, guest, buffer) != 0)
			return -1;
	} else {
		guest->answers++;
		cli_liveness_moved(&guest->life, server->now);
		server->totals.answers++;
		if (let_go(server, guest, buffer) != 0)
			return -1;
	}
	return send_waiting(server, guest);
}

int
answer_completion(struct server *server, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	struct guest *guest = guests_of(dto->ep_handle);

	if (guest == NULL)
		return -1;
	if (dto->user_cookie.as_64 == LIVENESS_COOKIE) {
		cli_liveness_answered(&guest->life, server->now, dto->status == DAT_DTO_SUCCESS);
		return 0;
	}
	if ((dto->user_cookie.as_64 & SENT) != 0)
		return take_send(server, guest, dto);
	return take_receive(server, guest, dto);
}
