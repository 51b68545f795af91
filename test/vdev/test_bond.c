/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * net_bonding over two rings on each side. One wire fails in the middle of the traffic, comes back, and the other one
 * fails: every message arrives once, in order, whole, and every frame comes home.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_dev.h>
#include <rte_eth_bond.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "device/device.h"
#include "device/user.h"
#include "engine/verbs.h"
#include "ethdev/pool.h"
#include "observe/compat.h"
#include "queue/stats.h"

#define WIRES     2
#define RING_SIZE 1024
#define DEPTH     16
#define MESSAGE   10000u
/* Messages before the next thing happens to a wire, and for how many polls the traffic may stand still. */
#define ACT   500
#define POLLS 200000000u

/** One side: its bonding device and one queue pair. */
struct side {
	const char *params;
	const char *port; /**< name of the bonding device */
	uint16_t wire[WIRES];
	struct roce_device *device;
	struct roce_engine *engine;
	struct roce_pd *pd;
	struct roce_mr *mr;
	struct roce_cq *send_cq, *recv_cq;
	struct roce_qp *qp;
	struct roce_device_user user;
	uint8_t *memory; /**< DEPTH messages */
	struct roce_ip ip;
	uint64_t posted, done;
};

/** Two sides, and the rings between them: ring[s][w] carries frames of wire w towards side s. */
struct bed {
	struct side side[2];
	struct rte_ring *ring[2][WIRES];
};

static const char *const ends[2] = { "left", "right" };

static void
make_wires(struct bed *bed)
{
	char name[32];

	for (int s = 0; s < 2; s++) {
		for (int w = 0; w < WIRES; w++) {
			snprintf(name, sizeof(name), "to_%s%d", ends[s], w);
			bed->ring[s][w] = rte_ring_create(name, RING_SIZE, SOCKET_ID_ANY,
					RING_F_SP_ENQ | RING_F_SC_DEQ);
			assert_non_null(bed->ring[s][w]);
		}
	}
	for (int s = 0; s < 2; s++) {
		for (int w = 0; w < WIRES; w++) {
			int id;

			snprintf(name, sizeof(name), "%s%d", ends[s], w);
			id = rte_eth_from_rings(name, &bed->ring[s][w], 1, &bed->ring[!s][w], 1, 0);
			assert_true(id >= 0);
			bed->side[s].wire[w] = (uint16_t)id;
		}
	}
}

static void
remove_wires(struct bed *bed)
{
	char name[32];
	void *frame;

	for (int s = 0; s < 2; s++) {
		for (int w = 0; w < WIRES; w++) {
			snprintf(name, sizeof(name), "net_ring_%s%d", ends[s], w);
			assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
		}
	}
	for (int s = 0; s < 2; s++) {
		for (int w = 0; w < WIRES; w++) {
			while (rte_ring_dequeue(bed->ring[s][w], &frame) == 0)
				rte_pktmbuf_free(frame);
			rte_ring_free(bed->ring[s][w]);
		}
	}
}

static void
hear_nothing(void *arg, enum roce_engine_async kind, void *owner, int status)
{
}

static void
open_side(struct side *side)
{
	struct roce_qp_attr attr = {
		.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1
	};
	struct roce_device_attr is;
	char errmsg[256];

	if (roce_device_open(side->params, &side->device, errmsg, sizeof(errmsg)) != 0)
		fail_msg("%s: %s", side->params, errmsg);
	roce_device_query(side->device, &is);
	assert_string_equal(is.driver, "net_bonding");
	/* Rings take any frame, and so must what is made of them. */
	assert_int_equal(is.mtu, 4096);
	memcpy(&side->ip, is.ip, sizeof(side->ip));
	side->user.notify = hear_nothing;
	roce_device_join(side->device, &side->user);
	side->engine = roce_domain_engine(roce_device_domain(side->device), 0);
	side->memory = calloc(DEPTH, MESSAGE);
	assert_non_null(side->memory);
	assert_int_equal(roce_pd_create(&side->user.context, &side->pd), 0);
	assert_int_equal(roce_mr_create(side->pd, (uintptr_t)side->memory, DEPTH * MESSAGE,
					 IBV_ACCESS_LOCAL_WRITE, &side->mr),
			0);
	assert_int_equal(roce_cq_create(&side->user.context, 2 * DEPTH, NULL, &side->send_cq), 0);
	assert_int_equal(roce_cq_create(&side->user.context, 2 * DEPTH, NULL, &side->recv_cq), 0);
	attr.pd = side->pd;
	attr.send_cq = side->send_cq;
	attr.recv_cq = side->recv_cq;
	assert_int_equal(roce_qp_create(&attr, &side->qp), 0);
}

