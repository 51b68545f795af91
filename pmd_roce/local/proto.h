/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_LOCAL_PROTO_H
#define ROCE_LOCAL_PROTO_H

/**
 * @file
 * The messages between roced and the processes of a host.
 *
 * One SOCK_SEQPACKET connection a process, on ROCE_PROTO_SOCKET in the run-time folder of the user. A datagram is one
 * struct roce_msg, cut behind the member that its type uses, with the descriptors that the type names. Numbers are in
 * host order: both ends are on one host. A message of another length, type or number of descriptors ends the
 * connection.
 *
 * A process has a number, 1..ROCE_PROCESS_MAX. The number stands in the high bits of its queue pair numbers and of its
 * communication ids, so each of them says which process a frame is for. Number 0 is the uplink.
 *
 * Shared memory is sealed (F_SEAL_SHRINK and F_SEAL_GROW), so that no end takes it away from under the other. A process
 * makes its bell (bell.h), and roced the memory of channels (ring.h). A byte in the socket of a channel wakes the peer:
 * send(2) need not wait, whatever the other end does, and what that end does to the pair harms only itself.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_PROTO_SOCKET "roced.sock"
#define ROCE_PROTO_LOCK   "roced.lock" /**< flock(2): the one roced of the folder holds it */
/** A roced with an uplink serves the folder, or is to come back: none is started on demand. */
#define ROCE_PROTO_UPLINK "roced.uplink"
/** Exit status of `roced --on-demand` then. */
#define ROCE_PROTO_AWAITED 75
/**
 * Process N has an open file description lock on byte N for as long as it lives: F_RDLCK, through a descriptor of its
 * own that is open for reading. roced alone writes to the file.
 */
#define ROCE_PROTO_NUMBERS "roced.numbers"
#define ROCE_PROTO_VERSION 2u

#define ROCE_PROCESS_UPLINK 0u
#define ROCE_PROCESS_MAX    1022u /**< the queue pair number of multicast would be of the next one */
#define ROCE_PROCESSES      (ROCE_PROCESS_MAX + 1)
#define ROCE_QPN_SHIFT      14 /**< bits of a queue pair number below those of the process */
#define ROCE_COMM_ID_SHIFT  22 /**< the same of a communication id */

#define ROCE_PROTO_ADDRS     16
#define ROCE_PROTO_NAME_LEN  32
#define ROCE_PROTO_FRAME_MAX 512 /**< bytes of a frame of the connection manager */
#define ROCE_PROTO_FDS       3

enum roce_msg_type {
	/* To roced. */
	ROCE_MSG_HELLO =
			1, /**< first: hello, with 1 descriptor: the bell. Answered by WELCOME or REFUSED */
	ROCE_MSG_LISTEN,   /**< service: take a service id. Answered by LISTENED */
	ROCE_MSG_UNLISTEN, /**< service: give it back */
	ROCE_MSG_OPEN, /**< peer: make a channel. Answered by CHANNEL, to both ends, or by GONE */
	ROCE_MSG_HAVE, /**< peer: a channel from before roced was started. No answer, or GONE */
	/* Either way. */
	ROCE_MSG_FRAME, /**< frame: of the connection manager, from the Ethernet header to the ICRC */
	/* From roced. */
	ROCE_MSG_WELCOME,  /**< welcome */
	ROCE_MSG_REFUSED,  /**< refused; the connection ends */
	ROCE_MSG_LISTENED, /**< listened */
	/** channel, with 3 descriptors: the channel's memory, the peer's bell, this end of a pair of sockets. */
	ROCE_MSG_CHANNEL,
	ROCE_MSG_GONE, /**< peer: the process has ended, or never was */
	/* Of any connection, attached or not. */
	ROCE_MSG_STATUS,      /**< status: to roced, what is to be told. Answered by STATUS_TEXT */
	ROCE_MSG_STATUS_TEXT, /**< status, with 1 descriptor: memory with the text */
	/* To roced, of the uplink alone. */
	ROCE_MSG_UPLINK, /**< uplink: what it has counted since its start. No answer */
	ROCE_MSG_TYPES,
};

