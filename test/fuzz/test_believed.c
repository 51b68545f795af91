/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that the peer of a connection may send, or an attacker who guessed all its numbers. Answers that were never
 * asked for, and notifications of a congestion that is not there, cost no message. Requests that break the protocol,
 * or reach for memory without the right to, end their connection with the right NAK, touch no memory, and leave every
 * other connection alone.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "talk.h"
#include "engine/verbs.h"

/* Data that are not those that are missing put off the timers of a READ (docs/rc.md), and change nothing else. */
static void
forgive_timers(struct rx_shadow *shadow, const struct rx_end *to, uint8_t opcode, uint32_t psn)
{
	const struct roce_qp_tx *tx = &to->qp->tx;
	struct roce_qp_tx *before = &shadow->qp[to->talk].tx;

	if (opcode == 0x11 || tx->reads == 0 || roce_psn_diff(psn, tx->max) >= 0)
		return;
	before->timeout_at = tx->timeout_at;
	before->limit_at = tx->limit_at;
	before->heard_until = tx->heard_until;
}

/* An answer to something: an acknowledgement, or data, as long as it must be when it is the middle of some. */
static void
answer(struct rx_end *to, uint8_t opcode, uint32_t psn, uint32_t payload, uint8_t syndrome)
{
	static struct rx_shadow shadow;
	static struct rx_flat flat;
	uint8_t *bth = flat.bytes + to->template.bth_off;

	talk_frame(&flat, to, opcode, 0, oracle_header_len(opcode) + payload + TALK_ICRC);
	bth[9] = (uint8_t)(psn >> 16);
	talk_set16(bth + 10, psn);
	if (opcode != 0x0e)
		bth[12] = syndrome;
	(void)oracle_seal(flat.bytes, flat.len);
	rx_shadow_take(to->side, &shadow);
	rx_give(to->side, 0, &flat);
	forgive_timers(&shadow, to, opcode, psn & ROCE_PSN_MASK);
	rx_shadow_judge(to->side, &shadow);
	/* The world takes it for believed, since the peer could have said it; not one byte says that it was. */
	to->tainted = to->side->misled = false;
}

/* Notifications without end, and a network that marks every frame: it becomes slow, and nothing else. */
static void
notifications__cost_no_message(void **state)
{
	static struct rx_flat flat;
	const struct roce_stats *s;

	(void)state;
	talk_begin(talk_one_engine);
	for (unsigned int n = 0; n < 1000; n++) {
		struct rx_end *to = &rx_world.side[0].end[n % RX_REAL];

		talk_frame(&flat, to, 0x81, 0, oracle_header_len(0x81) + TALK_ICRC);
		rx_give(to->side, 0, &flat);
		for (uint32_t i = 0; i < rx_world.flights; i++)
			rx_mark(&rx_world.flight[i]);
		talk_beat();
	}
	s = roce_engine_stats(roce_domain_engine(rx_world.side[0].domain, 0));
	assert_true(s->rp_cnp_handled > 4 && s->rp_cnp_handled + s->rp_cnp_ignored >= 1000);
	assert_true(s->np_cnp_sent > 4);
	talk_end();
}

static const uint8_t answers[] = { 0x11, 0x10, 0x0d, 0x0e, 0x0f, 0x12 };

/* Acknowledgements, NAKs and answers of every kind to who sent nothing: any PSN is one that it never sent. */
static void
ghosts__change_nothing(void **state)
{
	struct rx_end *to = &rx_world.side[0].end[4];

	(void)state;
	talk_begin(talk_one_engine);
	for (unsigned int syndrome = 0; syndrome < 256; syndrome++) {
		for (size_t i = 0; i < RTE_DIM(answers); i++)
			answer(to, answers[i], to->qp->tx.una + syndrome,
					answers[i] == 0x0e ? 256 : 0, (uint8_t)syndrome);
		talk_beat();
	}
	talk_end();
}

/* The same to who has requests under way: of what was not sent yet, and of what is long done. */
static void
ghosts__change_nothing_of_what_is_under_way(void **state)
{
	uint32_t busy = 0;

	(void)state;
	talk_begin(talk_one_engine);
	for (unsigned int syndrome = 0; syndrome < 256; syndrome++) {
		struct rx_end *to = &rx_world.side[0].end[syndrome % RX_REAL];
		const struct roce_qp_tx *tx = &to->qp->tx;

		busy += tx->una != tx->max;
		for (size_t i = 0; i < RTE_DIM(answers); i++) {
			uint32_t payload = answers[i] == 0x0e ? 256 : 0;

			answer(to, answers[i], tx->max + (syndrome >> 2), payload,
					(uint8_t)syndrome);
			answer(to, answers[i], tx->una - 2 - (syndrome >> 2), payload,
					(uint8_t)syndrome);
		}
		talk_beat();
	}
	assert_true(busy > 64);
	talk_end();
}

