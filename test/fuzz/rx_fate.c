/* SPDX-License-Identifier: BSD-3-Clause */
/* The fate that a frame must have, from the formats and the states alone; and the fate that the counters show. */

#include <string.h>

#include "rx_world.h"

/* Each frame that is given to an engine moves one of these, but for a request that is executed. */
static const struct {
	const char *name;
	size_t offset;
} fates[] = {
#define FATE(name)                                       \
	{                                                \
#name, offsetof(struct roce_stats, name) \
	}
	/* clang-format off */
	FATE(rx_foreign), FATE(rx_malformed_length), FATE(rx_malformed_fragment), FATE(rx_malformed_opcode),
	FATE(rx_malformed_version), FATE(rx_malformed_pkey), FATE(rx_icrc_encapsulated), FATE(rx_unknown_qp),
	FATE(rx_wrong_source), FATE(rx_wrong_state), FATE(rx_inbox_full), FATE(rx_gsi),
	FATE(rx_acks), FATE(rx_sacks), FATE(rx_read_responses), FATE(rp_cnp_handled), FATE(rp_cnp_ignored),
	FATE(duplicate_request), FATE(out_of_sequence),
	FATE(out_of_buffer), FATE(resp_invalid_request), FATE(resp_local_length_error),
	FATE(resp_local_protection_error), FATE(resp_over_high_watermark), FATE(resp_remote_access_errors),
/* clang-format on */
#undef FATE
};

/* By place in the table above. */
enum {
	FOREIGN,
	LENGTH,
	FRAGMENT,
	OPCODE,
	VERSION,
	PKEY,
	ICRC,
	UNKNOWN_QP,
	WRONG_SOURCE,
	WRONG_STATE,
	INBOX_FULL,
	GSI,
	ACKS,
	SACKS,
	READ_RESPONSES,
	CNP_HANDLED,
	CNP_IGNORED,
	FIRST_OF_REQUESTS,
};

#define BIT(fate) (1u << (fate))
#define REQUESTS  (~0u << FIRST_OF_REQUESTS)

static_assert(RTE_DIM(fates) <= RTE_DIM(((struct rx_fates *)0)->count),
		"there is a place for each");

void
rx_fates_read(const struct rx_side *side, struct rx_fates *values)
{
	*values = (struct rx_fates){ 0 };
	for (unsigned int e = 0; e < side->engines; e++) {
		const char *stats = (const char *)roce_engine_stats(
				roce_domain_engine(side->domain, e));

		for (unsigned int i = 0; i < RTE_DIM(fates); i++) {
			uint64_t value;

			memcpy(&value, stats + fates[i].offset, sizeof(value));
			values->count[i] += value;
		}
	}
}

uint64_t
rx_fates_sum(const struct rx_fates *before, const struct rx_fates *after)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(fates); i++)
		sum += after->count[i] - before->count[i];
	return sum;
}

/* Several faults: which of them is named is the engine's choice. */
static uint32_t
faults_to_fates(uint32_t faults)
{
	uint32_t set = 0;

	if (faults & ORACLE_FOREIGN)
		return BIT(FOREIGN);
	set |= faults & ORACLE_LENGTH ? BIT(LENGTH) : 0;
	set |= faults & ORACLE_FRAGMENT ? BIT(FRAGMENT) : 0;
	set |= faults & ORACLE_OPCODE ? BIT(OPCODE) : 0;
	set |= faults & ORACLE_VERSION ? BIT(VERSION) : 0;
	set |= faults & ORACLE_PKEY ? BIT(PKEY) : 0;
	return set;
}

static const struct rx_end *
find_end(const struct rx_side *side, uint32_t qpn)
{
	for (uint8_t talk = 0; talk < RX_TALKS; talk++) {
		const struct rx_end *end = &side->end[talk];

		if (end->qp != NULL && roce_qp_number(end->qp) == qpn)
			return end;
	}
	return NULL;
}

