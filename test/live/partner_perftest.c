/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of perftest's ib_send_bw, ib_send_lat, ib_write_bw, ib_write_lat, ib_read_bw, ib_read_lat, ib_atomic_bw
 * and ib_atomic_lat (fetch and add), in either role, with rdma_cm (-R) or without.
 */

#include "partner_perftest.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <dat/dat_ib_extensions.h>
#include <roce/dat_ep.h>

#define VERSION     "6.06"
#define BUFFER      4096u
#define CACHE_LINE  64u
#define READS       16u
#define PATIENCE_MS (PARTNER_PATIENCE / 1e3)

struct perftest {
	struct partner *p;
	struct perftest_wire wire;
	struct perftest_end here, there;
	const struct test *test;
	uint32_t iterations, size, mtu;
	uint64_t before; /**< the word that atomics change, as it was */
};

struct test {
	const char *name;
	unsigned int waits; /**< ends that are swapped before it begins, but for the first */
	unsigned int after; /**< behind it; 2: with a report in between */
	bool (*client)(struct perftest *t);
	bool (*server)(struct perftest *t);
};

static const DAT_DTO_COOKIE cookie = { .as_64 = 1 };

static DAT_LMR_TRIPLET
near(const struct perftest *t)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = t->p->send_key,
		.virtual_address = (DAT_VADDR)(uintptr_t)t->p->sending,
		.segment_length = t->size };
}

static DAT_RMR_TRIPLET
far(const struct perftest *t)
{
	return (DAT_RMR_TRIPLET){ .rmr_context = t->there.rkey,
		.target_address = t->there.vaddr,
		.segment_length = t->size };
}

