/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_ETHDEV_MEMIF_MSG_H
#define ROCE_ETHDEV_MEMIF_MSG_H

/**
 * @file
 * Messages of memif's control channel (version 2.0): 128 bytes each on a Unix socket that keeps message borders, in the
 * byte order of the host, some with a descriptor. drivers/net/memif/memif.h of DPDK has the same layout.
 *
 * The client tells of its memory and its rings, the server acknowledges each message, and CONNECT and CONNECTED end
 * the handshake. Afterwards the channel is silent, and its end is the end of the link.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define ROCE_MEMIF_VERSION   0x200
#define ROCE_MEMIF_COOKIE    0x3e31f20
#define ROCE_MEMIF_NAME_LEN  32
#define ROCE_MEMIF_SECRET    24
#define ROCE_MEMIF_WORDS_LEN 96

/** Largest ring, as a logarithm: what net_memif admits. */
#define ROCE_MEMIF_LOG2_RING_MAX 14

/** A ring in shared memory: three cache lines with the cookie first, of which descriptors begin behind the second. */
#define ROCE_MEMIF_RING_HEADER 128
#define ROCE_MEMIF_DESC        16

enum roce_memif_type {
	ROCE_MEMIF_ACK = 1,
	ROCE_MEMIF_HELLO,
	ROCE_MEMIF_INIT,
	ROCE_MEMIF_ADD_REGION,
	ROCE_MEMIF_ADD_RING,
	ROCE_MEMIF_CONNECT,
	ROCE_MEMIF_CONNECTED,
	ROCE_MEMIF_DISCONNECT,
};

/** Server to client: what it admits. */
struct roce_memif_hello {
	char name[ROCE_MEMIF_NAME_LEN];
	uint16_t min_version;
	uint16_t max_version;
	uint16_t max_region; /**< largest index, as the next two */
	uint16_t max_s2c_ring;
	uint16_t max_c2s_ring;
	uint8_t max_log2_ring_size;
} __rte_packed;

/** Client to server: which interface it wants. */
struct roce_memif_init {
	uint16_t version;
	uint32_t id;
	uint8_t mode; /**< 0: Ethernet */
	char secret[ROCE_MEMIF_SECRET];
	char name[ROCE_MEMIF_NAME_LEN];
} __rte_packed;

/** Client to server, with the descriptor of the memory. */
struct roce_memif_add_region {
	uint16_t index;
	uint64_t size;
} __rte_packed;

#define ROCE_MEMIF_RING_C2S 1 /**< the ring goes from client to server */

/** Client to server, with an eventfd. */
struct roce_memif_add_ring {
	uint16_t flags;
	uint16_t index;
	uint16_t region;
	uint32_t offset;
	uint8_t log2_ring_size;
	uint16_t private_hdr_size;
} __rte_packed;

/** Either way: why this is the end. */
struct roce_memif_disconnect {
	uint32_t code;
	char words[ROCE_MEMIF_WORDS_LEN];
} __rte_packed;

struct roce_memif_msg {
	uint16_t type;
	union {
		struct roce_memif_hello hello;
		struct roce_memif_init init;
		struct roce_memif_add_region add_region;
		struct roce_memif_add_ring add_ring;
		struct roce_memif_disconnect disconnect;
		char if_name[ROCE_MEMIF_NAME_LEN]; /**< of CONNECT and CONNECTED */
		uint8_t all[126];
	};
} __rte_packed;

static_assert(sizeof(struct roce_memif_msg) == 128, "as net_memif sends them");

/** Descriptors of peers that wait to be closed at once, beside those of one message and of handshakes that end. */
#define ROCE_MEMIF_CLOSING_MAX 32

/** Is it one of the kernel's own, an eventfd or the like? Never waits, whatever it is. */
bool roce_memif_is_anonymous(int fd);

/** Close a descriptor that a peer has passed. Never waits: what may wait is closed by another thread. */
void roce_memif_close_passed(int fd);

/** How many that thread has yet to close. */
unsigned int roce_memif_closing(void);

/** Milliseconds of a clock that only goes forward. */
uint64_t roce_memif_now(void);

/** Send without waiting. @param passed a descriptor, which stays the caller's, or -1. @return 0; -errno. */
int roce_memif_send(int fd, const struct roce_memif_msg *msg, int passed);

/** Send a DISCONNECT; if that fails, the end of the channel says the same. */
void roce_memif_send_disconnect(int fd, const char *words);

/**
 * Receive without waiting.
 *
 * @param passed the caller's descriptor, or -1; untouched at a failure.
 * @return 0; -EAGAIN there is none; -ECONNRESET the channel has ended; -EPROTO it is no message; else -errno.
 */
int roce_memif_recv(int fd, struct roce_memif_msg *msg, int *passed);

/**
 * Wait for one message, whose descriptor is closed.
 * @param end of the patience as roce_memif_now() counts, or UINT64_MAX.
 * @return as roce_memif_recv(); -ETIMEDOUT.
 */
int roce_memif_await(int fd, struct roce_memif_msg *msg, uint64_t end);

/** The same with the descriptor. */
int roce_memif_await_passed(int fd, struct roce_memif_msg *msg, int *passed, uint64_t end);

#endif
