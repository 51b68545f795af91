/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_RIG_H
#define TEST_CONTRACT_RIG_H

/**
 * @file
 * The rig: two adapters that a test finds open and leaves open, endpoints of any kind, what the calls answer, and events
 * that are there already.
 *
 * A program has one table `tests`; main.c runs it. Each row of it says what is open when its test begins. Whatever the
 * test leaves open is closed behind it, and must close well.
 *
 * Only waiting on an empty dispatcher polls both ends. While a test calls poll_once(), or takes what is there already, a
 * message that begin_long() began stays half received, and its buffer held.
 */

#include <pthread.h>
#include <stdbool.h>

#include "contract.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** The adapters of a test. */
extern struct pair pair;
/** Its ends. A test with one adapter uses a. */
extern struct end *const a, *const b;

/** The tests of a program; the last row is tests_end. */
extern const struct CMUnitTest tests[];
/** Run them: the exit status of the program. */
int rig_run(void);

/** Buffers of a queue, and segments of a buffer. */
struct srq_size {
	DAT_COUNT depth, iov;
};

/** Before a test: what a failed one left open is closed. Then open a, both ends, or both and connected. */
int rig_begin(void **state);
int rig_begin_end(void **state);
int rig_begin_pair(void **state);
int rig_begin_up(void **state);
/** The same with b's endpoint on an empty queue; *state: its struct srq_size. */
int rig_begin_srq(void **state);
int rig_begin_srq_up(void **state);
/** Behind a test: the parameters are those of dat.conf, and all is closed. */
int rig_sweep(void **state);

/* The test opens what it needs; has a open, on loop0; has both ends open, b listens; has them connected. */
#define rig_test(function)  cmocka_unit_test_setup_teardown(function, rig_begin, rig_sweep)
#define end_test(function)  cmocka_unit_test_setup_teardown(function, rig_begin_end, rig_sweep)
#define pair_test(function) cmocka_unit_test_setup_teardown(function, rig_begin_pair, rig_sweep)
#define up_test(function)   cmocka_unit_test_setup_teardown(function, rig_begin_up, rig_sweep)
/* b's endpoint is on a queue of that size; both ends are open, or connected. */
#define srq_test(function, depth, iov)            \
	cmocka_unit_test_prestate_setup_teardown( \
			function, rig_begin_srq, rig_sweep, &((struct srq_size){ depth, iov }))
#define srq_up_test(function, depth, iov)         \
	cmocka_unit_test_prestate_setup_teardown( \
			function, rig_begin_srq_up, rig_sweep, &((struct srq_size){ depth, iov }))
#define tests_end                            \
	{                                    \
		NULL, NULL, NULL, NULL, NULL \
	}

/* A call that is refused: argument @p n, a handle of that kind, or the state, is told. */
#define want_bad_arg(call, n)      want_error(call, DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define want_bad_handle(call, of)  want_error(call, DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_##of)
#define want_bad_state(call, told) want_error(call, DAT_INVALID_STATE, DAT_INVALID_STATE_##told)

/* A member that @p mask asks for has the value that a query of all members gives. */
#define want_asked(mask, bit, some, all, member) \
	if (((mask) & (bit)) != 0)               \
	assert_memory_equal(&(some)->member, &(all)->member, sizeof((all)->member))

/** Asked into a poisoned struct: all fields, or some. */
DAT_EP_PARAM ep_param(DAT_EP_HANDLE ep);
DAT_EVD_PARAM evd_param(DAT_EVD_HANDLE evd);
DAT_LMR_PARAM lmr_param(DAT_LMR_HANDLE lmr);
DAT_RMR_PARAM rmr_param(DAT_RMR_HANDLE rmr);
DAT_IA_ATTR ia_attr(const struct end *end, DAT_IA_ATTR_MASK mask);
DAT_PROVIDER_ATTR provider_attr(const struct end *end, DAT_PROVIDER_ATTR_MASK mask);

