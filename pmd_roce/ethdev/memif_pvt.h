/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMIF_PVT_H
#define ROCE_ETHDEV_MEMIF_PVT_H

/**
 * @file
 * Shared by the files of the memif proxy: memif.c makes and starts, memif_listener.c has the public sockets,
 * memif_proxy.c the thread, memif_link.c talks with the driver, memif_close.c closes descriptors of peers. memif_offer.c
 * validates what a peer offers.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ethdev/memif.h"
#include "ethdev/memif_msg.h"
#include "ethdev/memif_offer.h"
#include "ethdev/memif_socket.h"

/** A public socket; several servers of one process share it and differ by id. All of it: the proxy's lock. */
struct roce_memif_listener {
	LIST_ENTRY(roce_memif_listener) next;
	struct roce_memif_place place;
	int fd;
	unsigned int users;    /**< servers that exist */
	unsigned int serving;  /**< servers that have begun */
	uint64_t paused_until; /**< no descriptor was free for a connection until then */
	uint64_t refused;      /**< connections that became no link */
	uint64_t device;       /**< the file, which may be another by the end */
	uint64_t inode;
};

struct roce_memif {
	LIST_ENTRY(roce_memif) next; /**< of those that have begun; the proxy's lock */
	bool server;
	uint32_t id;
	uint32_t queues;
	char secret[ROCE_MEMIF_SECRET];
	char name[64]; /**< of the port */
	struct roce_memif_place place;
	struct roce_memif_listener *listener; /**< of a server */
	char private_path[ROCE_MEMIF_SOCKET_LEN];
	int private_fd; /**< of a server: the driver's socket file, removed; of a client: ours, which the driver connects to */
	uint16_t port_id;
	/** NULL: not begun. This and what follows: the proxy's lock, once it has begun. */
	const struct roce_memif_notify *notify;
	void *arg;
	int peer;   /**< the channel to the other program; -1: no link */
	int driver; /**< the channel to net_memif; -1: no link */
};

LIST_HEAD(roce_memif_list, roce_memif);
LIST_HEAD(roce_memif_listeners, roce_memif_listener);

/** The proxies of this process. */
extern struct roce_memif_all {
	pthread_mutex_t lock; /**< the proxy's: nobody holds an engine's when he takes it */
	struct roce_memif_listeners listeners;
	struct roce_memif_list serving; /**< those that have begun */
	uint64_t removals;              /**< what was polled may be gone when it differs */
} roce_memif_all;

/** How a handshake ends that fails: words for people and for a DISCONNECT. */
struct roce_memif_words {
	char text[ROCE_MEMIF_WORDS_LEN];
};

/**
 * Tell the driver of a server what a peer has offered.
 *
 * It is not given up halfway: the driver must find us there when it answers.
 * @param answer the driver's CONNECTED.
 * @return 0: memif->driver is the channel; negative: the driver refuses.
 */
int roce_memif_replay(struct roce_memif *memif, const struct roce_memif_offer *offer,
		struct roce_memif_msg *answer, struct roce_memif_words *words);

/**
 * Shake hands between the driver of a client, on memif->driver, and a server that has said @p hello, on @p server.
 * @return 0; -ETIMEDOUT at @p end; negative: refused.
 */
int roce_memif_relay(struct roce_memif *memif, int server, const struct roce_memif_msg *hello,
		uint64_t end, struct roce_memif_words *words);

/** Have children of fork(2) close a descriptor. @return @p fd, which may be an error. */
int roce_memif_close_in_children(int fd);

/** End a channel, whoever else has its descriptor, and close it. Never waits for what a peer has passed. */
void roce_memif_hang_up(int fd);

/**
 * Stop a listener, of memif or not, and close the connections that nobody has taken. Never waits for what a peer has passed.
 * @return false: there is no descriptor for one of them.
 */
bool roce_memif_refuse_waiting(int fd);

/** Close a listener and the connections that nobody has taken. Never waits for what a peer has passed. */
void roce_memif_stop_listening(int fd);

/** End the channel to the driver, and wait until it has unmapped the peer's memory. No thread is in a burst. */
void roce_memif_let_go(struct roce_memif *memif);

/** Join or make the listener of a server. @return 0; -EEXIST another server here has the id; as roce_memif_listen(). */
int roce_memif_add_listener(struct roce_memif *memif);

void roce_memif_drop_listener(struct roce_memif *memif);

#endif
