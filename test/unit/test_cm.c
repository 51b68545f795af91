/* SPDX-License-Identifier: BSD-3-Clause */

/* The manager as a whole: its life, its ids, and conversations over a wire that loses. */

#include "cm/cm_pvt.h"
#include "cm_talk.h"

#define TALK   8  /* messages of a conversation that may be lost: 2^8 worlds */
#define MAD_AT 62 /* in a frame over IPv4: behind Ethernet, IPv4, UDP, BTH and DETH */

UNIT_RULE(create__judges_its_configuration)
{
	const struct roce_cm_config good = world_config(active);
	struct roce_cm_config bad;
	struct roce_cm *cm = NULL;

#define REFUSED(field, value)                                         \
	do {                                                          \
		bad = good;                                           \
		bad.field = (value);                                  \
		assert_int_equal(roce_cm_create(&bad, &cm), -EINVAL); \
	} while (0)
	REFUSED(hz, 0);
	REFUSED(pool, NULL);
	REFUSED(resolve, NULL);
	REFUSED(notify, NULL);
	REFUSED(memory.alloc, NULL);
	REFUSED(connections_max, 0);
	REFUSED(connections_max, (1u << 20) + 1);
#undef REFUSED
	assert_null(cm);
}

UNIT_RULE(create__gives_everything_back_when_it_fails)
{
	struct roce_cm_config config = world_config(active);
	long before = world->allocated;
	struct roce_cm *cm = NULL;
	int fail, rc = -ENOMEM;

	for (fail = 0; rc != 0; fail++) {
		world->alloc_fails_at = fail;
		rc = roce_cm_create(&config, &cm);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(cm);
		assert_int_equal(world->allocated, before);
	}
	assert_int_equal(fail, 3);
	world->alloc_fails_at = -1;
	roce_cm_destroy(cm);
	roce_cm_destroy(NULL);
	assert_int_equal(world->allocated, before);
}

UNIT_RULE(connect__fails_without_memory)
{
	struct roce_cm_connect connect = { .dst = passive->ip, .local = offer(active, NULL) };
	struct roce_cm_conn *conn = NULL;

	world->alloc_fails_at = 0;
	assert_int_equal(roce_cm_connect(active->cm, NULL, &connect, active, world->now, &conn),
			-ENOMEM);
	world->alloc_fails_at = -1;
	for (unsigned int i = 0; i < 1100; i++)
		world_connect(active, UINT64_MAX);
	assert_int_equal(roce_cm_connect(active->cm, NULL, &connect, active, world->now, &conn),
			-ENOMEM);
	assert_null(conn);
}

/* Ids differ, are not 0, come back late, and another seed gives others. */
UNIT_RULE(ids__are_not_used_again_soon)
{
	enum {
		ROUNDS = 4000
	};
	static uint32_t seen[2][ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		for (unsigned int k = 0; k < 2; k++) {
			struct roce_cm_conn *conn = world_connect(&world->end[k], UINT64_MAX);

			seen[k][i] = conn->local_id;
			assert_int_not_equal(conn->local_id, 0);
			assert_ptr_equal(
					roce_cm_find_local(world->end[k].cm, conn->local_id), conn);
			roce_cm_release(conn, world->now);
			assert_null(roce_cm_find_local(world->end[k].cm, seen[k][i]));
		}
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_int_not_equal(seen[0][i], seen[1][i]);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(seen[0][i], seen[0][k]);
	}
}

UNIT_RULE(seed__makes_a_run_reproducible)
{
	uint8_t frame[2][512];

	for (unsigned int i = 0; i < 2; i++) {
		world_connect(active, UINT64_MAX);
		assert_int_equal(speak(active), 1);
		memcpy(frame[i], world->last, 322);
		world_again();
	}
	assert_memory_equal(frame[0], frame[1], 322);
}

