/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_SETUID_H
#define ROCE_TEST_SETUID_H

/** @file This test program again, as a setuid program. */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "rules.h"

/** Copy this program to @p path, which does not exist, as one with the rights of @p uid. */
static inline void
make_setuid_program(const char *path, uid_t uid)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char bytes[65536];
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	assert_int_equal(fchown(to, uid, uid), 0);
	assert_int_equal(fchmod(to, 04755), 0);
	close(from);
	close(to);
}

#endif