/** An address and its subnet. IPv4 as an IPv4-mapped IPv6 address, network byte order; prefix of its own family. */
struct roce_proto_addr {
	uint8_t ip[16];
	uint32_t prefix;
};

/** The identity that all processes share. */
struct roce_proto_identity {
	uint8_t mac[6];
	uint16_t mtu;    /**< bytes behind an Ethernet header that a frame may have */
	uint32_t uplink; /**< 1: there is one, or roced is to have one and starts it */
	uint32_t addrs;
	uint8_t gw[16]; /**< router to hosts in none of the subnets, as an address; all zero: none */
	struct roce_proto_addr addr[ROCE_PROTO_ADDRS]; /**< the uplink's, then 127.0.0.1/8 */
};

struct roce_msg_hello {
	uint32_t version;
	uint32_t number;                /**< from a roced before this one; 0: any */
	uint32_t uplink;                /**< 1: this process carries the uplink, with identity */
	char name[ROCE_PROTO_NAME_LEN]; /**< for people; ends with a zero */
	struct roce_proto_identity identity;
};

struct roce_msg_welcome {
	uint32_t number;
	uint32_t pid; /**< of roced */
	struct roce_proto_identity identity;
};

struct roce_msg_refused {
	int32_t error; /**< a negative errno: -EPROTO another version, -EMFILE no number, -EBUSY the number is taken */
};

struct roce_msg_service {
	uint64_t service_id;
};

struct roce_msg_listened {
	uint64_t service_id;
	int32_t error; /**< 0; -EADDRINUSE; -ENOMEM */
};

struct roce_msg_peer {
	uint32_t number;
};

struct roce_msg_channel {
	uint32_t number; /**< of the peer */
	uint32_t side;   /**< 0 or 1: sends by ring[side], receives from the other */
};

struct roce_msg_frame {
	uint32_t len;
	uint8_t data[ROCE_PROTO_FRAME_MAX];
};

struct roce_msg_status {
	uint32_t json; /**< 1: one JSON object; 0: tables */
	uint32_t len;  /**< bytes of the text; 0 in a request */
};

/** The counters of the uplink. */
struct roce_msg_uplink {
#define COUNTER(name, meaning) uint64_t name;
#include "local/uplink_counters.def"
#undef COUNTER
};

struct roce_msg {
	uint32_t type; /**< enum roce_msg_type */
	union {
		struct roce_msg_hello hello;
		struct roce_msg_service service;
		struct roce_msg_peer peer;
		struct roce_msg_frame frame;
		struct roce_msg_welcome welcome;
		struct roce_msg_refused refused;
		struct roce_msg_listened listened;
		struct roce_msg_channel channel;
		struct roce_msg_status status;
		struct roce_msg_uplink uplink;
	};
};

/** Bytes of a message of that type, FRAME with @p frame_len bytes; 0: there is no such type. */
size_t roce_msg_len(uint32_t type, uint32_t frame_len);

/**
 * Send a message, without waiting.
 * @param fds stay the caller's.
 * @return 0; -EAGAIN: the peer does not read; -errno: the connection is over.
 */
int roce_msg_send(int fd, const struct roce_msg *msg, const int *fds, unsigned int n);

/**
 * Receive a message, without waiting, and check its length and the number of its descriptors.
 * @param fds room for ROCE_PROTO_FDS; the caller's from here on. NULL: none are taken, and a message with some is none of
 *   ours. @param n how many there are.
 * @return 0; -EAGAIN: there is none; -EPIPE: the peer has closed; -EPROTO: none of ours, its descriptors are closed, and it
 *   stays in the socket, which is to be closed; -errno.
 */
int roce_msg_recv(int fd, struct roce_msg *msg, int *fds, unsigned int *n);

/**
 * The same, but after -EPROTO the descriptors are the caller's as well: to close one that an unknown process has chosen may
 * mean to wait for its file system.
 */
int roce_msg_recv_unknown(int fd, struct roce_msg *msg, int *fds, unsigned int *n);

#endif