/* An answer to a READ that has not the length, or the place in the answer, that is left to come: it is no answer. */
static void
answers__that_do_not_fit_change_nothing(void **state)
{
	static const uint8_t opcodes[] = { 0x0d, 0x0e, 0x0f, 0x10, 0x12 };
	struct rx_end *to = &rx_world.side[0].end[4];
	/* 576 bytes: three frames. */
	const uint8_t read[BASE_RECORD] = { [2] = 4, [3] = ROCE_WR_SIGNALED, [4] = 0x40, [5] = 2 };

	(void)state;
	talk_begin(talk_one_engine);
	rx_post_message(to, read);
	(void)rx_speak(&rx_world.side[0], 32);
	for (uint32_t payload = 0; payload <= 260; payload += 4) {
		for (size_t i = 0; i < RTE_DIM(opcodes); i++) {
			/* First or middle, of one MTU: that would be right. */
			if ((i < 2 && payload == 256) || (i == 4 && payload > 0))
				continue;
			answer(to, opcodes[i], to->qp->tx.una, payload, 0);
		}
	}
	assert_int_equal(to->qp->tx.reads, 1);
	for (unsigned int i = 0; i < 16; i++)
		talk_beat();
	talk_end();
}

/** A request that ends a connection, because its peer broke the protocol or has not the right. */
struct offence {
	const char *name;
	uint8_t before; /**< opcode of a frame that is right, of one MTU, and goes before; 0xff: none */
	uint8_t opcode;
	uint16_t payload;
	uint64_t va; /**< of the RETH or AtomicETH; 0: the beginning of RX_WRITE */
	uint32_t length;
	uint8_t region; /**< whose key it names */
	uint8_t nak;
};

#define NONE 0xff

