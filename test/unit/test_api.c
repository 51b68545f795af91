/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every call that libdat passes on: it reaches the slot of its own name with all its arguments in
 * order, returns what the Provider returns, and refuses a null handle with the right subtype.
 * Files api.c and api_ep.c.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dat/dat_registry.h>

#define RETURNED 0x4321

/* The value of an argument says which argument it is, whatever its type. */
#define PTR(n)    ((void *)(uintptr_t)(n))
#define COOKIE(n) ((DAT_CONTEXT){ .as_64 = (n) })
#define REGION(n) ((DAT_REGION_DESCRIPTION){ .for_va = PTR(n) })
#define AGENT(n)  ((DAT_OS_WAIT_PROXY_AGENT){ .instance_data = PTR(n) })

/* What the slot that was reached saw. */
static struct {
	const char *slot;
	int count;
	uint64_t argument[16];
} seen;

/* Each argument after the count is a uint64_t or an uintptr_t, which are the same here. */
static DAT_RETURN
saw(const char *slot, int count, ...)
{
	va_list args;

	seen.slot = slot;
	seen.count = count;
	va_start(args, count);
	for (int i = 0; i < count; i++)
		seen.argument[i] = va_arg(args, uint64_t);
	va_end(args);
	return RETURNED;
}

/* NOLINTBEGIN(readability-function-size): the standard decides how many arguments a call has. */

static DAT_RETURN
set_consumer_context(DAT_HANDLE a, DAT_CONTEXT b)
{
	return saw("set_consumer_context", 2, (uintptr_t)a, b.as_64);
}

