/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An echo server on one shared receive queue, to be copied. The endpoints of all clients take their buffers from it. A
 * message goes back from the buffer that it came in, which is posted again when the answer has left. One thread does
 * everything, so nothing here needs a lock. srq_echo_client.c is the other end.
 *
 * It trusts its clients: one that posts no receives keeps the buffers of its answers, and a silent one its place. dat-srqd has
 * limits for both (apps/srqd/liveness.c).
 *
 *     cc -o srq_echo_server srq_echo_server.c $(pkg-config --cflags --libs dat)
 *     ./srq_echo_server ADAPTER PORT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <dat/udat.h>

#define CLIENTS 64
#define BUFFERS 256    /* each is on the queue, or holds a message, or is on its way back */
#define SIZE    4096   /* a longer message ends its client's connection */
#define LOOK_US 200000 /* from one look at `stopped` to the next */

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, requests, events;
static DAT_CNO_HANDLE cno;
static DAT_PZ_HANDLE pz;
static DAT_SRQ_HANDLE srq;
static char memory[BUFFERS][SIZE];
static DAT_LMR_TRIPLET buffers[BUFFERS];
static unsigned long clients, answered;
static volatile sig_atomic_t stopped;

static void
stop(int number)
{
	stopped = number;
}

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

/* A buffer has one event at a time, and a client two before it is gone: no dispatcher can overflow. */
static void
start(char *adapter, DAT_CONN_QUAL port)
{
	DAT_MEM_PRIV_FLAGS rights = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	DAT_EVD_FLAGS both = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
	DAT_SRQ_ATTR attr = { .max_recv_dtos = BUFFERS, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_RMR_CONTEXT unused;
	DAT_VLEN length;
	DAT_VADDR first;
	DAT_PSP_HANDLE psp;

	check(dat_ia_open(adapter, 8, &async, &ia), "dat_ia_open");
	check(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno), "dat_cno_create");
	check(dat_evd_create(ia, CLIENTS, cno, DAT_EVD_CR_FLAG, &requests), "dat_evd_create");
	check(dat_evd_create(ia, BUFFERS + 2 * CLIENTS, cno, both, &events), "dat_evd_create");
	check(dat_pz_create(ia, &pz), "dat_pz_create");
	check(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(memory), pz, rights, &lmr,
			      &key, &unused, &length, &first),
			"dat_lmr_create");
	check(dat_srq_create(ia, pz, &attr, &srq), "dat_srq_create");
	for (DAT_UINT64 i = 0; i < BUFFERS; i++) {
		buffers[i] = (DAT_LMR_TRIPLET){ key, 0, (DAT_VADDR)(uintptr_t)memory[i], SIZE };
		check(dat_srq_post_recv(srq, 1, &buffers[i], (DAT_DTO_COOKIE){ .as_64 = i }),
				"receive");
	}
	check(dat_psp_create(ia, port, requests, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
}

/* One that there is no room for is refused, as is one that asks for what an endpoint here cannot do. */
static void
accept_client(DAT_CR_HANDLE request)
{
	DAT_EP_ATTR attr = { .max_message_size = SIZE, .max_request_dtos = BUFFERS };
	DAT_EP_HANDLE ep;

	check(dat_ep_create_with_srq(ia, pz, events, events, events, srq, &attr, &ep), "endpoint");
	if (clients < CLIENTS && dat_cr_accept(request, ep, 0, NULL) == DAT_SUCCESS) {
		clients++;
		return;
	}
	check(dat_cr_reject(request), "dat_cr_reject");
	check(dat_ep_free(ep), "dat_ep_free");
}

/* A message goes back, which adds BUFFERS to the cookie. Any other buffer is free: answered, or without a connection. */
static void
complete(const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	DAT_UINT64 cookie = data->user_cookie.as_64, i = cookie % BUFFERS;
	DAT_LMR_TRIPLET message = buffers[i];

	if (data->status == DAT_DTO_SUCCESS && cookie == i) {
		message.segment_length = data->transfered_length;
		if (dat_ep_post_send(data->ep_handle, 1, &message,
				    (DAT_DTO_COOKIE){ .as_64 = i + BUFFERS },
				    DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS)
			return;
	}
	answered += data->status == DAT_DTO_SUCCESS && cookie != i;
	check(dat_srq_post_recv(srq, 1, &buffers[i], (DAT_DTO_COOKIE){ .as_64 = i }), "receive");
}

/* The end of a connection follows all completions of its endpoint, since one dispatcher takes both. */
static void
take_events(void)
{
	DAT_EVENT event;

	while (DAT_GET_TYPE(dat_evd_dequeue(events, &event)) == DAT_SUCCESS)
		if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
			complete(&event.event_data.dto_completion_event_data);
		} else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
			check(dat_ep_free(event.event_data.connect_event_data.ep_handle),
					"dat_ep_free");
			clients--;
		}
	while (DAT_GET_TYPE(dat_evd_dequeue(requests, &event)) == DAT_SUCCESS)
		accept_client(event.event_data.cr_arrival_event_data.cr_handle);
}

/* A wait that fails costs one more look. The abrupt end of the adapter ends its connections and frees all else. */
int
main(int argc, char **argv)
{
	DAT_EVD_HANDLE unused;
	DAT_SRQ_PARAM param;

	if (argc != 3) {
		fprintf(stderr, "usage: srq_echo_server ADAPTER PORT\n");
		return 2;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	start(argv[1], strtoul(argv[2], NULL, 10));
	printf("serving on %s, port %s\n", argv[1], argv[2]);
	fflush(stdout);
	while (!stopped) {
		dat_cno_wait(cno, LOOK_US, &unused);
		take_events();
	}
	check(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), "dat_srq_query");
	check(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	printf("%lu messages answered, %d of %d buffers on the queue\n", answered,
			param.available_dto_count, BUFFERS);
	return EXIT_SUCCESS;
}
