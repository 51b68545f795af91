/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of NetPIPE: twenty thousand receives, requests that tell of no success, and a last byte that is looked
 * at until it changes.
 */

#include "consumer.h"

#define QUAL     7000
#define RECEIVES 20000
#define ROUNDS   500
#define LENGTH   3000

static DAT_EP_HANDLE
new_ep(struct side *side)
{
	DAT_EP_HANDLE ep;
	DAT_EP_ATTR attr;

	memset(&attr, 0, sizeof(attr));
	attr.service_type = DAT_SERVICE_TYPE_RC;
	attr.max_message_size = BUFFER_LEN;
	attr.max_rdma_size = BUFFER_LEN;
	attr.qos = DAT_QOS_BEST_EFFORT;
	attr.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
	attr.request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;
	attr.max_recv_dtos = RECEIVES;
	attr.max_request_dtos = 64;
	attr.max_recv_iov = 1;
	attr.max_request_iov = 1;
	MUST(dat_ep_create(side->ia, side->pz, side->dto, side->dto, side->connect, &attr, &ep));
	return ep;
}

/* The byte behind the data says which message it is. */
static void
write_quietly(struct side *side, DAT_EP_HANDLE ep, struct side *peer, int mark)
{
	DAT_LMR_TRIPLET here = piece(side, 0, LENGTH);
	DAT_RMR_TRIPLET there = peer_piece(peer, BUFFER_LEN / 2, LENGTH);
	volatile char *last = peer->buffer + BUFFER_LEN / 2 + LENGTH - 1;
	DAT_EVENT event;

	memset(side->buffer, mark, LENGTH);
	MUST(dat_ep_post_rdma_write(
			ep, 1, &here, cookie_of(1), &there, DAT_COMPLETION_SUPPRESS_FLAG));
	while (*last != (char)mark)
		TRUE_THAT(dat_evd_dequeue(peer->dto, &event) == DAT_QUEUE_EMPTY);
	TRUE_THAT(memcmp(side->buffer, peer->buffer + BUFFER_LEN / 2, LENGTH) == 0);
}

int
main(void)
{
	struct side client, server;
	DAT_LMR_TRIPLET byte;
	DAT_EP_HANDLE from, to;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	int i;

	open_side(&client, "loop0", 128);
	open_side(&server, "loop1", RECEIVES);
	MUST(dat_psp_create(server.ia, QUAL, server.connect, DAT_PSP_CONSUMER_FLAG, &psp));
	from = new_ep(&client);
	to = new_ep(&server);
	byte = piece(&server, 0, 1);
	for (i = 0; i < RECEIVES; i++)
		MUST(dat_ep_post_recv(to, 1, &byte, cookie_of(i), DAT_COMPLETION_DEFAULT_FLAG));
	connect_both(&client, from, &server, to, QUAL);
	for (i = 0; i < ROUNDS; i++) {
		write_quietly(&client, from, &server, 1 + i % 100);
		write_quietly(&server, to, &client, 1 + i % 100);
	}
	byte = piece(&client, 0, 1);
	for (i = 0; i < ROUNDS; i++) {
		MUST(dat_ep_post_send(from, 1, &byte, cookie_of(9), DAT_COMPLETION_SUPPRESS_FLAG));
		next_completion(server.dto, to, i, 1);
	}
	/* Not a word of all that succeeded. */
	TRUE_THAT(dat_evd_dequeue(client.dto, &event) == DAT_QUEUE_EMPTY);
	disconnect_both(&client, from, &server);
	/* The receives that are left come back, in order. */
	for (; i < RECEIVES; i++) {
		event = next_event(server.dto, DAT_DTO_COMPLETION_EVENT);
		TRUE_THAT(event.event_data.dto_completion_event_data.status == DAT_DTO_ERR_FLUSHED);
		TRUE_THAT(event.event_data.dto_completion_event_data.user_cookie.as_64 ==
				(DAT_UINT64)i);
	}
	MUST(dat_ep_free(from));
	MUST(dat_ep_free(to));
	MUST(dat_psp_free(psp));
	close_side(&client);
	close_side(&server);
	return 0;
}
