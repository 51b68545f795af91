/* SPDX-License-Identifier: BSD-3-Clause */
/* Each status that a completion can have, from a real cause, at both ends (docs/udapl.md has the table). */

#include "mix.h"

#define DEPTH 8
#define SHORT 64

/* a's request failed: so do those behind it, and its connection is broken; b's is told how. */
static void
want_end(uint64_t failed, DAT_DTO_COMPLETION_STATUS status, uint64_t behind, DAT_EVENT_NUMBER at_b)
{
	mix_want(failed, status);
	for (uint64_t i = 0; i < behind; i++)
		mix_want(failed + 1 + i, DAT_DTO_ERR_FLUSHED);
	want_event(a->connect, DAT_CONNECTION_EVENT_BROKEN);
	want_event(b->connect, at_b);
	assert_int_equal(end_state(a), DAT_EP_STATE_DISCONNECTED);
	assert_int_equal(end_state(b), DAT_EP_STATE_DISCONNECTED);
}

/* DAT_DTO_ERR_FLUSHED: the connection ended first, and posts to what is disconnected. */
static void
flushed__by_the_end_of_the_connection(void **state)
{
	mix_up(DEPTH);
	ok(post_recv(a, 0, SHORT, 1));
	ok(post_recv(b, 0, SHORT, 2));
	for (enum verb verb = SEND; verb < VERBS; verb++)
		ok(mix_post(verb, SHORT, verb));
	ok(dat_ep_disconnect(a->ep, DAT_CLOSE_ABRUPT_FLAG));
	mix_want_verbs(DAT_DTO_ERR_FLUSHED);
	want_dto(a, a->recv, 1, DAT_DTO_ERR_FLUSHED, 0);
	want_dto(b, b->recv, 2, DAT_DTO_ERR_FLUSHED, 0);
	for (enum verb verb = SEND; verb < VERBS; verb++)
		ok(mix_post(verb, SHORT, verb));
	ok(post_recv(a, 0, SHORT, 3));
	mix_want_verbs(DAT_DTO_ERR_FLUSHED);
	want_dto(a, a->recv, 3, DAT_DTO_ERR_FLUSHED, 0);
}

/* DAT_DTO_ERR_LOCAL_LENGTH at the receiver, DAT_DTO_ERR_REMOTE_RESPONDER at the sender: the message is too long. */
static void
local_length__message_longer_than_its_buffer(void **state)
{
	for (int on_srq = 0; on_srq < 2; on_srq++) {
		if (on_srq)
			srq_pair_up(&pair, DEPTH, 1);
		else
			mix_up(DEPTH);
		ok(feed(0, SHORT - 1, 7));
		ok(mix_post(SEND, SHORT, 1));
		ok(mix_post(SEND, SHORT, 2));
		want_end(1, DAT_DTO_ERR_REMOTE_RESPONDER, 1, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_LENGTH, 0);
		pair_close(&pair);
	}
}

