/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, queues and requests of rdmaprobe, and the steps that its command line names. */

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rdmaprobe.h"

#define SEND_AREA  (2u << 20)
#define RECEIVE_ID 0x8000u /* ids of receives begin here */
#define READ_LEN   2048u
#define FILL_LEN   16u
#define ACCESS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			IBV_ACCESS_REMOTE_ATOMIC)

/* A request of the command line: what is posted, so many times. */
struct request {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t wrong; /* bits of the key that are turned */
	bool beyond;    /* half of it behind the region */
	uint32_t each;  /* 0: the number is a length; else as many requests of this length */
};

static const struct request requests[] = {
	/* clang-format off */
	{ .name = "send",     .opcode = IBV_WR_SEND },
	{ .name = "sendsol",  .opcode = IBV_WR_SEND, .flags = IBV_SEND_SOLICITED },
	{ .name = "sendinl",  .opcode = IBV_WR_SEND, .flags = IBV_SEND_INLINE },
	{ .name = "sendimm",  .opcode = IBV_WR_SEND_WITH_IMM },
	{ .name = "sendinv",  .opcode = IBV_WR_SEND_WITH_INV },
	{ .name = "write",    .opcode = IBV_WR_RDMA_WRITE },
	{ .name = "writeinl", .opcode = IBV_WR_RDMA_WRITE, .flags = IBV_SEND_INLINE },
	{ .name = "writeimm", .opcode = IBV_WR_RDMA_WRITE_WITH_IMM },
	{ .name = "read",     .opcode = IBV_WR_RDMA_READ },
	{ .name = "fadd",     .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ .name = "cswp",     .opcode = IBV_WR_ATOMIC_CMP_AND_SWP },
	{ .name = "badkey",   .opcode = IBV_WR_RDMA_WRITE, .wrong = 0xff },
	{ .name = "badkeyr",  .opcode = IBV_WR_RDMA_READ, .wrong = 0xff },
	{ .name = "oob",      .opcode = IBV_WR_RDMA_WRITE, .beyond = true },
	{ .name = "fill",     .opcode = IBV_WR_SEND, .each = FILL_LEN },
	{ .name = "reads",    .opcode = IBV_WR_RDMA_READ, .each = READ_LEN },
	/* clang-format on */
};

struct ibv_qp *probe_qp;
struct probe_offer probe_peer;

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr, *recv_mr, *send_mr;
static char *region, *recv_area, *send_area;
static int outstanding, errors, flushed;

static char *
area(size_t len)
{
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		probe_die("mmap");
	return memory;
}

static void
make_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = (uint32_t)opt.depth, .max_sge = 1 } };

	srq = ibv_create_srq(pd, &attr);
	if (srq == NULL)
		probe_die("ibv_create_srq");
	printf("%9.3f srq max_wr %u max_sge %u\n", probe_now(), attr.attr.max_wr,
			attr.attr.max_sge);
}

static void
make_memory(struct ibv_context *verbs)
{
	size_t receives = (size_t)opt.depth * (size_t)(opt.size > 0 ? opt.size : 1);

	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, 2 * opt.depth + 16, NULL, NULL, 0);
	if (pd == NULL || cq == NULL)
		probe_die("protection domain and completion queue");
	region = area((size_t)opt.region);
	recv_area = area(receives);
	send_area = area(SEND_AREA);
	mr = ibv_reg_mr(pd, region, (size_t)opt.region, ACCESS);
	recv_mr = ibv_reg_mr(pd, recv_area, receives, IBV_ACCESS_LOCAL_WRITE);
	send_mr = ibv_reg_mr(pd, send_area, SEND_AREA, ACCESS);
	if (mr == NULL || recv_mr == NULL || send_mr == NULL)
		probe_die("memory regions");
	for (size_t i = 0; i < SEND_AREA; i++)
		send_area[i] = (char)(i * 7 + (i >> 8));
	for (long i = 0; i < opt.region; i++)
		region[i] = (char)i;
	if (opt.srq)
		make_srq();
}

void
probe_resources(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	if (pd == NULL)
		make_memory(id->verbs);
	attr = (struct ibv_qp_init_attr){
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = (uint32_t)opt.depth,
				.max_recv_wr = (uint32_t)opt.depth,
				.max_send_sge = 1,
				.max_recv_sge = 1,
				.max_inline_data = (uint32_t)opt.inline_max },
	};
	if (rdma_create_qp(id, pd, &attr) != 0)
		probe_die("rdma_create_qp");
	probe_qp = id->qp;
	printf("%9.3f qpn 0x%x rkey 0x%x max_inline %u\n", probe_now(), probe_qp->qp_num, mr->rkey,
			attr.cap.max_inline_data);
}

struct probe_offer
probe_offered(void)
{
	return (struct probe_offer){ "RP1", mr->rkey, (uintptr_t)region, (uint64_t)opt.region };
}

void
probe_receives(int count)
{
	for (int i = 0; i < count; i++) {
		size_t slot = (size_t)(i % opt.depth) * (size_t)opt.size;
		struct ibv_sge sge = { (uintptr_t)recv_area + slot, (uint32_t)opt.size,
			recv_mr->lkey };
		struct ibv_recv_wr wr = {
			.wr_id = RECEIVE_ID + (uint64_t)i, .sg_list = &sge, .num_sge = opt.size > 0
		};
		struct ibv_recv_wr *bad;

		if (srq != NULL ? ibv_post_srq_recv(srq, &wr, &bad) != 0
				: ibv_post_recv(probe_qp, &wr, &bad) != 0)
			probe_die("post_recv");
	}
	printf("%9.3f posted %d receives of %d bytes%s\n", probe_now(), count, opt.size,
			srq != NULL ? " to the SRQ" : "");
}

