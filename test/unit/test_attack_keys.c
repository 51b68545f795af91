/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that an attacker has to guess: keys, queue pair numbers, first PSNs. A tenant who knows his own knows nothing
 * of his neighbours'; and a wrong guess reaches no object.
 */

#include <stdlib.h>
#include <string.h>

#include "end_scene.h"
#include "queue/domain.h"
#include "queue/qp.h"
#include "fixture_rdma.h"

#define PSN FX_RQ_PSN
#define ALL (FX_ALL | ROCE_ACCESS_LOCAL_READ)

static uint32_t
make_key(struct roce_mr **mr)
{
	assert_int_equal(roce_mr_create(end.pd, (uintptr_t)end.memory, 64, ALL, mr), 0);
	return roce_mr_key(*mr);
}

/* The part of a key that is not its place: 16 bits. */
static uint32_t
tag_of(uint32_t key)
{
	return (key >> 16 & 0xff00) | (key & 0xff);
}

/* How often the most common of @p n values below 2^16 occurs. */
static unsigned int
most(const uint16_t *value, unsigned int n)
{
	static unsigned int times[65536];
	unsigned int top = 0;

	memset(times, 0, sizeof(times));
	for (unsigned int i = 0; i < n; i++)
		if (++times[value[i]] > top)
			top = times[value[i]];
	return top;
}

/* Deviation of the number of ones among @p n values, for the worst bit of @p bits, in standard deviations. */
static double
worst_bit(const uint16_t *value, unsigned int n, unsigned int bits)
{
	double worst = 0;

	for (unsigned int bit = 0; bit < bits; bit++) {
		unsigned int ones = 0;
		double off;

		for (unsigned int i = 0; i < n; i++)
			ones += value[i] >> bit & 1;
		off = (2.0 * ones - n) * (2.0 * ones - n) / n;
		worst = RTE_MAX(worst, off);
	}
	return worst;
}

#define TIMES 40000u

/*
 * The keys of regions that one program makes one after the other, as a peer sees them when they are told to it: what
 * they differ by, by difference and by exclusive or, says nothing about the next one.
 */
UNIT_RULE(keys__seen_tell_none_to_come)
{
	static uint16_t step[TIMES], flip[TIMES], tag[TIMES];
	struct roce_mr *kept[8];
	uint32_t last = tag_of(end.key);

	for (unsigned int i = 0; i < RTE_DIM(kept); i++)
		(void)make_key(&kept[i]);
	for (unsigned int i = 0; i < TIMES; i++) {
		struct roce_mr *mr;
		const uint32_t now = tag_of(make_key(&mr));

		tag[i] = (uint16_t)now;
		step[i] = (uint16_t)(now - last);
		flip[i] = (uint16_t)(now ^ last);
		last = now;
		assert_int_equal(roce_mr_destroy(mr), 0);
	}
	/* By chance alone the most common of 65,536 comes 7 or 8 times, and no bit is off by six deviations. */
	assert_in_range(most(tag, TIMES), 1, 16);
	assert_in_range(most(step, TIMES), 1, 16);
	assert_in_range(most(flip, TIMES), 1, 16);
	assert_true(worst_bit(tag, TIMES, 16) < 36);
	assert_true(worst_bit(step, TIMES, 16) < 36);
	assert_true(worst_bit(flip, TIMES, 16) < 36);
	for (unsigned int i = 0; i < RTE_DIM(kept); i++)
		assert_int_equal(roce_mr_destroy(kept[i]), 0);
}

/* An end with another seed has other keys: a program that runs twice, or on two hosts, does not tell them. */
UNIT_RULE(keys__of_another_run_are_others)
{
	static uint32_t first[1000];
	struct roce_mr *mr[1000];
	unsigned int alike = 0;

	for (unsigned int run = 0; run < 2; run++) {
		for (unsigned int i = 0; i < 1000; i++) {
			const uint32_t key = make_key(&mr[i]);

			alike += run == 1 && key == first[i];
			first[i] = key;
		}
		for (unsigned int i = 0; i < 1000; i++)
			assert_int_equal(roce_mr_destroy(mr[i]), 0);
		assert_int_equal(teardown(state), 0);
		fx_end_open(&end, (uint8_t)(2 + run), NULL);
	}
	assert_in_range(alike, 0, 3);
}

