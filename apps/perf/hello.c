/* SPDX-License-Identifier: BSD-3-Clause */
#include "hello.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "plan.h"

#define MAGIC   0x64415470u /* dATp */
#define VERSION 2           /* 1 told of no memory */

/* The bytes on the wire, big endian. */
struct wire {
	uint32_t magic;
	uint8_t version, test, both, verify;
	uint32_t index, session, size, endpoints;
	uint64_t iterations, warmup;
	uint32_t seconds, rmr_context;
	uint64_t address;
};

_Static_assert(sizeof(struct wire) == PERF_HELLO_LEN, "the hello fills its private data");

void
perf_hello_encode(const struct perf_hello *hello, uint8_t bytes[PERF_HELLO_LEN])
{
	const struct wire wire = {
		.magic = htobe32(MAGIC),
		.version = VERSION,
		.test = hello->test,
		.both = hello->both,
		.verify = hello->verify,
		.index = htobe32(hello->index),
		.session = htobe32(hello->session),
		.size = htobe32(hello->size),
		.endpoints = htobe32(hello->endpoints),
		.iterations = htobe64(hello->iterations),
		.warmup = htobe64(hello->warmup),
		.seconds = htobe32(hello->seconds),
		.rmr_context = htobe32(hello->rmr_context),
		.address = htobe64(hello->address),
	};

	memcpy(bytes, &wire, sizeof(wire));
}

bool
perf_hello_decode(const void *bytes, size_t len, struct perf_hello *hello)
{
	struct wire wire;

	/* The transport may hand out more than was sent, filled up with zeros. */
	if (bytes == NULL || len < sizeof(wire))
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	if (be32toh(wire.magic) != MAGIC || wire.version != VERSION || wire.test >= PERF_TESTS)
		return false;
	*hello = (struct perf_hello){
		.index = be32toh(wire.index),
		.session = be32toh(wire.session),
		.test = wire.test,
		.both = wire.both != 0,
		.verify = wire.verify != 0,
		.size = be32toh(wire.size),
		.endpoints = be32toh(wire.endpoints),
		.seconds = be32toh(wire.seconds),
		.iterations = be64toh(wire.iterations),
		.warmup = be64toh(wire.warmup),
		.rmr_context = be32toh(wire.rmr_context),
		.address = be64toh(wire.address),
	};
	return true;
}

bool
perf_hello_agrees(const struct perf_hello *mine, const struct perf_hello *theirs, char *sentence,
		size_t len)
{
	const struct {
		const char *option;
		uint64_t mine, theirs;
	} number[] = {
		{ "the size (--size or --all)", mine->size, theirs->size },
		{ "the number of endpoints (--qp)", mine->endpoints, theirs->endpoints },
		{ "the duration (--duration)", mine->seconds, theirs->seconds },
		{ "the number of iterations (--iters)", mine->iterations, theirs->iterations },
		{ "the warm-up (--warmup)", mine->warmup, theirs->warmup },
		{ "the use of both directions (--bidirectional)", mine->both, theirs->both },
		{ "the use of --verify", mine->verify, theirs->verify },
		{ "the place in the run", mine->session, theirs->session },
	};

	if (mine->test != theirs->test) {
		snprintf(sentence, len, "client and server differ in the test: %s here, %s there",
				perf_test_name((enum perf_test)mine->test),
				perf_test_name((enum perf_test)theirs->test));
		return false;
	}
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		if (number[i].mine == number[i].theirs)
			continue;
		snprintf(sentence, len, "client and server differ in %s: %llu here, %llu there",
				number[i].option, (unsigned long long)number[i].mine,
				(unsigned long long)number[i].theirs);
		return false;
	}
	return true;
}