void
probe_limit(int limit)
{
	struct ibv_srq_attr attr = { .srq_limit = (uint32_t)limit };

	if (ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT) != 0)
		probe_die("ibv_modify_srq");
}

void
probe_show_qp(void)
{
	const int mask = IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN |
			IBV_QP_DEST_QPN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
			IBV_QP_AV;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	if (ibv_query_qp(probe_qp, &a, mask, &init) != 0) {
		perror("rdmaprobe: ibv_query_qp");
		return;
	}
	printf("%9.3f qp state %d path_mtu %d sq_psn 0x%06x rq_psn 0x%06x dest 0x%x timeout %u retry %u "
	       "rnr_retry %u min_rnr_timer %u rd_atomic %u dest_rd_atomic %u sgid_index %u tclass %u "
	       "hop_limit %u flow_label 0x%x\n",
			probe_now(), a.qp_state, 128 << a.path_mtu, a.sq_psn, a.rq_psn,
			a.dest_qp_num, a.timeout, a.retry_cnt, a.rnr_retry, a.min_rnr_timer,
			a.max_rd_atomic, a.max_dest_rd_atomic, a.ah_attr.grh.sgid_index,
			a.ah_attr.grh.traffic_class, a.ah_attr.grh.hop_limit,
			a.ah_attr.grh.flow_label);
}

static void
take(const struct ibv_wc *wc)
{
	bool receive = wc->wr_id >= RECEIVE_ID;

	if (receive && wc->status == IBV_WC_WR_FLUSH_ERR) {
		flushed++;
		return;
	}
	if (!receive) {
		outstanding--;
		errors += wc->status != IBV_WC_SUCCESS;
	}
	if (opt.verbose || wc->status != IBV_WC_SUCCESS)
		printf("%9.3f %s wr %#lx: %s (%d) vendor %#x opcode %d len %u flags %#x imm %#x\n",
				probe_now(), receive ? "recv" : "sent", (unsigned long)wc->wr_id,
				ibv_wc_status_str(wc->status), wc->status, wc->vendor_err,
				wc->opcode, wc->byte_len, wc->wc_flags, wc->imm_data);
}

int
probe_drain(void)
{
	struct ibv_wc wc[16];
	int taken = ibv_poll_cq(cq, 16, wc);

	for (int i = 0; i < taken; i++)
		take(&wc[i]);
	return taken;
}

int
probe_flushed(void)
{
	int count = flushed;

	flushed = 0;
	return count;
}

int
probe_errors(void)
{
	return errors;
}

static bool
is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static void
post(const struct request *request, uint32_t len)
{
	static uint64_t id = 1;
	uint64_t remote = probe_peer.addr + (request->beyond ? probe_peer.len - len / 2 : 0);
	uint32_t rkey = probe_peer.rkey ^ request->wrong;
	struct ibv_sge sge = { (uintptr_t)send_area, len, send_mr->lkey };
	struct ibv_send_wr wr = { .wr_id = id++,
		.sg_list = &sge,
		.num_sge = len > 0,
		.opcode = request->opcode,
		.send_flags = IBV_SEND_SIGNALED | request->flags,
		.imm_data = htobe32(0x1badcafe) };
	struct ibv_send_wr *bad;

	if (request->opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = rkey;
	if (is_atomic(request->opcode)) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 0x100;
		if (request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			wr.wr.atomic.compare_add += 0x0706050403020100;
		wr.wr.atomic.swap = 0x1122334455667788;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	errno = ibv_post_send(probe_qp, &wr, &bad);
	if (errno != 0)
		probe_die("ibv_post_send");
	outstanding++;
}

static const struct request *
find_request(const char *name)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(requests[i].name, name) == 0)
			return &requests[i];
	}
	return NULL;
}

static void
begin(const char *name, uint32_t number)
{
	const struct request *request = find_request(name);

	if (request == NULL && strcmp(name, "sleep") == 0) {
		probe_sleep((int)number);
	} else if (request == NULL && strcmp(name, "flush") != 0) {
		fprintf(stderr, "rdmaprobe: unknown step %s\n", name);
		exit(2);
	} else if (request != NULL && request->each > 0) {
		for (uint32_t i = 0; i < number; i++)
			post(request, request->each);
	} else if (request != NULL) {
		post(request, is_atomic(request->opcode) ? (uint32_t)sizeof(uint64_t) : number);
	}
}

void
probe_step(const char *step)
{
	const char *colon = strchr(step, ':');
	double since = probe_now();
	int before = errors;
	uint64_t original;
	char name[32];

	(void)snprintf(name, sizeof(name), "%.*s",
			(int)(colon != NULL ? colon - step : (long)strlen(step)), step);
	begin(name, colon != NULL ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0);
	while (outstanding > 0) {
		if (probe_drain() == 0)
			probe_sleep(0);
	}
	printf("%9.3f step %s: %s in %.3f ms\n", probe_now(), step,
			errors > before ? "FAILED" : "ok", probe_now() - since);
	if (strcmp(name, "fadd") != 0 && strcmp(name, "cswp") != 0)
		return;
	memcpy(&original, send_area, sizeof(original));
	printf("%9.3f original value 0x%016lx\n", probe_now(), (unsigned long)original);
}