/* DAT_DTO_ERR_LOCAL_PROTECTION: the request's own memory is no region any more. */
static void
local_protection__region_of_a_request_freed(void **state)
{
	for (enum verb verb = SEND; verb <= READ; verb++) {
		print_message("verb %u\n", verb);
		mix_up(DEPTH);
		post_recvs(0, 2, SHORT);
		ok(mix_post(verb, SHORT, 1));
		ok(mix_post(SEND, SHORT, 2));
		ok(dat_lmr_free(a->lmr));
		want_end(1, DAT_DTO_ERR_LOCAL_PROTECTION, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
		pair_close(&pair);
	}
}

/* DAT_DTO_ERR_LOCAL_PROTECTION at the receiver, DAT_DTO_ERR_REMOTE_RESPONDER at the sender: so is the buffer's. */
static void
local_protection__region_of_a_buffer_freed(void **state)
{
	mix_up(DEPTH);
	post_recvs(7, 9, SHORT);
	ok(dat_lmr_free(b->lmr));
	ok(mix_post(SEND, SHORT, 1));
	want_end(1, DAT_DTO_ERR_REMOTE_RESPONDER, 0, DAT_CONNECTION_EVENT_BROKEN);
	want_dto(b, b->recv, 7, DAT_DTO_ERR_LOCAL_PROTECTION, 0);
	want_dto(b, b->recv, 8, DAT_DTO_ERR_FLUSHED, 0);
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
close_memory(enum closed cause, enum verb verb)
{
	const DAT_MEM_PRIV_FLAGS other = verb == READ ? DAT_MEM_PRIV_REMOTE_WRITE_FLAG
						      : DAT_MEM_PRIV_REMOTE_READ_FLAG;
	const unsigned int both = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
	DAT_RMR_HANDLE rmr;

	switch (cause) {
	case NO_SUCH_KEY:
		mix.target ^= 0x5a5a00;
		break;
	case FREED:
		ok(dat_lmr_free(b->lmr));
		break;
	case OTHER_ZONE:
		register_bytes(b, BUFFER_LEN, make_pz(b), DAT_MEM_PRIV_ALL_FLAG, NULL, &mix.target);
		break;
	case NO_RIGHT:
		register_bytes(b, BUFFER_LEN, b->pz, other, NULL, &mix.target);
		break;
	case TOO_FAR:
		register_bytes(b, SHORT - 1, b->pz, DAT_MEM_PRIV_ALL_FLAG, NULL, &mix.target);
		break;
	default:
		rmr = make_rmr(b);
		mix.target = bind_rmr(b, rmr, segment(b, 0, BUFFER_LEN), both);
		bind_rmr(b, rmr, segment(b, 0, 0), 0);
		break;
	}
}

/* DAT_DTO_ERR_REMOTE_ACCESS: the peer does not let us, for whatever reason. Its memory stays as it is. */
static void
remote_access__memory_that_the_peer_does_not_open(void **state)
{
	for (unsigned int i = 0; i < 2 * CAUSES; i++) {
		enum verb verb = i % 2 != 0 ? READ : WRITE;

		print_message("cause %u, verb %u\n", i / 2, verb);
		mix_up(DEPTH);
		ok(post_recv(b, 0, SHORT, 7));
		close_memory(i / 2, verb);
		memset(a->buffer, 1, BUFFER_LEN);
		memset(b->buffer, 2, BUFFER_LEN);
		ok(mix_post(verb, SHORT, 1));
		ok(mix_post(SEND, SHORT, 2));
		want_end(1, DAT_DTO_ERR_REMOTE_ACCESS, 1, DAT_CONNECTION_EVENT_BROKEN);
		want_dto(b, b->recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		want_bytes(a->buffer, 1, BUFFER_LEN);
		want_bytes(b->buffer, 2, BUFFER_LEN);
		pair_close(&pair);
	}
}

/* DAT_DTO_ERR_RECEIVER_NOT_READY: there is no buffer, as often as we ask. */
static void
receiver_not_ready__nobody_posts_a_buffer(void **state)
{
	set_params("rnr_retry=2 rnr_timer=1");
	mix_up(DEPTH);
	ok(mix_post(WRITE, SHORT, 0));
	ok(mix_post(SEND, SHORT, 1));
	ok(mix_post(WRITE, SHORT, 2));
	mix_want(0, DAT_DTO_SUCCESS);
	want_end(1, DAT_DTO_ERR_RECEIVER_NOT_READY, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* DAT_DTO_ERR_TRANSPORT: the peer does not answer. Dequeuing polls the others only every 64 times, per dispatcher. */
static void
transport__the_peer_is_silent(void **state)
{
#define QUIET_EVDS 128
#define POLLS      60
	DAT_EVD_HANDLE evd[QUIET_EVDS];

	set_params("retry=1 timeout=1");
	mix_up(DEPTH);
	for (unsigned int i = 0; i < QUIET_EVDS; i++)
		evd[i] = make_dto_evd(a, 1);
	ok(mix_post(WRITE, SHORT, 1));
	ok(mix_post(WRITE, SHORT, 2));
	for (unsigned int i = 0; i < QUIET_EVDS * POLLS; i++)
		want_none(evd[i % QUIET_EVDS]);
	want_dto_now(a, a->request, 1, DAT_DTO_ERR_TRANSPORT);
	want_dto_now(a, a->request, 2, DAT_DTO_ERR_FLUSHED);
	want_now(a->connect, DAT_CONNECTION_EVENT_BROKEN);
}

/* DAT_RMR_OPERATION_FAILED: what a bind needs went between post and execution. */
static void
rmr_failed__region_or_window_freed(void **state)
{
	for (int window = 0; window < 2; window++) {
		mix_up(DEPTH);
		ok(post_recv(b, 0, SHORT, 7));
		ok(mix_post(BIND, SHORT, 1));
		ok(mix_post(BIND, SHORT, 2));
		ok(window ? dat_rmr_free(mix.rmr) : dat_lmr_free(a->lmr));
		want_end(1, DAT_RMR_OPERATION_FAILED, 1, DAT_CONNECTION_EVENT_DISCONNECTED);
		want_dto(b, b->recv, 7, DAT_DTO_ERR_FLUSHED, 0);
		pair_close(&pair);
	}
}

const struct CMUnitTest tests[] = {
	rig_test(flushed__by_the_end_of_the_connection),
	rig_test(local_length__message_longer_than_its_buffer),
	rig_test(local_protection__region_of_a_request_freed),
	rig_test(local_protection__region_of_a_buffer_freed),
	rig_test(remote_access__memory_that_the_peer_does_not_open),
	rig_test(receiver_not_ready__nobody_posts_a_buffer),
	rig_test(transport__the_peer_is_silent),
	rig_test(rmr_failed__region_or_window_freed),
	tests_end,
};
