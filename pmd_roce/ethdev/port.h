/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_PORT_H
#define ROCE_ETHDEV_PORT_H

/**
 * @file
 * A DPDK port and its queues, each with an engine.
 *
 * Everything of a queue belongs to whoever holds the lock of its engine. The neighbour table is the port's and has a
 * lock of its own. It is taken for frames that are not RoCEv2, to resolve a path, and when its timer is due.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_spinlock.h>

#include "engine/engine.h"
#include "ethdev/fault_injection.h"
#include "ethdev/port_events.h"
#include "ethdev/port_probe.h"
#include "ethdev/rx_interrupt.h"
#include "ethdev/steer.h"
#include "neighbour/neigh.h"
#include "neighbour/subnet.h"
#include "neighbour/unreachable.h"
#include "observe/errmsg.h"
#include "roce/device.h"

#define ROCE_PORT_RX_BURST 32
#define ROCE_PORT_TX_BURST 64

/** Counters of frames outside the engine. Written under the engine's lock, read by anybody. */
struct roce_port_stats {
	uint64_t rx_frames;     /**< from the device */
	uint64_t tx_frames;     /**< taken by the device */
	uint64_t neighbour;     /**< received: ARP and neighbour discovery for us */
	uint64_t foreign;       /**< received: none of our business; freed */
	uint64_t tx_refused;    /**< times the device did not take all frames */
	uint64_t rx_interrupts; /**< times it ended a sleep; written by whoever slept */
};

struct roce_cm;
struct roce_local;
struct roce_port;

/** Besides the public modes of attaching: the port is the shared adapter of the host (local/local.h). */
#define ROCE_PORT_SHARED ((enum roce_attach_mode)16)

struct roce_port_queue {
	struct roce_engine *engine;
	struct roce_port *port;
	struct roce_local *local; /**< bursts go there instead of to a device; NULL: they do not */
	uint16_t port_id;
	uint16_t index;    /**< of its engine */
	uint16_t rx_queue; /**< of the device */
	uint16_t tx_queue;
	uint16_t held_at; /**< oldest frame in held[] */
	uint16_t held_n;  /**< frames the device has refused so far */
	uint32_t service; /**< id of its service; valid when the port is serviced */
	/** Ticks after which the device wants a call although there is nothing to send: always, or for zero_copy. 0: never. */
	uint64_t idle_every;
	uint64_t idle_at; /**< when it wants the next */
	struct roce_fault_injection
			fault_injection; /**< what happens on purpose to frames that are sent */
	/** A path of this port to itself was resolved: frames to its own MAC do not go to the device. Atomic. */
	bool loops;
	uint16_t loop_n; /**< frames in loop[] */
	struct roce_port_stats stats;
	struct rte_mbuf *held[ROCE_PORT_TX_BURST]; /**< fetched from the engine, not yet sent */
	struct rte_mbuf *loop
			[ROCE_PORT_TX_BURST]; /**< to this port itself, received with the next burst */
} __rte_cache_aligned;

struct roce_port {
	struct roce_port_probe probe;
	struct roce_port_events events;
	const struct roce_devargs *args; /**< of the device, which outlives the port */
	/** The description of the port by the program that attached it; zero when the port is our own. */
	struct {
		enum roce_attach_mode mode;
		uint8_t pools; /**< bit per engine: its tx_pool is the program's */
		int (*resolve)(void *arg, const uint8_t ip[16], uint8_t mac[6]);
		void (*foreign)(void *arg, unsigned int engine, struct rte_mbuf **pkts, uint16_t n);
		void *arg;
	} attached;
	struct roce_local *local; /**< of ROCE_PORT_SHARED; else NULL */
	struct rte_ether_addr mac;
	uint16_t id;
	uint8_t mtu_code;
	uint16_t own_mtu; /**< that the device had before it was configured here; 0: not yet known */
	uint8_t tos;
	uint16_t vlan_tci;
	bool ip_cksum_offload;
	bool any_memory;      /**< memory.h: nobody who sends uses IOVAs */
	uint8_t far_logged;   /**< memory.h: bit per enum roce_far; atomic */
	uint8_t unfit_logged; /**< memory.h: a region that has to be copied was logged; atomic */
	uint32_t zero_copy;   /**< as devargs.h, where the device can; else 0 */
	bool started;
	bool serviced;
	uint16_t queues;
	char driver[32];
	struct rte_mempool *tx_pool[ROCE_ENGINES_MAX];
	struct rte_mempool *rx_pool[ROCE_ENGINES_MAX];
	/** For zero-copy receives (zcrx.h). NULL: there are none. */
	struct {
		struct rte_mempool *heads;
		struct rte_mempool *copies;
	} zcrx;
	struct roce_cm *cm;
	struct roce_neigh *neigh;  /**< NULL: the program resolves */
	rte_spinlock_t neigh_lock; /**< taken inside an engine's lock, never around one */
	uint64_t neigh_at;         /**< deadline of the table; read without the lock */
	struct roce_rx_interrupt rx_interrupt;
	uint32_t lcores[ROCE_ENGINES_MAX]; /**< service lcore of each queue */
	struct roce_steer steer;           /**< of a port of our own */
	/** Of all who use it; written under all engines' locks. */
	struct {
		uint32_t n;
		struct roce_subnet at[ROCE_ADDRS_MAX];
	} ip;
	struct roce_port_queue queue[ROCE_ENGINES_MAX];
	struct roce_unreachable_logged unreachable; /**< locked: engine 0 */
};

/** The clock of every port: ticks, and ticks per second. */
uint64_t roce_port_now(void);
uint64_t roce_port_hz(void);

/** Does the program that attached the port poll it? */
static inline bool
roce_port_is_programs(const struct roce_port *port)
{
	return port->attached.mode == ROCE_ATTACH_QUEUES ||
			port->attached.mode == ROCE_ATTACH_HANDOVER;
}

/** Every engine of the port, in ascending order; and back, which may wake users. */
void roce_port_lock(const struct roce_port *port);
void roce_port_unlock(const struct roce_port *port);
/**
 * Back without waking users, which the next poll does. An agent of theirs may open and close adapters; the caller is a
 * thread of this library or of DPDK that has other locks, or that such a call waits for.
 */
void roce_port_unlock_inner(const struct roce_port *port);

/** Is a port of ethdev started? Any. */
bool roce_port_is_started(uint16_t port_id);

/** Has it a link now? */
bool roce_port_has_link(const struct roce_port *port);

/** The rate of the link as the device tells it now, bytes per second; 0: it does not. */
uint64_t roce_port_line_rate(const struct roce_port *port);

/** Free what the device has not taken, and frames of the port to itself. Locked. */
void roce_port_drop_held(struct roce_port_queue *queue);

#endif
