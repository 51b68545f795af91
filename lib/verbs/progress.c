/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The device of the process, and the thread that polls it. Programs of verbs were written for adapters that work by
 * themselves: they sleep in read(2) of a socket while the peer writes to their memory.
 *
 * The thread stands aside while the program polls, which it sees by a counter, and looks every few milliseconds whether that is
 * still so. Else it sleeps until a frame comes, where the device can tell, or between two looks. Events of queues and objects
 * go through it from the engine to the channels of the program.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "roce/device.h"
#include "verbs/verbs_front.h"

#define PARAMS "port=roced"

#define NS_PER_S     1000000000L
#define ASIDE_NS     50000L /**< between two looks while the program polls, at first */
#define ASIDE_MAX_NS 4000000L
#define ASIDE_POLLS \
	16u /**< in such a time, below which the program is not one that polls and does nothing else */
#define SERVE_MS     5u     /**< for which the thread polls then, whatever the program does */
#define NAP_NS       50000L /**< between two polls of a device that does not tell of frames */
#define LONG_NAP_NS  1000000L
#define NAPS         400u       /**< in a row before they are long */
#define SLEEP_NS     100000000L /**< the longest, whatever the device says of its timers */
#define SPINS        64u        /**< polls in vain before the first sleep */
#define CONTEXTS_MAX 64u        /**< whose events end a sleep; those of others wait for its end */

/** Under the lock, but where it says otherwise. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t visited;     /**< the thread has let go of the list of contexts */
	struct roce_device *device; /**< NULL: none is open. Constant while there are users. */
	LIST_HEAD(, verbs_ctx) users;
	pthread_t thread;
	int wake_fd;
	bool spins;     /**< ROCE_RUN_SPIN=1 */
	bool stop;      /**< atomic */
	bool aside;     /**< atomic: the thread stands aside */
	bool attended;  /**< atomic: the program is about to sleep */
	uint32_t polls; /**< atomic: by the program */
} progress = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake_fd = -1,
};

/*
 * The thread has it while it delivers events, and so do threads that fork: a child finds no lock of an object taken by a thread that
 * it does not have. Outermost of all.
 */
static pthread_mutex_t delivery = PTHREAD_MUTEX_INITIALIZER;

static unsigned int
dispatch(void)
{
	struct verbs_ctx *ctx;
	unsigned int n = 0;

	pthread_mutex_lock(&delivery);
	pthread_mutex_lock(&progress.lock);
	LIST_FOREACH(ctx, &progress.users, link)
		n += verbs_async_dispatch(ctx);
	pthread_mutex_unlock(&progress.lock);
	pthread_mutex_unlock(&delivery);
	return n;
}

/* Sleep until an event of a context, a call of wake(), a frame if @p rx is not -1, or the end of the time. */
static void
sleep_for(long ns, int rx)
{
	struct pollfd fds[CONTEXTS_MAX + 2] = { { .fd = progress.wake_fd, .events = POLLIN } };
	const struct timespec time = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
	struct verbs_ctx *ctx;
	eventfd_t count;
	nfds_t n = 1;

	if (rx >= 0)
		fds[n++] = (struct pollfd){ .fd = rx, .events = POLLIN };
	pthread_mutex_lock(&progress.lock);
	LIST_FOREACH(ctx, &progress.users, link) {
		if (n == CONTEXTS_MAX + 2)
			break;
		fds[n++] = (struct pollfd){ .fd = ctx->fd, .events = POLLIN };
	}
	pthread_mutex_unlock(&progress.lock);
	if (ppoll(fds, n, &time, NULL) > 0 && fds[0].revents != 0)
		(void)eventfd_read(progress.wake_fd, &count);
}

/* Nanoseconds until the device wants to be polled for its timers. */
static long
until_deadline(void)
{
	uint64_t deadline = roce_device_deadline(progress.device);
	uint64_t now = roce_device_now(progress.device), hz = roce_device_hz(progress.device);

	if (deadline <= now)
		return 0;
	if (deadline == UINT64_MAX || (deadline - now) / hz > 0)
		return SLEEP_NS;
	deadline = (deadline - now) * NS_PER_S / hz;
	return deadline < SLEEP_NS ? (long)deadline : SLEEP_NS;
}

