/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * For consumers of DAT 2.0 the provider has a thread that polls adapters while nobody calls. Between two looks it naps:
 * here, in a program that has a nanosleep() of its own, until the provider joins it. So an adapter stays as it is between
 * the calls of its consumer, whatever the machine has to do.
 */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "../vdev/dat_pair.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held, napping, refused;

static void
stay_held(void)
{
	pthread_mutex_lock(&lock);
	while (held) {
		napping = true;
		pthread_cond_broadcast(&changed);
		pthread_cond_wait(&changed, &lock);
	}
	napping = false;
	pthread_mutex_unlock(&lock);
}

/* In place of libc's, which the provider, loaded later, would call. The first thread is the test's own. */
int
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has reserved ones. */
nanosleep(const struct timespec *time, struct timespec *left)
{
	if (gettid() != getpid())
		stay_held();
	/* As long as the caller asks for. */
	return clock_nanosleep(CLOCK_REALTIME, 0, time, left) == 0 ? 0 : -1;
}

/* And in place of these two. */
int
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has reserved ones. */
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	union {
		void *symbol;
		int (*call)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	} libc = { .symbol = dlsym(RTLD_NEXT, "pthread_create") };

	return refused ? EAGAIN : libc.call(thread, attr, run, arg);
}

void
refuse_progress(bool on)
{
	refused = on;
}

void
hold_progress(void)
{
	pthread_mutex_lock(&lock);
	held = true;
	while (!napping)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

int
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has reserved ones. */
pthread_join(pthread_t thread, void **result)
{
	union {
		void *symbol;
		int (*call)(pthread_t, void **);
	} libc = { .symbol = dlsym(RTLD_NEXT, "pthread_join") };

	pthread_mutex_lock(&lock);
	held = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return libc.call(thread, result);
}
