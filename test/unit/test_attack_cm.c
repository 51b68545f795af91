/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection messages that somebody else makes, or that were recorded and are played again: nobody is told anything,
 * no connection moves, and one message draws one at the most.
 */

#include "cm_talk.h"

#define RECORDED 64u

static const enum roce_cm_attr attrs[] = { ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_REJ, ROCE_CM_ATTR_REP,
	ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_DREQ, ROCE_CM_ATTR_DREP };

/* The message that the peer of @p conn would send, with the right numbers. */
static struct roce_cm_msg
right(const struct roce_cm_conn *conn, enum roce_cm_attr attr)
{
	return (struct roce_cm_msg){
		.attr = attr,
		.tid = conn->tid,
		.local_id = conn->remote_id,
		.remote_id = conn->local_id,
		.qpn = conn->local.qpn,
		.reason = ROCE_CM_REJ_TIMEOUT,
		.param = { .qpn = conn->remote_qpn, .psn = 1, .mtu_code = 3 },
	};
}

/* No event came since the reset, both connections are up, and a disconnect still works. */
static void
unharmed(struct roce_cm_conn *a, struct roce_cm_conn *b)
{
	expect_told("", "");
	assert_int_equal(a->state, ROCE_CM_STATE_ESTABLISHED);
	assert_int_equal(b->state, ROCE_CM_STATE_ESTABLISHED);
	assert_true(roce_cm_disconnect(a, world->now));
	world_run_ms(1);
	expect_told("D", "D");
	world_over(a, b);
}

/* A message for a connection with the ids of that connection, but from another host. */
static void
hear_from_elsewhere(struct end *to, const struct roce_cm_msg *msg)
{
	const struct roce_ip real = other(to)->ip;
	struct roce_cm_mad mad;
	struct rte_mbuf *m;

	roce_cm_msg_encode(msg, &mad);
	other(to)->ip = roce_ip_from_v4(RTE_BE32(0xc0000263));
	m = forge(to, &mad);
	other(to)->ip = real;
	world_deliver(to, m);
}

UNIT_RULE(source__spoofed_by_another_host_is_dropped)
{
	struct roce_cm_conn *a, *b;

	world_connected(&a, &b);
	world_reset();
	for (size_t i = 0; i < RTE_DIM(attrs); i++) {
		const struct roce_cm_msg to_a = right(a, attrs[i]), to_b = right(b, attrs[i]);

		hear_from_elsewhere(active, &to_a);
		hear_from_elsewhere(passive, &to_b);
		assert_int_equal(speak(active) + speak(passive), 0);
	}
	assert_int_equal(roce_cm_stats(active->cm)->rx_wrong_source, RTE_DIM(attrs));
	assert_int_equal(roce_cm_stats(passive->cm)->rx_wrong_source, RTE_DIM(attrs));
	unharmed(a, b);
}

/* The peer's address, but one number is a guess: each bit of each id, and for a DREQ of the queue pair. */
UNIT_RULE(ids__guessed_end_nothing)
{
	struct roce_cm_conn *a, *b;
	unsigned int in = 0, out = 0;

	world_connected(&a, &b);
	world_reset();
	for (size_t i = 0; i < RTE_DIM(attrs); i++) {
		for (uint32_t bit = 0; bit < 32; bit++) {
			struct roce_cm_msg msg = right(b, attrs[i]);

			msg.local_id ^= 1u << bit;
			hear(passive, &msg);
			msg = right(b, attrs[i]);
			msg.remote_id ^= 1u << bit;
			hear(passive, &msg);
			in += 2;
			out += speak(passive);
		}
	}
	for (uint32_t bit = 0; bit < 24; bit++) {
		struct roce_cm_msg msg = right(b, ROCE_CM_ATTR_DREQ);

		msg.qpn ^= 1u << bit;
		hear(passive, &msg);
		assert_int_equal(speak(passive), 0);
	}
	/* A REP and a DREQ for nobody are answered once each, the others never. */
	assert_in_range(out, 0, in / 3);
	unharmed(a, b);
}

