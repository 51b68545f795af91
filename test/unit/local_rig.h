/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_LOCAL_RIG_H
#define ROCE_TEST_LOCAL_RIG_H

/**
 * @file
 * Processes that share an adapter, all in this one and without roced: the test makes their channels, reads what they
 * tell roced, and plays a peer that writes what it likes into the memory of a channel.
 *
 * A failure in here ends the test. No call waits, and no rule depends on the time: a peer that does not read is given up
 * by the ticks that the test sets.
 */

#include "local/local_pvt.h"
#include "unit.h"

/** Frames of one call of roce_local_rx() here. */
#define RIG_BURST 32u

/** Offsets in a frame over IPv4: 14 bytes of Ethernet, 20 of IPv4, 8 of UDP, 12 of BTH. */
#define RIG_V4_LEN 54u
/** The same over IPv6, whose header has 40. */
#define RIG_V6_LEN 74u

/** The number of queue pair @p place of process @p number. */
#define RIG_QPN(number, place) ((uint32_t)(number) << 14 | (place))

/** A process with that number; queue pairs have no peer, and it waits for peers that do not read. */
struct roce_local *rig_open(uint32_t number);
void rig_close(struct roce_local *local);

/** A channel between both. */
void rig_connect(struct roce_local *a, struct roce_local *b);

/**
 * A channel to process @p number, which is the test: @p peer is its end. The bell of the test rings nowhere.
 * @return the same memory as the test has it.
 */
struct roce_channel *rig_play(struct roce_local *local, uint32_t number);

/** Queue pair @p place is connected to process @p number. */
void rig_set_peer(struct roce_local *local, uint32_t place, uint32_t number);

/** The next message to roced, a failure when there is none. */
struct roce_msg rig_told(struct roce_local *local);
void rig_told_nothing(struct roce_local *local);

/** Roced's end of the connection. */
int rig_roced(const struct roce_local *local);

/** Look whether a played peer has a frame at the moment when the next message reaches roced. One at a time. */
void rig_watch_roced(const struct roce_local *local, const struct roce_channel *peer);

/** @return 1: it had one, 0: it had none, -1: no message came. */
int rig_was_ready(void);

/** The frame to be made. */
struct rig_frame {
	uint32_t qpn;
	uint32_t len; /**< 0: as short as it can be with a BTH */
	bool v6;
	bool foreign; /**< its addresses differ */
	uint8_t mark; /**< each byte behind the BTH */
};

/** The bytes of a frame. @return their number. */
uint32_t rig_bytes(uint8_t *bytes, const struct rig_frame *frame);

/** The same as an mbuf of one segment. */
struct rte_mbuf *rig_mbuf(const struct rig_frame *frame);

/** Send frames that the process takes, all of them. */
void rig_send(struct roce_local *local, const struct rig_frame *frame, unsigned int n);

/** Poll once. @return frames, all of them freed; the mark of the last one in @p mark, if that is not NULL. */
unsigned int rig_poll(struct roce_local *local, uint8_t *mark);

/** Poll until a frame comes, at most @p polls times. @return polls; 0: none came. */
unsigned int rig_await(struct roce_local *local, unsigned int polls);

/** Poll exactly that often; a failure when a frame comes. */
void rig_poll_none(struct roce_local *local, unsigned int polls);

/** A played peer puts bytes and publishes them. The bell is not rung. */
void rig_put(struct roce_channel *peer, const void *bytes, uint32_t len);

/** The same for a frame. */
void rig_put_frame(struct roce_channel *peer, const struct rig_frame *frame);

/** A played peer takes all frames. @return how many. */
unsigned int rig_drain(struct roce_channel *peer);

#endif
