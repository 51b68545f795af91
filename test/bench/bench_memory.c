/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The memory of an endpoint, in bytes as the allocators count them: libc's, and DPDK's with its overhead. All calls are
 * those of DAT: endpoints on a shared receive queue with 64 requests, all else by default. The memory of a part is
 * found by leaving the part out. No memory is freed before the end, so that no allocator can give old memory for new.
 */

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "dat_end.h"

#define DEPTH   64
#define MANY    4096u
#define SOME    512u /* for a difference */
#define EVENTS  (2 * MANY)
#define AT_ONCE 64u
#define GOAL    4096 /* idle, connected or not */

static size_t
bytes_in_use(void)
{
	struct mallinfo2 libc = mallinfo2();
	size_t bytes = libc.uordblks + libc.hblkhd;

	for (unsigned int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		struct rte_malloc_socket_stats heap;

		if (rte_malloc_get_socket_stats((int)socket, &heap) == 0)
			bytes += heap.heap_allocsz_bytes;
	}
	return bytes;
}

static DAT_EP_ATTR
usual(void)
{
	return (DAT_EP_ATTR){
		.max_recv_dtos = DEPTH,
		.max_request_dtos = DEPTH,
		.max_rdma_read_in = 4,
		.max_rdma_read_out = 4,
	};
}

/* Endpoints with these attributes. @return bytes that one takes. */
static double
make(struct dat_end *end, const DAT_EP_ATTR *attr, bool shared, unsigned int n, DAT_EP_HANDLE *eps)
{
	size_t before = bytes_in_use();

	for (unsigned int i = 0; i < n; i++) {
		DAT_EP_HANDLE ep;

		if (shared)
			dat_end_must(dat_ep_create_with_srq(end->ia, end->pz, end->recv,
						     end->request, end->connect, end->srq, attr,
						     &ep),
					"dat_ep_create_with_srq");
		else
			dat_end_must(dat_ep_create(end->ia, end->pz, end->recv, end->request,
						     end->connect, attr, &ep),
					"dat_ep_create");
		if (eps != NULL)
			eps[i] = ep;
	}
	return (double)(bytes_in_use() - before) / n;
}

/* As many events as are there. @return how many were of ends that are up; those of requests are answered. */
static unsigned int
step(struct dat_end *client, struct dat_end *server, DAT_EP_HANDLE *eps, unsigned int *answered)
{
	unsigned int up = 0;
	DAT_EVENT event;

	while (dat_end_take(server->cr, &event) > 0)
		dat_end_accept(&event, eps[(*answered)++]);
	while (dat_end_take(server->connect, &event) > 0 ||
			dat_end_take(client->connect, &event) > 0) {
		if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
			dat_end_must(DAT_INTERNAL_ERROR, "a connection does not come up");
		up++;
	}
	return up;
}

/* @return bytes more that one end takes when it is connected. */
static double
connect_all(struct dat_end *client, struct dat_end *server, DAT_EP_HANDLE *from, DAT_EP_HANDLE *to)
{
	unsigned int started = 0, answered = 0, up = 0;
	size_t before = bytes_in_use();

	while (up < 2 * MANY) {
		for (; started < MANY && started < up / 2 + AT_ONCE; started++)
			dat_end_connect(from[started], server);
		up += step(client, server, to, &answered);
	}
	return (double)(bytes_in_use() - before) / (2 * MANY);
}

/* A WRITE of no bytes from each. @return bytes more that an end takes when it has posted. */
static double
post_on_all(struct dat_end *end, DAT_EP_HANDLE *eps)
{
	const DAT_RMR_TRIPLET nowhere = { .segment_length = 0 };
	const DAT_DTO_COOKIE cookie = { .as_64 = 0 };
	size_t before = bytes_in_use();
	unsigned int done = 0;
	DAT_EVENT event;

	for (unsigned int i = 0; i < MANY; i++)
		dat_end_must(dat_ep_post_rdma_write(eps[i], 0, NULL, cookie, &nowhere,
					     DAT_COMPLETION_DEFAULT_FLAG),
				"dat_ep_post_rdma_write");
	while (done < MANY)
		done += (unsigned int)dat_end_take(end->request, &event);
	return (double)(bytes_in_use() - before) / MANY;
}

static bool as_json;

static void
tell(const char *name, double bytes)
{
	if (as_json)
		printf("{\"kind\": \"memory\", \"name\": \"%s\", \"bytes\": %.0f}\n", name, bytes);
	else
		printf(" %-44s%10.0f\n", name, bytes);
}

/* The memory of a part is the difference between endpoints with and without it. */
static void
tell_parts(struct dat_end *end, double whole)
{
	DAT_EP_ATTR attr = usual();

	attr.max_rdma_read_in = 0;
	tell("of it READs of the peer", whole - make(end, &attr, true, SOME, NULL));
	attr = usual();
	tell("more for 64 receives of its own", make(end, &attr, false, SOME, NULL) - whole);
}

int
main(int argc, char **argv)
{
	static DAT_EP_HANDLE from[MANY], to[MANY];
	struct dat_end client, server;
	DAT_EP_ATTR attr = usual();
	double one, made, more;

	as_json = argc == 2 && strcmp(argv[1], "--json") == 0;
	if (argc > 1 + as_json) {
		fprintf(stderr, "usage: %s [--json]\n", argv[0]);
		return EXIT_FAILURE;
	}
	dat_end_open(&client, "loop0", EVENTS, 1);
	dat_end_open(&server, "loop1", EVENTS, 1);
	dat_end_listen(&server);
	if (!as_json)
		printf("\n %-44s%10s\n", "an endpoint on a shared receive queue", "bytes");
	one = make(&client, &attr, true, 1, NULL);
	made = make(&client, &attr, true, MANY, from);
	make(&server, &attr, true, MANY, to);
	more = connect_all(&client, &server, from, to);
	tell("the first", one);
	tell("one of 4096", made);
	tell("the same, connected", made + more);
	tell("the same, and a request was posted", made + more + post_on_all(&client, from));
	tell_parts(&client, made);
	if (!as_json)
		printf(" %-44s%10d\n", "goal", GOAL);
	dat_end_close(&client);
	dat_end_close(&server);
	return 0;
}
