/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_LOCAL_H
#define ROCE_LOCAL_LOCAL_H

/**
 * @file
 * The shared adapter of a host, as one process has it: channels to the other processes, and the connection to roced.
 *
 * It stands where a port of ethdev stands elsewhere: bursts of frames come and go under the lock of the only engine.
 * Frames between processes of the host have the same source and destination address; they go straight into the channel
 * of the process that the queue pair number names. Those of the connection manager go by way of roced, which knows who
 * listens. All other frames go to the process that has the uplink.
 *
 * One thread of the process reads the connection to roced. It starts roced where there is none, tells it again what it
 * knew when it was started anew, and makes and ends channels under the lock of the engine.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "local/proto.h"
#include "observe/errmsg.h"

struct roce_local;

/** Entry of the table of peers: the queue pair is not connected. */
#define ROCE_LOCAL_NO_PEER UINT16_MAX

/**
 * Counters, which local_stats.def lists. Single words are never torn. Each has one writer, under the lock of the engine,
 * but rx_roced, which the thread of the connection writes, and inbox_dropped, which is atomic.
 */
struct roce_local_stats {
#define STAT(name, unit, meaning) uint64_t name;
#include "local/local_stats.def"
#undef STAT
};

/** A channel at one moment. */
struct roce_local_channel {
	uint32_t number; /**< of the peer */
	bool polled;     /**< at each poll; else armed */
	bool broken;     /**< neither read nor written any more */
	bool stalled;    /**< the peer does not read: frames to it are dropped */
	uint64_t rx_frames;
	uint64_t tx_frames;
};

/** The device, as the thread of the connection knows it. @c arg of all calls. */
struct roce_local_user {
	void (*lock)(void *arg); /**< of the engine */
	void (*unlock)(void *arg);
	/** A process has ended: take what is left of its frames, and break what is connected to it. Locked. */
	void (*gone)(void *arg, uint32_t number);
	void *arg;
};

/** Is that the name of a port of this kind: "roced", perhaps with arguments behind a comma? */
bool roce_local_is(const char *port);

/**
 * Attach to the roced of this user, which is started if there is none, and get the identity. No thread runs yet.
 * @return 0; -ENODEV roced cannot be started, or refuses; -ETIMEDOUT it does not answer; -EMFILE; -ENOMEM.
 */
int roce_local_open(struct roce_local **out, struct roce_errmsg *errmsg);

const struct roce_proto_identity *roce_local_identity(const struct roce_local *local);

/** The number of this process, 1..ROCE_PROCESS_MAX, for its life. */
uint32_t roce_local_number(const struct roce_local *local);

/**
 * Which process may send to a queue pair, by the low ROCE_QPN_SHIFT bits of its number: the engine writes the table,
 * under its lock. ROCE_LOCAL_NO_PEER: none.
 */
uint16_t *roce_local_peers(struct roce_local *local);

/**
 * Start the thread. From now on channels come and go.
 * @param user copied. @param pool of received frames; one segment holds ROCE_RING_FRAME_MAX bytes behind the headroom.
 * @return 0; -EAGAIN: no thread; -ENOMEM.
 */
int roce_local_start(struct roce_local *local, const struct roce_local_user *user,
		struct rte_mempool *pool);

/**
 * In a child of fork(2): close what the parent has, so that its peers see its end though the child lives. The child calls
 * nothing else for it.
 */
void roce_local_abandon(struct roce_local *local);

/** Stop the thread: channels neither come nor go any more. No lock of the engine is held. NULL is allowed. */
void roce_local_stop(struct roce_local *local);

/** Detach: the peers see the end of this process. No lock of the engine is held. NULL is allowed. */
void roce_local_close(struct roce_local *local);

/** Receive, at most @p n frames, whose headers name a queue pair of this process that the sender may write to. Locked. */
uint16_t roce_local_rx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n);

/**
 * Send. A frame that cannot be delivered is dropped, as on any network; but a peer that reads has its sender wait.
 * @return how many frames are taken, ownership passes; the rest is to be sent first next time. Locked.
 */
uint16_t roce_local_tx(struct roce_local *local, struct rte_mbuf **pkts, uint16_t n);

/** Has process @p number sent what has not been received, or roced passed anything? Locked. */
bool roce_local_is_pending(const struct roce_local *local, uint32_t number);

/**
 * Before sleeping: arm all channels. The caller receives once more, because a frame that is there wakes nobody.
 * @return a descriptor that becomes readable when a frame comes. Locked.
 */
int roce_local_arm(struct roce_local *local);
/** Wake a thread that sleeps on that descriptor. Any thread. */
void roce_local_wake(const struct roce_local *local);
/** Awake again. @return did a peer wake this process? Locked. */
bool roce_local_disarm(struct roce_local *local);

/**
 * Take a service id of the connection manager for this process, as often as it likes, and give it back.
 * @return 0; -EADDRINUSE another process has it; -ETIMEDOUT roced does not answer; -ENOMEM. No lock is held.
 */
int roce_local_listen(struct roce_local *local, uint64_t service_id);
void roce_local_unlisten(struct roce_local *local, uint64_t service_id);

/** Any thread; of it also all words. */
const struct roce_local_stats *roce_local_stats(const struct roce_local *local);

/** How many channels there are, and how many of them are polled at each poll; the others are armed. Any thread. */
void
roce_local_count_channels(const struct roce_local *local, uint32_t *channels, uint32_t *polled);

/** The channels to the processes @p first and above, at most @p n, by their numbers. @return how many. Locked. */
unsigned int roce_local_channels(const struct roce_local *local, uint32_t first,
		struct roce_local_channel *channel, unsigned int n);

#endif
