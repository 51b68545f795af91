/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of the shared adapter, and the thread that listens to roced. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "local/local_pvt.h"
#include "local/uplink.h"
#include "observe/log.h"

#define PORT_NAME "roced"

/** How long a full ring may stand still: more than the time slice of a peer on the same core. */
#define STALL_MS 10u

/**
 * A process that has closed its socket of a channel has ended. roced says so too, behind what the process had said to it
 * before: it is waited for that long, milliseconds.
 */
#define GONE_MS 100

/** Naps between two tries to reach a roced that has ended, milliseconds. */
#define AGAIN_MIN_MS 10
#define AGAIN_MAX_MS 500

/** Readiness that is taken at once. */
#define EVENTS 64

bool
roce_local_is(const char *port)
{
	size_t len = strcspn(port, ",");

	return len == strlen(PORT_NAME) && strncmp(port, PORT_NAME, len) == 0;
}

const struct roce_proto_identity *
roce_local_identity(const struct roce_local *local)
{
	return &local->identity;
}

uint32_t
roce_local_number(const struct roce_local *local)
{
	return local->number;
}

uint16_t *
roce_local_peers(struct roce_local *local)
{
	return local->peer;
}

static void
end_peer(struct roce_local *local, uint32_t number)
{
	struct roce_channel *channel;

	if (number >= ROCE_PROCESSES)
		return;
	local->user.lock(local->user.arg);
	local->user.gone(local->user.arg, number);
	channel = roce_local_remove(local, number);
	local->user.unlock(local->user.arg);
	if (channel != NULL && channel->closed)
		local->closed--;
	roce_channel_close(channel);
}

static void
begin_peer(struct roce_local *local, const struct roce_msg_channel *msg, const int *fds)
{
	struct roce_channel *channel = roce_channel_open(msg, fds);

	if (channel == NULL || channel->number >= ROCE_PROCESSES) {
		ROCE_LOG(WARNING, "no channel to process %u: %s", msg->number, strerror(errno));
		roce_channel_close(channel);
		return;
	}
	if (local->channel[channel->number] != NULL)
		end_peer(local, channel->number);
	local->user.lock(local->user.arg);
	roce_local_add(local, channel);
	local->user.unlock(local->user.arg);
}

static void
handle(struct roce_local *local, const struct roce_msg *msg, const int *fds)
{
	switch (msg->type) {
	case ROCE_MSG_CHANNEL:
		begin_peer(local, &msg->channel, fds);
		break;
	case ROCE_MSG_GONE:
		end_peer(local, msg->peer.number);
		break;
	case ROCE_MSG_FRAME:
		roce_local_deliver(local, msg->frame.data, msg->frame.len);
		break;
	case ROCE_MSG_LISTENED:
		roce_local_take_answer(local, &msg->listened);
		break;
	default:
		break;
	}
}

/* @return false: the connection is over. */
static bool
read_messages(struct roce_local *local)
{
	struct roce_msg msg;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;
	int rc;

	while ((rc = roce_msg_recv(local->socket, &msg, fds, &n)) == 0)
		handle(local, &msg, fds);
	return rc == -EAGAIN;
}

/* @return false: the thread is to stop. */
static bool
nap(const struct roce_local *local, int ms)
{
	struct pollfd stop = { .fd = local->stop, .events = POLLIN };

	return poll(&stop, 1, ms) == 0;
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Channels whose sockets their peers have closed: the peers have ended. */
static void
note_closed(struct roce_local *local)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(local->ends, events, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		struct roce_channel *channel = local->channel[events[i].data.u32];

		(void)epoll_ctl(local->ends, EPOLL_CTL_DEL, channel->wake, NULL);
		channel->closed = true;
		if (local->closed++ == 0)
			local->closed_by = now_ms() + GONE_MS;
	}
}

/* Whether roced lives to tell it or not. */
static void
end_closed(struct roce_local *local)
{
	note_closed(local);
	for (uint32_t i = 0; local->closed > 0 && i < ROCE_PROCESSES; i++) {
		if (local->channel[i] != NULL && local->channel[i]->closed)
			end_peer(local, i);
	}
}

