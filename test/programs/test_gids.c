/* SPDX-License-Identifier: BSD-3-Clause */
/* A device with several addresses: each is an entry of its GID table, and queue pairs connect from the one they name. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define V6_INDEX 1

static union ibv_gid
gid_of(const char *address)
{
	union ibv_gid gid;

	assert_int_equal(inet_pton(AF_INET6, address, gid.raw), 1);
	return gid;
}

static void
table__has_each_address_in_its_order(void **state)
{
	const union ibv_gid want[] = { gid_of("::ffff:192.0.2.1"), gid_of("2001:db8::1") };
	struct rig *rig = *state;
	struct ibv_gid_entry entries[3], entry;
	struct ibv_port_attr port;
	union ibv_gid gid;

	ok(ibv_query_port(rig->context, 1, &port));
	assert_int_equal(port.gid_tbl_len, 2);
	assert_int_equal(ibv_query_gid_table(rig->context, entries, 1, 0), -EINVAL);
	assert_int_equal(ibv_query_gid_table(rig->context, entries, 3, 0), 2);
	for (uint32_t i = 0; i < 2; i++) {
		ok(ibv_query_gid(rig->context, 1, (int)i, &gid));
		assert_memory_equal(&gid, &want[i], sizeof(gid));
		ok(ibv_query_gid_ex(rig->context, 1, i, &entry, 0));
		assert_memory_equal(&entry.gid, &want[i], sizeof(gid));
		assert_int_equal(entry.gid_index, i);
		assert_int_equal(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
		assert_memory_equal(&entries[i], &entry, sizeof(entry));
	}
	assert_int_equal(ibv_query_gid(rig->context, 1, 2, &gid), -1);
	assert_int_equal(ibv_query_gid_ex(rig->context, 1, 2, &entry, 0), EINVAL);
}

static int
to_rtr_by(struct rig *rig, struct ibv_qp *qp, struct ibv_qp *peer, int remote, uint8_t local)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.ah_attr = { .is_global = 1,
				.port_num = 1,
				.grh = { .sgid_index = local, .hop_limit = 64 } },
	};

	ok(ibv_query_gid(rig->context, 1, remote, &attr.ah_attr.grh.dgid));
	return ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					IBV_QP_MIN_RNR_TIMER);
}

static void
modify__connects_from_the_entry_that_it_names(void **state)
{
	struct rig *rig = *state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	to_init(rig->a);
	to_init(rig->b);
	ok(to_rtr_by(rig, rig->a, rig->b, V6_INDEX, V6_INDEX));
	ok(to_rtr_by(rig, rig->b, rig->a, V6_INDEX, V6_INDEX));
	ok(ibv_query_qp(rig->a, &attr, IBV_QP_AV, &init));
	assert_int_equal(attr.ah_attr.grh.sgid_index, V6_INDEX);
	to_rts(rig->a);
	to_rts(rig->b);
	ok(post_recv(rig, rig->b, 1));
	ok(post_send(rig, rig->a, 2));
	for (int i = 0; i < 2; i++)
		assert_int_equal(want_wc(rig->cq).status, IBV_WC_SUCCESS);
}

static void
modify__refuses_an_entry_of_another_family_and_one_that_is_not_there(void **state)
{
	struct rig *rig = *state;

	to_init(rig->a);
	assert_int_equal(to_rtr_by(rig, rig->a, rig->b, V6_INDEX, 0), EINVAL);
	assert_int_equal(to_rtr_by(rig, rig->a, rig->b, 0, V6_INDEX), EINVAL);
	assert_int_equal(to_rtr_by(rig, rig->a, rig->b, 0, 2), EINVAL);
	assert_int_equal(rig->a->state, IBV_QPS_INIT);
	ok(to_rtr_by(rig, rig->a, rig->b, 0, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(table__has_each_address_in_its_order),
		rig_test(modify__connects_from_the_entry_that_it_names),
		rig_test(modify__refuses_an_entry_of_another_family_and_one_that_is_not_there),
	};

	/* A port that hears what it says. */
	setenv("UDAPL_ROCE_PARAMS", "port=net_ring0 ip=192.0.2.1/24 ip=2001:db8::1/64", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
