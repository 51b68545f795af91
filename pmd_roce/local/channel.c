/* SPDX-License-Identifier: BSD-3-Clause */
#include "local/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/file_limit.h"

/* Bytes of a socket that are read at once: a peer that writes many costs no more than this and a look. */
#define WAKES 64

static size_t
round_up(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

int
roce_channel_create_memory(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct roce_file_limit limit;
	int error, rc;

	if (fd < 0)
		return -errno;
	roce_file_limit_begin(&limit);
	rc = ftruncate(fd, (off_t)round_up(size));
	roce_file_limit_end(&limit);
	if (rc == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Without the seals a peer could cut the file, and the next access would end this process. */
static bool
is_sealed(int fd, size_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 &&
			(seals & (F_SEAL_SHRINK | F_SEAL_GROW)) == (F_SEAL_SHRINK | F_SEAL_GROW) &&
			fstat(fd, &st) == 0 && st.st_size == (off_t)round_up(size);
}

void *
roce_channel_map(int fd, size_t size)
{
	void *memory;

	if (!is_sealed(fd, size)) {
		errno = EINVAL;
		return NULL;
	}
	memory = mmap(NULL, round_up(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void
roce_channel_unmap(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, round_up(size));
}

struct roce_channel *
roce_channel_open(const struct roce_msg_channel *msg, const int *fds)
{
	struct roce_channel *channel = calloc(1, sizeof(*channel));

	if (channel != NULL) {
		channel->memory = roce_channel_map(fds[0], sizeof(*channel->memory));
		channel->bell = roce_channel_map(fds[1], sizeof(*channel->bell));
		channel->wake = fds[2];
	} else {
		close(fds[2]);
	}
	close(fds[0]);
	close(fds[1]);
	if (channel == NULL || channel->memory == NULL || channel->bell == NULL) {
		roce_channel_close(channel);
		return NULL;
	}
	channel->number = msg->number;
	channel->tx.ring = &channel->memory->ring[msg->side != 0];
	channel->rx.ring = &channel->memory->ring[msg->side == 0];
	return channel;
}

void
roce_channel_close(struct roce_channel *channel)
{
	if (channel == NULL)
		return;
	roce_channel_unmap(channel->memory, sizeof(*channel->memory));
	roce_channel_unmap(channel->bell, sizeof(*channel->bell));
	close(channel->wake);
	free(channel);
}

void
roce_channel_publish(struct roce_channel *channel, uint32_t self)
{
	channel->touched = false;
	if (roce_ring_publish(&channel->tx) && roce_bell_ring(channel->bell, self))
		roce_channel_wake(channel);
}

void
roce_channel_wake(const struct roce_channel *channel)
{
	/* A socket that is full has wakes in it already. */
	(void)send(channel->wake, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
roce_channel_drain_wake(const struct roce_channel *channel)
{
	char bytes[WAKES];

	(void)recv(channel->wake, bytes, sizeof(bytes), MSG_DONTWAIT);
}
