/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The thread that has the public sockets: it takes connections, collects handshakes, joins a complete one with the
 * driver, and sees when a peer goes. It works under one lock, but not while it waits.
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_ethdev.h>
#include <rte_version.h>

#include "ethdev/memif_pvt.h"
#include "observe/log.h"

/* Handshakes under way. One more ends another. */
#define HANDSHAKES 32

/* A peer shakes hands by then: as long as its client waits. */
#define HANDSHAKE_MS 10000

/* Of as many descriptors handshakes leave so many to the program, and to the EAL, which panics without one. */
#define SPARE_PART     4
#define SPARE_MAX      320
#define NO_DESCRIPTORS "Too few descriptors are left in the server (ulimit -n)"

/* How long nobody is taken when there is no descriptor for a connection. */
#define PAUSE_MS 100

/* The wake-up, handshakes, listeners and links with two ends each; a port has at most one listener. */
#define POLLED_MAX (1 + HANDSHAKES + 3 * RTE_MAX_ETHPORTS)

struct handshake {
	int fd; /**< -1: the place is free */
	uint64_t end;
	struct roce_memif_listener *listener;
	struct roce_memif *memif; /**< what INIT asked for; NULL: it has not come */
	struct roce_memif_offer offer;
};

static struct {
	struct handshake handshake[HANDSHAKES];
	pthread_t thread;
	int wake;  /**< an eventfd, while the thread runs */
	bool stop; /**< atomic */
} proxy = { .wake = -1 };

static void
wake_up(void)
{
	uint64_t one = 1;

	/* It fails only when there are wake-ups enough. */
	if (write(proxy.wake, &one, sizeof(one)) < 0)
		return;
}

static void
end_handshake(struct handshake *h)
{
	roce_memif_hang_up(h->fd);
	h->fd = -1;
	roce_memif_offer_fini(&h->offer);
}

/* Said once for each socket; whoever tries it again and again must not fill the log. */
static void
refuse(struct handshake *h, const char *words)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);

	if (h->listener->refused++ == 0) {
		getsockopt(h->fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
		ROCE_LOG(NOTICE,
				"memif socket %s: a connection of process %d of user %u is refused: %s; "
				"others will be, too, and are counted only",
				h->listener->place.name, (int)who.pid, (unsigned int)who.uid,
				words);
	}
	roce_memif_send_disconnect(h->fd, words);
	end_handshake(h);
}

/* Is a handshake to end before another? One that has said which port it wants is less likely a stray. */
static bool
ends_before(const struct handshake *a, const struct handshake *b)
{
	if ((a->memif == NULL) != (b->memif == NULL))
		return a->memif == NULL;
	return a->end < b->end;
}

/* A free place, or that of a handshake that is ended for it. */
static struct handshake *
make_place(void)
{
	struct handshake *first = &proxy.handshake[0];

	for (unsigned int i = 0; i < HANDSHAKES; i++) {
		struct handshake *h = &proxy.handshake[i];

		if (h->fd < 0)
			return h;
		if (ends_before(h, first))
			first = h;
	}
	refuse(first, "too many connections at once");
	return first;
}

static void
greet(struct handshake *h)
{
	struct roce_memif_msg hello = {
		.type = ROCE_MEMIF_HELLO,
		.hello = {
			.min_version = ROCE_MEMIF_VERSION,
			.max_version = ROCE_MEMIF_VERSION,
			.max_region = ROCE_MEMIF_REGIONS_MAX - 1,
			.max_c2s_ring = ROCE_ENGINES_MAX - 1,
			.max_s2c_ring = ROCE_ENGINES_MAX - 1,
			.max_log2_ring_size = ROCE_MEMIF_LOG2_RING_MAX,
		},
	};

	strncpy(hello.hello.name, rte_version(), sizeof(hello.hello.name) - 1);
	if (roce_memif_send(h->fd, &hello, -1) != 0)
		refuse(h, "it has gone already");
}

/* Descriptors are given in ascending order, so that the number of the newest tells how many there are. */
static bool
is_spare(int fd)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	getrlimit(RLIMIT_NOFILE, &limit);
	return fd >= 0 &&
			(rlim_t)fd >=
			limit.rlim_cur - RTE_MIN(limit.rlim_cur / SPARE_PART, (rlim_t)SPARE_MAX);
}

/* One connection; the next is taken in the next round, so that nobody keeps the thread for himself. */
static void
take_connection(struct roce_memif_listener *listener)
{
	struct handshake *h;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			listener->paused_until = roce_memif_now() + PAUSE_MS;
		return;
	}
	h = make_place();
	h->fd = roce_memif_close_in_children(fd);
	h->end = roce_memif_now() + HANDSHAKE_MS;
	h->listener = listener;
	h->memif = NULL;
	roce_memif_offer_init(&h->offer);
	if (is_spare(fd))
		refuse(h, NO_DESCRIPTORS);
	else
		greet(h);
}

