/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_branch_prediction.h>

#include "requester/recovery.h"
#include "requester/reorder.h"
#include "requester/repair.h"
#include "requester/retry.h"
#include "requester/rewind.h"

typedef unsigned __int128 bits;

#define BITS 128

/* The PSNs before bit @p n. */
static bits
below(int32_t n)
{
	if (n <= 0)
		return 0;
	return n >= BITS ? ~(bits)0 : ((bits)1 << n) - 1;
}

static int32_t
lowest(bits map)
{
	uint64_t low = (uint64_t)map;

	return low != 0 ? (int32_t)rte_bsf64(low) : 64 + (int32_t)rte_bsf64((uint64_t)(map >> 64));
}

/* One behind the highest bit; 0: none is set. */
static int32_t
end_of(bits map)
{
	uint64_t high = (uint64_t)(map >> 64);

	return high != 0 ? 64 + (int32_t)rte_fls_u64(high) : (int32_t)rte_fls_u64((uint64_t)map);
}

static bits
shift(bits map, int32_t by)
{
	if (by <= -BITS || by >= BITS)
		return 0;
	return by < 0 ? map >> -by : map << by;
}

static void
update(struct roce_qp *qp)
{
	const struct roce_repair *r = &qp->cold.repair;

	qp->tx.repairing = (r->held | r->lost | r->older | r->newer | r->late | r->later |
					   r->answered) != 0;
	qp->tx.repeats = r->lost != 0;
	if (qp->tx.repeats)
		roce_qp_ready(qp);
}

void
roce_repair_forget(struct roce_qp *qp)
{
	/* Answers that are placed stay so. Others may come twice now. */
	qp->cold.repair =
			(struct roce_repair){ .answered = qp->cold.repair.answered, .blind = true };
	roce_reorder_forget(qp);
	update(qp);
}

/* The frames of the map are not waited for any more: they have arrived, or are lost. */
static void
wait_no_more(struct roce_repair *r, bits map)
{
	r->late &= ~map;
	r->later &= ~map;
	if (r->late != 0)
		return;
	r->late = r->later;
	r->late_since = r->later_since;
	r->later = 0;
}

/*
 * Frames have arrived at the peer. A repeat that left before one of them, and is not among them, is lost; but not those of @p asked,
 * READs that were asked for again, of which this tells nothing.
 */
static void
arrived(struct roce_qp *qp, bits map, bits asked)
{
	struct roce_repair *r = &qp->cold.repair;
	int32_t end = end_of(map);

	if (unlikely((r->late | r->later) & map)) {
		roce_reorder_in_time(qp);
		wait_no_more(r, map);
	}
	for (int generation = 0; generation < 2 && (r->older | r->newer) != 0; generation++) {
		bool later = (map & r->newer) != 0 ||
				end > roce_psn_diff(r->older_before, qp->tx.una);

		r->older &= ~map;
		if (later) {
			r->lost |= r->older & ~asked;
			r->older &= asked;
		}
		if ((r->older & ~asked) != 0)
			break;
		r->older |= r->newer & ~map;
		r->older_before = r->newer_before;
		r->newer = 0;
	}
	r->lost &= ~map;
}

/* A frame whose round trip is being measured has arrived: its acknowledgement may come much later. */
static void
measure(struct roce_qp *qp, bits map, uint64_t now)
{
	struct roce_qp_tx *tx = &qp->tx;
	int32_t at = roce_psn_diff(tx->timed_psn, tx->una);

	if (tx->timed_at == 0 || at < 0 || at >= BITS || !(map >> at & 1))
		return;
	roce_recovery_measure(qp, now - tx->timed_at);
	tx->timed_at = 0;
}

/* Frames that were sent again, are to be, or are waited for. */
static bits
known_missing(const struct roce_repair *r)
{
	return r->older | r->newer | r->lost | r->late | r->later;
}

/* Later frames have arrived before those of the map. @return false: they are waited for. */
static bool
overtaken(struct roce_qp *qp, bits map, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	uint64_t window = roce_reorder_window(qp);

	if (likely(window == 0)) {
		r->lost |= map;
		return true;
	}
	if (r->late == 0) {
		r->late = map;
		r->late_since = now;
		roce_retry_watch(qp, now + window);
	} else {
		r->later |= map;
		r->later_since = now;
	}
	return false;
}

static void
are_lost(struct roce_qp *qp, uint64_t now)
{
	roce_recovery_lost(qp, now);
	/* Where all is being sent again in order, that ends here: only what is missing goes. */
	if (qp->cold.repair.held != 0 && roce_psn_diff(qp->tx.psn, qp->tx.max) < 0)
		roce_req_rewind(qp, qp->tx.max);
}

/* Frames before the last one that the peer has are missing: it came after them. */
static void
find_lost(struct roce_qp *qp, uint64_t now)
{
	const struct roce_repair *r = &qp->cold.repair;
	bits missing = below(end_of(r->held)) & ~(r->held | known_missing(r));

	if (missing != 0 && overtaken(qp, missing, now))
		are_lost(qp, now);
}

