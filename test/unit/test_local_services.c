/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Service ids of a process while roced does not read (local/services.c): a message about one waits, and is not lost. And the
 * wait for its answer.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "local_rig.h"

#define SELF 3
#define PORT 7471

/** A message that is due comes within it, on however busy a machine. */
#define PATIENCE_MS 4000

static struct roce_local *local;
static unsigned int waiting; /**< messages that roced has not read */

#define HOUR_S 3600

/* The time of day is an hour ahead of what the library was told: it was set since. */
static bool clock_is_set;

/* A thread that has waited for an hour when it begins to. */
static _Thread_local bool gives_up;

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	int rc = (int)syscall(SYS_clock_gettime, clock_id, tp);

	if (gives_up || (clock_is_set && clock_id == CLOCK_REALTIME))
		tp->tv_sec -= HOUR_S;
	return rc;
}

static int
setup(void **state)
{
	local = rig_open(SELF);
	return 0;
}

static int
teardown(void **state)
{
	roce_local_drop_services(local);
	rig_close(local);
	return 0;
}

/* Roced does not read, and there is no room for one more message to it. */
static void
fill(void)
{
	const struct roce_msg msg = { .type = ROCE_MSG_OPEN, .peer.number = SELF };

	for (waiting = 0; roce_msg_send(local->socket, &msg, NULL, 0) == 0;)
		waiting++;
	assert_true(waiting > 0);
}

static void
read_all(void)
{
	while (waiting-- > 0)
		assert_int_equal(rig_told(local).type, ROCE_MSG_OPEN);
}

