/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIVE_GUEST_H
#define LIVE_GUEST_H

/**
 * @file
 * Shared by the parts of live_guest.
 */

#include <rdma/rdma_cma.h>
#include <stdint.h>

/** The offer of a server in its private data, or of one that grants a window in a message. */
struct guest_offer {
	char magic[4];
	uint32_t key;
	uint64_t address, length;
};

/** Say what failed, with errno, and end. */
void guest_fail(const char *what) __attribute__((noreturn));

/** Byte @p i of every message, as rdmaprobe sends it. */
uint8_t guest_pattern(uint32_t i);

/** The next event of @p channel must be this one, or the program ends. @return of whom it is. */
struct rdma_cm_id *guest_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/** Connect one queue pair so often, without a pause. @return exit status. */
int guest_again(int argc, char **argv);

/** Grant one peer a window or a region, and say what it does with it. @return exit status. */
int guest_zcrx(int argc, char **argv);

#endif
