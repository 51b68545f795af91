/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethdev/memif.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_string_fns.h>

#include "ethdev/devargs.h"
#include "ethdev/interrupt_thread.h"
#include "ethdev/memif_pvt.h"
#include "ethdev/vdev_args.h"

/* How long a client waits for its server: a virtual processor may stand still for a second, and more than once. */
#define SERVER_WAIT_MS 10000

#define AGAIN_US 50000

static bool
find_server(const char *port)
{
	char role[8];

	return roce_vdev_find_arg(port, "role", role, sizeof(role)) &&
			(strcmp(role, "server") == 0 || strcmp(role, "master") == 0);
}

/* The socket that the driver is given instead of the public one. */
static int
set_private(struct roce_memif *memif, char *port, struct roce_errmsg *errmsg)
{
	struct roce_memif_place place = { .abstract = false };
	char args[ROCE_DEVARGS_PORT_LEN];
	int rc = roce_memif_private_path(memif->private_path, errmsg);

	if (rc != 0)
		return rc;
	rte_strlcpy(args, port, sizeof(args));
	roce_vdev_remove_arg(args, "socket");
	roce_vdev_remove_arg(args, "socket-abstract");
	if (roce_vdev_append_arg(args, "socket", memif->private_path) != 0 ||
			roce_vdev_append_arg(args, "socket-abstract", "no") != 0)
		return roce_errmsg_set(errmsg, -EINVAL, "port=%.64s... is too long", port);
	if (!memif->server) {
		memcpy(place.name, memif->private_path, sizeof(place.name));
		memif->private_fd = roce_memif_close_in_children(roce_memif_listen(&place));
		if (memif->private_fd < 0)
			return roce_errmsg_set(errmsg, -EACCES,
					"port %s: the socket %s cannot be made: %s", memif->name,
					place.name, strerror(-memif->private_fd));
	}
	memcpy(port, args, sizeof(args));
	return 0;
}

static int
take_public(struct roce_memif *memif, struct roce_errmsg *errmsg)
{
	const char *kind = memif->place.abstract ? "abstract socket" : "socket";
	int rc = roce_memif_add_listener(memif);

	if (rc == -EEXIST)
		return roce_errmsg_set(errmsg, -EBUSY,
				"port %s: another port of this process has %s %s with id=%u",
				memif->name, kind, memif->place.name, memif->id);
	if (rc == -ENOTSOCK)
		return roce_errmsg_set(errmsg, -EINVAL,
				"port %s: socket=%s: there is a file that is no socket; want another name",
				memif->name, memif->place.name);
	if (rc == -EADDRINUSE)
		return roce_errmsg_set(errmsg, -EBUSY,
				"port %s: another memif server has the %s %s; a second one wants another "
				"socket=",
				memif->name, kind, memif->place.name);
	if (rc != 0)
		return roce_errmsg_set(errmsg, rc == -ENOMEM ? -ENOMEM : -EACCES,
				"port %s: the %s %s cannot be made: %s; a name without a slash is in a "
				"folder of the user's own",
				memif->name, kind, memif->place.name, strerror(-rc));
	return 0;
}

static int
read_args(struct roce_memif *memif, const char *port, struct roce_errmsg *errmsg)
{
	char value[ROCE_DEVARGS_PORT_LEN], yes[4] = "";
	bool given = roce_vdev_find_arg(port, "socket", value, sizeof(value));

	memif->server = find_server(port);
	memif->id = roce_vdev_find_number(port, "id");
	roce_vdev_find_arg(port, "secret", memif->secret, sizeof(memif->secret));
	if (roce_vdev_find_arg(port, "socket-abstract", yes, sizeof(yes)) &&
			strcmp(yes, "yes") != 0 && strcmp(yes, "no") != 0)
		return roce_errmsg_set(errmsg, -EINVAL,
				"port %s: socket-abstract=%s: want yes or no", memif->name, yes);
	return roce_memif_place(
			given ? value : NULL, strcmp(yes, "yes") == 0, &memif->place, errmsg);
}

int
roce_memif_create(const char *name, char *port, uint32_t queues, struct roce_memif **out,
		struct roce_errmsg *errmsg)
{
	struct roce_memif *memif = calloc(1, sizeof(*memif));
	int rc;

	if (memif == NULL)
		return roce_errmsg_set(errmsg, -ENOMEM, "no memory for port %s", name);
	memif->peer = -1;
	memif->driver = -1;
	memif->private_fd = -1;
	memif->queues = queues;
	rte_strlcpy(memif->name, name, sizeof(memif->name));
	rc = read_args(memif, port, errmsg);
	if (rc == 0 && memif->server)
		rc = take_public(memif, errmsg);
	if (rc == 0)
		rc = set_private(memif, port, errmsg);
	if (rc != 0) {
		roce_memif_destroy(memif);
		return rc;
	}
	*out = memif;
	return 0;
}

void
roce_memif_probed(struct roce_memif *memif)
{
	char path[32];

	if (!memif->server)
		return;
	memif->private_fd = open(memif->private_path, O_PATH | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memif->private_fd);
	/* Without /proc it keeps its name, in a folder that nobody else may enter. */
	if (memif->private_fd >= 0 && access(path, F_OK) == 0) {
		unlink(memif->private_path);
		return;
	}
	if (memif->private_fd >= 0)
		close(memif->private_fd);
	memif->private_fd = -1;
}

bool
roce_memif_is_client(const struct roce_memif *memif)
{
	return !memif->server;
}

