/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection zones of a queue and of its endpoints, equal and different (srq_ep_pz_difference_supported): the queue's
 * zone judges receives, the endpoint's own its sends.
 */

#include "rig.h"

#define ZONES      3u
#define REGION_LEN 8192u

/* Zones of b, with one region each. */
static struct {
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
} zone[ZONES];

static void
zones_open(void)
{
	srq_pair_open(&pair, 8, 1);
	free_srq_ep(b);
	for (unsigned int i = 0; i < ZONES; i++) {
		zone[i].pz = make_pz(b);
		zone[i].lmr = register_bytes(b, REGION_LEN, zone[i].pz, DAT_MEM_PRIV_ALL_FLAG,
				&zone[i].key, NULL);
	}
}

/* A queue in one zone and a connected endpoint in another. */
static void
connect_in(unsigned int srq_zone, unsigned int ep_zone)
{
	b->pz = zone[srq_zone].pz;
	b->srq = make_srq(b, 8, 1);
	b->pz = zone[ep_zone].pz;
	b->ep = srq_ep(b, NULL);
	pair_connect(&pair);
}

static void
disconnect_and_free(void)
{
	part(&pair);
	free_srq_ep(b);
	ok(dat_ep_reset(a->ep));
}

static DAT_LMR_TRIPLET
piece_in(unsigned int i)
{
	return segment_of(b, zone[i].key, 0, 64);
}

/*
 * Every combination of zones of queue, endpoint and memory. Only the zone of the queue decides on a receive (B16,
 * B12), only that of the endpoint on a send.
 * Proves: ep_create_with_srq.4 srq_create.6 srq_post_recv.5
 */
static void
zones__queue_judges_receives_endpoint_sends(void **state)
{
	zones_open();
	for (unsigned int srq = 0; srq < ZONES; srq++) {
		for (unsigned int ep = 0; ep < ZONES; ep++) {
			print_message("queue %u endpoint %u\n", srq, ep);
			connect_in(srq, ep);
			for (unsigned int memory = 0; memory < ZONES; memory++) {
				DAT_LMR_TRIPLET iov = piece_in(memory);

				want_type(dat_srq_post_recv(b->srq, 1, &iov, cookie(memory)),
						memory == srq ? DAT_SUCCESS
							      : DAT_PROTECTION_VIOLATION);
				ok(post_recv(a, 4096, 64, memory));
				want_type(dat_ep_post_send(b->ep, 1, &iov, cookie(memory),
							  DAT_COMPLETION_DEFAULT_FLAG),
						memory == ep ? DAT_SUCCESS
							     : DAT_PROTECTION_VIOLATION);
			}
			want_counts(b->srq, 8, 1, 1);
			a->buffer[0] = (uint8_t)(16 * srq + ep + 1);
			deliver_as(srq, 64);
			want_dto(b, b->request, ep, DAT_DTO_SUCCESS, 64);
			assert_int_equal(b->buffer[0], 16 * srq + ep + 1);
			disconnect_and_free();
			for (unsigned int i = 0; i < ZONES; i++)
				want_event(a->recv, DAT_DTO_COMPLETION_EVENT);
		}
	}
}

/* Endpoints of different zones on one queue: each receives into the queue's memory. */
/* Proves: ep_create_with_srq.4 srq_create.10 */
static void
zones__several_endpoints_on_one_queue(void **state)
{
	DAT_EP_HANDLE client[ZONES], server[ZONES];

	zones_open();
	b->pz = zone[0].pz;
	b->srq = make_srq(b, 8, 1);
	for (unsigned int i = 0; i < ZONES; i++) {
		b->pz = zone[i].pz;
		add_connection(&pair);
		client[i] = a->ep;
		server[i] = b->ep;
	}
	for (uint64_t n = 0; n < 30; n++) {
		DAT_LMR_TRIPLET iov = piece_in(0);

		ok(dat_srq_post_recv(b->srq, 1, &iov, cookie(n)));
		a->ep = client[n % ZONES];
		b->ep = server[n % ZONES];
		deliver(&pair, 64);
		want_dto_now(b, b->recv, n, DAT_DTO_SUCCESS);
	}
}

/*
 * A buffer is judged again when its message comes: its region may be gone by then, and another, of another zone, in
 * its place. The endpoint's zone does not help, even if that is the new region's.
 * Proves: srq_create.6 srq_post_recv.5 ep_create_with_srq.4
 */
static void
zones__judged_again_at_arrival(void **state)
{
	zones_open();
	for (unsigned int same = 0; same < 2; same++) {
		DAT_LMR_TRIPLET iov = piece_in(0);
		DAT_LMR_HANDLE lmr;

		connect_in(0, same ? 0 : 1);
		ok(dat_srq_post_recv(b->srq, 1, &iov, cookie(7)));
		ok(dat_lmr_free(zone[0].lmr));
		lmr = register_bytes(b, REGION_LEN, zone[1].pz, DAT_MEM_PRIV_ALL_FLAG, NULL, NULL);
		ok(post_send(a, 0, 64, 1));
		want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
		want_event(b->connect, DAT_CONNECTION_EVENT_BROKEN);
		want_peer_broken(1, DAT_DTO_ERR_REMOTE_RESPONDER);
		free_srq_ep(b);
		ok(dat_ep_reset(a->ep));
		ok(dat_lmr_free(lmr));
		zone[0].lmr = register_bytes(b, REGION_LEN, zone[0].pz, DAT_MEM_PRIV_ALL_FLAG,
				&zone[0].key, NULL);
	}
}

/*
 * A zone is in use as long as a queue or an endpoint is in it, connected or not (B19); neither keeps the zone of the
 * other.
 * Proves: srq_create.11
 */
static void
zones__in_use(void **state)
{
	zones_open();
	connect_in(0, 1);
	for (unsigned int i = 0; i < ZONES; i++)
		ok(dat_lmr_free(zone[i].lmr));
	ok(dat_pz_free(zone[2].pz));
	want_bad_state(dat_pz_free(zone[0].pz), PZ_IN_USE);
	want_bad_state(dat_pz_free(zone[1].pz), PZ_IN_USE);
	part(&pair);
	ok(dat_ep_reset(b->ep));
	want_bad_state(dat_pz_free(zone[1].pz), PZ_IN_USE);
	ok(dat_ep_free(b->ep));
	ok(dat_pz_free(zone[1].pz));
	want_bad_state(dat_pz_free(zone[0].pz), PZ_IN_USE);
	ok(dat_srq_free(b->srq));
	ok(dat_pz_free(zone[0].pz));
}

const struct CMUnitTest tests[] = {
	rig_test(zones__queue_judges_receives_endpoint_sends),
	rig_test(zones__several_endpoints_on_one_queue),
	rig_test(zones__judged_again_at_arrival),
	rig_test(zones__in_use),
	tests_end,
};