void
roce_repair_wait_over(struct roce_qp *qp, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;

	while (r->late != 0) {
		uint64_t end = r->late_since + roce_reorder_window(qp);

		if (now < end) {
			roce_retry_watch(qp, end);
			break;
		}
		if (r->answered != 0)
			qp->engine->stats.implied_nak_seq_err++;
		r->lost |= r->late;
		roce_reorder_lost(qp);
		are_lost(qp, now);
		wait_no_more(r, r->late);
	}
	update(qp);
}

/* The PSNs behind its own that a selective acknowledgement says are held. */
static bits
read_held(const struct roce_pkt *pkt)
{
	struct roce_sack sack;

	memcpy(&sack, roce_pkt_sack(pkt), sizeof(sack));
	return (bits)rte_be_to_cpu_64(sack.held[1]) << 64 | rte_be_to_cpu_64(sack.held[0]);
}

/* The PSNs that the peer has, from una on. @return false: some of them were never sent. */
static bool
read_map(const struct roce_qp *qp, const struct roce_pkt *pkt, bits held, bits *map)
{
	const struct roce_qp_tx *tx = &qp->tx;
	int32_t missing = roce_psn_diff(pkt->psn, tx->una);

	if (missing + 1 + end_of(held) > roce_psn_diff(tx->max, tx->una) || missing > BITS)
		return false;
	*map = below(missing) | shift(held, missing + 1);
	return true;
}

/* Those of the map that are READs and atomics. */
static bits
of_reads(const struct roce_qp *qp, bits map)
{
	bits reads = 0;

	for (uint32_t i = qp->tx.tail; unlikely(map != 0) && i != qp->tx.begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);
		int32_t at = roce_psn_diff(wqe->psn, qp->tx.una);

		if (roce_wqe_is_read(wqe))
			reads |= below(at + (int32_t)wqe->packets) & ~below(at);
	}
	return reads & map;
}

void
roce_repair_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	bits map, asked, held = read_held(pkt);

	if (!qp->cold.connect.extensions) {
		qp->engine->stats.rx_malformed_opcode++;
		return;
	}
	qp->engine->stats.rx_sacks++;
	if (held == 0) {
		roce_reorder_duplicate(qp, pkt->psn);
		return;
	}
	if (qp->tx.rnr_at != 0 || !read_map(qp, pkt, held, &map)) {
		qp->engine->stats.rx_ghost_acks++;
		return;
	}
	qp->cold.nak_alone = false;
	map &= ~r->held;
	if (map == 0)
		return;
	measure(qp, map, now);
	/* Those that the peer has executed, because it expects a later PSN by now: their answers are missing. */
	asked = of_reads(qp, below(roce_psn_diff(pkt->psn, qp->tx.una)) & known_missing(r));
	r->held |= map;
	arrived(qp, map & ~asked, asked);
	find_lost(qp, now);
	roce_retry_sacked(qp, now);
	update(qp);
}

bool
roce_repair_acknowledged(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	int32_t by = roce_psn_diff(psn, qp->tx.una);
	/* Unless the answer is that to the frame that was sent first. */
	bool rest = r->probed_at != 0 && by == 1 && psn != qp->tx.max &&
			now - r->probed_at >= qp->tx.srtt / 2;

	arrived(qp, below(by) & (~r->held | known_missing(r)), 0);
	/* The two markers are PSNs: they stay. */
	r->held = shift(r->held, -by);
	r->answered = shift(r->answered, -by);
	r->lost = shift(r->lost, -by);
	r->older = shift(r->older, -by);
	r->newer = shift(r->newer, -by);
	r->late = shift(r->late, -by);
	r->later = shift(r->later, -by);
	r->probed_at = 0;
	r->blind = false;
	update(qp);
	return rest;
}

void
roce_repair_probe(struct roce_qp *qp, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;

	/* All that was sent again before is older than the probe. */
	r->older = (r->older | r->newer) & ~(bits)1;
	r->older_before = r->newer_before;
	r->newer = 0;
	r->lost |= 1;
	r->probed_at = now;
	r->blind = true;
	roce_reorder_forget(qp);
	wait_no_more(r, 1);
	qp->engine->stats.req_probes++;
	update(qp);
}

bool
roce_repair_missing(struct roce_qp *qp, struct roce_repair_gap gap, uint64_t now)
{
	const int32_t at = roce_psn_diff(gap.psn, qp->tx.una);
	const bits known = known_missing(&qp->cold.repair);
	const bits missing = below(roce_psn_diff(gap.until, qp->tx.una)) & ~below(at) & ~known;
	const bool lost = (missing & shift(1, at)) != 0 && overtaken(qp, missing, now);

	update(qp);
	return lost;
}

bool
roce_repair_nak_alone(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	/* Without a timeout nobody would find out what else is missing. */
	if (!qp->cold.connect.extensions || qp->cold.nak_alone || qp->tx.ack_timeout == 0)
		return false;
	qp->cold.nak_alone = true;
	(void)roce_repair_missing(qp, roce_repair_packet(psn), now);
	return true;
}

