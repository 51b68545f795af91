/* SPDX-License-Identifier: BSD-3-Clause */
/* The close of an adapter ends, whatever is left in it. The test's own time ends one that does not. */

#include <stdlib.h>

#include "dapl/ep.h"
#include "dapl/ep_state.h"
#include "dapl/ia.h"
#include "dapl/ia_list.h"
#include "dapl/obj.h"
#include "dapl/pz.h"
#include "dapl/status.h"
#include "rules.h"

static const int provider; /* stands for the table of calls */

static struct dapl_ia *
open_ia(void)
{
	const struct dapl_ia_open open = {
		.name = "mine",
		.params = "port=loop0 ip=192.0.2.1/24",
		.provider = &provider,
	};
	struct dapl_ia *ia;

	assert_int_equal(dapl_ia_open(&open, &ia), DAPL_OK);
	return ia;
}

static struct dapl_pz *
make_pz(struct dapl_ia *ia)
{
	struct dapl_pz *pz;

	assert_int_equal(dapl_pz_create(ia, &pz), DAPL_OK);
	return pz;
}

static struct dapl_ep *
make_ep(struct dapl_ia *ia, struct dapl_pz *pz)
{
	const struct dapl_ep_create create = {
		.pz = pz,
		.attr = {
			.max_message = 4096,
			.max_recv_dtos = 1,
			.max_request_dtos = 1,
			.max_recv_iov = 1,
			.max_request_iov = 1,
			.srq_soft_hw = DAPL_HIGH_WATER_NONE,
		},
	};
	struct dapl_ep *ep;

	assert_int_equal(dapl_ep_create(ia, &create, &ep), DAPL_OK);
	return ep;
}

/* Also an endpoint that nobody could free: the service point or the request it was promised to is not there. */
UNIT_RULE_IN(close__takes_endpoints_of_any_state, NULL, NULL)
{
	for (unsigned int in = DAPL_EP_STATE_UNCONNECTED; in < DAPL_EP_STATES; in++) {
		struct dapl_ia *ia = open_ia();
		struct dapl_pz *pz = make_pz(ia);
		struct dapl_ep *ep = make_ep(ia, pz);

		ep->state = (uint8_t)in;
		assert_int_equal(dapl_ia_close(ia, true), DAPL_IA_IN_USE);
		assert_int_equal(dapl_ia_close(ia, false), DAPL_OK);
		/* All of it lies in the graveyard, and is a handle no longer. */
		assert_null(dapl_obj_check(ep, DAPL_EP));
		assert_null(dapl_obj_check(pz, DAPL_PZ));
		assert_null(dapl_obj_check(ia, DAPL_IA));
		assert_false(dapl_ia_is_open("mine"));
	}
}

/* Nor does a zone hold it up that something counts on which is on no list. */
UNIT_RULE_IN(close__does_not_wait_for_who_is_not_there, NULL, NULL)
{
	/* Its memory is lost; a sanitizer looks here before it says so. */
	static struct dapl_pz *pz;
	static uint8_t memory[64];
	struct dapl_ia *ia = open_ia();
	struct roce_mr *mr;

	pz = make_pz(ia);
	assert_int_equal(roce_mr_create(pz->pd, (uintptr_t)memory, sizeof(memory), 0, &mr), 0);
	assert_int_equal(dapl_pz_free(pz), DAPL_PZ_IN_USE);
	assert_int_equal(dapl_ia_close(ia, false), DAPL_OK);
	assert_null(dapl_obj_check(pz, DAPL_PZ));
	assert_false(dapl_ia_is_open("mine"));
}