/* The next message to roced, which may take a while. */
static struct roce_msg
await_told(void)
{
	char peek;

	for (unsigned int ms = 0; ms < PATIENCE_MS; ms++) {
		if (recv(rig_roced(local), &peek, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			break;
		usleep(1000);
	}
	return rig_told(local);
}

static void
answer(uint64_t service_id)
{
	const struct roce_msg_listened listened = { .service_id = service_id };

	roce_local_take_answer(local, &listened);
}

static void *
listen_to_port(void *arg)
{
	*(int *)arg = roce_local_listen(local, PORT);
	return NULL;
}

static void *
give_up_port(void *arg)
{
	gives_up = true;
	return listen_to_port(arg);
}

static void *
leave_port(void *arg)
{
	roce_local_unlisten(local, PORT);
	return NULL;
}

/* The port is this process's. */
static void
take_port(void)
{
	pthread_t thread;
	int rc = -1;

	assert_int_equal(pthread_create(&thread, NULL, listen_to_port, &rc), 0);
	assert_int_equal(await_told().type, ROCE_MSG_LISTEN);
	answer(PORT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rc, 0);
}

UNIT_RULE(listen__waits_for_a_roced_that_does_not_read)
{
	struct roce_msg msg;
	pthread_t thread;
	int rc = -1;

	fill();
	assert_int_equal(pthread_create(&thread, NULL, listen_to_port, &rc), 0);
	usleep(20000);
	read_all();
	msg = await_told();
	assert_int_equal(msg.type, ROCE_MSG_LISTEN);
	assert_int_equal(msg.service.service_id, PORT);
	answer(PORT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rc, 0);
}

/* Else the port would be taken for as long as the process lives. */
UNIT_RULE(unlisten__waits_for_a_roced_that_does_not_read)
{
	uint64_t service_id;
	struct roce_msg msg;
	pthread_t thread;

	take_port();
	fill();
	assert_int_equal(pthread_create(&thread, NULL, leave_port, NULL), 0);
	usleep(20000);
	read_all();
	msg = await_told();
	assert_int_equal(msg.type, ROCE_MSG_UNLISTEN);
	assert_int_equal(msg.service.service_id, PORT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(roce_local_service_at(local, 0, &service_id));
}

/* Its roced never hears that it was given back meanwhile, so that no other process gets it. */
UNIT_RULE(unlisten__is_over_when_another_thread_listens_again)
{
	uint64_t service_id;
	pthread_t thread;

	take_port();
	fill();
	assert_int_equal(pthread_create(&thread, NULL, leave_port, NULL), 0);
	for (unsigned int ms = 0; ms < PATIENCE_MS; ms++) {
		bool leaving;

		pthread_mutex_lock(&local->lock);
		leaving = local->services->leaving;
		pthread_mutex_unlock(&local->lock);
		if (leaving)
			break;
		usleep(1000);
	}
	assert_int_equal(roce_local_listen(local, PORT), 0);
	read_all();
	assert_int_equal(pthread_join(thread, NULL), 0);
	rig_told_nothing(local);
	assert_true(roce_local_service_at(local, 0, &service_id));
	roce_local_unlisten(local, PORT);
	assert_int_equal(await_told().type, ROCE_MSG_UNLISTEN);
	assert_false(roce_local_service_at(local, 0, &service_id));
}

/* That many threads listen to the port, or wait to. */
static void
await_uses(unsigned int uses)
{
	bool there = false;

	for (unsigned int ms = 0; !there && ms < PATIENCE_MS; ms++) {
		pthread_mutex_lock(&local->lock);
		there = local->services != NULL && local->services->uses == uses;
		pthread_mutex_unlock(&local->lock);
		usleep(1000);
	}
	assert_true(there);
}

/* A leap of the time of day neither ends the wait nor prolongs it. */
UNIT_RULE(listen__waits_whatever_the_time_of_day_is_set_to)
{
	clock_is_set = true;
	take_port();
	clock_is_set = false;
}

/* Both have asked for the port by one message. The answer that comes after the first has given up is the other's. */
UNIT_RULE(listen__that_gives_up_leaves_the_port_to_others_that_wait)
{
	pthread_t first, second;
	int early = -1, late = -1;
	uint64_t service_id;

	fill();
	assert_int_equal(pthread_create(&first, NULL, give_up_port, &early), 0);
	await_uses(1);
	assert_int_equal(pthread_create(&second, NULL, listen_to_port, &late), 0);
	await_uses(2);
	read_all();
	assert_int_equal(pthread_join(first, NULL), 0);
	assert_int_equal(early, -ETIMEDOUT);
	assert_true(roce_local_service_at(local, 0, &service_id));
	assert_int_equal(await_told().type, ROCE_MSG_LISTEN);
	answer(PORT);
	assert_int_equal(pthread_join(second, NULL), 0);
	assert_int_equal(late, 0);
	roce_local_unlisten(local, PORT);
	assert_int_equal(await_told().type, ROCE_MSG_UNLISTEN);
	assert_false(roce_local_service_at(local, 0, &service_id));
}

/* Roced reads the question later, and would take the process for a listener until it ends. */
UNIT_RULE(listen__that_gives_up_gives_the_port_back)
{
	pthread_t thread;
	uint64_t service_id;
	int rc = 0;

	assert_int_equal(pthread_create(&thread, NULL, give_up_port, &rc), 0);
	assert_int_equal(await_told().type, ROCE_MSG_LISTEN);
	assert_int_equal(await_told().type, ROCE_MSG_UNLISTEN);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_false(roce_local_service_at(local, 0, &service_id));
}

/* The last of those that hear no drops it, and a later one asks anew. */
UNIT_RULE(listen__that_is_refused_leaves_nothing)
{
	const struct roce_msg_listened refused = { .service_id = PORT, .error = -EADDRINUSE };
	pthread_t first, second;
	int one = 0, other = 0;
	uint64_t service_id;

	assert_int_equal(pthread_create(&first, NULL, listen_to_port, &one), 0);
	await_uses(1);
	assert_int_equal(pthread_create(&second, NULL, listen_to_port, &other), 0);
	await_uses(2);
	assert_int_equal(await_told().type, ROCE_MSG_LISTEN);
	roce_local_take_answer(local, &refused);
	assert_int_equal(pthread_join(first, NULL), 0);
	assert_int_equal(pthread_join(second, NULL), 0);
	assert_int_equal(one, -EADDRINUSE);
	assert_int_equal(other, -EADDRINUSE);
	assert_false(roce_local_service_at(local, 0, &service_id));
	take_port();
	roce_local_unlisten(local, PORT);
	assert_int_equal(await_told().type, ROCE_MSG_UNLISTEN);
}
