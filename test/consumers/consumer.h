/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONSUMER_H
#define TEST_CONSUMER_H

/**
 * @file
 * Code that the small programs here share. They use the installed headers and nothing else of this tree, and are
 * written in the common subset of C89 with GNU's extensions and C++98. Both ends of each connection are in one process.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>

#include <dat/udat.h>

#define PATIENCE_US \
	2000000000 /**< what must come, comes before: consumers.py ends a program that hangs */
#define BUFFER_LEN 65536

#if defined(__GNUC__)
#define MAY_BE_UNUSED __attribute__((unused))
#else
#define MAY_BE_UNUSED
#endif

/** One end of a wire, with everything but endpoints. */
struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_EVD_HANDLE dto;     /**< data transfers and binds */
	DAT_EVD_HANDLE connect; /**< connections and requests */
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lkey;
	DAT_RMR_CONTEXT rkey;
	DAT_IA_ADDRESS_PTR address;
	char *buffer;
};

#define MUST(call) must((call), #call, __FILE__, __LINE__)
#define TRUE_THAT(fact)                                                                    \
	do {                                                                               \
		if (!(fact)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static MAY_BE_UNUSED void
must(DAT_RETURN rc, const char *what, const char *file, int line)
{
	const char *type = "?", *subtype = "?";

	if (rc == DAT_SUCCESS)
		return;
	dat_strerror(rc, &type, &subtype);
	fprintf(stderr, "%s:%d: %s: %s, %s\n", file, line, what, type, subtype);
	exit(1);
}

static MAY_BE_UNUSED DAT_EVD_HANDLE
new_evd(struct side *side, DAT_COUNT length, int flags)
{
	DAT_EVD_HANDLE evd;

	MUST(dat_evd_create(side->ia, length, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd));
	return evd;
}

/** Dispatchers for @p length events. */
static MAY_BE_UNUSED void
open_side(struct side *side, const char *name, DAT_COUNT length)
{
	DAT_REGION_DESCRIPTION region;
	DAT_VLEN registered;
	DAT_VADDR where;
	DAT_IA_ATTR attr;
	char copy[64];

	memset(side, 0, sizeof(*side));
	strcpy(copy, name);
	side->async = DAT_HANDLE_NULL;
	MUST(dat_ia_open(copy, 8, &side->async, &side->ia));
	MUST(dat_ia_query(side->ia, &side->async, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	side->address = attr.ia_address_ptr;
	MUST(dat_pz_create(side->ia, &side->pz));
	side->dto = new_evd(side, length, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
	side->connect = new_evd(side, length, DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG);
	side->buffer = (char *)calloc(1, BUFFER_LEN);
	TRUE_THAT(side->buffer != NULL);
	region.for_va = side->buffer;
	MUST(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, side->pz,
			DAT_MEM_PRIV_ALL_FLAG, &side->lmr, &side->lkey, &side->rkey, &registered,
			&where));
	TRUE_THAT(registered >= BUFFER_LEN);
}

static MAY_BE_UNUSED void
close_side(struct side *side)
{
	MUST(dat_lmr_free(side->lmr));
	MUST(dat_evd_free(side->dto));
	MUST(dat_evd_free(side->connect));
	MUST(dat_pz_free(side->pz));
	MUST(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG));
	free(side->buffer);
}

/** The next event, which must be that one. */
static MAY_BE_UNUSED DAT_EVENT
next_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;
	DAT_COUNT more;

	MUST(dat_evd_wait(evd, PATIENCE_US, 1, &event, &more));
	TRUE_THAT(event.event_number == number);
	return event;
}

/** The next completion: of that endpoint, with that cookie and length. */
static MAY_BE_UNUSED void
next_completion(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_VLEN length)
{
	DAT_EVENT event = next_event(evd, DAT_DTO_COMPLETION_EVENT);
	DAT_DTO_COMPLETION_EVENT_DATA *data = &event.event_data.dto_completion_event_data;

	TRUE_THAT(data->status == DAT_DTO_SUCCESS);
	TRUE_THAT(data->ep_handle == ep);
	TRUE_THAT(data->user_cookie.as_64 == cookie);
	TRUE_THAT(data->transfered_length == length);
}

static MAY_BE_UNUSED DAT_LMR_TRIPLET
piece(struct side *side, size_t offset, DAT_VLEN length)
{
	DAT_LMR_TRIPLET triplet;

	memset(&triplet, 0, sizeof(triplet));
	triplet.lmr_context = side->lkey;
	triplet.virtual_address = (DAT_VADDR)(size_t)(side->buffer + offset);
	triplet.segment_length = length;
	return triplet;
}

static MAY_BE_UNUSED DAT_RMR_TRIPLET
peer_piece(struct side *peer, size_t offset, DAT_VLEN length)
{
	DAT_RMR_TRIPLET triplet;

	memset(&triplet, 0, sizeof(triplet));
	triplet.rmr_context = peer->rkey;
	triplet.target_address = (DAT_VADDR)(size_t)(peer->buffer + offset);
	triplet.segment_length = length;
	return triplet;
}

static MAY_BE_UNUSED DAT_DTO_COOKIE
cookie_of(DAT_UINT64 value)
{
	DAT_DTO_COOKIE cookie;

	cookie.as_64 = value;
	return cookie;
}

/** Ask, accept, and wait until both ends are connected. */
static MAY_BE_UNUSED void
connect_both(struct side *client, DAT_EP_HANDLE from, struct side *server, DAT_EP_HANDLE to,
		DAT_CONN_QUAL qual)
{
	DAT_EVENT event;

	MUST(dat_ep_connect(from, server->address, qual, PATIENCE_US, 0, NULL, DAT_QOS_BEST_EFFORT,
			DAT_CONNECT_DEFAULT_FLAG));
	event = next_event(server->connect, DAT_CONNECTION_REQUEST_EVENT);
	MUST(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, to, 0, NULL));
	next_event(client->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	next_event(server->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/** An orderly end, from the first. */
static MAY_BE_UNUSED void
disconnect_both(struct side *first, DAT_EP_HANDLE ep, struct side *second)
{
	MUST(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
	next_event(first->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	next_event(second->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

#endif
