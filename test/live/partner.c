/* SPDX-License-Identifier: BSD-3-Clause */

#include "partner.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double
partner_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void
partner_die(const char *what, DAT_RETURN ret)
{
	const char *major = "", *minor = "";

	(void)dat_strerror(ret, &major, &minor);
	printf("FAILED %s: %s %s\n", what, major, minor);
	exit(1);
}

void
partner_must(DAT_RETURN ret, const char *what)
{
	if (ret != DAT_SUCCESS)
		partner_die(what, ret);
}

uint8_t
partner_pattern(uint32_t i)
{
	return (uint8_t)(i * 7 + (i >> 8));
}

uint8_t *
partner_offer(struct partner *p, size_t length, unsigned int rights, DAT_LMR_CONTEXT *key,
		DAT_RMR_CONTEXT *rmr)
{
	uint8_t *memory = aligned_alloc(4096, (length + 4095) / 4096 * 4096);
	DAT_REGION_DESCRIPTION where = { .for_va = memory };
	DAT_RMR_CONTEXT unused;
	DAT_LMR_HANDLE lmr;
	DAT_VADDR address;
	DAT_VLEN got;

	if (memory == NULL)
		partner_die("memory", DAT_INSUFFICIENT_RESOURCES);
	partner_must(dat_lmr_create(p->ia, DAT_MEM_TYPE_VIRTUAL, where, length, p->pz,
				     (DAT_MEM_PRIV_FLAGS)rights, &lmr, key,
				     rmr != NULL ? rmr : &unused, &got, &address),
			"dat_lmr_create");
	return memory;
}

void
partner_make_evd(struct partner *p, DAT_COUNT length, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
	partner_must(dat_evd_create(p->ia, length, DAT_HANDLE_NULL, flags, evd), "dat_evd_create");
}

void
partner_open(struct partner *p)
{
	const unsigned int local = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	const unsigned int remote = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
	const DAT_COUNT depth = 2 * (DAT_COUNT)PARTNER_DEPTH;
	DAT_SRQ_ATTR attr = {
		.max_recv_dtos = (DAT_COUNT)PARTNER_DEPTH,
		.max_recv_iov = 1,
		.low_watermark = DAT_SRQ_LW_DEFAULT,
	};

	p->async = DAT_HANDLE_NULL;
	partner_must(dat_ia_open((DAT_NAME_PTR)(uintptr_t)p->options.ia, 64, &p->async, &p->ia),
			"dat_ia_open");
	partner_must(dat_pz_create(p->ia, &p->pz), "dat_pz_create");
	partner_make_evd(p, 64, DAT_EVD_CONNECTION_FLAG, &p->connections);
	partner_make_evd(p, 64, DAT_EVD_CR_FLAG, &p->requests);
	partner_make_evd(p, depth, DAT_EVD_DTO_FLAG, &p->receives);
	partner_make_evd(p, depth, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, &p->sends);
	p->region = partner_offer(
			p, PARTNER_REGION, local | remote, &p->region_key, &p->region_rmr);
	p->sending = partner_offer(p, PARTNER_SENDING, local | remote, &p->send_key, NULL);
	p->receiving = partner_offer(p, (size_t)PARTNER_DEPTH * (p->options.size + 1), local,
			&p->receive_key, NULL);
	for (uint32_t i = 0; i < PARTNER_REGION; i++)
		p->region[i] = (uint8_t)~partner_pattern(i);
	if (p->options.srq)
		partner_must(dat_srq_create(p->ia, p->pz, &attr, &p->srq), "dat_srq_create");
}

void
partner_make_ep(struct partner *p)
{
	/* Two segments of a request: the room that an atomic needs. */
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_recv_dtos = (DAT_COUNT)PARTNER_DEPTH,
		.max_request_dtos = (DAT_COUNT)PARTNER_DEPTH,
		.max_recv_iov = 1,
		.max_request_iov = 2,
		.max_rdma_read_in = 16,
		.max_rdma_read_out = 16,
	};

	if (p->options.srq)
		partner_must(dat_ep_create_with_srq(p->ia, p->pz, p->receives, p->sends,
					     p->connections, p->srq, &attr, &p->ep),
				"dat_ep_create_with_srq");
	else
		partner_must(dat_ep_create(p->ia, p->pz, p->receives, p->sends, p->connections,
					     &attr, &p->ep),
				"dat_ep_create");
}

