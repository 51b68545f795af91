/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_LOCAL_PVT_H
#define ROCE_LOCAL_LOCAL_PVT_H

/**
 * @file
 * Inside the shared adapter. Calls go one way: control.c (the thread and the life of it all), attach.c (who is roced),
 * services.c, uplink.c, transmit.c, receive.c, channels.c, channel.c.
 */

#include <pthread.h>

#include <rte_ring.h>

#include "local/bell.h"
#include "local/channel.h"
#include "local/local.h"
#include "local/run_dir.h"

#define ROCE_LOCAL_HOT   8u  /**< channels that are polled at each poll */
#define ROCE_LOCAL_BURST 32u /**< mbufs that are fetched at once */
#define ROCE_LOCAL_INBOX \
	1024u /**< frames of this process to itself, and as many that roced passes */
#define ROCE_LOCAL_QPS (1u << ROCE_QPN_SHIFT)

/** In an epoll, the descriptor by which this process wakes itself; a channel has its number. */
#define ROCE_LOCAL_OWN_WAKE UINT32_MAX

/** A service id that this process has, and how often. */
struct roce_local_service {
	struct roce_local_service *next;
	uint64_t service_id;
	uint32_t uses;
	bool asked;   /**< roced has not answered yet */
	bool leaving; /**< nobody uses it, and a thread is about to tell roced */
	int error;    /**< its answer */
};

struct roce_local {
	/* Of the poller, under the lock of the engine. */
	struct roce_channel *hot[ROCE_LOCAL_HOT];
	unsigned int hots;
	unsigned int polls;
	uint32_t number;
	struct roce_bell *bell;    /**< this process's */
	struct rte_ring *inbox;    /**< frames of this process to itself */
	struct rte_ring *passed;   /**< of the connection manager, by way of roced */
	unsigned int passed_waits; /**< polls in a row that left them there */
	struct rte_mempool *pool;
	bool uplink; /**< this process has it (uplink.h) */
	unsigned int spares;
	struct rte_mbuf *spare[ROCE_LOCAL_BURST];
	unsigned int channels; /**< there are */
	uint32_t scan;         /**< number of the channel that is looked at next without a hint */
	uint32_t answer_from;  /**< number from which on the bell is answered next */
	uint64_t stall_ticks;
	struct roce_local_stats stats;
	uint64_t foreign; /**< of the uplink: frames of the wire that are none for processes */
	uint64_t wrong_address; /**< the same: those that rx_wrong_source has of the wire */
	struct roce_channel *channel[ROCE_PROCESSES];
	uint8_t asked[ROCE_PROCESSES]; /**< OPEN was sent */
	uint16_t peer[ROCE_LOCAL_QPS];
	unsigned int sleepers;
	int epoll;      /**< wake sockets of the channels, and inbox_wake */
	int inbox_wake; /**< eventfd: inbox or passed has something for a sleeper */

	/* Of all threads. */
	pthread_mutex_t lock; /**< of the connection's descriptor while it is written to, and of the services */
	pthread_cond_t answered;
	int socket; /**< -1: none now */
	struct roce_local_service *services;

	/* Of the thread. */
	struct roce_local_user user;
	struct roce_proto_identity identity;
	bool over; /**< of the uplink: roced has ended; atomic */
	char dir[ROCE_RUN_DIR_LEN];
	int number_lock; /**< open file whose lock says that the number is in use */
	int bell_fd;
	int ends;            /**< epoll: wake sockets that their peers have closed */
	unsigned int closed; /**< channels that their peers have closed */
	uint64_t closed_by; /**< until when roced may tell of their ends, milliseconds (CLOCK_MONOTONIC) */
	int stop;           /**< eventfd */
	bool runs;
	pthread_t thread;
};

/** Connect, say hello and wait for the welcome; start roced if nobody listens. @return 0; -errno, and a sentence. */
int roce_local_attach(struct roce_local *local, struct roce_errmsg *errmsg);

/** As roce_local_open(); @p dir NULL: that of this user; @p uplink the identity of the uplink, NULL: no uplink. */
int roce_local_open_as(const char *dir, const struct roce_proto_identity *uplink,
		struct roce_local **out, struct roce_errmsg *errmsg);

/** An inbox, of ordinary memory: nobody but this process reads it, and hugepages may run short. @return NULL: no memory. */
struct rte_ring *roce_local_make_inbox(void);

/** The memory of a channel made no sense: it is neither read nor written any more. Locked (engine). */
void roce_local_set_broken(struct roce_local *local, struct roce_channel *channel);

/** Put a frame into the ring of a channel, and drop it if there is no room. Locked (engine). */
void
roce_local_put(struct roce_local *local, struct roce_channel *channel, const struct rte_mbuf *m);

/** A frame of the connection manager, for roced to find its process. The frame stays the caller's. Locked (engine). */
void roce_local_send_by_roced(struct roce_local *local, const struct rte_mbuf *m);

/** Of the uplink: may process @p from send this frame to the wire? */
bool roce_local_may_leave(
		const struct roce_local *local, uint32_t from, const uint8_t *frame, uint32_t len);

/** roced has answered about a service id. Its thread. */
void roce_local_take_answer(struct roce_local *local, const struct roce_msg_listened *listened);

/** A service id of this process. @return false: there are not so many. Any thread. */
bool roce_local_service_at(struct roce_local *local, unsigned int index, uint64_t *service_id);

/** From now on roced is told by this socket: first of the service ids that have waited for it. */
void roce_local_use_socket(struct roce_local *local, int fd);

/** At the end: free what is known of service ids. */
void roce_local_drop_services(struct roce_local *local);

/** Send to roced. @return 0; -errno: it is away, or does not read. Any thread. */
int roce_local_tell(struct roce_local *local, const struct roce_msg *msg);

/** A frame of the connection manager came by way of roced. Any thread. */
void roce_local_deliver(struct roce_local *local, const uint8_t *data, uint32_t len);

/** The frame of this process to itself; taken over. Any thread. */
void roce_local_enqueue(struct roce_local *local, struct rte_mbuf *m);

/** A channel is there from now on. Locked (engine). */
void roce_local_add(struct roce_local *local, struct roce_channel *channel);

/** Take a channel out. @return it, for roce_channel_close() without the lock; NULL: there is none. Locked (engine). */
struct roce_channel *roce_local_remove(struct roce_local *local, uint32_t number);

#endif
