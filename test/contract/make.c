/* SPDX-License-Identifier: BSD-3-Clause */

#include "rig.h"

DAT_EVD_HANDLE
make_evd_of(const struct end *end, DAT_COUNT len, unsigned int flags)
{
	DAT_EVD_HANDLE evd;

	ok(dat_evd_create(end->ia, len, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)flags, &evd));
	return evd;
}

DAT_EVD_HANDLE
make_evd(const struct end *end, unsigned int flags)
{
	return make_evd_of(end, EVD_LEN, flags);
}

DAT_PZ_HANDLE
make_pz(const struct end *end)
{
	DAT_PZ_HANDLE pz;

	ok(dat_pz_create(end->ia, &pz));
	return pz;
}

DAT_RMR_HANDLE
make_rmr(const struct end *end)
{
	DAT_RMR_HANDLE rmr;

	ok(dat_rmr_create(end->pz, &rmr));
	return rmr;
}

DAT_PSP_HANDLE
make_psp(const struct end *end, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd)
{
	DAT_PSP_HANDLE psp;

	ok(dat_psp_create(end->ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	return psp;
}

DAT_LMR_HANDLE
register_bytes(const struct end *end, DAT_VLEN length, DAT_PZ_HANDLE pz, unsigned int priv,
		DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = end->buffer };
	DAT_LMR_CONTEXT unwanted;
	DAT_LMR_HANDLE lmr;

	ok(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, length, pz,
			(DAT_MEM_PRIV_FLAGS)priv NEW_ARGS(, DAT_VA_TYPE_VA), &lmr,
			key != NULL ? key : &unwanted, peer_key, NULL, NULL));
	return lmr;
}

DAT_LMR_TRIPLET
segment_of(const struct end *end, DAT_LMR_CONTEXT key, size_t offset, DAT_VLEN length)
{
	DAT_LMR_TRIPLET iov = segment(end, offset, length);

	iov.lmr_context = key;
	return iov;
}

DAT_RMR_TRIPLET
target(const struct end *end, size_t offset, DAT_VLEN length)
{
	return (DAT_RMR_TRIPLET){
		.rmr_context = end->key,
		.target_address = (uintptr_t)end->buffer + offset,
		.segment_length = BY_ABI(length, (DAT_SEG_LENGTH)length),
	};
}

void
open_beside(struct end *twin, const char *name, DAT_EVD_HANDLE async)
{
	char copy[32];

	*twin = (struct end){ .async = async };
	snprintf(copy, sizeof(copy), "%s", name);
	ok(dat_ia_open(copy, 8, &twin->async, &twin->ia));
	twin->pz = make_pz(twin);
	twin->srq = make_srq(twin, 4, 1);
}

DAT_EP_HANDLE
another_ep(const struct end *end)
{
	DAT_EP_HANDLE ep;

	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, NULL, &ep));
	return ep;
}

DAT_EP_HANDLE
srq_ep(const struct end *end, const DAT_EP_ATTR *attr)
{
	static const DAT_EP_ATTR standard;
	DAT_EP_HANDLE ep;

	ok(dat_ep_create_with_srq(end->ia, end->pz, end->recv, end->request, end->connect, end->srq,
			attr != NULL ? attr : &standard, &ep));
	return ep;
}

void
use_ep(struct end *end, const DAT_EP_ATTR *attr)
{
	ok(dat_ep_free(end->ep));
	ok(dat_ep_create(end->ia, end->pz, end->recv, end->request, end->connect, attr, &end->ep));
}

void
use_srq_ep(struct end *end, const DAT_EP_ATTR *attr)
{
	ok(dat_ep_free(end->ep));
	end->ep = srq_ep(end, attr);
}

void
use_one_evd(struct end *end)
{
	end->recv = make_evd(end, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
	end->request = end->recv;
	end->connect = end->recv;
	use_srq_ep(end, NULL);
}

void
free_srq_ep(const struct end *end)
{
	ok(dat_ep_free(end->ep));
	ok(dat_srq_free(end->srq));
}

void
free_to_the_zone(const struct end *end)
{
	ok(dat_ep_free(end->ep));
	if (end->srq != DAT_HANDLE_NULL)
		ok(dat_srq_free(end->srq));
	ok(dat_lmr_free(end->lmr));
	ok(dat_pz_free(end->pz));
}