/* How long the thread may wait, for poll(). */
static int
patience(const struct roce_local *local)
{
	uint64_t now;

	if (local->closed == 0)
		return -1;
	now = now_ms();
	return now < local->closed_by ? (int)(local->closed_by - now) : 0;
}

/* roced has ended. Connections between processes go on; new ones wait for the next roced. */
static bool
attach_again(struct roce_local *local)
{
	int ms = AGAIN_MIN_MS;

	if (local->uplink) {
		__atomic_store_n(&local->over, true, __ATOMIC_RELEASE);
		roce_local_wake(local);
		return false;
	}
	pthread_mutex_lock(&local->lock);
	close(local->socket);
	local->socket = -1;
	pthread_mutex_unlock(&local->lock);
	for (;;) {
		char text[256] = "";
		struct roce_errmsg errmsg = { .text = text, .len = sizeof(text) };

		if (!nap(local, ms))
			return false;
		end_closed(local);
		if (roce_local_attach(local, &errmsg) == 0)
			break;
		ROCE_LOG(DEBUG, "%s", text);
		ms = RTE_MIN(2 * ms, AGAIN_MAX_MS);
	}
	return true;
}

static void *
run(void *arg)
{
	struct roce_local *local = arg;

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = local->stop, .events = POLLIN },
			{ .fd = local->ends, .events = POLLIN },
			{ .fd = local->socket, .events = POLLIN },
		};

		if (poll(wait, RTE_DIM(wait), patience(local)) < 0 && errno != EINTR)
			break;
		if (wait[0].revents != 0)
			break;
		if (wait[1].revents != 0)
			note_closed(local);
		if (wait[2].revents != 0 && !read_messages(local) && !attach_again(local))
			break;
		if (patience(local) == 0)
			end_closed(local);
	}
	return NULL;
}

static void
ask_for_uplink(struct roce_local *local)
{
	const struct roce_msg msg = { .type = ROCE_MSG_OPEN,
		.peer = { .number = ROCE_PROCESS_UPLINK } };

	(void)roce_local_tell(local, &msg);
}

int
roce_local_start(struct roce_local *local, const struct roce_local_user *user,
		struct rte_mempool *pool)
{
	sigset_t all, before;
	int rc;

	local->user = *user;
	local->pool = pool;
	/* Signals are the program's, and its threads'. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&local->thread, NULL, run, local);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return -rc;
	pthread_setname_np(local->thread, "roce-local");
	local->runs = true;
	/* The uplink is there for whoever may need it: an ARP request finds its way at once. */
	if (local->identity.uplink != 0 && !local->uplink)
		ask_for_uplink(local);
	return 0;
}

struct rte_ring *
roce_local_make_inbox(void)
{
	size_t size = RTE_ALIGN_CEIL(
			(size_t)rte_ring_get_memsize(ROCE_LOCAL_INBOX), RTE_CACHE_LINE_SIZE);
	struct rte_ring *ring = aligned_alloc(RTE_CACHE_LINE_SIZE, size);

	if (ring == NULL || rte_ring_init(ring, "roce_inbox", ROCE_LOCAL_INBOX, RING_F_SC_DEQ) == 0)
		return ring;
	free(ring);
	return NULL;
}

static int
make(struct roce_local *local, struct roce_errmsg *errmsg)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = ROCE_LOCAL_OWN_WAKE };

	local->bell_fd = roce_channel_create_memory("roce-bell", sizeof(*local->bell));
	if (local->bell_fd < 0)
		return roce_errmsg_set(errmsg, local->bell_fd, "no shared memory: %s",
				strerror(-local->bell_fd));
	local->bell = roce_channel_map(local->bell_fd, sizeof(*local->bell));
	local->epoll = epoll_create1(EPOLL_CLOEXEC);
	local->ends = epoll_create1(EPOLL_CLOEXEC);
	local->inbox_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	local->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	local->inbox = roce_local_make_inbox();
	local->passed = roce_local_make_inbox();
	if (local->bell == NULL || local->inbox == NULL || local->passed == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for the shared adapter");
	if (local->epoll < 0 || local->ends < 0 || local->inbox_wake < 0 || local->stop < 0 ||
			epoll_ctl(local->epoll, EPOLL_CTL_ADD, local->inbox_wake, &event) != 0)
		return roce_errmsg_set(errmsg, -EMFILE, "no descriptors for the shared adapter: %s",
				strerror(errno));
	return 0;
}

