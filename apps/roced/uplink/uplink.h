/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_UPLINK_H
#define ROCED_UPLINK_H

/**
 * @file
 * The uplink of a roced: one port of ethdev, and the channels to all processes of the host.
 *
 * The thread of main() moves frames, under a lock. The thread of the connection to roced takes the lock to make and end
 * channels, and that of net_memif's peers to hold bursts up.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cm/cm.h"
#include "ethdev/devargs.h"
#include "ethdev/port.h"
#include "local/uplink.h"
#include "neighbour/neigh.h"
#include "observe/errmsg.h"

#define UPLINK_BURST 32

/** Events since the start. Written under the lock. */
struct uplink_counters {
	uint64_t from_wire;   /**< frames received */
	uint64_t to_wire;     /**< frames sent */
	uint64_t refused;     /**< frames dropped: the device did not take them in time */
	uint64_t false_words; /**< questions for neighbours that a process had no right to ask */
};

struct uplink {
	struct roce_devargs args;
	struct roce_port *port;
	struct roce_neigh *neigh; /**< answers for the addresses of the host */
	struct roce_cm *cm;  /**< answers for processes that are not there: it has no connections */
	struct roce_gsi gsi; /**< of it */
	struct rte_mempool *pool; /**< of frames of processes */
	struct roce_local *local;
	pthread_mutex_t lock;
	uint32_t lock_waiters;                   /**< atomic */
	struct rte_mbuf *held[2 * UPLINK_BURST]; /**< frames that the device has not taken */
	uint16_t held_at, held_n;
	uint64_t held_until; /**< ticks: then they are dropped */
	uint64_t nap_ns;     /**< the next one lasts so long; 0: there was none */
	int wake;            /**< eventfd: the loop is to look at @c ends */
	bool ends;           /**< a signal has come, or the device is lost; atomic */
	bool lost;           /**< the device was taken away, or wants a reset; atomic */
	struct uplink_counters counters;
	uint64_t polled_at; /**< ticks */
	uint64_t tell_at;   /**< ticks: then roced is told of the counters */
};

/** Any thread, and a signal: the loop ends soon. */
void uplink_end(struct uplink *uplink);

void uplink_lock(struct uplink *uplink);
void uplink_unlock(struct uplink *uplink);

/** Start the EAL, the port and the table of neighbours. @return 0; -errno, and a sentence. uplink_close() in any case. */
int uplink_open_port(struct uplink *uplink, struct roce_errmsg *errmsg);

/** Attach to the roced of a folder with the identity of the port. @return 0; -errno, and a sentence. */
int uplink_attach(struct uplink *uplink, const char *dir, struct roce_errmsg *errmsg);

void uplink_close(struct uplink *uplink);

/** Move frames until uplink_end(), or until roced has ended. */
void uplink_run(struct uplink *uplink);

/** No frame has moved: sleep until a process sends, an interrupt comes, or a nap that grows from call to call is over. */
void uplink_sleep(struct uplink *uplink);

/** Tell roced what was counted. The thread of uplink_run(). */
void uplink_tell(struct uplink *uplink);

/** Receive and send a burst each way. Locked. @return frames that moved. */
unsigned int uplink_poll(struct uplink *uplink);

/** The next time at which uplink_poll() has something to do without new frames; ROCE_NEVER. Locked. */
uint64_t uplink_deadline(const struct uplink *uplink);

/** Make the connection manager that answers for processes that are not there. @return 0; -ENOMEM, and a sentence. */
int uplink_open_cm(struct uplink *uplink, struct roce_errmsg *errmsg);

/** A frame of another host that roced has given back; it stays the caller's. The answer waits in @c gsi. Locked. */
void uplink_answer(struct uplink *uplink, struct rte_mbuf *m, uint64_t now);

/**
 * May a process ask this question of neighbours? Its sender has the addresses of the host, or none yet, so that no neighbour
 * learns a false one.
 * @param own the identity's addresses, @p n of them.
 */
bool uplink_may_ask(const uint8_t *frame, uint32_t len, const struct rte_ether_addr *mac,
		const struct roce_subnet *own, unsigned int n);

#endif /* ROCED_UPLINK_H */
