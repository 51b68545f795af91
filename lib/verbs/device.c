/* SPDX-License-Identifier: BSD-3-Clause */

/* The list of devices: one, the adapter that all processes of the host share. To list it opens nothing. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs/verbs_front.h"

/** Provider libraries read behind the public structure to learn whether a device is theirs: they find zeros. */
#define ROOM_BEHIND 1024

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME  UINT64_C(0x100000001b3)

/* Of no public header. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

static struct ibv_device *device;

static void
make_device(void)
{
	struct ibv_device *d = calloc(1, sizeof(*d) + ROOM_BEHIND);

	if (d == NULL)
		return;
	d->node_type = IBV_NODE_CA;
	d->transport_type = IBV_TRANSPORT_IB;
	snprintf(d->name, sizeof(d->name), "roce0");
	snprintf(d->dev_name, sizeof(d->dev_name), "uverbs0");
	snprintf(d->dev_path, sizeof(d->dev_path), "/sys/class/infiniband_verbs/uverbs0");
	snprintf(d->ibdev_path, sizeof(d->ibdev_path), "/sys/class/infiniband/roce0");
	device = d;
}

struct ibv_device **
ibv_get_device_list(int *num)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));

	pthread_once(&once, make_device);
	if (num != NULL)
		*num = 0;
	if (list == NULL || device == NULL) {
		free(list);
		return verbs_fail(-ENOMEM);
	}
	list[0] = device;
	if (num != NULL)
		*num = 1;
	return list;
}

/* The devices stay: a program may go on with one that it has opened. */
void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *
ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

int
ibv_get_device_index(struct ibv_device *d)
{
	return -1;
}

/* A number of the host: a hash of its identity, which says nothing of it, marked as locally administered. */
__be64
verbs_device_guid(void)
{
	char id[64] = "";
	uint64_t hash = FNV_OFFSET;
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, id, sizeof(id));
		close(fd);
	}
	if (n <= 0) {
		gethostname(id, sizeof(id) - 1);
		n = (ssize_t)strlen(id);
	}
	for (ssize_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)id[i]) * FNV_PRIME;
	hash &= ~UINT64_C(0x0300000000000000);
	return htobe64(hash | UINT64_C(0x0200000000000000));
}

__be64
ibv_get_device_guid(struct ibv_device *d)
{
	return verbs_device_guid();
}

const char *
ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* There is no such file: the device is none of the kernel's. */
int
ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	errno = ENOENT;
	return -1;
}
