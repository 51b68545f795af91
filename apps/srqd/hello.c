/* SPDX-License-Identifier: BSD-3-Clause */
#include "hello.h"

#include <endian.h>
#include <string.h>

#define MAGIC   0x64415473u /* dATs */
#define VERSION 1

/* The bytes on the wire, big endian. */
struct wire {
	uint32_t magic;
	uint8_t version, sink, zero[2];
	uint32_t size, window;
};

_Static_assert(sizeof(struct wire) == SRQD_HELLO_LEN, "the hello fills its private data");

void
srqd_hello_encode(const struct srqd_hello *hello, uint8_t bytes[SRQD_HELLO_LEN])
{
	const struct wire wire = {
		.magic = htobe32(MAGIC),
		.version = VERSION,
		.sink = hello->sink,
		.size = htobe32(hello->size),
		.window = htobe32(hello->window),
	};

	memcpy(bytes, &wire, sizeof(wire));
}

bool
srqd_hello_decode(const void *bytes, size_t len, struct srqd_hello *hello)
{
	struct wire wire;

	if (bytes == NULL || len < sizeof(wire))
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	if (be32toh(wire.magic) != MAGIC || wire.version != VERSION)
		return false;
	*hello = (struct srqd_hello){
		.size = be32toh(wire.size),
		.window = be32toh(wire.window),
		.sink = wire.sink != 0,
	};
	return true;
}