/* The port that INIT asks for. @return NULL: found; else why not, in the driver's words where it has some. */
static const char *
find_port(struct handshake *h)
{
	const struct roce_memif_init *init = &h->offer.init;
	struct roce_memif *memif;

	LIST_FOREACH(memif, &roce_memif_all.serving, next)
		if (memif->listener == h->listener && memif->id == init->id)
			break;
	if (memif == NULL)
		return "ID not found";
	if (memif->secret[0] != '\0' &&
			strncmp(memif->secret, init->secret, sizeof(init->secret)) != 0)
		return init->secret[0] == '\0' ? "Secret required" : "Incorrect secret";
	if (memif->peer >= 0)
		return "Already connected: the link has its client";
	h->memif = memif;
	return NULL;
}

/* The handshake is complete: the driver's turn. */
static void
join(struct handshake *h)
{
	struct roce_memif *memif = h->memif;
	struct roce_memif_words said = { "" };
	struct roce_memif_msg answer = { 0 };
	const char *words;

	if (memif->peer >= 0) {
		refuse(h, "Already connected: the link has its client");
		return;
	}
	if (roce_memif_offer_check(&h->offer, memif->queues, &words) != 0) {
		refuse(h, words);
		return;
	}
	if (roce_memif_replay(memif, &h->offer, &answer, &said) != 0) {
		refuse(h, said.text);
		return;
	}
	memif->peer = h->fd;
	h->fd = -1;
	roce_memif_offer_fini(&h->offer);
	memif->notify->peer_came(memif->arg);
	/* If that fails, the end of the channel is seen next. */
	roce_memif_send(memif->peer, &answer, -1);
}

/* One message of a handshake. */
static void
go_on(struct handshake *h)
{
	static const struct roce_memif_msg ack = { .type = ROCE_MEMIF_ACK };
	struct roce_memif_msg msg;
	const char *words = NULL;
	int passed = -1;
	int rc = roce_memif_recv(h->fd, &msg, &passed);

	if (rc == -EAGAIN)
		return;
	if (rc != 0) {
		refuse(h, rc == -EPROTO ? "Invalid message size" : "it has gone already");
		return;
	}
	if (is_spare(passed)) {
		roce_memif_close_passed(passed);
		refuse(h, NO_DESCRIPTORS);
		return;
	}
	rc = roce_memif_offer_take(&h->offer, &msg, passed, &words);
	if (rc == 0 && h->memif == NULL)
		words = find_port(h);
	if (words != NULL)
		refuse(h, words);
	else if (rc == 1)
		join(h);
	else if (roce_memif_send(h->fd, &ack, -1) != 0)
		refuse(h, "it has gone already");
}

/* The order that keeps the process alive: no burst, then no connections, then no memory of the peer's. */
static void
end_link(struct roce_memif *memif)
{
	memif->notify->peer_left(memif->arg);
	roce_memif_let_go(memif);
	roce_memif_hang_up(memif->peer);
	memif->peer = -1;
}

/* Either end of a link is silent until it is the last time. */
static void
look_at_link(struct roce_memif *memif, int fd)
{
	struct roce_memif_msg msg;
	int passed = -1;
	int rc = roce_memif_recv(fd, &msg, &passed);

	if (rc == -EAGAIN)
		return;
	if (passed >= 0)
		roce_memif_close_passed(passed);
	end_link(memif);
}

/* The descriptors that are polled, and their owners. */
struct polled {
	struct pollfd fd[POLLED_MAX];
	struct handshake *handshake[POLLED_MAX];
	struct roce_memif_listener *listener[POLLED_MAX];
	struct roce_memif *memif[POLLED_MAX];
	nfds_t n;
	uint64_t until;
};

