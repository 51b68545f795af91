/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SRQD_HELLO_H
#define SRQD_HELLO_H

/**
 * @file
 * Messages of the two ends of a connection in its private data. A request says what the
 * client wants; the answer says what the server grants, and the client checks whether that will do.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SRQD_HELLO_LEN 16

struct srqd_hello {
	uint32_t size;   /**< bytes: of the client's messages; of the server's buffers */
	uint32_t window; /**< messages of the client that may be unanswered: wanted; granted */
	bool sink;       /**< the server will not send messages back */
};

/** Write @p hello in network byte order. */
void srqd_hello_encode(const struct srqd_hello *hello, uint8_t bytes[SRQD_HELLO_LEN]);

/**
 * Read private data; there may be more of them than were sent.
 * @return false: this is no hello of this version; @p hello is untouched.
 */
bool srqd_hello_decode(const void *bytes, size_t len, struct srqd_hello *hello);

#endif /* SRQD_HELLO_H */
