/* SPDX-License-Identifier: BSD-3-Clause */

#include "objects.h"

#include <assert.h>

#define QUAL    5100 /**< where a and b listen for anybody; the next is for one */
#define CONTEXT UINT64_C(0x1122334455667700)

const char *const kind_names[KINDS] = { "ia", "pz", "lmr", "rmr", "srq", "ep", "psp", "rsp", "cr",
	"cno", "dto evd", "connection evd", "cr evd", "software evd" };

/* A request of @p from that @p to has not answered. */
static DAT_CR_HANDLE
make_request(const struct end *from, struct end *to, DAT_CONN_QUAL qual)
{
	struct end asker = *from;

	asker.ep = another_ep(from);
	ok(end_connect(&asker, to, qual));
	return end_request(to);
}

/* Fill in the objects that an end has, and make those that it lacks. @p peer is to ask for a connection to @p qual. */
static void
fill(struct end *end, const struct end *peer, DAT_CONN_QUAL qual, DAT_HANDLE *handle)
{
	handle[IN_IA] = end->ia;
	handle[IN_PZ] = end->pz;
	handle[IN_LMR] = end->lmr;
	ok(dat_rmr_create(end->pz, &handle[IN_RMR]));
	handle[IN_SRQ] = make_srq(end, 4, 2);
	handle[IN_EP] = end->ep;
	handle[IN_PSP] = make_psp(end, qual, end->cr);
	ok(dat_rsp_create(end->ia, qual + 1, another_ep(end), end->cr, &handle[IN_RSP]));
	handle[IN_CR] = make_request(peer, end, qual);
	ok(dat_cno_create(end->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &handle[IN_CNO]));
	handle[IN_EVD_DTO] = end->recv;
	handle[IN_EVD_CONNECTION] = end->connect;
	handle[IN_EVD_CR] = end->cr;
	handle[IN_EVD_SOFTWARE] = make_evd(end, DAT_EVD_SOFTWARE_FLAG);
}

/* Each freed by the call that is made for it; the instance last. */
static void
free_each(const DAT_HANDLE *handle)
{
	ok(dat_cr_reject(handle[IN_CR] NEW_ARGS(, 0, NULL)));
	ok(dat_psp_free(handle[IN_PSP]));
	ok(dat_rsp_free(handle[IN_RSP]));
	ok(dat_ep_free(handle[IN_EP]));
	ok(dat_srq_free(handle[IN_SRQ]));
	ok(dat_rmr_free(handle[IN_RMR]));
	ok(dat_lmr_free(handle[IN_LMR]));
	ok(dat_cno_free(handle[IN_CNO]));
}

static void
make_freed(struct objects *o)
{
	struct end extra;

	end_open(&extra, "loop0", NULL);
	fill(&extra, b, QUAL + 2, o->freed);
	free_each(o->freed);
	o->freed[IN_PZ] = make_pz(&extra);
	ok(dat_pz_free(o->freed[IN_PZ]));
	for (unsigned int kind = IN_EVD; kind < KINDS; kind++) {
		static const DAT_EVD_FLAGS flags[] = { DAT_EVD_DTO_FLAG, DAT_EVD_CONNECTION_FLAG,
			DAT_EVD_CR_FLAG, DAT_EVD_SOFTWARE_FLAG };

		o->freed[kind] = make_evd(&extra, flags[kind - IN_EVD]);
		ok(dat_evd_free(o->freed[kind]));
	}
	o->provider.freed = provider_handle(extra.ia);
	end_close(&extra);
}

void
objects_open(struct objects *o)
{
	memset(o, 0, sizeof(*o));
	pair_open(&pair, NULL, NULL);
	fill(a, b, QUAL, o->good);
	fill(b, a, QUAL, o->other);
	/* For dat_evd_modify_cno() to leave alone. */
	ok(dat_evd_modify_cno(o->good[IN_EVD_SOFTWARE], o->good[IN_CNO]));
	make_freed(o);
	o->provider.good = provider_handle(o->good[IN_IA]);
	o->provider.other = provider_handle(o->other[IN_IA]);
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		const DAT_CONTEXT context = { .as_64 = CONTEXT + kind };

		ok(dat_set_consumer_context(o->good[kind], context));
	}
}

void
objects_look(const struct objects *o, struct view *view)
{
	ok(dat_ep_query(o->good[IN_EP], DAT_EP_FIELD_ALL, &view->ep));
	ok(dat_ep_get_status(o->good[IN_EP], &view->state, &view->recv_idle, &view->request_idle));
	ok(dat_ep_recv_query(o->good[IN_EP], &view->receives, NULL));
	ok(dat_srq_query(o->good[IN_SRQ], DAT_SRQ_FIELD_ALL, &view->srq));
	for (unsigned int kind = IN_EVD; kind < KINDS; kind++)
		ok(dat_evd_query(o->good[kind], DAT_EVD_FIELD_ALL, &view->evd[kind - IN_EVD]));
	ok(dat_lmr_query(o->good[IN_LMR], DAT_LMR_FIELD_ALL, &view->lmr));
	ok(dat_rmr_query(o->good[IN_RMR], DAT_RMR_FIELD_ALL, &view->rmr));
	ok(dat_pz_query(o->good[IN_PZ], DAT_PZ_FIELD_ALL, &view->pz));
	ok(dat_psp_query(o->good[IN_PSP], DAT_PSP_FIELD_ALL, &view->psp));
	ok(dat_rsp_query(o->good[IN_RSP], DAT_RSP_FIELD_ALL, &view->rsp));
	ok(dat_cr_query(o->good[IN_CR], DAT_CR_FIELD_ALL, &view->cr));
	ok(dat_cno_query(o->good[IN_CNO], DAT_CNO_FIELD_ALL, &view->cno));
	for (unsigned int kind = 0; kind < KINDS; kind++)
		ok(dat_get_consumer_context(o->good[kind], &view->context[kind]));
}

/* Parts of a view that are answers of queries. */
static const struct {
	enum answer kind;
	size_t at;
} parts[] = {
	{ ANSWER_EP, offsetof(struct view, ep) },
	{ ANSWER_SRQ, offsetof(struct view, srq) },
	{ ANSWER_EVD, offsetof(struct view, evd[0]) },
	{ ANSWER_EVD, offsetof(struct view, evd[1]) },
	{ ANSWER_EVD, offsetof(struct view, evd[2]) },
	{ ANSWER_EVD, offsetof(struct view, evd[3]) },
	{ ANSWER_LMR, offsetof(struct view, lmr) },
	{ ANSWER_RMR, offsetof(struct view, rmr) },
	{ ANSWER_PZ, offsetof(struct view, pz) },
	{ ANSWER_PSP, offsetof(struct view, psp) },
	{ ANSWER_RSP, offsetof(struct view, rsp) },
	{ ANSWER_CR, offsetof(struct view, cr) },
	{ ANSWER_CNO, offsetof(struct view, cno) },
};

static_assert(KINDS - IN_EVD == 4, "as many dispatchers as above");

const char *
view_difference(const struct view *now, const struct view *before)
{
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const char *name = answer_difference(parts[i].kind, (const char *)now + parts[i].at,
				(const char *)before + parts[i].at);

		if (name != NULL)
			return name;
	}
	for (unsigned int kind = 0; kind < KINDS; kind++)
		if (now->context[kind].as_64 != before->context[kind].as_64)
			return "context";
	if (now->state != before->state || now->recv_idle != before->recv_idle ||
			now->request_idle != before->request_idle)
		return "status of the endpoint";
	return now->receives != before->receives ? "receives of the endpoint" : NULL;
}
