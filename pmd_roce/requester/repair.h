/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REPAIR_H
#define ROCE_REQUESTER_REPAIR_H

/**
 * @file
 * Selective repeat: which frames the peer is known to have, which of the others are sent again, and whether those are lost, too.
 *
 * Two ends of this provider agree on selective acknowledgements when they connect. Such a frame says which requests the peer
 * holds behind one that is missing (held.h), and acknowledges nothing: requests complete by acknowledgements alone. A frame
 * of which a later one has arrived is lost, unless frames come late on this connection and it is waited for (reorder.h). It is
 * sent again, and no other frame is.
 *
 * A repeat is lost when something has arrived that was sent after it (as RACK, RFC 8985). The order of sending is known by
 * generation: frames are in the older one, or were sent again after all of it and are in the newer one. In each they mostly left
 * in the order of their PSNs, and it is known whether they did. READs that are asked for
 * again have repeat numbers, too (repeat.h): the peer answers these in the order of their PSNs.
 *
 * Without agreement the same state serves the probe: the oldest frame alone is sent again when nothing came back for two
 * round trips (retry.c). All functions: locked. Bit i of each map is PSN tx.una + i.
 */

#include "queue/qp.h"
#include "wire/psn.h"

/** Packets of a request or of the answer to a READ that are missing, one behind the other. */
struct roce_repair_gap {
	uint32_t psn;
	uint32_t until; /**< one behind the last */
};

/** A packet of a request is a gap of its own. */
static inline struct roce_repair_gap
roce_repair_packet(uint32_t psn)
{
	return (struct roce_repair_gap){ psn, roce_psn_add(psn, 1) };
}

/** A selective acknowledgement arrived, or one that names a duplicate. */
void roce_repair_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now);

/** Does the peer hold frames behind one that is missing? Then only missing ones are sent again. */
static inline bool
roce_repair_knows(const struct roce_qp *qp)
{
	return unlikely(qp->tx.repairing) && qp->cold.repair.held != 0;
}

/**
 * Everything before @p psn is acknowledged. Before una changes.
 * @return true: what is still under way was sent before a probe that has arrived, and is lost.
 */
bool roce_repair_acknowledged(struct roce_qp *qp, uint32_t psn, uint64_t now);

/** The oldest frame is sent again, alone. */
void roce_repair_probe(struct roce_qp *qp, uint64_t now);

/**
 * The peer misses @p psn, and is not known to hold anything behind it. The selective acknowledgement that said so may be lost: one
 * such NAK is answered with the missing frame alone. @return false: everything is to be sent again. It is the second such NAK,
 * of a peer that does not hold frames; or nothing would find out what else is missing, since there is no timeout.
 */
bool roce_repair_nak_alone(struct roce_qp *qp, uint32_t psn, uint64_t now);

/**
 * The peer misses the packets of @p gap, or its answers to them are missing: they are sent again, or asked for, unless the first was
 * and may still come, or is waited for. @return that is to be now, and was not before.
 */
bool roce_repair_missing(struct roce_qp *qp, struct roce_repair_gap gap, uint64_t now);

/** Before @p end, and less than 128 PSNs ahead, is there a PSN that is neither answered nor known to be missing? */
bool roce_repair_has_unknown(const struct roce_qp *qp, uint32_t end);

/** The timer fired: what has been late for too long is lost. */
void roce_repair_wait_over(struct roce_qp *qp, uint64_t now);

/** Everything that the peer is not known to have is sent again. */
void roce_repair_all(struct roce_qp *qp);

/** Everything is sent again in order, or nothing is left to be sent: the state is as at the beginning of a connection. */
void roce_repair_forget(struct roce_qp *qp);

/**
 * The peer has acknowledged all before @p psn, and answers to READs among that are missing: are these asked for alone? What is
 * behind them has to be acknowledged once more, for which a probe asks. @return false: all goes again from there on. The peer
 * has not agreed, the probe has no timer, or some of it is out of the reach of the maps.
 */
bool roce_repair_ask_behind(const struct roce_qp *qp, uint32_t psn);

/**
 * The answer to a READ at @p psn, less than 128 behind una, came ahead of one that is missing, and is placed.
 * @return false: it had come before.
 */
bool roce_repair_answered(struct roce_qp *qp, uint32_t psn, uint64_t now);

/**
 * The answer at @p psn left when the peer had received the repeat with this number, and gaps are filled first, and in order: what was
 * asked for by then, and precedes the answer, is lost.
 */
void roce_repair_answered_after(struct roce_qp *qp, uint32_t psn, uint8_t number, uint64_t now);

/** Did the answer at @p psn, una or behind it, come early? */
bool roce_repair_is_answered(const struct roce_qp *qp, uint32_t psn);

/** How many PSNs from una on are answered already. */
uint32_t roce_repair_answered_next(const struct roce_qp *qp);

/** One behind the last PSN that was answered ahead of a missing one; una: none was. */
uint32_t roce_repair_answered_end(const struct roce_qp *qp);

/**
 * The first gap in the answer to READ or atomic @p wqe at or behind @p from. Of the PSNs 128 or more behind una none has
 * come. @return false: there is none.
 */
bool roce_repair_gap(const struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t from,
		struct roce_repair_gap *gap);

/** The first frame that is to be sent again, as a place to go to. @return false: there is none. */
bool roce_repair_first(struct roce_qp *qp, uint32_t *psn);

/** The READ request that asks for @p gap again, and is the next to leave, gets a repeat number. @return false: the peer has not agreed. */
bool roce_repair_give_number(struct roce_qp *qp, struct roce_repair_gap gap);

/** The request that has the number did not leave: the next one has it. */
void roce_repair_take_number_back(struct roce_qp *qp);

/** Repeat number of the READ request at @p psn; 0: it has none. */
uint8_t roce_repair_number(const struct roce_qp *qp, uint32_t psn);

/** @p psn, which was to be sent again, is that of no frame, or of an answer that has come. */
void roce_repair_is_none(struct roce_qp *qp, uint32_t psn);

/** The frame that asks for @p gap, the first that was to be sent again, was. */
void roce_repair_sent(struct roce_qp *qp, struct roce_repair_gap gap);

#endif
