/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue pair, connected so often without a pause: each time within the timewait of the connection before. rdma_cm
 * takes the number of a queue pair that it did not make; whose it is then is ours to know.
 */

#include "guest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESOLVE 5000 /* ms */
#define SIZE    64u
#define LOOK    1     /* ms */
#define LOOKS   20000 /* until a completion */

static struct {
	struct rdma_event_channel *events;
	struct rdma_addrinfo *peer;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t message[SIZE];
} again;

/* Once, on the device that the first connection goes by. */
static void
make_queue_pair(struct ibv_context *verbs)
{
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (pd == NULL || (again.cq = ibv_create_cq(verbs, 4, NULL, NULL, 0)) == NULL)
		guest_fail("resources");
	again.mr = ibv_reg_mr(pd, again.message, SIZE, IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = again.cq;
	attr.recv_cq = again.cq;
	again.qp = ibv_create_qp(pd, &attr);
	if (again.mr == NULL || again.qp == NULL)
		guest_fail("resources");
	for (uint32_t i = 0; i < SIZE; i++)
		again.message[i] = guest_pattern(i);
}

static void
move_to(struct rdma_cm_id *id, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask = IBV_QP_STATE;

	if (state != IBV_QPS_RESET && rdma_init_qp_attr(id, &attr, &mask) != 0)
		guest_fail("rdma_init_qp_attr");
	if (ibv_modify_qp(again.qp, &attr, mask) != 0)
		guest_fail("ibv_modify_qp");
}

static struct rdma_cm_id *
begin(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	if (rdma_create_id(again.events, &id, NULL, RDMA_PS_TCP) != 0 ||
			rdma_resolve_addr(id, NULL, again.peer->ai_dst_addr, RESOLVE) != 0)
		guest_fail("rdma_resolve_addr");
	guest_expect(again.events, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLVE) != 0)
		guest_fail("rdma_resolve_route");
	guest_expect(again.events, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (again.qp == NULL)
		make_queue_pair(id->verbs);
	move_to(id, IBV_QPS_INIT);
	param.qp_num = again.qp->qp_num;
	if (rdma_connect(id, &param) != 0)
		guest_fail("rdma_connect");
	guest_expect(again.events, RDMA_CM_EVENT_CONNECT_RESPONSE);
	move_to(id, IBV_QPS_RTR);
	move_to(id, IBV_QPS_RTS);
	if (rdma_establish(id) != 0)
		guest_fail("rdma_establish");
	return id;
}

static void
send_one(void)
{
	struct ibv_sge sge = { (uintptr_t)again.message, SIZE, again.mr->lkey };
	struct ibv_send_wr *wrong,
			wr = { .sg_list = &sge,
				.num_sge = 1,
				.opcode = IBV_WR_SEND,
				.send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;
	unsigned int looks = 0;

	if (ibv_post_send(again.qp, &wr, &wrong) != 0)
		guest_fail("ibv_post_send");
	for (; ibv_poll_cq(again.cq, 1, &wc) == 0; usleep(LOOK * 1000)) {
		errno = ETIMEDOUT;
		if (++looks > LOOKS)
			guest_fail("waiting for a completion");
	}
	if (wc.status != IBV_WC_SUCCESS) {
		printf("FAILED SEND: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
}

static void
end(struct rdma_cm_id *id)
{
	if (rdma_disconnect(id) != 0)
		guest_fail("rdma_disconnect");
	guest_expect(again.events, RDMA_CM_EVENT_DISCONNECTED);
	move_to(id, IBV_QPS_RESET);
	rdma_destroy_id(id);
}

int
guest_again(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	const char *address = NULL, *port = "7471";
	unsigned int connections = 2;
	int o;

	while ((o = getopt(argc, argv, "a:p:c:")) != -1) {
		address = o == 'a' ? optarg : address;
		port = o == 'p' ? optarg : port;
		connections = o == 'c' ? (unsigned int)strtoul(optarg, NULL, 10) : connections;
		if (o == '?')
			return 2;
	}
	again.events = rdma_create_event_channel();
	if (again.events == NULL || rdma_getaddrinfo(address, port, &hints, &again.peer) != 0)
		guest_fail("the address");
	for (unsigned int i = 0; i < connections; i++) {
		struct rdma_cm_id *id = begin();

		send_one();
		end(id);
	}
	printf("queue pair 0x%x: %u connections over\n", again.qp->qp_num, connections);
	return 0;
}
