/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection zones of a queue and of its endpoints, equal and different (srq_ep_pz_difference_supported): the queue's
 * zone judges receives, the endpoint's own its sends.
 */

#include "rig.h"

#define ZONES      3u
#define REGION_LEN 8192u

/* Zones of b, with one region each. */
struct zones {
	struct pair pair;
	DAT_PZ_HANDLE pz[ZONES];
	DAT_LMR_HANDLE lmr[ZONES];
	DAT_LMR_CONTEXT key[ZONES];
};

static void
zones_open(struct zones *z)
{
	struct end *b = &z->pair.b;

	srq_pair_open(&z->pair, 8, 1);
	ok(dat_ep_free(b->ep));
	ok(dat_srq_free(b->srq));
	for (unsigned int i = 0; i < ZONES; i++) {
		DAT_REGION_DESCRIPTION region = { .for_va = b->buffer };

		ok(dat_pz_create(b->ia, &z->pz[i]));
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, REGION_LEN, z->pz[i],
				DAT_MEM_PRIV_ALL_FLAG, &z->lmr[i], &z->key[i], NULL, NULL, NULL));
	}
}

/* A queue in one zone and a connected endpoint in another. */
static void
connect_in(struct zones *z, unsigned int srq_zone, unsigned int ep_zone)
{
	struct end *b = &z->pair.b;

	b->pz = z->pz[srq_zone];
	b->srq = make_srq(b, 8, 1);
	b->pz = z->pz[ep_zone];
	b->ep = srq_ep(b, NULL);
	pair_connect(&z->pair);
}

static void
disconnect_and_free(struct zones *z)
{
	part(&z->pair);
	ok(dat_ep_free(z->pair.b.ep));
	ok(dat_srq_free(z->pair.b.srq));
	ok(dat_ep_reset(z->pair.a.ep));
}

static DAT_LMR_TRIPLET
piece_in(const struct zones *z, unsigned int zone)
{
	return (DAT_LMR_TRIPLET){ .lmr_context = z->key[zone],
		.virtual_address = (uintptr_t)z->pair.b.buffer,
		.segment_length = 64 };
}

/*
 * Every combination of zones of queue, endpoint and memory. Only the zone of the queue decides on a receive (B16,
 * B12), only that of the endpoint on a send.
 *
 * Proves: ep_create_with_srq.4 srq_create.6 srq_post_recv.5
 */
static void
zones__queue_judges_receives_endpoint_sends(void **state)
{
	struct zones z;

	zones_open(&z);
	for (unsigned int srq = 0; srq < ZONES; srq++) {
		for (unsigned int ep = 0; ep < ZONES; ep++) {
			struct end *b = &z.pair.b;

			print_message("queue %u endpoint %u\n", srq, ep);
			connect_in(&z, srq, ep);
			for (unsigned int memory = 0; memory < ZONES; memory++) {
				DAT_LMR_TRIPLET iov = piece_in(&z, memory);

				want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(memory)),
						memory == srq ? DAT_SUCCESS
							      : DAT_PROTECTION_VIOLATION);
				ok(post_recv(&z.pair.a, 4096, 64, memory));
				want_type(dat_ep_post_send(b->ep, 1, &iov, cookie(memory),
							  DAT_COMPLETION_DEFAULT_FLAG),
						memory == ep ? DAT_SUCCESS
							     : DAT_PROTECTION_VIOLATION);
			}
			want_counts(b->srq, 8, 1, 1);
			z.pair.a.buffer[0] = (uint8_t)(16 * srq + ep + 1);
			deliver(&z.pair, 64);
			want_dto(b, b->recv, srq, DAT_DTO_SUCCESS, 64);
			want_dto(b, b->request, ep, DAT_DTO_SUCCESS, 64);
			assert_int_equal(b->buffer[0], 16 * srq + ep + 1);
			disconnect_and_free(&z);
			for (unsigned int i = 0; i < ZONES; i++)
				want_event(z.pair.a.recv, DAT_DTO_COMPLETION_EVENT);
		}
	}
	pair_close(&z.pair);
}

