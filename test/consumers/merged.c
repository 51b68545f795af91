/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the manner of MPI libraries: requests and connections on one dispatcher, a service point at the first free port of
 * a range, the port written into the address that the query returned, RDMA to memory that private data tells of.
 */

#include "consumer.h"

#define PORT_MIN 40000
#define PORT_MAX 40009
#define TAKEN    3 /* ports of the range that somebody else has */
#define LENGTH   5000

/* The memory that the peer may write to, as the private data of the connection request names it. */
struct contact {
	DAT_RMR_CONTEXT key;
	DAT_VADDR where;
};

/* The error class is in the way of who does not mask. */
static int
is_in_use(DAT_RETURN rc)
{
	TRUE_THAT(rc == (DAT_CLASS_ERROR | DAT_CONN_QUAL_IN_USE));
	return DAT_GET_TYPE(rc) == DAT_CONN_QUAL_IN_USE;
}

/* Listen at the first port that is free, and put it where peers look for it. */
static int
listen_somewhere(struct side *side, DAT_PSP_HANDLE *psp)
{
	int port;

	for (port = PORT_MIN; port <= PORT_MAX; port++) {
		DAT_RETURN rc = dat_psp_create(
				side->ia, port, side->connect, DAT_PSP_CONSUMER_FLAG, psp);

		if (rc == DAT_SUCCESS)
			break;
		TRUE_THAT(is_in_use(rc));
	}
	TRUE_THAT(port <= PORT_MAX);
	((struct sockaddr_in *)(void *)side->address)->sin_port = htons((unsigned short)port);
	return port;
}

static void
write_to_peer(struct side *side, DAT_EP_HANDLE ep, const struct contact *contact)
{
	DAT_LMR_TRIPLET here = piece(side, 0, LENGTH);
	DAT_RMR_TRIPLET there;

	memset(&there, 0, sizeof(there));
	there.rmr_context = contact->key;
	there.target_address = contact->where;
	there.segment_length = LENGTH;
	memset(side->buffer, 'w', LENGTH);
	MUST(dat_ep_post_rdma_write(
			ep, 1, &here, cookie_of(5), &there, DAT_COMPLETION_DEFAULT_FLAG));
	next_completion(side->dto, ep, 5, LENGTH);
}

static DAT_EP_HANDLE
new_ep(struct side *side)
{
	DAT_EP_HANDLE ep;

	MUST(dat_ep_create(side->ia, side->pz, side->dto, side->dto, side->connect, NULL, &ep));
	return ep;
}

int
main(void)
{
	DAT_PSP_HANDLE taken[TAKEN], psp;
	struct side client, server;
	DAT_EP_HANDLE from, to;
	struct contact contact;
	DAT_CR_PARAM request;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	int i, port;

	open_side(&client, "loop0", 64);
	open_side(&server, "loop1", 64);
	for (i = 0; i < TAKEN; i++)
		TRUE_THAT(listen_somewhere(&server, &taken[i]) == PORT_MIN + i);
	port = listen_somewhere(&server, &psp);
	TRUE_THAT(port == PORT_MIN + TAKEN);
	from = new_ep(&client);
	to = new_ep(&server);

	contact.key = client.rkey;
	contact.where = (DAT_VADDR)(size_t)client.buffer;
	port = ntohs(((struct sockaddr_in *)(void *)server.address)->sin_port);
	MUST(dat_ep_connect(from, server.address, port, PATIENCE_US, sizeof(contact), &contact,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	event = next_event(server.connect, DAT_CONNECTION_REQUEST_EVENT);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	MUST(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
	TRUE_THAT(request.private_data_size >= (DAT_COUNT)sizeof(contact));
	memcpy(&contact, request.private_data, sizeof(contact));
	MUST(dat_cr_accept(cr, to, 0, NULL));
	next_event(server.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	next_event(client.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	write_to_peer(&server, to, &contact);
	TRUE_THAT(client.buffer[0] == 'w' && client.buffer[LENGTH - 1] == 'w');
	TRUE_THAT(client.buffer[LENGTH] == 0);

	disconnect_both(&server, to, &client);
	MUST(dat_ep_free(from));
	MUST(dat_ep_free(to));
	for (i = 0; i < TAKEN; i++)
		MUST(dat_psp_free(taken[i]));
	MUST(dat_psp_free(psp));
	close_side(&client);
	close_side(&server);
	return 0;
}
