/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DAT_PAIR_H
#define TEST_DAT_PAIR_H

/**
 * @file
 * Two ends of a wire, through the public DAT headers: `a` on loop0 connects, `b` on loop1 listens.
 *
 * Helpers fail the test they are called from. Waiting is dat_evd_wait(), which polls both ends. DAT_ABI says which
 * version of DAT the program is for (12, 20), as for lib/front.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../limit.h"

#ifndef DAT_ABI
#define DAT_ABI 12
#endif

#if DAT_ABI == 12
#include "dat_abi12.h"
#else
#include "dat_abi20.h"
#endif

#define PATIENCE_US test_limit_us() /**< an event that must come, comes before */
#define QUIET_US    20000u          /**< an event that must not come, would have come */
#define BUFFER_LEN  (1u << 20)
#define CONN_QUAL   4711
#define EVD_LEN     64

/** One end. */
struct end {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_EVD_HANDLE recv;    /**< DTO */
	DAT_EVD_HANDLE request; /**< DTO */
	DAT_EVD_HANDLE connect;
	DAT_EVD_HANDLE cr;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq; /**< null unless asked for */
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	struct sockaddr_storage address;
	uint8_t *buffer; /**< BUFFER_LEN bytes, all registered */
};

struct pair {
	struct end a, b;
	DAT_PSP_HANDLE psp; /**< of b */
};

/** Options of an end; zero fields choose what most tests want. */
struct end_options {
	DAT_COUNT srq_depth; /**< 0: a receive queue of the endpoint's own */
	DAT_COUNT depth; /**< receives and requests of the endpoint; 0: the provider's default */
	DAT_COUNT evd_len;
};

/** Open an adapter with dispatchers, zone, memory, endpoint. */
void end_open(struct end *end, const char *name, const struct end_options *options);
/** Close it abruptly, whatever is left, and free the memory. */
void end_close(struct end *end);

/** After a test that failed half way: close what it left open, so that the next one starts afresh. */
int ends_sweep(void **state);

/** A test, and the sweep behind it. */
#define dat_test(function) cmocka_unit_test_teardown(function, ends_sweep)

/** Open both ends and listen at b. */
void pair_open(struct pair *pair, const struct end_options *a, const struct end_options *b);
void pair_close(struct pair *pair);
/** Connect a to b with no private data, up to ESTABLISHED on both. */
void pair_connect(struct pair *pair);
/** Open and connect with defaults. */
void pair_up(struct pair *pair);

/** Begin to connect to @p qual at @p to. */
DAT_RETURN end_connect(struct end *from, const struct end *to, DAT_CONN_QUAL qual);
/** The next connection request at @p end. */
DAT_CR_HANDLE end_request(struct end *end);
DAT_EP_STATE end_state(const struct end *end);

/** The next event, which must be @p number. */
DAT_EVENT want_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/** No event comes. */
void want_silence(DAT_EVD_HANDLE evd);
/** The next completion: cookie, status, and for a success its length. */
void want_dto(const struct end *end, DAT_EVD_HANDLE evd, uint64_t value,
		DAT_DTO_COMPLETION_STATUS status, DAT_VLEN length);

/** A segment of @p end's buffer. */
DAT_LMR_TRIPLET segment(const struct end *end, size_t offset, DAT_VLEN length);
DAT_DTO_COOKIE cookie(uint64_t value);
DAT_RETURN post_send(struct end *end, size_t offset, DAT_VLEN length, uint64_t value);
DAT_RETURN post_recv(struct end *end, size_t offset, DAT_VLEN length, uint64_t value);
DAT_RETURN post_srq(struct end *end, size_t offset, DAT_VLEN length, uint64_t value);

/** Compare with class, type and subtype; the message names the line. */
#define want(call, value) assert_int_equal((call), (DAT_RETURN)(value))
/** A failure: class bit, type, subtype. */
#define want_error(call, type, subtype) want((call), DAT_CLASS_ERROR | (type) | (subtype))
#define want_type(call, type)           assert_int_equal(DAT_GET_TYPE(call), (type))
#define ok(call)                        want((call), DAT_SUCCESS)

#endif
