/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "api_slots.h"

struct seen seen;

/* An argument as a word: its first eight bytes, if it is longer. */
#define WORD(x) seen.argument[seen.count++] = word_of(&(x), sizeof(x));

static uint64_t
word_of(const void *argument, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, argument, size < sizeof(word) ? size : sizeof(word));
	return word;
}

/* A slot with these types of arguments: it writes down its name and what it was given. */
#define SAW(call) seen = (struct seen){ .slot = #call };

/* clang-format off */
/* NOLINTBEGIN(readability-function-size,bugprone-sizeof-expression): the standard decides what arguments a call has. */
#define SLOT1(call, A) \
	static DAT_RETURN call(A a) \
	{ SAW(call) WORD(a) return RETURNED; }
#define SLOT2(call, A, B) \
	static DAT_RETURN call(A a, B b) \
	{ SAW(call) WORD(a) WORD(b) return RETURNED; }
#define SLOT3(call, A, B, C) \
	static DAT_RETURN call(A a, B b, C c) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) return RETURNED; }
#define SLOT4(call, A, B, C, D) \
	static DAT_RETURN call(A a, B b, C c, D d) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) return RETURNED; }
#define SLOT5(call, A, B, C, D, E) \
	static DAT_RETURN call(A a, B b, C c, D d, E e) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) WORD(e) return RETURNED; }
#define SLOT6(call, A, B, C, D, E, F) \
	static DAT_RETURN call(A a, B b, C c, D d, E e, F f) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) WORD(e) WORD(f) return RETURNED; }
#define SLOT7(call, A, B, C, D, E, F, G) \
	static DAT_RETURN call(A a, B b, C c, D d, E e, F f, G g) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) WORD(e) WORD(f) WORD(g) return RETURNED; }
#define SLOT8(call, A, B, C, D, E, F, G, H) \
	static DAT_RETURN call(A a, B b, C c, D d, E e, F f, G g, H h) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) WORD(e) WORD(f) WORD(g) WORD(h) \
	return RETURNED; }
#define SLOT11(call, A, B, C, D, E, F, G, H, I, J, K) \
	static DAT_RETURN call(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k) \
	{ SAW(call) WORD(a) WORD(b) WORD(c) WORD(d) WORD(e) WORD(f) WORD(g) WORD(h) \
	WORD(i) WORD(j) WORD(k) return RETURNED; }

