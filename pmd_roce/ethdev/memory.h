/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMORY_H
#define ROCE_ETHDEV_MEMORY_H

/**
 * @file
 * The program's memory in the eyes of a port: may the device read it where it lies (zero_copy=), by which address, and
 * is it near?
 *
 * A device that reads memory itself wants what the EAL knows: its own memory (memzones, mempools), or memory that the
 * program registered with rte_extmem_register() and, where there is an IOMMU, mapped with rte_dev_dma_map(). Drivers in
 * software read anything.
 *
 * Each finding is logged once for each port; what it costs is counted (tx_zero_copy_missed).
 */

#include <stdbool.h>
#include <stdint.h>

#include "ethdev/port.h"

/** Parts that may be on another socket than the port. */
enum roce_far {
	ROCE_FAR_REGION = 1,
	ROCE_FAR_LCORE,
};

/** Can the port, which was started with these transmit offloads, do what `zero_copy=` asks for? */
void roce_memory_plan(struct roce_port *port, uint64_t tx_offloads);

/** The same of a port that a program has configured, or of the program itself. */
void roce_memory_plan_attached(struct roce_port *port, const struct roce_attach_config *attached);

/** A region was made: as roce_extbuf_config; @p arg is a struct roce_port. Any thread. */
bool roce_memory_readable(void *arg, uint64_t addr, uint64_t len);
rte_iova_t roce_memory_iova(void *arg, const void *addr, uint32_t len);

/** An lcore polls the port. */
void roce_memory_log_lcore(struct roce_port *port, unsigned int lcore);

/**
 * Something is on a socket (-1: unknown): log it if that is not the port's, and was not logged before. Any thread.
 * @return was it logged?
 */
bool roce_memory_log_far(struct roce_port *port, enum roce_far what, int port_socket, int socket);

#endif
