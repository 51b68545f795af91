/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests and receives of any kind. One that is accepted owes a completion, one that is refused has left no trace. */

#include "verbs_world.h"

#define LIST_MAX 6u
#define SGES     33u /**< one more than a queue pair has */

uint64_t
vw_new_request(struct ibv_qp *qp, struct ibv_srq *srq, bool receive, bool signaled)
{
	const uint32_t i = vw.posted++;

	BASE_MUST(i < VW_REQUESTS, "the world has room for all requests of a script");
	vw.requests[i] = (struct vw_request){
		.qp = qp, .srq = srq, .receive = receive, .signaled = signaled
	};
	return VW_COOKIE | i;
}

void
vw_accept(uint64_t wr_id)
{
	vw.requests[(uint32_t)wr_id].state = VW_POSTED;
}

/* A key of memory that is there, that was there, or that never was. */
static uint32_t
key_of(struct vw_dice *dice)
{
	const uint32_t which = vw_draw(dice);
	const struct vw_object *mr = vw_some(VW_MR, (uint8_t)(which >> 8));
	const struct vw_object *mw = vw_some(VW_MW, (uint8_t)(which >> 8));

	switch (which & 31) {
	case 0:
		return 0;
	case 1:
		return vw.dead_key;
	case 2:
		return vw_draw(dice);
	case 3:
	case 4:
	case 5:
	case 6:
		return mw != NULL ? mw->mw->rkey : 0;
	default:
		return mr != NULL ? mr->mr->lkey : 0;
	}
}

/* The key of a window after the next bind, as programs of windows of type 2 choose it. */
static uint32_t
rkey_of(struct vw_dice *dice)
{
	const uint32_t key = key_of(dice);

	return vw_draw(dice) & 7 ? key : ibv_inc_rkey(key);
}

/* Inside the arena, unless the segment is named by its key alone. */
static struct ibv_sge
segment(struct vw_dice *dice, bool wild)
{
	static const uint32_t lengths[] = { 0, 1, 8, 8, 8, 64, 100, 1024, 2000, 4096, 8000 };
	static const uint32_t wilds[] = { UINT32_MAX, 1u << 31, (1u << 31) + 1, 1u << 30 };
	struct ibv_sge sge = { .length = VW_PICK(lengths, vw_draw(dice)), .lkey = key_of(dice) };

	sge.addr = (uintptr_t)vw.arena + (uint64_t)(vw_draw(dice) % 1024) * 8;
	if (wild && vw_draw(dice) % 16 == 0)
		sge.addr = (uint64_t)vw_draw(dice) << 32 | vw_draw(dice);
	if (wild && vw_draw(dice) % 16 == 0)
		sge.length = VW_PICK(wilds, vw_draw(dice));
	return sge;
}

static int
segments(struct ibv_sge sges[static SGES], struct vw_dice *dice, bool wild)
{
	static const int numbers[] = { 1, 1, 1, 1, 1, 1, 1, 0, 2, 3, 4, 32, 33, 1000, -1,
		INT32_MIN };

	for (unsigned int i = 0; i < SGES; i++)
		sges[i] = segment(dice, wild);
	return VW_PICK(numbers, vw_draw(dice));
}

static uint64_t
remote_addr(struct vw_dice *dice)
{
	const uint32_t at = vw_draw(dice);

	if (at % 32 == 0)
		return (uint64_t)at << 32 | vw_draw(dice);
	return (uintptr_t)vw.arena + (at % 64 == 1 ? 3 : at % 1024 * 8);
}

static struct ibv_mw_bind_info
binding(struct vw_dice *dice)
{
	const struct vw_object *mr = vw_some(VW_MR, (uint8_t)vw_draw(dice));
	struct ibv_mw_bind_info info = {
		.mr = mr != NULL && vw_draw(dice) % 16 != 0 ? mr->mr : NULL,
		.addr = remote_addr(dice),
		.length = vw_draw(dice) % 4 == 0 ? 0 : vw_draw(dice) % 8192,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};

	if (info.mr != NULL && vw_draw(dice) % 2 == 0) {
		info.addr = (uintptr_t)info.mr->addr;
		info.length = info.mr->length;
	}
	if (vw_draw(dice) % 8 == 0)
		info.mw_access_flags = vw_draw(dice) & 0xff;
	return info;
}

static enum ibv_wr_opcode
opcode_of(struct vw_dice *dice, uint8_t first)
{
	const uint32_t number = vw_draw(dice);

	if (first < 0x80)
		return (enum ibv_wr_opcode)(first % 10);
	return number % 64 == 0 ? (enum ibv_wr_opcode)number : (enum ibv_wr_opcode)(number % 16);
}

