/* SPDX-License-Identifier: BSD-3-Clause */
#include "local_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAME_MAX 4608u

/** Roced's ends of the connections, by process. */
static int roced[ROCE_PROCESSES];
/** Played peers, to be closed with the process that they talk to. */
static struct {
	const struct roce_local *of;
	struct roce_channel *peer;
	int bell_fd;
} played[64];
static unsigned int plays;

struct roce_local *
rig_open(uint32_t number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = UINT32_MAX };
	struct roce_local *local = calloc(1, sizeof(*local));
	int pair[2];

	unit_eal();
	assert_non_null(local);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	local->socket = pair[0];
	roced[number] = pair[1];
	local->number = number;
	local->number_lock = -1;
	local->stall_ticks = UINT64_MAX / 2;
	local->pool = unit_pool();
	memset(local->peer, 0xff, sizeof(local->peer));
	pthread_mutex_init(&local->lock, NULL);
	pthread_cond_init(&local->answered, NULL);
	local->bell_fd = roce_channel_create_memory("rig-bell", sizeof(*local->bell));
	local->bell = roce_channel_map(local->bell_fd, sizeof(*local->bell));
	assert_non_null(local->bell);
	local->epoll = epoll_create1(EPOLL_CLOEXEC);
	local->ends = epoll_create1(EPOLL_CLOEXEC);
	local->inbox_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	local->stop = -1;
	assert_int_equal(epoll_ctl(local->epoll, EPOLL_CTL_ADD, local->inbox_wake, &event), 0);
	local->inbox = roce_local_make_inbox();
	local->passed = roce_local_make_inbox();
	assert_non_null(local->inbox);
	assert_non_null(local->passed);
	return local;
}

void
rig_close(struct roce_local *local)
{
	if (local == NULL)
		return;
	for (unsigned int i = 0; i < plays; i++) {
		if (played[i].of != local)
			continue;
		roce_channel_close(played[i].peer);
		close(played[i].bell_fd);
		played[i--] = played[--plays];
	}
	close(roced[local->number]);
	roce_local_close(local);
}

static void
make_channels(struct roce_channel **channel, const uint32_t *number, const int *bell_fd)
{
	int memory = roce_channel_create_memory("rig-channel", sizeof(struct roce_channel_memory));
	int pair[2];

	assert_true(memory >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	for (unsigned int side = 0; side < 2; side++) {
		const struct roce_msg_channel msg = { .number = number[!side], .side = side };
		const int fds[] = { dup(memory), dup(bell_fd[!side]), pair[side] };

		channel[side] = roce_channel_open(&msg, fds);
		assert_non_null(channel[side]);
	}
	close(memory);
}

void
rig_connect(struct roce_local *a, struct roce_local *b)
{
	const uint32_t number[] = { a->number, b->number };
	const int bell_fd[] = { a->bell_fd, b->bell_fd };
	struct roce_channel *channel[2];

	make_channels(channel, number, bell_fd);
	roce_local_add(a, channel[0]);
	roce_local_add(b, channel[1]);
}

struct roce_channel *
rig_play(struct roce_local *local, uint32_t number)
{
	const int own = roce_channel_create_memory("rig-bell", sizeof(struct roce_bell));
	const uint32_t numbers[] = { local->number, number };
	const int bell_fd[] = { local->bell_fd, own };
	struct roce_channel *channel[2];

	assert_true(plays < RTE_DIM(played));
	make_channels(channel, numbers, bell_fd);
	roce_local_add(local, channel[0]);
	played[plays].of = local;
	played[plays].peer = channel[1];
	played[plays++].bell_fd = own;
	return channel[1];
}

void
rig_set_peer(struct roce_local *local, uint32_t place, uint32_t number)
{
	roce_local_peers(local)[place] = (uint16_t)number;
}

int
rig_roced(const struct roce_local *local)
{
	return roced[local->number];
}

struct roce_msg
rig_told(struct roce_local *local)
{
	struct roce_msg msg;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;

	assert_int_equal(roce_msg_recv(roced[local->number], &msg, fds, &n), 0);
	assert_int_equal(n, 0);
	return msg;
}

void
rig_told_nothing(struct roce_local *local)
{
	struct roce_msg msg;
	int fds[ROCE_PROTO_FDS];
	unsigned int n;

	assert_int_equal(roce_msg_recv(roced[local->number], &msg, fds, &n), -EAGAIN);
}

/* ---- what a peer has when a message reaches roced ---- */

static const struct roce_channel *watched;
static int watched_ready; /**< -1: no message has come */

static void
note_message(int signal)
{
	if (watched_ready < 0)
		watched_ready = roce_ring_is_ready(&watched->rx);
}

/* The kernel signals readable sockets to the thread that writes, whose next statement comes behind the handler. */
void
rig_watch_roced(const struct roce_local *local, const struct roce_channel *peer)
{
	const struct sigaction action = { .sa_handler = note_message };
	const struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	const int fd = rig_roced(local);

	watched = peer;
	watched_ready = -1;
	assert_int_equal(sigaction(SIGIO, &action, NULL), 0);
	assert_int_equal(fcntl(fd, F_SETOWN_EX, &owner), 0);
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC), 0);
}