static const struct offence offences[] = {
	/* clang-format off */
	{ "first after first",          0x00, 0x00, 256, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "only after first",           0x00, 0x04, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "WRITE in a SEND",            0x00, 0x0a, 8, 0, 8, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "READ in a SEND",             0x00, 0x0c, 0, 0, 8, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "atomic in a SEND",           0x00, 0x13, 0, 0, 0, RX_ATOMIC, ROCE_NAK_INVALID_REQUEST },
	{ "last of a WRITE in a SEND",  0x00, 0x08, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "middle too short",           0x00, 0x01, 252, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "last of no byte",            0x00, 0x02, 0, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "middle of nothing",          NONE, 0x01, 256, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "last of nothing",            NONE, 0x02, 8, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "first too short",            NONE, 0x00, 252, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "longer than the MTU",        NONE, 0x04, 260, 0, 0, 0, ROCE_NAK_INVALID_REQUEST },
	{ "less than announced",        NONE, 0x0a, 8, 0, 16, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "more than announced",        NONE, 0x0a, 8, 0, 4, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "more than 2^31",             NONE, 0x06, 256, 0, UINT32_MAX, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "READ of more than 2^31",     NONE, 0x0c, 0, 0, UINT32_MAX, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "more than 2^31, by one",     NONE, 0x06, 256, 0, (1u << 31) + 1, RX_WRITE, ROCE_NAK_INVALID_REQUEST },
	{ "misaligned atomic",          NONE, 0x14, 0, 4, 0, RX_ATOMIC, ROCE_NAK_INVALID_REQUEST },
	{ "at the end of all",          NONE, 0x0a, 8, 0xfffffffffffffc00, 8, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "beyond the end of all",      NONE, 0x06, 256, 0xfffffffffffffc00, 0x400, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "the last byte of all",       NONE, 0x0a, 1, UINT64_MAX, 1, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "2^31 bytes, the last of all", NONE, 0x06, 256, 0xffffffff80000000, 1u << 31, RX_WRITE,
	  ROCE_NAK_REMOTE_ACCESS },
	{ "2^31 bytes beyond all",      NONE, 0x06, 256, 0xffffffff80000001, 1u << 31, RX_BIG, ROCE_NAK_REMOTE_ACCESS },
	{ "atomic on the last of all",  NONE, 0x13, 0, 0xfffffffffffffff8, 0, RX_ATOMIC, ROCE_NAK_REMOTE_ACCESS },
	{ "READ beyond the end of all", NONE, 0x0c, 0, 0xfffffffffffffc00, 0x400, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "READ of half the PSNs",      NONE, 0x0c, 0, 0, 1u << 31, RX_READ, ROCE_NAK_INVALID_REQUEST },
	{ "READ of 2^30",               NONE, 0x0c, 0, 0, 1u << 30, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what may be read",  NONE, 0x0a, 8, 0, 8, RX_READ, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what may be sent",  NONE, 0x0a, 8, 0, 8, RX_SEND, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to another domain",    NONE, 0x0a, 8, 0, 8, RX_OTHER, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to what is gone",      NONE, 0x0a, 8, 0, 8, RX_DEAD, ROCE_NAK_REMOTE_ACCESS },
	{ "READ of what may be written", NONE, 0x0c, 0, 0, 8, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "atomic on what may be written", NONE, 0x14, 0, 0, 0, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE that begins inside",   NONE, 0x06, 256, 0, RX_PATTERN + 1, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "end of a region by its key", NONE, 0x17, 0, 0, 0, RX_WRITE, ROCE_NAK_REMOTE_ACCESS },
	{ "end of what is gone",        NONE, 0x17, 0, 0, 0, RX_DEAD, ROCE_NAK_REMOTE_ACCESS },
	{ "WRITE to receives",          NONE, 0x0a, 8, 0, 8, RX_RECV, ROCE_NAK_REMOTE_ACCESS },
	/* clang-format on */
};

static void
offend(struct rx_end *to, const struct offence *o, struct rx_flat *flat)
{
	const struct roce_template *t = &to->template;
	const struct roce_reth reth = {
		.va = rte_cpu_to_be_64(
				o->va > 7 ? o->va
					  : (uintptr_t)rx_region_at(to->side, o->region) + o->va),
		.rkey = rte_cpu_to_be_32(to->side->key[o->region]),
		.length = rte_cpu_to_be_32(o->length),
	};
	uint32_t pad = -(uint32_t)o->payload & 3;

	talk_frame(flat, to, o->opcode, pad,
			oracle_header_len(o->opcode) + o->payload + pad + TALK_ICRC);
	/* The AtomicETH begins alike. */
	if (roce_opcode[o->opcode].flags & (ROCE_OP_RETH | ROCE_OP_ATOMIC))
		memcpy(flat->bytes + t->bth_off + sizeof(struct roce_bth), &reth,
				roce_opcode[o->opcode].flags & ROCE_OP_RETH ? sizeof(reth) : 12);
	if (roce_opcode[o->opcode].flags & ROCE_OP_IETH)
		memcpy(flat->bytes + t->bth_off + sizeof(struct roce_bth), &reth.rkey,
				sizeof(reth.rkey));
	(void)oracle_seal(flat->bytes, flat->len);
}

static void
believed__ends_the_connection_and_touches_nothing(void **state)
{
	static struct rx_shadow before, after;
	static struct rx_flat flat;

	(void)state;
	talk_begin(talk_one_engine);
	for (size_t i = 0; i < RTE_DIM(offences); i++) {
		const struct offence *o = &offences[i];
		struct rx_end *to = &rx_world.side[0].end[4];

		print_message("%s\n", o->name);
		roce_engine_lock(roce_qp_engine(to->qp));
		roce_qp_to_reset(to->qp);
		roce_engine_unlock(roce_qp_engine(to->qp));
		rx_end_connect(to, true);
		(void)rx_serve();
		if (o->before != NONE) {
			talk_frame(&flat, to, o->before, 0, 12 + 256 + TALK_ICRC);
			rx_give(to->side, 0, &flat);
		}
		offend(to, o, &flat);
		rx_shadow_take(to->side, &before);
		rx_give(to->side, 0, &flat);
		rx_shadow_take(to->side, &after);
		assert_int_equal(roce_qp_state(to->qp), ROCE_QP_ERR);
		assert_int_equal(before.memory, after.memory);
		to->said = 0;
		(void)rx_speak(to->side, 32);
		assert_int_equal(to->said, IBV_OPCODE_RC_ACKNOWLEDGE);
		assert_int_equal(to->syndrome, ROCE_AETH_NAK | o->nak);
		/* The others go on. */
		talk_beat();
	}
	talk_end();
}

/* A request of no bytes may name any address and any key (IBTA Vol 1, 9.7.4.1.5): it succeeds and touches nothing. */
static void
believed__nothing_may_go_anywhere(void **state)
{
	static const struct offence nothing[] = {
		{ "WRITE", NONE, 0x0a, 0, UINT64_MAX, 0, RX_DEAD, 0 },
		{ "READ", NONE, 0x0c, 0, UINT64_MAX, 0, RX_OTHER, 0 },
	};
	static struct rx_shadow before, after;
	static struct rx_flat flat;
	struct rx_end *to = &rx_world.side[0].end[4];

	(void)state;
	talk_begin(talk_one_engine);
	for (size_t i = 0; i < RTE_DIM(nothing); i++) {
		offend(to, &nothing[i], &flat);
		flat.bytes[to->template.bth_off + 8] = 0x80; /* AckReq */
		(void)oracle_seal(flat.bytes, flat.len);
		rx_shadow_take(to->side, &before);
		rx_give(to->side, 0, &flat);
		rx_shadow_take(to->side, &after);
		to->said = 0;
		(void)rx_speak(to->side, 32);
		assert_int_equal(roce_qp_state(to->qp), ROCE_QP_RTS);
		assert_int_equal(before.memory, after.memory);
		assert_int_equal(to->said, i == 0 ? 0x11 : 0x10);
		for (unsigned int n = 0; n < 16; n++)
			talk_beat();
	}
	talk_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notifications__cost_no_message),
		cmocka_unit_test(ghosts__change_nothing),
		cmocka_unit_test(ghosts__change_nothing_of_what_is_under_way),
		cmocka_unit_test(answers__that_do_not_fit_change_nothing),
		cmocka_unit_test(believed__ends_the_connection_and_touches_nothing),
		cmocka_unit_test(believed__nothing_may_go_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
