/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ENGINE_VERBS_H
#define ROCE_ENGINE_VERBS_H

/**
 * @file
 * The upper seam of the engine: the verbs of roce/verbs.h, what the layers above may do besides with the objects
 * (objects.h), and the states of a queue pair.
 */

#include "engine/engine.h"
#include "queue/objects.h"
#include "responder/watermark.h"

/** RESET to RTR. Locked. @return 0; -EINVAL wrong state or attribute. */
int roce_qp_to_rtr(struct roce_qp *qp, const struct roce_qp_connect *connect);

/** RTR to RTS. Locked. @return 0 (also when it is there already); -EINVAL. */
int roce_qp_to_rts(struct roce_qp *qp);

/**
 * May roce_qp_modify() do this to the queue pair now? Locked.
 * @return 0; -EINVAL, -EOPNOTSUPP, -EBUSY as there.
 */
int roce_qp_may_modify(const struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask);

/**
 * Do what roce_qp_may_modify() allows. Locked, and engine 0, too.
 * @param path with ROCE_QP_MOD_AV: to the peer, with the path MTU of the device; else not looked at.
 * @return 0; -EINVAL the MTU is larger than that of the path, or its addresses are of two families, and nothing changed.
 */
int roce_qp_do_modify(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask,
		const struct roce_path *path);

/** roce_qp_query(). Locked. */
void roce_qp_show(const struct roce_qp *qp, struct roce_qp_mod *mod);

/** Any state to RESET: what is posted and has not ended is dropped without completion. Locked. */
void roce_qp_to_reset(struct roce_qp *qp);

/**
 * The consumer is about to end the queue pair. The answer that it still owes the peer, an acknowledgement or a NAK,
 * leaves in the next poll of engine 0, whatever becomes of the queue pair. Messages of the connection manager that are
 * made later leave behind it. Its receive side is in ERR afterwards, and roce_qp_to_error() or roce_qp_to_reset() must
 * follow. Locked, and engine 0, too.
 */
void roce_qp_make_final_ack(struct roce_qp *qp);

/**
 * As roce_qp_create(), for many queue pairs that are asked for more than they will use. The send queue has no room before the
 * first request is posted, and then 64 bytes for each: a SEND of two segments, an RDMA request of one, or a bind. The first
 * larger one, within what was agreed, gives all requests the room that roce_qp_create() gives them. These two posts take the
 * engine's lock and memory, and say -ENOMEM when there is none.
 */
int roce_qp_create_small(const struct roce_qp_attr *attr, struct roce_qp **qp);

#endif
