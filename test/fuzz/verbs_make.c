/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects of verbs, made with any arguments and ended in any order. */

#include <fcntl.h>

#include "verbs_world.h"

static void *
any_of(enum vw_kind kind, uint8_t slot)
{
	const struct vw_object *object = vw_some(kind, slot);

	return object != NULL ? object->any : NULL;
}

/* A domain or a parent domain: NULL only where there is none. */
static struct ibv_pd *
some_pd(uint8_t slot)
{
	return any_of(VW_PD, slot);
}

static void
make_pd(struct vw_object *to, const uint8_t *r)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = some_pd(r[3]),
		.td = r[4] & 1 ? any_of(VW_TD, r[5]) : NULL,
		.comp_mask = r[6] & 7 ? 0 : base_u16(r + 8),
	};

	if (r[2] & 3 || attr.pd == NULL) {
		*to = (struct vw_object){ .pd = vw_given(ibv_alloc_pd(vw.context)) };
		return;
	}
	/* No allocators. */
	attr.comp_mask &= ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	*to = (struct vw_object){ .pd = vw_given(ibv_alloc_parent_domain(vw.context, &attr)),
		.uses = { attr.pd, attr.td } };
}

static void
make_td(struct vw_object *to, const uint8_t *r)
{
	struct ibv_td_init_attr attr = { .comp_mask = r[2] & 7 ? 0 : r[3] };

	*to = (struct vw_object){ .td = vw_given(ibv_alloc_td(vw.context, &attr)) };
}

static void
make_channel(struct vw_object *to, const uint8_t *r)
{
	*to = (struct vw_object){ .channel = vw_given(ibv_create_comp_channel(vw.context)) };
	if (to->any != NULL)
		(void)fcntl(to->channel->fd, F_SETFL, O_NONBLOCK);
}

/* Without `tight` only sizes that are refused, or more than is ever posted. */
static int
cq_size(uint8_t byte)
{
	static const int odd[] = { 0, -1, INT32_MIN, INT32_MAX, 1 << 22, (1 << 22) + 1 };
	static const int small[] = { 1, 2, 3, 4, 8, 16, 64 };

	if (byte >= 0xf8)
		return VW_PICK(odd, byte);
	return vw.tight ? VW_PICK(small, byte) : (int)VW_ROOMY + byte % 3;
}

static struct ibv_cq *
make_plain_cq(struct ibv_comp_channel *channel, const uint8_t *r)
{
	const int vector = r[4] < 0xf0 ? 0 : (int8_t)r[5];

	return ibv_create_cq(vw.context, cq_size(r[2]), &vw, channel, vector);
}

static struct ibv_cq *
make_extended_cq(struct vw_object *to, struct ibv_comp_channel *channel, const uint8_t *r)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cq_size(r[2]),
		.cq_context = &vw,
		.channel = channel,
		.comp_vector = r[4] < 0xf0 ? 0 : r[5],
		.wc_flags = r[4] & 1 ? IBV_WC_STANDARD_FLAGS : (uint64_t)base_u16(r + 8),
		.comp_mask = r[6] & 3,
		.flags = r[7] & 7,
		.parent_domain = r[6] & 2 ? some_pd(r[10]) : NULL,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(vw.context, &attr);

	to->extended = cq != NULL;
	to->uses[1] = attr.parent_domain;
	return cq != NULL ? ibv_cq_ex_to_cq(cq) : NULL;
}

static void
make_cq(struct vw_object *to, const uint8_t *r)
{
	struct ibv_comp_channel *channel = r[3] & 1 ? any_of(VW_CHANNEL, r[3] >> 1) : NULL;

	*to = (struct vw_object){ .uses = { channel } };
	errno = 0;
	to->cq = vw_given(r[6] & 4 ? make_plain_cq(channel, r) : make_extended_cq(to, channel, r));
}

static void
make_mr(struct vw_object *to, const uint8_t *r)
{
	static const unsigned int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
	struct ibv_pd *pd = some_pd(r[1]);
	const size_t start = base_u16(r + 3) % VW_ARENA;
	size_t length = base_u16(r + 5) % (VW_ARENA + 1);
	unsigned int access = r[2] & 1 ? all : (unsigned int)(r[7] | r[8] << 8);
	uint8_t *addr = vw.arena + start;

	if (r[2] & 2) {
		addr = vw.arena;
		length = VW_ARENA;
	}
	/* Memory that is there: a peer that is granted more would write to it. */
	if (length > VW_ARENA - (size_t)(addr - vw.arena))
		length = VW_ARENA - (size_t)(addr - vw.arena);
	if (r[2] >= 0xf8)
		length = SIZE_MAX - r[9];
	if (pd == NULL)
		return;
	*to = (struct vw_object){ .uses = { pd } };
	errno = 0;
	if (r[2] & 4)
		to->mr = vw_given(ibv_reg_mr_iova2(pd, addr, length,
				(uintptr_t)addr + (r[10] & 1 ? r[11] : 0), access));
	else
		to->mr = vw_given(ibv_reg_mr(pd, addr, length, (int)access));
}

