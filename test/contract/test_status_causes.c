/* SPDX-License-Identifier: BSD-3-Clause */
/* Each status that a completion can have, from a real cause, at both ends (docs/udapl.md has the table). */

#include "mix.h"

#define DEPTH 8
#define SHORT 64

/* a's request failed: so do those behind it, and its connection is broken; b's is told how. */
static void
want_end(struct mix *m, uint64_t failed, DAT_DTO_COMPLETION_STATUS status, uint64_t behind,
		DAT_EVENT_NUMBER at_b)
{
	mix_want(m, failed, status);
	for (uint64_t i = 0; i < behind; i++)
		mix_want(m, failed + 1 + i, DAT_DTO_ERR_FLUSHED);
	want_event(m->pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(m->pair.b.connect, at_b);
	assert_int_equal(end_state(&m->pair.a), DAT_EP_STATE_DISCONNECTED);
	assert_int_equal(end_state(&m->pair.b), DAT_EP_STATE_DISCONNECTED);
}

/* DAT_DTO_ERR_FLUSHED: the connection ended first, and posts to what is disconnected. */
static void
flushed__by_the_end_of_the_connection(void **state)
{
	struct mix m;

	mix_up(&m, DEPTH);
	ok(post_recv(&m.pair.a, 0, SHORT, 1));
	ok(post_recv(&m.pair.b, 0, SHORT, 2));
	for (enum verb verb = SEND; verb < VERBS; verb++)
		ok(mix_post(&m, verb, SHORT, verb));
	ok(dat_ep_disconnect(m.pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	for (enum verb verb = SEND; verb < VERBS; verb++)
		mix_want(&m, verb, DAT_DTO_ERR_FLUSHED);
	want_dto(&m.pair.a, m.pair.a.recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(&m.pair.b, m.pair.b.recv, 2, DAT_DTO_ERR_FLUSHED, 0);
	for (enum verb verb = SEND; verb < VERBS; verb++)
		ok(mix_post(&m, verb, SHORT, verb));
	ok(post_recv(&m.pair.a, 0, SHORT, 3));
	for (enum verb verb = SEND; verb < VERBS; verb++)
		mix_want(&m, verb, DAT_DTO_ERR_FLUSHED);
	want_dto(&m.pair.a, m.pair.a.recv, 3, DAT_DTO_ERR_FLUSHED, 0);
	mix_close(&m);
}

/* DAT_DTO_ERR_LOCAL_LENGTH at the receiver, DAT_DTO_ERR_REMOTE_RESPONDER at the sender: the message is too long. */
static void
local_length__message_longer_than_its_buffer(void **state)
{
	for (int on_srq = 0; on_srq < 2; on_srq++) {
		struct mix m;

		if (on_srq) {
			m = (struct mix){ .rmr = DAT_HANDLE_NULL };
			srq_pair_up(&m.pair, DEPTH, 1);
			ok(post_srq(&m.pair.b, 0, SHORT - 1, 7));
		} else {
			mix_up(&m, DEPTH);
			ok(post_recv(&m.pair.b, 0, SHORT - 1, 7));
		}
		ok(mix_post(&m, SEND, SHORT, 1));
		ok(mix_post(&m, SEND, SHORT, 2));
		want_end(&m, 1, DAT_DTO_ERR_REMOTE_RESPONDER, 1, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_LOCAL_LENGTH, 0);
		mix_close(&m);
	}
}

/* DAT_DTO_ERR_LOCAL_PROTECTION: the request's own memory is no region any more. */
static void
local_protection__region_of_a_request_freed(void **state)
{
	for (enum verb verb = SEND; verb <= READ; verb++) {
		struct mix m;

		print_message("verb %u\n", verb);
		mix_up(&m, DEPTH);
		for (uint64_t i = 0; i < 2; i++)
			ok(post_recv(&m.pair.b, 0, SHORT, i));
		ok(mix_post(&m, verb, SHORT, 1));
		ok(mix_post(&m, SEND, SHORT, 2));
		ok(dat_lmr_free(m.pair.a.lmr));
		want_end(&m, 1, DAT_DTO_ERR_LOCAL_PROTECTION, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
		mix_close(&m);
	}
}

/* DAT_DTO_ERR_LOCAL_PROTECTION at the receiver, DAT_DTO_ERR_REMOTE_RESPONDER at the sender: so is the buffer's. */
static void
local_protection__region_of_a_buffer_freed(void **state)
{
	struct mix m;

	mix_up(&m, DEPTH);
	ok(post_recv(&m.pair.b, 0, SHORT, 7));
	ok(post_recv(&m.pair.b, 0, SHORT, 8));
	ok(dat_lmr_free(m.pair.b.lmr));
	ok(mix_post(&m, SEND, SHORT, 1));
	want_end(&m, 1, DAT_DTO_ERR_REMOTE_RESPONDER, 0, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_dto(&m.pair.b, m.pair.b.recv, 8, DAT_DTO_ERR_FLUSHED, 0);
	mix_close(&m);
}

/** Why a peer's memory is out of reach. */
enum closed {
	NO_SUCH_KEY,
	FREED,
	NO_RIGHT,
	OTHER_ZONE,
	TOO_FAR,
	UNBOUND,
	CAUSES
};

static void
close_memory(struct mix *m, enum closed cause, enum verb verb)
{
	const DAT_MEM_PRIV_FLAGS other = verb == READ ? DAT_MEM_PRIV_REMOTE_WRITE_FLAG
						      : DAT_MEM_PRIV_REMOTE_READ_FLAG;
	struct end *b = &m->pair.b;
	DAT_REGION_DESCRIPTION region = { .for_va = b->buffer };
	DAT_LMR_TRIPLET all = segment(b, 0, BUFFER_LEN), none = segment(b, 0, 0);
	DAT_PZ_HANDLE pz = b->pz;
	DAT_LMR_CONTEXT key;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;

	switch (cause) {
	case NO_SUCH_KEY:
		m->target ^= 0x5a5a00;
		break;
	case FREED:
		ok(dat_lmr_free(b->lmr));
		break;
	case OTHER_ZONE:
		ok(dat_pz_create(b->ia, &pz));
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, pz,
				DAT_MEM_PRIV_ALL_FLAG, &lmr, &key, &m->target, NULL, NULL));
		break;
	case NO_RIGHT:
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER_LEN, pz, other, &lmr,
				&key, &m->target, NULL, NULL));
		break;
	case TOO_FAR:
		ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, SHORT - 1, pz,
				DAT_MEM_PRIV_ALL_FLAG, &lmr, &key, &m->target, NULL, NULL));
		break;
	default:
		ok(dat_rmr_create(pz, &rmr));
		ok(dat_rmr_bind(rmr, &all,
				DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
				b->ep, cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &m->target));
		want_event(b->request, DAT_RMR_BIND_COMPLETION_EVENT);
		ok(dat_rmr_bind(rmr, &none, 0, b->ep, cookie(2), DAT_COMPLETION_DEFAULT_FLAG,
				NULL));
		want_event(b->request, DAT_RMR_BIND_COMPLETION_EVENT);
		break;
	}
}

