/* SPDX-License-Identifier: BSD-3-Clause */
/* An adapter of DAT and contexts on one device at once, each told of its own; and an Endpoint connected to a queue pair. */

#include <arpa/inet.h>
#include <string.h>

#include <dat/udat.h>

#include "rig.h"

/** Objects of DAT on loop0, beside the context of end a. */
struct adapter {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, evd;
	DAT_PZ_HANDLE pz;
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_TRIPLET segment;
	char text[64];
};

static void
adapter_open(struct adapter *d)
{
	DAT_REGION_DESCRIPTION region = { .for_va = d->text };
	DAT_RMR_CONTEXT rmr;
	DAT_VLEN length;
	DAT_VADDR start;
	char name[] = "loop0";

	memset(d, 0, sizeof(*d));
	ok(dat_ia_open(name, 8, &d->async, &d->ia));
	ok(dat_pz_create(d->ia, &d->pz));
	ok(dat_evd_create(d->ia, 64, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG,
			&d->evd));
	ok(dat_ep_create(d->ia, d->pz, d->evd, d->evd, d->evd, NULL, &d->ep));
	ok(dat_lmr_create(d->ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(d->text), d->pz,
			DAT_MEM_PRIV_ALL_FLAG, &d->lmr, &d->segment.lmr_context, &rmr, &length,
			&start));
	d->segment.virtual_address = start;
	d->segment.segment_length = sizeof(d->text);
}

static void
want_event(struct pair *pair, const struct adapter *d, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(d->evd, &event) != DAT_SUCCESS)
		poll_once(pair);
	assert_int_equal(event.event_number, number);
}

static void
adapter__and_context_share_a_device(void **state)
{
	struct pair *pair = *state;
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct roce_cm_conn_param answer;
	struct roce_qp *qp = end_qp(&pair->b, NULL);
	struct roce_cm_id *id;
	struct roce_srq *srq;
	DAT_DTO_COOKIE cookie = { .as_64 = 1 };
	DAT_EVENT event;
	struct adapter d;

	adapter_open(&d);
	pair_connect(pair);
	inet_pton(AF_INET, "192.0.2.2", &to.sin_addr);
	ok(dat_ep_connect(d.ep, (DAT_IA_ADDRESS_PTR)&to, PORT, DAT_TIMEOUT_INFINITE, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	id = want_cm(pair, &pair->b, ROCE_CM_EVENT_CONNECT_REQUEST).id;
	answer = param_of(qp, NULL);
	ok(post_recv(&pair->b, qp, 7, 0, 64));
	ok(roce_cm_id_accept(id, &answer));
	want_event(pair, &d, DAT_CONNECTION_EVENT_ESTABLISHED);
	want_cm(pair, &pair->b, ROCE_CM_EVENT_ESTABLISHED);
	strcpy(d.text, "from DAT");
	ok(dat_ep_post_send(d.ep, 1, &d.segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
	assert_int_equal(want_completion(pair, pair->b.cq, ROCE_WC_SUCCESS).wr_id, 7);
	assert_string_equal((char *)pair->b.memory, "from DAT");
	want_event(pair, &d, DAT_DTO_COMPLETION_EVENT);

	/* The end of the context's objects is nothing to the adapter, and the other way round. */
	ok(roce_srq_create(pair->a.pd, 8, 1, &srq, &srq));
	ok(roce_srq_set_low(srq, 1));
	want_async(pair, pair->a.context, ROCE_ASYNC_SRQ_LIMIT, &srq);
	ok(roce_srq_destroy(srq));
	assert_int_equal(DAT_GET_TYPE(dat_evd_dequeue(d.async, &event)), DAT_QUEUE_EMPTY);
	ok(dat_ep_disconnect(d.ep, DAT_CLOSE_GRACEFUL_FLAG));
	want_event(pair, &d, DAT_CONNECTION_EVENT_DISCONNECTED);
	assert_ptr_equal(want_cm(pair, &pair->b, ROCE_CM_EVENT_DISCONNECTED).id, id);
	want_quiet(pair, &pair->a);
	roce_cm_id_destroy(id);
	roce_qp_destroy(qp);
	ok(dat_ia_close(d.ia, DAT_CLOSE_ABRUPT_FLAG));

	/* The context lives on without the adapter. */
	struct roce_wr wr = { .opcode = ROCE_WR_SEND, .flags = ROCE_WR_SIGNALED };

	ok(post_recv(&pair->b, pair->b.qp, 1, 0, 64));
	ok(post_send(&pair->a, wr, 0, 64));
	want_completion(pair, pair->a.cq, ROCE_WC_SUCCESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
				adapter__and_context_share_a_device, pair_open, pair_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