/* The places of a table that is full: freed and used again they have other keys, and no old one names anything. */
UNIT_RULE(keys__of_a_reused_place_are_others)
{
	static struct roce_mr *mr[4 * ROCE_KEY_CHUNK];
	static uint32_t old[8][4 * ROCE_KEY_CHUNK];

	for (unsigned int round = 0; round < 8; round++) {
		for (unsigned int i = 0; i < RTE_DIM(mr); i++)
			old[round][i] = make_key(&mr[i]);
		for (unsigned int past = 0; past < round; past++) {
			for (unsigned int i = 0; i < RTE_DIM(mr); i++)
				assert_null(roce_keys_find(&end.domain->keys, old[past][i]));
		}
		for (unsigned int i = 0; i < RTE_DIM(mr); i++)
			assert_int_equal(roce_mr_destroy(mr[i]), 0);
	}
}

/*
 * Regions by the hundred thousand, and windows among them: no key names something of the other kind, none lives twice,
 * and one that was seen is not met again while its place makes its way through 65,536 others.
 *
 * Proves: rc.R18
 */
UNIT_RULE(keys__of_regions_and_windows_never_meet)
{
	struct roce_mr *region;
	struct roce_mw *mw;
	struct fx_peer peer;
	struct roce_qp *qp = fx_played_qp(&end, &peer);
	uint32_t below = make_key(&region);

	assert_int_equal(roce_mw_create(end.pd, &mw, &mw), 0);
	for (unsigned int i = 0; i < 200000; i++) {
		const struct roce_mr *entry;
		struct roce_mr *mr;
		const uint32_t key = make_key(&mr);

		if (i % 16 == 0) {
			struct roce_mw_bind bind = {
				.mw = mw,
				.mr_key = below,
				.access = IBV_ACCESS_REMOTE_READ,
				.addr = (uintptr_t)end.memory,
				.length = 1 + i % 64,
			};
			const struct roce_wr wr = { .bind = &bind, .opcode = IBV_WR_BIND_MW };

			assert_int_equal(roce_qp_post_send(qp, &wr), 0);
			fx_tx_none(&end);
			entry = roce_keys_find(&end.domain->keys, bind.key);
			assert_non_null(entry);
			assert_null(entry->pd);
			assert_int_equal(entry->length, 1 + i % 64);
			assert_int_not_equal(bind.key, key);
		}
		entry = roce_keys_find(&end.domain->keys, key);
		assert_ptr_equal(entry, mr);
		assert_ptr_equal(entry->pd, end.pd);
		assert_int_not_equal(key, below);
		assert_int_not_equal(key, end.key);
		assert_int_equal(roce_mr_destroy(mr), 0);
		assert_null(roce_keys_find(&end.domain->keys, key));
	}
	roce_qp_destroy(qp);
	roce_mw_destroy(mw);
}

/* A WRITE and a READ with a key by guessing, from the peer itself: the first one ends it, and not a byte moves. */
UNIT_RULE(keys__guessed_at_a_live_queue_pair_reach_nothing)
{
	static uint8_t before[FX_MEMORY];
	struct roce_mr *mr;
	const uint32_t real = make_key(&mr);
	unsigned int tries = 0;

	memcpy(before, end.memory, FX_MEMORY);
	srand(6);
	for (unsigned int i = 0; i < 4000; i++) {
		const bool write = i % 2;
		/* One bit off, another tag of the same place, or any key at all. */
		const uint32_t guess = i < 64 ? real ^ 1u << i / 2
				: i % 3       ? (real & 0x00ffff00) | ((uint32_t)rand() & 0xff) |
						((uint32_t)rand() << 24)
					: (uint32_t)rand() << 8 ^ (uint32_t)rand();
		const struct fx_target target = { (uintptr_t)end.memory, guess, 8 };
		struct fx_peer peer;
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		struct roce_qp *qp;

		if (guess == real || guess == end.key)
			continue;
		attr.max_dest_rd_atomic = 1;
		connect.max_dest_rd_atomic = 1;
		qp = fx_play(&end, &attr, &connect, &peer);
		fx_rx(&end,
				fx_about(&peer,
						write ? IBV_OPCODE_RC_RDMA_WRITE_ONLY
						      : IBV_OPCODE_RC_RDMA_READ_REQUEST,
						PSN, write ? 8 : 0, &target, FX_ACKREQ));
		assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
		/* One guess a connection. */
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
		roce_qp_destroy(qp);
		tries++;
	}
	assert_in_range(tries, 3990, 4000);
	assert_memory_equal(end.memory, before, FX_MEMORY);
}

