/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: answers requests, and says at the end of each connection what came. */

#include "partner.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void
answer(struct partner *p, DAT_CR_HANDLE cr)
{
	struct {
		struct partner_offer offer;
		char text[100];
	} reply = { .offer = { "RP1", p->region_rmr, (uint64_t)(uintptr_t)p->region,
				    PARTNER_REGION } };
	DAT_CR_PARAM param;

	partner_must(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
	printf("request: %.*s\n", (int)param.private_data_size, (const char *)param.private_data);
	partner_poll(p, p->options.wait_ms);
	if (p->options.reject) {
		partner_must(dat_cr_reject(cr), "dat_cr_reject");
		return;
	}
	partner_make_ep(p);
	if (p->options.late_ms == 0)
		partner_post_receives(p);
	snprintf(reply.text, sizeof(reply.text), "%s", p->options.text);
	partner_must(dat_cr_accept(cr, p->ep, (DAT_COUNT)(sizeof(reply.offer) + strlen(reply.text)),
				     &reply),
			"dat_cr_accept");
}

/* Bytes from the start of our memory that hold the pattern. */
static uint32_t
written(const struct partner *p)
{
	uint32_t n = 0;

	while (n < PARTNER_REGION && p->region[n] == partner_pattern(n))
		n++;
	return n;
}

/* Bind a window to our memory, and tell the peer of it by a message. */
static DAT_RMR_HANDLE
grant_window(struct partner *p)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 3 };
	struct partner_offer offer = { "RP1", 0, (uint64_t)(uintptr_t)p->region, PARTNER_REGION };
	DAT_LMR_TRIPLET all = { .lmr_context = p->region_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)p->region,
		.segment_length = PARTNER_REGION };
	DAT_LMR_TRIPLET from = { .lmr_context = p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)p->sending,
		.segment_length = sizeof(offer) };
	DAT_RMR_HANDLE window;
	DAT_EVENT event;
	DAT_COUNT more;

	partner_must(dat_rmr_create(p->pz, &window), "dat_rmr_create");
	partner_must(dat_rmr_bind(window, &all, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, p->ep, cookie,
				     DAT_COMPLETION_DEFAULT_FLAG, &offer.key),
			"dat_rmr_bind");
	partner_must(dat_evd_wait(p->sends, PARTNER_PATIENCE, 1, &event, &more), "binding");
	if (event.event_data.rmr_completion_event_data.status != DAT_RMR_BIND_SUCCESS)
		partner_die("binding", DAT_ABORT);
	memcpy(p->sending, &offer, sizeof(offer));
	partner_must(dat_ep_post_send(p->ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	if (partner_complete(p, 1) != 0)
		partner_die("telling of the window", DAT_ABORT);
	return window;
}

static void
serve_one(struct partner *p)
{
	DAT_EVENT event;

	double post_at = partner_now() + p->options.late_ms;
	bool late = p->options.late_ms > 0;
	DAT_RMR_HANDLE window = DAT_HANDLE_NULL;

	do {
		while (dat_evd_dequeue(p->connections, &event) != DAT_SUCCESS) {
			if (late && partner_now() > post_at) {
				partner_post_receives(p);
				late = false;
			}
			if (partner_take(p) == 0)
				usleep(50);
		}
		printf("event 0x%x\n", (unsigned int)event.event_number);
		if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED && p->options.window)
			window = grant_window(p);
	} while (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
	partner_take(p);
	if (window != DAT_HANDLE_NULL)
		partner_must(dat_rmr_free(window), "dat_rmr_free");
}

void
partner_serve(struct partner *p)
{
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	DAT_COUNT more;

	partner_must(dat_psp_create(p->ia, p->options.port, p->requests, DAT_PSP_CONSUMER_FLAG,
				     &psp),
			"dat_psp_create");
	printf("listening on port %u\n", p->options.port);
	fflush(stdout);
	for (uint32_t i = 0; i < p->options.connections; i++) {
		partner_must(dat_evd_wait(p->requests, 2 * PARTNER_PATIENCE, 1, &event, &more),
				"waiting for a request");
		answer(p, event.event_data.cr_arrival_event_data.cr_handle);
		if (!p->options.reject) {
			serve_one(p);
			printf("connection %u is over: %lu messages, %lu bytes, %lu bad; %u bytes "
			       "written\n",
					i + 1, (unsigned long)p->messages, (unsigned long)p->bytes,
					(unsigned long)p->bad, written(p));
			partner_must(dat_ep_free(p->ep), "dat_ep_free");
		}
		fflush(stdout);
	}
	/* Words of the end that the network lost are said again for a moment. */
	partner_poll(p, p->options.end_ms);
}
