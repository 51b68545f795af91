/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that share an address: the number of the process in queue pair numbers, the table of the processes that queue
 * pairs are connected to (engine/qp.c, engine/qp_state.c), and the end of one of them (engine/domain.c). This is process
 * 5; its address is 192.0.2.1.
 */

#include "engine/verbs.h"
#include "fixture.h"
#include "queue/qp.h"

#define SELF 5u
#define QPS  16384u

static struct fx_end end;
static uint16_t table[QPS];

static int
open_end(unsigned int engines, uint32_t first_qpn)
{
	const struct fx_options options = {
		.engines = engines,
		.first_qpn = first_qpn,
		.process = SELF,
		.peer_process = table,
	};

	memset(table, 0xff, sizeof(table));
	fx_end_open(&end, 1, &options);
	return 0;
}

static int
setup(void **state)
{
	return open_end(1, 0);
}

static int
teardown(void **state)
{
	fx_end_close(&end);
	return fx_left();
}

static uint16_t
peer_of(const struct roce_qp *qp)
{
	return table[roce_qp_number(qp) % QPS];
}

/* A queue pair in RTS that is connected to this number at this address. */
static struct roce_qp *
connect_to(struct roce_ip ip, uint32_t dest_qp)
{
	const struct roce_qp_connect connect = fx_connect(&end, ip, dest_qp);
	struct roce_qp *qp = fx_qp(&end, NULL);

	fx_up(qp, &connect);
	return qp;
}

static struct roce_qp *
connect_to_process(uint32_t number)
{
	return connect_to(fx_ip(1), number << 14 | 0x77);
}

/* ---- numbers ---- */

UNIT_RULE(number__has_the_process_in_its_upper_bits)
{
	for (unsigned int i = 0; i < 40; i++) {
		struct roce_qp *qp = fx_qp(&end, NULL);

		assert_int_equal(roce_qp_number(qp) >> 14, SELF);
		assert_ptr_equal(roce_qp_find(end.domain, roce_qp_number(qp)), qp);
	}
}

/* Also when the places begin anew, and with several engines. */
UNIT_RULE_IN(number__keeps_the_process_when_places_begin_anew, NULL, teardown)
{
	open_end(3, QPS - 10);
	for (unsigned int i = 0; i < 40; i++) {
		struct roce_qp *qp = fx_qp(&end, NULL);

		assert_int_equal(roce_qp_number(qp) >> 14, SELF);
		assert_ptr_equal(roce_qp_engine(qp),
				roce_domain_engine(end.domain, roce_qp_number(qp) & 3));
	}
}

/* The same place in the number of another process is nobody's. */
UNIT_RULE(number__of_another_process_is_not_found)
{
	const uint32_t number = roce_qp_number(fx_qp(&end, NULL));

	for (uint32_t process = 0; process < 1024; process++) {
		if (process != SELF)
			assert_null(roce_qp_find(end.domain, process << 14 | number % QPS));
	}
}

/* ---- the process that may send ---- */

UNIT_RULE(peer__of_a_queue_pair_is_nobody_before_it_is_connected)
{
	assert_int_equal(peer_of(fx_qp(&end, NULL)), 0xffff);
}

UNIT_RULE(peer__is_the_process_in_the_destination)
{
	static const uint32_t numbers[] = { 1, 2, SELF, 511, 1022 };

	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		assert_int_equal(peer_of(connect_to_process(numbers[i])), numbers[i]);
}

/* A peer on another host may have any upper bits in its numbers. */
UNIT_RULE(peer__at_another_address_is_the_uplink)
{
	assert_int_equal(peer_of(connect_to(fx_ip(99), 0x77)), 0);
	assert_int_equal(peer_of(connect_to(fx_ip(99), 2u << 14 | 0x77)), 0);
}

UNIT_RULE(peer__of_each_own_address_is_a_process)
{
	const struct roce_ip loopback = roce_ip_from_v4(RTE_BE32(0x7f000001));
	const struct roce_ip addrs[] = { fx_ip(1), fx_ip(2), loopback };

	roce_domain_lock(end.domain);
	roce_domain_set_addrs(end.domain, addrs, RTE_DIM(addrs));
	roce_domain_unlock(end.domain);
	for (size_t i = 0; i < RTE_DIM(addrs); i++)
		assert_int_equal(peer_of(connect_to(addrs[i], 9u << 14)), 9);
}