static void
add_polled(struct polled *p, int fd)
{
	p->handshake[p->n] = NULL;
	p->listener[p->n] = NULL;
	p->memif[p->n] = NULL;
	p->fd[p->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* No peer owes a message: peers have passed descriptors that wait to be closed. */
static bool
is_full(void)
{
	return roce_memif_closing() > ROCE_MEMIF_CLOSING_MAX;
}

static void
collect(struct polled *p, uint64_t now)
{
	struct roce_memif_listener *listener;
	struct roce_memif *memif;
	bool full = is_full();

	p->n = 0;
	p->until = full ? now + PAUSE_MS : UINT64_MAX;
	add_polled(p, proxy.wake);
	for (unsigned int i = 0; i < HANDSHAKES; i++) {
		struct handshake *h = &proxy.handshake[i];

		if (h->fd >= 0 && now >= h->end)
			refuse(h, "it does not finish its handshake");
		if (h->fd < 0)
			continue;
		add_polled(p, full ? -1 : h->fd);
		p->handshake[p->n - 1] = h;
		p->until = RTE_MIN(p->until, h->end);
	}
	LIST_FOREACH(listener, &roce_memif_all.listeners, next) {
		if (listener->serving > 0 && !full && now >= listener->paused_until) {
			add_polled(p, listener->fd);
			p->listener[p->n - 1] = listener;
		} else if (listener->serving > 0 && now < listener->paused_until) {
			p->until = RTE_MIN(p->until, listener->paused_until);
		}
	}
	LIST_FOREACH(memif, &roce_memif_all.serving, next) {
		if (memif->peer < 0)
			continue;
		add_polled(p, memif->peer);
		p->memif[p->n - 1] = memif;
		add_polled(p, memif->driver);
		p->memif[p->n - 1] = memif;
	}
}

/* Changes of the round before are seen by the descriptors: a place that has another is looked at in the next one. */
static void
act(const struct polled *p)
{
	for (nfds_t i = 1; i < p->n; i++) {
		int fd = p->fd[i].fd;
		struct roce_memif *memif = p->memif[i];

		if (p->fd[i].revents == 0)
			continue;
		if (p->listener[i] != NULL)
			take_connection(p->listener[i]);
		else if (p->handshake[i] != NULL && p->handshake[i]->fd == fd && !is_full())
			go_on(p->handshake[i]);
		else if (memif != NULL && (memif->peer == fd || memif->driver == fd))
			look_at_link(memif, fd);
	}
}

static void *
run(void *arg)
{
	static struct polled p;

	pthread_mutex_lock(&roce_memif_all.lock);
	while (!__atomic_load_n(&proxy.stop, __ATOMIC_ACQUIRE)) {
		uint64_t now = roce_memif_now();
		uint64_t removals, count;
		int wait = -1;

		collect(&p, now);
		removals = roce_memif_all.removals;
		if (p.until != UINT64_MAX)
			wait = p.until > now ? (int)(p.until - now) : 0;
		pthread_mutex_unlock(&roce_memif_all.lock);
		poll(p.fd, p.n, wait);
		pthread_mutex_lock(&roce_memif_all.lock);
		if (p.fd[0].revents != 0 && read(proxy.wake, &count, sizeof(count)) < 0)
			continue;
		if (removals == roce_memif_all.removals)
			act(&p);
	}
	pthread_mutex_unlock(&roce_memif_all.lock);
	return arg;
}

/* Signals are the program's, and its threads'. */
static int
start_thread(void)
{
	sigset_t all, before;
	int rc;

	proxy.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (proxy.wake < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < HANDSHAKES; i++)
		proxy.handshake[i].fd = -1;
	__atomic_store_n(&proxy.stop, false, __ATOMIC_RELEASE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&proxy.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0) {
		pthread_setname_np(proxy.thread, "roce-memif");
		return 0;
	}
	close(proxy.wake);
	proxy.wake = -1;
	return -ENOMEM;
}

int
roce_memif_begin(struct roce_memif *memif, const struct roce_memif_notify *notify, void *arg)
{
	int rc = 0;

	pthread_mutex_lock(&roce_memif_all.lock);
	if (LIST_EMPTY(&roce_memif_all.serving))
		rc = start_thread();
	if (rc == 0) {
		memif->notify = notify;
		memif->arg = arg;
		LIST_INSERT_HEAD(&roce_memif_all.serving, memif, next);
		if (memif->listener != NULL)
			memif->listener->serving++;
		wake_up();
	}
	pthread_mutex_unlock(&roce_memif_all.lock);
	return rc;
}

/* The last one out ends the thread, before another may begin. */
static void
stop_thread(void)
{
	pthread_t thread = proxy.thread;

	__atomic_store_n(&proxy.stop, true, __ATOMIC_RELEASE);
	wake_up();
	pthread_mutex_unlock(&roce_memif_all.lock);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&roce_memif_all.lock);
	close(proxy.wake);
	proxy.wake = -1;
}

void
roce_memif_end(struct roce_memif *memif)
{
	if (memif->notify == NULL)
		return;
	pthread_mutex_lock(&roce_memif_all.lock);
	LIST_REMOVE(memif, next);
	roce_memif_all.removals++;
	for (unsigned int i = 0; i < HANDSHAKES; i++) {
		struct handshake *h = &proxy.handshake[i];

		if (h->fd >= 0 && h->listener == memif->listener &&
				(h->memif == memif || h->listener->serving == 1)) {
			roce_memif_send_disconnect(h->fd, "Device closed");
			end_handshake(h);
		}
	}
	if (memif->listener != NULL)
		memif->listener->serving--;
	if (memif->peer >= 0) {
		roce_memif_send_disconnect(memif->peer, "Device closed");
		roce_memif_let_go(memif);
		roce_memif_hang_up(memif->peer);
		memif->peer = -1;
	}
	memif->notify = NULL;
	if (LIST_EMPTY(&roce_memif_all.serving))
		stop_thread();
	pthread_mutex_unlock(&roce_memif_all.lock);
}
