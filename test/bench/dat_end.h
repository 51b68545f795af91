/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_BENCH_DAT_END_H
#define ROCE_BENCH_DAT_END_H

/**
 * @file
 * One end of the wire inside the process, as a program of DAT has it: an adapter, its dispatchers, a shared receive
 * queue, memory. Any failure ends the program with a sentence.
 */

#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#define DAT_END_QUAL    4791u /**< where the second end listens */
#define DAT_END_MESSAGE 64u   /**< bytes of a message */

struct dat_end {
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, recv, request, connect, cr;
	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT key;
	DAT_SRQ_HANDLE srq;
	DAT_PSP_HANDLE psp;
	struct sockaddr_storage address;
	uint8_t *memory; /**< @c buffers messages */
	uint32_t buffers;
};

/**
 * Open an adapter.
 * @param name     loop0 or loop1.
 * @param events   that each dispatcher holds.
 * @param buffers  receives of the shared queue; all are posted.
 */
void dat_end_open(struct dat_end *end, const char *name, uint32_t events, uint32_t buffers);

/** Listen at DAT_END_QUAL. */
void dat_end_listen(struct dat_end *end);

/** Close it with all it has. */
void dat_end_close(struct dat_end *end);

/** An endpoint on the shared queue, all else by default. */
DAT_EP_HANDLE dat_end_ep(struct dat_end *end, uint32_t send_depth);

/** Ask the listener of @p to for a connection. */
void dat_end_connect(DAT_EP_HANDLE ep, const struct dat_end *to);

/** Accept a request. */
void dat_end_accept(const DAT_EVENT *request, DAT_EP_HANDLE ep);

/** Send the first buffer. */
void dat_end_send(struct dat_end *end, DAT_EP_HANDLE ep);

/** Post the buffer of number @p i to the shared queue, again. */
void dat_end_give(struct dat_end *end, uint64_t i);

/** Take the next event, and let the engines work when there is none. @return 1; 0: there is none. */
int dat_end_take(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/** End the program when a call failed. */
void dat_end_must(DAT_RETURN ret, const char *call);

#endif