/* Selective acknowledgements need an end that offers them and one that believes it: both do, or neither. */
UNIT_RULE(extensions__are_agreed_on_by_both_ends_or_none)
{
	for (unsigned int ends = 0; ends < 4; ends++) {
		struct roce_cm_conn *a;

		active->cm->config.extensions = ends & 1;
		passive->cm->config.extensions = ends & 2;
		world_listen(passive, 1);
		a = world_connect(active, UINT64_MAX);
		world_run_ms(1);
		assert_string_equal(told_all(passive), "QE");
		assert_int_equal(passive->told[0].peer.extensions, ends == 3);
		assert_int_equal(active->told[0].peer.extensions, ends == 3);
		world_over(a, passive->told[0].conn);
		world_again();
	}
}

/* A peer that offers nothing reads zeros, as of any other provider. */
UNIT_RULE(extensions__are_answered_to_a_request_that_offers_it)
{
	for (unsigned int offered = 0; offered < 2; offered++) {
		const struct roce_cm_mad *mad = (const void *)(world->last + MAD_AT);

		active->cm->config.extensions = offered;
		passive->cm->config.extensions = true;
		world_listen(passive, 1);
		world_connect(active, UINT64_MAX);
		while (world->sent < 2)
			world_run(world_next());
		assert_int_equal(rte_be_to_cpu_16(mad->hdr.attr), ROCE_CM_ATTR_REP);
		assert_int_equal(mad->rep.eecn != 0, offered);
		world_again();
	}
}

/* The RTU is lost and data comes: the passive end is up at once, and hears of it once. */
UNIT_RULE(qp_event__makes_up_for_a_lost_rtu)
{
	struct roce_cm_conn *a, *b;

	world_listen(passive, 1);
	world->lose = 1 << 2;
	a = world_connect(active, UINT64_MAX);
	world_run_ms(1);
	assert_string_equal(told_all(passive), "Q");
	b = passive->told[0].conn;
	passive->gsi.qp_async_event(
			passive->gsi.arg, b, ROCE_ENGINE_ASYNC_QP_ESTABLISHED, world->now);
	assert_string_equal(told_all(passive), "QE");
	passive->gsi.qp_async_event(
			passive->gsi.arg, b, ROCE_ENGINE_ASYNC_QP_ESTABLISHED, world->now);
	world_settle();
	assert_string_equal(told_all(passive), "QE");
	assert_int_equal(roce_cm_stats(passive->cm)->tx_rep, 1);
	world_over(a, b);
}

/* The queue pair broke: its owner hears that the connection ends and no more, and the peer must hear of it. */
UNIT_RULE(qp_event__of_a_broken_one_disconnects)
{
	struct roce_cm_conn *a, *b;

	world_connected(&a, &b);
	active->gsi.qp_async_event(active->gsi.arg, a, ROCE_ENGINE_ASYNC_QP_BROKEN, world->now);
	assert_false(roce_cm_disconnect(a, world->now));
	world_settle();
	expect_told("PB", "QED");
	world_over(a, b);
}

UNIT_RULE(qp_event__of_a_broken_one_refuses_what_is_not_up)
{
	struct roce_cm_conn *b;

	world_listen(passive, 1);
	world->lose = 1 << 2;
	active->release_on_down = true;
	world_connect(active, UINT64_MAX);
	world_run_ms(1);
	b = passive->told[0].conn;
	passive->gsi.qp_async_event(passive->gsi.arg, b, ROCE_ENGINE_ASYNC_QP_BROKEN, world->now);
	world_settle();
	expect_told("PD", "QB");
	world_over(b, NULL);
}

