/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_REQUESTER_REWIND_H
#define ROCE_REQUESTER_REWIND_H

/**
 * @file
 * The requester's place in the send queue: it goes back to what is sent again, and stops at a request that fails.
 */

#include "queue/qp.h"

/** A place in the send queue: which frame is sent next. */
struct roce_req_cursor {
	uint32_t next;
	uint32_t offset;
	uint32_t psn;
	uint32_t ssn;
	uint32_t silent;
	bool prot_error; /**< what the request there waits for */
	bool fence_wait;
};

/** Leave the place for another one. @return it, for roce_req_return(). */
static inline struct roce_req_cursor
roce_req_leave(struct roce_qp_tx *tx)
{
	const struct roce_req_cursor cursor = { tx->next, tx->offset, tx->psn, tx->ssn, tx->silent,
		tx->prot_error, tx->fence_wait };

	tx->prot_error = false;
	tx->fence_wait = false;
	return cursor;
}

/** Go back to where it was. No request has begun or ended meanwhile. */
static inline void
roce_req_return(struct roce_qp_tx *tx, const struct roce_req_cursor *cursor)
{
	tx->next = cursor->next;
	tx->offset = cursor->offset;
	tx->psn = cursor->psn;
	tx->ssn = cursor->ssn;
	tx->silent = cursor->silent;
	tx->prot_error = cursor->prot_error;
	tx->fence_wait = cursor->fence_wait;
}

/** Go to @p psn, which is not acknowledged; also to the first one that was never sent. */
void roce_req_seek(struct roce_qp *qp, uint32_t psn);

/** Send again from @p psn, which is sent and not acknowledged. */
void roce_req_rewind(struct roce_qp *qp, uint32_t psn);

/** When the request that cannot be sent is the oldest one: it fails, and with it the connection. */
void roce_req_report_prot_error(struct roce_qp *qp);

/** The request at next is not sent. It fails, and the rest is flushed, when everything before it is acknowledged. */
void roce_req_fail_next(struct roce_qp *qp);

/**
 * No further frame is sent for now. If none of those under way asked for their acknowledgement, they are sent again, and do.
 */
void roce_req_end_silence(struct roce_qp *qp);

/** The same, because its memory is gone or its bind is refused. */
void roce_req_fail_local(struct roce_qp *qp);

#endif