static void
close_side(struct side *side)
{
	roce_qp_destroy(side->qp);
	assert_int_equal(roce_cq_destroy(side->send_cq), 0);
	assert_int_equal(roce_cq_destroy(side->recv_cq), 0);
	assert_int_equal(roce_mr_destroy(side->mr), 0);
	assert_int_equal(roce_pd_destroy(side->pd), 0);
	roce_device_leave(side->device, &side->user);
	roce_device_close(side->device);
	free(side->memory);
}

static void
connect_side(struct side *side, const struct side *peer)
{
	const struct roce_qp_connect connect = {
		.path = {
			.src_mac = side->device->port->mac,
			.dst_mac = peer->device->port->mac,
			.src_ip = side->ip,
			.dst_ip = peer->ip,
			.ttl = 64,
			.mtu_code = 5,
		},
		.dest_qp = roce_qp_number(peer->qp),
		.retry = 7,
		.rnr_retry = 7,
		.rnr_timer = 12,
		/* Two seconds: the slaves agree with each other before anything goes through. */
		.ack_timeout = 19,
	};

	roce_engine_lock(side->engine);
	assert_int_equal(roce_qp_to_rtr(side->qp, &connect), 0);
	assert_int_equal(roce_qp_to_rts(side->qp), 0);
	roce_engine_unlock(side->engine);
}

/* ---- traffic: side 0 sends, side 1 receives ---- */

static uint8_t
byte_of(uint64_t message, uint32_t i)
{
	return (uint8_t)(message * 131 + i * 7 + (i >> 8));
}

static struct roce_sge
piece(const struct side *side, uint64_t message)
{
	return (struct roce_sge){
		.addr = (uintptr_t)side->memory + message % DEPTH * MESSAGE,
		.length = MESSAGE,
		.lkey = roce_mr_key(side->mr),
	};
}

static void
post_recv(struct side *side)
{
	struct roce_sge sge = piece(side, side->posted);
	struct roce_recv_wr wr = { .wr_id = side->posted, .sg = &sge, .num_sge = 1 };

	assert_int_equal(roce_qp_post_recv(side->qp, &wr), 0);
	side->posted++;
}

static void
post_send(struct side *side)
{
	struct roce_sge sge = piece(side, side->posted);
	struct roce_wr wr = {
		.wr_id = side->posted,
		.sg = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.flags = ROCE_WR_SIGNALED,
	};

	for (uint32_t i = 0; i < MESSAGE; i++)
		((uint8_t *)sge.addr)[i] = byte_of(side->posted, i);
	assert_int_equal(roce_qp_post_send(side->qp, &wr), 0);
	side->posted++;
}

/* The next message is the next one that was sent, and nothing but it. */
static void
take(struct side *side, const struct roce_event *event)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)piece(side, event->wr_id).addr;

	assert_int_equal(event->status, IBV_WC_SUCCESS);
	assert_int_equal(event->wr_id, side->done);
	assert_int_equal(event->byte_len, MESSAGE);
	for (uint32_t i = 0; i < MESSAGE; i++)
		assert_int_equal(at[i], byte_of(side->done, i));
	side->done++;
}

/* Until so many messages were delivered and completed. */
static void
move_until(struct bed *bed, uint64_t messages)
{
	struct side *from = &bed->side[0], *to = &bed->side[1];
	struct roce_event event;
	unsigned int polls = 0;

	while (to->done < messages || from->done < messages) {
		while (to->posted < to->done + DEPTH)
			post_recv(to);
		while (from->posted < from->done + DEPTH && from->posted < messages)
			post_send(from);
		roce_device_poll_engine(from->device, 0);
		roce_device_poll_engine(to->device, 0);
		while (roce_cq_poll(to->recv_cq, &event, 1) == 1) {
			take(to, &event);
			polls = 0;
		}
		while (roce_cq_poll(from->send_cq, &event, 1) == 1) {
			assert_int_equal(event.status, IBV_WC_SUCCESS);
			assert_int_equal(event.wr_id, from->done);
			from->done++;
		}
		if (++polls == POLLS)
			fail_msg("the traffic stands still at message %u", (unsigned int)to->done);
	}
}

static int
wires_in_use(const struct side *side)
{
	uint16_t slaves[WIRES], bond;

	assert_int_equal(rte_eth_dev_get_port_by_name(side->port, &bond), 0);
	return rte_eth_bond_active_members_get(bond, slaves, WIRES);
}

/* Both sides see a wire come or go; messages move meanwhile. */
static void
set_wire(struct bed *bed, int wire, bool up, int in_use)
{
	for (int s = 0; s < 2; s++) {
		uint16_t port = bed->side[s].wire[wire];

		assert_int_equal(up ? rte_eth_dev_set_link_up(port)
				    : rte_eth_dev_set_link_down(port),
				0);
	}
	do
		move_until(bed, bed->side[1].done + 1);
	while (wires_in_use(&bed->side[0]) != in_use || wires_in_use(&bed->side[1]) != in_use);
}