/*
 * Endpoints of different zones on one queue: each receives into the queue's memory.
 *
 * Proves: ep_create_with_srq.4 srq_create.10
 */
static void
zones__several_endpoints_on_one_queue(void **state)
{
	DAT_EP_HANDLE client[ZONES], server[ZONES];
	struct zones z;
	struct end *a, *b;

	zones_open(&z);
	a = &z.pair.a;
	b = &z.pair.b;
	b->pz = z.pz[0];
	b->srq = make_srq(b, 8, 1);
	for (unsigned int i = 0; i < ZONES; i++) {
		b->pz = z.pz[i];
		add_connection(&z.pair);
		client[i] = a->ep;
		server[i] = b->ep;
	}
	for (uint64_t n = 0; n < 30; n++) {
		DAT_LMR_TRIPLET iov = piece_in(&z, 0);

		ok(dat_srq_post_recv(b->srq, 1, &iov, cookie(n)));
		a->ep = client[n % ZONES];
		b->ep = server[n % ZONES];
		deliver(&z.pair, 64);
		want_dto_now(b, b->recv, n, DAT_DTO_SUCCESS);
	}
	pair_close(&z.pair);
}

/*
 * A buffer is judged again when its message comes: its region may be gone by then, and another, of another zone, in
 * its place. The endpoint's zone does not help, even if that is the new region's.
 *
 * Proves: srq_create.6 srq_post_recv.5 ep_create_with_srq.4
 */
static void
zones__judged_again_at_arrival(void **state)
{
	DAT_REGION_DESCRIPTION region;
	struct zones z;
	struct end *b;

	zones_open(&z);
	b = &z.pair.b;
	for (unsigned int same = 0; same < 2; same++) {
		DAT_LMR_TRIPLET iov = piece_in(&z, 0);
		DAT_LMR_CONTEXT key;
		DAT_LMR_HANDLE lmr;

		connect_in(&z, 0, same ? 0 : 1);
		ok(dat_srq_post_recv(b->srq, 1, &iov, cookie(7)));
		ok(dat_lmr_free(z.lmr[0]));
		region.for_va = b->buffer;
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, REGION_LEN, z.pz[1],
				DAT_MEM_PRIV_ALL_FLAG, &lmr, &key, NULL, NULL, NULL));
		ok(post_send(&z.pair.a, 0, 64, 1));
		want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		want_peer_broken(&z.pair, 1, DAT_DTO_ERR_REMOTE_RESPONDER);
		ok(dat_ep_free(b->ep));
		ok(dat_srq_free(b->srq));
		ok(dat_ep_reset(z.pair.a.ep));
		ok(dat_lmr_free(lmr));
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, REGION_LEN, z.pz[0],
				DAT_MEM_PRIV_ALL_FLAG, &z.lmr[0], &z.key[0], NULL, NULL, NULL));
	}
	pair_close(&z.pair);
}

/*
 * A zone is in use as long as a queue or an endpoint is in it, connected or not (B19); neither keeps the zone of the
 * other.
 *
 * Proves: srq_create.11
 */
static void
zones__in_use(void **state)
{
	struct zones z;
	struct end *b;

	zones_open(&z);
	b = &z.pair.b;
	connect_in(&z, 0, 1);
	for (unsigned int i = 0; i < ZONES; i++)
		ok(dat_lmr_free(z.lmr[i]));
	ok(dat_pz_free(z.pz[2]));
	want_error(dat_pz_free(z.pz[0]), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	want_error(dat_pz_free(z.pz[1]), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	part(&z.pair);
	ok(dat_ep_reset(b->ep));
	want_error(dat_pz_free(z.pz[1]), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_ep_free(b->ep));
	ok(dat_pz_free(z.pz[1]));
	want_error(dat_pz_free(z.pz[0]), DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
	ok(dat_srq_free(b->srq));
	ok(dat_pz_free(z.pz[0]));
	pair_close(&z.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(zones__queue_judges_receives_endpoint_sends),
		rig_test(zones__several_endpoints_on_one_queue),
		rig_test(zones__judged_again_at_arrival),
		rig_test(zones__in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
