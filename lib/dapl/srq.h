/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SRQ_H
#define DAPL_SRQ_H

/**
 * @file
 * Shared receive queues.
 */

#include <stdint.h>

#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/status.h"
#include "engine/verbs.h"

struct dapl_srq {
	struct dapl_obj head;
	struct roce_srq *srq;
	struct dapl_pz *pz;
	uint32_t max_recv_iov;
};

/** @return DAPL_OK; DAPL_NO_MEMORY. Any thread. */
enum dapl_status
dapl_srq_create(struct dapl_pz *pz, uint32_t max_dtos, uint32_t max_iov, struct dapl_srq **srq);
/** @return DAPL_OK; DAPL_SRQ_IN_USE. Buffers still posted vanish without completion. */
enum dapl_status dapl_srq_free(struct dapl_srq *srq);
/** @return DAPL_OK; DAPL_BUSY: more is outstanding, or the low watermark is higher; DAPL_NO_MEMORY. */
enum dapl_status dapl_srq_resize(struct dapl_srq *srq, uint32_t max_dtos);
/** Set and arm the low watermark. @return DAPL_OK; DAPL_BAD_COUNT: above the size of the queue. */
enum dapl_status dapl_srq_set_lw(struct dapl_srq *srq, uint32_t low);
/** Post a buffer; lean. Any number of threads. @return DAPL_OK or as dapl_post_error(). */
enum dapl_status dapl_srq_post_recv(struct dapl_srq *srq, const struct roce_recv_wr *wr);

#endif
