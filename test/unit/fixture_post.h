/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_FIXTURE_POST_H
#define ROCE_TEST_FIXTURE_POST_H

/** @file What is posted, and the event that comes of it. */

#include "fixture_qp.h"

/** Post a SEND of @p len bytes from the end's memory at @p offset. @return as roce_qp_post_send(). */
int fx_send(struct fx_end *end, struct roce_qp *qp, uint64_t wr_id, uint32_t offset, uint32_t len,
		uint8_t flags);

/** Post @p n such SENDs from offset 0, with success; wr_id is their number. */
void fx_send_many(struct fx_end *end, struct roce_qp *qp, uint32_t n, uint32_t len, uint8_t flags);

/** Requests, and receives, that the queue pair has: roce_qp_depth(). */
uint32_t fx_requests(const struct roce_qp *qp);
uint32_t fx_receives(const struct roce_qp *qp);

/** A receive of @p len bytes into the end's memory at @p offset, for @p sge to live in. */
struct roce_recv_wr fx_recv(const struct fx_end *end, struct roce_sge *sge, uint64_t wr_id,
		uint32_t offset, uint32_t len);

/** Post @p n receives of @p len bytes to the end's shared queue; wr_id is their number, all at offset 0. */
void fx_fill_srq(struct fx_end *end, uint32_t n, uint32_t len);

/** The only event of a completion queue; a failure when it is none or several. */
struct roce_event fx_event(struct roce_cq *cq);

#endif
