/* SPDX-License-Identifier: BSD-3-Clause */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "talk.h"

#define UDP_LEN 8u

const uint8_t talk_two_engines[BASE_RECORD] = { BASE_MAGIC, 0, 1, 31, 0, 3, 7, 7, 12, 11, 0x0e, 1 };
const uint8_t talk_one_engine[BASE_RECORD] = { BASE_MAGIC, 0, 1, 31, 0, 3, 7, 7, 12, 11, 0x0c, 0 };

uint32_t talk_beats;

/* Some messages of every kind on each real talk, in both directions. */
static void
post_some(void)
{
	for (uint8_t talk = 0; talk < RX_REAL; talk++) {
		uint8_t r[BASE_RECORD] = { 0 };

		r[2] = (uint8_t)((talk_beats + talk) % 7);
		/* A message that does not read is inline now and then. */
		r[3] = ROCE_WR_SIGNALED | (r[2] < 4 && talk_beats % 5 == 0 ? 0x10 : 0);
		r[4] = (uint8_t)(talk_beats * 83);
		r[5] = (uint8_t)(talk_beats & 3);
		r[6] = (uint8_t)(talk_beats * 29);
		r[9] = (uint8_t)talk_beats;
		rx_post_message(&rx_world.side[talk_beats & 1].end[talk], r);
	}
}

void
talk_beat(void)
{
	talk_beats++;
	if (talk_beats % 3 == 0)
		post_some();
	(void)rx_serve();
	(void)rx_speak(&rx_world.side[talk_beats & 1], 4);
	for (uint32_t n = rx_world.flights; n > 2; n--)
		rx_deliver(0, talk_beats, false);
	rx_world.now += 1000;
	rx_check(&rx_world.side[0]);
	rx_check(&rx_world.side[1]);
}

void
talk_begin(const uint8_t *config)
{
	rx_open(config);
	for (unsigned int i = 0; i < 16; i++)
		talk_beat();
}

void
talk_end(void)
{
	for (unsigned int talk = 0; talk < RX_REAL; talk++) {
		assert_true(rx_is_sound(&rx_world.side[0].end[talk]));
		assert_true(rx_world.side[0].end[talk].posted > 4);
		assert_int_equal(roce_qp_state(rx_world.side[0].end[talk].qp), ROCE_QP_RTS);
	}
	rx_dismiss();
	rx_settle();
	for (unsigned int talk = 0; talk < RX_REAL; talk++)
		assert_true(rx_all_done(&rx_world.side[0].end[talk]));
	rx_close();
}

void
talk_set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

void
talk_frame(struct rx_flat *flat, const struct rx_end *to, uint8_t opcode, uint32_t pad,
		uint32_t bytes)
{
	const struct roce_template *t = &to->template;
	uint8_t *bth = flat->bytes + t->bth_off;
	uint32_t l4 = UDP_LEN + bytes;

	*flat = (struct rx_flat){ .to = to->side->index, .talk = to->talk };
	memcpy(flat->bytes, t->bytes, t->bth_off + sizeof(struct roce_bth));
	memset(bth + sizeof(struct roce_bth), 0x11, bytes);
	flat->len = t->bth_off + bytes;
	if (t->v6)
		talk_set16(flat->bytes + t->l3_off + 4, l4);
	else
		talk_set16(flat->bytes + t->l3_off + 2, l4 + 20);
	talk_set16(flat->bytes + t->udp_off + 4, l4);
	bth[0] = opcode;
	bth[1] = (uint8_t)(pad << ROCE_BTH_PAD_SHIFT);
	/* The PSN is the expected one, so that a request would be executed at once. */
	bth[9] = (uint8_t)(to->qp->rx.epsn >> 16);
	talk_set16(bth + 10, to->qp->rx.epsn);
	(void)oracle_seal(flat->bytes, flat->len);
}
