/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of RDMA: binds a window, or takes a whole region, tells the peer of it by a message, and says what comes of it.
 * It decides nothing but whether a message is the pattern; what it says is for the cell to judge.
 */

#include "guest.h"

#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECEIVES 4u
#define MESSAGE  4096u
#define GRANTED  4096u
#define BEFORE   4096u /* bytes of the region before the window */
#define NOTHING  0xeeu
/* The kernel's IB_WC_WITH_INVALIDATE, which rxe of Linux 6.1 says to programs, too; theirs is IBV_WC_WITH_INV. */
#define KERNEL_WITH_INVALIDATE 4u
#define LOOK                   10    /* ms */
#define LOOKS                  6000u /* without a completion that is waited for, or without the end */

static struct {
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *region, *messages;
	struct ibv_mw *window;
	uint8_t memory[BEFORE + GRANTED], message[(1 + RECEIVES) * MESSAGE];
	uint32_t key;
} target;

static struct {
	const char *port;
	bool region, shared;
} option = { .port = "7471" };

static void
make_memory(void)
{
	const unsigned int granted =
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;

	target.pd = ibv_alloc_pd(target.id->verbs);
	if (target.pd == NULL)
		guest_fail("ibv_alloc_pd");
	memset(target.memory, NOTHING, sizeof(target.memory));
	target.region = ibv_reg_mr(target.pd, target.memory, sizeof(target.memory), (int)granted);
	target.messages = ibv_reg_mr(
			target.pd, target.message, sizeof(target.message), IBV_ACCESS_LOCAL_WRITE);
	if (target.region == NULL || target.messages == NULL)
		guest_fail("ibv_reg_mr");
}

static void
make_queues(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = RECEIVES, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4,
				.max_recv_wr = RECEIVES,
				.max_send_sge = 1,
				.max_recv_sge = 1 },
	};

	target.cq = ibv_create_cq(target.id->verbs, 16, NULL, NULL, 0);
	if (target.cq == NULL)
		guest_fail("ibv_create_cq");
	if (option.shared && (target.srq = ibv_create_srq(target.pd, &srq)) == NULL)
		guest_fail("ibv_create_srq");
	attr.send_cq = target.cq;
	attr.recv_cq = target.cq;
	attr.srq = target.srq;
	if (rdma_create_qp(target.id, target.pd, &attr) != 0)
		guest_fail("rdma_create_qp");
}

static void
post_receives(void)
{
	for (uint64_t slot = 1; slot <= RECEIVES; slot++) {
		struct ibv_sge sge = { (uintptr_t)target.message + slot * MESSAGE, MESSAGE,
			target.messages->lkey };
		struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *wrong;

		if ((option.shared ? ibv_post_srq_recv(target.srq, &wr, &wrong)
				   : ibv_post_recv(target.id->qp, &wr, &wrong)) != 0)
			guest_fail("posting a receive");
	}
}

/* Post it, and wait until it is done. */
static void
request(struct ibv_send_wr *wr, const char *what)
{
	struct ibv_send_wr *wrong;
	struct ibv_wc wc;
	unsigned int looks = 0;

	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(target.id->qp, wr, &wrong) != 0)
		guest_fail(what);
	for (; ibv_poll_cq(target.cq, 1, &wc) == 0; usleep(LOOK * 1000)) {
		errno = ETIMEDOUT;
		if (++looks > LOOKS)
			guest_fail(what);
	}
	if (wc.status != IBV_WC_SUCCESS) {
		printf("FAILED %s: %s\n", what, ibv_wc_status_str(wc.status));
		exit(1);
	}
}

/* A window of type 2, whose key is a number of ours in its low eight bits. */
static void
bind_window(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };

	target.window = ibv_alloc_mw(target.pd, IBV_MW_TYPE_2);
	if (target.window == NULL)
		guest_fail("ibv_alloc_mw");
	target.key = ibv_inc_rkey(target.window->rkey);
	wr.bind_mw.mw = target.window;
	wr.bind_mw.rkey = target.key;
	wr.bind_mw.bind_info.mr = target.region;
	wr.bind_mw.bind_info.addr = (uintptr_t)target.memory + BEFORE;
	wr.bind_mw.bind_info.length = GRANTED;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	request(&wr, "binding the window");
}