/* The recipe is written for DPDK 22.11; later releases know the driver's argument by another name. */
static const char *
of_release(char *text, size_t len, const char *recipe)
{
	const char *slave;
	size_t n = 0;

	for (; (slave = strstr(recipe, "slave=")) != NULL; recipe = slave + strlen("slave"))
		n += (size_t)snprintf(text + n, len - n, "%.*s%s", (int)(slave - recipe), recipe,
				ROCE_BOND_MEMBER);
	assert_true(n + (size_t)snprintf(text + n, len - n, "%s", recipe) < len);
	return text;
}

static void
outlive_wires(const char *left, const char *right)
{
	char port[2][160];
	struct bed bed = { .side = { { .params = of_release(port[0], sizeof(port[0]), left),
						     .port = "net_bonding0" },
					   { .params = of_release(port[1], sizeof(port[1]), right),
							   .port = "net_bonding1" } } };
	const struct roce_stats *sent, *heard;

	make_wires(&bed);
	for (int s = 0; s < 2; s++)
		open_side(&bed.side[s]);
	for (int s = 0; s < 2; s++)
		connect_side(&bed.side[s], &bed.side[!s]);
	sent = roce_engine_stats(bed.side[0].engine);
	heard = roce_engine_stats(bed.side[1].engine);

	move_until(&bed, ACT);
	for (int w = 0; w < WIRES; w++) {
		set_wire(&bed, w, false, WIRES - 1);
		move_until(&bed, bed.side[1].done + ACT);
		set_wire(&bed, w, true, WIRES);
		move_until(&bed, bed.side[1].done + ACT);
	}

	/* No message is under way, and LACP wants to be polled all the same. */
	for (int s = 0; s < 2; s++) {
		while (roce_device_poll(bed.side[s].device) > 0)
			continue;
		assert_true(roce_device_deadline(bed.side[s].device) <
				roce_device_now(bed.side[s].device) +
						roce_device_hz(bed.side[s].device) / 10);
	}
	print_message("%s: %u messages, %u frames sent again, %u duplicates, %u out of sequence, %u bad\n",
			left, (unsigned int)bed.side[1].done, (unsigned int)sent->retransmits,
			(unsigned int)heard->duplicate_request,
			(unsigned int)heard->out_of_sequence,
			(unsigned int)heard->rx_icrc_encapsulated);
	assert_int_equal(bed.side[0].done, bed.side[1].done);
	assert_int_equal(heard->rx_send_requests, bed.side[1].done);
	assert_int_equal(heard->rx_icrc_encapsulated + sent->rx_icrc_encapsulated, 0);
	for (int s = 0; s < 2; s++)
		close_side(&bed.side[s]);
	remove_wires(&bed);
	/* Those that lay on a wire when it failed, too. */
	assert_int_equal(roce_pool_sweep(), 0);
}

/* The other modes want slaves whose address can be set, which those of rings cannot. */
static void
lacp__goes_on_with_what_is_left(void **state)
{
	outlive_wires("port=net_bonding0,mode=4,slave=net_ring_left0,slave=net_ring_left1,mac=02:00:00:00:00:01 "
		      "ip=192.0.2.1/24",
			"port=net_bonding1,mode=4,slave=net_ring_right0,slave=net_ring_right1,mac=02:00:00:00:00:02 "
			"ip=192.0.2.2/24");
}

/* The first one: it starts the EAL. */
static void
open__wants_slaves_that_exist(void **state)
{
	static const char *const none[] = { "net_ring_none", "99", "net_bonding9", "" };
	char params[128], errmsg[256];

	for (size_t i = 0; i < RTE_DIM(none); i++) {
		struct roce_device *device = NULL;

		snprintf(params, sizeof(params),
				"port=net_bonding0,mode=1," ROCE_BOND_MEMBER "=%s ip=192.0.2.1/24",
				none[i]);
		assert_int_equal(
				roce_device_open(params, &device, errmsg, sizeof(errmsg)), -ENODEV);
		assert_non_null(strstr(errmsg, ROCE_BOND_MEMBER));
		assert_null(device);
		/* There is an EAL now, which can make one that has slaves itself, or may get some. */
		if (i == 0)
			assert_true(rte_eth_bond_create("net_bonding9", BONDING_MODE_ACTIVE_BACKUP,
						    0) >= 0);
	}
	assert_int_equal(rte_eth_bond_free("net_bonding9"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__wants_slaves_that_exist),
		cmocka_unit_test(lacp__goes_on_with_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
