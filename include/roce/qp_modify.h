/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_QP_MODIFY_H
#define ROCE_QP_MODIFY_H

/**
 * @file
 * The states of a queue pair in steps, as ibv_modify_qp() has them: for programs that exchange queue pair numbers
 * themselves. roce/verbs.h includes it.
 *
 * A queue pair of which an id of roce/cm.h has charge is moved by that id. Here it can be put in error, and its access
 * rights and RNR timer can be changed.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct roce_qp;

/** States as steps know them: the numbers of enum ibv_qp_state. */
enum roce_qps {
	ROCE_QPS_RESET = 0,
	ROCE_QPS_INIT = 1, /**< receives may be posted; requests of the peer are dropped */
	ROCE_QPS_RTR = 2,  /**< receives from the peer, and refuses posts to its send queue */
	ROCE_QPS_RTS = 3,
	ROCE_QPS_SQD = 4, /**< requests that were begun go on, no other begins; receives go on */
	ROCE_QPS_SQE = 5, /**< never a state of this kind of queue pair */
	ROCE_QPS_ERR = 6
};

/** Which fields count: the numbers of enum ibv_qp_attr_mask. Others of that are refused. */
enum roce_qp_mod_mask {
	ROCE_QP_MOD_STATE = 1 << 0,
	ROCE_QP_MOD_CUR_STATE = 1 << 1,
	ROCE_QP_MOD_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	ROCE_QP_MOD_ACCESS = 1 << 3,
	ROCE_QP_MOD_PKEY_INDEX = 1 << 4,
	ROCE_QP_MOD_PORT = 1 << 5,
	ROCE_QP_MOD_AV = 1 << 7, /**< the addresses, traffic_class, flow_label and hop_limit */
	ROCE_QP_MOD_PATH_MTU = 1 << 8,
	ROCE_QP_MOD_TIMEOUT = 1 << 9,
	ROCE_QP_MOD_RETRY_CNT = 1 << 10,
	ROCE_QP_MOD_RNR_RETRY = 1 << 11,
	ROCE_QP_MOD_RQ_PSN = 1 << 12,
	ROCE_QP_MOD_MAX_RD_ATOMIC = 1 << 13,
	ROCE_QP_MOD_ALT_PATH = 1 << 14, /**< not offered */
	ROCE_QP_MOD_MIN_RNR_TIMER = 1 << 15,
	ROCE_QP_MOD_SQ_PSN = 1 << 16,
	ROCE_QP_MOD_MAX_DEST_RD_ATOMIC = 1 << 17,
	ROCE_QP_MOD_PATH_MIG_STATE = 1 << 18, /**< not offered */
	ROCE_QP_MOD_DEST_QPN = 1 << 20
};

/** The attributes of a queue pair that steps set. Units and codes are those of verbs, but for the MTU. */
struct roce_qp_mod {
	uint8_t state;         /**< enum roce_qps: where to go */
	uint8_t cur_state;     /**< where it is, as the caller believes */
	uint8_t port_num;      /**< 1 */
	uint8_t min_rnr_timer; /**< code 0..31 that RNR NAKs of this end carry */
	uint8_t timeout;       /**< local ACK timeout, code 0..31; 0: none */
	uint8_t retry_cnt;     /**< 0..7 */
	uint8_t rnr_retry;     /**< 0..6; 7 for ever */
	uint8_t max_rd_atomic; /**< 0..ROCE_RD_ATOMIC_MAX: READs and atomics that this end may have outstanding */
	uint8_t max_dest_rd_atomic; /**< that the peer may have; at most what the queue pair was made with */
	uint8_t traffic_class;       /**< TOS of IPv4; 0: that of the device, `tos=` */
	uint8_t hop_limit;           /**< TTL of IPv4; 0: 64 */
	uint8_t en_sqd_async_notify; /**< not 0: ROCE_ASYNC_SQ_DRAINED comes when SQD has drained */
	uint16_t pkey_index;         /**< 0 */
	uint8_t sq_draining; /**< of roce_qp_query(): 1 in SQD, while a request that was begun is not over */
	uint8_t reserved; /**< 0 */
	uint32_t access; /**< enum roce_access, together: what the peer may do; LOCAL_WRITE says nothing */
	uint32_t path_mtu; /**< bytes, at most the device's; that of both ends */
	uint32_t dest_qpn; /**< number of the peer's queue pair */
	uint32_t rq_psn;   /**< first PSN that the peer sends, 24 bits */
	uint32_t sq_psn;   /**< first PSN that this end sends, 24 bits */
	uint32_t flow_label; /**< 20 bits, of which verbs makes the UDP source port; 0: made of both numbers */
	uint8_t remote_ip[16]; /**< GID of the peer: IPv6 or IPv4-mapped, network byte order */
	/** GID of this end, which the peer has as its remote_ip: one of the context's. All zero: as the route says. */
	uint8_t local_ip[16];
};

/**
 * Move a queue pair to a state, or change attributes in the one it has.
 *
 * - RESET to INIT needs PKEY_INDEX, PORT and ACCESS.
 * - INIT to INIT may have these.
 * - INIT to RTR needs AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC and MIN_RNR_TIMER; it may have PKEY_INDEX and ACCESS.
 * - RTR to RTS needs SQ_PSN, TIMEOUT, RETRY_CNT, RNR_RETRY and MAX_RD_ATOMIC; it may have CUR_STATE, ACCESS and MIN_RNR_TIMER.
 * - RTS to RTS may have the latter three.
 * - RTS to SQD may have CUR_STATE and EN_SQD_ASYNC_NOTIFY.
 * - SQD to SQD may have CUR_STATE, ACCESS, MIN_RNR_TIMER, TIMEOUT, RETRY_CNT, RNR_RETRY, PKEY_INDEX and PORT.
 * - SQD to RTS may have CUR_STATE, ACCESS and MIN_RNR_TIMER.
 * - Any state leads to RESET and to ERR.
 *
 * Without STATE it stays where it is. On the way to RTR the peer's address is resolved, which may take a second: the call says
 * -EAGAIN, has asked and changed nothing. Poll the device and call again.
 *
 * In SQD no request is begun; those that were go on and complete, and until then, which roce_qp_query() shows as sq_draining, the
 * only steps are those to RESET and ERR. Requests may be posted all the time: they wait for RTS. From SQD on, until RESET, sending
 * a small request takes more instructions, as after a bind.
 *
 * To RESET what is posted vanishes without completion; to ERR it is flushed before the call returns.
 *
 * Any thread that holds no engine lock; to RESET not beside posts to the queue pair.
 *
 * @return 0; -EAGAIN as above; -EINVAL a step, attribute or value that is none; -EOPNOTSUPP an alternate path, or in SQD the
 *   addresses, MAX_RD_ATOMIC or MAX_DEST_RD_ATOMIC;
 *   -EBUSY an id has charge of the queue pair; -EHOSTUNREACH nobody has the address; -ENETUNREACH no route. A failure
 *   changes nothing.
 */
int roce_qp_modify(struct roce_qp *qp, const struct roce_qp_mod *mod, uint32_t mask);

/**
 * All that roce_qp_modify() sets, as it is; state and cur_state are both the state now, ERR when the transport gave up.
 * Of a queue pair that an id connected it is what the two ends agreed upon. An attribute that was not set yet is zero. Any thread that
 * holds no engine lock.
 */
void roce_qp_query(struct roce_qp *qp, struct roce_qp_mod *mod);

#ifdef __cplusplus
}
#endif

#endif
