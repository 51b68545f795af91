/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The shortest server on one shared receive queue: it sends every message of every client back. It checks nothing and never ends;
 * srq_echo_server.c is the one to copy. dat-ping(1) is a client.
 *
 *     cc -o srq_hello srq_hello.c $(pkg-config --cflags --libs dat)
 *     ./srq_hello roce0 &
 *     dat-ping -D roce0 127.0.0.1
 */
#include <dat/udat.h>

#define ALL (DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG)
#define RW  (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)

static char memory[64][4096];
static DAT_LMR_TRIPLET buffer[64];
static char roce0[] = "roce0";

/* A receive has the number of its buffer, the answer in that buffer 64 more. */
static DAT_DTO_COOKIE
cookie(DAT_UINT64 i)
{
	return (DAT_DTO_COOKIE){ .as_64 = i };
}

/* The message of receive i goes back, out of its buffer. */
static DAT_RETURN
send_back(const DAT_DTO_COMPLETION_EVENT_DATA *done, DAT_UINT64 i)
{
	DAT_LMR_TRIPLET answer = buffer[i];

	answer.segment_length = done->transfered_length;
	if (done->status != DAT_DTO_SUCCESS)
		return DAT_ABORT;
	return dat_ep_post_send(
			done->ep_handle, 1, &answer, cookie(i + 64), DAT_COMPLETION_DEFAULT_FLAG);
}

int
main(int argc, char **argv)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 64, .max_recv_iov = 1 };
	DAT_EP_ATTR limits = { .max_message_size = 4096, .max_request_dtos = 64 };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq;
	DAT_PSP_HANDLE psp;
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_RMR_CONTEXT rmr;
	DAT_VLEN length;
	DAT_VADDR first;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_DTO_COMPLETION_EVENT_DATA *done;
	DAT_UINT64 i;

	dat_ia_open(argc > 1 ? argv[1] : roce0, 8, &async, &ia);
	dat_pz_create(ia, &pz);
	dat_evd_create(ia, 1024, DAT_HANDLE_NULL, ALL, &evd);
	dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(memory), pz, RW, &lmr, &key, &rmr,
			&length, &first);
	for (i = 0; i < 64; i++)
		buffer[i] = (DAT_LMR_TRIPLET){ key, 0, (DAT_VADDR)(uintptr_t)memory[i], 4096 };

	dat_srq_create(ia, pz, &attr, &srq);
	for (i = 0; i < 64; i++)
		dat_srq_post_recv(srq, 1, &buffer[i], cookie(i));
	dat_psp_create(ia, 18516, evd, DAT_PSP_CONSUMER_FLAG, &psp);
	while (dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more) == DAT_SUCCESS)
		if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
			dat_ep_create_with_srq(ia, pz, evd, evd, evd, srq, &limits, &ep);
			dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, 0);
		} else if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
			done = &event.event_data.dto_completion_event_data;
			i = done->user_cookie.as_64;
			if (i >= 64 || send_back(done, i) != DAT_SUCCESS)
				dat_srq_post_recv(srq, 1, &buffer[i % 64], cookie(i % 64));
		}
	return 0;
}
