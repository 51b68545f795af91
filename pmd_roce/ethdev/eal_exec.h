/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_EAL_EXEC_H
#define ROCE_ETHDEV_EAL_EXEC_H

/**
 * @file
 * Descriptors of DPDK, and programs that this process executes.
 *
 * DPDK's libraries open most of their descriptors without close-on-exec: memory, sockets of interfaces, devices. A program that is
 * executed would have them, and keep the memory, the interface and a peer's connection when this process has gone. So
 * calls of these libraries that make a descriptor are diverted, for good, to ones that make it close-on-exec
 * (eal_divert.h). Between them no other thread can execute a program. Calls of other libraries stay as they are: what a
 * program opens may be for its children.
 */

/** The EAL is about to start: divert the calls of its libraries, and those of drivers when it has loaded them. */
void roce_eal_exec_begin(void);

/** Drivers were loaded afterwards, in a process whose EAL this library has started. Idempotent; one thread at a time. */
void roce_eal_exec_divert(void);

/**
 * This thread opens a port, until roce_eal_exec_end_port(): sockets and files that a library of a driver opens for it are
 * DPDK's, too.
 */
void roce_eal_exec_begin_port(void);
void roce_eal_exec_end_port(void);

#endif