static bool
is_ours(const struct rx_side *side, const struct roce_ip *dst)
{
	struct roce_ip v4 = rx_address(side->index, false);
	struct roce_ip v6 = rx_address(side->index, true);

	return roce_ip_equal(dst, &v4) || roce_ip_equal(dst, &v6);
}

/* No queue pair with this number and these addresses. */
static uint32_t
unknown_peer(const struct rx_side *side, const struct oracle_frame *f, bool known)
{
	if (!is_ours(side, &f->dst))
		return BIT(FOREIGN);
	if (!f->icrc_ok)
		return BIT(ICRC);
	if (f->dest_qp == 1)
		return f->datagram ? BIT(GSI) : BIT(UNKNOWN_QP);
	return known ? BIT(WRONG_SOURCE) : BIT(UNKNOWN_QP);
}

/* The queue pair is there, the addresses are its peer's, and the ICRC is right. */
static uint32_t friend(const struct rx_end *end, const struct oracle_frame *f, bool *hears)
{
	uint8_t state = end->qp->rx.state;

	/* Which of the two is said of a datagram at a dead queue pair does not matter. */
	if (f->datagram)
		return BIT(OPCODE) | (state != ROCE_QP_RTS ? BIT(WRONG_STATE) : 0);
	if (state != ROCE_QP_RTS && (state != ROCE_QP_RTR || !f->request))
		return BIT(WRONG_STATE);
	*hears = true;
	if (f->piggyback && !(end->connect.extensions && f->ack))
		return BIT(OPCODE);
	if (f->request)
		return 0;
	if (f->sack)
		return end->connect.extensions ? BIT(SACKS) : BIT(OPCODE);
	if (f->cnp)
		return BIT(CNP_HANDLED) | BIT(CNP_IGNORED);
	return f->opcode == 0x11 ? BIT(ACKS) : BIT(READ_RESPONSES);
}

void
rx_expect(const struct rx_side *side, const struct rx_flat *flat, struct rx_expect *expect)
{
	uint32_t first = flat->cut.first == 0 ? flat->len : RTE_MIN(flat->cut.first, flat->len);
	struct oracle_frame *f = &expect->frame;
	const struct rx_end *end;

	*expect = (struct rx_expect){ 0 };
	oracle_look(flat->bytes, flat->len, first, flat->stripped, f);
	/* A frame for another host is foreign, whatever its faults. */
	if (f->faults != 0 && !is_ours(side, &f->dst))
		f->faults = ORACLE_FOREIGN;
	if (f->faults != 0) {
		expect->counters = faults_to_fates(f->faults);
		expect->foreign = f->faults & ORACLE_FOREIGN;
		return;
	}
	end = find_end(side, f->dest_qp);
	/* One that was never connected knows nobody. */
	if (end != NULL && end->connect.dest_qp != 0 &&
			roce_ip_equal(&f->src, &end->connect.path.dst_ip) &&
			roce_ip_equal(&f->dst, &end->connect.path.src_ip)) {
		expect->end = f->icrc_ok ? end : NULL;
		expect->counters = f->icrc_ok ? friend(end, f, &expect->hears) : BIT(ICRC);
	} else {
		expect->counters = unknown_peer(side, f, end != NULL);
	}
	expect->foreign = expect->counters == BIT(FOREIGN);
}

bool
rx_fates_judge(const struct rx_fates *before, const struct rx_fates *after,
		const struct rx_expect *expect)
{
	uint32_t allowed = expect->counters != 0 ? expect->counters : REQUESTS | BIT(WRONG_STATE);
	uint64_t sum = rx_fates_sum(before, after);

	for (unsigned int i = 0; i < RTE_DIM(fates); i++) {
		if (after->count[i] != before->count[i] && !(allowed & BIT(i)))
			BASE_VIOLATED("a frame was counted as %s, and is not", fates[i].name);
	}
	BASE_MUST(sum <= 1, "a frame was counted twice");
	BASE_MUST(sum == 1 || expect->counters == 0, "a frame was not counted");
	return sum == 0;
}
