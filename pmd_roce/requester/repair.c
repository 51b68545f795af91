/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_branch_prediction.h>

#include "requester/recovery.h"
#include "requester/reorder.h"
#include "requester/repair.h"
#include "requester/repair_bits.h"
#include "requester/retry.h"
#include "requester/rewind.h"
#include "wire/repeat.h"

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
	qp->cold.repair = (struct roce_repair){
		.answered = qp->cold.repair.answered,
		.last_number = qp->cold.repair.last_number,
		.blind = true,
	};
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

/* The repeats that left last become the older ones. */
static void
age(struct roce_repair *r)
{
	if (r->older == 0)
		r->older_rises = r->newer_rises;
	else if (r->newer != 0)
		r->older_rises = false;
	r->older |= r->newer;
	r->older_before = r->newer_before;
	r->newer = 0;
}

/*
 * Frames have arrived at the peer, or answers of it here. A repeat that left before one of them, and is not among them, is lost; but
 * not those of @p asked, READs that were asked for again, of which this tells nothing. Of two repeats the order is not known of those
 * in @p apart: the peer answers the one that has the first PSN first.
 */
static void
arrived(struct roce_qp *qp, bits map, bits asked, bits apart)
{
	struct roce_repair *r = &qp->cold.repair;
	int32_t end = end_of(map);

	if (unlikely((r->late | r->later) & map)) {
		roce_reorder_in_time(qp);
		wait_no_more(r, map);
	}
	for (int generation = 0; generation < 2 && (r->older | r->newer) != 0; generation++) {
		const bits came = r->older & map & ~(asked | apart);
		bits lost = 0;

		r->older &= ~map;
		if (end > roce_psn_diff(r->older_before, qp->tx.una))
			lost = r->older & ~asked;
		else if ((map & r->newer) != 0)
			lost = r->older & ~(asked | apart);
		else if (r->older_rises && roce_reorder_window(qp) == 0)
			lost = r->older & below(end_of(came)) & ~(asked | apart | r->numbered);
		r->lost |= lost;
		r->older &= ~lost;
		if ((r->older & ~(asked | apart)) != 0)
			break;
		age(r);
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

/* Those of the map that are of READs and atomics, from packet @p from of each on. */
static bits
of_reads(const struct roce_qp *qp, bits map, int32_t from)
{
	bits reads = 0;

	for (uint32_t i = qp->tx.tail; unlikely(map != 0) && i != qp->tx.begun; i++) {
		const struct roce_wqe *wqe = roce_wq_slot(&qp->wq, i);
		int32_t at = roce_psn_diff(wqe->psn, qp->tx.una);

		if (roce_wqe_is_read(wqe))
			reads |= below(at + (int32_t)wqe->packets) & ~below(at + from);
	}
	return reads & map;
}

/*
 * Frames before the last one that the peer has are missing: it came after them. A READ is one frame, whose other PSNs are of answers
 * alone.
 */
static void
find_lost(struct roce_qp *qp, uint64_t now)
{
	const struct roce_repair *r = &qp->cold.repair;
	bits missing = below(end_of(r->held)) & ~(r->held | known_missing(r));

	missing &= ~of_reads(qp, missing, 1);
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

/*
 * The peer has received the repeat with this number, and none of the frames of @p missing came of it or of those before it: they
 * are lost. A number that was never given seems to be the oldest of all, and tells of none.
 */
static void
peer_received(struct roce_qp *qp, uint8_t number, bits missing, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	const uint32_t age = roce_repeat_age(number, r->last_number);
	bits asked = (r->older | r->newer) & r->numbered & missing, lost = 0;

	if (likely(asked == 0) || number == 0)
		return;
	for (; asked != 0; asked &= asked - 1) {
		const int32_t at = lowest(asked);

		if (roce_repeat_age(r->number[number_slot(qp, at)], r->last_number) >= age)
			lost |= shift(1, at);
	}
	r->older &= ~lost;
	r->newer &= ~lost;
	if (lost != 0 && overtaken(qp, lost, now))
		are_lost(qp, now);
	update(qp);
}

void
roce_repair_rx(struct roce_qp *qp, const struct roce_pkt *pkt, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	bits map, asked, missing, held = read_held(pkt);

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
	missing = r->numbered & ~(below(roce_psn_diff(pkt->psn, qp->tx.una)) | r->held | map);
	/* One from behind is late or recorded, and its number is of a round before. */
	if (roce_psn_diff(pkt->psn, qp->tx.una) >= 0)
		peer_received(qp, pkt->repeat, missing & ~of_reads(qp, missing, 1), now);
	if (map == 0)
		return;
	measure(qp, map, now);
	/* Those that the peer has executed, because it expects a later PSN by now: their answers are missing. */
	asked = of_reads(qp, below(roce_psn_diff(pkt->psn, qp->tx.una)) & known_missing(r), 0);
	r->held |= map;
	arrived(qp, map & ~asked, asked, 0);
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

	arrived(qp, below(by) & (~r->held | known_missing(r)), 0, r->numbered);
	/* The two markers are PSNs: they stay. */
	r->held = shift(r->held, -by);
	r->answered = shift(r->answered, -by);
	r->lost = shift(r->lost, -by);
	r->older = shift(r->older, -by);
	r->newer = shift(r->newer, -by);
	r->late = shift(r->late, -by);
	r->later = shift(r->later, -by);
	r->numbered = shift(r->numbered, -by);
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
	age(r);
	r->older &= ~(bits)1;
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
	const bits missing = of_gap(qp, gap) & ~known;
	const bool lost = (missing & shift(1, at)) != 0 && overtaken(qp, missing, now);

	update(qp);
	return lost;
}

bool
roce_repair_has_unknown(const struct roce_qp *qp, uint32_t end)
{
	const struct roce_repair *r = &qp->cold.repair;

	return (below(roce_psn_diff(end, qp->tx.una)) & ~(r->answered | known_missing(r))) != 0;
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

bool
roce_repair_answered(struct roce_qp *qp, uint32_t psn, uint64_t now)
{
	struct roce_repair *r = &qp->cold.repair;
	const bits bit = shift(1, roce_psn_diff(psn, qp->tx.una));

	if (r->answered & bit) {
		roce_reorder_duplicate(qp, psn);
		return false;
	}
	r->answered |= bit;
	arrived(qp, bit, 0, r->numbered);
	roce_retry_sacked(qp, now);
	update(qp);
	return true;
}

void
roce_repair_answered_after(struct roce_qp *qp, uint32_t psn, uint8_t number, uint64_t now)
{
	const bits before = below(roce_psn_diff(psn, qp->tx.una));

	peer_received(qp, number, before & ~qp->cold.repair.answered, now);
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
roce_repair_is_none(struct roce_qp *qp, uint32_t psn)
{
	struct roce_repair *r = &qp->cold.repair;

	r->lost &= ~shift(1, roce_psn_diff(psn, qp->tx.una));
	qp->tx.repeats = r->lost != 0;
}

void
roce_repair_sent(struct roce_qp *qp, struct roce_repair_gap gap)
{
	struct roce_repair *r = &qp->cold.repair;
	const bits sent = of_gap(qp, gap);

	if (!r->blind)
		roce_reorder_repeated(qp, gap.psn);
	r->lost &= ~sent;
	r->older &= ~sent;
	wait_no_more(r, sent);
	r->newer_rises = r->newer == 0 ||
			(r->newer_rises && roce_psn_diff(gap.psn, r->newer_last) > 0);
	r->newer_last = gap.psn;
	r->newer |= sent;
	r->newer_before = qp->tx.max;
	qp->tx.repeats = r->lost != 0;
	/* Karn's rule. */
	if (gap.psn == qp->tx.timed_psn)
		qp->tx.timed_at = 0;
}
