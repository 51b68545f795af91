/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CONTRACT_ANSWERS_H
#define TEST_CONTRACT_ANSWERS_H

/**
 * @file
 * Answers of the queries, compared member by member. The bytes between members are nobody's: a query may leave any
 * value in them, and what it leaves depends on the compiler and its options.
 */

#include <stddef.h>

#include "../vdev/dat_pair.h"

/** The structs that queries fill. */
enum answer {
	ANSWER_EP,
	ANSWER_SRQ,
	ANSWER_EVD,
	ANSWER_LMR,
	ANSWER_RMR,
	ANSWER_PZ,
	ANSWER_PSP,
	ANSWER_RSP,
	ANSWER_CR,
	ANSWER_CNO,
	ANSWERS,
};

/** @return the first member in which two answers of that kind differ; NULL: they are the same. */
const char *answer_difference(enum answer kind, const void *a, const void *b);

/** Two answers of that kind are the same; else the test fails and names the member. */
void want_same_answer(enum answer kind, const void *now, const void *before);

/** The tables name every member: between two of them there is nothing but what aligns the second. */
void want_whole_answers(void);

#endif
