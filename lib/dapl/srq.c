/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/srq.h"
#include "dapl/status.h"
#include "engine/verbs.h"

enum dapl_status
dapl_srq_create(struct dapl_pz *pz, uint32_t max_dtos, uint32_t max_iov, struct dapl_srq **srq)
{
	struct dapl_srq *s = dapl_obj_alloc(sizeof(*s), pz->head.ia);

	if (s == NULL)
		return DAPL_NO_MEMORY;
	if (roce_srq_create(pz->pd, max_dtos, max_iov, s, &s->srq) != 0) {
		dapl_obj_free(s);
		return DAPL_NO_MEMORY;
	}
	s->pz = pz;
	s->max_recv_iov = max_iov;
	dapl_obj_publish(s, DAPL_SRQ);
	*srq = s;
	return DAPL_OK;
}

enum dapl_status
dapl_srq_free(struct dapl_srq *srq)
{
	if (roce_srq_destroy(srq->srq) != 0)
		return DAPL_SRQ_IN_USE;
	dapl_obj_retire(srq);
	dapl_obj_free(srq);
	return DAPL_OK;
}

enum dapl_status
dapl_srq_resize(struct dapl_srq *srq, uint32_t max_dtos)
{
	switch (roce_srq_resize(srq->srq, max_dtos)) {
	case 0:
		return DAPL_OK;
	case -EBUSY:
		return DAPL_BUSY;
	default:
		return DAPL_NO_MEMORY;
	}
}

enum dapl_status
dapl_srq_set_lw(struct dapl_srq *srq, uint32_t low)
{
	return roce_srq_set_low(srq->srq, low) == 0 ? DAPL_OK : DAPL_BAD_COUNT;
}

enum dapl_status
dapl_srq_post_recv(struct dapl_srq *srq, const struct roce_recv_wr *wr)
{
	int rc = roce_srq_post(srq->srq, wr);

	if (likely(rc == 0))
		return DAPL_OK;
	return dapl_post_error(rc);
}