/* One request; a bind names a window, if there is one. */
static void
make_request(struct ibv_send_wr *wr, struct ibv_sge *sges, struct vw_dice *dice, const uint8_t *r)
{
	const struct vw_object *mw = vw_some(VW_MW, (uint8_t)vw_draw(dice));
	unsigned int flags = r[3] < 0xf0 ? r[3] & 15u : vw_draw(dice);

	*wr = (struct ibv_send_wr){
		.opcode = opcode_of(dice, r[2]),
		.send_flags = flags,
		.sg_list = sges,
		.imm_data = rkey_of(dice),
		.wr.rdma = { .remote_addr = remote_addr(dice), .rkey = rkey_of(dice) },
	};
	wr->num_sge = segments(sges, dice, !(flags & IBV_SEND_INLINE));
	if (wr->num_sge == 0 && flags & 1)
		wr->sg_list = NULL;
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.compare_add = vw_draw(dice);
		wr->wr.atomic.swap = vw_draw(dice);
		wr->wr.atomic.rkey = key_of(dice);
	}
	if (wr->opcode == IBV_WR_DRIVER1 || (wr->opcode == IBV_WR_BIND_MW && mw == NULL))
		wr->opcode = IBV_WR_SEND;
	if (wr->opcode == IBV_WR_BIND_MW) {
		wr->bind_mw.mw = mw->mw;
		wr->bind_mw.rkey = vw_draw(dice) & 7 ? ibv_inc_rkey(mw->mw->rkey) : rkey_of(dice);
		wr->bind_mw.bind_info = binding(dice);
	}
}

/* Those in front of the one that was refused are posted, and no others. */
static void
judge_send(const struct ibv_send_wr *wr, unsigned int n, int rc, const struct ibv_send_wr *bad)
{
	unsigned int posted = 0;

	for (; posted < n && (rc == 0 || &wr[posted] != bad); posted++)
		vw_accept(wr[posted].wr_id);
	BASE_MUST(rc == 0 || posted < n, "a refused request is one of the list");
}

static bool
signals_all(const struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp((struct ibv_qp *)(uintptr_t)qp, &attr, 0, &init) == 0 &&
			init.sq_sig_all;
}

void
vw_post_send(const uint8_t *r)
{
	static struct ibv_sge sges[LIST_MAX][SGES];
	const struct vw_object *object = vw_some(VW_QP, r[1]);
	struct vw_dice dice = vw_dice(r);
	const unsigned int n = 1 + r[4] % LIST_MAX;
	struct ibv_send_wr wr[LIST_MAX], *bad = NULL;
	bool all;
	int rc;

	if (object == NULL)
		return;
	all = signals_all(object->qp);
	for (unsigned int i = 0; i < n; i++) {
		make_request(&wr[i], sges[i], &dice, r);
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].wr_id = vw_new_request(object->qp, NULL, false,
				all || (wr[i].send_flags & IBV_SEND_SIGNALED));
	}
	rc = vw_result(ibv_post_send(object->qp, wr, &bad));
	judge_send(wr, n, rc, bad);
}

static unsigned int
make_receives(struct ibv_recv_wr wr[static LIST_MAX], struct ibv_qp *qp, struct ibv_srq *srq,
		const uint8_t *r)
{
	static struct ibv_sge sges[LIST_MAX][SGES];
	struct vw_dice dice = vw_dice(r);
	const unsigned int n = 1 + r[4] % LIST_MAX;

	for (unsigned int i = 0; i < n; i++) {
		wr[i] = (struct ibv_recv_wr){
			.sg_list = sges[i],
			.num_sge = segments(sges[i], &dice, true),
			.next = i + 1 < n ? &wr[i + 1] : NULL,
			.wr_id = vw_new_request(qp, srq, true, true),
		};
	}
	return n;
}

static void
judge_receives(const struct ibv_recv_wr *wr, unsigned int n, int rc, const struct ibv_recv_wr *bad)
{
	unsigned int posted = 0;

	for (; posted < n && (rc == 0 || &wr[posted] != bad); posted++)
		vw_accept(wr[posted].wr_id);
	BASE_MUST(rc == 0 || posted < n, "a refused receive is one of the list");
}

void
vw_post_recv(const uint8_t *r)
{
	const struct vw_object *object = vw_some(VW_QP, r[1]);
	struct ibv_recv_wr wr[LIST_MAX], *bad = NULL;
	unsigned int n;
	int rc;

	if (object == NULL)
		return;
	n = make_receives(wr, object->qp, NULL, r);
	rc = vw_result(ibv_post_recv(object->qp, wr, &bad));
	BASE_MUST(rc != 0 || object->qp->srq == NULL, "one of a shared queue takes no receives");
	judge_receives(wr, n, rc, bad);
}

void
vw_post_srq_recv(const uint8_t *r)
{
	const struct vw_object *object = vw_some(VW_SRQ, r[1]);
	struct ibv_recv_wr wr[LIST_MAX], *bad = NULL;
	unsigned int n;
	int rc;

	if (object == NULL)
		return;
	n = make_receives(wr, NULL, object->srq, r);
	rc = vw_result(ibv_post_srq_recv(object->srq, wr, &bad));
	judge_receives(wr, n, rc, bad);
}

