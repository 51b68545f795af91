/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls ibv_wr_*(). Between start and complete requests are collected, with their segments and the bytes that they carry
 * in themselves, and the queue pair is locked; then all of them are posted in order, or none.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "verbs/verbs_front.h"

#define OFFERED                                                                        \
	((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |   \
			IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |           \
			IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
			IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_BIND_MW | \
			IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV))

/** A request that is not posted yet. */
struct request {
	struct roce_wr wr;
	struct ibv_mw *mw; /**< of a bind */
	uint32_t rkey;     /**< of a bind to a window of type 2 */
	struct ibv_mw_bind_info info;
	struct roce_mw_bind bind;
	uint32_t first_sge;
};

/** An array that grows. */
struct array {
	void *at;
	uint32_t used, room;
};

struct verbs_batch {
	struct array requests; /**< struct request */
	struct array sges; /**< struct roce_sge; of inline bytes addr is an offset until they are posted */
	struct array bytes; /**< uint8_t */
	struct array wrs;   /**< struct roce_wr, when they are posted */
	int rc;             /**< why it can not be completed */
};

static struct verbs_qp *
qp_of(struct ibv_qp_ex *qp)
{
	return (struct verbs_qp *)(void *)qp;
}

/* Room for @p n more elements. @return the first; NULL: no memory. */
static void *
grow(struct array *array, uint32_t n, size_t size)
{
	uint32_t used = array->used;

	if (n > array->room - used) {
		size_t room = 2 * ((size_t)used + n);
		void *at = room > UINT32_MAX ? NULL : realloc(array->at, room * size);

		if (at == NULL)
			return NULL;
		array->at = at;
		array->room = (uint32_t)room;
	}
	array->used = used + n;
	return (uint8_t *)array->at + used * size;
}

static struct request *
last_of(struct verbs_batch *batch)
{
	if (batch->rc != 0 || batch->requests.used == 0)
		return NULL;
	return (struct request *)batch->requests.at + batch->requests.used - 1;
}

static void
fail(struct verbs_batch *batch, int rc)
{
	if (batch->rc == 0)
		batch->rc = rc;
}

/* A new request with what ibv_qp_ex says. */
static struct request *
add(struct ibv_qp_ex *ex, enum roce_wr_opcode opcode)
{
	struct verbs_qp *qp = qp_of(ex);
	struct verbs_batch *batch = qp->batch;
	int flags = verbs_wr_flags(qp, ex->wr_flags);
	struct request *request;

	if (batch->rc != 0)
		return NULL;
	if (flags < 0) {
		fail(batch, -EINVAL);
		return NULL;
	}
	request = grow(&batch->requests, 1, sizeof(*request));
	if (request == NULL) {
		fail(batch, -ENOMEM);
		return NULL;
	}
	*request = (struct request){
		.wr = { .wr_id = ex->wr_id, .opcode = (uint8_t)opcode, .flags = (uint8_t)flags },
		.first_sge = batch->sges.used,
	};
	/* Only the call that gives the bytes makes it one that carries them. */
	request->wr.flags &= (uint8_t)~ROCE_WR_INLINE;
	return request;
}

static void
add_remote(struct ibv_qp_ex *ex, enum roce_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr,
		uint32_t imm)
{
	struct request *request = add(ex, opcode);

	if (request == NULL)
		return;
	request->wr.rkey = rkey;
	request->wr.remote_addr = remote_addr;
	request->wr.imm = imm;
}

static void
add_atomic(struct ibv_qp_ex *ex, enum roce_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr,
		uint64_t compare_add, uint64_t swap)
{
	struct request *request = add(ex, opcode);

	if (request == NULL)
		return;
	request->wr.rkey = rkey;
	request->wr.remote_addr = remote_addr;
	request->wr.compare_add = compare_add;
	request->wr.swap = swap;
}

static void
wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare,
		uint64_t swap)
{
	add_atomic(qp, ROCE_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void
wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t value)
{
	add_atomic(qp, ROCE_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, value, 0);
}

static void
wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		const struct ibv_mw_bind_info *info)
{
	struct request *request = add(qp, ROCE_WR_BIND_MW);

	if (request == NULL)
		return;
	request->mw = mw;
	request->rkey = rkey;
	request->info = *info;
}

static void
wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_remote(qp, ROCE_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void
wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	add_remote(qp, ROCE_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void
wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	add_remote(qp, ROCE_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm);
}

static void
wr_send(struct ibv_qp_ex *qp)
{
	add_remote(qp, ROCE_WR_SEND, 0, 0, 0);
}

static void
wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	add_remote(qp, ROCE_WR_SEND_WITH_IMM, 0, 0, imm);
}

static void
wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	add_remote(qp, ROCE_WR_SEND_WITH_INV, 0, 0, htonl(rkey));
}

static void
wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	add_remote(qp, ROCE_WR_LOCAL_INV, 0, 0, htonl(rkey));
}

/* The data of the last call count: of an earlier one nothing is left. */
static void
start_data(const struct verbs_batch *batch, struct request *request)
{
	request->first_sge = batch->sges.used;
	request->wr.num_sge = 0;
	request->wr.flags &= (uint8_t)~ROCE_WR_INLINE;
}

