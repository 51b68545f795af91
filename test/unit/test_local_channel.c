/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local/channel.c: which descriptors make a channel, and that nothing of it is left behind. Roced passes on what a process
 * made, so a bell may be any descriptor at all.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local/channel.h"
#include "rules.h"

#define MEMORY sizeof(struct roce_channel_memory)
#define BELL   sizeof(struct roce_bell)
#define SEALS  (F_SEAL_SHRINK | F_SEAL_GROW)

static const struct roce_msg_channel msg = { .number = 7, .side = 0 };
static int socket_of_peer = -1;
static unsigned int files, maps;

static unsigned int
count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* Mappings of memory that can be shared. */
static unsigned int
count_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned int n = 0;
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL)
		n += strstr(line, "/memfd:") != NULL;
	fclose(file);
	return n;
}

static int
setup(void **state)
{
	files = count_files();
	maps = count_maps();
	return 0;
}

/* Each rule closes what it has. */
static int
teardown(void **state)
{
	if (socket_of_peer >= 0)
		close(socket_of_peer);
	socket_of_peer = -1;
	assert_int_equal(count_files(), files);
	assert_int_equal(count_maps(), maps);
	return 0;
}

static size_t
whole_pages(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static int
make_file(size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int
make_memory(size_t size)
{
	int fd = roce_channel_create_memory("test", size);

	assert_true(fd >= 0);
	return fd;
}

static int
make_socket(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	if (socket_of_peer >= 0)
		close(socket_of_peer);
	socket_of_peer = pair[1];
	return pair[0];
}

/* @return the channel of these descriptors, which it takes over. */
static struct roce_channel *
open_channel(int memory, int bell)
{
	const int fds[] = { memory, bell, make_socket() };

	return roce_channel_open(&msg, fds);
}

/* ---- memory ---- */

UNIT_RULE(memory__is_sealed_and_zero)
{
	int fd = make_memory(MEMORY);
	const uint8_t *bytes = mmap(NULL, MEMORY, PROT_READ, MAP_SHARED, fd, 0);
	int seals = fcntl(fd, F_GET_SEALS);

	assert_ptr_not_equal(bytes, MAP_FAILED);
	for (size_t i = 0; i < MEMORY; i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(seals & SEALS, SEALS);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, 1 << 20), -1);
	munmap((void *)(uintptr_t)bytes, MEMORY);
	close(fd);
}

/* A program that is executed does not have it. */
UNIT_RULE(memory__is_closed_by_exec)
{
	int fd = make_memory(BELL);

	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
}

UNIT_RULE(map__is_shared)
{
	int fd = make_memory(BELL);
	struct roce_bell *a = roce_channel_map(fd, BELL), *b = roce_channel_map(fd, BELL);

	assert_non_null(a);
	assert_non_null(b);
	(void)roce_bell_ring(a, 5);
	assert_true(roce_bell_has_rung(b));
	roce_channel_unmap(a, BELL);
	roce_channel_unmap(b, BELL);
	close(fd);
}

/* The peer could cut it off, and the next access would end this process. */
UNIT_RULE(map__refuses_memory_that_is_not_sealed)
{
	static const int seals[] = { 0, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL };

	for (size_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		int fd = make_file(whole_pages(BELL), seals[i]);

		assert_null(roce_channel_map(fd, BELL));
		assert_int_equal(errno, EINVAL);
		close(fd);
	}
}

/* A byte more or less, or a page. */
UNIT_RULE(map__refuses_memory_of_another_size)
{
	const size_t right = whole_pages(MEMORY);
	const size_t sizes[] = { 0, 1, MEMORY, right - 1, right + 1, right - 4096, right + 4096,
		2 * right };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = make_file(sizes[i], SEALS);

		if (sizes[i] != right) {
			assert_null(roce_channel_map(fd, MEMORY));
			assert_int_equal(errno, EINVAL);
		}
		close(fd);
	}
}

UNIT_RULE(map__takes_sealed_memory_of_its_size)
{
	int fd = make_file(whole_pages(MEMORY), SEALS);
	void *memory = roce_channel_map(fd, MEMORY);

	assert_non_null(memory);
	roce_channel_unmap(memory, MEMORY);
	close(fd);
}

/* Memory without seals: it cannot be mapped, or can change its size. */
UNIT_RULE(map__refuses_what_is_no_memory)
{
	char path[] = "/tmp/roce-channel-XXXXXX";
	int pipes[2], file_socket, file = mkstemp(path);

	assert_int_equal(pipe(pipes), 0);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)whole_pages(BELL)), 0);
	assert_null(roce_channel_map(pipes[0], BELL));
	assert_null(roce_channel_map(file, BELL));
	assert_null(roce_channel_map(-1, BELL));
	file_socket = make_socket();
	assert_null(roce_channel_map(file_socket, BELL));
	close(file_socket);
	unlink(path);
	close(file);
	close(pipes[0]);
	close(pipes[1]);
}

/* Memory that may not be written is of no use. */
UNIT_RULE(map__refuses_memory_that_cannot_be_written)
{
	int sealed = make_file(whole_pages(BELL), SEALS | F_SEAL_WRITE);
	int future = make_file(whole_pages(BELL), SEALS | F_SEAL_FUTURE_WRITE);
	char path[32];
	int readable, whole = make_memory(BELL);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", whole);
	readable = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(readable >= 0);
	assert_null(roce_channel_map(sealed, BELL));
	assert_null(roce_channel_map(future, BELL));
	assert_null(roce_channel_map(readable, BELL));
	close(readable);
	close(whole);
	close(future);
	close(sealed);
}

