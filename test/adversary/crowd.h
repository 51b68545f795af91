/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_ADVERSARY_CROWD_H
#define TEST_ADVERSARY_CROWD_H

/**
 * @file
 * One process of a crowd on roce0 (crowd.py). It listens at a port of its own, connects to each process with a smaller
 * index, and talks to all; it sleeps in dat_evd_wait() meanwhile.
 *
 * All that two processes say to each other follows from who they are: the index and the life of both ends make a key, and
 * the key and the number of a message its length, its bytes, and what goes with it. So a receiver knows each byte before it
 * comes, and a byte of another message, connection or life is a wrong one. One event dispatcher takes all, so what was received comes
 * before the break of its endpoint.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <dat/udat.h>

#define CROWD_MAX     128u         /**< processes */
#define CROWD_MESSAGE (64u * 1024) /**< bytes of the longest message */
#define CROWD_SLOTS   64u          /**< messages of this process under way */
#define CROWD_RECVS   96u          /**< buffers on the shared receive queue */
#define CROWD_WINDOW  4u           /**< messages under way on a connection */
#define CROWD_DESKS   4u /**< for a peer: a new connection does not use that of an old one */

/** The private data of both ends. */
struct crowd_hello {
	uint32_t magic;
	uint32_t index;
	uint32_t life; /**< which process with this index */
	uint32_t key;  /**< of the memory below, CROWD_MESSAGE bytes each */
	uint64_t page; /**< which all may read */
	uint64_t desk; /**< to which the peer may write */
};

enum crowd_link_state {
	LINK_CONNECTING = 1,
	LINK_ACCEPTED,
	LINK_UP,
	LINK_ENDED, /**< its break has come; completions of what was posted since then are to come */
};

/** One connection, from its request to its break. */
struct crowd_link {
	struct crowd_link *next;
	DAT_EP_HANDLE ep;
	enum crowd_link_state state;
	struct crowd_hello peer; /**< of the asking end: known once it is up, but for the index */
	uint32_t desk;           /**< of this process, for the peer */
	double since;            /**< when it was asked for */
	uint64_t key_out, key_in;
	uint32_t sent, received; /**< messages */
	uint32_t told;           /**< messages of this end that the peer has said to have */
	uint32_t write_at;       /**< the last message with a write, and 1; 0: none */
	uint32_t under_way;      /**< of work: sends, writes, reads */
	double waits; /**< since when no news have come of messages sent; 0: all have come */
	int error;    /**< status of the first completion that failed */
};

/** Memory of one message that is sent. */
struct crowd_slot {
	struct crowd_link *link; /**< NULL: free */
	unsigned int work;       /**< completions to come */
	uint32_t read_at, read_len;
};

struct crowd {
	uint32_t index, count;
	uint32_t life; /**< other processes with this index had, and will have, others */
	DAT_CONN_QUAL port;
	unsigned int tick_us, burst;
	uint64_t random;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, evd;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq;
	DAT_PSP_HANDLE psp;
	DAT_LMR_CONTEXT lmr;
	DAT_RMR_CONTEXT rmr;
	uint8_t *memory; /**< in parts of CROWD_MESSAGE: page, desks, receive buffers, slots */
	struct crowd_link *links;
	struct crowd_link *current[CROWD_MAX]; /**< the newest one, or NULL */
	double again[CROWD_MAX];               /**< when to connect to a smaller index */
	struct crowd_slot slot[CROWD_SLOTS];
	uint64_t messages, received, bytes, writes, reads;
};

/** Seconds of CLOCK_MONOTONIC, as Python's time.monotonic(). */
double crowd_now(void);

/** Print and end. */
void __attribute__((format(printf, 1, 2), noreturn)) crowd_fail(const char *format, ...);

/** End unless the call has succeeded. */
void crowd_ok(DAT_RETURN ret, const char *call);

/** A number below @p n. */
uint32_t crowd_below(struct crowd *crowd, uint32_t n);

/** Memory, its key, the shared receive queue and all its buffers. */
void crowd_make_memory(struct crowd *crowd);

/** A process says this of itself on a link, and takes a desk for it. */
struct crowd_hello crowd_introduce(const struct crowd *crowd, struct crowd_link *link);

/** Understand private data. @return false: they are of no process of the crowd. */
bool crowd_recognise(const struct crowd *crowd, const void *data, DAT_COUNT len,
		struct crowd_hello *hello);

/** Both ends of the link are known. */
void crowd_talk_begin(const struct crowd *crowd, struct crowd_link *link);

/** The link of an endpoint. */
struct crowd_link *crowd_link_of(DAT_EP_HANDLE ep);

/** Send to some that are up, and report those that have been silent for too long. */
void crowd_talk(struct crowd *crowd);

/** Free a link that has ended, unless there are completions to come. */
void crowd_drop(struct crowd *crowd, struct crowd_link *link);

/** A completion of any kind. */
void crowd_completed(struct crowd *crowd, const DAT_DTO_COMPLETION_EVENT_DATA *data);

#endif
