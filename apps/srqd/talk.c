/* SPDX-License-Identifier: BSD-3-Clause */
#include "talk.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/words.h"
#include "visit.h"

/* A cookie: the client above, the place in its window below, and this bit for a receive. */
#define RECEIVE     (1ull << 31)
#define CLIENT_BITS 32

/* Each client has a window of buffers to send from, and one to receive into. */
static uint64_t
send_buffer(const struct clients *clients, uint32_t index, uint32_t number)
{
	uint64_t window = clients->options->window;

	return 2 * window * index + number % window;
}

static uint64_t
receive_buffer(const struct clients *clients, uint32_t index, uint32_t number)
{
	return send_buffer(clients, index, number) + clients->options->window;
}

static int
failed(DAT_RETURN ret, const char *call, uint32_t index)
{
	cli_say_dat(ret, "%s for client %u", call, index + 1);
	return -1;
}

/* Content that no other message of any client has: each eight bytes follow from the client, the number and their place. */
static void
fill(uint8_t *at, uint32_t size, uint32_t index, uint32_t number)
{
	uint64_t word = ((uint64_t)index << 32 | number) + 1;

	for (uint32_t i = 0; i < size; i += (uint32_t)sizeof(word)) {
		uint32_t n = size - i < sizeof(word) ? size - i : (uint32_t)sizeof(word);

		/* Both steps can be undone, so no two messages share their first eight bytes, if they have so many. */
		word = (word ^ word >> 29) * 0x9e3779b97f4a7c15ull + i;
		memcpy(at + i, &word, n);
	}
}

static int
post_receive(struct clients *clients, uint32_t index, uint32_t number)
{
	const struct buffers *buffers = &clients->buffers;
	DAT_LMR_TRIPLET segment = buffers_segment(
			buffers, receive_buffer(clients, index, number), buffers->size);
	DAT_DTO_COOKIE cookie = {
		.as_64 = (uint64_t)index << CLIENT_BITS | RECEIVE |
				number % clients->options->window,
	};
	DAT_RETURN ret;

	ret = dat_ep_post_recv(clients->list[index].ep, buffers->size > 0, &segment, cookie,
			DAT_COMPLETION_DEFAULT_FLAG);
	return ret == DAT_SUCCESS ? 0 : failed(ret, "dat_ep_post_recv", index);
}

int
talk_prepare(struct clients *clients, uint32_t index)
{
	for (uint32_t i = 0; i < clients->options->window; i++)
		if (post_receive(clients, index, i) != 0)
			return -1;
	return 0;
}

static int
post_send(struct clients *clients, uint32_t index)
{
	struct client *client = &clients->list[index];
	const struct buffers *buffers = &clients->buffers;
	uint64_t buffer = send_buffer(clients, index, client->sent);
	DAT_LMR_TRIPLET segment = buffers_segment(buffers, buffer, buffers->size);
	DAT_DTO_COOKIE cookie = {
		.as_64 = (uint64_t)index << CLIENT_BITS | client->sent % clients->options->window,
	};
	DAT_RETURN ret;

	fill(buffers_at(buffers, buffer), buffers->size, index, client->sent);
	ret = dat_ep_post_send(client->ep, buffers->size > 0, &segment, cookie,
			DAT_COMPLETION_DEFAULT_FLAG);
	if (ret != DAT_SUCCESS)
		return failed(ret, "dat_ep_post_send", index);
	client->sent++;
	clients->sent++;
	return 0;
}

/* Messages whose buffer may be written again, because they have arrived and nobody compares with them any more. */
static uint32_t
finished(const struct clients *clients, const struct client *client)
{
	if (clients->sink || client->arrived < client->answered)
		return client->arrived;
	return client->answered;
}

int
talk_go_on(struct clients *clients, uint32_t index)
{
	struct client *client = &clients->list[index];
	uint32_t done = finished(clients, client);

	if (client->parting)
		return 0;
	while (client->sent < clients->options->messages && client->sent - done < clients->window)
		if (post_send(clients, index) != 0)
			return -1;
	if (done < clients->options->messages)
		return 0;
	if (++clients->finished == clients->options->clients)
		clients->ended = cli_seconds();
	return visit_end(clients, index);
}

/* Answers come in the order of the messages, into buffers in the order they were posted. */
static int
check(const struct clients *clients, uint32_t index, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	const struct client *client = &clients->list[index];
	const struct buffers *buffers = &clients->buffers;
	uint32_t number = client->answered;
	uint32_t place = (uint32_t)(dto->user_cookie.as_64 & (RECEIVE - 1));

	if (number >= client->sent) {
		cli_say("client %u got an answer too many", index + 1);
		return -1;
	}
	if (place != number % clients->options->window) {
		cli_say("answer %u to client %u came into the buffer of another", number + 1,
				index + 1);
		return -1;
	}
	if (dto->transfered_length == buffers->size &&
			memcmp(buffers_at(buffers, receive_buffer(clients, index, number)),
					buffers_at(buffers, send_buffer(clients, index, number)),
					buffers->size) == 0)
		return 0;
	cli_say("answer %u to client %u, of %llu bytes, is not what was sent", number + 1,
			index + 1, (unsigned long long)dto->transfered_length);
	return -1;
}

static int
take_answer(struct clients *clients, uint32_t index, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	struct client *client = &clients->list[index];

	if (check(clients, index, dto) != 0)
		return -1;
	/* The buffer is posted again before the message that may fill it is sent. */
	if (post_receive(clients, index, client->answered) != 0)
		return -1;
	client->answered++;
	clients->answered++;
	return 0;
}

int
talk_completion(struct clients *clients, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	uint32_t index = (uint32_t)(dto->user_cookie.as_64 >> CLIENT_BITS);
	bool receive = (dto->user_cookie.as_64 & RECEIVE) != 0;

	/* The end of the connection, of which an event tells. */
	if (dto->status == DAT_DTO_ERR_FLUSHED)
		return 0;
	if (dto->status != DAT_DTO_SUCCESS) {
		cli_say("%s of client %u failed with %s", receive ? "a receive" : "a message",
				index + 1, cli_dto_status(dto->status));
		return -1;
	}
	if (receive) {
		if (take_answer(clients, index, dto) != 0)
			return -1;
	} else {
		clients->list[index].arrived++;
		clients->arrived++;
	}
	return talk_go_on(clients, index);
}
