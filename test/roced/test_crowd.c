/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many processes that come and go leave nothing in roced.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "frames.h"
#include "rig.h"

#define WARM_UP  1000
#define ROUNDS   10000
#define SERVICE  77
#define SLACK_KB 256 /* of the allocator: a leak of 100 bytes a round would be a megabyte */

static struct daemon roced;

static int
setup(void **state)
{
	daemon_folder(&roced);
	daemon_start(&roced, NULL);
	return 0;
}

static int
teardown(void **state)
{
	daemon_remove(&roced);
	return 0;
}

static unsigned long
memory_kb(void)
{
	char path[64], line[128];
	unsigned long kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", roced.pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "RssAnon:", 8) == 0) {
			kb = strtoul(line + 8, NULL, 10);
			break;
		}
	}
	fclose(file);
	return kb;
}

static void
request(const struct client *from)
{
	const struct frame_spec spec = {
		.attr = ROCE_CM_ATTR_REQ,
		.local_id = frame_id(from->number, 1),
		.qpn = frame_qpn(from->number, 1),
		.service_id = SERVICE,
	};
	const struct roce_msg msg = frame_message(&spec);

	client_say(from->fd, &msg);
}

/* A pair that listens, talks and goes. */
static void
visit(void)
{
	struct client a = client_attach(&roced, 0), b = client_attach(&roced, 0);

	assert_int_equal(client_listen(a.fd, SERVICE), 0);
	request(&b);
	client_hear(a.fd, ROCE_MSG_CHANNEL, NULL);
	client_hear(a.fd, ROCE_MSG_FRAME, NULL);
	client_hear(b.fd, ROCE_MSG_CHANNEL, NULL);
	client_end(&a);
	client_hear_gone(b.fd, a.number);
	client_end(&b);
}

/* Descriptors are closed by a thread: they are gone soon. */
static void
await_descriptors(unsigned int many)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < RIG_PATIENCE_MS && daemon_descriptors(roced.pid) != many; i++)
		nanosleep(&nap, NULL);
	assert_int_equal(daemon_descriptors(roced.pid), many);
}

UNIT_RULE(processes__that_came_and_went_leave_no_descriptor_and_no_memory)
{
	struct client stays = client_attach(&roced, 0);
	unsigned int before = daemon_descriptors(roced.pid);
	unsigned long kb;

	for (unsigned int i = 0; i < WARM_UP; i++)
		visit();
	await_descriptors(before);
	kb = memory_kb();
	for (unsigned int i = 0; i < ROUNDS / 2; i++)
		visit();
	await_descriptors(before);
	assert_in_range(memory_kb(), 1, kb + SLACK_KB);
	client_end(&stays);
}