UNIT_RULE(count__by_state)
{
	struct roce_cm_conn *a, *b;
	uint32_t few[2] = { 7, 7 };

	world_connected(&a, &b);
	assert_int_equal(in_state(active, ROCE_CM_STATE_ESTABLISHED), 1);
	assert_int_equal(in_state(passive, ROCE_CM_STATE_ESTABLISHED), 1);
	assert_int_equal(connections(active), 1);
	assert_int_equal(roce_cm_count_by_state(active->cm, few, 1), ROCE_CM_STATES);
	assert_int_equal(few[1], 7);
	assert_string_equal(roce_cm_state_name(ROCE_CM_STATE_ESTABLISHED), "established");
	assert_string_equal(roce_cm_state_name(99), "none");
}

/* ---- conversations ---- */

enum ending {
	END_ACTIVE,
	END_PASSIVE,
	END_BOTH,
	END_AT_ONCE, /**< the active end, not waiting for the RTU to arrive */
	ENDINGS,
};

static const char *const ending_name[ENDINGS] = { "active", "passive", "both", "at once" };

/* Connect, live for a while, disconnect; what is said of it is what must be said, whatever was lost. */
static void
converse(enum ending ending)
{
	struct roce_cm_conn *conn = world_connect(active, UINT64_MAX);

	while (told_times(active, ROCE_CM_REPLY) == 0)
		world_run(world_next());
	if (ending != END_AT_ONCE) {
		while (told_times(passive, ROCE_CM_ESTABLISHED) == 0)
			world_run(world_next());
	}
	active->release_on_down = true;
	passive->release_on_down = true;
	if (ending != END_PASSIVE)
		assert_true(roce_cm_disconnect(conn, world->now));
	if (ending == END_PASSIVE || ending == END_BOTH)
		assert_true(roce_cm_disconnect(passive->told[0].conn, world->now));
	world_settle();
}

static void
assert_clean(const char *by_active, const char *by_passive, const char *what)
{
	const char *a = told_all(active);
	const char *p = told_all(passive);

	if (strcmp(a, by_active) != 0 || strcmp(p, by_passive) != 0 || connections(active) != 0 ||
			connections(passive) != 0)
		fail_msg("%s, lost 0x%02llx, twice 0x%02llx: told %s and %s", what,
				(unsigned long long)world->lose, (unsigned long long)world->twice,
				a, p);
}

UNIT_RULE(worlds__of_every_loss_end_well)
{
	long base;

	world_listen(passive, 1);
	base = world->allocated;
	for (unsigned int ending = 0; ending < ENDINGS; ending++) {
		for (unsigned int lose = 0; lose < 1u << TALK; lose++) {
			for (unsigned int twice = 0; twice < 2; twice++) {
				world_reset();
				world->lose = lose;
				world->twice = twice ? UINT64_MAX : 0;
				converse(ending);
				assert_clean("PD", "QED", ending_name[ending]);
				assert_int_equal(world->allocated, base);
			}
		}
	}
}

/* The consumer says no. It is asked once, or again when its no was lost for longer than we keep it. */
UNIT_RULE(worlds__of_a_rejecting_consumer_end_well)
{
	world_listen(passive, 1);
	for (unsigned int lose = 0; lose < 1u << TALK; lose++) {
		world_reset();
		world->lose = lose;
		passive->policy = POLICY_REJECT;
		active->release_on_down = true;
		world_connect(active, UINT64_MAX);
		world_settle();
		assert_string_equal(told_all(active), "R");
		assert_string_equal(active->told[0].private_data, "no");
		assert_in_range(told_times(passive, ROCE_CM_REQUEST), 1, 4);
		assert_int_equal(told_times(passive, ROCE_CM_REQUEST), passive->events);
		assert_int_equal(connections(active), 0);
		assert_int_equal(connections(passive), 0);
	}
}

UNIT_RULE(worlds__without_a_listener_end_well)
{
	for (unsigned int lose = 0; lose < 1u << TALK; lose++) {
		world_reset();
		world->lose = lose;
		active->release_on_down = true;
		world_connect(active, UINT64_MAX);
		world_settle();
		assert_clean("R", "", "no listener");
		assert_int_equal(active->told[0].reason, ROCE_CM_REJ_INVALID_SERVICE_ID);
	}
}