void
vw_bind(const uint8_t *r)
{
	const struct vw_object *qp = vw_some(VW_QP, r[1]);
	const struct vw_object *mw = vw_some(VW_MW, r[2]);
	struct vw_dice dice = vw_dice(r);
	struct ibv_mw_bind bind = { .send_flags = r[3] < 0xf0 ? r[3] & 7u : r[4],
		.bind_info = binding(&dice) };
	uint32_t key;
	int rc;

	if (qp == NULL || mw == NULL)
		return;
	bind.wr_id = vw_new_request(qp->qp, NULL, false,
			signals_all(qp->qp) || (bind.send_flags & IBV_SEND_SIGNALED));
	key = mw->mw->rkey;
	rc = vw_result(ibv_bind_mw(qp->qp, mw->mw, &bind));
	if (rc == 0)
		vw_accept(bind.wr_id);
	else
		BASE_MUST(mw->mw->rkey == key, "a bind that is refused leaves the key");
}

/* ---- ibv_wr_*() ---- */

static bool
start_request(struct ibv_qp_ex *ex, struct vw_dice *dice, uint32_t which)
{
	const struct vw_object *mw = vw_some(VW_MW, (uint8_t)vw_draw(dice));
	const uint64_t addr = remote_addr(dice);
	const uint32_t key = rkey_of(dice);
	struct ibv_mw_bind_info info;

	switch (which % 11) {
	case 0:
		ibv_wr_send(ex);
		return true;
	case 1:
		ibv_wr_send_imm(ex, key);
		return true;
	case 2:
		ibv_wr_send_inv(ex, key);
		return true;
	case 3:
		ibv_wr_rdma_write(ex, key, addr);
		return true;
	case 4:
		ibv_wr_rdma_write_imm(ex, key, addr, key);
		return true;
	case 5:
		ibv_wr_rdma_read(ex, key, addr);
		return true;
	case 6:
		ibv_wr_atomic_cmp_swp(ex, key, addr, vw_draw(dice), vw_draw(dice));
		return true;
	case 7:
		ibv_wr_atomic_fetch_add(ex, key, addr, vw_draw(dice));
		return true;
	case 8:
		if (ex->wr_local_inv == NULL)
			return false;
		ibv_wr_local_inv(ex, key);
		return true;
	default:
		if (mw == NULL)
			return false;
		info = binding(dice);
		ibv_wr_bind_mw(ex, mw->mw, ibv_inc_rkey(mw->mw->rkey), &info);
		return true;
	}
}

static void
set_data(struct ibv_qp_ex *ex, struct vw_dice *dice)
{
	static struct ibv_sge sges[SGES];
	struct ibv_data_buf bufs[4];
	struct ibv_sge sge;
	int n;

	switch (vw_draw(dice) % 6) {
	case 0:
		break;
	case 1:
		n = segments(sges, dice, true);
		ibv_wr_set_sge_list(ex, (size_t)RTE_MAX(n, 0), sges);
		break;
	case 2:
		ibv_wr_set_inline_data(ex, vw.arena + vw_draw(dice) % 1024, vw_draw(dice) % 1200);
		break;
	case 3:
		for (unsigned int i = 0; i < RTE_DIM(bufs); i++)
			bufs[i] = (struct ibv_data_buf){ .addr = vw.arena + i,
				.length = vw_draw(dice) % 200 };
		ibv_wr_set_inline_data_list(ex, vw_draw(dice) % (RTE_DIM(bufs) + 1), bufs);
		break;
	default:
		sge = segment(dice, true);
		ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
		break;
	}
}

/*
 * Where a batch is refused, those in front of the bad one may be posted: a completion of one that was not comes never. So they
 * owe none, and may have one.
 */
void
vw_wr(const uint8_t *r)
{
	const struct vw_object *object = vw_some(VW_QP, r[1]);
	struct vw_dice dice = vw_dice(r);
	uint64_t ids[LIST_MAX];
	unsigned int n = 0;
	bool all;

	if (object == NULL || object->ex == NULL)
		return;
	all = signals_all(object->qp);
	ibv_wr_start(object->ex);
	for (unsigned int i = 0; i < 1 + r[4] % LIST_MAX; i++) {
		object->ex->wr_flags = r[3] < 0xf0 ? r[3] & 15u : vw_draw(&dice);
		ids[n] = vw_new_request(object->qp, NULL, false,
				all || (object->ex->wr_flags & IBV_SEND_SIGNALED));
		object->ex->wr_id = ids[n];
		if (vw_draw(&dice) % 64 == 0)
			set_data(object->ex, &dice);
		if (!start_request(object->ex, &dice, i == 0 ? r[2] : vw_draw(&dice)))
			continue;
		n++;
		set_data(object->ex, &dice);
		if (vw_draw(&dice) % 16 == 0)
			set_data(object->ex, &dice);
	}
	if (r[5] >= 0xf0) {
		ibv_wr_abort(object->ex);
		return;
	}
	if (vw_result(ibv_wr_complete(object->ex)) == 0) {
		for (unsigned int i = 0; i < n; i++)
			vw_accept(ids[i]);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		vw_accept(ids[i]);
		vw.requests[(uint32_t)ids[i]].signaled = false;
		vw.requests[(uint32_t)ids[i]].unsure = true;
	}
}
