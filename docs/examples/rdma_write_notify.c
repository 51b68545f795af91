/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * RDMA WRITE of which the peer is told, to be copied. The owner of some memory sends its place and context to the
 * writer, who fills it piece by piece. With the extension of the provider the number of a piece travels with the write
 * as immediate data; on any other provider of DAT 1.2 a message behind the write has the number. Both ends are in this
 * process, each on an adapter of its own.
 *
 *     cc -o rdma_write_notify rdma_write_notify.c $(pkg-config --cflags --libs dat)
 *     ./rdma_write_notify [immediate | message]
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat/dat_ib_extensions.h>
#include <dat/udat.h>

#define PIECES     16
#define PIECE      4096
#define PORT       18518
#define TIMEOUT_US 10000000

struct side {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, events;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;
	DAT_IA_ATTR attr;
	DAT_PROVIDER_ATTR provider;
};

struct region {
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_RMR_CONTEXT context; /* for the peer; 0 where it has no right */
};

/* Grant: the message by which the owner lets the writer write. Both have one byte order. */
struct messages {
	DAT_RMR_TRIPLET grant;
	uint32_t number[PIECES];
};

static struct side owner, writer;
static struct messages owners, writers;
static char target[PIECES][PIECE], source[PIECES][PIECE];
static struct region owners_region, writers_region, target_region, source_region;
static DAT_PSP_HANDLE psp;
static int immediate; /* whether immediate data tell of a piece */

static void
fail(const char *what)
{
	fprintf(stderr, "rdma_write_notify: %s\n", what);
	exit(EXIT_FAILURE);
}

static void
check(DAT_RETURN rc, const char *what)
{
	const char *type = "?", *subtype = "?";

	if (rc == DAT_SUCCESS)
		return;
	dat_strerror(rc, &type, &subtype);
	fprintf(stderr, "rdma_write_notify: %s: %s, %s\n", what, type, subtype);
	exit(EXIT_FAILURE);
}

/* The next event, which must be that one and no failure. Its immediate data, if any, are in @p data. */
static DAT_EVENT
expect(const struct side *side, DAT_EVENT_NUMBER number, DAT_IB_EXTENSION_EVENT_DATA *data)
{
	DAT_COUNT more;
	DAT_EVENT event;

	if (immediate && data != NULL)
		check(dat_ib_evd_wait(side->events, TIMEOUT_US, 1, &event, &more, data),
				"no event");
	else
		check(dat_evd_wait(side->events, TIMEOUT_US, 1, &event, &more), "no event");
	if (event.event_number != number)
		fail("not the event that was expected");
	if (number == DAT_DTO_COMPLETION_EVENT &&
			event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
		fail("a transfer failed");
	return event;
}

static DAT_LMR_TRIPLET
segment(const struct region *region, void *address, DAT_VLEN length)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = region->key,
		.virtual_address = (DAT_VADDR)(uintptr_t)address,
		.segment_length = length };
}

static void
register_memory(struct side *side, void *address, DAT_VLEN length, int privileges,
		struct region *region)
{
	DAT_REGION_DESCRIPTION description = { .for_va = address };
	DAT_VLEN registered;
	DAT_VADDR where;

	check(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, description, length, side->pz,
			      (DAT_MEM_PRIV_FLAGS)privileges, &region->lmr, &region->key,
			      &region->context, &registered, &where),
			"dat_lmr_create");
}

/* A program asks before it calls what DAT 1.2 does not have. Version 1 of the extension has atomics only. */
static int
has_immediate(const DAT_PROVIDER_ATTR *provider)
{
	for (DAT_COUNT i = 0; i < provider->num_provider_specific_attr; i++)
		if (strcmp(provider->provider_specific_attr[i].name, DAT_IB_EXTENSION_ATTR) == 0)
			return strtol(provider->provider_specific_attr[i].value, NULL, 10) >= 2;
	return 0;
}

static void
open_side(struct side *side, const char *adapter)
{
	char name[DAT_NAME_MAX_LENGTH];

	snprintf(name, sizeof(name), "%s", adapter);
	side->async = DAT_HANDLE_NULL;
	check(dat_ia_open(name, 8, &side->async, &side->ia), "dat_ia_open");
	check(dat_ia_query(side->ia, NULL, DAT_IA_FIELD_ALL, &side->attr, DAT_PROVIDER_FIELD_ALL,
			      &side->provider),
			"dat_ia_query");
	check(dat_pz_create(side->ia, &side->pz), "dat_pz_create");
	check(dat_evd_create(side->ia, 2 * PIECES + 4, DAT_HANDLE_NULL,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG,
			      &side->events),
			"dat_evd_create");
	check(dat_ep_create(side->ia, side->pz, side->events, side->events, side->events, NULL,
			      &side->ep),
			"dat_ep_create");
}

/* The peer has a right to the target alone. */
static void
register_all(void)
{
	const int local = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
	const int remote = DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

	register_memory(&owner, &owners, sizeof(owners), local, &owners_region);
	register_memory(&owner, target, sizeof(target), remote, &target_region);
	register_memory(&writer, &writers, sizeof(writers), local, &writers_region);
	register_memory(&writer, source, sizeof(source), local, &source_region);
}