#define READ         IBV_OPCODE_RC_RDMA_READ_REQUEST
#define DEPTH        4
#define LONG         (2 * FX_MTU + 8) /* bytes of a READ: three frames */
#define KEY_BITS     32u
#define ADDRESS_BITS 64u

/* Requests whose repeats are answered. */
static const uint8_t repeated[] = { READ, IBV_OPCODE_RC_COMPARE_SWAP, IBV_OPCODE_RC_FETCH_ADD };

/* Wrong fields of a repeat: the bits of key and address, a key of other memory, opcodes, and lengths of a READ. */
#define WRONG (KEY_BITS + ADDRESS_BITS + 1 + RTE_DIM(repeated) + 2)

struct request {
	uint8_t opcode;
	struct fx_target target;
};

static struct request
spoil(struct request right, unsigned int wrong, uint32_t other_key)
{
	struct request r = right;

	if (wrong < KEY_BITS)
		r.target.rkey ^= 1u << wrong;
	else if ((wrong -= KEY_BITS) < ADDRESS_BITS)
		r.target.va ^= UINT64_C(1) << wrong;
	else if ((wrong -= ADDRESS_BITS) == 0)
		r.target.rkey = other_key;
	else if (--wrong < RTE_DIM(repeated))
		r.opcode = repeated[wrong];
	else if (right.opcode == READ)
		r.target.length = wrong == RTE_DIM(repeated) ? LONG + 1 : UINT32_MAX;
	return r;
}

static bool
is_same(const struct request *a, const struct request *b)
{
	return a->opcode == b->opcode && a->target.va == b->target.va &&
			a->target.rkey == b->target.rkey && a->target.length == b->target.length;
}

/*
 * Each kind of request that is answered again, and each field of its repeat that may be wrong: the first wrong one ends the
 * connection, whether or not the key that it names is one, and not a byte is read or written.
 */
UNIT_RULE(keys__guessed_in_a_repeated_request_end_the_connection)
{
	static uint8_t before[FX_MEMORY];
	struct roce_mr *mr, *whole;
	const uint32_t other_key = make_key(&mr);
	unsigned int tries = 0;

	assert_int_equal(roce_mr_create(end.pd, (uintptr_t)end.memory, FX_MEMORY, ALL, &whole), 0);
	for (unsigned int i = 0; i < RTE_DIM(repeated) * WRONG; i++) {
		const struct request right = { repeated[i / WRONG],
			{ (uintptr_t)end.memory, roce_mr_key(whole), i / WRONG == 0 ? LONG : 1 } };
		const struct request guess = spoil(right, i % WRONG, other_key);
		struct roce_qp_attr attr = fx_attr(&end);
		struct roce_qp_connect connect = fx_connect(&end, fx_ip(99), 0x777);
		struct fx_peer peer;
		struct roce_qp *qp;

		if (is_same(&guess, &right))
			continue;
		attr.max_dest_rd_atomic = DEPTH;
		connect.max_dest_rd_atomic = DEPTH;
		qp = fx_play(&end, &attr, &connect, &peer);
		fx_rx(&end, fx_about(&peer, right.opcode, PSN, 0, &right.target, FX_ACKREQ));
		(void)fx_tx_exactly(&end, right.opcode == READ ? 3 : 1);
		memcpy(before, end.memory, FX_MEMORY);
		fx_rx(&end, fx_about(&peer, guess.opcode, PSN, 0, &guess.target, FX_ACKREQ));
		assert_int_equal(fx_tx_one(&end).syndrome, FX_NAK(ROCE_NAK_REMOTE_ACCESS));
		assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
		assert_memory_equal(end.memory, before, FX_MEMORY);
		roce_qp_destroy(qp);
		tries++;
	}
	/* Lengths are of READs alone, and one opcode is the right one. */
	assert_int_equal(tries, RTE_DIM(repeated) * (WRONG - 3) + 2);
	assert_int_equal(roce_mr_destroy(whole), 0);
	assert_int_equal(roce_mr_destroy(mr), 0);
}

