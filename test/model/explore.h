/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_MODEL_EXPLORE_H
#define ROCE_MODEL_EXPLORE_H

/**
 * @file
 * Every order in which the threads of a program can make their steps.
 *
 * Depth first and without storing states: a run follows a prefix of choices and then chooses for itself; the next
 * run changes the last choice that has an alternative left. The orders are those of sequential consistency.
 *
 * Two orders are equal when one becomes the other by swapping neighbours that are independent (model_dependent());
 * one of each class is enough, because no thread and no verdict can tell them apart. Which alternatives a choice
 * must have is found while running (dynamic partial-order reduction, Flanagan and Godefroid, POPL 2005): whenever
 * a thread is about to do something that depends on an earlier step of another thread, without having been made to
 * wait for that step by others, it could have come first, and becomes an alternative there. Sleep sets (Godefroid)
 * keep what was explored from a node out of its later branches until something dependent happens: no class is run
 * twice. litmus.c compares both with the plain enumeration.
 */

#include <stdbool.h>
#include <stdint.h>

#include "scheduler.h"

enum explore_how {
	EXPLORE_REDUCED,
	EXPLORE_ASLEEP, /**< sleep sets alone, each thread an alternative everywhere: to compare */
	EXPLORE_ALL,    /**< every order, no reduction: to compare, for very small programs */
};

struct explore_tally {
	uint64_t runs;     /**< to the end: interleavings, no two of them equal when reduced */
	uint64_t given_up; /**< runs that turned out to be equal to one before */
	uint64_t steps;
	uint64_t classes;     /**< counted in EXPLORE_ALL alone */
	unsigned int longest; /**< steps of a run */
};

/** @return true: all runs are without failure. */
bool
explore(const struct model_program *program, enum explore_how how, struct explore_tally *tally);

/** The choices of the run that failed: one digit a step, the thread. */
const char *explore_schedule(void);

/**
 * Run one order again and print its steps. Where the schedule ends or cannot be followed, the first thread that can
 * goes on.
 * @return true: no failure.
 */
bool explore_replay(const struct model_program *program, const char *schedule);

#endif
