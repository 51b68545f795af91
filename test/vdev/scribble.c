/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hostile process of the same user on roce0: it opens a channel to each other process, and writes what it likes into all
 * memory that it shares with them.
 *
 *   scribble FOLDER SEED    roced's socket is in FOLDER; ends well at SIGTERM, and prints how many channels it has had
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "local/channel.h"

#define PEERS       16u /**< numbers that are tried; roced gives the lowest that is free */
#define WRITES      64u /**< between two naps, to each channel */
#define ROUNDS      20u /**< with the same channels, then with new ones */
#define NAP_NS      500000L
#define ANSWER_MS   100
#define ENTRIES     16u /**< that are sent at once, at most */
#define FRAME_BYTES 200u

static volatile sig_atomic_t ends;
static uint64_t state;

/** A process as roced and its peers know it. */
struct scribbler {
	int fd, bell, lock;
	uint32_t number;
	struct roce_channel *channel[PEERS + 1];
};

static void
end(int number)
{
	(void)number;
	ends = 1;
}

/* Marsaglia's xorshift: the same writes for the same seed. */
static uint32_t
any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16) % below;
}

static uint32_t
any_word(void)
{
	static const uint32_t words[] = { 0, 1, ROCE_RING_WRAP, ROCE_RING_FRAME_MAX,
		ROCE_RING_FRAME_MAX + 1, ROCE_RING_BYTES, ROCE_RING_BYTES - ROCE_RING_LINE,
		0x80000000u };
	const uint32_t i = any(2 * sizeof(words) / sizeof(words[0]));

	return i < sizeof(words) / sizeof(words[0]) ? words[i] : (uint32_t)(state >> 8);
}

static void
write_word(void *to)
{
	__atomic_store_n((uint32_t *)to, any_word(), __ATOMIC_RELAXED);
}

/* Frames of any bytes, as a peer sends them; the header word of the first may be anything. */
static void
send_entries(struct roce_channel *channel, uint32_t number)
{
	bool broken = false;

	for (uint32_t i = any(ENTRIES); i > 0; i--) {
		const uint32_t len = ROCE_RING_FRAME_MIN + any(FRAME_BYTES);
		uint8_t *frame = roce_ring_put(&channel->tx, len, &broken);

		/* The position that the receiver gives may be this process's own writing. */
		if (frame == NULL)
			channel->tx.head_seen = channel->tx.tail;
		for (uint32_t at = 0; frame != NULL && at < len; at++)
			frame[at] = (uint8_t)any_word();
	}
	if (channel->tx.first != 0 && any(ENTRIES) == 0)
		channel->tx.first = any_word();
	roce_channel_publish(channel, number);
}

static void
scribble_once(struct roce_channel *channel, uint32_t number)
{
	struct roce_ring *ring = &channel->memory->ring[any(2)];
	char bytes[PEERS];

	switch (any(8)) {
	case 0:
		write_word(&ring->head);
		break;
	case 1:
		write_word(&ring->armed);
		break;
	case 2:
		send_entries(channel, number);
		break;
	case 3:
		write_word(&channel->bell->sleeping);
		break;
	case 4:
		channel->bell->summary = (uint64_t)any_word() << any(33);
		break;
	case 5:
		channel->bell->bits[any(ROCE_BELL_WORDS)] = (uint64_t)any_word() << any(33);
		break;
	case 6:
		write_word(roce_ring_header(
				ring, any(ROCE_RING_BYTES / ROCE_RING_LINE) * ROCE_RING_LINE));
		break;
	default:
		(void)send(channel->wake, bytes, any(sizeof(bytes)), MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	}
}

static bool
is_greeted(struct scribbler *self)
{
	struct roce_msg msg = { .type = ROCE_MSG_HELLO, .hello.version = ROCE_PROTO_VERSION };
	struct pollfd wait = { .fd = self->fd, .events = POLLIN };
	unsigned int none;

	snprintf(msg.hello.name, sizeof(msg.hello.name), "scribble");
	if (roce_msg_send(self->fd, &msg, &self->bell, 1) != 0 || poll(&wait, 1, -1) != 1 ||
			roce_msg_recv(self->fd, &msg, NULL, &none) != 0 ||
			msg.type != ROCE_MSG_WELCOME)
		return false;
	self->number = msg.welcome.number;
	return true;
}

static bool
is_attached(struct scribbler *self, const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct flock byte = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char numbers[sizeof(address.sun_path)];

	memset(self, 0, sizeof(*self));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, ROCE_PROTO_SOCKET);
	snprintf(numbers, sizeof(numbers), "%s/%s", folder, ROCE_PROTO_NUMBERS);
	self->fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	self->bell = roce_channel_create_memory("scribble", sizeof(struct roce_bell));
	self->lock = -1;
	if (connect(self->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
			!is_greeted(self))
		return false;
	self->lock = open(numbers, O_RDONLY);
	byte.l_start = self->number;
	return fcntl(self->lock, F_OFD_SETLK, &byte) == 0;
}

/* @return channels that there are now. */
static unsigned int
open_channels(struct scribbler *self)
{
	struct roce_msg msg = { .type = ROCE_MSG_OPEN };
	struct pollfd wait = { .fd = self->fd, .events = POLLIN };
	int fds[ROCE_PROTO_FDS];
	unsigned int n, channels = 0;

	for (msg.peer.number = 1; msg.peer.number <= PEERS; msg.peer.number++)
		(void)roce_msg_send(self->fd, &msg, NULL, 0);
	while (poll(&wait, 1, ANSWER_MS) == 1 && roce_msg_recv(self->fd, &msg, fds, &n) == 0) {
		if (msg.type != ROCE_MSG_CHANNEL)
			continue;
		if (msg.channel.number > PEERS || self->channel[msg.channel.number] != NULL) {
			for (unsigned int i = 0; i < n; i++)
				close(fds[i]);
			continue;
		}
		self->channel[msg.channel.number] = roce_channel_open(&msg.channel, fds);
		channels += self->channel[msg.channel.number] != NULL;
	}
	return channels;
}

static void
scribble(struct scribbler *self)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (unsigned int round = 0; round < ROUNDS && !ends; round++) {
		for (unsigned int i = 0; i < WRITES * PEERS; i++) {
			if (self->channel[1 + i % PEERS] != NULL)
				scribble_once(self->channel[1 + i % PEERS], self->number);
		}
		/* No condition: the others need a processor, too. */
		nanosleep(&nap, NULL);
	}
}

static void
leave(struct scribbler *self)
{
	for (unsigned int i = 0; i <= PEERS; i++)
		roce_channel_close(self->channel[i]);
	if (self->lock >= 0)
		close(self->lock);
	close(self->bell);
	close(self->fd);
}

int
main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end };
	struct scribbler self;
	unsigned int channels = 0;

	if (argc != 3) {
		fprintf(stderr, "scribble: wants a folder and a seed\n");
		return 2;
	}
	state = strtoull(argv[2], NULL, 10) + 1;
	sigaction(SIGTERM, &action, NULL);
	while (!ends) {
		if (is_attached(&self, argv[1])) {
			channels += open_channels(&self);
			scribble(&self);
		}
		leave(&self);
	}
	printf("scribbled in %u channels\n", channels);
	return channels > 0 ? 0 : 1;
}
