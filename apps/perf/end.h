/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PERF_END_H
#define PERF_END_H

/**
 * @file
 * One end of one measurement: everything between the open adapter and the messages.
 *
 * An end belongs to one thread. Its memory is one region: receive buffers, send buffers, and a page
 * for the control endpoint; in a one-sided test also what the peer may reach, which besides is a
 * region of its own, with the privileges for it. Over the control endpoint two ends in different
 * threads or processes agree when to start and when to stop. One thread that polls both ends needs
 * no control endpoint.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <dat/udat.h>

#include "adapter.h"
#include "hello.h"
#include "options.h"
#include "plan.h"
#include "verify.h"

/** One endpoint under test. */
struct perf_ep {
	DAT_EP_HANDLE handle;
	bool taken;           /**< of a server: by a client's request */
	uint64_t posted;      /**< sends posted; also the number of the next message */
	uint64_t completed;   /**< sends known to have completed */
	uint64_t quota;       /**< sends to post in all; PERF_ENDLESS: not known yet */
	uint32_t unsignalled; /**< sends since the last that asked for a completion */
	uint32_t slot;        /**< next send buffer of this endpoint */
	uint32_t index;
	struct perf_verify verify;
};

/** State of --low and --resize; see tend.h. */
struct perf_tend {
	bool on;
	uint32_t size;               /**< of the SRQ, granted last */
	uint64_t step;               /**< sizes asked for so far */
	uint64_t due;                /**< ticks; 0: the first look sets it */
	struct perf_counters before; /**< of the adapter, when the watermark was armed first */
};

/** Progress of the connections. */
struct perf_link {
	uint32_t started, established, ended;
	bool control_started, control_up;
	char client[64]; /**< of a server: the address of the client whose control connection it took */
	bool lost; /**< of a server: its client went, fell silent, or differs, before all was connected */
	bool unserved; /**< of a server: its user ended it before a client was there to be measured */
};

/** The words of the peer over the control endpoint, and when it connected. */
struct perf_peer {
	bool ready, done, bye;
	bool stopped;         /**< a signal ends its measurement early, or did */
	uint64_t sent;        /**< with done */
	uint64_t violations;  /**< with bye */
	uint32_t rmr_context; /**< of its memory that this end may reach */
	uint64_t address;
};

struct perf_end {
	const struct perf_options *options;
	const struct perf_plan *plan;
	struct perf_adapter *adapter;
	bool client;
	struct perf_hello hello;        /**< what this end believes it measures */
	struct sockaddr_storage remote; /**< of a client: where to connect to */

	DAT_PZ_HANDLE pz;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_HANDLE remote_lmr; /**< DAT_HANDLE_NULL: the peer reaches nothing */
	DAT_LMR_CONTEXT lmr_context;
	DAT_EVD_HANDLE conn_evd, recv_evd, control_evd;
	DAT_EVD_HANDLE request_evd; /**< the same as recv_evd when one wait must see both */
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE control; /**< DAT_HANDLE_NULL: this end needs none */
	struct perf_ep *eps;
	uint8_t *memory;
	size_t memory_len;
	uint8_t *recv_memory, *send_memory, *control_memory;
	uint8_t *remote_memory; /**< what the peer may reach */
	DAT_LMR_TRIPLET *recv_iov, *send_iov;

	/* Traffic; see traffic.h. */
	DAT_COUNT segments; /**< of a message: none when it has no bytes */
	bool one_sided;
	bool reads; /**< the test is one of READs or atomics */
	bool atomics;
	uint32_t cursor; /**< endpoint whose turn it is to send */
	uint64_t goal;   /**< sends of all endpoints; PERF_ENDLESS: not known yet */
	uint64_t acked;  /**< sends known to have completed, of all endpoints */
	uint64_t received;
	uint32_t recv_posted; /**< receive buffers given to the provider and not back yet */
	bool closing;         /**< flushed completions are expected */
	bool stopped;         /**< the measurement was cut short; see stop.h */
	struct perf_violations bad;

	struct perf_tend tend;
	struct perf_link link;
	struct perf_peer peer;
	uint32_t control_sent;
};

/** Which of the two ends, and with a control endpoint or without. */
#define PERF_END_CLIENT  0x1u
#define PERF_END_CONTROL 0x2u

/**
 * Build an end up to unconnected endpoints with all receives posted.
 * @param session  number of the measurement in this run.
 * @param flags    PERF_END_CLIENT, PERF_END_CONTROL.
 * @return 0; -1 on error; the error was printed, and nothing is left of it.
 */
int perf_end_create(struct perf_end *end, struct perf_adapter *adapter,
		const struct perf_options *options, const struct perf_plan *plan, uint32_t session,
		unsigned int flags);

/**
 * Check the books of a disconnected end whose completions were all reaped: what the provider says is
 * on the SRQ is what was posted and did not come back.
 * @return 0; -1: they differ; the error was printed.
 */
int perf_end_audit(const struct perf_end *end);

/** Free everything; connected endpoints are cut off. @return 0; -1: an object would not go; the error was printed. */
int perf_end_destroy(struct perf_end *end);

#endif /* PERF_END_H */
