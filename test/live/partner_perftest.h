/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIVE_PARTNER_PERFTEST_H
#define LIVE_PARTNER_PERFTEST_H

/**
 * @file
 * How the programs of perftest (seen of 6.06, which is Debian's 4.5, and of Debian's 25.01) get to know each other, over a TCP connection or, with -R, over the SENDs
 * of a connection of rdma_cm that they make for it. The client always speaks first, and the server answers.
 *
 *   16 bytes   version, text
 *   4, 4, 2    length of the buffer, of a cache line (big endian); the path MTU as a digit, IBTA's code
 *   an end     what the test's queue pair is: the text of 108 bytes over TCP, the same as numbers over SENDs;
 *              over SENDs first one of zeros, then the test's connection is made, then again one of zeros
 *   an end     some more times, to wait for each other; then the test
 *   an end     when it is over; behind bandwidth tests of RDMA five numbers of 64 bits, and an end once more
 *   5 bytes    "done", over TCP; 25.01 closes it without
 */

#include "partner.h"

struct perftest_end {
	uint32_t out_reads, qpn, psn, rkey;
	uint64_t vaddr;
	uint8_t gid[16];
};

/** The connection for the words. */
struct perftest_wire {
	struct partner *p;
	bool client, cm;
	int fd;           /**< TCP */
	DAT_EP_HANDLE ep; /**< rdma_cm */
	DAT_EVD_HANDLE connections, receives, sends;
	DAT_LMR_CONTEXT key;
	uint8_t *memory; /**< places for words that come, and one for those that go */
	uint32_t next;   /**< of the places */
	DAT_PSP_HANDLE psp;
};

/** Open the wire: as the server on any address, else to @p host, as often as it takes. */
void perftest_wire_open(struct perftest_wire *w, const char *host);
/** The test's own connection, by the connection manager: p->ep, connected. */
void perftest_wire_second(struct perftest_wire *w, const char *host);
/** Say @p n bytes and hear as many, in the order of the role. */
void perftest_wire_swap(struct perftest_wire *w, const void *out, void *in, uint32_t n);
/** The same with an end. */
void perftest_wire_swap_end(
		struct perftest_wire *w, const struct perftest_end *out, struct perftest_end *in);
/** Disconnect. */
void perftest_wire_close(struct perftest_wire *w);

/** Begin to connect @p ep as partner_connect() does, again and again until somebody listens. */
void partner_connect_until(
		struct partner *p, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connections, const char *host);
/** Accept the next request on @p ep, and wait until it is connected. */
void partner_accept_next(struct partner *p, DAT_EP_HANDLE ep, DAT_EVD_HANDLE connections);

#endif
