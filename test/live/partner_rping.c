/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of rping on the wire: in each round the client sends where its data is, the server READs it and says so,
 * the client sends where it wants the data, the server WRITEs it there and says so. A word is address, key and length
 * in network order.
 */

#include "partner.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct word {
	uint64_t address;
	uint32_t key;
	uint32_t length;
} __attribute__((packed));

static void
say(struct partner *p, const void *address, uint32_t key, uint32_t length)
{
	const struct word word = { htobe64((uint64_t)(uintptr_t)address), htobe32(key),
		htobe32(length) };
	DAT_LMR_TRIPLET from = {
		.lmr_context = p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)p->sending,
		.segment_length = sizeof(word),
	};
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };

	memcpy(p->sending, &word, sizeof(word));
	partner_must(dat_ep_post_send(p->ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
	if (partner_complete(p, 1) != 0)
		partner_die("a word", DAT_ABORT);
}

/* The next word of the peer. @return false: the connection ended first. */
static bool
hear(struct partner *p, struct word *word)
{
	uint64_t before = p->messages;
	DAT_EVENT event;

	while (p->messages == before) {
		if (partner_take(p) > 0 || p->messages != before)
			continue;
		if (dat_evd_dequeue(p->connections, &event) != DAT_SUCCESS) {
			usleep(20);
			continue;
		}
		printf("event 0x%x\n", (unsigned int)event.event_number);
		if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
			return false;
	}
	memcpy(word, p->last_message, sizeof(*word));
	word->address = be64toh(word->address);
	word->key = be32toh(word->key);
	word->length = be32toh(word->length);
	return true;
}

/* Our data lies a page behind the words. */
static uint8_t *
data_of(struct partner *p)
{
	return p->sending + 4096;
}

static void
move(struct partner *p, const struct word *word, bool read)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 2 };
	DAT_LMR_TRIPLET here = {
		.lmr_context = p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)data_of(p),
		.segment_length = word->length,
	};
	DAT_RMR_TRIPLET there = { .rmr_context = word->key,
		.target_address = word->address,
		.segment_length = word->length };

	partner_must(read ? dat_ep_post_rdma_read(p->ep, 1, &here, cookie, &there,
					    DAT_COMPLETION_DEFAULT_FLAG)
			  : dat_ep_post_rdma_write(p->ep, 1, &here, cookie, &there,
					    DAT_COMPLETION_DEFAULT_FLAG),
			"RDMA");
	if (partner_complete(p, 1) != 0)
		partner_die("RDMA", DAT_ABORT);
}

int
partner_rping_serve(struct partner *p)
{
	struct word source, sink;
	unsigned int rounds = 0;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	DAT_COUNT more;

	p->options.any_content = true;
	partner_must(dat_psp_create(p->ia, p->options.port, p->requests, DAT_PSP_CONSUMER_FLAG,
				     &psp),
			"dat_psp_create");
	printf("listening on port %u\n", p->options.port);
	fflush(stdout);
	partner_must(dat_evd_wait(p->requests, 2 * PARTNER_PATIENCE, 1, &event, &more),
			"waiting for a request");
	partner_make_ep(p);
	partner_post_receives(p);
	partner_must(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, p->ep, 0,
				     NULL),
			"dat_cr_accept");
	while (hear(p, &source)) {
		move(p, &source, true);
		say(p, NULL, 0, 0);
		if (!hear(p, &sink))
			break;
		move(p, &sink, false);
		say(p, NULL, 0, 0);
		rounds++;
	}
	printf("%u rounds\n", rounds);
	partner_poll(p, p->options.end_ms);
	return rounds == 0;
}

/* The text that rping would send, so that its -v shows something familiar. */
static void
fill(uint8_t *data, uint32_t round, uint32_t size)
{
	int n = snprintf((char *)data, size, "rdma-ping-%u: ", round);

	for (uint32_t i = (uint32_t)n; i + 1 < size; i++)
		data[i] = (uint8_t)('A' + (i + round) % 26);
	data[size - 1] = 0;
}

int
partner_rping(struct partner *p, const char *host, uint32_t rounds, uint32_t size)
{
	struct word answer;
	unsigned int bad = 0;

	p->options.any_content = true;
	partner_make_ep(p);
	partner_post_receives(p);
	partner_connect(p, host);
	if (partner_connection_event(p) != DAT_CONNECTION_EVENT_ESTABLISHED)
		return 3;
	for (uint32_t round = 0; round < rounds; round++) {
		/* The server brings our source into our sink. */
		uint8_t *source = p->region, *sink = p->region + PARTNER_REGION / 2;

		fill(source, round, size);
		memset(sink, 0, size);
		say(p, source, p->region_rmr, size);
		if (!hear(p, &answer))
			return 1;
		say(p, sink, p->region_rmr, size);
		if (!hear(p, &answer))
			return 1;
		bad += memcmp(source, sink, size) != 0;
	}
	printf("%u rounds, %u bad\n", rounds, bad);
	partner_must(dat_ep_disconnect(p->ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
	(void)partner_connection_event(p);
	return bad != 0;
}
