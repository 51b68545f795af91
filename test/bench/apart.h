/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_APART_H
#define ROCE_BENCH_APART_H

/**
 * @file
 * The bare wire between two cores: one end sends frames as fast as it can, the
 * other receives them, and nobody keeps order or recovers a loss.
 *
 * Both know the same list of runs and meet at the beginning and at the end of
 * each through a piece of memory that they share, which they do not touch in
 * between but to see that it is over. Time is taken where frames arrive, by
 * rounds of well below a scheduler's slice, so that a round in which both were
 * on their cores tells what the wire does.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "bench.h"
#include "ethdev/port.h"

/** How a frame is handled besides going through the device. */
struct apart_way {
	const char *name;
	bool copied; /**< headers and payload are written, and the payload is copied out */
	bool icrc;   /**< besides, the ICRC is put and judged */
	uint32_t ack_every; /**< frames for which a frame comes back, with a window as the engine's; 0: none */
};

#define APART_WAYS 5u
extern const struct apart_way apart_way[APART_WAYS];

/** The result of a run. */
struct apart_result {
	double median, best; /**< ns a frame: of the rounds, and of the tenth best of a hundred */
	double burst;        /**< frames in a burst that was not empty */
};

/** Memory of both ends: what each writes is on lines of its own. All atomic but the result. */
struct apart_shared {
	uint32_t run __rte_cache_aligned; /**< the sender: number of the run that it is in, from 1 */
	uint32_t sent_run; /**< the sender: the last run of which all frames have left */
	uint64_t sent;     /**< frames of that */
	uint32_t ready __rte_cache_aligned; /**< the receiver: its port is open */
	uint32_t enough; /**< the receiver: the last run that has lasted long enough */
	uint32_t done;   /**< the receiver: the last run that is over, result and all */
	struct apart_result result;
};

/** One end. */
struct apart_end {
	struct roce_port *port;
	struct apart_shared *shared;
	uint8_t *memory; /**< of bench_memory() */
	uint32_t size;   /**< of payload */
	const struct apart_way *way;
	uint32_t buffer; /**< next */
	struct roce_template template;
	uint8_t header[128];
};

/** Pin the calling thread to the n-th processor of those it may use. @return false: there are not so many. */
bool apart_pin(unsigned int n);

/**
 * Open the port of an end.
 * @param devargs as for the provider. @return 0; else why it does not open was said.
 */
int apart_open(struct apart_end *end, const char *devargs);
void apart_close(struct apart_end *end);

/** A run from either end: size and way are set, @p run counts them. The sender's leaves the result in shared. */
void apart_send(struct apart_end *end, uint32_t run);
void apart_receive(struct apart_end *end, uint32_t run);

#endif
