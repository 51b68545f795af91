/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that forks (udapl-roce(7), FORK): its traffic goes on, whatever the child does. The answers of each call to handles
 * of the parent: test_calls.c.
 */

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "child.h"
#include "rig.h"

#define BEFORE 32   /**< messages before the child ends, with it in its middle */
#define LENGTH 5000 /**< of a message: two packets */
#define FORKS  40

static int go_on[2]; /* a pipe: the child goes on when its parent has sent something */

/* Messages there and back, and every byte of them. */
static void
talk(unsigned int messages)
{
	static uint32_t seed;

	for (unsigned int i = 0; i < messages; i++) {
		exchange(a, b, LENGTH, ++seed);
		exchange(b, a, LENGTH, ++seed);
	}
}

static void
want_dead_handles(void)
{
	DAT_EVENT event;

	want_type(dat_evd_dequeue(a->recv, &event), DAT_INVALID_HANDLE);
	want_type(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
	want_type(dat_ep_free(b->ep), DAT_INVALID_HANDLE);
	want_type(post_send(a, 0, 64, 1), DAT_INVALID_HANDLE);
	want_type(dat_ia_close(a->ia, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
	want_type(dat_ia_close(b->ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_HANDLE);
}

/* Until the parent has sent something in the presence of its child. */
static void
wait_for_parent(void)
{
	char byte;

	assert_int_equal(read(go_on[0], &byte, 1), 1);
}

static void
leave(void **state)
{
	want_dead_handles();
	wait_for_parent();
	want_dead_handles();
}

/* With all that a process does at its end. */
static void
leave_in_order(void **state)
{
	wait_for_parent();
	want_dead_handles();
	exit(0);
}

static void
become_another(void **state)
{
	wait_for_parent();
	execlp("true", "true", (char *)NULL);
	fail();
}

static void
leave_children(void **state)
{
	pid_t grandchild;

	wait_for_parent();
	grandchild = begin_child(leave);
	want_child(grandchild);
}

static void
traffic__goes_on_whatever_a_child_does(void **state)
{
	static void (*const ways[])(
			void **) = { leave, leave_in_order, become_another, leave_children };

	talk(1);
	for (unsigned int i = 0; i < COUNT_OF(ways); i++) {
		pid_t child;

		assert_int_equal(pipe(go_on), 0);
		ok(post_recv(b, HALF, LENGTH, 0));
		ok(post_send(a, 0, LENGTH, 0));
		/* A message is under way: neither end has it in both processes. */
		child = begin_child(ways[i]);
		want_passed(0, 0, LENGTH);
		talk(BEFORE);
		assert_int_equal(write(go_on[1], "..", 2), 2);
		do {
			talk(1);
		} while (!child_is_over(child));
		talk(1);
		close(go_on[0]);
		close(go_on[1]);
	}
}

/* Calls that need no adapter work, and an adapter cannot be had. */
static void
open_in_vain(void **state)
{
	static char loop0[] = "loop0", nobody[] = "nobody";
	const char *type, *subtype;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
	DAT_PROVIDER_INFO info[16], *list[16];
	DAT_COUNT found;

	for (unsigned int i = 0; i < 16; i++)
		list[i] = &info[i];
	want_error(dat_ia_open(loop0, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	assert_ptr_equal(ia, DAT_HANDLE_NULL);
	assert_ptr_equal(async, DAT_HANDLE_NULL);
	/* Again: no lock is held, and the registry is as it was. */
	want_error(dat_ia_open(loop0, 8, &async, &ia), DAT_INSUFFICIENT_RESOURCES,
			DAT_RESOURCE_DEVICE);
	want_type(dat_ia_open(nobody, 8, &async, &ia), DAT_PROVIDER_NOT_FOUND);
	ok(dat_registry_list_providers(16, &found, list));
	assert_true(found >= 2);
	ok(dat_strerror(DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_EP, &type,
			&subtype));
}

static void
child__opens_nothing_and_lists_everything(void **state)
{
	want_child(begin_child(open_in_vain));
	talk(1);
	pair_close(&pair);
	/* Not either when everything is closed: DPDK runs as long as its process. */
	want_child(begin_child(open_in_vain));
	pair_up(&pair);
	talk(1);
}

/* A file that a socket of this process is bound to; "": it is bound to none. */
static void
file_of(int fd, char *path, size_t room)
{
	struct sockaddr_un addr = { .sun_family = AF_UNSPEC };
	socklen_t len = sizeof(addr);

	path[0] = '\0';
	if (getsockname(fd, (struct sockaddr *)&addr, &len) == 0 && addr.sun_family == AF_UNIX &&
			len > offsetof(struct sockaddr_un, sun_path))
		snprintf(path, room, "%.*s", (int)(len - offsetof(struct sockaddr_un, sun_path)),
				addr.sun_path);
}

/* Sockets that are bound to files, in this process. @return how many; all of them must be there if @p there. */
static unsigned int
bound_files(bool there)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(fds);
	while ((entry = readdir(fds)) != NULL) {
		char path[sizeof(struct sockaddr_un)];

		file_of((int)strtol(entry->d_name, NULL, 10), path, sizeof(path));
		if (path[0] == '\0')
			continue;
		n++;
		if (there)
			assert_int_equal(access(path, F_OK), 0);
	}
	closedir(fds);
	return n;
}

static void
want_no_sockets(void **state)
{
	assert_int_equal(bound_files(false), 0);
	exit(0);
}

/* Those of telemetry: a child has none of them, and does not take them away when it exits. */
static void
sockets__of_the_parent_stay(void **state)
{
	unsigned int n = bound_files(true);

	if (n == 0)
		print_message("no telemetry here: nothing to look at\n");
	for (unsigned int i = 0; i < 3; i++)
		want_child(begin_child(want_no_sockets));
	assert_int_equal(bound_files(true), n);
}

static bool stop; /* atomic */

/* Objects come and go, and so do locks. */
static void *
churn(void *arg)
{
	const DAT_IA_HANDLE ia = arg;
	DAT_PZ_HANDLE zone;
	DAT_RETURN rc = DAT_SUCCESS;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && rc == DAT_SUCCESS) {
		DAT_COUNT found;

		rc = dat_pz_create(ia, &zone);
		if (rc == DAT_SUCCESS)
			rc = dat_pz_free(zone);
		(void)dat_registry_list_providers(0, &found, NULL);
	}
	return rc == DAT_SUCCESS ? NULL : arg;
}

static void
look_around(void **state)
{
	want_dead_handles();
	open_in_vain(state);
}

/* The child is not held up by another thread, whatever that was in when the process forked. */
static void
child__is_forked_in_the_middle_of_other_threads(void **state)
{
	pthread_t thread;
	void *failed;

#ifdef __SANITIZE_ADDRESS__
	print_message("gcc's address sanitizer keeps its allocator locked in such a child\n");
	skip();
#endif
	pair_up(&pair);
	stop = false;
	thread = start(churn, a->ia);
	for (unsigned int i = 0; i < FORKS; i++)
		want_child(begin_child(look_around));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	talk(1);
}

static void
live_and_talk(void **state)
{
	pair_up(&pair);
	talk(BEFORE);
	pair_close(&pair);
}

/* The first of all: before it nothing was opened. Both have adapters of their own, at the same time. */
static void
child__that_was_forked_before_is_free(void **state)
{
	pid_t child = begin_child(live_and_talk);

	pair_up(&pair);
	do {
		talk(1);
	} while (!child_is_over(child));
}

const struct CMUnitTest tests[] = {
	rig_test(child__that_was_forked_before_is_free),
	up_test(traffic__goes_on_whatever_a_child_does),
	up_test(child__opens_nothing_and_lists_everything),
	up_test(sockets__of_the_parent_stay),
	rig_test(child__is_forked_in_the_middle_of_other_threads),
	tests_end,
};
