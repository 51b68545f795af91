/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ethdev/memif_socket.h"
#include "local/run_dir.h"
#include "rules.h"

static char base[] = "/tmp/roce-memif-XXXXXX";

static struct roce_memif_place
place_of(const char *given, bool abstract)
{
	struct roce_memif_place place;
	char text[256] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	if (roce_memif_place(given, abstract, &place, &errmsg) != 0)
		fail_msg("%s", text);
	assert_int_equal(place.abstract, abstract);
	return place;
}

static void
assert_refused(const char *given, bool abstract)
{
	struct roce_memif_place place;
	char text[256] = "";
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	assert_int_equal(roce_memif_place(given, abstract, &place, &errmsg), -EINVAL);
	assert_non_null(strstr(text, "socket="));
}

/* No other user may look into it, and a folder that others may look into is not taken. */
UNIT_RULE_IN(folder__is_the_users_own, NULL, NULL)
{
	char path[64], want[64];
	struct roce_errmsg errmsg = { 0 };
	struct stat st;

	snprintf(want, sizeof(want), "%s/udapl-roce", base);
	assert_int_equal(roce_run_dir(path, sizeof(path), &errmsg), 0);
	assert_string_equal(path, want);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(chmod(path, 0770), 0);
	assert_int_equal(roce_run_dir(path, sizeof(path), &errmsg), 0);
	assert_string_not_equal(path, want);
	assert_int_equal(chmod(want, 0700), 0);
}

/* As a user that nobody is, whose names in /tmp and /dev/shm somebody else has taken. */
static void
judge_without_folder(uid_t uid)
{
	char path[64], text[256] = "", want[64];
	struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

	unsetenv("XDG_RUNTIME_DIR");
	if (setresuid(uid, uid, uid) != 0 || roce_run_dir(path, sizeof(path), &errmsg) != -EACCES)
		_exit(1);
	snprintf(want, sizeof(want), "/tmp/udapl-roce-%u belongs to user 0", (unsigned int)uid);
	_exit(strstr(text, want) == NULL ? 2 : 0);
}

UNIT_RULE_IN(folder__names_the_user_who_has_taken_it, NULL, NULL)
{
	uid_t uid = 2000000000 + (uid_t)getpid();
	char names[2][64];
	int status;
	pid_t child;

	if (geteuid() != 0)
		skip();
	snprintf(names[0], sizeof(names[0]), "/tmp/udapl-roce-%u", (unsigned int)uid);
	snprintf(names[1], sizeof(names[1]), "/dev/shm/udapl-roce-%u", (unsigned int)uid);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(mkdir(names[i], 0700), 0);
	child = fork();
	if (child == 0)
		judge_without_folder(uid);
	assert_int_equal(waitpid(child, &status, 0), child);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rmdir(names[i]), 0);
	assert_int_equal(status, 0);
}

/* As a program with the rights of a user beside its own: those of @p uid count, and the caller's are none. */
static void
judge_with_rights_of(uid_t uid)
{
	char path[64], want[64];
	struct roce_errmsg errmsg = { 0 };

	unsetenv("XDG_RUNTIME_DIR");
	snprintf(want, sizeof(want), "/tmp/udapl-roce-%u", (unsigned int)uid);
	if (setresuid(uid + 1, uid, uid) != 0 || roce_run_dir(path, sizeof(path), &errmsg) != 0)
		_exit(1);
	_exit(strcmp(path, want) == 0 && rmdir(path) == 0 ? 0 : 2);
}

UNIT_RULE_IN(folder__is_that_of_the_user_whose_rights_a_program_has, NULL, NULL)
{
	uid_t uid = 2000000000 + (uid_t)getpid();
	int status;
	pid_t child;

	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0)
		judge_with_rights_of(uid);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

UNIT_RULE_IN(place__is_a_file_in_that_folder_unless_told, NULL, NULL)
{
	char want[64];

	snprintf(want, sizeof(want), "%s/udapl-roce/memif.sock", base);
	assert_string_equal(place_of(NULL, false).name, want);
	snprintf(want, sizeof(want), "%s/udapl-roce/wire", base);
	assert_string_equal(place_of("wire", false).name, want);
	assert_string_equal(place_of("/run/wire", false).name, "/run/wire");
	assert_string_equal(place_of("wire", true).name, "wire");
	assert_string_equal(place_of("/run/wire", true).name, "/run/wire");
}