static void
post_receive(struct side *side, const struct region *region, void *address, DAT_VLEN length,
		DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET buffer = segment(region, address, length);

	check(dat_ep_post_recv(side->ep, 1, &buffer, (DAT_DTO_COOKIE){ .as_64 = cookie },
			      DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_recv");
}

/* Receives are posted before the connection is there, so the peer never has to wait for one. */
static void
connect_both(void)
{
	DAT_EVENT event;

	for (unsigned int i = 0; i < PIECES; i++)
		post_receive(&owner, &owners_region, &owners.number[i], sizeof(uint32_t), i);
	post_receive(&writer, &writers_region, &writers.grant, sizeof(writers.grant), 0);
	check(dat_psp_create(owner.ia, PORT, owner.events, DAT_PSP_CONSUMER_FLAG, &psp),
			"dat_psp_create");
	check(dat_ep_connect(writer.ep, owner.attr.ia_address_ptr, PORT, TIMEOUT_US, 0, NULL,
			      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
			"dat_ep_connect");
	event = expect(&owner, DAT_CONNECTION_REQUEST_EVENT, NULL);
	check(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, owner.ep, 0, NULL),
			"dat_cr_accept");
	expect(&writer, DAT_CONNECTION_EVENT_ESTABLISHED, NULL);
	expect(&owner, DAT_CONNECTION_EVENT_ESTABLISHED, NULL);
}

/* The owner says where the writer may write. */
static void
grant(void)
{
	DAT_LMR_TRIPLET message = segment(&owners_region, &owners.grant, sizeof(owners.grant));

	owners.grant = (DAT_RMR_TRIPLET){ .rmr_context = target_region.context,
		.target_address = (DAT_VADDR)(uintptr_t)target,
		.segment_length = sizeof(target) };
	check(dat_ep_post_send(owner.ep, 1, &message, (DAT_DTO_COOKIE){ .as_64 = 0 },
			      DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	expect(&writer, DAT_DTO_COMPLETION_EVENT, NULL);
	expect(&owner, DAT_DTO_COMPLETION_EVENT, NULL);
}

/* A message is received when the writes before it are in place. Each piece has one event of the writer's. */
static void
write_piece(uint32_t i)
{
	DAT_LMR_TRIPLET piece = segment(&source_region, source[i], PIECE);
	DAT_LMR_TRIPLET number = segment(&writers_region, &writers.number[i], sizeof(uint32_t));
	DAT_RMR_TRIPLET there = writers.grant;
	DAT_DTO_COOKIE cookie = { .as_64 = i };

	there.target_address += (DAT_VADDR)i * PIECE;
	there.segment_length = PIECE;
	memset(source[i], (int)('a' + i), PIECE);
	writers.number[i] = i;
	if (immediate) {
		check(dat_ib_post_rdma_write_immed(writer.ep, 1, &piece, cookie, &there, i,
				      DAT_COMPLETION_DEFAULT_FLAG),
				"dat_ib_post_rdma_write_immed");
		return;
	}
	check(dat_ep_post_rdma_write(
			      writer.ep, 1, &piece, cookie, &there, DAT_COMPLETION_SUPPRESS_FLAG),
			"dat_ep_post_rdma_write");
	check(dat_ep_post_send(writer.ep, 1, &number, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
}

/* Pieces come in the order in which they were written. */
static void
take_piece(uint32_t expected)
{
	DAT_IB_EXTENSION_EVENT_DATA data = { .type = DAT_IB_RECV_PLAIN };
	DAT_EVENT event = expect(&owner, DAT_DTO_COMPLETION_EVENT, &data);
	uint32_t i = owners.number[event.event_data.dto_completion_event_data.user_cookie.as_64];

	if (data.type == DAT_IB_RDMA_WRITE_IMMED_DATA)
		i = data.immed_data;
	else if (immediate)
		fail("a message without immediate data");
	if (i != expected || memcmp(target[i], source[i], PIECE) != 0)
		fail("not the piece that was written");
}

static void
close_side(struct side *side)
{
	check(dat_evd_free(side->events), "dat_evd_free");
	check(dat_pz_free(side->pz), "dat_pz_free");
	check(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close");
}

static void
end(void)
{
	check(dat_ep_disconnect(writer.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	expect(&writer, DAT_CONNECTION_EVENT_DISCONNECTED, NULL);
	expect(&owner, DAT_CONNECTION_EVENT_DISCONNECTED, NULL);
	check(dat_ep_free(writer.ep), "dat_ep_free");
	check(dat_ep_free(owner.ep), "dat_ep_free");
	check(dat_psp_free(psp), "dat_psp_free");
	check(dat_lmr_free(owners_region.lmr), "dat_lmr_free");
	check(dat_lmr_free(writers_region.lmr), "dat_lmr_free");
	check(dat_lmr_free(target_region.lmr), "dat_lmr_free");
	check(dat_lmr_free(source_region.lmr), "dat_lmr_free");
	close_side(&writer);
	close_side(&owner);
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	open_side(&owner, "loop0");
	open_side(&writer, "loop1");
	immediate = has_immediate(&owner.provider) && strcmp(way, "message") != 0;
	if (!immediate && strcmp(way, "immediate") == 0)
		fail("this provider has no immediate data");
	register_all();
	connect_both();
	grant();
	for (uint32_t i = 0; i < PIECES; i++)
		write_piece(i);
	for (uint32_t i = 0; i < PIECES; i++) {
		take_piece(i);
		expect(&writer, DAT_DTO_COMPLETION_EVENT, NULL);
	}
	end();
	printf("%d pieces of %d bytes written, told by %s\n", PIECES, PIECE,
			immediate ? "immediate data" : "messages");
	return EXIT_SUCCESS;
}