static void
make_mw(struct vw_object *to, const uint8_t *r)
{
	struct ibv_pd *pd = some_pd(r[1]);

	if (pd == NULL)
		return;
	errno = 0;
	*to = (struct vw_object){ .mw = vw_given(ibv_alloc_mw(pd, (enum ibv_mw_type)(r[2] % 4))),
		.uses = { pd } };
}

/* A number that an attribute may be: mostly small. */
static uint32_t
capacity(uint8_t byte)
{
	static const uint32_t odd[] = { 0, 33, 1 << 17, (1 << 17) + 1, 1 << 20, 0x10001, INT32_MAX,
		UINT32_MAX };

	return byte < 0xe0 ? 1u + byte % 32 : VW_PICK(odd, byte);
}

static void
make_srq(struct vw_object *to, const uint8_t *r)
{
	struct ibv_pd *pd = some_pd(r[1]);
	struct ibv_srq_init_attr init = {
		.srq_context = &vw,
		.attr = { .max_wr = capacity(r[3]), .max_sge = capacity(r[4]), .srq_limit = r[5] }
	};
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = &vw,
		.attr = init.attr,
		.comp_mask = r[6] ? IBV_SRQ_INIT_ATTR_PD : r[7],
		.srq_type = (enum ibv_srq_type)(r[8] & 3),
		.pd = pd,
	};

	if (pd == NULL)
		return;
	*to = (struct vw_object){ .uses = { pd } };
	errno = 0;
	if (r[2] & 1)
		to->srq = vw_given(ibv_create_srq(pd, &init));
	else
		to->srq = vw_given(ibv_create_srq_ex(vw.context, &ex));
}

static struct ibv_qp_init_attr_ex
qp_attr(const uint8_t *r)
{
	return (struct ibv_qp_init_attr_ex){
		.qp_context = &vw,
		.send_cq = r[2] < 0xfc ? any_of(VW_CQ, r[2]) : NULL,
		.recv_cq = r[3] < 0xfc ? any_of(VW_CQ, r[3]) : NULL,
		.srq = r[4] & 1 ? any_of(VW_SRQ, r[4] >> 1) : NULL,
		.cap = { .max_send_wr = capacity(r[5]),
				.max_recv_wr = capacity(r[6]),
				.max_send_sge = capacity(r[7]),
				.max_recv_sge = capacity(r[8]),
				.max_inline_data = r[9] < 0xf0 ? r[9] * 8u : capacity(r[9]) },
		.qp_type = r[10] < 0xf0 ? IBV_QPT_RC : (enum ibv_qp_type)(r[10] - 0xf0),
		.sq_sig_all = r[11] >> 6,
		.comp_mask = (r[12] != 0xef ? IBV_QP_INIT_ATTR_PD : 0) |
				(r[12] & 1 ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0) |
				(r[12] >= 0xf0 ? base_u16(r + 13) : 0),
		.pd = some_pd(r[1]),
		.create_flags = r[13],
		.send_ops_flags = r[14] & 1 ? r[15] & 0x7f : base_u16(r + 14),
	};
}

static void
make_qp(struct vw_object *to, const uint8_t *r)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(r);
	struct ibv_qp_init_attr plain = {
		.qp_context = &vw,
		.send_cq = attr.send_cq,
		.recv_cq = attr.recv_cq,
		.srq = attr.srq,
		.cap = attr.cap,
		.qp_type = attr.qp_type,
		.sq_sig_all = attr.sq_sig_all,
	};
	const struct ibv_qp_cap asked = attr.cap;

	if (attr.pd == NULL)
		return;
	*to = (struct vw_object){ .uses = { attr.pd, attr.send_cq, attr.recv_cq, attr.srq } };
	errno = 0;
	if (r[12] & 2)
		to->qp = vw_given(ibv_create_qp(attr.pd, &plain));
	else
		to->qp = vw_given(ibv_create_qp_ex(vw.context, &attr));
	if (to->qp == NULL) {
		BASE_MUST(base_same_bytes(&asked, &attr.cap, sizeof(asked)) &&
						base_same_bytes(&asked, &plain.cap, sizeof(asked)),
				"a queue pair that is refused has no attributes");
		return;
	}
	to->ex = ibv_qp_to_qp_ex(to->qp);
	attr.cap = r[12] & 2 ? plain.cap : attr.cap;
	BASE_MUST(attr.cap.max_send_wr >= asked.max_send_wr &&
					attr.cap.max_send_sge >= asked.max_send_sge &&
					attr.cap.max_inline_data >= asked.max_inline_data,
			"a queue pair has at least the room that was asked for");
}