UNIT_RULE_IN(place__fits_an_address, NULL, NULL)
{
	char longest[ROCE_MEMIF_SOCKET_LEN + 1];

	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_refused(longest, false);
	assert_refused(longest, true);
	assert_refused("", false);
	assert_refused("", true);
	longest[ROCE_MEMIF_SOCKET_LEN - 2] = '\0';
	place_of(longest, false);
	place_of(longest, true);
}

/* One listens, a second is refused, and a client is connected at once. Then the socket may be had again. */
UNIT_RULE_IN(listen__is_for_one, NULL, NULL)
{
	for (unsigned int abstract = 0; abstract < 2; abstract++) {
		struct roce_memif_place place = place_of("listen", abstract == 1);
		int fd, client;

		assert_int_equal(roce_memif_connect(place.name, abstract == 1), -ECONNREFUSED);
		fd = roce_memif_listen(&place);
		assert_true(fd >= 0);
		assert_int_equal(roce_memif_listen(&place), -EADDRINUSE);
		client = roce_memif_connect(place.name, abstract == 1);
		assert_true(client >= 0);
		close(client);
		close(fd);
		/* A file stays behind like that of a program that was killed, and is replaced. */
		fd = roce_memif_listen(&place);
		assert_true(fd >= 0);
		close(fd);
		if (abstract == 0)
			assert_int_equal(unlink(place.name), 0);
	}
}

/* A file that is no socket is somebody's. */
UNIT_RULE_IN(listen__replaces_sockets_only, NULL, NULL)
{
	struct roce_memif_place place = place_of("file", false);
	FILE *file = fopen(place.name, "we");

	assert_non_null(file);
	fclose(file);
	assert_int_equal(roce_memif_listen(&place), -ENOTSOCK);
	assert_int_equal(unlink(place.name), 0);
}

/* In a child: listen as soon as the pipe ends, tell whether that went well, and stay until the other one ends. */
static void
listen_at_once(const struct roce_memif_place *place, int begin, int told, int end)
{
	char byte;
	int fd;

	(void)!read(begin, &byte, 1);
	fd = roce_memif_listen(place);
	byte = fd >= 0 ? 'y' : 'n';
	(void)!write(told, &byte, 1);
	(void)!read(end, &byte, 1);
	_exit(0);
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Servers that start together over a socket that one before them has left: one has it, and is found there. */
UNIT_RULE_IN(listen__of_many_at_once_is_had_by_one, NULL, NULL)
{
	struct roce_memif_place place = place_of("many", false);

	for (unsigned int round = 0; round < 40; round++) {
		int begin[2], told[2], end[2], fd = roce_memif_listen(&place);
		const uint64_t began = now_ms();
		unsigned int listeners = 0;
		char byte;

		assert_true(fd >= 0);
		close(fd);
		assert_true(pipe(begin) == 0 && pipe(told) == 0 && pipe(end) == 0);
		for (unsigned int i = 0; i < 4; i++) {
			if (fork() != 0)
				continue;
			close(begin[1]);
			close(end[1]);
			listen_at_once(&place, begin[0], told[1], end[0]);
		}
		close(begin[1]);
		for (unsigned int i = 0; i < 4; i++) {
			assert_int_equal(read(told[0], &byte, 1), 1);
			listeners += byte == 'y';
		}
		fd = roce_memif_connect(place.name, false);
		assert_true(fd >= 0);
		close(fd);
		close(end[1]);
		while (wait(NULL) > 0)
			continue;
		close(begin[0]);
		close(told[0]);
		close(told[1]);
		close(end[0]);
		/* Behind a second none waits for the others any more. */
		if (now_ms() - began < 900)
			assert_int_equal(listeners, 1);
	}
	assert_int_equal(unlink(place.name), 0);
}

/* More wait than are taken: nobody is held up by it. */
UNIT_RULE_IN(connect__never_waits, NULL, NULL)
{
	struct roce_memif_place place = place_of("crowd", false);
	int fd = roce_memif_listen(&place), client[256], n = 0;

	assert_true(fd >= 0);
	while (n < 256 && (client[n] = roce_memif_connect(place.name, false)) >= 0)
		n++;
	assert_true(n < 256);
	assert_int_equal(client[n], -EAGAIN);
	while (n > 0)
		close(client[--n]);
	close(fd);
	assert_int_equal(unlink(place.name), 0);
}

int
unit_begin(void **state)
{
	return mkdtemp(base) != NULL ? setenv("XDG_RUNTIME_DIR", base, 1) : -1;
}

int
unit_end(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/udapl-roce", base);
	return rmdir(path) == 0 ? rmdir(base) : -1;
}
