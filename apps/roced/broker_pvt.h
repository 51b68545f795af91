/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCED_BROKER_PVT_H
#define ROCED_BROKER_PVT_H

/**
 * @file
 * The broker from inside: its clients, and what the files of the broker call of each other.
 */

#include <sys/queue.h>

#include "broker.h"

#define WORDS ((ROCE_PROCESSES + 63) / 64)

/** No process: of a message that is about none, of a client without a number. */
#define NO_NUMBER UINT32_MAX

/** Processes as a set. */
struct number_set {
	uint64_t word[WORDS];
};

static inline bool
set_has(const struct number_set *set, uint32_t number)
{
	return (set->word[number / 64] >> number % 64 & 1) != 0;
}

static inline void
set_add(struct number_set *set, uint32_t number)
{
	set->word[number / 64] |= UINT64_C(1) << number % 64;
}

static inline void
set_remove(struct number_set *set, uint32_t number)
{
	set->word[number / 64] &= ~(UINT64_C(1) << number % 64);
}

/** The first number of the set that is at least @p from; ROCE_PROCESSES: there is none. */
static inline uint32_t
set_next(const struct number_set *set, uint32_t from)
{
	for (uint32_t number = from; number < ROCE_PROCESSES; number = (number | 63) + 1) {
		uint64_t rest = set->word[number / 64] >> number % 64;

		if (rest != 0)
			return number + (uint32_t)__builtin_ctzll(rest);
	}
	return ROCE_PROCESSES;
}

/** A descriptor that waits in the output of several clients. */
struct shared_fd {
	int fd;
	uint32_t users;
};

/** A message that waits for its client to read. */
struct output {
	STAILQ_ENTRY(output) next;
	struct shared_fd *fd[ROCE_PROTO_FDS];
	unsigned int fds;
	uint32_t about;      /**< the peer that a CHANNEL, a GONE or a FRAME is of */
	struct roce_msg msg; /**< as many bytes of it as its type has */
};

/** A service id and its listener. */
struct listener {
	LIST_ENTRY(listener) in_bucket;
	LIST_ENTRY(listener) of_client;
	uint64_t service_id;
	struct broker_client *client;
};
LIST_HEAD(listeners, listener);

/** A connection request: which client it went to. */
struct asked {
	uint64_t tid;    /**< the same when the request is sent again */
	uint64_t serial; /**< of that client; 0: the place is free */
	uint32_t comm_id;
};

enum client_state {
	CLIENT_GUEST = 1, /**< has not said HELLO */
	CLIENT_WAITING,   /**< has said HELLO before the uplink did */
	CLIENT_ATTACHED,
	CLIENT_OVER, /**< its connection is to end */
};

struct broker_client {
	struct broker *broker;
	void *user;
	TAILQ_ENTRY(broker_client) all;
	TAILQ_ENTRY(broker_client) ready;
	enum client_state state;
	bool is_ready;   /**< is in the list of ready ones */
	bool returned;   /**< has the number, and channels, from before this roced was started */
	uint32_t number; /**< NO_NUMBER until WELCOME */
	uint32_t pid;
	uint32_t wanted; /**< number of its HELLO */
	uint32_t waited; /**< checks, for the uplink */
	uint64_t serial; /**< never used again, unlike the number */
	char name[ROCE_PROTO_NAME_LEN];
	struct shared_fd *bell;
	struct number_set pairs; /**< peers with a channel */
	struct listeners listeners;
	uint32_t listens;
	struct asked *asked; /**< by the lower bits of the communication id; NULL: no requests yet */
	STAILQ_HEAD(, output) output;
	uint32_t controls; /**< messages in the output that are no frames */
	uint32_t frames;
	bool status_waits; /**< a STATUS_TEXT is in the output */
};
TAILQ_HEAD(broker_clients, broker_client);

/** Buckets of the table of listeners. */
#define BUCKETS 4096u

/** Requests without a listener that are not answered while processes come back to a roced that was started anew. */
#define BROKER_PATIENCE 64

