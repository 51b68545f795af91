/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thousand lives: everything opened, connected, used in every way, and closed in the middle of it. The process holds
 * as much of everything as before.
 */

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include "rig.h"

#define WARM_UP 300u /**< until what a provider keeps for a while is as much as it ever is */
#define LIVES   1000u

/** What a process has. */
struct holdings {
	unsigned int descriptors, threads, mappings;
	size_t bytes;    /**< of libc's; under a sanitizer, which finds leaks by itself, always 0 */
	size_t resident; /**< kilobytes, whoever has them */
};

static unsigned int
entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int n = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

/* Lines of a file, and the number in the one that begins with @p word. */
static unsigned int
lines(const char *path, const char *word, size_t *number)
{
	FILE *f = fopen(path, "r");
	unsigned int n = 0;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (word != NULL && strncmp(line, word, strlen(word)) == 0)
			*number = strtoul(line + strlen(word), NULL, 10);
		n++;
	}
	fclose(f);
	return n;
}

static struct holdings
holds(void)
{
	struct mallinfo2 info = mallinfo2();
	struct holdings h = {
		.descriptors = entries("/proc/self/fd"),
		.threads = entries("/proc/self/task"),
		.mappings = lines("/proc/self/maps", NULL, NULL),
		.bytes = info.uordblks + info.hblkhd,
	};

	lines("/proc/self/status", "VmRSS:", &h.resident);
	return h;
}

/* Alignment makes a piece a little larger or smaller each time; one lost in every life would be far more. */
static void
want_no_growth(const struct holdings *before)
{
	struct holdings now = holds();

	print_message("%u descriptors, %u threads, %u mappings, %zu bytes, %zu kB (before: %u, %u, %u, %zu, %zu)\n",
			now.descriptors, now.threads, now.mappings, now.bytes, now.resident,
			before->descriptors, before->threads, before->mappings, before->bytes,
			before->resident);
	assert_int_equal(now.descriptors, before->descriptors);
	assert_int_equal(now.threads, before->threads);
	/* The allocator of a sanitizer maps and unmaps as it likes; one mapping lost in every life is still far more. */
	assert_in_range(now.mappings, 0, before->mappings + (before->bytes != 0 ? 8 : LIVES / 10));
	assert_in_range(now.bytes, 0, before->bytes + (size_t)32 * LIVES);
	if (before->bytes != 0)
		assert_in_range(now.resident, 0, before->resident + (size_t)4 * LIVES);
}

static void
transfer(struct pair *pair)
{
	const DAT_RMR_TRIPLET there = {
		.rmr_context = pair->b.key,
		.target_address = (uintptr_t)pair->b.buffer,
		.segment_length = 5000,
	};
	DAT_LMR_TRIPLET here = segment(&pair->a, 0, 5000);

	ok(pair->b.srq != DAT_HANDLE_NULL ? post_srq(&pair->b, 0, 5000, 1)
					  : post_recv(&pair->b, 0, 5000, 1));
	ok(post_send(&pair->a, 0, 5000, 2));
	want_dto(&pair->b, pair->b.recv, 1, DAT_DTO_SUCCESS, 5000);
	want_dto(&pair->a, pair->a.request, 2, DAT_DTO_SUCCESS, 5000);
	ok(dat_ep_post_rdma_write(
			pair->a.ep, 1, &here, cookie(3), &there, DAT_COMPLETION_DEFAULT_FLAG));
	ok(dat_ep_post_rdma_read(
			pair->a.ep, 1, &here, cookie(4), &there, DAT_COMPLETION_DEFAULT_FLAG));
	want_dto(&pair->a, pair->a.request, 3, DAT_DTO_SUCCESS, 5000);
	want_dto(&pair->a, pair->a.request, 4, DAT_DTO_SUCCESS, 5000);
}

