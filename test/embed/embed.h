/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_EMBED_H
#define TEST_EMBED_H

/**
 * @file
 * A program with an EAL of its own, that attaches devices: the EAL, pools, frames that are nobody's business, and a
 * device with queue pairs on each engine.
 *
 * Helpers fail the test they are called from.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "../open_device.h"
#include "roce/device.h"

#define EMBED_BURST 64u

/** For cmocka: start the EAL as a program would, without hugepages, PCI and files. The thread keeps its processors. */
int embed_start(void **state);
/** The same with a pool for embed_frame(); at the end all of its frames are home. */
int embed_start_foreign(void **state);
int embed_end_foreign(void **state);
extern struct rte_mempool *embed_foreign;

/** A number below @p sides: the same ones in each run. */
uint32_t embed_dice(uint32_t sides);

/** A pool of frames; each buffer has @p room bytes behind the headroom. */
struct rte_mempool *embed_pool(const char *name, unsigned int frames, uint16_t room);

/** All frames are home; the pool goes. */
void embed_pool_end(struct rte_mempool *pool);

/** MAC address number @p n. */
void embed_mac(uint8_t mac[6], uint8_t n);

/** Attach, which must succeed. */
struct roce_device *embed_attach(const struct roce_attach_config *config);

/** Attach, which must fail with @p want and a sentence that has @p word. */
void embed_refused(const struct roce_attach_config *config, int want, const char *word);

/** A counter of a device by its name, which there must be. */
uint64_t embed_counter(const struct roce_device *device, const char *wanted);

/** A device in handover, number @p n: name, MAC, and the address 192.0.2.n. */
struct roce_attach_config embed_handover(uint8_t n);

/** Frames that are not for 192.0.2.1 or 192.0.2.2 over RoCEv2. */
enum embed_kind {
	EMBED_ARP,       /**< a question about somebody else */
	EMBED_ARP_OURS,  /**< a question about 192.0.2.2: looked at, and still the program's */
	EMBED_ND,        /**< neighbour discovery */
	EMBED_UDP,       /**< to another port */
	EMBED_VLAN,      /**< the same with a tag */
	EMBED_SHORT,     /**< ends in the Ethernet header */
	EMBED_ELSEWHERE, /**< RoCEv2 to somebody else */
	EMBED_BROKEN,    /**< the same, malformed */
	EMBED_KINDS,
};

/** Make one; @p serial stands in it. */
struct rte_mbuf *embed_frame(struct rte_mempool *pool, enum embed_kind kind, uint32_t serial);

/** Lengths, flags and bytes of @c m, which must not change. */
struct embed_shadow {
	const struct rte_mbuf *m;
	uint64_t ol_flags;
	uint32_t pkt_len;
	uint16_t data_len;
	uint8_t bytes[128];
};

void embed_remember(struct embed_shadow *shadow, const struct rte_mbuf *m);
void embed_compare(const struct embed_shadow *shadow, const struct rte_mbuf *m);

#endif
