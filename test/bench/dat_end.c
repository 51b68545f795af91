/* SPDX-License-Identifier: BSD-3-Clause */
#include "dat_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#define CACHE_LINE 64
#define PATIENCE   10000000 /* of a connect, microseconds */

void
dat_end_must(DAT_RETURN ret, const char *call)
{
	const char *major = "?", *minor = "?";

	if (ret == DAT_SUCCESS)
		return;
	dat_strerror(ret, &major, &minor);
	fprintf(stderr, "%s: %s %s\n", call, major, minor);
	exit(EXIT_FAILURE);
}

static DAT_EVD_HANDLE
make_evd(struct dat_end *end, uint32_t events, DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE evd;

	dat_end_must(dat_evd_create(end->ia, (DAT_COUNT)events, DAT_HANDLE_NULL, flags, &evd),
			"dat_evd_create");
	return evd;
}

static void
note_address(struct dat_end *end)
{
	DAT_IA_ATTR attr;

	dat_end_must(dat_ia_query(end->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL),
			"dat_ia_query");
	memcpy(&end->address, attr.ia_address_ptr,
			attr.ia_address_ptr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
								  : sizeof(struct sockaddr_in6));
}

static void
make_memory(struct dat_end *end)
{
	size_t bytes = (size_t)end->buffers * DAT_END_MESSAGE;
	DAT_REGION_DESCRIPTION region;

	end->memory = aligned_alloc(CACHE_LINE, bytes);
	dat_end_must(end->memory != NULL ? DAT_SUCCESS : DAT_INSUFFICIENT_RESOURCES, "buffers");
	memset(end->memory, 1, bytes);
	region.for_va = end->memory;
	dat_end_must(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, bytes, end->pz,
				     DAT_MEM_PRIV_ALL_FLAG, &end->lmr, &end->key, NULL, NULL, NULL),
			"dat_lmr_create");
}

void
dat_end_open(struct dat_end *end, const char *name, uint32_t events, uint32_t buffers)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = (DAT_COUNT)buffers, .max_recv_iov = 1 };
	char copy[16];

	*end = (struct dat_end){ .async = DAT_HANDLE_NULL, .buffers = buffers };
	snprintf(copy, sizeof(copy), "%s", name);
	dat_end_must(dat_ia_open(copy, 8, &end->async, &end->ia), "dat_ia_open");
	note_address(end);
	end->recv = make_evd(end, events, DAT_EVD_DTO_FLAG);
	end->request = make_evd(end, events, DAT_EVD_DTO_FLAG);
	end->connect = make_evd(end, events, DAT_EVD_CONNECTION_FLAG);
	end->cr = make_evd(end, events, DAT_EVD_CR_FLAG);
	dat_end_must(dat_pz_create(end->ia, &end->pz), "dat_pz_create");
	make_memory(end);
	dat_end_must(dat_srq_create(end->ia, end->pz, &attr, &end->srq), "dat_srq_create");
	for (uint32_t i = 0; i < buffers; i++)
		dat_end_give(end, i);
}

void
dat_end_listen(struct dat_end *end)
{
	dat_end_must(dat_psp_create(end->ia, DAT_END_QUAL, end->cr, DAT_PSP_CONSUMER_FLAG,
				     &end->psp),
			"dat_psp_create");
}

void
dat_end_close(struct dat_end *end)
{
	dat_end_must(dat_ia_close(end->ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
	free(end->memory);
}

DAT_EP_HANDLE
dat_end_ep(struct dat_end *end, uint32_t send_depth)
{
	DAT_EP_ATTR attr = {
		.max_request_dtos = (DAT_COUNT)send_depth,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};
	DAT_EP_HANDLE ep;

	dat_end_must(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request, end->connect,
				     end->srq, &attr, &ep),
			"dat_ep_create_with_srq");
	return ep;
}

void
dat_end_connect(DAT_EP_HANDLE ep, const struct dat_end *to)
{
	struct sockaddr_storage address = to->address;

	dat_end_must(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, DAT_END_QUAL, PATIENCE, 0,
				     NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
}

void
dat_end_accept(const DAT_EVENT *request, DAT_EP_HANDLE ep)
{
	dat_end_must(dat_cr_accept(request->event_data.cr_arrival_event_data.cr_handle, ep, 0,
				     NULL),
			"dat_cr_accept");
}

static DAT_LMR_TRIPLET
piece_of(const struct dat_end *end, uint64_t i)
{
	return (DAT_LMR_TRIPLET){
		.lmr_context = end->key,
		.virtual_address = (DAT_VADDR)(uintptr_t)(end->memory + i * DAT_END_MESSAGE),
		.segment_length = DAT_END_MESSAGE,
	};
}

void
dat_end_send(struct dat_end *end, DAT_EP_HANDLE ep)
{
	DAT_LMR_TRIPLET piece = piece_of(end, 0);
	DAT_DTO_COOKIE cookie = { .as_64 = 0 };

	dat_end_must(dat_ep_post_send(ep, 1, &piece, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
}

void
dat_end_give(struct dat_end *end, uint64_t i)
{
	DAT_LMR_TRIPLET piece = piece_of(end, i);
	DAT_DTO_COOKIE cookie = { .as_64 = i };

	dat_end_must(dat_srq_post_recv(end->srq, 1, &piece, cookie), "dat_srq_post_recv");
}

int
dat_end_take(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN ret = dat_evd_dequeue(evd, event);

	if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY)
		return 0;
	dat_end_must(ret, "dat_evd_dequeue");
	return 1;
}