/* The calls, and what each is given. */
#define SLOTS(PICK) \
	PICK(2, set_consumer_context, DAT_HANDLE, DAT_CONTEXT) \
	PICK(2, get_consumer_context, DAT_HANDLE, DAT_CONTEXT *) \
	PICK(2, get_handle_type, DAT_HANDLE, DAT_HANDLE_TYPE *) \
	PICK(6, ia_query, DAT_IA_HANDLE, DAT_EVD_HANDLE *, DAT_IA_ATTR_MASK, DAT_IA_ATTR *, \
		DAT_PROVIDER_ATTR_MASK, DAT_PROVIDER_ATTR *) \
	PICK(3, cno_create, DAT_IA_HANDLE, DAT_OS_WAIT_PROXY_AGENT, DAT_CNO_HANDLE *) \
	PICK(2, cno_modify_agent, DAT_CNO_HANDLE, DAT_OS_WAIT_PROXY_AGENT) \
	PICK(3, cno_query, DAT_CNO_HANDLE, DAT_CNO_PARAM_MASK, DAT_CNO_PARAM *) \
	PICK(1, cno_free, DAT_CNO_HANDLE) \
	PICK(3, cno_wait, DAT_CNO_HANDLE, DAT_TIMEOUT, DAT_EVD_HANDLE *) \
	PICK(3, cr_query, DAT_CR_HANDLE, DAT_CR_PARAM_MASK, DAT_CR_PARAM *) \
	PICK(4, cr_accept, DAT_CR_HANDLE, DAT_EP_HANDLE, DAT_COUNT, const DAT_PVOID) \
	PICK(1, cr_reject, DAT_CR_HANDLE) \
	PICK(2, cr_handoff, DAT_CR_HANDLE, DAT_CONN_QUAL) \
	PICK(2, evd_resize, DAT_EVD_HANDLE, DAT_COUNT) \
	PICK(2, evd_post_se, DAT_EVD_HANDLE, const DAT_EVENT *) \
	PICK(2, evd_dequeue, DAT_EVD_HANDLE, DAT_EVENT *) \
	PICK(1, evd_free, DAT_EVD_HANDLE) \
	PICK(5, evd_create, DAT_IA_HANDLE, DAT_COUNT, DAT_CNO_HANDLE, DAT_EVD_FLAGS, \
		DAT_EVD_HANDLE *) \
	PICK(3, evd_query, DAT_EVD_HANDLE, DAT_EVD_PARAM_MASK, DAT_EVD_PARAM *) \
	PICK(2, evd_modify_cno, DAT_EVD_HANDLE, DAT_CNO_HANDLE) \
	PICK(1, evd_enable, DAT_EVD_HANDLE) \
	PICK(1, evd_disable, DAT_EVD_HANDLE) \
	PICK(5, evd_wait, DAT_EVD_HANDLE, DAT_TIMEOUT, DAT_COUNT, DAT_EVENT *, DAT_COUNT *) \
	PICK(1, evd_set_unwaitable, DAT_EVD_HANDLE) \
	PICK(1, evd_clear_unwaitable, DAT_EVD_HANDLE) \
	PICK(1, lmr_free, DAT_LMR_HANDLE) \
	PICK(3, lmr_sync_rdma_read, DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN) \
	PICK(3, lmr_sync_rdma_write, DAT_IA_HANDLE, const DAT_LMR_TRIPLET *, DAT_VLEN) \
	PICK(11, lmr_create, DAT_IA_HANDLE, DAT_MEM_TYPE, DAT_REGION_DESCRIPTION, DAT_VLEN, \
		DAT_PZ_HANDLE, DAT_MEM_PRIV_FLAGS, DAT_LMR_HANDLE *, DAT_LMR_CONTEXT *, \
		DAT_RMR_CONTEXT *, DAT_VLEN *, DAT_VADDR *) \
	PICK(3, lmr_query, DAT_LMR_HANDLE, DAT_LMR_PARAM_MASK, DAT_LMR_PARAM *) \
	PICK(2, rmr_create, DAT_PZ_HANDLE, DAT_RMR_HANDLE *) \
	PICK(3, rmr_query, DAT_RMR_HANDLE, DAT_RMR_PARAM_MASK, DAT_RMR_PARAM *) \
	PICK(7, rmr_bind, DAT_RMR_HANDLE, const DAT_LMR_TRIPLET *, DAT_MEM_PRIV_FLAGS, \
		DAT_EP_HANDLE, DAT_RMR_COOKIE, DAT_COMPLETION_FLAGS, DAT_RMR_CONTEXT *) \
	PICK(1, rmr_free, DAT_RMR_HANDLE) \
	PICK(5, psp_create, DAT_IA_HANDLE, DAT_CONN_QUAL, DAT_EVD_HANDLE, DAT_PSP_FLAGS, \
		DAT_PSP_HANDLE *) \
	PICK(5, psp_create_any, DAT_IA_HANDLE, DAT_CONN_QUAL *, DAT_EVD_HANDLE, \
		DAT_PSP_FLAGS, DAT_PSP_HANDLE *) \
	PICK(3, psp_query, DAT_PSP_HANDLE, DAT_PSP_PARAM_MASK, DAT_PSP_PARAM *) \
	PICK(1, psp_free, DAT_PSP_HANDLE) \
	PICK(5, rsp_create, DAT_IA_HANDLE, DAT_CONN_QUAL, DAT_EP_HANDLE, DAT_EVD_HANDLE, \
		DAT_RSP_HANDLE *) \
	PICK(3, rsp_query, DAT_RSP_HANDLE, DAT_RSP_PARAM_MASK, DAT_RSP_PARAM *) \
	PICK(1, rsp_free, DAT_RSP_HANDLE) \
	PICK(2, pz_create, DAT_IA_HANDLE, DAT_PZ_HANDLE *) \
	PICK(3, pz_query, DAT_PZ_HANDLE, DAT_PZ_PARAM_MASK, DAT_PZ_PARAM *) \
	PICK(1, pz_free, DAT_PZ_HANDLE) \
	PICK(7, ep_create, DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_EVD_HANDLE, DAT_EVD_HANDLE, \
		DAT_EVD_HANDLE, const DAT_EP_ATTR *, DAT_EP_HANDLE *) \
	PICK(8, ep_create_with_srq, DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_EVD_HANDLE, \
		DAT_EVD_HANDLE, DAT_EVD_HANDLE, DAT_SRQ_HANDLE, const DAT_EP_ATTR *, DAT_EP_HANDLE \
		*) \
	PICK(3, ep_query, DAT_EP_HANDLE, DAT_EP_PARAM_MASK, DAT_EP_PARAM *) \
	PICK(3, ep_recv_query, DAT_EP_HANDLE, DAT_COUNT *, DAT_COUNT *) \
	PICK(3, ep_set_watermark, DAT_EP_HANDLE, DAT_COUNT, DAT_COUNT) \
	PICK(3, ep_modify, DAT_EP_HANDLE, DAT_EP_PARAM_MASK, const DAT_EP_PARAM *) \
	PICK(8, ep_connect, DAT_EP_HANDLE, DAT_IA_ADDRESS_PTR, DAT_CONN_QUAL, DAT_TIMEOUT, \
		DAT_COUNT, const DAT_PVOID, DAT_QOS, DAT_CONNECT_FLAGS) \
	PICK(6, ep_dup_connect, DAT_EP_HANDLE, DAT_EP_HANDLE, DAT_TIMEOUT, DAT_COUNT, const \
		DAT_PVOID, DAT_QOS) \
	PICK(2, ep_disconnect, DAT_EP_HANDLE, DAT_CLOSE_FLAGS) \
	PICK(5, ep_post_send, DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, DAT_DTO_COOKIE, \
		DAT_COMPLETION_FLAGS) \
	PICK(5, ep_post_recv, DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, DAT_DTO_COOKIE, \
		DAT_COMPLETION_FLAGS) \
	PICK(6, ep_post_rdma_read, DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, \
		DAT_DTO_COOKIE, const DAT_RMR_TRIPLET *, DAT_COMPLETION_FLAGS) \
	PICK(6, ep_post_rdma_write, DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, \
		DAT_DTO_COOKIE, const DAT_RMR_TRIPLET *, DAT_COMPLETION_FLAGS) \
	PICK(4, ep_get_status, DAT_EP_HANDLE, DAT_EP_STATE *, DAT_BOOLEAN *, DAT_BOOLEAN *) \
	PICK(1, ep_free, DAT_EP_HANDLE) \
	PICK(1, ep_reset, DAT_EP_HANDLE) \
	PICK(4, srq_create, DAT_IA_HANDLE, DAT_PZ_HANDLE, DAT_SRQ_ATTR *, DAT_SRQ_HANDLE *) \
	PICK(1, srq_free, DAT_SRQ_HANDLE) \
	PICK(4, srq_post_recv, DAT_SRQ_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET *, DAT_DTO_COOKIE) \
	PICK(3, srq_query, DAT_SRQ_HANDLE, DAT_SRQ_PARAM_MASK, DAT_SRQ_PARAM *) \
	PICK(2, srq_resize, DAT_SRQ_HANDLE, DAT_COUNT) \
	PICK(2, srq_set_lw, DAT_SRQ_HANDLE, DAT_COUNT)

#define MAKE(n, call, ...) SLOT##n(call, __VA_ARGS__)
SLOTS(MAKE)
/* NOLINTEND(readability-function-size,bugprone-sizeof-expression) */
/* clang-format on */

void
fill_slots(DAT_PROVIDER *table)
{
#define FILL(n, call, ...) table->call##_func = call;
	SLOTS(FILL)
}