static void
stop_device(void *arg)
{
	const struct roce_memif *memif = arg;

	rte_eth_dev_stop(memif->port_id);
}

/* The server's first word: as long as that is missing, the driver is left alone. */
static int
await_hello(const struct roce_memif *memif, int server, struct roce_memif_msg *hello, uint64_t end,
		struct roce_memif_words *words)
{
	int rc = roce_memif_await(server, hello, end);

	if (rc == -ETIMEDOUT)
		return rc;
	if (rc != 0)
		snprintf(words->text, sizeof(words->text), "it says nothing: %s", strerror(-rc));
	else if (hello->type != ROCE_MEMIF_HELLO || hello->hello.min_version > ROCE_MEMIF_VERSION ||
			hello->hello.max_version < ROCE_MEMIF_VERSION)
		snprintf(words->text, sizeof(words->text), "it does not speak memif 2.0");
	else if (hello->hello.max_c2s_ring + 1u < memif->queues ||
			hello->hello.max_s2c_ring + 1u < memif->queues)
		snprintf(words->text, sizeof(words->text), "it has fewer rings than queues=%u",
				memif->queues);
	else
		return 0;
	return rc != 0 ? rc : -EPROTO;
}

/* The driver connects to us within rte_eth_dev_start(). */
static int
meet_driver(struct roce_memif *memif, struct roce_memif_words *words)
{
	if (rte_eth_dev_start(memif->port_id) == 0)
		memif->driver = roce_memif_close_in_children(accept4(
				memif->private_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (memif->driver >= 0)
		return 0;
	snprintf(words->text, sizeof(words->text), "the driver does not start");
	return -ENODEV;
}

/* One try of a client. */
static int
try_server(struct roce_memif *memif, uint64_t end, struct roce_memif_words *words)
{
	struct roce_memif_msg hello;
	int server = roce_memif_close_in_children(
			roce_memif_connect(memif->place.name, memif->place.abstract));
	int rc;

	words->text[0] = '\0';
	if (server < 0)
		return server;
	rc = await_hello(memif, server, &hello, end, words);
	if (rc == 0) {
		rc = meet_driver(memif, words);
		if (rc == 0)
			rc = roce_memif_relay(memif, server, &hello, end, words);
		if (rc != 0) {
			roce_memif_let_go(memif);
			roce_interrupt_thread_do(stop_device, memif);
		}
	}
	if (rc == 0)
		memif->peer = server;
	else
		roce_memif_hang_up(server);
	return rc;
}

/* The driver has come, and nobody else is to: what a killed program leaves behind would stay for ever. */
static void
remove_private(struct roce_memif *memif)
{
	if (memif->private_fd >= 0)
		close(memif->private_fd);
	memif->private_fd = -1;
	if (memif->private_path[0] != '\0')
		unlink(memif->private_path);
	memif->private_path[0] = '\0';
}

static int
say_no_server(const struct roce_memif *memif, int rc, const struct roce_memif_words *words,
		struct roce_errmsg *errmsg)
{
	const char *kind = memif->place.abstract ? "abstract socket" : "socket";

	if (words->text[0] != '\0')
		return roce_errmsg_set(errmsg, -ENODEV,
				"port %s: its memif server at %s %s refuses: %s", memif->name, kind,
				memif->place.name, words->text);
	/* At once: more connections wait there than it allows, and it takes none. */
	if (rc == -ETIMEDOUT || rc == -EAGAIN)
		return roce_errmsg_set(errmsg, -ENODEV,
				"port %s: its memif server at %s %s does not answer for ten seconds: it is "
				"stopped, or busy",
				memif->name, kind, memif->place.name);
	if (rc == -ECONNREFUSED)
		return roce_errmsg_set(errmsg, -ENODEV,
				"port %s: its memif server is not there: nobody listens at %s %s; start "
				"that first",
				memif->name, kind, memif->place.name);
	return roce_errmsg_set(errmsg, -ENODEV,
			"port %s: its memif server at %s %s cannot be reached: %s", memif->name,
			kind, memif->place.name, strerror(-rc));
}

int
roce_memif_start(struct roce_memif *memif, uint16_t port_id, struct roce_errmsg *errmsg)
{
	uint64_t end = roce_memif_now() + SERVER_WAIT_MS;
	struct roce_memif_words words = { "" };
	int rc;

	memif->port_id = port_id;
	if (memif->server) {
		rc = rte_eth_dev_start(port_id);
		return rc == 0 ? 0
			       : roce_errmsg_set(errmsg, -ENODEV, "port %s does not start: %s",
						 memif->name, strerror(-rc));
	}
	rc = try_server(memif, end, &words);
	while (rc != 0 && roce_memif_now() + AGAIN_US / 1000 < end) {
		struct roce_memif_words last = words;

		rte_delay_us_sleep(AGAIN_US);
		rc = try_server(memif, end, &words);
		/* Cut short by the end: what was said before is the reason. */
		if (rc == -ETIMEDOUT && last.text[0] != '\0')
			words = last;
	}
	if (rc != 0)
		return say_no_server(memif, rc, &words, errmsg);
	remove_private(memif);
	return 0;
}

void
roce_memif_destroy(struct roce_memif *memif)
{
	if (memif == NULL)
		return;
	roce_memif_end(memif);
	if (memif->peer >= 0)
		roce_memif_hang_up(memif->peer);
	if (memif->driver >= 0)
		roce_memif_hang_up(memif->driver);
	remove_private(memif);
	if (memif->listener != NULL)
		roce_memif_drop_listener(memif);
	free(memif);
}
