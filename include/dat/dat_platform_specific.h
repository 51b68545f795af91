/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAT_PLATFORM_SPECIFIC_H
#define DAT_PLATFORM_SPECIFIC_H

/**
 * @file
 * Types that DAT leaves to the platform: the scalar types and the socket address, on 64-bit Linux.
 *
 * Sizes are part of the binary interface and are pinned by test/abi.
 */

#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t DAT_UINT32;
typedef uint64_t DAT_UINT64;

/** The widest unsigned integer of the language; wide enough to hold a pointer. */
typedef unsigned long long DAT_UVERYLONG;

typedef void *DAT_PVOID;

/** A number of things. Signed, because two negative values are reserved (DAT_VALUE_UNKNOWN). */
typedef int DAT_COUNT;

/** A physical address. Kept for the kernel interface; no user-level call takes one. */
typedef DAT_UINT64 DAT_PADDR;

/**
 * The address of an Interface Adapter. Only the head is declared here: look at sa_family, then read
 * it as sockaddr_in or sockaddr_in6.
 */
typedef struct sockaddr DAT_SOCK_ADDR;
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

#define DAT_AF_INET  AF_INET
#define DAT_AF_INET6 AF_INET6

#ifdef __cplusplus
}
#endif

#endif /* DAT_PLATFORM_SPECIFIC_H */
