/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_FRAMES_H
#define ROCE_TEST_FIXTURE_FRAMES_H

/** @file Frames of a peer that the test plays go in; frames that an engine sends come out, and are taken apart. */

#include "fixture_qp.h"
#include "wire/aeth.h"
#include "wire/psn.h"

#define FX_SENT 1024u
#define FX_IMM  RTE_BE32(0xfeedbeef) /**< immediate data of the peer's frames */

#define FX_ACK       (ROCE_AETH_ACK | ROCE_CREDIT_INVALID) /**< syndrome of an ACK without credits */
#define FX_NAK(code) ((uint8_t)(ROCE_AETH_NAK | (code)))
#define FX_RNR(code) ((uint8_t)(ROCE_AETH_RNR | (code)))

/** A frame that an engine sent, taken apart; its mbuf is gone. */
struct fx_sent {
	uint64_t at;
	uint32_t dest_qp;
	uint32_t psn;
	uint32_t payload_len;
	uint32_t imm; /**< as on the wire */
	uint32_t msn;
	uint32_t acked; /**< PSN of the acknowledgement that a request carries, with syndrome and msn */
	uint64_t va; /**< of the RETH */
	uint32_t length;
	uint8_t opcode;
	uint8_t syndrome;
	uint8_t repeat; /**< repeat number */
	uint8_t first;  /**< first byte of the payload */
	bool ack_req;
	bool solicited;
};

#define FX_ACKREQ    0x01
#define FX_SOLICITED 0x02

/** A request of the peer; payload byte i is (psn + i) modulo 256, immediate data FX_IMM. */
struct rte_mbuf *
fx_request(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len, unsigned flags);

/** The same with an acknowledgement of the PSN @p acked. @p opcode: of the request without one. */
struct rte_mbuf *fx_piggyback(struct fx_peer *peer, uint8_t opcode, uint32_t psn, uint32_t len,
		unsigned flags, uint8_t syndrome, uint32_t acked);

/** An acknowledgement of the peer. */
struct rte_mbuf *fx_answer(struct fx_peer *peer, uint8_t syndrome, uint32_t psn, uint32_t msn);

/** Give one frame to the end's first engine; it must be consumed. */
void fx_rx(struct fx_end *end, struct rte_mbuf *m);

/** Shorter: give a request, an answer. */
void fx_rx_request(struct fx_end *end, struct fx_peer *peer, uint8_t opcode, uint32_t psn,
		uint32_t len, unsigned flags);
void fx_rx_answer(struct fx_end *end, struct fx_peer *peer, uint8_t syndrome, uint32_t psn);

/** Take what the engine sends, in polls of 32, until it is silent or @p max is reached. @return frames. */
unsigned int fx_tx(struct fx_end *end, struct fx_sent *sent, unsigned int max);

/** The frames of one poll of the first engine, @p max at the most; they are the caller's. @return how many. */
uint16_t fx_take(struct fx_end *end, struct rte_mbuf **pkts, uint16_t max);

/** As fx_tx() with FX_SENT places, kept until the next call. */
const struct fx_sent *fx_tx_all(struct fx_end *end, unsigned int *n);

/** The same, and a failure when it is not @p n frames. */
const struct fx_sent *fx_tx_exactly(struct fx_end *end, unsigned int n);

/** The same for a test that looks at none of them. @return frames. */
unsigned int fx_tx_drop(struct fx_end *end);

/** The only frame that the engine sends now; a failure when it is none or several. */
struct fx_sent fx_tx_one(struct fx_end *end);

/** The engine has nothing to send now. */
void fx_tx_none(struct fx_end *end);

/** Carry frames both ways until both ends are silent. */
void fx_exchange(struct fx_end *a, struct fx_end *b);

/**
 * Move the clock from deadline to deadline up to @p until, discarding nothing: what is sent is recorded.
 * @return frames sent, at most FX_SENT; their times stand in @c at.
 */
const struct fx_sent *fx_run(struct fx_end *end, uint64_t until, unsigned int *n);

#endif
