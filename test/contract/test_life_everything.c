/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thousand lives: everything opened, connected, used in every way, and closed in the middle of it. The process holds
 * as much of everything as before.
 */

#include <malloc.h>
#include <unistd.h>

#include "rig.h"

#define WARM_UP 600u /**< until what a provider keeps for a while is as much as it ever is */
#define LIVES   1000u

/** Resources of a process. */
struct holdings {
	unsigned int descriptors, threads, mappings;
	size_t bytes;    /**< of libc's; under a sanitizer, which finds leaks by itself, always 0 */
	size_t resident; /**< kilobytes, whoever has them */
};

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
use(void)
{
	const DAT_LMR_TRIPLET here = segment(a, 0, 5000);
	DAT_RMR_HANDLE rmr;

	transfer(1, 5000);
	ok(post_write(&here, target(b, 0, 5000), 3));
	ok(post_read(&here, target(b, 0, 5000), 4));
	want_sent(3, 5, 5000);
	rmr = make_rmr(a);
	bind_rmr(a, rmr, segment(a, 0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG);
}

/* Work that will never be done: messages half sent, buffers not used, reads not answered, events not taken. */
static void
begin_more(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		ok(feed(0, BUFFER_LEN, i));
		ok(post_recv(a, 0, 64, i));
		ok(post_send(a, 0, BUFFER_LEN / 4, i));
	}
	poll_both(3);
}

/*
 * When the last instance is closed every frame must have come home to its pool: the provider tells, on standard error,
 * how many have not, and says nothing else.
 */
static void
close_without_a_word(void)
{
	FILE *said = tmpfile();
	int normal = dup(STDERR_FILENO);

	assert_non_null(said);
	assert_true(normal >= 0);
	fflush(stderr);
	assert_true(dup2(fileno(said), STDERR_FILENO) >= 0);
	pair_close(&pair);
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
	DAT_RSP_HANDLE rsp;

	pair_open(&pair, NULL, n % 2 == 0 ? &(struct end_options){ .srq_depth = 8 } : NULL);
	pair_connect(&pair);
	use();
	ok(dat_rsp_create(b->ia, CONN_QUAL + 1, another_ep(b), b->cr, &rsp));
	begin_more();
	if (n % 3 == 1)
		ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	if (n % 3 == 2)
		ok(dat_ep_free(b->ep));
	if (n % 5 == 0)
		end_close(b);
	close_without_a_word();
}

/* Let the connection managers forget: for longer than they remember a connection that has ended. */
#define LINGER_US 1500000u

/* After the first lives the process grows no more. @p others, which are idle, are open: lives leave something there. */
static void
live_without_growth(const struct pair *others)
{
	struct holdings before = { 0 };

	for (unsigned int n = 0; n < WARM_UP + LIVES; n++) {
		if (n == WARM_UP && others != NULL)
			want_type(wait_for(others->a.connect, LINGER_US, 1), DAT_TIMEOUT_EXPIRED);
		if (n == WARM_UP)
			before = holds();
		live(n);
	}
	if (others != NULL)
		want_type(wait_for(others->a.connect, LINGER_US, 1), DAT_TIMEOUT_EXPIRED);
	want_no_growth(&before);
}

static void
everything__lives_a_thousand_times(void **state)
{
	live_without_growth(NULL);
}

/* The same while others have the adapters open: the devices go on, with whatever the dead have left in them. */
static void
everything__lives_beside_others(void **state)
{
	struct pair others;

	pair_open(&others, NULL, NULL);
	/* The qualifier is for the living. */
	ok(dat_psp_free(others.psp));
	live_without_growth(&others);
	pair = others;
	pair.psp = make_psp(b, CONN_QUAL, b->cr);
	pair_connect(&pair);
	use();
	close_without_a_word();
}

const struct CMUnitTest tests[] = {
	rig_test(everything__lives_a_thousand_times),
	rig_test(everything__lives_beside_others),
	tests_end,
};

int
main(void)
{
	use_no_hugepages();
	return rig_run();
}