/** A dispatcher of @p end; DAT_EVD_*_FLAG. Without a length: EVD_LEN. */
DAT_EVD_HANDLE make_evd(const struct end *end, unsigned int flags);
DAT_EVD_HANDLE make_evd_of(const struct end *end, DAT_COUNT len, unsigned int flags);
/** A zone of @p end; a window in its zone. */
DAT_PZ_HANDLE make_pz(const struct end *end);
DAT_RMR_HANDLE make_rmr(const struct end *end);
/** A service point of @p end's. */
DAT_PSP_HANDLE make_psp(const struct end *end, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd);
/** Register the first @p length bytes of @p end's buffer; null: the key is not wanted. */
DAT_LMR_HANDLE register_bytes(const struct end *end, DAT_VLEN length, DAT_PZ_HANDLE pz,
		unsigned int priv, DAT_LMR_CONTEXT *key, DAT_RMR_CONTEXT *peer_key);
/** A segment of @p end's buffer with another key. */
DAT_LMR_TRIPLET
segment_of(const struct end *end, DAT_LMR_CONTEXT key, size_t offset, DAT_VLEN length);
/** Memory of @p end's, as its peer names it. */
DAT_RMR_TRIPLET target(const struct end *end, size_t offset, DAT_VLEN length);
/** Another instance of an adapter, with @p async as for dat_ia_open(), a zone, and a queue of 4 by 1. */
void open_beside(struct end *twin, const char *name, DAT_EVD_HANDLE async);

/** Another endpoint of @p end with its dispatchers and a queue of its own. */
DAT_EP_HANDLE another_ep(const struct end *end);
/** An endpoint on @p end's queue with its dispatchers; null attributes: zeros. */
DAT_EP_HANDLE srq_ep(const struct end *end, const DAT_EP_ATTR *attr);
/** Replace @p end's endpoint by one with a queue of its own; null attributes: none. */
void use_ep(struct end *end, const DAT_EP_ATTR *attr);
/** Replace @p end's endpoint by one on its queue. */
void use_srq_ep(struct end *end, const DAT_EP_ATTR *attr);
/** The same, and it tells everything to one new dispatcher: end->recv, ->request and ->connect. */
void use_one_evd(struct end *end);
/** Free @p end's endpoint and its queue. */
void free_srq_ep(const struct end *end);
/** Free what @p end has made of memory: endpoint, queue if it has one, region, zone. Nothing else may hold the zone. */
void free_to_the_zone(const struct end *end);

/** Pieces of BUFFER_LEN bytes, all in the same place: such a message takes hundreds of polls. */
#define HUGE_PIECES 32
#define HUGE_LEN    ((DAT_VLEN)HUGE_PIECES * BUFFER_LEN)

/** A buffer of HUGE_PIECES on the queue. */
DAT_RETURN post_huge_srq(const struct end *end, uint64_t value);
/** @p end sends HUGE_PIECES; its endpoint was made for it. */
DAT_RETURN post_huge_send(const struct end *end, uint64_t value);
/** The same, from a, and let both ends work until b's endpoint has taken a buffer for it. */
void begin_huge(uint64_t value);

