/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections without a connection manager (roce/dat_ep.h). */

#include <string.h>

#include "dapl/ep.h"
#include "dapl/ep_direct.h"
#include "dapl/ia.h"
#include "front/extension12.h"

#define PSN_MAX 0xffffffu

static DAT_RETURN
query(DAT_EP_HANDLE ep_handle, struct roce_dat_ep_local *local)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct dapl_ep_local is;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (local == NULL)
		return bad_arg(DAT_INVALID_ARG2);
	dapl_ep_query_local(ep, &is);
	*local = (struct roce_dat_ep_local){
		.qpn = is.qpn,
		.psn = is.psn,
		.mtu = is.mtu,
		.max_rd_atomic = (uint8_t)ep->attr.max_rdma_read_out,
		.max_dest_rd_atomic = (uint8_t)ep->attr.max_rdma_read_in,
	};
	memcpy(local->gid, is.ip.b, sizeof(local->gid));
	return DAT_SUCCESS;
}

/* Numbers 0 and 1 are management's, the last one is multicast's. */
static bool
numbers_ok(const struct roce_dat_ep_peer *peer)
{
	return peer->qpn > 1 && peer->qpn < ROCE_QPN_MASK && peer->rq_psn <= PSN_MAX &&
			peer->sq_psn <= PSN_MAX;
}

static bool
fits(const struct dapl_ep *ep, const struct roce_dat_ep_peer *peer)
{
	return peer->mtu <= ep->head.ia->attr.mtu &&
			(peer->mtu == 0 || roce_mtu_code(peer->mtu) != 0) &&
			peer->max_rd_atomic <= ep->attr.max_rdma_read_out &&
			peer->max_dest_rd_atomic <= ep->attr.max_rdma_read_in;
}

static DAT_RETURN
connect_to(DAT_EP_HANDLE ep_handle, const struct roce_dat_ep_peer *peer)
{
	struct dapl_ep *ep = dapl_obj_check(ep_handle, DAPL_EP);
	struct roce_qp_connect connect;

	if (ep == NULL)
		return bad_handle(DAT_INVALID_HANDLE_EP);
	if (peer == NULL || !numbers_ok(peer) || !fits(ep, peer))
		return bad_arg(DAT_INVALID_ARG2);
	connect = (struct roce_qp_connect){
		.path.mtu_code = peer->mtu != 0 ? roce_mtu_code(peer->mtu) : 0,
		.dest_qp = peer->qpn,
		.rq_psn = peer->rq_psn,
		.sq_psn = peer->sq_psn,
		.max_rd_atomic = peer->max_rd_atomic,
		.max_dest_rd_atomic = peer->max_dest_rd_atomic,
	};
	memcpy(connect.path.dst_ip.b, peer->gid, sizeof(peer->gid));
	return front_return(dapl_ep_connect_direct(ep, &connect));
}

const struct roce_dat_ep_calls front_dat_ep_calls = {
	.query = query,
	.connect = connect_to,
};
