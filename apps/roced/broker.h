/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_BROKER_H
#define ROCED_BROKER_H

/**
 * @file
 * The broker: what roced knows of the processes, and what it answers to their messages.
 *
 * The broker is a value: messages of clients go in, messages for clients come out. It has no socket, no clock and no
 * thread, and reads no memory that a client can write. Descriptors are made and closed by functions of its caller.
 * One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/proto.h"

struct broker;
struct broker_client;

/** The note that is of no process: the number that was given last. */
#define BROKER_NOTE_LAST ROCE_PROCESSES

/** The broker has these functions from its caller. */
struct broker_host {
	void *arg; /**< of each function */
	/** Shared memory of @p len bytes, all zero, whose size is sealed. @return a descriptor; -errno. */
	int (*memory)(void *arg, const char *name, size_t len);
	/** Is it such memory of a client, which nobody can cut or make read-only, and which is there when it is touched? */
	bool (*is_memory)(void *arg, int fd, size_t len);
	/** Read-only shared memory with a text. @return a descriptor; -errno. */
	int (*text)(void *arg, const char *text, size_t len);
	/** Two sockets that are connected. @return 0; -errno. */
	int (*sockets)(void *arg, int *fds);
	void (*close)(void *arg, int fd);
	/** Close a descriptor that a client has chosen, and that is no memory: that may last, and is not waited for. */
	void (*close_unknown)(void *arg, int fd);
	/** Does a living process hold the lock of the number? */
	bool (*is_locked)(void *arg, uint32_t number);
	/** Note which process has the number, for a roced after this one; or, as BROKER_NOTE_LAST, a number. */
	void (*note)(void *arg, uint32_t number, uint32_t pid);
	/** The note, by this roced or one before it; 0: nothing, or the process is unknown. */
	uint32_t (*noted)(void *arg, uint32_t number);
	/** Random bits, for a hash table that no client foresees. */
	uint64_t (*random)(void *arg);
	/** Seconds since roced was started, for the status. */
	uint64_t (*age)(void *arg);
	/** An event, in one line, for people; may be NULL. */
	void (*log)(void *arg, const char *line);
};

/** Counters of events since the broker was made. */
struct broker_counters {
#define COUNTER(name, meaning) uint64_t name;
#include "counters.def"
#undef COUNTER
};

/** Calls of broker_check_waiting() for which a HELLO waits for an uplink. */
#define BROKER_WAIT_CHECKS 40

/** @param host stays the caller's. @param pid of roced. @return NULL: out of memory. */
struct broker *broker_create(const struct broker_host *host, uint32_t pid);

/**
 * An uplink is to come: until the first one has told the identity, ordinary HELLOs wait for it. From then on processes hear
 * of an uplink also while there is none, because another one follows. Before any client connects.
 */
void broker_expect_uplink(struct broker *broker);

/** Is the uplink attached? */
bool broker_has_uplink(const struct broker *broker);

/** Does a HELLO wait for the uplink? Then broker_check_waiting() is to be called, ten times a second. */
bool broker_has_waiting(const struct broker *broker);

/** Refuse those that have waited long enough: -ENETDOWN. */
void broker_check_waiting(struct broker *broker);

/** All clients must have been disconnected. */
void broker_destroy(struct broker *broker);

/** A connection. @param pid of the peer. @param user for broker_user(). @return NULL: out of memory. */
struct broker_client *broker_connect(struct broker *broker, uint32_t pid, void *user);

void *broker_user(const struct broker_client *client);

/** The connection has ended: all that the client had is given back, its peers are told. @p client is freed. */
void broker_disconnect(struct broker_client *client);

/**
 * A message of a client, whole and of a known type (roce_msg_recv()). Answers become output of this client and of others;
 * each client with new output, and each whose connection is to end, is in broker_ready().
 * @param fd came with the message; the broker's from here on. -1: none came.
 */
void broker_message(struct broker_client *client, const struct roce_msg *msg, int fd);

/** Has the client not said HELLO so far? No other message of a client has descriptors. */
bool broker_is_guest(const struct broker_client *client);

/** A message that roce_msg_recv() refused: the connection is to end. */
void broker_violation(struct broker_client *client, const char *what);

/** Take a client that has new output or is to end. @return NULL: there is none. */
struct broker_client *broker_ready(struct broker *broker);

/** Is the connection to end, once its output was tried? */
bool broker_is_over(const struct broker_client *client);

/**
 * The next message for a client.
 * @param fds room for ROCE_PROTO_FDS; the broker's. @param n how many there are.
 * @return valid until broker_output_sent(), or the next message of any client; NULL: none.
 */
const struct roce_msg *broker_output(const struct broker_client *client, int *fds, unsigned int *n);

/** The message of broker_output() was sent. */
void broker_output_sent(struct broker_client *client);

/** Is a peer awaited that was there before roced was started? Then broker_check_absent() is to be called now and then. */
bool broker_has_absent(const struct broker *broker);

/** Tell those that await a peer which does not live any more. */
void broker_check_absent(struct broker *broker);

/** A client that has not said HELLO, the oldest one; NULL: there are fewer than @p many. */
struct broker_client *broker_oldest_guest(const struct broker *broker, unsigned int many);

/** How many clients have not said HELLO. */
uint32_t broker_guests(const struct broker *broker);

const struct broker_counters *broker_counters(const struct broker *broker);

#endif /* ROCED_BROKER_H */
