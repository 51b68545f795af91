/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_DEVARGS_H
#define ROCE_ETHDEV_DEVARGS_H

/**
 * @file
 * The instance string of an interface adapter: blank-separated `key=value`.
 *
 * Strings in, numbers out: nothing is opened, looked up or started here, so
 * any string may be given. Whether the port exists and the MTU fits is for
 * the users of the result to find out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>

#include "engine/engine.h"
#include "ethdev/fault_injection.h"
#include "neighbour/subnet.h"
#include "observe/errmsg.h"
#include "wire/frame.h"

#define ROCE_DEVARGS_PORT_LEN 512
#define ROCE_DEVARGS_NEIGHS   64
#define ROCE_DEVARGS_LCORES   64

/** One pair of `neigh=`. */
struct roce_devargs_neigh {
	struct roce_ip ip;
	struct rte_ether_addr mac;
};

/** An instance string, understood. */
struct roce_devargs {
	char port[ROCE_DEVARGS_PORT_LEN]; /**< as given: a name, perhaps a comma and more */
	struct {
		uint32_t n;
		struct roce_subnet at[ROCE_ADDRS_MAX];
	} ip;
	struct {
		uint32_t n;
		struct roce_devargs_neigh at[ROCE_DEVARGS_NEIGHS];
	} neigh;
	struct {
		uint32_t n;
		uint32_t at[ROCE_DEVARGS_LCORES];
	} lcores;
	struct roce_ip gw; /**< valid when `gw` was given */
	uint64_t seed;     /**< valid when `seed` was given */
	uint32_t vlan;     /**< 0: untagged */
	uint32_t pcp;      /**< 0..7; not 0: frames have a tag also without a vlan */
	uint32_t dscp;     /**< 0..63 */
	uint32_t ecn;      /**< 1: the network may mark frames of connections */
	uint32_t mtu;      /**< bytes; 0: the largest that fits */
	uint32_t zero_copy; /**< payload of a frame from which on it is not copied, bytes; 0: always */
	uint32_t zcrx;      /**< frames that consumers may hold; 0: none */
	uint32_t queues;    /**< 1..ROCE_ENGINES_MAX */
	uint32_t qpn;       /**< 0: random */
	uint32_t psn;       /**< UINT32_MAX: random */
	uint32_t retry;
	uint32_t rnr_retry;
	uint32_t rnr_timer;               /**< IBTA code */
	uint32_t timeout;                 /**< IBTA code */
	uint32_t manual;                  /**< 1: only the consumer's own calls poll the adapter */
	uint32_t fault[ROCE_FAULT_KINDS]; /**< of a million frames sent, do it to so many on purpose */
	uint32_t rnr; /**< of a million messages that take a receive, refuse so many on purpose */
	uint32_t wc_error; /**< of a million requests, have so many fail on purpose */
	/** Of ROCE_FAULTS, valid when fault_seeded: faults have it in place of the seed of all that is random. */
	uint64_t fault_seed;
	bool fault_seeded;
	uint32_t given; /**< bit per key, in the order of the table in devargs.c */
};

/**
 * Understand an instance string.
 *
 * @param text     the string.
 * @param override pairs that replace those of @p text key by key (all values of a key that may repeat);
 *                 NULL: none.
 * @param args     filled whole when the call succeeds, with defaults for what was not given.
 * @return 0; -EINVAL unknown key, bad or missing value, a key given twice that may not repeat, a required key
 *   missing; @p errmsg names the key.
 */
int roce_devargs_parse(const char *text, const char *override, struct roce_devargs *args,
		struct roce_errmsg *errmsg);

/** The same, but no key is required: the string may be for a device that has been told before. */
int roce_devargs_read(const char *text, const char *override, struct roce_devargs *args,
		struct roce_errmsg *errmsg);

/** @return 0; -EINVAL a required key is missing; @p errmsg names it. */
int roce_devargs_complete(const struct roce_devargs *args, struct roce_errmsg *errmsg);

/** As if `port=` had been given; @p name is shorter than ROCE_DEVARGS_PORT_LEN. */
void roce_devargs_set_port(struct roce_devargs *args, const char *name);

/** True when a key stood in the string, e.g. "gw". */
bool roce_devargs_has(const struct roce_devargs *args, const char *key);

/** True when two strings meant the same, and gave the same keys. */
bool roce_devargs_equal(const struct roce_devargs *a, const struct roce_devargs *b);

/** The first key that @p b gave and that means something else in @p a; NULL: none. */
const char *roce_devargs_differ(const struct roce_devargs *a, const struct roce_devargs *b);

/** Length of the port's name: up to the first comma. */
size_t roce_devargs_name_len(const char *port);

#endif