/** @p end sends from the start of its buffer. */
DAT_RETURN
post_send_with(const struct end *end, DAT_VLEN length, uint64_t value, unsigned int flags);
/** Posts of a, with default flags. */
DAT_RETURN post_write(const DAT_LMR_TRIPLET *from, DAT_RMR_TRIPLET to, uint64_t value);
DAT_RETURN post_read(const DAT_LMR_TRIPLET *to, DAT_RMR_TRIPLET from, uint64_t value);
/** A receive for b: on its queue if it has one, else of its endpoint. */
DAT_RETURN feed(size_t offset, DAT_VLEN length, uint64_t value);
/** Post to b's queue @p n buffers of LONG_LEN, with cookies from @p first on. */
void post_long(unsigned int n, uint64_t first);
/** Send from a and wait until b's endpoint has it, @p n times. */
void deliver_n(unsigned int n, DAT_VLEN length);
/** The same with 64 bytes, and reap it. */
void use_n(unsigned int n);
/** Send from a: b's receive @p value completes with it. */
void deliver_as(uint64_t value, DAT_VLEN length);
/** b's receives @p from to @p to - 1 complete, in this order. */
void want_received(uint64_t from, uint64_t to, DAT_VLEN length);
/** The same, and they are there already. */
void want_received_now(uint64_t from, uint64_t to);
/** a's requests @p from to @p to - 1 complete, in this order. */
void want_sent(uint64_t from, uint64_t to, DAT_VLEN length);
/** b's receive and a's request complete: one message. */
void want_passed(uint64_t receive, uint64_t request, DAT_VLEN length);
/** Receives of b's endpoint, and sends of a's, @p from to @p to - 1. */
void post_recvs(uint64_t from, uint64_t to, DAT_VLEN length);
void post_sends(uint64_t from, uint64_t to, DAT_VLEN length);
/** Post a buffer of 64 bytes to b's queue, and deliver as much: it is used up again. */
void pass(uint64_t value);
/** The same with b's own receive, posted for it; a's request completes as well. */
void transfer(uint64_t value, DAT_VLEN length);
/** Where exchange() receives. */
#define HALF (BUFFER_LEN / 2)
/** Send @p length bytes, fewer than HALF, that depend on @p value: all of them arrive, and no others. */
void exchange(struct end *from, struct end *to, DAT_VLEN length, uint64_t value);
/** Bind in an endpoint's turn, and wait until it is bound. */
DAT_RMR_CONTEXT
bind_rmr(const struct end *end, DAT_RMR_HANDLE rmr, DAT_LMR_TRIPLET iov, unsigned int priv);

/** a asks b, and b accepts; nobody has heard of the connection yet. */
void begin_connection(void);
/** How a connection ends. */
enum ending {
	BY_B_ABRUPT,
	BY_B_GRACEFUL,
	BY_A_ABRUPT,
	BY_A_GRACEFUL,
	BY_A_FREE,      /**< a's endpoint is freed */
	BY_HARD_MARK,   /**< b's endpoint may have no buffer */
	BY_LOST_MEMORY, /**< b's region is freed */
};
/** Begin to end it that way. */
void end_by(enum ending how);
/** Both endpoints, which are disconnected, are reset; and connected again. */
void reset_both(void);
void connect_again(void);
/** The next event of either connection. */
void want_both(DAT_EVENT_NUMBER number);

/** An endpoint has @p n buffers, and the span says the same. */
void want_held(DAT_EP_HANDLE ep, DAT_COUNT n);
/** @p n bytes are @p value. */
void want_bytes(const void *p, uint8_t value, size_t n);

/** Poll both ends, @p n times. */
void poll_both(unsigned int n);
/** Poll both ends until @p evd has an event, and no further. */
DAT_EVENT poll_until(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** dat_evd_wait() for an event that nobody wants to see, or that does not come. */
DAT_RETURN wait_for(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);
/** The next event is that one, and when it is taken @p more are there. */
void want_event_before(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_COUNT more);
/** Take everything that is there. */
void drain(DAT_EVD_HANDLE evd);

/** The next event is there already. */
DAT_EVENT want_now(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** The next completion is there already: cookie and status. */
void want_dto_now(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status);
/** The next event is there already: the soft high watermark of @p ep. */
void want_soft(DAT_EVD_HANDLE async, DAT_EP_HANDLE ep);
/** The next completion, of any endpoint. */
DAT_DTO_COMPLETION_EVENT_DATA next_dto(DAT_EVD_HANDLE evd);

/** Software events: posted with a number, and there already. */
DAT_RETURN post_software(DAT_EVD_HANDLE evd, uintptr_t number);
void want_software(DAT_EVD_HANDLE evd, uintptr_t number);

/**
 * What a learns when b's connection broke while a's request @p value was on its way: the request fails with
 * @p status, and a's connection is broken, too.
 */
void want_peer_broken(uint64_t value, DAT_DTO_COMPLETION_STATUS status);

/** Parameters of both adapters from the next open on; null: those of dat.conf. */
void set_params(const char *params);
/** Before anything is opened: the provider is not to use hugepages, of which a machine has more or fewer. */
void use_no_hugepages(void);

/** Entries of a folder. */
unsigned int entries(const char *path);

/** A thread; and its end. */
pthread_t start(void *(*run)(void *arg), void *arg);
void join(pthread_t thread);

#endif
