/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBED_LOAD_H
#define EMBED_LOAD_H

/**
 * @file
 * A client of the service in this process, to have RDMA traffic beside what is
 * forwarded: it sends messages, and looks at what comes back.
 */

#include <stdint.h>

#include <roce/roce.h>

struct load;

/** Begin to connect to the service. @return 0; a negative errno, and one sentence was printed. */
int load_start(struct roce_device *device, const uint8_t ip[16], uint16_t port, uint32_t size,
		struct load **out);

/** Send what there is room for, take what came. @return 1 connected, 0 not yet, -1 the connection failed. */
int load_poll(struct load *load);

/** Messages that came back as they were sent; @p wrong: that did not. */
uint64_t load_count(const struct load *load, uint64_t *wrong);

/** NULL is allowed. */
void load_stop(struct load *load);

#endif