struct broker {
	struct broker_host host;
	uint32_t pid;
	uint32_t last; /**< the number that was given last in turn */
	uint32_t guests;
	uint32_t waiting;     /**< HELLOs that wait for an uplink */
	bool expects_uplink;  /**< there is one, or another one follows */
	bool awaits_identity; /**< the first one has not come so far */
	uint64_t serial;
	uint64_t secret; /**< of the table of listeners */
	struct roce_proto_identity identity;
	struct broker_clients all, ready;
	struct broker_client *process[ROCE_PROCESSES]; /**< by number; NULL: not attached */
	struct number_set used;                        /**< numbers that this roced has given */
	struct number_set absent; /**< peers of HAVE that have not come back so far */
	struct listeners bucket[BUCKETS];
	uint32_t listens;
	uint32_t patience; /**< requests that may wait for processes to come back */
	struct broker_counters counters;
	struct roce_msg_uplink uplink; /**< what the uplink that runs, or ran last, has told */
};

/** One line to the log, in the words of printf. */
void broker_log(const struct broker *broker, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* broker_output.c */

/** Put the client into the list of ready ones. */
void broker_wake(struct broker_client *client);

/** The connection of the client is to end. */
void broker_end(struct broker_client *client);

/** @return owns @p fd; NULL: out of memory, @p fd is closed. */
struct shared_fd *broker_share(struct broker *broker, int fd);
void broker_unshare(struct broker *broker, struct shared_fd *shared);

/**
 * Queue a message for a client, which is over if it does not read.
 * @param about the peer, or NO_NUMBER. @param fds get one user more each.
 */
void broker_say(struct broker_client *to, const struct roce_msg *msg, uint32_t about,
		struct shared_fd *const *fds, unsigned int n);

/** Queue a frame of @p from, unless too many wait. */
void broker_say_frame(struct broker_client *to, const struct broker_client *from,
		const struct roce_msg *msg);

/**
 * Take back a channel to a peer that is gone, if the client has not read of it, and the frames behind it. Frames of a
 * peer that the client knows stay, ahead of the word of its end.
 * @return true: the client has not been told of the peer, and need not be told of its end.
 */
bool broker_forget_output(struct broker_client *client, uint32_t about);

void broker_drop_output(struct broker_client *client);

/* broker_identity.c */

/** Of a roced that never had an uplink. */
void broker_identity_local(struct roce_proto_identity *identity);

/** Take the identity of an uplink. @return false: it is none, nothing has changed. */
bool broker_identity_take(struct broker *broker, const struct roce_proto_identity *told);

/** Is it an address of this host? Any one of 127.0.0.0/8 is. */
bool broker_identity_has(const struct roce_proto_identity *identity, const uint8_t *ip);

/** Is it an address that never leaves a host? */
bool broker_is_loopback(const uint8_t *ip);

/* broker_hello.c */
/** The client waits no more: its bell is closed. */
void broker_stop_waiting(struct broker_client *client);

/** @param bell is taken over. */
void broker_hello(struct broker_client *client, const struct roce_msg_hello *hello, int bell);

/* broker_listen.c */
void broker_listen(struct broker_client *client, uint64_t service_id);
void broker_unlisten(struct broker_client *client, uint64_t service_id);
void broker_unlisten_all(struct broker_client *client);
/** @return NULL: no process listens there. */
struct broker_client *broker_listener(const struct broker *broker, uint64_t service_id);

/* broker_pair.c */
void broker_open(struct broker_client *client, uint32_t peer);
void broker_have(struct broker_client *client, uint32_t peer);
/** Make the channel of two processes, unless they have one. @return 0; -errno, and the log was told. */
int broker_pair(struct broker_client *a, struct broker_client *b);
/** A process has attached: those that await its number learn whether it is the same one. */
void broker_pair_attached(struct broker_client *client);
/** A process has attached: it and the uplink get a channel, because one that only receives never asks for it. */
void broker_pair_uplink(struct broker_client *client);
/** A process is gone: its peers are told. */
void broker_pair_gone(struct broker_client *client);

/* broker_frame.c */
void broker_frame(struct broker_client *from, const struct roce_msg *msg);

/* broker_status.c */
void broker_status(struct broker_client *client, bool json);

#endif /* ROCED_BROKER_PVT_H */