/* A peer that gives up its request before it has our reply does not know our id. Once we are up it does. */
UNIT_RULE(reject__without_our_id_ends_nothing_that_is_up)
{
	struct roce_cm_conn *a, *b;
	struct roce_cm_msg msg;

	world_connected(&a, &b);
	world_reset();
	msg = right(b, ROCE_CM_ATTR_REJ);
	msg.remote_id = 0;
	hear(passive, &msg);
	assert_int_equal(speak(passive), 0);
	assert_int_equal(roce_cm_stats(passive->cm)->rx_wrong_ids, 1);
	unharmed(a, b);
}

/* Right in every number, but senseless in the state or role: an RTU to who is up, a REP to who never asked. */
UNIT_RULE(messages__out_of_place_end_nothing)
{
	static const enum roce_cm_attr senseless[] = { ROCE_CM_ATTR_MRA, ROCE_CM_ATTR_REP,
		ROCE_CM_ATTR_RTU, ROCE_CM_ATTR_DREP };
	struct roce_cm_conn *a, *b;

	world_connected(&a, &b);
	world_reset();
	for (size_t i = 0; i < RTE_DIM(senseless); i++) {
		const struct roce_cm_msg msg = right(b, senseless[i]);

		hear(passive, &msg);
		assert_int_equal(speak(passive), 0);
	}
	unharmed(a, b);
}

/* While a request waits for its answer, nobody else can refuse or accept it. */
UNIT_RULE(handshake__is_not_answered_by_unknown_peers)
{
	struct roce_cm_conn *a;

	world_listen(passive, 4);
	world->lose_all = true;
	a = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	for (size_t i = 0; i < RTE_DIM(attrs); i++) {
		struct roce_cm_msg msg = right(a, attrs[i]);

		msg.local_id = 0x12345678;
		msg.param.qpn = 0x4242;
		hear_from_elsewhere(active, &msg);
		for (uint32_t bit = 0; bit < 32; bit++) {
			struct roce_cm_msg guess = msg;

			guess.remote_id ^= 1u << bit;
			hear(active, &guess);
		}
	}
	assert_string_equal(told_all(active), "");
	assert_int_equal(a->state, ROCE_CM_STATE_REQ_SENT);
	world->lose_all = false;
	world_run_ms(1000);
	expect_told("P", "QE");
	(void)speak(active);
	(void)speak(passive);
	world_over(a, passive->told[1].conn);
}