/* ---- a channel ---- */

/* Each side sends by the ring that the other one receives from. */
UNIT_RULE(open__gives_each_side_a_ring)
{
	int memory = make_memory(MEMORY), bell = make_memory(BELL), pair[2];
	struct roce_channel *side[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct roce_msg_channel to = { .number = 10 + i, .side = i };
		const int fds[] = { dup(memory), dup(bell), pair[i] };

		side[i] = roce_channel_open(&to, fds);
		assert_non_null(side[i]);
		assert_fields(*side[i], (number, 10 + i), (hot, false), (broken, false),
				(stalled, false));
	}
	for (uint32_t i = 0; i < 2; i++) {
		bool broken = false;
		uint32_t len;

		assert_non_null(roce_ring_put(&side[i]->tx, 60 + i, &broken));
		roce_channel_publish(side[i], 0);
		assert_false(roce_ring_is_ready(&side[i]->rx));
		assert_non_null(roce_ring_next(&side[!i]->rx, &len, &broken));
		assert_int_equal(len, 60 + i);
	}
	roce_channel_close(side[0]);
	roce_channel_close(side[1]);
	close(memory);
	close(bell);
}

/* A refused channel leaves no descriptor and no mapping, for each reason. */
UNIT_RULE(open__refuses_wrong_memory)
{
	assert_null(open_channel(make_memory(BELL), make_memory(BELL)));
	assert_null(open_channel(make_memory(MEMORY), make_memory(MEMORY)));
	assert_null(open_channel(make_memory(BELL), make_memory(MEMORY)));
	assert_null(open_channel(make_file(whole_pages(MEMORY), 0), make_memory(BELL)));
	assert_null(open_channel(make_memory(MEMORY), make_file(whole_pages(BELL), 0)));
	assert_null(open_channel(make_memory(MEMORY), open("/dev/zero", O_RDWR | O_CLOEXEC)));
	assert_null(open_channel(make_socket(), make_socket()));
}

UNIT_RULE(close__releases_everything)
{
	for (unsigned int i = 0; i < 100; i++)
		roce_channel_close(open_channel(make_memory(MEMORY), make_memory(BELL)));
	roce_channel_close(NULL);
}

/* Its end is what the peer hears first, whether roced lives or not. */
UNIT_RULE(close__is_seen_by_the_peer)
{
	struct roce_channel *channel = open_channel(make_memory(MEMORY), make_memory(BELL));
	struct pollfd end = { .fd = socket_of_peer, .events = 0 };

	assert_non_null(channel);
	assert_int_equal(poll(&end, 1, 0), 0);
	roce_channel_close(channel);
	assert_int_equal(poll(&end, 1, 0), 1);
	assert_int_equal(end.revents & POLLHUP, POLLHUP);
}

/* ---- waking ---- */

static bool
is_woken(void)
{
	char bytes[64];

	return recv(socket_of_peer, bytes, sizeof(bytes), MSG_DONTWAIT) > 0;
}

static void
publish(struct roce_channel *channel)
{
	bool broken = false;

	assert_non_null(roce_ring_put(&channel->tx, 60, &broken));
	channel->touched = true;
	roce_channel_publish(channel, 9);
	assert_false(channel->touched);
}

/* A peer that polls hears nothing, one that has armed has its bell rung, and one that sleeps is woken. */
UNIT_RULE(publish__tells_the_peer_no_more_than_it_wants)
{
	struct roce_channel *channel = open_channel(make_memory(MEMORY), make_memory(BELL));

	assert_non_null(channel);
	publish(channel);
	assert_false(roce_bell_has_rung(channel->bell));
	assert_false(is_woken());
	channel->tx.ring->armed = 1;
	publish(channel);
	assert_int_equal(roce_bell_take_summary(channel->bell), 1);
	assert_int_equal(roce_bell_take(channel->bell, 0), 1 << 9);
	assert_false(is_woken());
	channel->bell->sleeping = 1;
	publish(channel);
	assert_true(roce_bell_has_rung(channel->bell));
	assert_true(is_woken());
	roce_channel_close(channel);
}

UNIT_RULE(wake__fills_no_socket_and_ends_no_process)
{
	struct roce_channel *channel = open_channel(make_memory(MEMORY), make_memory(BELL));

	assert_non_null(channel);
	for (unsigned int i = 0; i < 100000; i++)
		roce_channel_wake(channel);
	close(socket_of_peer);
	socket_of_peer = -1;
	roce_channel_wake(channel);
	roce_channel_drain_wake(channel);
	roce_channel_close(channel);
}

/* The peer's bytes, however many: a bound for each call, and nothing is waited for. */
UNIT_RULE(drain__empties_the_socket)
{
	struct roce_channel *channel = open_channel(make_memory(MEMORY), make_memory(BELL));
	struct pollfd in;

	assert_non_null(channel);
	in = (struct pollfd){ .fd = channel->wake, .events = POLLIN };
	roce_channel_drain_wake(channel);
	for (unsigned int i = 0; i < 60; i++)
		assert_int_equal(send(socket_of_peer, "", 1, MSG_DONTWAIT), 1);
	assert_int_equal(poll(&in, 1, 0), 1);
	roce_channel_drain_wake(channel);
	assert_int_equal(poll(&in, 1, 0), 0);
	roce_channel_close(channel);
}
