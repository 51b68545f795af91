/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_TEST_FAKE_HOST_H
#define ROCED_TEST_FAKE_HOST_H

/**
 * @file
 * A host for the broker that has no kernel: descriptors are numbers that are counted, and locks are flags.
 */

#include <stdbool.h>
#include <stdint.h>

#include "roced/broker.h"

#define FAKE_FDS 65536

struct fake_host {
	uint8_t is_open[FAKE_FDS]; /**< by descriptor; number 0 is never one */
	unsigned int open;
	unsigned int next;
	unsigned int fail; /**< 1: the next call that makes a descriptor fails, 2: the one after; 0: none */
	bool bad;          /**< a descriptor was closed that was not open */
	bool bells_are_bad;
	bool locked[ROCE_PROCESSES];
	uint32_t note[ROCE_PROCESSES + 1];
	char text[4096]; /**< the last one, or its beginning */
};

void fake_host_init(struct fake_host *fake);

struct broker_host fake_host(struct fake_host *fake);

/** A descriptor, as one that comes with a HELLO. */
int fake_fd(struct fake_host *fake);

#endif /* ROCED_TEST_FAKE_HOST_H */