/* A consumer that thinks for a second: nothing is asked twice, and in the end it is up. */
UNIT_RULE(worlds__of_a_slow_consumer_end_well)
{
	world_listen(passive, 1);
	for (unsigned int lose = 0; lose < 1u << TALK; lose++) {
		struct roce_cm_param param;

		world_reset();
		world->lose = lose;
		passive->policy = POLICY_HOLD;
		world_connect(active, UINT64_MAX);
		while (passive->events == 0)
			world_run(world_next());
		world_run_ms(1000);
		param = offer(passive, "slow");
		assert_int_equal(roce_cm_accept(passive->told[0].conn, &param, passive, world->now),
				0);
		while (told_times(passive, ROCE_CM_ESTABLISHED) == 0)
			world_run(world_next());
		active->release_on_down = true;
		passive->release_on_down = true;
		assert_true(roce_cm_disconnect(active->told[0].conn, world->now));
		world_settle();
		assert_clean("PD", "QED", "slow consumer");
	}
}

/* The client gives up at any moment: whoever was told of a connection is told of its end. */
UNIT_RULE(worlds__of_an_impatient_client_end_well)
{
	static const uint64_t patience_us[] = { 5, 15, 25, 35, 150000, 250000, 700000 };

	world_listen(passive, 4);
	for (size_t i = 0; i < RTE_DIM(patience_us); i++) {
		for (unsigned int lose = 0; lose < 1u << TALK; lose++) {
			struct roce_cm_conn *conn;

			world_reset();
			world->lose = lose;
			passive->release_on_down = true;
			conn = world_connect(active, UINT64_MAX);
			world_run(world->now + patience_us[i] * 1000);
			roce_cm_release(conn, world->now);
			world_settle();
			assert_true(active->events <= 1);
			assert_int_equal(connections(active), 0);
			if (connections(passive) != 0 ||
					(passive->events != 0 &&
							!is_down(passive->told[passive->events - 1]
											.kind)))
				fail_msg("patience %u us, lost 0x%02x: %s",
						(unsigned int)patience_us[i], lose,
						told_all(passive));
		}
	}
}

/* ---- many ---- */

UNIT_RULE(many__connections_at_once)
{
	enum {
		MANY = 1000
	};
	long base;

	world_listen(passive, MANY);
	base = world->allocated;
	world->lose = UINT64_C(0x5a5a0f0f33331111);
	for (unsigned int i = 0; i < MANY; i++)
		world_connect(active, UINT64_MAX);
	world_run_ms(20000);
	assert_int_equal(told_times(active, ROCE_CM_REPLY), MANY);
	assert_int_equal(told_times(passive, ROCE_CM_ESTABLISHED), MANY);
	assert_int_equal(active->events, MANY);
	assert_int_equal(passive->events, 2 * MANY);
	assert_int_equal(in_state(active, ROCE_CM_STATE_ESTABLISHED), MANY);
	active->release_on_down = true;
	passive->release_on_down = true;
	world->lose <<= 1;
	world->sent = 0;
	/* One end ends all of them, the other every second one at the same moment. */
	for (unsigned int i = 0; i < MANY; i++)
		assert_true(roce_cm_disconnect(active->told[i].conn, world->now));
	for (unsigned int i = 0; i < 2 * MANY; i++) {
		if (passive->told[i].kind == ROCE_CM_ESTABLISHED && i % 2 == 0)
			assert_true(roce_cm_disconnect(passive->told[i].conn, world->now));
	}
	world_settle();
	assert_int_equal(told_times(active, ROCE_CM_DISCONNECTED), MANY);
	assert_int_equal(told_times(passive, ROCE_CM_DISCONNECTED), MANY);
	assert_int_equal(connections(active), 0);
	assert_int_equal(connections(passive), 0);
	assert_int_equal(world->allocated, base);
}