static int
take_dir(struct roce_local *local, const char *dir, struct roce_errmsg *errmsg)
{
	if (dir == NULL)
		return roce_run_dir(local->dir, sizeof(local->dir), errmsg);
	if (strlen(dir) >= sizeof(local->dir))
		return roce_errmsg_set(errmsg, -EINVAL,
				"the path %.80s of roced's folder is too long: want "
				"less than %zu bytes",
				dir, sizeof(local->dir));
	memcpy(local->dir, dir, strlen(dir) + 1);
	return 0;
}

int
roce_local_open(struct roce_local **out, struct roce_errmsg *errmsg)
{
	return roce_local_open_as(NULL, NULL, out, errmsg);
}

int
roce_local_open_as(const char *dir, const struct roce_proto_identity *uplink,
		struct roce_local **out, struct roce_errmsg *errmsg)
{
	struct roce_local *local = calloc(1, sizeof(*local));
	int rc;

	if (local == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for the shared adapter");
	local->bell_fd = local->epoll = local->ends = local->inbox_wake = local->stop = -1;
	local->socket = local->number_lock = -1;
	local->stall_ticks = rte_get_tsc_hz() / 1000 * STALL_MS;
	memset(local->peer, 0xff, sizeof(local->peer));
	pthread_mutex_init(&local->lock, NULL);
	pthread_cond_init(&local->answered, NULL);
	if (uplink != NULL) {
		local->uplink = true;
		local->identity = *uplink;
	}
	rc = take_dir(local, dir, errmsg);
	if (rc == 0)
		rc = make(local, errmsg);
	if (rc == 0)
		rc = roce_local_attach(local, errmsg);
	if (rc != 0) {
		roce_local_close(local);
		return rc;
	}
	*out = local;
	return 0;
}

int
roce_uplink_open(const char *dir, const struct roce_proto_identity *identity,
		struct roce_local **out, struct roce_errmsg *errmsg)
{
	return roce_local_open_as(dir, identity, out, errmsg);
}

static void
close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void
roce_local_stop(struct roce_local *local)
{
	const uint64_t one = 1;

	if (local == NULL || !local->runs)
		return;
	(void)!write(local->stop, &one, sizeof(one));
	pthread_join(local->thread, NULL);
	local->runs = false;
}

void
roce_local_abandon(struct roce_local *local)
{
	const int fds[] = { local->socket, local->number_lock, local->bell_fd, local->epoll,
		local->ends, local->inbox_wake, local->stop };

	for (size_t i = 0; i < RTE_DIM(fds); i++)
		close_if(fds[i]);
	for (uint32_t number = 0; number < ROCE_PROCESSES; number++) {
		if (local->channel[number] != NULL)
			close(local->channel[number]->wake);
	}
}

static void
drop_inbox(struct rte_ring *ring)
{
	void *m;

	while (ring != NULL && rte_ring_sc_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
	free(ring);
}

static void
drop_frames(struct roce_local *local)
{
	drop_inbox(local->inbox);
	drop_inbox(local->passed);
	if (local->spares > 0)
		rte_pktmbuf_free_bulk(local->spare, local->spares);
}

void
roce_local_close(struct roce_local *local)
{
	if (local == NULL)
		return;
	roce_local_stop(local);
	close_if(local->socket);
	for (uint32_t number = 0; number < ROCE_PROCESSES; number++)
		roce_channel_close(local->channel[number]);
	roce_local_drop_services(local);
	drop_frames(local);
	roce_channel_unmap(local->bell, sizeof(*local->bell));
	close_if(local->bell_fd);
	close_if(local->epoll);
	close_if(local->ends);
	close_if(local->inbox_wake);
	close_if(local->stop);
	close_if(local->number_lock);
	pthread_cond_destroy(&local->answered);
	pthread_mutex_destroy(&local->lock);
	free(local);
}
