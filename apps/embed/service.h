/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBED_SERVICE_H
#define EMBED_SERVICE_H

/**
 * @file
 * The service of the appliance for its clients: every message comes back. All of
 * them share one receive queue; a client of dat-ping(1) is one of them.
 */

#include <stdint.h>

#include <roce/roce.h>

#define SERVICE_BUFFERS     256u   /**< receives on the shared queue, and all the memory there is */
#define SERVICE_BUFFER_SIZE 16384u /**< bytes of the longest message */
#define SERVICE_CLIENTS_MAX 1024u

struct service;

struct service_counts {
	uint64_t messages; /**< that came back */
	uint64_t bytes;
	uint32_t clients; /**< connected now */
	uint32_t refused; /**< for want of room */
};

/** @return 0; a negative errno, and one sentence was printed. */
int service_start(struct roce_device *device, uint16_t port, struct service **out);

/** Answer what came. @return events handled. */
unsigned int service_poll(struct service *service);

void service_counts(const struct service *service, struct service_counts *counts);

/** Leave all clients. NULL is allowed. */
void service_stop(struct service *service);

#endif
