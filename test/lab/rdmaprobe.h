/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_TEST_RDMAPROBE_H
#define ROCE_TEST_RDMAPROBE_H

/**
 * @file
 * rdmaprobe: chosen RC operations, errors and exchanges of the connection manager through librdmacm, one step per
 * word of the command line, to put known frames on the wire.
 *
 * The server gives its region in the private data of the REP: struct probe_offer in host byte order, then a text.
 */

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

struct probe_offer {
	char magic[4]; /**< "RP1" */
	uint32_t rkey;
	uint64_t addr;
	uint64_t len;
};

/** The command line; rdmaprobe.c says what each letter means. */
struct probe_options {
	const char *addr;
	const char *port;
	const char *text;
	int receives;
	int size;
	int delay;
	int refill;
	int limit;
	int connections;
	int rnr_timer;
	int rnr_retry;
	int retry;
	int ack_timeout;
	int inline_max;
	int depth;
	int rd_atomic;
	int tos;
	long region;
	bool server;
	bool srq;
	bool reject;
	bool mute;
	bool kill_qp;
	bool leave;
	bool verbose;
};

extern struct probe_options opt;
extern struct rdma_event_channel *probe_channel;

/** Queue pair of the connection; NULL: destroyed, or none yet. */
extern struct ibv_qp *probe_qp;
extern struct probe_offer probe_peer; /**< what the server offers to the client */

/** Print what failed and errno's text, and end with status 1. */
_Noreturn void probe_die(const char *what);

/** Milliseconds since the first call. */
double probe_now(void);
void probe_sleep(int ms);

/** The next event of the connection manager, printed; NULL: none came in so many milliseconds. */
struct rdma_cm_event *probe_event(int ms);

/** An event that must be of this type, else the program ends: 3 when it was a rejection. */
struct rdma_cm_event *probe_expect(enum rdma_cm_event_type type);

/* probe_verbs.c */

/** Memory and queues at the first call, and a queue pair for the connection. */
void probe_resources(struct rdma_cm_id *id);
void probe_receives(int count);
void probe_limit(int limit);
void probe_show_qp(void);
struct probe_offer probe_offered(void);

/** Take what has completed, printed. Returns how many. */
int probe_drain(void);

/** Receives that ended unused since the last call. */
int probe_flushed(void);

/** Do one step and wait for all that is posted. */
void probe_step(const char *step);

/** Requests that failed. */
int probe_errors(void);

/* probe_serve.c */

/** Returns the exit status. */
int probe_serve(void);

#endif
