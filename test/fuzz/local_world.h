/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_FUZZ_LOCAL_WORLD_H
#define ROCE_FUZZ_LOCAL_WORLD_H

/**
 * @file
 * A process with a shared adapter and three peers: one that writes what it likes into all memory that it shares, the same
 * with the uplink, and an honest one, which nobody may harm.
 *
 * Each ring and each bell is a block of its own, so that the address sanitizer sees every access beyond. The process under
 * test is number 5.
 */

#include "base.h"
#include "local/local_pvt.h"

#define LOCAL_SELF    5u
#define LOCAL_PEERS   3u
#define LOCAL_HOSTILE 0u /**< index of the peers */
#define LOCAL_UPLINK  1u
#define LOCAL_HONEST  2u

#define LOCAL_BURST   32u /**< frames of a poll, at most */
#define LOCAL_LINE    64u
#define LOCAL_BYTES   4194304u /**< of a ring: as ring.h describes it */
#define LOCAL_PLACE   8u  /**< queue pair that is connected to the honest peer, for the whole run */
#define LOCAL_MARK_AT 54u /**< in frames of the honest peer: which one it is, four bytes */

struct local_peer {
	uint32_t number;
	struct roce_ring *in;         /**< to the process under test */
	struct roce_ring *out;        /**< from it */
	struct roce_bell *bell;       /**< of the peer */
	struct roce_channel *channel; /**< of the process under test; NULL: closed */
	struct roce_ring_tx tx;       /**< of the peer: an honest one uses these */
	struct roce_ring_rx rx;
	uint32_t sent;     /**< by the honest peer */
	uint32_t received; /**< of them: the next one that may come */
	uint32_t told;     /**< frames sent to the honest peer: the next one's number */
	uint32_t heard;    /**< the next one that the honest peer may read */
	uint32_t dirty_in; /**< from here on the memory of the ring is zero */
	uint32_t dirty_out;
};

struct local_world {
	struct roce_local *local;
	struct local_peer peer[LOCAL_PEERS];
	struct rte_mempool *pool; /**< of received frames */
	const uint8_t *meanwhile; /**< record of what is written while a frame is looked at; NULL: nothing */
	bool dry;                 /**< the pool of received frames gives none */
};

extern struct local_world local_world;

/** Begin and end a run. A first record: flags of the world. */
void local_open(const uint8_t *record);
void local_close(void);

void local_open_channel(struct local_peer *peer);
void local_close_channel(struct local_peer *peer);

/** Received frames that are not freed. */
unsigned int local_frames(void);

/** Four bytes of a record as a number. */
static inline uint32_t
local_u32(const uint8_t *at)
{
	return base_u16(at) | base_u16(at + 2) << 16;
}

/** The bytes of a frame over IPv4 or IPv6 to this queue pair, its addresses equal. @return its headers' length. */
uint32_t local_headers(uint8_t *bytes, uint32_t qpn, bool v6);

/** A peer writes by a record. Which of the two, and what: the record says. */
void local_write(const uint8_t *record);

/* ---- local_check.c ---- */

/** One call of roce_local_rx() for @p n frames, each of them judged. @return frames. */
unsigned int local_poll(uint16_t n);

/** The honest peer reads what it was sent, and judges it. */
void local_hear(void);

/** Conditions that hold after each step. */
void local_check(void);

#endif