static void
bind_window(struct pair *pair)
{
	DAT_LMR_TRIPLET here = segment(&pair->a, 0, 64);
	DAT_RMR_HANDLE rmr;

	ok(dat_rmr_create(pair->a.pz, &rmr));
	ok(dat_rmr_bind(rmr, &here, DAT_MEM_PRIV_REMOTE_READ_FLAG, pair->a.ep, cookie(5),
			DAT_COMPLETION_DEFAULT_FLAG, NULL));
	want_event(pair->a.request, DAT_RMR_BIND_COMPLETION_EVENT);
}

/* Work that will never be done: messages half sent, buffers not used, reads not answered, events not taken. */
static void
begin_more(struct pair *pair)
{
	for (unsigned int i = 0; i < 4; i++) {
		ok(pair->b.srq != DAT_HANDLE_NULL ? post_srq(&pair->b, 0, BUFFER_LEN, i)
						  : post_recv(&pair->b, 0, BUFFER_LEN, i));
		ok(post_recv(&pair->a, 0, 64, i));
		ok(post_send(&pair->a, 0, BUFFER_LEN / 4, i));
	}
	for (unsigned int i = 0; i < 3; i++) {
		poll_once(&pair->a);
		poll_once(&pair->b);
	}
}

/*
 * When the last instance is closed every frame must have come home to its pool: the provider tells, on standard error,
 * how many have not, and says nothing else.
 */
static void
close_without_a_word(struct pair *pair)
{
	FILE *said = tmpfile();
	int normal = dup(STDERR_FILENO);

	assert_non_null(said);
	assert_true(normal >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(said), STDERR_FILENO) >= 0);
	pair_close(pair);
	fflush(stderr);
	assert_true(dup2(normal, STDERR_FILENO) >= 0);
	close(normal);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
}

/* Open, connect, use, and end in one of several ways: with all of it under way, or after what comes before a close. */
static void
live(unsigned int n)
{
	const struct end_options shared = { .srq_depth = 8 };
	DAT_RSP_HANDLE rsp;
	DAT_EP_HANDLE ep;
	struct pair pair;

	pair_open(&pair, NULL, n % 2 == 0 ? &shared : NULL);
	pair_connect(&pair);
	transfer(&pair);
	bind_window(&pair);
	ok(dat_ep_create(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request, pair.b.connect, NULL,
			&ep));
	ok(dat_rsp_create(pair.b.ia, CONN_QUAL + 1, ep, pair.b.cr, &rsp));
	begin_more(&pair);
	if (n % 3 == 1)
		ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	if (n % 3 == 2)
		ok(dat_ep_free(pair.b.ep));
	if (n % 5 == 0)
		end_close(&pair.b);
	close_without_a_word(&pair);
}

static void
everything__lives_a_thousand_times(void **state)
{
	struct holdings before;

	for (unsigned int n = 0; n < WARM_UP; n++)
		live(n);
	before = holds();
	for (unsigned int n = 0; n < LIVES; n++)
		live(n);
	want_no_growth(&before);
}

#define LINGER_US \
	1500000u /**< longer than a connection manager remembers a connection that has ended */

/* Let the connection managers forget. */
static void
rest(const struct pair *pair)
{
	DAT_COUNT more;
	DAT_EVENT event;

	want_type(dat_evd_wait(pair->a.connect, LINGER_US, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
}

/* The same while others have the adapters open: the devices go on, with whatever the dead have left in them. */
static void
everything__lives_beside_others(void **state)
{
	struct holdings before;
	struct pair others;

	pair_open(&others, NULL, NULL);
	/* The qualifier is for the living. */
	ok(dat_psp_free(others.psp));
	for (unsigned int n = 0; n < WARM_UP; n++)
		live(n);
	rest(&others);
	before = holds();
	for (unsigned int n = 0; n < LIVES; n++)
		live(n);
	rest(&others);
	want_no_growth(&before);
	ok(dat_psp_create(others.b.ia, CONN_QUAL, others.b.cr, DAT_PSP_CONSUMER_FLAG, &others.psp));
	pair_connect(&others);
	transfer(&others);
	close_without_a_word(&others);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(everything__lives_a_thousand_times),
		rig_test(everything__lives_beside_others),
	};

	use_no_hugepages();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