/* One that is not connected any more is nobody's. */
UNIT_RULE(peer__is_nobody_after_a_reset)
{
	struct roce_qp *qp = connect_to_process(2), *other = connect_to_process(3);

	fx_to_reset(qp);
	assert_int_equal(peer_of(qp), 0xffff);
	assert_int_equal(peer_of(other), 3);
}

/* ---- the end of a process ---- */

static bool
is_up(const struct roce_qp *qp)
{
	return roce_qp_state(qp) == ROCE_QP_RTS;
}

static void
break_process(uint16_t number)
{
	roce_domain_lock(end.domain);
	roce_domain_break_process(end.domain, number);
	roce_domain_unlock(end.domain);
}

UNIT_RULE(break__ends_what_is_connected_to_that_process_alone)
{
	struct roce_qp *theirs[3], *others = connect_to_process(3);
	struct roce_qp *own = connect_to_process(SELF), *away = connect_to(fx_ip(99), 2u << 14 | 1);
	struct roce_qp *fresh = fx_qp(&end, NULL);

	for (unsigned int i = 0; i < RTE_DIM(theirs); i++)
		theirs[i] = connect_to_process(2);
	break_process(2);
	for (unsigned int i = 0; i < RTE_DIM(theirs); i++)
		assert_int_equal(roce_qp_state(theirs[i]), ROCE_QP_ERR);
	assert_true(is_up(others));
	assert_true(is_up(own));
	assert_true(is_up(away));
	assert_int_equal(roce_qp_state(fresh), ROCE_QP_RESET);
	assert_int_equal(end.async_events, RTE_DIM(theirs));
}

/* Its peer is one that does not answer: processes.c of test/verbs has what becomes of requests. */
UNIT_RULE(break__leaves_a_queue_pair_that_its_program_moved_but_takes_nothing_for_it)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(1), 2u << 14 | 0x77);
	const struct roce_qp_mod init = { .state = ROCE_QPS_INIT };
	struct roce_qp *qp = fx_qp(&end, NULL);

	roce_domain_lock(end.domain);
	assert_int_equal(roce_qp_do_modify(qp, &init, ROCE_QP_MOD_STATE, NULL), 0);
	roce_domain_unlock(end.domain);
	fx_up(qp, &connect);
	assert_int_equal(peer_of(qp), 2);
	break_process(2);
	assert_true(is_up(qp));
	assert_int_equal(peer_of(qp), 0xffff);
	assert_int_equal(end.async_events, 0);
}

/* The process with the uplink: what is connected to other hosts. */
UNIT_RULE(break__of_the_uplink_ends_what_is_connected_to_other_hosts)
{
	struct roce_qp *away = connect_to(fx_ip(99), 0x77), *near = connect_to_process(2);

	break_process(0);
	assert_int_equal(roce_qp_state(away), ROCE_QP_ERR);
	assert_true(is_up(near));
}

/* Also one that is only ready to receive. */
UNIT_RULE(break__ends_a_queue_pair_in_rtr)
{
	const struct roce_qp_connect connect = fx_connect(&end, fx_ip(1), 2u << 14 | 0x77);
	struct roce_qp *qp = fx_qp(&end, NULL);

	assert_int_equal(roce_qp_to_rtr(qp, &connect), 0);
	break_process(2);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
}

UNIT_RULE(break__happens_once)
{
	(void)connect_to_process(2);
	break_process(2);
	break_process(2);
	assert_int_equal(end.async_events, 1);
}

/* Its number is given to another process, which begins with nothing. */
UNIT_RULE(break__leaves_the_number_for_another_process)
{
	struct roce_qp *old = connect_to_process(2), *new;

	break_process(2);
	fx_to_reset(old);
	new = connect_to_process(2);
	assert_true(is_up(new));
	assert_int_equal(peer_of(new), 2);
	assert_int_equal(peer_of(old), 0xffff);
}