/* No frame moved for a while. @p idle counts the polls in vain. */
static void
rest(unsigned int idle)
{
	long ns = until_deadline();
	int rx;

	if (ns == 0)
		return;
	if (!roce_device_tells_posts(progress.device)) {
		long nap = idle < SPINS + NAPS ? NAP_NS : LONG_NAP_NS;

		ns = ns < nap ? ns : nap;
	}
	rx = roce_device_rx_arm(progress.device);
	if (rx < 0) {
		sleep_for(ns < LONG_NAP_NS ? ns : LONG_NAP_NS, -1);
		return;
	}
	/* A frame that came before the device was armed does not end a sleep. */
	if (roce_device_poll(progress.device) == 0)
		sleep_for(ns, rx);
	roce_device_rx_disarm(progress.device);
}

/** The polling of the program, as the thread sees it. */
struct view {
	uint32_t polls; /**< of the program, at the last look */
	long aside_ns;  /**< the next time to stand aside */
	uint64_t serve; /**< until then the thread polls, in ticks of the device */
};

/*
 * While the program polls. A context with an event ends it, and so does verbs_progress_attend(). A program that has hardly polled
 * meanwhile looks at memory, perhaps, for what a peer writes there.
 */
static void
stand_aside(struct view *view)
{
	uint32_t polls;

	__atomic_store_n(&progress.aside, true, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&progress.attended, __ATOMIC_SEQ_CST))
		sleep_for(view->aside_ns, -1);
	__atomic_store_n(&progress.aside, false, __ATOMIC_SEQ_CST);
	polls = __atomic_load_n(&progress.polls, __ATOMIC_RELAXED);
	if (polls - view->polls >= ASIDE_POLLS) {
		view->aside_ns = view->aside_ns < ASIDE_MAX_NS / 2 ? 2 * view->aside_ns
								   : ASIDE_MAX_NS;
		return;
	}
	view->aside_ns = ASIDE_NS;
	view->serve = roce_device_now(progress.device) +
			roce_device_hz(progress.device) * SERVE_MS / 1000;
}

/* Does the program poll, so that the thread need not? */
static bool
is_polled(struct view *view)
{
	bool attended = __atomic_exchange_n(&progress.attended, false, __ATOMIC_SEQ_CST);
	uint32_t polls = __atomic_load_n(&progress.polls, __ATOMIC_RELAXED);
	bool polled = polls != view->polls;

	view->polls = polls;
	if (progress.spins || attended)
		return false;
	return polled && roce_device_now(progress.device) >= view->serve;
}

static void *
progress_main(void *arg)
{
	struct view view = { .aside_ns = ASIDE_NS };
	unsigned int idle = 0;

	while (!__atomic_load_n(&progress.stop, __ATOMIC_ACQUIRE)) {
		bool polled = is_polled(&view);
		unsigned int moved = polled ? 0 : roce_device_poll(progress.device);

		moved += dispatch();
		idle = moved > 0 || polled ? 0 : idle + 1;
		if (progress.spins || moved > 0)
			continue;
		if (polled)
			stand_aside(&view);
		else if (idle > SPINS)
			rest(idle);
	}
	return NULL;
}

static void
wake(void)
{
	(void)eventfd_write(progress.wake_fd, 1);
}

void
verbs_progress_attend(void)
{
	__atomic_store_n(&progress.attended, true, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&progress.aside, __ATOMIC_SEQ_CST))
		wake();
}

bool
verbs_progress_poll(void)
{
	/* One that is lost beside another thread's makes no difference. */
	__atomic_store_n(&progress.polls, __atomic_load_n(&progress.polls, __ATOMIC_RELAXED) + 1,
			__ATOMIC_RELAXED);
	return roce_device_poll(progress.device) > 0;
}

struct roce_device *
verbs_progress_device(void)
{
	return progress.device;
}

