/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An echo server on one shared receive queue, to be copied. The endpoints of all clients take their buffers from it. A
 * message goes back from the buffer that it came in, which is posted again when the answer has left. One thread does
 * everything, so nothing here needs a lock. srq_echo_client.c is the other end.
 *
 *     cc -o srq_echo_server srq_echo_server.c $(pkg-config --cflags --libs dat)
 *     ./srq_echo_server ADAPTER PORT
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <dat/udat.h>

#define CLIENTS 64
#define BUFFERS 256     /* each is on the queue, or holds a message, or is on its way back */
#define SIZE    4096    /* a longer message ends its client's connection */
#define ANSWER  BUFFERS /* added to the cookie of a buffer that is on its way back */
#define LOOK_US 200000  /* from one look at `stopped` to the next */

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests, events;
static DAT_CNO_HANDLE cno;
static DAT_PZ_HANDLE pz;
static DAT_LMR_HANDLE lmr;
static DAT_LMR_CONTEXT key;
static DAT_SRQ_HANDLE srq;
static DAT_PSP_HANDLE psp;
static DAT_EP_HANDLE clients[CLIENTS]; /* null where there is none */
static char buffers[BUFFERS][SIZE];
static unsigned long served, answered, lost;
static volatile sig_atomic_t stopped;

static void
stop(int number)
{
	stopped = number;
}

/* For what it cannot go on without. */
static void
check(DAT_RETURN rc, const char *what)
{
	const char *type = "?", *subtype = "?";

	if (rc == DAT_SUCCESS)
		return;
	dat_strerror(rc, &type, &subtype);
	fprintf(stderr, "srq_echo_server: %s: %s, %s\n", what, type, subtype);
	exit(EXIT_FAILURE);
}

static DAT_LMR_TRIPLET
segment(DAT_UINT64 i, DAT_VLEN length)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = key,
		.virtual_address = (DAT_VADDR)(uintptr_t)buffers[i],
		.segment_length = length };
}

/* There is room: the queue holds as many as there are. */
static void
post_receive(DAT_UINT64 i)
{
	DAT_LMR_TRIPLET whole = segment(i, SIZE);

	check(dat_srq_post_recv(srq, 1, &whole, (DAT_DTO_COOKIE){ .as_64 = i }), "receive");
}