static void
post_send(struct perftest *t)
{
	DAT_LMR_TRIPLET iov = near(t);

	partner_must(dat_ep_post_send(t->p->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_send");
}

static void
post_write(struct perftest *t)
{
	DAT_LMR_TRIPLET iov = near(t);
	DAT_RMR_TRIPLET to = far(t);

	partner_must(dat_ep_post_rdma_write(
				     t->p->ep, 1, &iov, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_write");
}

static void
post_read(struct perftest *t)
{
	DAT_LMR_TRIPLET iov = near(t);
	DAT_RMR_TRIPLET from = far(t);

	partner_must(dat_ep_post_rdma_read(
				     t->p->ep, 1, &iov, cookie, &from, DAT_COMPLETION_DEFAULT_FLAG),
			"dat_ep_post_rdma_read");
}

/* All of them, a send queue full at a time. */
static bool
stream(struct perftest *t, void (*post)(struct perftest *t))
{
	for (uint32_t left = t->iterations; left > 0;) {
		uint32_t n = left < PARTNER_DEPTH ? left : PARTNER_DEPTH;

		for (uint32_t i = 0; i < n; i++)
			post(t);
		if (partner_complete(t->p, n) != 0)
			return false;
		left -= n;
	}
	return true;
}

static bool
take_messages(struct perftest *t, uint64_t n)
{
	double until = partner_now() + PATIENCE_MS;

	while (t->p->messages < n && partner_now() < until)
		if (partner_take(t->p) == 0)
			usleep(20);
	return t->p->messages == n && t->p->bytes == n * t->size;
}

static bool
one_by_one(struct perftest *t, bool first)
{
	for (uint32_t i = 1; i <= t->iterations; i++) {
		if (!first && !take_messages(t, i))
			return false;
		post_send(t);
		if (partner_complete(t->p, 1) != 0 || (first && !take_messages(t, i)))
			return false;
	}
	return true;
}

static bool
send_bw_client(struct perftest *t)
{
	return stream(t, post_send);
}

static bool
send_bw_server(struct perftest *t)
{
	return take_messages(t, t->iterations);
}

static bool
send_lat_client(struct perftest *t)
{
	return one_by_one(t, true);
}

static bool
send_lat_server(struct perftest *t)
{
	return one_by_one(t, false);
}

static bool
write_bw_client(struct perftest *t)
{
	return stream(t, post_write);
}

/* The peer does it all alone. */
static bool
idle(struct perftest *t)
{
	(void)t;
	return true;
}

/* The last byte counts, and is the last to arrive. */
static bool
wait_for_count(struct perftest *t, uint32_t count)
{
	const volatile uint8_t *last = t->p->region + t->size - 1;
	double until = partner_now() + PATIENCE_MS;

	while (*last != (uint8_t)count && partner_now() < until)
		partner_poll(t->p, 0.05);
	return *last == (uint8_t)count;
}

static bool
count_by_writes(struct perftest *t, bool first)
{
	for (uint32_t i = 1; i <= t->iterations; i++) {
		if (!first && !wait_for_count(t, i))
			return false;
		t->p->sending[t->size - 1] = (uint8_t)i;
		post_write(t);
		if (partner_complete(t->p, 1) != 0 || (first && !wait_for_count(t, i)))
			return false;
	}
	return true;
}

static bool
write_lat_client(struct perftest *t)
{
	return count_by_writes(t, false);
}

static bool
write_lat_server(struct perftest *t)
{
	return count_by_writes(t, true);
}

static bool
read_bw_client(struct perftest *t)
{
	return stream(t, post_read);
}

static bool
read_lat_client(struct perftest *t)
{
	for (uint32_t i = 0; i < t->iterations; i++) {
		post_read(t);
		if (partner_complete(t->p, 1) != 0)
			return false;
	}
	return true;
}

/* There is no other that adds: each finds what the one before it left. */
static bool
atomic_client(struct perftest *t)
{
	uint64_t first = 0, was;

	for (uint32_t i = 0; i < t->iterations; i++) {
		DAT_LMR_TRIPLET iov = near(t);
		DAT_RMR_TRIPLET word = far(t);

		partner_must(dat_ib_post_fetch_and_add(t->p->ep, 1, &iov, cookie, &word,
					     DAT_COMPLETION_DEFAULT_FLAG),
				"dat_ib_post_fetch_and_add");
		if (partner_complete(t->p, 1) != 0)
			return false;
		memcpy(&was, t->p->sending, sizeof(was));
		if (i == 0)
			first = was;
		if (was != first + i)
			return false;
	}
	return true;
}

static const struct test tests[] = {
	{ "send_bw", 3, 1, send_bw_client, send_bw_server },
	{ "send_lat", 3, 1, send_lat_client, send_lat_server },
	{ "write_bw", 2, 2, write_bw_client, idle },
	{ "write_lat", 3, 0, write_lat_client, write_lat_server },
	{ "read_bw", 2, 2, read_bw_client, idle },
	{ "read_lat", 3, 1, read_lat_client, idle },
	{ "atomic_bw", 2, 2, atomic_client, idle },
	{ "atomic_lat", 3, 1, atomic_client, idle },
};

/* Version, lengths, MTU. The server says again what it heard, but for the MTU. */
static void
greet(struct perftest *t)
{
	struct roce_dat_ep_local local;
	char version[16] = VERSION, mtu[2] = "", theirs[2];
	uint32_t buffer = htobe32(BUFFER), line = htobe32(CACHE_LINE), code = 1;

	partner_must(roce_dat_ep_query(t->p->ep, &local), "roce_dat_ep_query");
	for (uint32_t bytes = 256; bytes < local.mtu; bytes *= 2)
		code++;
	mtu[0] = (char)('0' + code);
	perftest_wire_swap(&t->wire, version, version, sizeof(version));
	perftest_wire_swap(&t->wire, &buffer, &buffer, sizeof(buffer));
	perftest_wire_swap(&t->wire, &line, &line, sizeof(line));
	perftest_wire_swap(&t->wire, mtu, theirs, sizeof(mtu));
	t->mtu = 128u << (theirs[0] < mtu[0] ? theirs[0] - '0' : mtu[0] - '0');
	t->here = (struct perftest_end){ .out_reads = READS,
		.qpn = local.qpn,
		.psn = local.psn,
		.rkey = t->p->region_rmr,
		.vaddr = (uint64_t)(uintptr_t)t->p->region };
	memcpy(t->here.gid, local.gid, sizeof(local.gid));
}

/* The test's connection is that of the numbers that were told. */
static void
connect_by_numbers(struct perftest *t)
{
	uint8_t reads = (uint8_t)(t->there.out_reads < READS ? t->there.out_reads : READS);
	struct roce_dat_ep_peer peer = { .qpn = t->there.qpn,
		.rq_psn = t->there.psn,
		.sq_psn = t->here.psn,
		.mtu = t->mtu,
		.max_rd_atomic = reads,
		.max_dest_rd_atomic = reads };

	memcpy(peer.gid, t->there.gid, sizeof(peer.gid));
	partner_must(roce_dat_ep_connect(t->p->ep, &peer), "roce_dat_ep_connect");
	if (partner_connection_event(t->p) != DAT_CONNECTION_EVENT_ESTABLISHED)
		partner_die("the test's connection", DAT_ABORT);
}

static void
meet(struct perftest *t, const char *host)
{
	const struct perftest_end nothing = { 0 };
	struct perftest_end unused;

	if (t->wire.cm) {
		perftest_wire_swap_end(&t->wire, &nothing, &unused);
		perftest_wire_second(&t->wire, host);
		perftest_wire_swap_end(&t->wire, &nothing, &unused);
	}
	/* Not before: they would not outlive an attempt to connect; and both ends still wait for each other. */
	partner_post_receives(t->p);
	perftest_wire_swap_end(&t->wire, &t->here, &t->there);
	if (!t->wire.cm)
		connect_by_numbers(t);
	for (unsigned int i = 0; i < t->test->waits; i++)
		perftest_wire_swap_end(&t->wire, &t->here, &unused);
}

static void
part(struct perftest *t)
{
	/* Bytes, how many, two bandwidths and a rate (which nobody measures here). */
	const uint64_t report[5] = { htobe64(t->size), htobe64(t->iterations) };
	struct perftest_end unused;
	uint64_t theirs;

	if (t->test->after > 0)
		perftest_wire_swap_end(&t->wire, &t->here, &unused);
	if (t->test->after > 1) {
		for (int i = 0; i < 5; i++)
			perftest_wire_swap(&t->wire, &report[i], &theirs, sizeof(theirs));
		perftest_wire_swap_end(&t->wire, &t->here, &unused);
	}
	perftest_wire_close(&t->wire);
}

/* The traces of a peer in our memory, which it left all alone. */
static bool
memory_shows_it(const struct perftest *t)
{
	uint64_t word;
	uint32_t left = 0;

	memcpy(&word, t->p->region, sizeof(word));
	if (strncmp(t->test->name, "atomic", 6) == 0)
		return word != t->before;
	for (uint32_t i = 0; i < t->size; i++)
		left += t->p->region[i] == (uint8_t)i;
	/* The bytes that come are random, and may be those that were there: byte by byte that is rare, of two bytes not enough. */
	if (t->size < CACHE_LINE)
		return true;
	if (strcmp(t->test->name, "write_bw") == 0)
		return left < t->size / 4 + 1;
	return strcmp(t->test->name, "write_lat") == 0 || left == t->size;
}

int
partner_perftest(struct partner *p, const char *name, const char *host)
{
	struct perftest t = { .p = p,
		.wire = { .p = p, .client = host != NULL, .cm = p->options.cm, .fd = -1 },
		.iterations = p->options.rounds,
		.size = strncmp(name, "atomic", 6) == 0 ? 8 : p->options.size };
	bool ok;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (strcmp(tests[i].name, name) == 0)
			t.test = &tests[i];
	if (t.test == NULL || t.size == 0 || t.size > PARTNER_REGION)
		return 2;
	p->options.any_content = true;
	for (uint32_t i = 0; i < PARTNER_REGION; i++)
		p->region[i] = (uint8_t)i;
	memcpy(&t.before, p->region, sizeof(t.before));
	/* Where a peer counts, nothing looks like a number of it. */
	if (strcmp(name, "write_lat") == 0)
		p->region[t.size - 1] = 0;
	partner_make_ep(p);
	perftest_wire_open(&t.wire, host);
	greet(&t);
	meet(&t, host);
	ok = host != NULL ? t.test->client(&t) : t.test->server(&t);
	printf("%s: %u of %u bytes: %s\n", name, t.iterations, t.size, ok ? "ok" : "FAILED");
	fflush(stdout);
	part(&t);
	if (host == NULL && !memory_shows_it(&t)) {
		printf("FAILED: the memory is not what the peer should have left\n");
		ok = false;
	}
	partner_poll(p, 1000);
	return ok ? 0 : 1;
}
