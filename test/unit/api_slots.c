/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>

#include "api_slots.h"

struct seen seen;

/* Each argument after the count is a uint64_t or an uintptr_t, which are the same here. */
DAT_RETURN
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

/* NOLINTEND(readability-function-size) */

void
fill_slots(DAT_PROVIDER *table)
{
	SLOT(set_consumer_context);
	SLOT(get_consumer_context);
	SLOT(get_handle_type);
	SLOT(ia_query);
	SLOT(cno_create);
	SLOT(cno_modify_agent);
	SLOT(cno_query);
	SLOT(cno_free);
	SLOT(cno_wait);
	SLOT(cr_query);
	SLOT(cr_accept);
	SLOT(cr_reject);
	SLOT(cr_handoff);
	SLOT(evd_resize);
	SLOT(evd_post_se);
	SLOT(evd_dequeue);
	SLOT(evd_free);
	SLOT(evd_create);
	SLOT(evd_query);
	SLOT(evd_modify_cno);
	SLOT(evd_enable);
	SLOT(evd_disable);
	SLOT(evd_wait);
	SLOT(evd_set_unwaitable);
	SLOT(evd_clear_unwaitable);
	SLOT(lmr_free);
	SLOT(lmr_sync_rdma_read);
	SLOT(lmr_sync_rdma_write);
	SLOT(lmr_create);
	SLOT(lmr_query);
	SLOT(rmr_create);
	SLOT(rmr_query);
	SLOT(rmr_bind);
	SLOT(rmr_free);
	SLOT(psp_create);
	SLOT(psp_create_any);
	SLOT(psp_query);
	SLOT(psp_free);
	SLOT(rsp_create);
	SLOT(rsp_query);
	SLOT(rsp_free);
	SLOT(pz_create);
	SLOT(pz_query);
	SLOT(pz_free);
}
