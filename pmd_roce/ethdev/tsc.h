/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_TSC_H
#define ROCE_ETHDEV_TSC_H

/**
 * @file
 * The frequency of the time stamp counter.
 *
 * Where the processor does not tell it, rte_eal_init() measures it: it reads clock and counter, sleeps, and reads both again. A
 * thread that loses its processor between two such readings, which a busy machine makes likely, gets a frequency that may be
 * wrong tenfold. Then every timeout is. So the start of the EAL is measured here, too, by readings that nothing came between.
 */

#include <stdint.h>

/** The counter and the clock at one moment. */
struct roce_tsc_reading {
	uint64_t ticks;
	uint64_t ns;     /**< of a clock that nobody sets */
	uint64_t spread; /**< ticks: the clock was read within */
};

/** Read both, several times, and keep the best. Any thread. */
void roce_tsc_read(struct roce_tsc_reading *reading);

/**
 * The ticks of a second.
 * @param eal_hz what the EAL says. @return that, if what was read does not disprove it; else the frequency by the readings.
 */
uint64_t roce_tsc_judge(const struct roce_tsc_reading *from, const struct roce_tsc_reading *to,
		uint64_t eal_hz);

/** From now on it is so. Before devices are opened. */
void roce_tsc_set_hz(uint64_t hz);

/** As set; without that as the EAL says. Any thread. */
uint64_t roce_tsc_hz(void);

#endif
