/* SPDX-License-Identifier: BSD-3-Clause */

/* Processes that start at once in one folder open their telemetry sockets one at a time: from bind to listen. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "../open_device.h"
#include "ethdev/sockets.h"

static struct roce_device *device;

static int
setup(void **state)
{
	device = open_device("port=loop0 ip=192.0.2.1/24");
	return 0;
}

static int
teardown(void **state)
{
	roce_device_close(device);
	return 0;
}

/* As another process asks: @return its lock; -1: this process has it. */
static int
lock_folder(void)
{
	int folder = open(rte_eal_get_runtime_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(folder >= 0);
	if (flock(folder, LOCK_EX | LOCK_NB) == 0)
		return folder;
	assert_int_equal(errno, EWOULDBLOCK);
	close(folder);
	return -1;
}

static bool
is_free(void)
{
	int folder = lock_folder();

	if (folder >= 0)
		close(folder);
	return folder >= 0;
}

static struct sockaddr_un
address(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/sockets.%d", rte_eal_get_runtime_dir(),
			(int)getpid());
	return sun;
}

static int
bind_one(void)
{
	const struct sockaddr_un sun = address();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(roce_sockets_bind(fd, (const struct sockaddr *)&sun, sizeof(sun)), 0);
	return fd;
}

static void
bind__has_the_lock_of_the_folder_until_listen(void **state)
{
	const struct sockaddr_un sun = address();
	int one = bind_one(), other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_false(is_free());
	/* DPDK tries more names when one is taken. */
	assert_int_equal(roce_sockets_bind(other, (const struct sockaddr *)&sun, sizeof(sun)), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_false(is_free());
	assert_int_equal(roce_sockets_listen(one, 1), 0);
	assert_true(is_free());
	close(one);
	close(other);
	unlink(sun.sun_path);
}

static void
listen__that_fails_gives_the_lock_back_and_says_why(void **state)
{
	int fd = bind_one();

	assert_int_equal(roce_sockets_listen(-1, 1), -1);
	assert_int_equal(errno, EBADF);
	assert_true(is_free());
	close(fd);
	unlink(address().sun_path);
}

static void
bind__comes_to_an_end_beside_a_process_that_keeps_the_lock(void **state)
{
	int folder = lock_folder(), fd;

	assert_true(folder >= 0);
	fd = bind_one();
	assert_int_equal(roce_sockets_listen(fd, 1), 0);
	close(folder);
	assert_true(is_free());
	close(fd);
	unlink(address().sun_path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bind__has_the_lock_of_the_folder_until_listen),
		cmocka_unit_test(listen__that_fails_gives_the_lock_back_and_says_why),
		cmocka_unit_test(bind__comes_to_an_end_beside_a_process_that_keeps_the_lock),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
