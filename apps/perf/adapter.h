/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_ADAPTER_H
#define PERF_ADAPTER_H

/**
 * @file
 * An interface adapter for a whole run: open, its listener, its counters. Ends come and go on it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#include "options.h"

/** Counters of an adapter that the report shows; they only grow. */
struct perf_counters {
	uint64_t retransmits;
	uint64_t rnr_nak_sent, rnr_nak_received;
	uint64_t low_watermarks; /**< events */
	uint64_t resizes, resizes_refused;
};

struct perf_adapter {
	const char *name;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async_evd;
	DAT_EVD_HANDLE cr_evd; /**< DAT_HANDLE_NULL unless it listens */
	DAT_PSP_HANDLE psp;
	struct sockaddr_storage address; /**< of the adapter */
	uint64_t max_message, max_rdma;
	uint32_t max_reads; /**< under way at an endpoint, in either direction */
	uint32_t mtu;       /**< path MTU in force; 0: unknown */
	bool atomics;       /**< the calls of dat_ib_extensions.h are there */
	char pmd[64], icrc[64], dpdk[64], provider[64];
	DAT_SRQ_HANDLE armed; /**< whose low watermark will make an event; DAT_HANDLE_NULL: none */
	uint64_t low_watermarks, resizes, resizes_refused; /**< counted so far */
};

/**
 * Hand --mtu, the keys and the faults to the provider, through the environment as it wants them. To be called
 * before the first perf_adapter_open(). @return 0; -1: no memory; the error was printed.
 */
int perf_adapter_tune(const struct perf_options *options);

/** Open the adapter @p name, which must outlive it. @return 0; -1 on error; the error was printed, nothing is open. */
int perf_adapter_open(struct perf_adapter *adapter, const char *name);

/**
 * Accept connection requests on a port, with room for @p backlog of them.
 * @return 0; -1 on error; the error was printed.
 */
int perf_adapter_listen(struct perf_adapter *adapter, uint16_t port, uint32_t backlog);

/** @return READs and atomics of one endpoint under way: as the options say, or as many as the adapter has. */
static inline uint32_t
perf_adapter_outs(const struct perf_adapter *adapter, const struct perf_options *options)
{
	return options->outs != 0 ? options->outs : adapter->max_reads;
}

/** Read the counters. @return 0; -1 on error; the error was printed. */
int perf_adapter_count(struct perf_adapter *adapter, struct perf_counters *counters);

/**
 * Take the asynchronous events that have come. One of the armed low watermark is counted, and then
 * no queue is armed; anything else is a failure. @return 0; -1: a failure; the error was printed.
 */
int perf_adapter_async(struct perf_adapter *adapter);

/**
 * Close what perf_adapter_open() and perf_adapter_listen() made.
 * @return 0; -1: something was still in use and had to be torn down; the error was printed.
 */
int perf_adapter_close(struct perf_adapter *adapter);

#endif /* PERF_ADAPTER_H */
