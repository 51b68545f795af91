/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_HOST_H
#define ROCED_HOST_H

/**
 * @file
 * The functions of the kernel for the broker: sealed memory, sockets, and the file of the numbers.
 */

#include "broker.h"

/** Once: the age counts from here. @param numbers a descriptor of the file of the numbers, which stays the caller's. */
struct broker_host host_of(const int *numbers);

#endif /* ROCED_HOST_H */