int
rig_was_ready(void)
{
	return watched_ready;
}

/* Of RFC 791, RFC 8200 and IBTA A17 as far as a receiver looks; addresses are 10.0.0.1 and 10.0.0.2, or fd00::1 and ::2. */
uint32_t
rig_bytes(uint8_t *bytes, const struct rig_frame *frame)
{
	const uint32_t headers = frame->v6 ? RIG_V6_LEN : RIG_V4_LEN;
	const uint32_t len = frame->len != 0 ? frame->len : headers;
	uint8_t *bth = bytes + headers - 12;

	assert_true(len <= FRAME_MAX);
	memset(bytes, 0, headers);
	bytes[12] = frame->v6 ? 0x86 : 0x08;
	bytes[13] = frame->v6 ? 0xdd : 0x00;
	bytes[14] = frame->v6 ? 0x60 : 0x45;
	if (frame->v6) {
		bytes[14 + 6] = 17;
		bytes[14 + 8] = bytes[14 + 24] = 0xfd;
		bytes[14 + 23] = 1;
		bytes[14 + 39] = frame->foreign ? 2 : 1;
	} else {
		bytes[14 + 9] = 17;
		bytes[14 + 12] = bytes[14 + 16] = 10;
		bytes[14 + 15] = 1;
		bytes[14 + 19] = frame->foreign ? 2 : 1;
	}
	bth[-6] = 4791 >> 8;
	bth[-5] = 4791 & 0xff;
	bth[5] = (uint8_t)(frame->qpn >> 16);
	bth[6] = (uint8_t)(frame->qpn >> 8);
	bth[7] = (uint8_t)frame->qpn;
	if (len > headers)
		memset(bytes + headers, frame->mark, len - headers);
	return len;
}

struct rte_mbuf *
rig_mbuf(const struct rig_frame *frame)
{
	uint8_t bytes[FRAME_MAX];
	uint32_t len = rig_bytes(bytes, frame);

	return unit_mbuf(bytes, len);
}

void
rig_send(struct roce_local *local, const struct rig_frame *frame, unsigned int n)
{
	struct rte_mbuf *pkts[256];

	assert_true(n <= RTE_DIM(pkts));
	for (unsigned int i = 0; i < n; i++)
		pkts[i] = rig_mbuf(&frame[i]);
	assert_int_equal(roce_local_tx(local, pkts, (uint16_t)n), n);
}

unsigned int
rig_poll(struct roce_local *local, uint8_t *mark)
{
	struct rte_mbuf *pkts[RIG_BURST];
	uint16_t n = roce_local_rx(local, pkts, RIG_BURST);

	assert_true(n <= RIG_BURST);
	if (n > 0 && mark != NULL)
		*mark = *rte_pktmbuf_mtod_offset(
				pkts[n - 1], const uint8_t *, pkts[n - 1]->data_len - 1);
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

unsigned int
rig_await(struct roce_local *local, unsigned int polls)
{
	for (unsigned int i = 1; i <= polls; i++) {
		if (rig_poll(local, NULL) > 0)
			return i;
	}
	return 0;
}

void
rig_poll_none(struct roce_local *local, unsigned int polls)
{
	assert_int_equal(rig_await(local, polls), 0);
}

void
rig_put(struct roce_channel *peer, const void *bytes, uint32_t len)
{
	bool broken = false;
	uint8_t *to = roce_ring_put(&peer->tx, len, &broken);

	assert_non_null(to);
	memcpy(to, bytes, len);
	(void)roce_ring_publish(&peer->tx);
}

void
rig_put_frame(struct roce_channel *peer, const struct rig_frame *frame)
{
	uint8_t bytes[FRAME_MAX];
	uint32_t len = rig_bytes(bytes, frame);

	rig_put(peer, bytes, len);
}

unsigned int
rig_drain(struct roce_channel *peer)
{
	bool broken = false;
	unsigned int n = 0;
	uint32_t len;

	while (roce_ring_next(&peer->rx, &len, &broken) != NULL)
		n++;
	assert_false(broken);
	roce_ring_release(&peer->rx);
	return n;
}
