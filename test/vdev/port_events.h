/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PORT_EVENTS_H
#define TEST_PORT_EVENTS_H

/**
 * @file
 * Things that a test does to a port of DPDK: events, a cut wire, pools without a free frame.
 *
 * All functions are for one thread that polls both ends, on loop0 and loop1.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

/** Functions for drivers. Debian does not package ethdev's header for drivers, but the library exports the symbols. */
struct rte_eth_dev;
extern struct rte_eth_dev *rte_eth_dev_allocated(const char *name);
extern int rte_eth_dev_callback_process(
		struct rte_eth_dev *dev, enum rte_eth_event_type event, void *ret_param);

/** A watch over the bursts of receive queues of a port; it is in place until it is ended, also when the port is closed. */
struct port_watch {
	unsigned int bursts; /**< receive bursts so far */
	unsigned int lost;   /**< frames that arrived on a wire that is cut */
	bool cut;            /**< nothing arrives */
	bool linger;         /**< a burst takes 20 ms; atomic */
	bool inside;         /**< somebody is in one; atomic */
	bool hog;            /**< every free frame of every pool is taken at each burst */
};

/** The number of a port that must be there. */
uint16_t port_number(const char *name);

/** The driver of the port says something. */
void port_say(const char *name, enum rte_eth_event_type event);

/** Take the link down or up, as the device sees it, and say so. */
void port_link(const char *name, bool up);

/** Begin to watch the first receive queues. @p watch outlives the port. */
void port_watch(const char *name, uint16_t queues, struct port_watch *watch);

/**
 * End all watches, and give back what they took. No thread is in a burst. ethdev does not forget a port that was
 * closed: its watches end when another port has its number.
 */
void port_watches_end(void);

/** Take every free frame of every pool; more may come free later. @return how many are held. */
unsigned int hog_frames(void);
/** Give them all back. */
void free_hogged(void);

/** Resources of a process that a device could forget to give back. */
struct holdings {
	unsigned int pools; /**< one is freed when its last frame is home */
	unsigned int zones; /**< memory of rings, pools and ports, by name */
	unsigned int files; /**< descriptors */
	size_t heap;        /**< bytes of DPDK's heaps, which callbacks of ports are made of, too */
};

/** Look at what the process holds now. */
void holdings_take(struct holdings *holdings);

/** It holds that again. */
void holdings_same(const struct holdings *before);

/** Pools that exist: one is freed when its last frame is home, so none left means none lost. */
unsigned int pools_left(void);

#endif