static void
tell(void)
{
	struct guest_offer offer = { "RP1", target.key, (uintptr_t)target.memory + BEFORE,
		GRANTED };
	struct ibv_sge sge = { (uintptr_t)target.message, sizeof(offer), target.messages->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };

	memcpy(target.message, &offer, sizeof(offer));
	request(&wr, "telling of the key");
}

static void
take(const struct ibv_wc *wc)
{
	const uint8_t *at = target.message + wc->wr_id * MESSAGE;
	bool bad = false;

	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	if (wc->status != IBV_WC_SUCCESS) {
		printf("a receive ended: %s\n", ibv_wc_status_str(wc->status));
		return;
	}
	for (uint32_t i = 0; i < wc->byte_len; i++)
		bad |= at[i] != guest_pattern(i);
	printf("received %u bytes, flags 0x%x%s\n", wc->byte_len, wc->wc_flags,
			bad ? ", FAILED: not the pattern" : "");
	if ((wc->wc_flags & (IBV_WC_WITH_INV | KERNEL_WITH_INVALIDATE)) != 0 &&
			wc->invalidated_rkey == target.key)
		printf("the key is invalid now\n");
}

/* Until the peer has left. */
static void
take_all(void)
{
	struct pollfd wait = { target.events->fd, POLLIN, 0 };
	struct ibv_wc wc;

	for (unsigned int looks = 0; poll(&wait, 1, LOOK) == 0; looks++) {
		errno = ETIMEDOUT;
		if (looks > LOOKS)
			guest_fail("waiting for the end");
		while (ibv_poll_cq(target.cq, 1, &wc) > 0)
			take(&wc);
	}
	guest_expect(target.events, RDMA_CM_EVENT_DISCONNECTED);
	while (ibv_poll_cq(target.cq, 1, &wc) > 0)
		take(&wc);
}

/* Bytes that the peer wrote, from the first one granted; nothing else has changed. */
static void
say_written(void)
{
	uint32_t n = 0, changed = 0;

	while (n < GRANTED && target.memory[BEFORE + n] == guest_pattern(n))
		n++;
	for (uint32_t i = 0; i < sizeof(target.memory); i++)
		changed += target.memory[i] != NOTHING;
	printf("%u bytes written%s\n", n, changed > n ? ", FAILED: and others" : "");
}

static void
listen_there(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP },
			     *info;
	struct rdma_cm_id *listener;

	target.events = rdma_create_event_channel();
	if (target.events == NULL || rdma_getaddrinfo(NULL, option.port, &hints, &info) != 0 ||
			rdma_create_id(target.events, &listener, NULL, RDMA_PS_TCP) != 0 ||
			rdma_bind_addr(listener, info->ai_src_addr) != 0 ||
			rdma_listen(listener, 1) != 0)
		guest_fail("listening");
	printf("listening on port %s\n", option.port);
}

static void
read_options(int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, "p:rS")) != -1) {
		option.port = o == 'p' ? optarg : option.port;
		option.region |= o == 'r';
		option.shared |= o == 'S';
		if (o == '?')
			exit(2);
	}
}

int
guest_zcrx(int argc, char **argv)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	read_options(argc, argv);
	listen_there();
	target.id = guest_expect(target.events, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_memory();
	make_queues();
	post_receives();
	if (rdma_accept(target.id, &param) != 0)
		guest_fail("rdma_accept");
	guest_expect(target.events, RDMA_CM_EVENT_ESTABLISHED);
	target.key = target.region->rkey;
	if (!option.region)
		bind_window();
	tell();
	take_all();
	say_written();
	(void)rdma_disconnect(target.id);
	return 0;
}
