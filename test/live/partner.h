/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIVE_PARTNER_H
#define LIVE_PARTNER_H

/**
 * @file
 * One end of a connection with somebody who is not of our kind, on the public DAT calls alone.
 *
 * It speaks with the lab's rdmaprobe: the server offers memory in the private data of its reply ("RP1", key, address
 * and length as numbers of the host, then a text), and both send the same pattern. And with rping, ucmatose, perftest.
 *
 * A step or call that fails is said on standard output, in a line that begins with FAILED, and ends the program.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat/udat.h>

#define PARTNER_REGION   (2u << 20) /**< bytes that the peer reaches */
#define PARTNER_SENDING  (2u << 20)
#define PARTNER_DEPTH    128u
#define PARTNER_PATIENCE 60000000u /**< microseconds */

struct partner_options {
	const char *ia;
	const char *text; /**< private data */
	uint16_t port;
	uint32_t connections, receives, size, wait_ms, rounds, gap_ms, tries, late_ms, patience_ms,
			end_ms;
	bool srq, reject, leave;
	bool cm;          /**< perftest with -R */
	bool window;      /**< grant one to each peer, and tell it so */
	bool any_content; /**< what comes is not the pattern */
};

/** The offer of a server, in its private data. */
struct partner_offer {
	char magic[4];
	uint32_t key;
	uint64_t address, length;
};

struct partner {
	struct partner_options options;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, connections, requests, receives, sends;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;
	DAT_LMR_CONTEXT region_key, receive_key, send_key;
	DAT_RMR_CONTEXT region_rmr;
	uint8_t *region, *receiving, *sending;
	struct partner_offer peer;
	uint64_t messages, bytes, bad; /**< received */
	uint32_t written;       /**< bytes from the start of the peer's memory that we wrote */
	uint64_t last_received; /**< bytes of the last message, which stands at last_message */
	const uint8_t *last_message;
};

/** Milliseconds of a clock. */
double partner_now(void);

/** Say what failed, and end. */
void partner_die(const char *what, DAT_RETURN ret) __attribute__((noreturn));
void partner_must(DAT_RETURN ret, const char *what);

/** Byte @p i of every message, as rdmaprobe sends it. */
uint8_t partner_pattern(uint32_t i);

void partner_open(struct partner *p);
/** Register new memory, of DAT_MEM_PRIV_*_FLAG; @p rmr may be NULL. */
uint8_t *partner_offer(struct partner *p, size_t length, unsigned int rights, DAT_LMR_CONTEXT *key,
		DAT_RMR_CONTEXT *rmr);
void
partner_make_evd(struct partner *p, DAT_COUNT length, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd);
void partner_make_ep(struct partner *p);
void partner_post_receives(struct partner *p);
/** Take what has arrived, judge it, post the buffers again. @return events taken. */
unsigned int partner_take(struct partner *p);
/** Set by SIGTERM: no more polling for the sake of time. */
extern volatile sig_atomic_t partner_enough;
/** Poll the engine for so long, or until it is enough. */
void partner_poll(struct partner *p, double ms);

/** Wait for the next event of a connection. The offer of an established one is in p->peer. @return its number. */
unsigned int partner_connection_event(struct partner *p);
/** Wait for @p n completions. @return how many were no success; the statuses are said. */
unsigned int partner_complete(struct partner *p, unsigned int n);

/** Serve as many connections as the options say. */
void partner_serve(struct partner *p);
/** Connect, do the steps, disconnect. @return 0; 1: a step failed; 3: no connection. */
int partner_converse(struct partner *p, const char *host, char **steps);
/** Be the server, or the client for so many rounds, of an rping. @return 0; 1: what came is not what was sent. */
int partner_rping_serve(struct partner *p);
int partner_rping(struct partner *p, const char *host, uint32_t rounds, uint32_t size);
/** Be the other end of ib_NAME of perftest: the server, or the client of @p host. @return 0; 1: not as it should be. */
int partner_perftest(struct partner *p, const char *name, const char *host);
/** The same for ucmatose, with so many messages a connection; only with a shared queue. */
int partner_ucmatose(struct partner *p, uint32_t messages, const char *host);
/** Begin to connect to the port of the options. */
void partner_connect(struct partner *p, const char *host);

#endif
