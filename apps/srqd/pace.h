/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_PACE_H
#define SRQD_PACE_H

/**
 * @file
 * How a polling loop spends the time in which nothing happens: it spins for a short while, because
 * news of a busy moment come in a row, and then naps between two looks.
 */

#include <stdbool.h>

struct pace {
	double moved_at; /**< when something last happened */
	unsigned int idle;
};

/** Begin: something has just happened. */
void pace_begin(struct pace *pace);

/**
 * Call after each poll of the loop.
 * @param moved  something happened in it.
 * @param quiet  nobody is there who could be in a hurry: nap at once.
 * @return seconds without news.
 */
double pace_rest(struct pace *pace, bool moved, bool quiet);

#endif /* SRQD_PACE_H */