void
roce_repair_all(struct roce_qp *qp)
{
	struct roce_repair *r = &qp->cold.repair;

	if (!qp->cold.connect.extensions) {
		roce_repair_forget(qp);
		roce_req_rewind(qp, qp->tx.una);
		return;
	}
	if (roce_psn_diff(qp->tx.psn, qp->tx.max) < 0)
		roce_req_rewind(qp, qp->tx.max);
	/* The oldest one in any case: what is missing may be its acknowledgement. */
	r->lost = (below(roce_psn_diff(qp->tx.max, qp->tx.una)) & ~r->held) | 1;
	r->older = 0;
	r->newer = 0;
	r->late = 0;
	r->later = 0;
	r->blind = true;
	roce_reorder_forget(qp);
	update(qp);
}

bool
roce_repair_ask_behind(const struct roce_qp *qp, uint32_t psn)
{
	return qp->cold.connect.extensions && qp->tx.ack_timeout != 0 &&
			roce_psn_diff(psn, qp->tx.una) < BITS;
}

/*
 * The frames of a gap are asked for together, and answered in order: those in front of bit @p at are lost. In front of an answer
 * that came in its first turn they were not asked for yet.
 */
static void
lost_in_gap(struct roce_qp *qp, const struct roce_wqe *wqe, int32_t at, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	const int32_t begin = RTE_MAX(roce_psn_diff(wqe->psn, qp->tx.una), 0);
	const bits before = below(at) & ~below(begin);
	const bits gap = before & ~below(end_of(before & r->answered));
	const bits again = gap & (r->older | r->newer);

	if (likely(again == 0))
		return;
	r->older &= ~again;
	r->newer &= ~again;
	if (overtaken(qp, again, now))
		are_lost(qp, now);
}

bool
roce_repair_answered(struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t psn, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	const int32_t at = roce_psn_diff(psn, qp->tx.una);
	const bits bit = shift(1, at);

	if (r->answered & bit) {
		roce_reorder_duplicate(qp, psn);
		return false;
	}
	r->answered |= bit;
	arrived(qp, bit, 0);
	lost_in_gap(qp, wqe, at, now);
	roce_retry_sacked(qp, now);
	update(qp);
	return true;
}

bool
roce_repair_is_answered(const struct roce_qp *qp, uint32_t psn)
{
	return (qp->cold.repair.answered & shift(1, roce_psn_diff(psn, qp->tx.una))) != 0;
}

uint32_t
roce_repair_answered_next(const struct roce_qp *qp)
{
	bits missing = ~qp->cold.repair.answered;

	return missing != 0 ? (uint32_t)lowest(missing) : BITS;
}

uint32_t
roce_repair_answered_end(const struct roce_qp *qp)
{
	return roce_psn_add(qp->tx.una, (uint32_t)end_of(qp->cold.repair.answered));
}

bool
roce_repair_gap(const struct roce_qp *qp, const struct roce_wqe *wqe, uint32_t from,
		struct roce_repair_gap *gap)
{
	const uint32_t una = qp->tx.una;
	const int32_t at = RTE_MAX(roce_psn_diff(from, una), roce_psn_diff(wqe->psn, una));
	const int32_t end = roce_psn_diff(wqe->psn, una) + (int32_t)wqe->packets;
	const int32_t known = RTE_MIN(end, BITS);
	const bits missing = below(known) & ~below(at) & ~qp->cold.repair.answered;
	const int32_t first = missing != 0 ? lowest(missing) : RTE_MAX(at, known);
	const bits answered = qp->cold.repair.answered & ~below(first);

	if (first >= end)
		return false;
	gap->psn = roce_psn_add(una, (uint32_t)first);
	gap->until = roce_psn_add(
			una, (uint32_t)(answered != 0 ? RTE_MIN(lowest(answered), end) : end));
	return true;
}

bool
roce_repair_first(struct roce_qp *qp, uint32_t *psn)
{
	const struct roce_repair *r = &qp->cold.repair;

	if (r->lost == 0)
		return false;
	*psn = roce_psn_add(qp->tx.una, (uint32_t)lowest(r->lost));
	return true;
}

void
roce_repair_sent(struct roce_qp *qp, uint32_t psn, uint32_t packets)
{
	struct roce_repair *r = &qp->cold.repair;
	const int32_t at = roce_psn_diff(psn, qp->tx.una);
	const bits sent = below(at + (int32_t)RTE_MIN(packets, (uint32_t)BITS)) & ~below(at);

	if (!r->blind)
		roce_reorder_repeated(qp, psn);
	r->lost &= ~sent;
	r->older &= ~sent;
	wait_no_more(r, sent);
	r->newer |= sent;
	r->newer_before = qp->tx.max;
	qp->tx.repeats = r->lost != 0;
	/* Karn's rule. */
	if (psn == qp->tx.timed_psn)
		qp->tx.timed_at = 0;
}