/* Opening and closing take turns: the lock of the list is free while the thread ends. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;

/* The lists of objects are whole in a child: no other thread is about to change one. */
static void
before_fork(void)
{
	struct verbs_ctx *ctx;

	pthread_mutex_lock(&delivery);
	pthread_mutex_lock(&progress.lock);
	LIST_FOREACH(ctx, &progress.users, link)
		pthread_mutex_lock(&ctx->lock);
}

static void
in_parent(void)
{
	struct verbs_ctx *ctx;

	LIST_FOREACH(ctx, &progress.users, link)
		pthread_mutex_unlock(&ctx->lock);
	pthread_mutex_unlock(&progress.lock);
	pthread_mutex_unlock(&delivery);
}

/* The thread is the parent's, and so are descriptors and shared memory. */
static void
forget_parent(void)
{
	struct verbs_ctx *ctx;

	pthread_mutex_init(&delivery, NULL);
	pthread_mutex_init(&turns, NULL);
	pthread_mutex_init(&progress.lock, NULL);
	LIST_FOREACH(ctx, &progress.users, link)
		pthread_mutex_init(&ctx->lock, NULL);
	if (progress.device != NULL)
		verbs_set_forked();
}

static void
watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, forget_parent);
}

/* Signals are the program's, and its threads'. */
static int
start_thread(void)
{
	sigset_t all, before;
	int rc;

	progress.stop = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&progress.thread, NULL, progress_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

/* Under the lock. */
static int
open_device(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *spin = secure_getenv("ROCE_RUN_SPIN");
	char errmsg[256] = "";
	int rc;

	pthread_once(&once, watch_forks);
	rc = roce_device_open(PARAMS, &progress.device, errmsg, sizeof(errmsg));
	if (rc != 0) {
		fprintf(stderr, "udapl-roce: roce0: %s\n",
				errmsg[0] != '\0' ? errmsg : strerror(-rc));
		return rc;
	}
	progress.spins = spin != NULL && strcmp(spin, "1") == 0;
	progress.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = progress.wake_fd < 0 ? -errno : start_thread();
	if (rc == 0)
		return 0;
	if (progress.wake_fd >= 0)
		close(progress.wake_fd);
	roce_device_close(progress.device);
	progress.device = NULL;
	return rc;
}

/* Under the lock, which is let go of meanwhile: the thread may want it. */
static void
close_device(void)
{
	__atomic_store_n(&progress.stop, true, __ATOMIC_RELEASE);
	wake();
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	pthread_mutex_lock(&progress.lock);
	close(progress.wake_fd);
	progress.wake_fd = -1;
	roce_device_close(progress.device);
	progress.device = NULL;
}

static int
join(struct verbs_ctx *ctx)
{
	int rc = roce_context_create(progress.device, &ctx->roce);

	if (rc != 0)
		return rc;
	ctx->fd = roce_context_fd(ctx->roce);
	if (ctx->fd < 0) {
		rc = ctx->fd;
		(void)roce_context_destroy(ctx->roce);
		return rc;
	}
	LIST_INSERT_HEAD(&progress.users, ctx, link);
	return 0;
}

int
verbs_progress_join(struct verbs_ctx *ctx)
{
	int rc = 0;

	if (verbs_is_forked())
		return -ENODEV;
	pthread_mutex_lock(&turns);
	pthread_mutex_lock(&progress.lock);
	if (progress.device == NULL)
		rc = open_device();
	if (rc == 0) {
		rc = join(ctx);
		if (rc != 0 && LIST_EMPTY(&progress.users))
			close_device();
	}
	if (rc == 0)
		wake();
	pthread_mutex_unlock(&progress.lock);
	pthread_mutex_unlock(&turns);
	return rc;
}

int
verbs_progress_leave(struct verbs_ctx *ctx)
{
	int rc;

	if (verbs_is_forked())
		return 0;
	pthread_mutex_lock(&turns);
	pthread_mutex_lock(&progress.lock);
	rc = roce_context_destroy(ctx->roce);
	if (rc == 0) {
		LIST_REMOVE(ctx, link);
		if (LIST_EMPTY(&progress.users))
			close_device();
	}
	pthread_mutex_unlock(&progress.lock);
	pthread_mutex_unlock(&turns);
	return rc;
}
