/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_ADDRESS_H
#define DAPL_ADDRESS_H

/**
 * @file
 * Addresses and ports as consumers have them, and as the engine and the connection manager have them.
 */

#include <stdbool.h>
#include <stdint.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "engine/verbs.h"

union dapl_sockaddr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/** Socket address to IP. @return false: neither AF_INET nor AF_INET6. */
bool dapl_ip_from_sockaddr(const struct sockaddr *sa, struct roce_ip *ip);
void dapl_ip_to_sockaddr(const struct roce_ip *ip, union dapl_sockaddr *out);

/** Service id of a connection qualifier: the TCP port space up to 65535, else the number itself. */
uint64_t dapl_service_id(uint64_t conn_qual);

#endif