static void
post_receive(struct partner *p, uint64_t slot)
{
	DAT_LMR_TRIPLET iov = {
		.lmr_context = p->receive_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)(p->receiving + slot * p->options.size),
		.segment_length = p->options.size,
	};
	DAT_DTO_COOKIE cookie = { .as_64 = slot };

	partner_must(p->options.srq ? dat_srq_post_recv(p->srq, 1, &iov, cookie)
				    : dat_ep_post_recv(p->ep, 1, &iov, cookie,
						      DAT_COMPLETION_DEFAULT_FLAG),
			"posting a receive");
}

void
partner_post_receives(struct partner *p)
{
	for (uint32_t i = 0; i < p->options.receives && i < PARTNER_DEPTH; i++)
		post_receive(p, i);
}

static void
judge(struct partner *p, const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	const uint8_t *at = p->receiving + dto->user_cookie.as_64 * p->options.size;
	bool wrong = false;

	for (uint32_t i = 0; !p->options.any_content && i < dto->transfered_length; i++)
		wrong |= at[i] != partner_pattern(i);
	p->messages++;
	p->bytes += dto->transfered_length;
	p->bad += wrong;
	p->last_received = dto->transfered_length;
	p->last_message = at;
}

unsigned int
partner_take(struct partner *p)
{
	unsigned int n = 0;
	DAT_EVENT event;

	for (; dat_evd_dequeue(p->receives, &event) == DAT_SUCCESS; n++) {
		const DAT_DTO_COMPLETION_EVENT_DATA *dto =
				&event.event_data.dto_completion_event_data;

		if (dto->status == DAT_DTO_SUCCESS) {
			judge(p, dto);
			post_receive(p, dto->user_cookie.as_64);
		} else if (dto->status != DAT_DTO_ERR_FLUSHED) {
			printf("a receive ended with status %d\n", (int)dto->status);
		}
	}
	return n;
}

volatile sig_atomic_t partner_enough;

void
partner_poll(struct partner *p, double ms)
{
	DAT_EVENT event;

	for (double until = partner_now() + ms; partner_now() < until && partner_enough == 0;)
		if (dat_evd_dequeue(p->sends, &event) != DAT_SUCCESS)
			usleep(50);
}

unsigned int
partner_connection_event(struct partner *p)
{
	const DAT_CONNECTION_EVENT_DATA *data;
	DAT_EVENT event;
	DAT_COUNT more;

	partner_must(dat_evd_wait(p->connections, 2 * PARTNER_PATIENCE, 1, &event, &more),
			"waiting for the connection");
	data = &event.event_data.connect_event_data;
	printf("event 0x%x", (unsigned int)event.event_number);
	if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED &&
			(size_t)data->private_data_size >= sizeof(p->peer)) {
		memcpy(&p->peer, data->private_data, sizeof(p->peer));
		printf(", established: %.100s", (const char *)data->private_data + sizeof(p->peer));
	}
	putchar('\n');
	fflush(stdout);
	return (unsigned int)event.event_number;
}

unsigned int
partner_complete(struct partner *p, unsigned int n)
{
	unsigned int failed = 0;
	DAT_EVENT event;
	DAT_COUNT more;

	for (; n > 0; n--) {
		int status;

		partner_must(dat_evd_wait(p->sends, PARTNER_PATIENCE, 1, &event, &more),
				"waiting for a completion");
		status = (int)event.event_data.dto_completion_event_data.status;
		if (status != DAT_DTO_SUCCESS) {
			printf("status %d\n", status);
			failed++;
		}
	}
	return failed;
}

void
partner_connect(struct partner *p, const char *host)
{
	struct addrinfo *info;

	if (getaddrinfo(host, NULL, NULL, &info) != 0)
		partner_die(host, DAT_INVALID_ADDRESS);
	partner_must(dat_ep_connect(p->ep, (DAT_IA_ADDRESS_PTR)info->ai_addr, p->options.port,
				     p->options.patience_ms * 1000,
				     (DAT_COUNT)strlen(p->options.text),
				     (DAT_PVOID)(uintptr_t)p->options.text, DAT_QOS_BEST_EFFORT,
				     DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	freeaddrinfo(info);
}
