/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QUEUE_QP_RX_H
#define ROCE_QUEUE_QP_RX_H

/**
 * @file
 * The responder's part of a queue pair: what it expects, the receive in use, and what it owes the peer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "queue/objects.h"

struct roce_cq;
struct roce_recv;
struct roce_srq;

/** Answers that the responder owes the peer: served before any request of this end. */
#define ROCE_OWES_ACK  0x01 /**< everything before the expected PSN */
#define ROCE_OWES_NAK  0x02 /**< rx.syndrome at the expected PSN; implies the acknowledgement */
#define ROCE_OWES_READ 0x04 /**< answers to READs and atomics, which come before either */
#define ROCE_OWES_CNP  0x08 /**< a congestion notification */
#define ROCE_OWES_SACK \
	0x10 /**< a selective acknowledgement, which acknowledges nothing and comes first */
#define ROCE_OWES_DUPLICATE 0x20 /**< another, that names a request which came twice */

#define ROCE_CHECK_TAKE \
	0x01 /**< a high watermark is armed, receives are zero-copy, or some are refused on purpose */
#define ROCE_CHECK_HELD \
	0x02 /**< frames are held (held.h), which may be executed behind the expected one */

/** In place of a roce_qp_state: a NAK that ends the queue pair waits behind answers to READs. */
#define ROCE_QP_ENDING 64

#define ROCE_ACK_SOON 16u /**< packets not acknowledged with which an answer waits for nothing */

#define ROCE_ODD_ANSWERS_BURST 64u     /**< answers to frames that were not expected, at once */
#define ROCE_ODD_ANSWERS_HZ    200000u /**< and in a second after that */

struct roce_qp_rx {
	uint32_t qpn;
	uint32_t epsn; /**< PSN expected next */
	uint64_t flow4; /**< IPv4: source and destination address of a good frame, as they stand in it; 0: IPv6 */
	struct roce_srq *rq;
	struct roce_recv *recv; /**< the receive in use, when holding */
	struct roce_cq *cq;
	uint32_t msn;     /**< messages completed, 24 bits */
	uint32_t got;     /**< bytes of the message in progress */
	uint16_t srq_tag; /**< of the reap counter of rq on cq; 0: none */
	uint8_t state;    /**< enum roce_qp_state */
	uint8_t verb;     /**< of the message in progress; ROCE_VERB_NONE between messages */
	uint8_t owes;     /**< ROCE_OWES_* */
	uint8_t syndrome; /**< of the NAK owed */
	bool nak_sent; /**< a gap or an empty queue was reported: be silent until the expected PSN comes */
	bool holding;    /**< recv is a receive taken and not completed */
	uint8_t checks;  /**< ROCE_CHECK_*: what the fast path knows nothing of */
	uint8_t unacked; /**< packets taken in since the last answer, modulo 256 */
	uint16_t mtu;    /**< bytes */
	uint32_t taken;  /**< receives taken, ever */
};

/** Does a frame with these addresses, as flow4, come over IPv4 from the peer of the connection to the address of this end? */
static inline bool
roce_qp_rx_is_from(const struct roce_qp_rx *rx, uint64_t flow4)
{
	return rx->flow4 == flow4 && flow4 != 0;
}

#define ROCE_GAP_BITS 40 /**< frames from the first that is missing to the last */

/**
 * A READ or atomic of the peer: answered in the order they came, and kept after that, so that a duplicate is
 * answered again; an atomic from its result.
 */
struct roce_rd_resource {
	uint64_t va; /**< of the first byte that was asked for */
	union {
		uint64_t original; /**< atomic: the value before it */
		/** READ: frames that go first, because they are missing. Bit i: that at PSN psn + i. */
		struct {
			uint64_t psn : 24;
			uint64_t map : ROCE_GAP_BITS;
		} gap;
	};
	uint32_t rkey;
	uint32_t length; /**< READ: bytes that were asked for */
	uint32_t left;   /**< READ: bytes to send */
	uint32_t psn;    /**< of the request */
	uint32_t end;    /**< one behind the last PSN of the answer */
	uint32_t next;   /**< PSN of the next frame of the answer */
	uint32_t until; /**< one behind the last PSN that is wanted: a repeated request may be for a part */
	uint32_t msn;
	uint8_t verb; /**< enum roce_verb; ROCE_VERB_NONE: never used */
	bool pending; /**< not yet answered to the end */
	bool begun;   /**< the next frame of the answer is not its first */
	bool again;   /**< was answered before: the requester may have all of it by now */
	bool anew; /**< was asked for again: the requester may have more of it than was said since */
};

/** All that a queue pair can allow its peer. */
#define ROCE_REMOTE_ACCESS \
	(ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_READ | ROCE_ACCESS_REMOTE_ATOMIC)

/** Operations of the peer on our memory. */
struct roce_qp_remote {
	uint64_t va; /**< WRITE in progress: of the next byte */
	uint32_t rkey;
	uint32_t left;       /**< bytes still to come */
	uint32_t length;     /**< of the whole WRITE */
	uint8_t max;         /**< resources */
	uint8_t allowed;     /**< of them by this connection */
	uint8_t newest;      /**< used last */
	uint8_t oldest;      /**< pending that is answered next, when any is */
	uint8_t last_status; /**< ENDING: how the receive in use ends */
	uint8_t repeat;      /**< repeat number that arrived last (repeat.h); 0: none did */
	uint8_t access;      /**< what the queue pair allows, of ROCE_REMOTE_ACCESS */
	struct roce_rd_resource *resource;
};

/** The resource used after this one: they go round. */
static inline uint8_t
roce_resource_after(const struct roce_qp_remote *remote, uint8_t i)
{
	return (uint8_t)(i + 1u < remote->allowed ? i + 1u : 0);
}

#endif
