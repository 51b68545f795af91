/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_CONFIG_H
#define ROCE_QUEUE_CONFIG_H

/**
 * @file
 * The configuration of a domain: memory, pools, addresses, and the calls to the world around it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "queue/async_events.h"
#include "wire/frame.h"

#define ROCE_NEVER       UINT64_MAX
#define ROCE_ENGINES_MAX 8
#define ROCE_QPS_LIMIT   16384 /**< queue pairs of a domain */
#define ROCE_NO_PROCESS  UINT16_MAX

/** Where the domain's memory comes from: zeroed, cache-line aligned. */
struct roce_memory {
	void *(*alloc)(void *arg, size_t size); /**< NULL when there is none left */
	void (*free)(void *arg, void *p);       /**< NULL is allowed */
	void *arg;
};

/** CQ_EVENTS was delivered: now that the lock is dropped, wake the waiters. @p arg is that of notify(). */
typedef void (*roce_wake_fn)(void *arg);

/** Queue pair 1, the general services: the connection manager's side of the engine. All on engine 0, locked. */
struct roce_gsi {
	/** A datagram to QP 1 with a good ICRC and one of our addresses. The frame stays the engine's. */
	void (*rx)(void *arg, const struct roce_pkt *pkt, uint64_t now);
	/** Frames to send, at most @p max; complete, ownership passes. @return how many. */
	uint16_t (*tx)(void *arg, struct rte_mbuf **pkts, uint16_t max, uint64_t now);
	/** Next time at which tx() has something to do; ROCE_NEVER when there is none. */
	uint64_t (*deadline)(void *arg);
	/** A queue pair with a connection was established by data or broke; @p conn from roce_qp_set_conn(). */
	void (*qp_async_event)(void *arg, void *conn, enum roce_engine_async kind, uint64_t now);
	void *arg;
	/** Before it tx() has nothing to do; as the last calls left it. NULL: tx() is always asked. */
	const uint64_t *at;
};

/**
 * Regions that the device may read, and payload that it reads where it lies (extbuf.h). Both calls come from any
 * thread, the second under an engine's lock.
 */
struct roce_extbuf_config {
	uint32_t least; /**< bytes of payload of a frame from which on it is not copied; 0: it always is */
	/** A region was made. NULL: none is checked. @return may the device read it? */
	bool (*readable)(void *arg, uint64_t addr, uint64_t len);
	/** @return what the device calls the memory; RTE_BAD_IOVA: not contiguous, so it is copied. */
	rte_iova_t (*iova)(void *arg, const void *addr, uint32_t len);
	void *arg; /**< of both */
};

/**
 * Frames that consumers may hold (zcrx.h). They get heads, mbufs that want no buffer; frames that cannot be given
 * as they came are copied, into one segment of any path MTU. Both pools have @c max for this alone, and those whose frames
 * can be given have so many more than the device wants.
 */
struct roce_zcrx_config {
	uint32_t max; /**< of all queue pairs together; 0: none */
	bool any;     /**< frames of any pool can be given */
	struct rte_mempool *heads;
	struct rte_mempool *copies;
	struct rte_mempool *pool[ROCE_ENGINES_MAX]; /**< else of these; NULL: none */
};

/** Faults of queue pairs on purpose (fault_dice.h): a throw of 32 bits below it does it. 0: never; 2^32: always. */
struct roce_fault_config {
	uint64_t seed;
	uint64_t rnr; /**< to a message that could take a receive: it is refused as if there were none */
	uint64_t wc_error; /**< to a request that is no bind: it fails as if its peer never answered */
};

struct roce_domain_config {
	unsigned int engines;                /**< 1..ROCE_ENGINES_MAX */
	uint64_t hz;                         /**< ticks per second of every @c now */
	uint64_t seed;                       /**< of all that is random */
	uint32_t first_qpn;                  /**< 0: random */
	uint32_t first_psn;                  /**< UINT32_MAX: random for each queue pair */
	struct roce_ip addr[ROCE_ADDRS_MAX]; /**< ours: frames to other addresses are foreign */
	unsigned int addrs;
	/** Of the process, where several share the addresses: it stands above the place in queue pair numbers. 0: none do. */
	uint16_t process;
	/**
	 * With @c process: by place, the process that a queue pair is connected to, 0 for another host, or
	 * ROCE_NO_PROCESS. Written by the engine, for whoever receives for it.
	 */
	uint16_t *peer_process;
	uint16_t vid; /**< our VLAN: frames of others are foreign; 0: untagged, or with a tag that names none */
	struct rte_mempool *pool
			[ROCE_ENGINES_MAX]; /**< frames to send, one pool an engine; one segment holds the
						      * largest frame. The pools may be one and the same. */
	bool ip_cksum_offload;              /**< the device makes IPv4 header checksums */
	bool ecn;           /**< frames of connections say that the network may mark them */
	uint64_t line_rate; /**< bytes per second that the line carries; 0: unknown */
	struct roce_extbuf_config extbuf;
	struct roce_zcrx_config zcrx;
	struct roce_fault_config faults;
	struct roce_memory memory;
	roce_notify_fn notify; /**< of the domain's own context; NULL: nobody uses that */
	void *notify_arg;
	roce_wake_fn wake; /**< for all contexts; NULL: no completion queue is armed */
	/** A request waits for a poll, and threads that poll sleep (domain->sleepers). From the poster; NULL: none ever do. */
	roce_wake_fn wake_poller;
	/**
	 * Send what is on the ready list of an engine (roce_engine_tx_ready()), or leave it to the next poll. From the poster,
	 * locked. @p arg is that of notify(). NULL: the next poll sends it.
	 */
	void (*transmit)(void *arg, unsigned int engine);
};

#endif