/* A domain without a configured number, whose seed is @p seed. */
static struct roce_domain *
open_domain(uint64_t seed)
{
	struct roce_domain_config config = fx_config(1);
	struct roce_domain *domain;

	config.seed = seed;
	config.first_qpn = 0;
	assert_int_equal(roce_domain_create(&config, &domain), 0);
	return domain;
}

/* Numbers, and first PSNs, of @p n queue pairs made one after the other; half of them stay. */
static void
take_numbers(struct roce_domain *domain, uint32_t *qpn, uint32_t *psn, unsigned int n)
{
	struct roce_qp **qp = calloc(n, sizeof(struct roce_qp *));
	struct roce_pd *pd;

	assert_non_null(qp);
	assert_int_equal(roce_pd_create(roce_domain_context(domain), &pd), 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct roce_qp_attr attr = { .pd = pd, .max_send_wr = 1, .max_recv_wr = 1 };

		assert_int_equal(roce_qp_create(&attr, &qp[i]), 0);
		qpn[i] = roce_qp_number(qp[i]);
		psn[i] = roce_qp_first_psn(qp[i]);
		if (i % 2) {
			roce_qp_destroy(qp[i]);
			qp[i] = NULL;
		}
	}
	for (unsigned int i = 0; i < n; i++) {
		if (qp[i] != NULL)
			roce_qp_destroy(qp[i]);
	}
	free(qp);
	assert_int_equal(roce_pd_destroy(pd), 0);
}

#define QPS 4000u

/* The ten bits of a number above its place say nothing about those of the next number; nor does a first PSN. */
UNIT_RULE(numbers__seen_tell_none_to_come)
{
	static uint32_t qpn[QPS], psn[QPS];
	static uint16_t high[QPS], flip[QPS], step[QPS], psn_step[QPS];
	struct roce_domain *domain = open_domain(7);

	take_numbers(domain, qpn, psn, QPS);
	for (unsigned int i = 0; i < QPS; i++) {
		const uint32_t next = (i + 1) % QPS;

		high[i] = (uint16_t)(qpn[i] >> 14);
		flip[i] = (uint16_t)((qpn[i] ^ qpn[next]) >> 14);
		step[i] = (uint16_t)(((qpn[i] >> 14) - (qpn[next] >> 14)) & 0x3ff);
		psn_step[i] = (uint16_t)((psn[next] - psn[i]) >> 8);
		assert_in_range(qpn[i], 2, 0xfffffe);
	}
	/* By chance the most common of 1,024 comes a dozen times in 4,000. */
	assert_in_range(most(high, QPS), 1, 24);
	assert_in_range(most(flip, QPS), 1, 24);
	assert_in_range(most(step, QPS), 1, 24);
	assert_in_range(most(psn_step, QPS), 1, 6);
	assert_true(worst_bit(high, QPS, 10) < 36);
	assert_true(worst_bit(flip, QPS, 10) < 36);
	assert_true(worst_bit(step, QPS, 10) < 36);
	roce_domain_destroy(domain);
}

/* No number is given twice while it lives, though they are disguised, and a place comes back with another one. */
UNIT_RULE(numbers__are_still_each_of_one)
{
	static uint8_t seen[1u << 24];
	static uint32_t qpn[3 * 16384], psn[3 * 16384];
	struct roce_domain *domain = open_domain(8);

	take_numbers(domain, qpn, psn, 16000);
	take_numbers(domain, qpn + 16000, psn, 16000);
	for (unsigned int i = 0; i < 32000; i++) {
		assert_int_equal(seen[qpn[i]], 0);
		seen[qpn[i]] = 1;
	}
	roce_domain_destroy(domain);
}

/* Another seed, other numbers. */
UNIT_RULE(numbers__of_another_run_are_others)
{
	static uint32_t qpn[2][QPS], psn[2][QPS];
	unsigned int qpns = 0, psns = 0;

	for (unsigned int run = 0; run < 2; run++) {
		struct roce_domain *domain = open_domain(100 + run);

		take_numbers(domain, qpn[run], psn[run], QPS);
		roce_domain_destroy(domain);
	}
	for (unsigned int i = 0; i < QPS; i++) {
		qpns += qpn[0][i] >> 14 == qpn[1][i] >> 14;
		psns += psn[0][i] == psn[1][i];
	}
	assert_in_range(qpns, 0, 16);
	assert_in_range(psns, 0, 2);
}