static void
make_ah(struct vw_object *to, const uint8_t *r)
{
	struct ibv_pd *pd = some_pd(r[1]);
	struct ibv_ah_attr attr = {
		.is_global = r[2] & 1,
		.port_num = r[3] < 0xf0 ? 1 : r[4],
		.grh = { .sgid_index = r[5] & 7 ? 0 : r[6] },
	};

	if (pd == NULL)
		return;
	errno = 0;
	*to = (struct vw_object){ .ah = vw_given(ibv_create_ah(pd, &attr)), .uses = { pd } };
}

void
vw_make(enum vw_kind kind, const uint8_t *r)
{
	static void (*const make[VW_KINDS])(struct vw_object * to, const uint8_t *r) = {
		[VW_PD] = make_pd,
		[VW_TD] = make_td,
		[VW_CHANNEL] = make_channel,
		[VW_CQ] = make_cq,
		[VW_MR] = make_mr,
		[VW_MW] = make_mw,
		[VW_SRQ] = make_srq,
		[VW_QP] = make_qp,
		[VW_AH] = make_ah,
	};
	struct vw_object *to = NULL;

	for (unsigned int i = 0; i < VW_SLOTS && to == NULL; i++) {
		if (vw.objects[kind][i].any == NULL)
			to = &vw.objects[kind][i];
	}
	if (to == NULL)
		return;
	errno = 0;
	make[kind](to, r);
	if (to->any == NULL)
		*to = (struct vw_object){ 0 };
}

static bool
is_used(const void *any)
{
	for (unsigned int i = 0; i < VW_KINDS * VW_SLOTS; i++) {
		const struct vw_object *object = &vw.objects[i / VW_SLOTS][i % VW_SLOTS];

		if (object->any == NULL)
			continue;
		for (unsigned int k = 0; k < RTE_DIM(object->uses); k++) {
			if (object->uses[k] == any)
				return true;
		}
	}
	return false;
}

static int
destroy(enum vw_kind kind, struct vw_object *object)
{
	switch (kind) {
	case VW_PD:
		return ibv_dealloc_pd(object->pd);
	case VW_TD:
		return ibv_dealloc_td(object->td);
	case VW_CHANNEL:
		return ibv_destroy_comp_channel(object->channel);
	case VW_CQ:
		return ibv_destroy_cq(object->cq);
	case VW_MR:
		return ibv_dereg_mr(object->mr);
	case VW_MW:
		return ibv_dealloc_mw(object->mw);
	case VW_SRQ:
		return ibv_destroy_srq(object->srq);
	case VW_QP:
		return ibv_destroy_qp(object->qp);
	default:
		return ibv_destroy_ah(object->ah);
	}
}

/* A window may be bound to a region, or not any more: then either is right. */
static bool
may_be_bound(enum vw_kind kind)
{
	return kind == VW_MR && vw_some(VW_MW, 0) != NULL;
}

void
vw_end(enum vw_kind kind, struct vw_object *object)
{
	const bool used = is_used(object->any);
	uint32_t key = vw.dead_key;
	int rc;

	if (kind == VW_MR)
		key = object->mr->rkey;
	if (kind == VW_MW)
		key = object->mw->rkey;
	/* Events that were fetched have to be acknowledged first, or the call waits for that. */
	if (!used)
		vw_ack_all(object);
	if (kind == VW_QP)
		vw_forget(object->qp);
	rc = vw_result(destroy(kind, object));
	BASE_MUST(rc == 0 || rc == EBUSY, "an object ends, or is busy");
	BASE_MUST(rc == EBUSY || !used, "an object that another one uses is busy");
	BASE_MUST(rc == 0 || used || may_be_bound(kind), "an object that nothing uses ends");
	if (rc == 0) {
		vw.dead_key = key;
		*object = (struct vw_object){ 0 };
	}
}

void
vw_make_pair(void)
{
	static const uint8_t pd[BASE_RECORD] = { 0, 0, 1 };
	static const uint8_t channel[BASE_RECORD];
	static const uint8_t cq[BASE_RECORD] = { 0, 0, 6, 1, 1, 0, 4 };
	static const uint8_t mr[BASE_RECORD] = { 0, 0, 3 };
	static const uint8_t qp[BASE_RECORD] = { 0, 0, 0, 0, 0, 15, 15, 3, 3, 16, 0, 0, 1, 0, 1,
		0x7f };
	static const uint8_t both[BASE_RECORD] = { 0, 0, 1 };

	vw_make(VW_PD, pd);
	vw_make(VW_CHANNEL, channel);
	vw_make(VW_CQ, cq);
	vw_make(VW_MR, mr);
	vw_make(VW_QP, qp);
	vw_make(VW_QP, qp);
	vw_connect(both);
}