/* The finalizer of SplitMix64, which can be run backwards; so 32 bits of its result are a riddle of 2^32 guesses. */
static uint64_t
invertible(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * The random number in a REQ (transaction id) is no part of a sequence from which the seed, and with it every number and
 * key of this adapter, could be computed in seconds.
 */
UNIT_RULE(numbers__of_a_request_do_not_tell_the_seed)
{
	const uint64_t seed = active->cm->config.seed;
	struct roce_cm_conn *a = world_connect(active, UINT64_MAX);

	for (uint64_t n = 0; n < 1u << 20; n++) {
		const uint64_t by = seed + n * UINT64_C(0x9e3779b97f4a7c15);

		assert_int_not_equal((uint32_t)invertible(by), a->tid >> 32);
	}
	world_over(a, NULL);
}

/* ---- played again ---- */

struct recorded {
	struct end *to;
	uint32_t len;
	uint8_t bytes[512];
};

static struct recorded tape[RECORDED];
static unsigned int taped;

/* Let time pass in steps short enough that every frame is seen, and write down the whole talk. */
static void
run_recorded(void)
{
	uint64_t seen = world->sent;

	for (unsigned int k = 0; k < 400; k++) {
		world_poll();
		for (unsigned int i = 0; seen < world->sent && i < world->flying; i++) {
			struct flight *f = &world->flight[i];
			struct recorded *r = &tape[taped];

			if (f->at != world->now + LATENCY)
				continue;
			assert_true(taped < RECORDED);
			*r = (struct recorded){ f->to, rte_pktmbuf_pkt_len(f->m), { 0 } };
			memcpy(r->bytes, rte_pktmbuf_mtod(f->m, void *), r->len);
			taped++;
			seen++;
		}
		world->now += LATENCY;
	}
}

/* @return frames that it draws. */
static unsigned int
again(unsigned int i)
{
	world_deliver(tape[i].to, unit_mbuf(tape[i].bytes, tape[i].len));
	return speak(tape[i].to);
}

static void
world_recorded(struct roce_cm_conn **a, struct roce_cm_conn **b)
{
	taped = 0;
	world_listen(passive, 4);
	*a = world_connect(active, UINT64_MAX);
	run_recorded();
	expect_told("P", "QE");
	/* REQ, REP, RTU. */
	assert_int_equal(taped, 3);
	*b = passive->told[1].conn;
}

/* The handshake of a connection that just came up, over and over. */
UNIT_RULE(replay__of_a_fresh_handshake_ends_nothing)
{
	struct roce_cm_conn *a, *b;

	world_recorded(&a, &b);
	world_reset();
	for (unsigned int k = 0; k < 100; k++) {
		for (unsigned int i = 0; i < taped; i++)
			assert_in_range(again(i), 0, 1);
	}
	unharmed(a, b);
}

/* The same an hour later, without the REQ. */
UNIT_RULE(replay__of_old_answers_ends_nothing)
{
	struct roce_cm_conn *a, *b;

	world_recorded(&a, &b);
	world_reset();
	world->now += 3600 * SECOND;
	for (unsigned int k = 0; k < 100; k++) {
		for (unsigned int i = 1; i < taped; i++)
			assert_in_range(again(i), 0, 1);
	}
	unharmed(a, b);
}

/*
 * A replay that looks genuine: the REQ of a live connection whose handshake is long over says that the peer lost its
 * memory and connects the same queue pair anew. The connection ends (stale), on both sides. An attacker who can record
 * a REQ can also make a DREQ, so the replay gives him no new power. No new connection comes up.
 */
UNIT_RULE(replay__of_an_old_request_is_a_peer_that_forgot)
{
	struct roce_cm_conn *a, *b;

	world_recorded(&a, &b);
	world_reset();
	world->now += 3600 * SECOND;
	for (unsigned int k = 0; k < 10; k++)
		world_deliver(tape[0].to, unit_mbuf(tape[0].bytes, tape[0].len));
	world_run_ms(1000);
	assert_string_equal(told_all(passive), "D");
	assert_int_equal(told_times(active, ROCE_CM_REPLY), 0);
	assert_in_range(world->sent, 1, 12);
	world_over(a, b);
}

/* All that was said by a connection that is over, to its end's next one with the same peer. */
UNIT_RULE(replay__of_a_past_connection_ends_nothing)
{
	struct roce_cm_conn *a, *b;
	struct end *ends = world->end;

	world_recorded(&a, &b);
	assert_true(roce_cm_disconnect(a, world->now));
	run_recorded();
	assert_in_range(taped, 5, RECORDED);
	roce_cm_release(a, world->now);
	roce_cm_release(b, world->now);
	world_reset();
	a = world_connect(&ends[0], UINT64_MAX);
	world_run_ms(1);
	assert_string_equal(told_all(&ends[1]), "QE");
	b = ends[1].told[1].conn;
	world_reset();
	for (unsigned int i = 0; i < taped; i++)
		assert_in_range(again(i), 0, 1);
	assert_string_equal(told_all(&ends[0]), "");
	assert_int_equal(told_times(&ends[1], ROCE_CM_DISCONNECTED), 0);
	unharmed(a, b);
}