static void
wr_set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct verbs_batch *batch = qp_of(ex)->batch;
	struct request *request = last_of(batch);
	struct roce_sge *sges;

	if (request == NULL)
		return;
	start_data(batch, request);
	if (n == 0)
		return;
	if (n > qp_of(ex)->cap.max_send_sge) {
		fail(batch, -EINVAL);
		return;
	}
	sges = grow(&batch->sges, (uint32_t)n, sizeof(*sges));
	if (sges == NULL) {
		fail(batch, -ENOMEM);
		return;
	}
	memcpy(sges, list, n * sizeof(*sges));
	request->wr.num_sge = (uint32_t)n;
}

static void
wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

/* The bytes are copied at once: the program may use its memory again. */
static void
wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct verbs_batch *batch = qp_of(ex)->batch;
	struct request *request = last_of(batch);
	uint32_t first = batch->bytes.used;
	struct roce_sge *sge;

	if (request == NULL)
		return;
	start_data(batch, request);
	request->wr.flags |= ROCE_WR_INLINE;
	for (size_t i = 0; i < n; i++) {
		size_t length = list[i].length;
		void *to;

		if (length > qp_of(ex)->cap.max_inline_data - (batch->bytes.used - first)) {
			fail(batch, -EINVAL);
			return;
		}
		to = length == 0 ? NULL : grow(&batch->bytes, (uint32_t)length, 1);
		if (to != NULL)
			memcpy(to, list[i].addr, length);
		else if (length != 0)
			fail(batch, -ENOMEM);
	}
	if (batch->rc != 0 || batch->bytes.used == first)
		return;
	sge = grow(&batch->sges, 1, sizeof(*sge));
	if (sge == NULL) {
		fail(batch, -ENOMEM);
		return;
	}
	*sge = (struct roce_sge){ .addr = first, .length = batch->bytes.used - first };
	request->wr.num_sge = 1;
}

static void
wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void
clear(struct verbs_batch *batch)
{
	batch->requests.used = 0;
	batch->sges.used = 0;
	batch->bytes.used = 0;
	batch->wrs.used = 0;
	batch->rc = 0;
}

static void
wr_start(struct ibv_qp_ex *ex)
{
	struct verbs_qp *qp = qp_of(ex);

	pthread_mutex_lock(&qp->send_lock);
	clear(qp->batch);
}

static void
wr_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&qp_of(ex)->send_lock);
}

/* The request as libroce has it; once for each. */
static int
prepare(const struct verbs_batch *batch, struct request *request)
{
	struct roce_sge *sges;

	if (request->wr.opcode == ROCE_WR_BIND_MW) {
		request->wr.bind = &request->bind;
		return verbs_bind_of(request->mw, request->rkey, &request->info, &request->bind);
	}
	if (request->wr.num_sge > 0) {
		sges = (struct roce_sge *)batch->sges.at + request->first_sge;
		if (request->wr.flags & ROCE_WR_INLINE)
			sges->addr += (uintptr_t)batch->bytes.at;
		request->wr.sg = sges;
	}
	return 0;
}

/* Keys of windows that were bound. */
static void
tell_windows(const struct verbs_batch *batch)
{
	const struct request *request = batch->requests.at;

	for (uint32_t i = 0; i < batch->requests.used; i++, request++) {
		if (request->wr.opcode == ROCE_WR_BIND_MW)
			verbs_bind_posted(request->mw, &request->bind);
	}
}

static int
post_all(struct verbs_qp *qp)
{
	struct verbs_batch *batch = qp->batch;
	struct request *request = batch->requests.at;
	uint32_t n = batch->requests.used;
	int rc = verbs_is_forked() ? -ENODEV : batch->rc;
	struct roce_wr *wr;

	if (rc != 0 || n == 0)
		return rc;
	wr = grow(&batch->wrs, n, sizeof(*wr));
	if (wr == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		rc = prepare(batch, &request[i]);
		if (rc != 0)
			return rc;
		wr[i] = request[i].wr;
	}
	rc = roce_qp_post_list(qp->roce, wr, n);
	if (rc == 0)
		tell_windows(batch);
	return rc;
}

static int
wr_complete(struct ibv_qp_ex *ex)
{
	struct verbs_qp *qp = qp_of(ex);
	int rc = post_all(qp);

	pthread_mutex_unlock(&qp->send_lock);
	return verbs_errno(rc);
}

int
verbs_wr_init(struct verbs_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex = &qp->ex;

	if (send_ops & ~OFFERED)
		return -EOPNOTSUPP;
	qp->batch = calloc(1, sizeof(*qp->batch));
	if (qp->batch == NULL)
		return -ENOMEM;
	qp->has_ex = true;
	ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	ex->wr_bind_mw = wr_bind_mw;
	ex->wr_local_inv = wr_local_inv;
	ex->wr_rdma_read = wr_rdma_read;
	ex->wr_rdma_write = wr_rdma_write;
	ex->wr_rdma_write_imm = wr_rdma_write_imm;
	ex->wr_send = wr_send;
	ex->wr_send_imm = wr_send_imm;
	ex->wr_send_inv = wr_send_inv;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	return 0;
}

void
verbs_wr_fini(struct verbs_qp *qp)
{
	if (qp->batch == NULL)
		return;
	free(qp->batch->requests.at);
	free(qp->batch->sges.at);
	free(qp->batch->bytes.at);
	free(qp->batch->wrs.at);
	free(qp->batch);
}
