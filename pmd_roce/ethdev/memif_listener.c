/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Public sockets, each with the servers of this process that share it.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ethdev/memif_pvt.h"
#include "observe/log.h"

struct roce_memif_all roce_memif_all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The listener of a place; NULL: there is none. */
static struct roce_memif_listener *
find_listener(const struct roce_memif_place *place)
{
	struct roce_memif_listener *listener;

	LIST_FOREACH(listener, &roce_memif_all.listeners, next)
		if (listener->place.abstract == place->abstract &&
				strcmp(listener->place.name, place->name) == 0)
			return listener;
	return NULL;
}

static int
make_listener(const struct roce_memif_place *place, struct roce_memif_listener **out)
{
	struct roce_memif_listener *listener = calloc(1, sizeof(*listener));
	struct stat st;

	if (listener == NULL)
		return -ENOMEM;
	listener->place = *place;
	listener->fd = roce_memif_close_in_children(roce_memif_listen(place));
	if (listener->fd < 0) {
		int rc = listener->fd;

		free(listener);
		return rc;
	}
	if (!place->abstract && stat(place->name, &st) == 0) {
		listener->device = st.st_dev;
		listener->inode = st.st_ino;
	}
	LIST_INSERT_HEAD(&roce_memif_all.listeners, listener, next);
	*out = listener;
	return 0;
}

int
roce_memif_add_listener(struct roce_memif *memif)
{
	struct roce_memif_listener *listener;
	const struct roce_memif *other;
	int rc = 0;

	pthread_mutex_lock(&roce_memif_all.lock);
	LIST_FOREACH(other, &roce_memif_all.serving, next)
		if (other->listener != NULL && other->id == memif->id &&
				other->listener == find_listener(&memif->place))
			rc = -EEXIST;
	listener = find_listener(&memif->place);
	if (rc == 0 && listener == NULL)
		rc = make_listener(&memif->place, &listener);
	if (rc == 0) {
		listener->users++;
		memif->listener = listener;
	}
	pthread_mutex_unlock(&roce_memif_all.lock);
	return rc;
}

void
roce_memif_drop_listener(struct roce_memif *memif)
{
	struct roce_memif_listener *listener = memif->listener;
	struct stat st;

	pthread_mutex_lock(&roce_memif_all.lock);
	memif->listener = NULL;
	if (--listener->users == 0) {
		LIST_REMOVE(listener, next);
		roce_memif_all.removals++;
		/*
		 * Unless it is somebody else's by now. First: a server that starts replaces a file where nobody listens, and its
		 * own may have the same inode number.
		 */
		if (!listener->place.abstract && stat(listener->place.name, &st) == 0 &&
				st.st_dev == listener->device && st.st_ino == listener->inode)
			unlink(listener->place.name);
		roce_memif_stop_listening(listener->fd);
		if (listener->refused > 0)
			ROCE_LOG(INFO, "memif socket %s: %" PRIu64 " connections were refused",
					listener->place.name, listener->refused);
		free(listener);
	}
	pthread_mutex_unlock(&roce_memif_all.lock);
}
