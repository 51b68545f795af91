/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The talk of rdma-core's ucmatose: over each of its connections the server sends so many messages, and when they all are
 * there the client sends as many back. Then the server disconnects.
 */

#include "partner_perftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE_MS (PARTNER_PATIENCE / 1e3)

struct ucmatose {
	struct partner *p;
	DAT_EP_HANDLE *ep;
	uint32_t connections, messages;
};

static bool
send_all(struct ucmatose *u)
{
	DAT_LMR_TRIPLET iov = { .lmr_context = u->p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)u->p->sending,
		.segment_length = u->p->options.size };
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };

	for (uint32_t i = 0; i < u->connections; i++) {
		for (uint32_t k = 0; k < u->messages; k++)
			partner_must(dat_ep_post_send(u->ep[i], 1, &iov, cookie,
						     DAT_COMPLETION_DEFAULT_FLAG),
					"dat_ep_post_send");
		if (partner_complete(u->p, u->messages) != 0)
			return false;
	}
	return true;
}

static bool
take_all(struct ucmatose *u)
{
	uint64_t want = (uint64_t)u->connections * u->messages;
	double until = partner_now() + PATIENCE_MS;

	while (u->p->messages < want && partner_now() < until)
		if (partner_take(u->p) == 0)
			usleep(20);
	return u->p->messages == want && u->p->bytes == want * u->p->options.size;
}

/* All at once, as ucmatose does it, is not asked for: one after the other. */
static void
connect_all(struct ucmatose *u, const char *host)
{
	DAT_PSP_HANDLE psp;

	if (host == NULL) {
		partner_must(dat_psp_create(u->p->ia, u->p->options.port, u->p->requests,
					     DAT_PSP_CONSUMER_FLAG, &psp),
				"dat_psp_create");
		printf("listening on port %u\n", u->p->options.port);
		fflush(stdout);
	}
	/* Receives are on the shared queue, whatever endpoint takes them. */
	partner_post_receives(u->p);
	for (uint32_t i = 0; i < u->connections; i++) {
		partner_make_ep(u->p);
		u->ep[i] = u->p->ep;
		if (host != NULL)
			partner_connect_until(u->p, u->ep[i], u->p->connections, host);
		else
			partner_accept_next(u->p, u->ep[i], u->p->connections);
	}
}

static bool
disconnect_all(struct ucmatose *u, bool server)
{
	bool ok = true;

	for (uint32_t i = 0; i < u->connections && server; i++)
		partner_must(dat_ep_disconnect(u->ep[i], DAT_CLOSE_GRACEFUL_FLAG),
				"dat_ep_disconnect");
	for (uint32_t i = 0; i < u->connections; i++)
		ok &= partner_connection_event(u->p) == DAT_CONNECTION_EVENT_DISCONNECTED;
	return ok;
}

int
partner_ucmatose(struct partner *p, uint32_t messages, const char *host)
{
	struct ucmatose u = { .p = p, .connections = p->options.connections, .messages = messages };
	bool server = host == NULL, ok;

	if (!p->options.srq || messages == 0 || messages > PARTNER_DEPTH)
		return 2;
	u.ep = calloc(u.connections, sizeof(DAT_EP_HANDLE));
	if (u.ep == NULL)
		partner_die("memory", DAT_INSUFFICIENT_RESOURCES);
	p->options.any_content = true;
	connect_all(&u, host);
	ok = server ? send_all(&u) && take_all(&u) : take_all(&u) && send_all(&u);
	printf("%u connections, %u messages each: %s\n", u.connections, messages,
			ok ? "ok" : "FAILED");
	fflush(stdout);
	ok &= disconnect_all(&u, server);
	partner_poll(p, 1000);
	free(u.ep);
	return ok ? 0 : 1;
}
