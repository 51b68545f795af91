/* SPDX-License-Identifier: BSD-3-Clause */

#include "answers.h"

struct member {
	const char *name;
	size_t at, size, align;
};

/** A struct of DAT, its members in their order. */
struct shape {
	const char *name;
	size_t size;
	const struct member *member;
	size_t members;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members */
#define TYPE_OF(type, name) __typeof__(((type *)NULL)->name)
#define MEMBER(type, name)                                                \
	{                                                                 \
#name, offsetof(type, name), sizeof(TYPE_OF(type, name)), \
				__alignof__(TYPE_OF(type, name))          \
	}
#define SHAPE(type, members)                                                         \
	{                                                                            \
#type, sizeof(type), members, sizeof(members) / sizeof((members)[0]) \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* clang-format off */
#define EP(name) MEMBER(DAT_EP_PARAM, name)
static const struct member ep[] = {
	EP(ia_handle), EP(ep_state),
#if DAT_ABI == 20
	EP(comm),
#endif
	EP(local_ia_address_ptr), EP(local_port_qual), EP(remote_ia_address_ptr), EP(remote_port_qual), EP(pz_handle),
	EP(recv_evd_handle), EP(request_evd_handle), EP(connect_evd_handle), EP(srq_handle), EP(ep_attr.service_type),
	EP(ep_attr.max_message_size), EP(ep_attr.max_rdma_size), EP(ep_attr.qos), EP(ep_attr.recv_completion_flags),
	EP(ep_attr.request_completion_flags), EP(ep_attr.max_recv_dtos), EP(ep_attr.max_request_dtos),
	EP(ep_attr.max_recv_iov), EP(ep_attr.max_request_iov), EP(ep_attr.max_rdma_read_in),
	EP(ep_attr.max_rdma_read_out), EP(ep_attr.srq_soft_hw), EP(ep_attr.max_rdma_read_iov),
	EP(ep_attr.max_rdma_write_iov), EP(ep_attr.ep_transport_specific_count), EP(ep_attr.ep_transport_specific),
	EP(ep_attr.ep_provider_specific_count), EP(ep_attr.ep_provider_specific),
};

#define SRQ(name) MEMBER(DAT_SRQ_PARAM, name)
static const struct member srq[] = {
	SRQ(ia_handle), SRQ(srq_state), SRQ(pz_handle), SRQ(max_recv_dtos), SRQ(max_recv_iov), SRQ(low_watermark),
	SRQ(available_dto_count), SRQ(outstanding_dto_count),
};

#define EVD(name) MEMBER(DAT_EVD_PARAM, name)
static const struct member evd[] = {
	EVD(ia_handle), EVD(evd_qlen), EVD(evd_state), EVD(cno_handle), EVD(evd_flags),
};

#define LMR(name) MEMBER(DAT_LMR_PARAM, name)
static const struct member lmr[] = {
	LMR(ia_handle), LMR(mem_type), LMR(region_desc), LMR(length), LMR(pz_handle), LMR(mem_priv),
#if DAT_ABI == 20
	LMR(va_type),
#endif
	LMR(lmr_context), LMR(rmr_context), LMR(registered_size), LMR(registered_address),
};

#define RMR(name) MEMBER(DAT_RMR_PARAM, name)
static const struct member rmr[] = {
	RMR(ia_handle), RMR(pz_handle),
#if DAT_ABI == 12
	RMR(lmr_triplet.lmr_context), RMR(lmr_triplet.pad), RMR(lmr_triplet.virtual_address),
	RMR(lmr_triplet.segment_length),
#else
	RMR(lmr_triplet.virtual_address), RMR(lmr_triplet.segment_length), RMR(lmr_triplet.lmr_context),
#endif
	RMR(mem_priv), RMR(rmr_context),
#if DAT_ABI == 20
	RMR(rmr_scope), RMR(va_type),
#endif
};

#define PZ(name) MEMBER(DAT_PZ_PARAM, name)
static const struct member pz[] = { PZ(ia_handle) };

#define PSP(name) MEMBER(DAT_PSP_PARAM, name)
static const struct member psp[] = { PSP(ia_handle), PSP(conn_qual), PSP(evd_handle), PSP(psp_flags) };

#define RSP(name) MEMBER(DAT_RSP_PARAM, name)
static const struct member rsp[] = { RSP(ia_handle), RSP(conn_qual), RSP(evd_handle), RSP(ep_handle) };

#define CR(name) MEMBER(DAT_CR_PARAM, name)
static const struct member cr[] = {
	CR(remote_ia_address_ptr), CR(remote_port_qual), CR(private_data_size), CR(private_data), CR(local_ep_handle),
};

#define CNO(name) MEMBER(DAT_CNO_PARAM, name)
static const struct member cno[] = {
	CNO(ia_handle),
#if DAT_ABI == 12
	CNO(agent.instance_data), CNO(agent.proxy_agent_func),
#else
	CNO(proxy_type), CNO(proxy.agent.instance_data), CNO(proxy.agent.proxy_agent_func),
#endif
};

static const struct shape shapes[ANSWERS] = {
	[ANSWER_EP] = SHAPE(DAT_EP_PARAM, ep),
	[ANSWER_SRQ] = SHAPE(DAT_SRQ_PARAM, srq),
	[ANSWER_EVD] = SHAPE(DAT_EVD_PARAM, evd),
	[ANSWER_LMR] = SHAPE(DAT_LMR_PARAM, lmr),
	[ANSWER_RMR] = SHAPE(DAT_RMR_PARAM, rmr),
	[ANSWER_PZ] = SHAPE(DAT_PZ_PARAM, pz),
	[ANSWER_PSP] = SHAPE(DAT_PSP_PARAM, psp),
	[ANSWER_RSP] = SHAPE(DAT_RSP_PARAM, rsp),
	[ANSWER_CR] = SHAPE(DAT_CR_PARAM, cr),
	[ANSWER_CNO] = SHAPE(DAT_CNO_PARAM, cno),
};
/* clang-format on */

const char *
answer_difference(enum answer kind, const void *a, const void *b)
{
	const struct shape *shape = &shapes[kind];

	for (size_t i = 0; i < shape->members; i++) {
		const struct member *m = &shape->member[i];

		if (memcmp((const char *)a + m->at, (const char *)b + m->at, m->size) != 0)
			return m->name;
	}
	return NULL;
}

void
want_same_answer(enum answer kind, const void *now, const void *before)
{
	const char *name = answer_difference(kind, now, before);

	if (name != NULL)
		fail_msg("%s: %s has changed", shapes[kind].name, name);
}

static size_t
aligned(size_t at, size_t align)
{
	return (at + align - 1) / align * align;
}

void
want_whole_answers(void)
{
	for (unsigned int kind = 0; kind < ANSWERS; kind++) {
		const struct shape *shape = &shapes[kind];
		size_t end = 0;

		for (size_t i = 0; i < shape->members; i++) {
			const struct member *m = &shape->member[i];

			if (m->at != aligned(end, m->align))
				print_message("%s: what is before %s?\n", shape->name, m->name);
			assert_int_equal(m->at, aligned(end, m->align));
			end = m->at + m->size;
		}
		assert_in_range(shape->size - end, 0, sizeof(void *) - 1);
	}
}