/* A buffer has one event at a time, and a client two before it is gone: no dispatcher can overflow. */
static void
start(char *adapter, DAT_CONN_QUAL port)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = BUFFERS, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region = { .for_va = buffers };
	DAT_RMR_CONTEXT unused;
	DAT_VADDR address;
	DAT_VLEN length;

	check(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
	check(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), "dat_cno_create");
	check(dat_evd_create(ia, CLIENTS, cno, DAT_EVD_CR_FLAG, &requests), "dispatcher");
	check(dat_evd_create(ia, BUFFERS + 2 * CLIENTS, cno,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &events),
			"dispatcher");
	check(dat_pz_create(ia, &pz), "dat_pz_create");
	check(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffers), pz,
			      DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lmr,
			      &key, &unused, &length, &address),
			"dat_lmr_create");
	check(dat_srq_create(ia, pz, &attr, &srq), "dat_srq_create");
	for (DAT_UINT64 i = 0; i < BUFFERS; i++)
		post_receive(i);
	check(dat_psp_create(ia, port, requests, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
}

/* One that there is no room for is refused, as is one that asks for what an endpoint here cannot do. */
static void
accept_client(DAT_CR_HANDLE request)
{
	DAT_EP_ATTR attr = { .max_message_size = SIZE, .max_request_dtos = BUFFERS };
	DAT_COUNT i = 0;

	while (i < CLIENTS && clients[i] != DAT_HANDLE_NULL)
		i++;
	if (i == CLIENTS) {
		check(dat_cr_reject(request), "dat_cr_reject");
		return;
	}
	check(dat_ep_create_with_srq(ia, pz, events, events, events, srq, &attr, &clients[i]),
			"dat_ep_create_with_srq");
	if (dat_cr_accept(request, clients[i], 0, NULL) == DAT_SUCCESS) {
		served++;
		return;
	}
	check(dat_cr_reject(request), "dat_cr_reject");
	check(dat_ep_free(clients[i]), "dat_ep_free");
	clients[i] = DAT_HANDLE_NULL;
}

/* This event follows all completions of the endpoint, since one dispatcher takes both. */
static void
end_client(DAT_EP_HANDLE ep)
{
	for (DAT_COUNT i = 0; i < CLIENTS; i++)
		if (clients[i] == ep)
			clients[i] = DAT_HANDLE_NULL;
	check(dat_ep_free(ep), "dat_ep_free");
}

/* A message goes back; any other buffer is free: its answer has left, or its connection is over. */
static void
complete(const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	DAT_UINT64 i = data->user_cookie.as_64;
	DAT_DTO_COOKIE cookie = { .as_64 = i + ANSWER };
	DAT_LMR_TRIPLET message;

	if (i < ANSWER && data->status == DAT_DTO_SUCCESS) {
		message = segment(i, data->transfered_length);
		if (dat_ep_post_send(data->ep_handle, 1, &message, cookie,
				    DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS)
			return;
	}
	if (data->status == DAT_DTO_SUCCESS && i >= ANSWER)
		answered++;
	else
		lost++;
	post_receive(i % ANSWER);
}

static void
take_events(void)
{
	DAT_EVENT event;

	while (DAT_GET_TYPE(dat_evd_dequeue(events, &event)) == DAT_SUCCESS)
		if (event.event_number == DAT_DTO_COMPLETION_EVENT)
			complete(&event.event_data.dto_completion_event_data);
		else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
			end_client(event.event_data.connect_event_data.ep_handle);
	while (DAT_GET_TYPE(dat_evd_dequeue(requests, &event)) == DAT_SUCCESS)
		accept_client(event.event_data.cr_arrival_event_data.cr_handle);
}

static void
run(void)
{
	DAT_EVD_HANDLE hint;
	DAT_RETURN rc;

	while (!stopped) {
		take_events();
		rc = dat_cno_wait(cno, LOOK_US, &hint);
		if (DAT_GET_TYPE(rc) != DAT_QUEUE_EMPTY && DAT_GET_TYPE(rc) != DAT_INTERRUPTED_CALL)
			check(rc, "dat_cno_wait");
	}
}

/* In the opposite order of start(). An abrupt end has its events at once, so every buffer is back on the queue. */
static void
end(void)
{
	DAT_SRQ_PARAM param;

	check(dat_psp_free(psp), "dat_psp_free");
	take_events();
	for (DAT_COUNT i = 0; i < CLIENTS; i++)
		if (clients[i] != DAT_HANDLE_NULL)
			check(dat_ep_disconnect(clients[i], DAT_CLOSE_ABRUPT_FLAG), "disconnect");
	take_events();
	check(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), "dat_srq_query");
	check(dat_srq_free(srq), "dat_srq_free");
	check(dat_lmr_free(lmr), "dat_lmr_free");
	check(dat_pz_free(pz), "dat_pz_free");
	check(dat_evd_free(events), "dat_evd_free");
	check(dat_evd_free(requests), "dat_evd_free");
	check(dat_cno_free(cno), "dat_cno_free");
	check(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close");
	printf("%lu clients, %lu messages answered, %lu buffers came back unanswered, %d of %d on the queue\n",
			served, answered, lost, param.available_dto_count, BUFFERS);
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: srq_echo_server ADAPTER PORT\n");
		return 2;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	start(argv[1], strtoul(argv[2], NULL, 10));
	printf("serving on %s, port %s\n", argv[1], argv[2]);
	fflush(stdout);
	run();
	end();
	return EXIT_SUCCESS;
}