/* DAT_DTO_ERR_REMOTE_ACCESS: the peer does not let us, for whatever reason. Its memory stays as it is. */
static void
remote_access__memory_that_the_peer_does_not_open(void **state)
{
	for (unsigned int i = 0; i < 2 * CAUSES; i++) {
		enum verb verb = i % 2 != 0 ? READ : WRITE;
		struct mix m;

		print_message("cause %u, verb %u\n", i / 2, verb);
		mix_up(&m, DEPTH);
		ok(post_recv(&m.pair.b, 0, SHORT, 7));
		close_memory(&m, i / 2, verb);
		memset(m.pair.a.buffer, 1, BUFFER_LEN);
		memset(m.pair.b.buffer, 2, BUFFER_LEN);
		ok(mix_post(&m, verb, SHORT, 1));
		ok(mix_post(&m, SEND, SHORT, 2));
		want_end(&m, 1, DAT_DTO_ERR_REMOTE_ACCESS, 1, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		mix_want_all(&m.pair.a, 1);
		mix_want_all(&m.pair.b, 2);
		mix_close(&m);
	}
}

/* DAT_DTO_ERR_RECEIVER_NOT_READY: there is no buffer, as often as we ask. */
static void
receiver_not_ready__nobody_posts_a_buffer(void **state)
{
	struct mix m;

	set_params("rnr_retry=2 rnr_timer=1");
	mix_up(&m, DEPTH);
	ok(mix_post(&m, WRITE, SHORT, 0));
	ok(mix_post(&m, SEND, SHORT, 1));
	ok(mix_post(&m, WRITE, SHORT, 2));
	mix_want(&m, 0, DAT_DTO_SUCCESS);
	want_end(&m, 1, DAT_DTO_ERR_RECEIVER_NOT_READY, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
	mix_close(&m);
}

/* DAT_DTO_ERR_TRANSPORT: the peer does not answer. Dequeuing polls the others only every 64 times, per dispatcher. */
static void
transport__the_peer_is_silent(void **state)
{
	enum {
		QUIET_EVDS = 128,
		POLLS = 60
	};
	DAT_EVD_HANDLE evd[QUIET_EVDS];
	struct mix m;

	set_params("retry=1 timeout=1");
	mix_up(&m, DEPTH);
	for (unsigned int i = 0; i < QUIET_EVDS; i++)
		evd[i] = make_dto_evd(&m.pair.a, 1);
	ok(mix_post(&m, WRITE, SHORT, 1));
	ok(mix_post(&m, WRITE, SHORT, 2));
	for (unsigned int i = 0; i < QUIET_EVDS * POLLS; i++)
		want_none(evd[i % QUIET_EVDS]);
	want_dto_now(&m.pair.a, m.pair.a.request, 1, DAT_DTO_ERR_TRANSPORT);
	want_dto_now(&m.pair.a, m.pair.a.request, 2, DAT_DTO_ERR_FLUSHED);
	want_now(m.pair.a.connect, DAT_CONNECTION_EVENT_BROKEN);
	mix_close(&m);
}

/* DAT_RMR_OPERATION_FAILED: what a bind needs went between post and execution. */
static void
rmr_failed__region_or_window_freed(void **state)
{
	for (int window = 0; window < 2; window++) {
		struct mix m;

		mix_up(&m, DEPTH);
		ok(post_recv(&m.pair.b, 0, SHORT, 7));
		ok(mix_post(&m, BIND, SHORT, 1));
		ok(mix_post(&m, BIND, SHORT, 2));
		ok(window ? dat_rmr_free(m.rmr) : dat_lmr_free(m.pair.a.lmr));
		want_end(&m, 1, DAT_RMR_OPERATION_FAILED, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_dto(&m.pair.b, m.pair.b.recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		mix_close(&m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(flushed__by_the_end_of_the_connection),
		rig_test(local_length__message_longer_than_its_buffer),
		rig_test(local_protection__region_of_a_request_freed),
		rig_test(local_protection__region_of_a_buffer_freed),
		rig_test(remote_access__memory_that_the_peer_does_not_open),
		rig_test(receiver_not_ready__nobody_posts_a_buffer),
		rig_test(transport__the_peer_is_silent),
		rig_test(rmr_failed__region_or_window_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
