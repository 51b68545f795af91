/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_RIG_H
#define TEST_CONTRACT_RIG_H

/**
 * @file
 * The rig: two adapters that a test finds open and leaves open, and, by the headers below, what tests do with them.
 *
 * A program has one table `tests`; main.c runs it. Each row of it says what is open when its test begins. Adapters that
 * the test leaves open are closed behind it, and must close well.
 */

#include <pthread.h>
#include <stdbool.h>

#include "conns.h"
#include "contract.h"
#include "events.h"
#include "make.h"
#include "posts.h"
#include "query.h"

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
/** Behind a test: the parameters are those of the form of the test, and all is closed. */
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

/** Parameters of both adapters from the next open on, beside those of the form of the test; null: no others. */
void set_params(const char *params);
/** Does this form of the test (meson.build) have @p param, such as "zero_copy="? */
bool form_has(const char *param);
/** Before anything is opened: the provider is not to use hugepages, of which a machine has more or fewer. */
void use_no_hugepages(void);

/** Entries of a folder. */
unsigned int entries(const char *path);

/** A thread; and its end. */
pthread_t start(void *(*run)(void *arg), void *arg);
void join(pthread_t thread);

#endif
