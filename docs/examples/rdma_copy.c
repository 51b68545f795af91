/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Copies a file with verbs: RDMA WRITE takes its blocks from one region to another one, through two queue pairs of this
 * process that are connected with each other. The program has a bug, which faults on purpose find: docs/verbs.md shows how.
 * Compiled with -DCORRECTED it has none.
 *
 *     cc -o rdma_copy rdma_copy.c -libverbs
 *     roce-run ./rdma_copy FROM TO
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#define BLOCK 4096u
#define BATCH 16u /* blocks that are posted together */

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp[2]; /* the first one writes, the second one stands for the peer */
static struct ibv_mr *from, *to;
static unsigned int batches, connections;

static void
check(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void
modify(unsigned int end, struct ibv_qp_attr attr, int mask)
{
	check(ibv_modify_qp(qp[end], &attr, IBV_QP_STATE | mask) == 0, "ibv_modify_qp");
}

static void
connect_end(unsigned int end, const struct ibv_port_attr *port, union ibv_gid gid)
{
	const struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE
	};
	const struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = port->active_mtu,
		.dest_qp_num = qp[!end]->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1,
				.port_num = 1,
				.grh = { .dgid = gid, .hop_limit = 64 } } };
	const struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1 };

	modify(end, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0);
	modify(end, init, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(end, rtr,
			IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(end, rts,
			IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					IBV_QP_MAX_QP_RD_ATOMIC);
}

/* For the first time, or again after an error. */
static void
connect_ends(void)
{
	struct ibv_port_attr port;
	union ibv_gid gid;

	check(ibv_query_port(context, 1, &port) == 0, "ibv_query_port");
	check(ibv_query_gid(context, 1, 0, &gid) == 0, "ibv_query_gid");
	connect_end(1, &port, gid);
	connect_end(0, &port, gid);
	connections++;
}

static void
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = BATCH,
				.max_recv_wr = 1,
				.max_send_sge = 1,
				.max_recv_sge = 1 } };

	check(list != NULL && list[0] != NULL, "there is no device");
	context = ibv_open_device(list[0]);
	check(context != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 2 * BATCH, NULL, NULL, 0);
	check(pd != NULL && cq != NULL, "the device has no room");
	attr.send_cq = attr.recv_cq = cq;
	for (unsigned int end = 0; end < 2; end++) {
		qp[end] = ibv_create_qp(pd, &attr);
		check(qp[end] != NULL, "ibv_create_qp");
	}
}

static void
close_device(void)
{
	ibv_destroy_qp(qp[0]);
	ibv_destroy_qp(qp[1]);
	ibv_destroy_cq(cq);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

static void
post_block(size_t block)
{
	struct ibv_sge sge = { (uintptr_t)from->addr + block * BLOCK, BLOCK, from->lkey };
	struct ibv_send_wr *bad,
			wr = { .wr_id = block,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED,
				.wr.rdma = { (uintptr_t)to->addr + block * BLOCK, to->rkey } };

	check(ibv_post_send(qp[0], &wr, &bad) == 0, "ibv_post_send");
}

#ifndef CORRECTED
/* The bug: a completion is counted, whatever its status is. */
static void
copy_batch(size_t first)
{
	struct ibv_wc wc[BATCH];
	unsigned int ended = 0;

	for (size_t i = 0; i < BATCH; i++)
		post_block(first + i);
	while (ended < BATCH) {
		int n = ibv_poll_cq(cq, BATCH, wc);

		check(n >= 0, "ibv_poll_cq");
		ended += (unsigned int)n;
	}
}
#else
/* A block is done when its completion is a success. After an error the others are posted again, on a new connection. */
static void
copy_batch(size_t first)
{
	bool done[BATCH] = { false };
	unsigned int left = BATCH;

	while (left > 0) {
		struct ibv_wc wc[BATCH];
		unsigned int waiting = left;

		for (size_t i = 0; i < BATCH; i++) {
			if (!done[i])
				post_block(first + i);
		}
		while (waiting > 0) {
			int n = ibv_poll_cq(cq, BATCH, wc);

			check(n >= 0, "ibv_poll_cq");
			for (int i = 0; i < n; i++) {
				if (wc[i].status != IBV_WC_SUCCESS)
					continue;
				done[wc[i].wr_id - first] = true;
				left--;
			}
			waiting -= (unsigned int)n;
		}
		if (left > 0)
			connect_ends();
	}
}
#endif

/* The memory of whole batches with the file in front. */
static void *
read_file(const char *name, size_t *size)
{
	FILE *file = fopen(name, "rb");
	void *memory;

	check(file != NULL && fseek(file, 0, SEEK_END) == 0, name);
	*size = (size_t)ftell(file);
	rewind(file);
	batches = (unsigned int)(*size / ((size_t)BATCH * BLOCK)) + 1;
	memory = calloc(batches, (size_t)BATCH * BLOCK);
	check(memory != NULL && fread(memory, 1, *size, file) == *size, name);
	fclose(file);
	return memory;
}

int
main(int argc, char **argv)
{
	void *source, *target;
	size_t size;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "usage: rdma_copy FROM TO\n");
		return 2;
	}
	source = read_file(argv[1], &size);
	target = calloc(batches, (size_t)BATCH * BLOCK);
	check(target != NULL, "memory");
	open_device();
	from = ibv_reg_mr(pd, source, (size_t)batches * BATCH * BLOCK, IBV_ACCESS_LOCAL_WRITE);
	to = ibv_reg_mr(pd, target, (size_t)batches * BATCH * BLOCK,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	check(from != NULL && to != NULL, "ibv_reg_mr");
	connect_ends();
	for (unsigned int i = 0; i < batches; i++)
		copy_batch((size_t)i * BATCH);
	close_device();
	file = fopen(argv[2], "wb");
	check(file != NULL && fwrite(target, 1, size, file) == size && fclose(file) == 0, argv[2]);
	printf("%zu bytes are copied, connections: %u\n", size, connections);
	free(source);
	free(target);
	return 0;
}