static DAT_RETURN
get_consumer_context(DAT_HANDLE a, DAT_CONTEXT *b)
{
	return saw("get_consumer_context", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
get_handle_type(DAT_HANDLE a, DAT_HANDLE_TYPE *b)
{
	return saw("get_handle_type", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
ia_query(DAT_IA_HANDLE a, DAT_EVD_HANDLE *b, DAT_IA_ATTR_MASK c, DAT_IA_ATTR *d,
		DAT_PROVIDER_ATTR_MASK e, DAT_PROVIDER_ATTR *f)
{
	return saw("ia_query", 6, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uintptr_t)d,
			(uint64_t)e, (uintptr_t)f);
}

static DAT_RETURN
cno_create(DAT_IA_HANDLE a, DAT_OS_WAIT_PROXY_AGENT b, DAT_CNO_HANDLE *c)
{
	return saw("cno_create", 3, (uintptr_t)a, (uintptr_t)b.instance_data, (uintptr_t)c);
}

static DAT_RETURN
cno_modify_agent(DAT_CNO_HANDLE a, DAT_OS_WAIT_PROXY_AGENT b)
{
	return saw("cno_modify_agent", 2, (uintptr_t)a, (uintptr_t)b.instance_data);
}

static DAT_RETURN
cno_query(DAT_CNO_HANDLE a, DAT_CNO_PARAM_MASK b, DAT_CNO_PARAM *c)
{
	return saw("cno_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
cno_free(DAT_CNO_HANDLE a)
{
	return saw("cno_free", 1, (uintptr_t)a);
}

static DAT_RETURN
cno_wait(DAT_CNO_HANDLE a, DAT_TIMEOUT b, DAT_EVD_HANDLE *c)
{
	return saw("cno_wait", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
cr_query(DAT_CR_HANDLE a, DAT_CR_PARAM_MASK b, DAT_CR_PARAM *c)
{
	return saw("cr_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
cr_accept(DAT_CR_HANDLE a, DAT_EP_HANDLE b, DAT_COUNT c, const DAT_PVOID d)
{
	return saw("cr_accept", 4, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uintptr_t)d);
}

static DAT_RETURN
cr_reject(DAT_CR_HANDLE a)
{
	return saw("cr_reject", 1, (uintptr_t)a);
}

static DAT_RETURN
cr_handoff(DAT_CR_HANDLE a, DAT_CONN_QUAL b)
{
	return saw("cr_handoff", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
evd_resize(DAT_EVD_HANDLE a, DAT_COUNT b)
{
	return saw("evd_resize", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
evd_post_se(DAT_EVD_HANDLE a, const DAT_EVENT *b)
{
	return saw("evd_post_se", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
evd_dequeue(DAT_EVD_HANDLE a, DAT_EVENT *b)
{
	return saw("evd_dequeue", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
evd_free(DAT_EVD_HANDLE a)
{
	return saw("evd_free", 1, (uintptr_t)a);
}

static DAT_RETURN
evd_create(DAT_IA_HANDLE a, DAT_COUNT b, DAT_CNO_HANDLE c, DAT_EVD_FLAGS d, DAT_EVD_HANDLE *e)
{
	return saw("evd_create", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, (uint64_t)d,
			(uintptr_t)e);
}

static DAT_RETURN
evd_query(DAT_EVD_HANDLE a, DAT_EVD_PARAM_MASK b, DAT_EVD_PARAM *c)
{
	return saw("evd_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
evd_modify_cno(DAT_EVD_HANDLE a, DAT_CNO_HANDLE b)
{
	return saw("evd_modify_cno", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
evd_enable(DAT_EVD_HANDLE a)
{
	return saw("evd_enable", 1, (uintptr_t)a);
}

static DAT_RETURN
evd_disable(DAT_EVD_HANDLE a)
{
	return saw("evd_disable", 1, (uintptr_t)a);
}

static DAT_RETURN
evd_wait(DAT_EVD_HANDLE a, DAT_TIMEOUT b, DAT_COUNT c, DAT_EVENT *d, DAT_COUNT *e)
{
	return saw("evd_wait", 5, (uintptr_t)a, (uint64_t)b, (uint64_t)c, (uintptr_t)d,
			(uintptr_t)e);
}

static DAT_RETURN
evd_set_unwaitable(DAT_EVD_HANDLE a)
{
	return saw("evd_set_unwaitable", 1, (uintptr_t)a);
}

static DAT_RETURN
evd_clear_unwaitable(DAT_EVD_HANDLE a)
{
	return saw("evd_clear_unwaitable", 1, (uintptr_t)a);
}

static DAT_RETURN
ep_create(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c, DAT_EVD_HANDLE d, DAT_EVD_HANDLE e,
		const DAT_EP_ATTR *f, DAT_EP_HANDLE *g)
{
	return saw("ep_create", 7, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d,
			(uintptr_t)e, (uintptr_t)f, (uintptr_t)g);
}

static DAT_RETURN
ep_create_with_srq(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c, DAT_EVD_HANDLE d,
		DAT_EVD_HANDLE e, DAT_SRQ_HANDLE f, const DAT_EP_ATTR *g, DAT_EP_HANDLE *h)
{
	return saw("ep_create_with_srq", 8, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d,
			(uintptr_t)e, (uintptr_t)f, (uintptr_t)g, (uintptr_t)h);
}

static DAT_RETURN
ep_query(DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, DAT_EP_PARAM *c)
{
	return saw("ep_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_recv_query(DAT_EP_HANDLE a, DAT_COUNT *b, DAT_COUNT *c)
{
	return saw("ep_recv_query", 3, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_set_watermark(DAT_EP_HANDLE a, DAT_COUNT b, DAT_COUNT c)
{
	return saw("ep_set_watermark", 3, (uintptr_t)a, (uint64_t)b, (uint64_t)c);
}

static DAT_RETURN
ep_modify(DAT_EP_HANDLE a, DAT_EP_PARAM_MASK b, const DAT_EP_PARAM *c)
{
	return saw("ep_modify", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
ep_connect(DAT_EP_HANDLE a, DAT_IA_ADDRESS_PTR b, DAT_CONN_QUAL c, DAT_TIMEOUT d, DAT_COUNT e,
		const DAT_PVOID f, DAT_QOS g, DAT_CONNECT_FLAGS h)
{
	return saw("ep_connect", 8, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uint64_t)d,
			(uint64_t)e, (uintptr_t)f, (uint64_t)g, (uint64_t)h);
}

static DAT_RETURN
ep_dup_connect(DAT_EP_HANDLE a, DAT_EP_HANDLE b, DAT_TIMEOUT c, DAT_COUNT d, const DAT_PVOID e,
		DAT_QOS f)
{
	return saw("ep_dup_connect", 6, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uint64_t)d,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_disconnect(DAT_EP_HANDLE a, DAT_CLOSE_FLAGS b)
{
	return saw("ep_disconnect", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
ep_post_send(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		DAT_COMPLETION_FLAGS e)
{
	return saw("ep_post_send", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uint64_t)e);
}

static DAT_RETURN
ep_post_recv(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		DAT_COMPLETION_FLAGS e)
{
	return saw("ep_post_recv", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uint64_t)e);
}

static DAT_RETURN
ep_post_rdma_read(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f)
{
	return saw("ep_post_rdma_read", 6, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_post_rdma_write(DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d,
		const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f)
{
	return saw("ep_post_rdma_write", 6, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64,
			(uintptr_t)e, (uint64_t)f);
}

static DAT_RETURN
ep_get_status(DAT_EP_HANDLE a, DAT_EP_STATE *b, DAT_BOOLEAN *c, DAT_BOOLEAN *d)
{
	return saw("ep_get_status", 4, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d);
}

static DAT_RETURN
ep_free(DAT_EP_HANDLE a)
{
	return saw("ep_free", 1, (uintptr_t)a);
}

static DAT_RETURN
ep_reset(DAT_EP_HANDLE a)
{
	return saw("ep_reset", 1, (uintptr_t)a);
}

static DAT_RETURN
lmr_free(DAT_LMR_HANDLE a)
{
	return saw("lmr_free", 1, (uintptr_t)a);
}

static DAT_RETURN
lmr_sync_rdma_read(DAT_IA_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_VLEN c)
{
	return saw("lmr_sync_rdma_read", 3, (uintptr_t)a, (uintptr_t)b, (uint64_t)c);
}

static DAT_RETURN
lmr_sync_rdma_write(DAT_IA_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_VLEN c)
{
	return saw("lmr_sync_rdma_write", 3, (uintptr_t)a, (uintptr_t)b, (uint64_t)c);
}

static DAT_RETURN
lmr_create(DAT_IA_HANDLE a, DAT_MEM_TYPE b, DAT_REGION_DESCRIPTION c, DAT_VLEN d, DAT_PZ_HANDLE e,
		DAT_MEM_PRIV_FLAGS f, DAT_LMR_HANDLE *g, DAT_LMR_CONTEXT *h, DAT_RMR_CONTEXT *i,
		DAT_VLEN *j, DAT_VADDR *k)
{
	return saw("lmr_create", 11, (uintptr_t)a, (uint64_t)b, (uintptr_t)c.for_va, (uint64_t)d,
			(uintptr_t)e, (uint64_t)f, (uintptr_t)g, (uintptr_t)h, (uintptr_t)i,
			(uintptr_t)j, (uintptr_t)k);
}

static DAT_RETURN
lmr_query(DAT_LMR_HANDLE a, DAT_LMR_PARAM_MASK b, DAT_LMR_PARAM *c)
{
	return saw("lmr_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
rmr_create(DAT_PZ_HANDLE a, DAT_RMR_HANDLE *b)
{
	return saw("rmr_create", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
rmr_query(DAT_RMR_HANDLE a, DAT_RMR_PARAM_MASK b, DAT_RMR_PARAM *c)
{
	return saw("rmr_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
rmr_bind(DAT_RMR_HANDLE a, const DAT_LMR_TRIPLET *b, DAT_MEM_PRIV_FLAGS c, DAT_EP_HANDLE d,
		DAT_RMR_COOKIE e, DAT_COMPLETION_FLAGS f, DAT_RMR_CONTEXT *g)
{
	return saw("rmr_bind", 7, (uintptr_t)a, (uintptr_t)b, (uint64_t)c, (uintptr_t)d, e.as_64,
			(uint64_t)f, (uintptr_t)g);
}

static DAT_RETURN
rmr_free(DAT_RMR_HANDLE a)
{
	return saw("rmr_free", 1, (uintptr_t)a);
}

static DAT_RETURN
psp_create(DAT_IA_HANDLE a, DAT_CONN_QUAL b, DAT_EVD_HANDLE c, DAT_PSP_FLAGS d, DAT_PSP_HANDLE *e)
{
	return saw("psp_create", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, (uint64_t)d,
			(uintptr_t)e);
}

static DAT_RETURN
psp_create_any(DAT_IA_HANDLE a, DAT_CONN_QUAL *b, DAT_EVD_HANDLE c, DAT_PSP_FLAGS d,
		DAT_PSP_HANDLE *e)
{
	return saw("psp_create_any", 5, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uint64_t)d,
			(uintptr_t)e);
}

static DAT_RETURN
psp_query(DAT_PSP_HANDLE a, DAT_PSP_PARAM_MASK b, DAT_PSP_PARAM *c)
{
	return saw("psp_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
psp_free(DAT_PSP_HANDLE a)
{
	return saw("psp_free", 1, (uintptr_t)a);
}

static DAT_RETURN
rsp_create(DAT_IA_HANDLE a, DAT_CONN_QUAL b, DAT_EP_HANDLE c, DAT_EVD_HANDLE d, DAT_RSP_HANDLE *e)
{
	return saw("rsp_create", 5, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, (uintptr_t)d,
			(uintptr_t)e);
}

static DAT_RETURN
rsp_query(DAT_RSP_HANDLE a, DAT_RSP_PARAM_MASK b, DAT_RSP_PARAM *c)
{
	return saw("rsp_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
rsp_free(DAT_RSP_HANDLE a)
{
	return saw("rsp_free", 1, (uintptr_t)a);
}

static DAT_RETURN
pz_create(DAT_IA_HANDLE a, DAT_PZ_HANDLE *b)
{
	return saw("pz_create", 2, (uintptr_t)a, (uintptr_t)b);
}

static DAT_RETURN
pz_query(DAT_PZ_HANDLE a, DAT_PZ_PARAM_MASK b, DAT_PZ_PARAM *c)
{
	return saw("pz_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
pz_free(DAT_PZ_HANDLE a)
{
	return saw("pz_free", 1, (uintptr_t)a);
}

static DAT_RETURN
srq_create(DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_SRQ_ATTR *c, DAT_SRQ_HANDLE *d)
{
	return saw("srq_create", 4, (uintptr_t)a, (uintptr_t)b, (uintptr_t)c, (uintptr_t)d);
}

static DAT_RETURN
srq_free(DAT_SRQ_HANDLE a)
{
	return saw("srq_free", 1, (uintptr_t)a);
}

static DAT_RETURN
srq_post_recv(DAT_SRQ_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET *c, DAT_DTO_COOKIE d)
{
	return saw("srq_post_recv", 4, (uintptr_t)a, (uint64_t)b, (uintptr_t)c, d.as_64);
}

static DAT_RETURN
srq_query(DAT_SRQ_HANDLE a, DAT_SRQ_PARAM_MASK b, DAT_SRQ_PARAM *c)
{
	return saw("srq_query", 3, (uintptr_t)a, (uint64_t)b, (uintptr_t)c);
}

static DAT_RETURN
srq_resize(DAT_SRQ_HANDLE a, DAT_COUNT b)
{
	return saw("srq_resize", 2, (uintptr_t)a, (uint64_t)b);
}

static DAT_RETURN
srq_set_lw(DAT_SRQ_HANDLE a, DAT_COUNT b)
{
	return saw("srq_set_lw", 2, (uintptr_t)a, (uint64_t)b);
}

/* NOLINTEND(readability-function-size) */

#define SLOT(call) .call##_func = call

static const DAT_PROVIDER table = { SLOT(set_consumer_context), SLOT(get_consumer_context),
	SLOT(get_handle_type), SLOT(ia_query), SLOT(cno_create), SLOT(cno_modify_agent),
	SLOT(cno_query), SLOT(cno_free), SLOT(cno_wait), SLOT(cr_query), SLOT(cr_accept),
	SLOT(cr_reject), SLOT(cr_handoff), SLOT(evd_resize), SLOT(evd_post_se), SLOT(evd_dequeue),
	SLOT(evd_free), SLOT(evd_create), SLOT(evd_query), SLOT(evd_modify_cno), SLOT(evd_enable),
	SLOT(evd_disable), SLOT(evd_wait), SLOT(evd_set_unwaitable), SLOT(evd_clear_unwaitable),
	SLOT(ep_create), SLOT(ep_create_with_srq), SLOT(ep_query), SLOT(ep_recv_query),
	SLOT(ep_set_watermark), SLOT(ep_modify), SLOT(ep_connect), SLOT(ep_dup_connect),
	SLOT(ep_disconnect), SLOT(ep_post_send), SLOT(ep_post_recv), SLOT(ep_post_rdma_read),
	SLOT(ep_post_rdma_write), SLOT(ep_get_status), SLOT(ep_free), SLOT(ep_reset),
	SLOT(lmr_free), SLOT(lmr_sync_rdma_read), SLOT(lmr_sync_rdma_write), SLOT(lmr_create),
	SLOT(lmr_query), SLOT(rmr_create), SLOT(rmr_query), SLOT(rmr_bind), SLOT(rmr_free),
	SLOT(psp_create), SLOT(psp_create_any), SLOT(psp_query), SLOT(psp_free), SLOT(rsp_create),
	SLOT(rsp_query), SLOT(rsp_free), SLOT(pz_create), SLOT(pz_query), SLOT(pz_free),
	SLOT(srq_create), SLOT(srq_free), SLOT(srq_post_recv), SLOT(srq_query), SLOT(srq_resize),
	SLOT(srq_set_lw) };

/* An object as libdat sees it: the first word points to the table. */
static const DAT_PROVIDER *object = &table;

static void
check_forwarded(DAT_RETURN ret, const char *call)
{
	assert_int_equal(ret, RETURNED);
	assert_string_equal(seen.slot, call);
	assert_ptr_equal(PTR(seen.argument[0]), &object);
	for (int i = 1; i < seen.count; i++)
		assert_int_equal(seen.argument[i], i + 1);
	memset(&seen, 0, sizeof(seen));
}

static void
check_refused(DAT_RETURN ret, DAT_RETURN_SUBTYPE subtype)
{
	assert_int_equal(ret, DAT_CLASS_ERROR | DAT_INVALID_HANDLE | (DAT_RETURN)subtype);
	assert_null(seen.slot);
}

#define FORWARDS(call, subtype, ...)                                              \
	do {                                                                      \
		check_forwarded(dat_##call(&object, __VA_ARGS__), #call);         \
		check_refused(dat_##call(DAT_HANDLE_NULL, __VA_ARGS__), subtype); \
	} while (0)

#define FORWARDS1(call, subtype)                                     \
	do {                                                         \
		check_forwarded(dat_##call(&object), #call);         \
		check_refused(dat_##call(DAT_HANDLE_NULL), subtype); \
	} while (0)

static void
api__context_and_adapter(void **state)
{
	(void)state;
	FORWARDS(set_consumer_context, DAT_INVALID_HANDLE1, COOKIE(2));
	FORWARDS(get_consumer_context, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(get_handle_type, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(ia_query, DAT_INVALID_HANDLE_IA, PTR(2), 3, PTR(4), 5, PTR(6));
}

static void
api__notification_and_dispatcher(void **state)
{
	(void)state;
	FORWARDS(cno_create, DAT_INVALID_HANDLE_IA, AGENT(2), PTR(3));
	FORWARDS(cno_modify_agent, DAT_INVALID_HANDLE_CNO, AGENT(2));
	FORWARDS(cno_query, DAT_INVALID_HANDLE_CNO, 2, PTR(3));
	FORWARDS1(cno_free, DAT_INVALID_HANDLE_CNO);
	FORWARDS(cno_wait, DAT_INVALID_HANDLE_CNO, 2, PTR(3));
	FORWARDS(evd_resize, DAT_INVALID_HANDLE1, 2);
	FORWARDS(evd_post_se, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS(evd_dequeue, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS1(evd_free, DAT_INVALID_HANDLE1);
	FORWARDS(evd_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), 4, PTR(5));
	FORWARDS(evd_query, DAT_INVALID_HANDLE1, 2, PTR(3));
	FORWARDS(evd_modify_cno, DAT_INVALID_HANDLE1, PTR(2));
	FORWARDS1(evd_enable, DAT_INVALID_HANDLE1);
	FORWARDS1(evd_disable, DAT_INVALID_HANDLE1);
	FORWARDS(evd_wait, DAT_INVALID_HANDLE1, 2, 3, PTR(4), PTR(5));
	FORWARDS1(evd_set_unwaitable, DAT_INVALID_HANDLE1);
	FORWARDS1(evd_clear_unwaitable, DAT_INVALID_HANDLE1);
}

static void
api__service_points_and_requests(void **state)
{
	(void)state;
	FORWARDS(cr_query, DAT_INVALID_HANDLE_CR, 2, PTR(3));
	FORWARDS(cr_accept, DAT_INVALID_HANDLE_CR, PTR(2), 3, PTR(4));
	FORWARDS1(cr_reject, DAT_INVALID_HANDLE_CR);
	FORWARDS(cr_handoff, DAT_INVALID_HANDLE_CR, 2);
	FORWARDS(psp_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), 4, PTR(5));
	FORWARDS(psp_create_any, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), 4, PTR(5));
	FORWARDS(psp_query, DAT_INVALID_HANDLE_PSP, 2, PTR(3));
	FORWARDS1(psp_free, DAT_INVALID_HANDLE_PSP);
	FORWARDS(rsp_create, DAT_INVALID_HANDLE_IA, 2, PTR(3), PTR(4), PTR(5));
	FORWARDS(rsp_query, DAT_INVALID_HANDLE_RSP, 2, PTR(3));
	FORWARDS1(rsp_free, DAT_INVALID_HANDLE_RSP);
}

static void
api__memory(void **state)
{
	(void)state;
	FORWARDS1(lmr_free, DAT_INVALID_HANDLE_LMR);
	FORWARDS(lmr_sync_rdma_read, DAT_INVALID_HANDLE_IA, PTR(2), 3);
	FORWARDS(lmr_sync_rdma_write, DAT_INVALID_HANDLE_IA, PTR(2), 3);
	FORWARDS(lmr_create, DAT_INVALID_HANDLE_IA, 2, REGION(3), 4, PTR(5), 6, PTR(7), PTR(8),
			PTR(9), PTR(10), PTR(11));
	FORWARDS(lmr_query, DAT_INVALID_HANDLE_LMR, 2, PTR(3));
	FORWARDS(rmr_create, DAT_INVALID_HANDLE_PZ, PTR(2));
	FORWARDS(rmr_query, DAT_INVALID_HANDLE_RMR, 2, PTR(3));
	FORWARDS(rmr_bind, DAT_INVALID_HANDLE_RMR, PTR(2), 3, PTR(4), COOKIE(5), 6, PTR(7));
	FORWARDS1(rmr_free, DAT_INVALID_HANDLE_RMR);
	FORWARDS(pz_create, DAT_INVALID_HANDLE_IA, PTR(2));
	FORWARDS(pz_query, DAT_INVALID_HANDLE_PZ, 2, PTR(3));
	FORWARDS1(pz_free, DAT_INVALID_HANDLE_PZ);
}

static void
api__endpoint(void **state)
{
	(void)state;
	FORWARDS(ep_create, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4), PTR(5), PTR(6), PTR(7));
	FORWARDS(ep_create_with_srq, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4), PTR(5), PTR(6),
			PTR(7), PTR(8));
	FORWARDS(ep_query, DAT_INVALID_HANDLE_EP, 2, PTR(3));
	FORWARDS(ep_recv_query, DAT_INVALID_HANDLE_EP, PTR(2), PTR(3));
	FORWARDS(ep_set_watermark, DAT_INVALID_HANDLE_EP, 2, 3);
	FORWARDS(ep_modify, DAT_INVALID_HANDLE_EP, 2, PTR(3));
	FORWARDS(ep_connect, DAT_INVALID_HANDLE_EP, PTR(2), 3, 4, 5, PTR(6), 7, 8);
	FORWARDS(ep_dup_connect, DAT_INVALID_HANDLE_EP, PTR(2), 3, 4, PTR(5), 6);
	FORWARDS(ep_disconnect, DAT_INVALID_HANDLE_EP, 2);
	FORWARDS(ep_post_send, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), 5);
	FORWARDS(ep_post_recv, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), 5);
	FORWARDS(ep_post_rdma_read, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), PTR(5), 6);
	FORWARDS(ep_post_rdma_write, DAT_INVALID_HANDLE_EP, 2, PTR(3), COOKIE(4), PTR(5), 6);
	FORWARDS(ep_get_status, DAT_INVALID_HANDLE_EP, PTR(2), PTR(3), PTR(4));
	FORWARDS1(ep_free, DAT_INVALID_HANDLE_EP);
	FORWARDS1(ep_reset, DAT_INVALID_HANDLE_EP);
}

static void
api__shared_receive_queue(void **state)
{
	(void)state;
	FORWARDS(srq_create, DAT_INVALID_HANDLE_IA, PTR(2), PTR(3), PTR(4));
	FORWARDS1(srq_free, DAT_INVALID_HANDLE_SRQ);
	FORWARDS(srq_post_recv, DAT_INVALID_HANDLE_SRQ, 2, PTR(3), COOKIE(4));
	FORWARDS(srq_query, DAT_INVALID_HANDLE_SRQ, 2, PTR(3));
	FORWARDS(srq_resize, DAT_INVALID_HANDLE_SRQ, 2);
	FORWARDS(srq_set_lw, DAT_INVALID_HANDLE_SRQ, 2);
}

static void
get_ia_handle__is_identity(void **state)
{
	DAT_IA_HANDLE out = NULL;

	(void)state;
	assert_int_equal(dats_get_ia_handle(&object, &out), DAT_SUCCESS);
	assert_ptr_equal(out, &object);
	assert_int_equal(dats_get_ia_handle(DAT_HANDLE_NULL, &out),
			DAT_CLASS_ERROR | DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA);
	assert_int_equal(dats_get_ia_handle(&object, NULL),
			DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(api__context_and_adapter),
		cmocka_unit_test(api__notification_and_dispatcher),
		cmocka_unit_test(api__service_points_and_requests),
		cmocka_unit_test(api__memory),
		cmocka_unit_test(api__endpoint),
		cmocka_unit_test(api__shared_receive_queue),
		cmocka_unit_test(get_ia_handle__is_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
